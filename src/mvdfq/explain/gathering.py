"""Explanations of sequences: the evidence of all terms, compared with a baseline."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from mvdfq.explain.explanation import Explanation
from mvdfq.symbols.base import side_by_side
from mvdfq.terms.baseline import Baselines, Evidence, View, WordBlock
from mvdfq.terms.fitted import FittedTerm


def explanations(
    clf: Any, read: list[Any], predicted: np.ndarray, margins: np.ndarray, sums: Any, curves: Any
) -> list[Explanation]:
    """Return the explanations of sequences: the evidence of all terms.

    `read` holds the sequences as each term reads them, `predicted` the indices of their classes,
    `sums` what each term adds to `margins`, and `curves` the channels of each sequence, or None.
    """
    by_place: dict[int, Explanation] = {}
    terms, classes = clf.sum_.terms, clf.classes_.tolist()
    baselines = Baselines(clf.problems_.pairs, clf.class_shares_)
    for view, places in baselines.views(predicted):
        read_here = [symbols[places] for symbols in read]
        find = _finder(terms, read_here, view)
        if places.size and not all(term.class_means for term in terms):
            find()  # raises an error now: not every kernel of plain words can be traced to frames
        for k, i in enumerate(places.tolist()):
            alone = [symbols[k : k + 1] for symbols in read_here]
            added = {name: term_sums[i] for name, term_sums in sums.items()}
            x = _ReadSequence(terms, alone, baselines, classes, find, k, margins[i], added)
            why = x.explanation(view, classes[predicted[i]], clf.channel_names)
            # a term may read fewer frames than the channels have
            if curves is not None and curves[i].shape[1] == why.symbols.data.shape[1]:
                why = replace(why, curves=curves[i])
            by_place[i] = why
    return [by_place[i] for i in range(len(margins))]


def _finder(terms: list[FittedTerm], read: list[Any], view: View) -> Callable[[], Any]:
    """Return a function that finds the evidence of each sequence and each term, once for all."""

    @cache
    def evidence() -> list[Sequence[Evidence]]:
        pairs = zip(terms, read, strict=True)
        return list(zip(*(term.evidence(x, view) for term, x in pairs), strict=True))

    return evidence


@dataclass(frozen=True)
class _ReadSequence:
    """One sequence as each term reads it, at place `k` of the evidence that `find` returns."""

    terms: list[FittedTerm]
    read: list[Any]
    baselines: Baselines
    classes: list[Any]
    find: Callable[[], Sequence[Sequence[Evidence]]]
    k: int
    margins: np.ndarray
    sums: dict[str, np.ndarray]

    def explanation(self, view: View, predicted: Any, channels: list[str]) -> Explanation:
        """Return the explanation of all problems."""
        pairs = zip(self.terms, self.read, strict=True)
        named = [(term.name, term.rows(x, 0, channels)) for term, x in pairs]
        rows, added = [about for _, about in named], self._added(view)
        return Explanation(
            labels=[self.classes[i] if j < 0 else (self.classes[i], self.classes[j])
                    for i, j in self.baselines.pairs],
            predicted=predicted,
            margins=self.margins,
            find_evidence=lambda: self._joined(self.find()[self.k]),
            constant=self.margins - sum(added.values()),
            symbols=side_by_side([about.symbols for about in rows], None),
            row_names=[name for about in rows for name in about.row_names],
            offsets=[offsets for about in rows for offsets in about.offsets],
            names=[symbols for about in rows for symbols in about.names],
            channels=channels,
            find_shares=lambda: np.concatenate([about.find_shares() for about in rows]),
            by_term=added,
            row_terms=[name for name, about in named for _ in about.row_names],
            group_terms=[name for name, about in named for _ in about.offsets],
            contrast=lambda first, second: self._seen_by(
                self.baselines.between(self.classes.index(first), self.classes.index(second))),
            find_column=lambda column: self._seen_by(view.only(column)),
            curves=next((about.curves for about in rows if about.curves is not None), None),
        )  # fmt: skip

    @property
    def _is_known(self) -> bool:
        """Whether any term knows a word of the sequence; otherwise the margins are guesses."""
        return any(sums.any() for sums in self.sums.values())

    def _joined(self, parts: Sequence[Evidence]) -> Evidence:
        evidence = _joined(parts)
        return evidence if self._is_known else evidence.nothing()

    def _added(self, view: View) -> dict[str, np.ndarray]:
        """Return what each term adds to the margins of the baseline."""
        sums = [view.weigh(term_sums) for term_sums in self.sums.values()]
        if self._is_known:
            sums = [a - t.shift(view) for a, t in zip(sums, self.terms, strict=True)]
        return dict(zip(self.sums, sums, strict=True))

    def _seen_by(self, view: View) -> tuple[np.ndarray, Callable[[], Evidence], dict[str, Any]]:
        """Return margins, evidence, and what each term adds, as a view of one column sees them."""

        def of_term(i: int) -> Evidence:
            return self.find()[self.k][i]

        def find() -> Evidence:
            pairs = enumerate(zip(self.terms, self.read, strict=True))
            parts = [term.contrast(x, partial(of_term, i), view) for i, (term, x) in pairs]
            return self._joined(parts)

        return view.weigh(self.margins), find, self._added(view)


def _joined(parts: Sequence[Evidence]) -> Evidence:
    """Return the evidence of terms that read other rows by other layouts."""
    sizes = np.array([part.by_layout.shape[1:] for part in parts])
    first = np.cumsum(np.vstack([[0, 0], sizes]), axis=0)
    # rows of one term have no layouts of another term: the blocks lie on the diagonal
    by_layout = np.zeros((len(parts[0].by_layout), *first[-1]))
    for part, (r, g), (rows, groups) in zip(parts, first[:-1], sizes, strict=True):
        by_layout[:, r : r + rows, g : g + groups] = part.by_layout
    by_frame = np.concatenate([part.by_frame for part in parts], axis=1)

    def placed(words: Iterable[list[WordBlock]]) -> list[WordBlock]:
        """Return the words of all terms, with the rows and groups of the whole."""
        return [
            block._replace(rows=block.rows + r, group=block.group + g)
            for blocks, (r, g) in zip(words, first.tolist(), strict=False)
            for block in blocks
        ]

    return Evidence(
        by_frame,
        by_layout,
        lambda: placed(part.words for part in parts),
        lambda column, n: placed(part.top(column, n) for part in parts),
    )
