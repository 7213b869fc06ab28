"""Questions to a fitted classifier beside predictions: why, what matters, what is alike."""

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mvdfq._utils.checks import check_whole
from mvdfq._utils.markup import bars
from mvdfq._utils.short import counted
from mvdfq.classifier.neighbour import Neighbour
from mvdfq.classifier.parts import encode
from mvdfq.classifier.saving.file import save_model
from mvdfq.classifier.saving.record import Source, TrainingRecord, fingerprints
from mvdfq.classifier.stream import Stream
from mvdfq.classifier.view_answers import explain_views, extra_norms, extra_shares
from mvdfq.classifier.views import FittedFilters, FittedWords
from mvdfq.explain.evidence import find_evidence
from mvdfq.explain.explanation import Explanation
from mvdfq.explain.importance import row_norms, shares_of_norms
from mvdfq.frames.steps import shares_of, steps_of
from mvdfq.machines.machine import KernelMachine, Machine
from mvdfq.machines.svm import Problems
from mvdfq.sequences import Ragged, Sequences, check_sequences
from mvdfq.sequences.ranges import warn_outside, without_constants
from mvdfq.symbols import Symbols
from mvdfq.symbols.base import check_symbols
from mvdfq.symbols.naming import names_of

__all__ = ["Questions"]

# Notebooks show the importance of channels for up to this many training sequences.
MOST_DRAWN = 500
# Words with an unseen symbol tell nothing; a fifth of unseen symbols spoils most words of six.
MOST_UNSEEN = 0.2
# Alphabets up to this size are letters, states or bins.
FEW_SYMBOLS = 64
# Name of the first kernel among the parts of a sum.
FIRST = "words"


