"""Explanations: why the classifier puts a sequence into its class."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from mvdfq._utils.short import table
from mvdfq.explain.reason import LETTER, Reason
from mvdfq.frames.base import UnknownShares
from mvdfq.symbols.base import Symbols
from mvdfq.terms.base import TermRows
from mvdfq.terms.baseline import Baselines, View
from mvdfq.terms.evidence_words import Evidence, WordBlock
from mvdfq.terms.total import FittedSum

__all__ = ["Explanation", "explanations", "largest_channels"]


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why the classifier puts a sequence into its class, exactly.

    `SequenceClassifier.explain` makes explanations. Every array of evidence sums to the decision
    value of its class minus the `constant`, the mean decision value of the training sequences that
    the sequence is compared with: those of all other classes. So evidence says what makes this
    sequence different from an average sequence of another class. A pair of classes (one-vs-one,
    `between`) is compared with the midpoint of the average sequences of both classes; if there are
    only two classes, the predicted class is compared with the other class. With very many classes
    and words (33 million means), every class is compared with the average training sequence. Plain
    words (`PlainTerm`) are compared with nothing: their constant is the bias.

    Parameters
    ----------
    labels : list
        The class of each column of evidence or, in one-vs-one and with two classes, the pair of
        classes. Positive evidence is for the first class of the pair.

    predicted : object
        The predicted class.

    margins : ndarray of shape (n_columns,)
        Decision values; in one-vs-one, the decision values of the pairs.

    evidence : Evidence
        The evidence of all words.

    constant : ndarray of shape (n_columns,)
        The margins of the baseline: what evidence is compared with.

    symbols : Symbols
        The sequence as the terms read it.

    row_names : list of str
        Names of the rows of symbols.

    offsets : list of list of tuple of int
        Offsets of each layout of each group.

    names : list of sequence of str
        Names of the symbols of each row.

    channels : list of str
        Names of the channels of the sequence.

    find_shares : callable
        Returns `channel_shares`, or raises an error if a transformer of the classifier has no
        method `channel_shares`. Called when the shares are first needed.

    by_term : dict
        What the words of each term of the sum add to the margins of the baseline, (n_columns,)
        each; the values of all terms and `constant` sum to `margins`.

    row_terms, group_terms : list of str
        The term that each row, and each group of layouts, belongs to.

    contrast : callable
        Returns margins, evidence and what each term adds for one class against another.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> clf = mvdfq.SequenceClassifier("mvdfqm-sssk", multi_class="ovr", C=10).fit(X, y)
    >>> explanation = clf.explain(X[0])
    >>> explanation.predicted
    '1'
    >>> (explanation.by_row.sum(axis=1) + explanation.constant - explanation.margins).round(6) + 0
    array([0., 0., 0., 0., 0., 0., 0., 0., 0.])
    """

    labels: list[Any]
    predicted: Any
    margins: np.ndarray
    evidence: Evidence
    constant: np.ndarray
    symbols: Symbols
    row_names: list[str]
    offsets: list[list[tuple[int, ...]]]
    names: list[Sequence[str]]
    channels: list[str]
    find_shares: Callable[[], np.ndarray]
    by_term: dict[str, np.ndarray]
    row_terms: list[str]
    group_terms: list[str]
    contrast: Callable[[Any, Any], tuple[np.ndarray, Evidence, dict[str, np.ndarray]]]

    @cached_property
    def channel_shares(self) -> np.ndarray:
        """Share of each channel in each row, (n_rows, n_channels); rows sum to 1."""
        return self.find_shares()

    @property
    def by_channel(self) -> np.ndarray:
        """Evidence of each channel, (n_columns, n_channels); rows are divided among channels."""
        return self.by_row @ self.channel_shares

    @cached_property
    def _known_shares(self) -> np.ndarray | None:
        """The shares of the channels; None if a transformer does not say them."""
        try:
            return self.channel_shares
        except UnknownShares:
            return None

    @property
    def by_row(self) -> np.ndarray:
        """Evidence of each row, (n_columns, n_rows)."""
        return self.evidence.by_frame.sum(axis=2)

    @property
    def by_time(self) -> np.ndarray:
        """Evidence of each frame, (n_columns, n_frames)."""
        return self.evidence.by_frame.sum(axis=1)

    @property
    def by_layout(self) -> np.ndarray:
        """Evidence of each group of layouts, (n_columns, n_groups)."""
        return self.evidence.by_layout.sum(axis=1)

    @property
    def by_channel_frame(self) -> np.ndarray:
        """Evidence of each channel and frame, (n_columns, n_channels, n_frames)."""
        return np.einsum("krt,rc->kct", self.evidence.by_frame, self.channel_shares, optimize=True)

    @property
    def by_frame(self) -> np.ndarray:
        """Evidence of each row and frame, (n_columns, n_rows, n_frames)."""
        return self.evidence.by_frame

    def column(self, label: Any = None) -> tuple[int, float]:
        """Return the column of a class, and the sign of evidence for the class.

        Parameters
        ----------
        label : object, default=None
            The class, or in one-vs-one the pair; None means the predicted class, in one-vs-one
            the pair of the predicted class with the smallest margin.

        Returns
        -------
        column : int
            Index into the arrays of evidence.

        sign : float
            -1 if negative evidence is for the class, otherwise 1.
        """
        label = self.predicted if label is None else label
        label = label.item() if isinstance(label, np.generic) else label  # one of `classes_`
        for sign, wanted in [(1.0, label), (-1.0, _reversed(label))]:
            if wanted in self.labels:
                return self.labels.index(wanted), sign
        found = [
            (abs(self.margins[c]), c, 1.0 if pair[0] == label else -1.0)
            for c, pair in enumerate(self.labels)
            if isinstance(pair, tuple) and label in pair
        ]
        if not found:
            raise ValueError(f"label must be one of {self.labels}, got {label!r}.")
        return min(found)[1:]

    def between(self, first: Any, second: Any) -> "Explanation":
        """Return the explanation of one class against another class, as a single column.

        Parameters
        ----------
        first : object
            The class that positive evidence is for.

        second : object
            The class that negative evidence is for.

        Returns
        -------
        explanation : Explanation
            One column: one-vs-one, the machine of the pair; one-vs-rest, the difference of the
            margins of `first` and `second`. The sequence is compared with the midpoint of the
            average sequences of both classes, so evidence for `first` is positive, and the
            constant is about 0.
        """
        asked = [(first, second)] if isinstance(self.labels[0], tuple) else [first, second]
        for label in asked:
            self.column(label)  # raises an error for a class that does not exist
        margins, evidence, by_term = self.contrast(first, second)
        return replace(
            self,
            labels=[(first, second)],
            margins=margins,
            evidence=evidence,
            constant=margins - sum(by_term.values()),
            by_term=by_term,
        )

    def top(self, n: int = 10, label: Any = None) -> list[Reason]:
        """Return the words with the most evidence for or against a class.

        Parameters
        ----------
        n : int, default=10
            Number of words to return.

        label : object, default=None
            The class, or in one-vs-one the pair; None means the predicted class.

        Returns
        -------
        reasons : list of Reason
            The reasons, largest evidence first; ``print(reason)`` prints one line.
        """
        column, sign = self.column(label)
        blocks = self.evidence.words
        if not blocks:
            return []
        ends = np.cumsum([len(block.codes) for block in blocks])
        total = np.concatenate([block.totals(column) for block in blocks])
        order = np.argsort(-np.abs(total), kind="stable")[:n]
        places = np.searchsorted(ends, order, side="right")
        return [
            self._reason(blocks[b], int(w - ends[b]) + len(blocks[b].codes), column, sign)
            for b, w in zip(places.tolist(), order.tolist(), strict=True)
        ]

    def _reason(self, block: WordBlock, w: int, column: int, sign: float) -> Reason:
        """Return word `w` of a block as a reason."""
        at = slice(*block.indptr[w : w + 2])
        row, group, codes = int(block.rows[w]), block.group, block.codes[w]
        starts, layouts, mine = block.starts[at], block.layouts[at], sign * block.shares[at, column]
        order = np.argsort(-np.abs(mine), kind="stable")
        offsets = np.array(self.offsets[group][layouts[order[0]]] or (0,))
        frames = starts[order] + offsets[0]
        rate = self.symbols.sampling_rate
        return Reason(
            self.row_names[row],
            largest_channels(self, row),
            tuple(self._name(row, int(code)) for code in codes),
            tuple((offsets - offsets[0]).tolist()),
            tuple(frames.tolist()),
            None if rate is None else float(frames[0] / rate),
            float(mine.sum()),
            self.are_letters and len(self.channels) == 1,
        )

    @cached_property
    def are_letters(self) -> bool:
        """Whether all symbols are letters: one character, or a group of them such as [KR]."""
        return all(LETTER.fullmatch(name) for names in self.names for name in names)

    def _name(self, row: int, code: int) -> str:
        names = self.names[row]
        return names[code] if code < len(names) else f"new #{code}"

    def to_dict(self, n: int = 10) -> dict[str, Any]:
        """Return the explanation as plain numbers and text, ready for JSON.

        Parameters
        ----------
        n : int, default=10
            Number of words to list.

        Returns
        -------
        explanation : dict
            The prediction, margins, evidence by row, channel, time and layout, and the words with
            the most evidence. Evidence by channel is None if the shares are unknown.
        """
        return {
            "predicted": _plain(self.predicted),
            "labels": [_plain(label) for label in self.labels],
            "margins": self.margins.tolist(),
            "constant": self.constant.tolist(),
            "rows": list(self.row_names),
            "channels": list(self.channels),
            "layouts": [[list(offsets) for offsets in group] for group in self.offsets],
            "by_row": self.by_row.tolist(),
            "by_channel": None if self._known_shares is None else self.by_channel.tolist(),
            "by_time": self.by_time.tolist(),
            "by_layout": self.by_layout.tolist(),
            "by_term": {name: sums.tolist() for name, sums in self.by_term.items()},
            "sampling_rate": self.symbols.sampling_rate,
            "top": [vars(reason) for reason in self.top(n)],
        }

    def plot(self, label: Any = None) -> Any:
        """Draw the rows of symbols as a heat map above the evidence in time; needs matplotlib.

        Parameters
        ----------
        label : object, default=None
            The class, or in one-vs-one the pair; None means the predicted class.

        Returns
        -------
        figure : matplotlib.figure.Figure
            Rows of symbols above, evidence below, with the same time axis.
        """
        from mvdfq.explain.figures.symbols import plot_explanation

        return plot_explanation(self, label)

    def title(self, label: Any = None) -> str:
        """Return the class that positive evidence is for, as text.

        Parameters
        ----------
        label : object, default=None
            The class, or in one-vs-one the pair; None means the predicted class.

        Returns
        -------
        title : str
            For example ``"jazz"`` or ``"jazz rather than blues"``.
        """
        column, sign = self.column(label)
        name = self.labels[column]
        if not isinstance(name, tuple):
            return str(name)
        first, second = name if sign > 0 else name[::-1]
        return f"{first} rather than {second}"

    def __str__(self) -> str:
        column, sign = self.column()
        margin = sign * self.margins[column]
        lines = [f"{self.title()} (decision value {margin:+.3f})", *map(str, self.top())]
        return "\n".join(lines)

    __repr__ = __str__  # without the arrays, which are large

    def _repr_html_(self) -> str:
        """Return the strongest words and the channels, for notebooks."""
        column, sign = self.column()
        margin = float(sign * self.margins[column])
        rows = [(reason.evidence, reason.text) for reason in self.top()]
        text = table(["evidence", "word"], rows, f"{self.title()}, decision value {margin:+.3f}")
        if self._known_shares is None:
            return text
        mine = sign * self.by_channel[column]
        order = np.argsort(-np.abs(mine), kind="stable")[:10]
        found = [(self.channels[c], float(mine[c])) for c in order]
        return text + table(["channel", "evidence"], found)


