"""Explanations: why the classifier puts a sequence into its class."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mvdfq._utils.short import table
from mvdfq.explain.reason import LETTER, Reason
from mvdfq.frames.base import UnknownShares
from mvdfq.symbols.base import Symbols
from mvdfq.terms.baseline import Evidence, WordBlock


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why the classifier puts a sequence into its class, exactly.

    `SequenceClassifier.explain` makes explanations. Every array of evidence sums to the decision
    value of its class minus the `constant`, the mean decision value of the training sequences of
    all other classes, which the sequence is compared with. So evidence says what makes this
    sequence different from an average sequence of another class. A pair of classes (one-vs-one,
    `between`) is compared with the midpoint of the average sequences of both classes; if there are
    only two classes, the predicted class is compared with the other class. With very many classes
    and words (33 million means), every class is compared with the average training sequence. Plain
    words (`PlainTerm`) are compared with nothing: their constant is the bias.

    Parameters
    ----------
    labels : list
        The class of each column or, in one-vs-one and with two classes, a pair: evidence for the
        first class is positive.
    predicted : object
        The predicted class.
    margins : ndarray of shape (n_columns,)
        Decision values; in one-vs-one, the decision values of the pairs.
    find_evidence : callable
        Returns `evidence`, when it is first needed.
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
        Returns `channel_shares`, or raises `UnknownShares`.
    by_term : dict
        What each term adds, (n_columns,) each; with `constant`, all terms sum to `margins`.
    row_terms, group_terms : list of str
        The term that each row, and each group of layouts, belongs to.
    contrast : callable
        Returns margins, `find_evidence` and `by_term` for one class against another.
    find_column : callable
        Returns the same for one column alone, which takes less time than all columns.
    curves : ndarray of shape (n_channels, n_frames) or None
        The channels with mean 0 and deviation 1 over training or, if no term knows the means, in
        sixths of their ranges in training; None if neither is known.

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
    find_evidence: Callable[[], Evidence]
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
    contrast: Callable[[Any, Any], tuple[Any, ...]]
    find_column: Callable[[int], tuple[Any, ...]]
    curves: np.ndarray | None = None

    @cached_property
    def evidence(self) -> Evidence:
        """The evidence of all words."""
        return self.find_evidence()

    @cached_property
    def channel_shares(self) -> np.ndarray:
        """Share of each channel in each row, (n_rows, n_channels); rows sum to 1."""
        return self.find_shares()

    @property
    def by_channel(self) -> np.ndarray:
        """Evidence of each channel, (n_columns, n_channels); rows are divided among channels."""
        return self.by_row @ self.channel_shares

    @cached_property
    def known_shares(self) -> np.ndarray | None:
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
        return np.matmul(self.channel_shares.T, self.evidence.by_frame)

    @property
    def by_frame(self) -> np.ndarray:
        """Evidence of each row and frame, (n_columns, n_rows, n_frames)."""
        return self.evidence.by_frame

    def column(self, label: Any = None) -> tuple[int, float]:
        """Return the column of a class in the arrays of evidence, and a sign.

        `label` is the class, or in one-vs-one the pair; None means the predicted class, in
        one-vs-one the pair of the predicted class with the smallest margin. The sign is -1 if
        negative evidence is for the class, otherwise 1.
        """
        label = self.predicted if label is None else label
        label = label.item() if isinstance(label, np.generic) else label  # one of `classes_`
        other = label[::-1] if isinstance(label, tuple) else label
        for sign, wanted in [(1.0, label), (-1.0, other)]:
            if wanted in self.labels:
                return self.labels.index(wanted), sign
        pairs = [
            (abs(self.margins[c]), c, 1.0 if pair[0] == label else -1.0)
            for c, pair in enumerate(self.labels)
            if isinstance(pair, tuple) and label in pair
        ]
        if not pairs:
            raise ValueError(f"label must be one of {self.labels}, got {label!r}.")
        return min(pairs)[1:]

    def between(self, first: Any, second: Any) -> "Explanation":
        """Return the explanation of one class against another class, as a single column.

        Positive evidence is for `first`, negative evidence for `second`. The column is, in
        one-vs-one, the machine of the pair, in one-vs-rest the difference of the margins of both
        classes. The sequence is compared with the midpoint of the average sequences of both
        classes, so the constant is about 0.
        """
        for label in [(first, second)] if isinstance(self.labels[0], tuple) else [first, second]:
            self.column(label)  # raises an error for a class that does not exist
        return self._one_column((first, second), *self.contrast(first, second))

    def _one_column(
        self, label: Any, margins: np.ndarray, find_evidence: Any, by_term: dict[str, np.ndarray]
    ) -> "Explanation":
        seen = {"margins": margins, "find_evidence": find_evidence, "by_term": by_term}
        return replace(self, labels=[label], constant=margins - sum(by_term.values()), **seen)

    def top(self, n: int = 10, label: Any = None) -> list[Reason]:
        """Return the `n` words with the most evidence for or against a class, the largest first.

        `label` is the class, or in one-vs-one the pair; None means the predicted class.
        ``print(reason)`` prints one line.
        """
        column, sign = self.column(label)
        blocks = self.evidence.top(column, n)
        first = np.cumsum([0, *(len(block.codes) for block in blocks)])
        total = np.concatenate([np.empty(0), *(block.totals(column) for block in blocks)])
        order = np.argsort(-np.abs(total), kind="stable")[:n]
        places = np.searchsorted(first, order, side="right") - 1
        pairs = zip(places.tolist(), (order - first[places]).tolist(), strict=True)
        return [self._reason(blocks[b], w, column, sign) for b, w in pairs]

    def _reason(self, block: WordBlock, w: int, column: int, sign: float) -> Reason:
        """Return word `w` of a block as a reason."""
        occurrences = slice(*block.indptr[w : w + 2])
        row, group, codes = int(block.rows[w]), block.group, block.codes[w]
        starts, layouts = block.starts[occurrences], block.layouts[occurrences]
        shares = sign * block.shares[occurrences, column]
        order = np.argsort(-np.abs(shares), kind="stable")
        # the strongest occurrence says how far apart the symbols are; () is a word of wildcards
        offsets = np.array(self.offsets[group][layouts[order[0]]] or (0,))
        frames = starts[order] + offsets[0]
        rate = self.symbols.sampling_rate
        return Reason(
            row=self.row_names[row],
            channels=largest_channels(self, row),
            symbols=tuple(self.symbol_name(row, int(code)) for code in codes),
            offsets=tuple((offsets - offsets[0]).tolist()),
            frames=tuple(frames.tolist()),
            time=None if rate is None else float(frames[0] / rate),
            evidence=float(shares.sum()),
            letters=self.are_letters,
        )

    @cached_property
    def are_letters(self) -> bool:
        """Whether the sequence is a string: one channel of letters or of groups such as [KR]."""
        if len(self.channels) > 1 or self.curves is not None:
            return False
        return all(LETTER.fullmatch(name) for names in self.names for name in names)

    def symbol_name(self, row: int, code: int) -> str:
        """Return the name of a symbol of a row."""
        names = self.names[row]
        return names[code] if code < len(names) else f"new #{code}"

    def to_dict(self, n: int = 10) -> dict[str, Any]:
        """Return the explanation as plain numbers and text, ready for JSON.

        The dictionary holds the prediction, margins, evidence by row, channel, time and layout, and
        the `n` words with the most evidence. Evidence by channel is None if shares are unknown.
        """
        return {
            "predicted": self.predicted,
            "labels": [list(label) if isinstance(label, tuple) else label for label in self.labels],
            "margins": self.margins.tolist(),
            "constant": self.constant.tolist(),
            "rows": list(self.row_names),
            "channels": list(self.channels),
            "layouts": [[list(offsets) for offsets in group] for group in self.offsets],
            "by_row": self.by_row.tolist(),
            "by_channel": None if self.known_shares is None else self.by_channel.tolist(),
            "by_time": self.by_time.tolist(),
            "by_layout": self.by_layout.tolist(),
            "by_term": {name: sums.tolist() for name, sums in self.by_term.items()},
            "sampling_rate": self.symbols.sampling_rate,
            "top": [vars(reason) for reason in self.top(n)],
        }

    def plot(self, label: Any = None) -> Any:
        """Draw the rows of symbols as a heat map above the evidence in time; needs matplotlib.

        `label` is as in `top`. Returns a `matplotlib.figure.Figure`.
        """
        from mvdfq.explain.figures import symbols

        return symbols(self, label)

    def title(self, label: Any = None) -> str:
        """Return the class that positive evidence is for: "jazz" or "jazz rather than blues"."""
        column, sign = self.column(label)
        name = self.labels[column]
        if not isinstance(name, tuple):
            return str(name)
        first, second = name if sign > 0 else name[::-1]
        return f"{first} rather than {second}"

    def __str__(self) -> str:
        column, sign = self.column()
        margin = sign * self.margins[column]
        lines = [f"{self.title()} (decision value {margin:+.3f})", *map(str, self._strongest())]
        return "\n".join(lines)

    def _strongest(self) -> list[Any]:
        """Return the strongest moments; for strings, or if shares are unknown, the words."""
        if len(self.labels) > 1 and "evidence" not in vars(self):
            column, _ = self.column()
            return self._one_column(self.labels[column], *self.find_column(column))._strongest()
        if self.are_letters or self.known_shares is None:
            return self.top()
        from mvdfq.explain.moments import find_moments  # moments are made of explanations

        return find_moments(self)

    __repr__ = __str__  # without the arrays, which are large

    def _repr_html_(self) -> str:
        """Return the strongest words and the channels, for notebooks."""
        column, sign = self.column()
        margin = float(sign * self.margins[column])
        rows = [(reason.evidence, reason.text) for reason in self.top()]
        text = table(["evidence", "word"], rows, f"{self.title()}, decision value {margin:+.3f}")
        if self.known_shares is None:
            return text
        evidence = sign * self.by_channel[column]
        order = np.argsort(-np.abs(evidence), kind="stable")[:10]
        channels = [(self.channels[c], float(evidence[c])) for c in order]
        return text + table(["channel", "evidence"], channels)


def largest_channels(why: Explanation, row: int) -> tuple[str, ...]:
    """Return the channels that make up at least half of a row; () if shares are unknown."""
    if why.known_shares is None:
        return ()
    shares = why.known_shares[row]
    order = np.argsort(-shares, kind="stable")
    enough = int(np.searchsorted(np.cumsum(shares[order]), 0.5 - 1e-9)) + 1
    if shares[order[0]] < 1.5 * shares.mean():  # shares are nearly equal: no channel stands out
        enough = len(order) if len(order) < 4 else 0
    return tuple(why.channels[c] for c in order[:enough])