class Questions:
    """The part of `SequenceClassifier` that answers questions about what was learned."""

    classes_: np.ndarray
    n_channels_in_: int
    channel_names_in_: tuple[str, ...] | None
    ranges_in_: np.ndarray
    train_index_: np.ndarray
    train_y_: np.ndarray
    symbols: Any
    symbols_: Any
    kernel_: Any
    machine_: Machine
    problems_: Problems
    frames_: Any
    C_: float
    temperature_: float
    validation_scores_: np.ndarray
    validation_score_: float
    validation_std_: float
    row_weights_: np.ndarray
    group_weights_: np.ndarray | None
    # With a value here: model files of earlier versions have none.
    training_: TrainingRecord | None = None
    train_fingerprints_: np.ndarray | None = None
    source_: Source = {}  # noqa: RUF012
    view_shares_: np.ndarray = np.ones(1)
    views_: list[FittedWords | FittedFilters] = []  # noqa: RUF012

    @property
    def encoders(self) -> list[Any]:
        """The fitted transformers that turn sequences into symbols, in the order of use."""
        check_is_fitted(self)
        return [step for step in (self.frames_, self.symbols_) if step is not None]

    def encode(self, X: Any) -> Any:
        """Turn sequences into the symbols that are compared.

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Sequences with the channels seen in `fit`.

        Returns
        -------
        symbols : Symbols
            The rows of symbols that the kernel reads; rows constant in training are left out.
        """
        symbols = encode(self.encoders, self._as_sequences(X))
        return self.kernel_.read_new(symbols)

    def _margins(self, X: Any) -> np.ndarray:
        """Return the margins of sequences: of the first kernel and of all views."""
        check_is_fitted(self)
        X = self._as_sequences(X)
        symbols = encode(self.encoders, X)
        self._warn_strange(X, symbols)
        return self._margins_of(X, symbols)

    def _collection(self, X: Any) -> Any:
        """Return X as sequences of numbers or letters, or as symbols if `symbols` says so."""
        if isinstance(X, Symbols):
            return X
        as_symbols = isinstance(self.symbols, str) and self.symbols == "passthrough"
        return check_symbols(X) if as_symbols else check_sequences(X)

    def _as_sequences(self, X: Any) -> Any:
        """Return X with 0 in the channels that were constant in training; symbols as they are."""
        check_is_fitted(self)
        if self.symbols_ is None or isinstance(X, Symbols) or np.isnan(self.ranges_in_).all():
            return X
        return without_constants(
            check_sequences(X, n_channels=self.n_channels_in_), self.ranges_in_
        )

    def _warn_strange(self, X: Any, symbols: Any) -> None:
        """Warn about sequences unlike the training sequences."""
        # new columns of numbers are nothing strange, new letters and categories are
        of_numbers = isinstance(X, Symbols) or (isinstance(X, Sequences) and not any(X.symbolic))
        _warn_unseen(symbols, MOST_UNSEEN if of_numbers else 0)
        if isinstance(X, Sequences):
            warn_outside(X, self.ranges_in_, self._channel_names())

    def _margins_of(self, X: Any, symbols: Any) -> np.ndarray:
        """Return the margins of sequences whose symbols are known, before rows are left out."""
        return sum(self._parts_of(X, symbols).values(), start=np.zeros(1))

    def _parts_of(self, X: Any, symbols: Any) -> dict[str, np.ndarray]:
        """Return the margins by each part of the sum of kernels."""
        parts = {FIRST: self.machine_.of(self.kernel_.read_new(symbols))}
        for view in self.views_:
            margins = view.margins(X)
            parts[view.name] = parts[view.name] + margins if view.name in parts else margins
        return parts

    @property
    def feature_importance_(self) -> np.ndarray:
        r"""Share of each channel in what was learned, (n_channels,); the shares sum to 1.

        The share of a row of symbols is its part of the squared norms of all machines,
        :math:`\sum_c a_c^T K_r a_c`. The share of a row is divided among its channels.
        """
        n = self.n_channels_in_
        shares = [shares_of(self.encoders, n), extra_shares(self.views_, n)]
        return self.row_importance_ @ np.concatenate(shares)

    @property
    def part_importance_(self) -> dict[str, float]:
        """Share of each part of the sum of kernels in what was learned; the shares sum to 1.

        The parts of the default for numbers are ``"words"`` and ``"filters"``.
        """
        check_is_fitted(self)
        first, *shares = self.view_shares_.tolist()
        norms = {FIRST: float(self.machine_.once("row norms", row_norms).sum()) / first}
        for view, share in zip(self.views_, shares, strict=True):
            norms[view.name] = norms.get(view.name, 0.0) + float(view.machine.norms.sum()) / share
        found = shares_of_norms(np.array(list(norms.values())))
        return dict(zip(norms, found.tolist(), strict=True))

    @property
    def row_importance_(self) -> np.ndarray:
        """Share of each row of symbols in what was learned, (n_rows,); the shares sum to 1.

        Views with rows of their own come after the rows of `kernel_`: codewords, then one entry
        per channel for the filters on that channel.
        """
        check_is_fitted(self)
        norms = np.zeros(self.kernel_.n_rows_in_)
        norms[self.kernel_.rows_] = self.machine_.once("row norms", row_norms)
        first, *shares = self.view_shares_.tolist()
        extra = extra_norms(self.views_, shares, self.n_channels_in_)
        return shares_of_norms(np.concatenate([norms / first, extra]))

    def explain(self, x: Any) -> Explanation:
        """Return why the classifier puts one sequence into its class.

        Parameters
        ----------
        x : array-like of shape (n_channels, n_timepoints), str or Sequences of length 1
            The sequence.

        Returns
        -------
        explanation : Explanation
            Evidence by row, time and layout that sums to the decision value.
        """
        X, encoded = self._encode_one(x, "explain")
        return self._explained(X, encoded)[0]

    def explain_all(self, X: Any) -> list[Explanation]:
        """Return why the classifier puts each of several sequences into its class.

        Several sequences are explained faster together than one by one.

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Sequences with the channels seen in `fit`.

        Returns
        -------
        explanations : list of Explanation
            One explanation per sequence, the same as by `explain`.
        """
        check_is_fitted(self)
        X = self._as_sequences(X)
        return self._explained(X, encode(self.encoders, X))

    def _explained(self, X: Any, encoded: Any) -> list[Explanation]:
        """Return the explanations of sequences whose symbols are known."""
        self._warn_strange(X, encoded)
        symbols, parts = self.kernel_.read_new(encoded), self._parts_of(X, encoded)
        margins = sum(parts.values(), start=np.zeros(1))
        said = self.classes_[self.problems_.predicted(self.problems_.decision(margins))].tolist()
        kernel, classes = self.kernel_, self.classes_.tolist()
        last = (steps_of(*self.encoders) or [kernel.letters_])[-1]
        names, rows = names_of(last, kernel.n_symbols_.tolist()), self._row_names()
        plains = [
            Explanation(
                [classes[i] if j < 0 else (classes[i], classes[j])
                 for i, j in self.problems_.pairs],
                said[k],
                margins[k],
                evidence,
                symbols[k : k + 1],
                [rows[r] for r in kernel.rows_],
                [[one.offsets for one in group.layouts] for group in kernel.plan_.groups(0)],
                [names[r] for r in kernel.rows_],
                self._channel_names(),
                partial(_shares_of_rows, self.encoders, self.n_channels_in_, kernel.rows_),
                {name: mine[k] for name, mine in parts.items()},
            )
            for k, evidence in enumerate(find_evidence(self.machine_, symbols))
        ]  # fmt: skip
        return explain_views(plains, self.views_, X) if self.views_ else plains

    def _encode_one(self, x: Any, method: str) -> tuple[Any, Any]:
        """Return a single sequence as a collection, and its symbols before rows are left out."""
        X = self._as_sequences(_collected(x))
        encoded = encode(self.encoders, X)
        if len(encoded) != 1:
            more = "; explain_all takes several sequences" if method == "explain" else ""
            raise ValueError(f"{method} takes one sequence, got {len(encoded)} sequences{more}.")
        return X, encoded

    def _channel_names(self) -> list[str]:
        return list(self.channel_names_in_ or [f"x{c}" for c in range(self.n_channels_in_)])

    def _row_names(self) -> list[str]:
        """Names of the rows of symbols; unnamed rows, one per channel, take the channels' names."""
        names = list(self.kernel_.row_names_)
        is_unnamed = names == [f"row {r}" for r in range(len(names))]
        channels = self._channel_names()
        return channels if is_unnamed and len(channels) == len(names) else names

    def training_places(self, X: Any) -> list[list[int]]:
        """Return the training sequences that are equal to each of some sequences.

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Sequences with the channels seen in `fit`.

        Returns
        -------
        places : list of list of int
            For each sequence the indices of the training sequences with the same values; empty
            lists if a model file of an earlier version does not know them.
        """
        check_is_fitted(self)
        if self.train_fingerprints_ is None:
            return [[] for _ in range(len(X))]
        found = fingerprints(self._collection(X))
        if not np.isin(found, self.train_fingerprints_).any():  # as for most new sequences
            return [[] for _ in found]
        return [np.flatnonzero(self.train_fingerprints_ == one).tolist() for one in found]

    def neighbours(self, x: Any, n: int = 5) -> list[Neighbour]:
        """Return the training sequences that are most like one sequence, without the sequence.

        Parameters
        ----------
        x : array-like of shape (n_channels, n_timepoints), str or Sequences of length 1
            The sequence.

        n : int, default=5
            Number of training sequences to return.

        Returns
        -------
        neighbours : list of Neighbour
            Index, kernel value and label of each training sequence, the most similar first.
            Training sequences that are equal to `x` are left out, see `training_places`.
        """
        _, encoded = self._encode_one(x, "neighbours")
        symbols = self.kernel_.read_new(encoded)
        similar = np.minimum(self.machine_.similarities(symbols)[0], 1)  # not 1 + rounding error
        others = np.flatnonzero(~np.isin(self.train_index_, self.training_places(_collected(x))[0]))
        nearest = others[np.argsort(-similar[others], kind="stable")[: check_whole(n, "n")]]
        labels = self.classes_.tolist()  # Python's text and numbers print without their type
        return [
            Neighbour(int(self.train_index_[i]), float(similar[i]), labels[self.train_y_[i]])
            for i in nearest
        ]

    def stream(self) -> Stream:
        """Return an empty stream, which takes frames as they arrive and classifies them so far.

        Returns
        -------
        stream : Stream
            Use ``stream.update(frames).predict()``.
        """
        return Stream(self)

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier to a file that `mvdfq.load` reads.

        The file holds only numbers and text: loading the file does not run code.

        Parameters
        ----------
        path : str or Path
            The file, for example ``"genres.mvdfq"``; an existing file is replaced.
        """
        check_is_fitted(self)
        if isinstance(self.machine_, KernelMachine):
            self.machine_.keep_table()
        save_model(self, path)

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's diagram and the channels that matter, for notebooks."""
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        # the shares take as long as a kernel matrix: drawing must not take seconds
        if not hasattr(self, "machine_") or len(self.train_index_) > MOST_DRAWN:
            return diagram
        try:
            shares = self.feature_importance_
        except (AttributeError, ValueError):  # not every kernel and transformer knows shares
            return diagram
        order = np.argsort(-shares, kind="stable")[:10]
        names = [self._channel_names()[c] for c in order]
        return diagram + bars(names, shares[order].tolist(), "channels that matter")

    def __dir__(self) -> list[str]:
        # scikit-learn reads every attribute to draw an estimator; drawing must not take seconds
        costly = ("feature_importance_", "part_importance_", "row_importance_")
        names = [name for name in object.__dir__(self) if name not in costly]
        return [name for name in names if hasattr(self, name)]  # as scikit-learn does