def explanations(
    total: FittedSum,
    read: list[Any],
    baselines: Baselines,
    classes: list[Any],
    predicted: np.ndarray,
    margins: np.ndarray,
    sums: dict[str, np.ndarray],
    channels: list[str],
) -> list[Explanation]:
    """Return the explanations of sequences: the evidence of all terms, one after another.

    `read` are the sequences as each term reads them, `predicted` the places of their classes,
    `sums` what each term adds to `margins`.
    """
    found: dict[int, Explanation] = {}
    for view, places in baselines.views(predicted):
        if not places.size:
            continue
        mine = [one[places] for one in read]
        by_term = [term.evidence(one, view) for term, one in zip(total.terms, mine, strict=True)]
        for k, (i, evidence) in enumerate(
            zip(places.tolist(), zip(*by_term, strict=True), strict=True)
        ):
            alone = [one[k : k + 1] for one in mine]
            added = {name: one[i] for name, one in sums.items()}
            one = _One(total, alone, baselines, classes, evidence, margins[i], added)
            found[i] = one.explanation(view, classes[predicted[i]], channels)
    return [found[i] for i in range(len(margins))]


@dataclass(frozen=True)
class _One:
    """One sequence as each term reads it, with the evidence and the sum of each term."""

    total: FittedSum
    read: list[Any]
    baselines: Baselines
    classes: list[Any]
    evidence: Sequence[Evidence]
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
            evidence=self._known(_joined(self.evidence)),
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
        )  # fmt: skip

    @property
    def _is_known(self) -> bool:
        """Whether any term knows a word of the sequence; else the margins are guesses."""
        return any(mine.any() for mine in self.sums.values())

    def _known(self, evidence: Evidence) -> Evidence:
        return evidence if self._is_known else evidence.nothing()

    def _added(self, view: View) -> dict[str, np.ndarray]:
        """Return what each term adds to the margins of the baseline."""
        sums = [view.weigh(mine) for mine in self.sums.values()]
        if self._is_known:
            sums = [a - t.shift(view) for a, t in zip(sums, self.total.terms, strict=True)]
        return dict(zip(self.sums, sums, strict=True))

    def contrast(
        self, first: Any, second: Any
    ) -> tuple[np.ndarray, Evidence, dict[str, np.ndarray]]:
        """Return margins and evidence for one class against another, and what each term adds."""
        view = self.baselines.between(self.classes.index(first), self.classes.index(second))
        parts = zip(self.total.terms, self.read, self.evidence, strict=True)
        evidence = _joined([term.contrast(mine, own, view) for term, mine, own in parts])
        return view.weigh(self.margins), self._known(evidence), self._added(view)


