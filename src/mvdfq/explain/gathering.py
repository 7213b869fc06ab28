"""Explanations of sequences: the evidence of all terms, compared with a baseline."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from mvdfq.explain.explanation import Explanation
from mvdfq.symbols.base import Symbols
from mvdfq.terms.baseline import Baselines, View
from mvdfq.terms.evidence_words import Evidence, WordBlock
from mvdfq.terms.fitted import TermRows
from mvdfq.terms.total import FittedSum


def explanations(
    total: FittedSum,
    read: list[Any],
    baselines: Baselines,
    classes: list[Any],
    predicted: np.ndarray,
    margins: np.ndarray,
    sums: dict[str, np.ndarray],
    channels: list[str],
    curves: list[np.ndarray] | None = None,
) -> list[Explanation]:
    """Return the explanations of sequences: the evidence of all terms, one after another.

    `read` are the sequences as each term reads them, `predicted` the places of their classes,
    `sums` what each term adds to `margins`, `curves` the channels for terms that do not say them.
    """
    found: dict[int, Explanation] = {}
    for view, places in baselines.views(predicted):
        mine = [one[places] for one in read]
        find = _Batch(total, mine, view)
        if places.size and not all(term.class_means for term in total.terms):
            find(0)  # raises an error now: not every kernel of plain words can be traced to frames
        for k, i in enumerate(places.tolist()):
            alone = [one[k : k + 1] for one in mine]
            added = {name: one[i] for name, one in sums.items()}
            about = baselines, classes, partial(find, k), margins[i], added
            one = _One(total, alone, *about).explanation(view, classes[predicted[i]], channels)
            # a term may read fewer frames than the channels have
            if curves is not None and curves[i].shape[1] == one.symbols.data.shape[1]:
                one = replace(one, curves=curves[i])
            found[i] = one
    return [found[i] for i in range(len(margins))]


@dataclass(frozen=True)
class _Batch:
    """Several sequences as each term reads them; evidence is found for all of them at once."""

    total: FittedSum
    read: list[Any]
    view: View

    def __call__(self, k: int) -> Sequence[Evidence]:
        """Return the evidence of each term in sequence `k`."""
        return self._evidence[k]

    @cached_property
    def _evidence(self) -> list[Sequence[Evidence]]:
        pairs = zip(self.total.terms, self.read, strict=True)
        return list(zip(*(term.evidence(mine, self.view) for term, mine in pairs), strict=True))


@dataclass(frozen=True)
class _One:
    """One sequence as each term reads it; `find` returns its evidence of each term.

    Evidence takes ten times as long as a prediction, so it is found when it is first asked for.
    """

    total: FittedSum
    read: list[Any]
    baselines: Baselines
    classes: list[Any]
    find: Callable[[], Sequence[Evidence]]
    margins: np.ndarray
    sums: dict[str, np.ndarray]

    def explanation(self, view: View, predicted: Any, channels: list[str]) -> Explanation:
        """Return the explanation of all problems."""
        pairs = zip(self.total.terms, self.read, strict=True)
        rows = [term.rows(mine, 0, channels) for term, mine in pairs]
        names, added = [term.name for term in self.total.terms], self._added(view)
        return Explanation(
            labels=[self.classes[i] if j < 0 else (self.classes[i], self.classes[j])
                    for i, j in self.baselines.pairs],
            predicted=predicted,
            margins=self.margins,
            find_evidence=lambda: self._joined(self.find()),
            constant=self.margins - sum(added.values()),
            symbols=_joined_symbols([one.symbols for one in rows]),
            row_names=[name for one in rows for name in one.row_names],
            offsets=[offsets for one in rows for offsets in one.offsets],
            names=[symbols for one in rows for symbols in one.names],
            channels=channels,
            find_shares=partial(_all_shares, rows),
            by_term=added,
            row_terms=[n for n, one in zip(names, rows, strict=True) for _ in one.row_names],
            group_terms=[n for n, one in zip(names, rows, strict=True) for _ in one.offsets],
            contrast=self.contrast,
            find_column=lambda column: self._seen_by(view.only(column)),
            curves=next((one.curves for one in rows if one.curves is not None), None),
        )  # fmt: skip

    def _of_term(self, k: int) -> Evidence:
        return self.find()[k]

    @property
    def _is_known(self) -> bool:
        """Whether any term knows a word of the sequence; else the margins are guesses."""
        return any(mine.any() for mine in self.sums.values())

    def _joined(self, parts: Sequence[Evidence]) -> Evidence:
        evidence = _joined(parts)
        return evidence if self._is_known else evidence.nothing()

    def _added(self, view: View) -> dict[str, np.ndarray]:
        """Return what each term adds to the margins of the baseline."""
        sums = [view.weigh(mine) for mine in self.sums.values()]
        if self._is_known:
            sums = [a - t.shift(view) for a, t in zip(sums, self.total.terms, strict=True)]
        return dict(zip(self.sums, sums, strict=True))

    def contrast(
        self, first: Any, second: Any
    ) -> tuple[np.ndarray, Callable[[], Evidence], dict[str, np.ndarray]]:
        """Return margins for one class against another, evidence, and what each term adds."""
        classes = self.classes.index(first), self.classes.index(second)
        return self._seen_by(self.baselines.between(*classes))

    def _seen_by(
        self, view: View
    ) -> tuple[np.ndarray, Callable[[], Evidence], dict[str, np.ndarray]]:
        """Return margins, evidence, and what each term adds, as a view of one column sees them."""

        def find() -> Evidence:
            pairs = enumerate(zip(self.total.terms, self.read, strict=True))
            return self._joined(
                [term.contrast(mine, partial(self._of_term, k), view) for k, (term, mine) in pairs]
            )

        return view.weigh(self.margins), find, self._added(view)


def _all_shares(rows: list[TermRows]) -> np.ndarray:
    return np.concatenate([one.find_shares() for one in rows])


def _joined(parts: Sequence[Evidence]) -> Evidence:
    """Return the evidence of terms that read other rows by other layouts."""
    sizes = np.array([part.by_layout.shape[1:] for part in parts])
    first = np.cumsum(np.vstack([[0, 0], sizes]), axis=0)
    by_layout = np.zeros((len(parts[0].by_layout), *first[-1]))
    for part, (r, g), (rows, groups) in zip(parts, first[:-1], sizes, strict=True):
        by_layout[:, r : r + rows, g : g + groups] = part.by_layout
    by_frame = np.concatenate([part.by_frame for part in parts], axis=1)

    def placed(words: Iterable[list[WordBlock]]) -> list[WordBlock]:
        """Return the words of all terms, with the rows and groups of the whole."""
        return [
            block._replace(rows=block.rows + r, group=block.group + g)
            for mine, (r, g) in zip(words, first.tolist(), strict=False)
            for block in mine
        ]

    return Evidence(
        by_frame,
        by_layout,
        lambda: placed(part.words for part in parts),
        lambda column, n: placed(part.top(column, n) for part in parts),
    )


def _joined_symbols(parts: list[Symbols]) -> Symbols:
    """Return the rows of all terms as one sequence."""
    if len(parts) == 1:
        return parts[0]
    dtype = max(part.data.dtype for part in parts)
    parts = [part.astype(dtype) for part in parts]
    return replace(
        parts[0],
        data=np.concatenate([part.data for part in parts]),
        n_symbols=np.concatenate([part.n_symbols for part in parts]),
        channel_names=None,
    )