def _collected(x: Any) -> Any:
    """Return a single sequence as a collection; a collection stays as it is."""
    is_collection = isinstance(x, Ragged) or (len(x) == 1 and np.ndim(x[0]) == 2)
    return x if is_collection else [x]


def _warn_unseen(symbols: Any, share: float) -> None:
    """Warn about sequences with more than this share of symbols that did not occur in training."""
    if not isinstance(symbols, Symbols) or not symbols.unseen.any():
        return
    small = symbols.n_symbols <= FEW_SYMBOLS  # a large vocabulary: new words are nothing strange
    counts = np.append((symbols.unseen & small[:, None]).sum(axis=0), 0)
    found = np.where(symbols.lengths > 0, np.add.reduceat(counts, symbols.offsets[:-1]), 0)
    n = np.count_nonzero(found > share * symbols.n_rows * symbols.lengths)
    if n:
        listed = np.flatnonzero(symbols.unseen.any(axis=1) & small)
        names = symbols.channel_names
        where = f" of {', '.join(repr(names[r]) for r in listed[:5])}" if names else ""
        warnings.warn(
            f"{n} of {counted(len(symbols), 'sequence')} hold symbols{where} that did not occur in "
            f"training, {found.sum()} symbols together; the answer rests on the other symbols. Is "
            f"this the kind of data that the classifier was trained on?",
            stacklevel=5,
        )


def _shares_of_rows(encoders: list[Any], n_channels: int, rows: np.ndarray) -> np.ndarray:
    """Return the channel shares of the rows that the kernel reads, (n_rows, n_channels)."""
    return shares_of(encoders, n_channels)[rows]