def _all_shares(rows: list[TermRows]) -> np.ndarray:
    return np.concatenate([one.find_shares() for one in rows])


def _joined(parts: Sequence[Evidence]) -> Evidence:
    """Put the evidence of all terms side by side; each term has its own rows and layouts."""
    sizes = np.array([part.by_layout.shape[1:] for part in parts])
    first = np.cumsum(np.vstack([[0, 0], sizes]), axis=0)
    by_layout = np.zeros((len(parts[0].by_layout), *first[-1]))
    for part, (r, g), (rows, groups) in zip(parts, first[:-1], sizes, strict=True):
        by_layout[:, r : r + rows, g : g + groups] = part.by_layout
    by_frame = np.concatenate([part.by_frame for part in parts], axis=1)
    return Evidence(by_frame, by_layout, partial(_all_words, parts, first))


def _all_words(parts: Sequence[Evidence], first: np.ndarray) -> list[WordBlock]:
    """Return the words of all terms; `first` is the first row and group of each term."""
    return [
        block._replace(rows=block.rows + r, group=block.group + g)
        for part, (r, g) in zip(parts, first.tolist(), strict=False)
        for block in part.words
    ]


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


def largest_channels(why: Explanation, row: int) -> tuple[str, ...]:
    """Return the channels that make up at least half of a row; () if shares are unknown."""
    if why._known_shares is None:
        return ()
    shares = why._known_shares[row]
    order = np.argsort(-shares, kind="stable")
    enough = int(np.searchsorted(np.cumsum(shares[order]), 0.5 - 1e-9)) + 1
    if shares[order[0]] < 1.5 * shares.mean():  # shares are nearly equal: no channel stands out
        enough = len(order) if len(order) < 4 else 0
    return tuple(why.channels[c] for c in order[:enough])


def _reversed(label: Any) -> Any:
    return label[::-1] if isinstance(label, tuple) else label


def _plain(label: Any) -> Any:
    if isinstance(label, tuple):
        return [_plain(one) for one in label]
    return label.item() if isinstance(label, np.generic) else label
