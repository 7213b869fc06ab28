"""The base class of all transformers of sequences, and questions to chains of transformers.

A part of a classifier is a transformer, a scikit-learn pipeline of parts, None or "passthrough".
Only `steps_of` knows this.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mvdfq._engines.choice import on_card
from mvdfq.frames.learned import learned_names, require
from mvdfq.sequences import Sequences, check_sequences

# Most channels of a part that was read from a file; a part without learned arrays may claim any
# number, and names of all channels would fill the memory.
MOST_CHANNELS = 10**6


class SequenceTransformer(TransformerMixin, BaseEstimator):
    """Base of the transformers that take a collection of sequences.

    `fit` remembers the number of channels, their names and which channels hold symbols;
    `transform` refuses other channels and adds names and flags that a plain list does not have.
    A subclass writes `_fit` and `_transform`, which take checked sequences, and `_check_learned`.

    The rest of the package does not test which class a transformer is; it calls methods:
    explanations call `channel_shares` and, for quantizers, `symbol_names`; model files call
    `check_learned`. Without `channel_shares`, importance and evidence by channel raise an error.

    Attributes
    ----------
    n_channels_in_ : int
        Number of channels seen in `fit`.
    channel_names_in_ : tuple of str or None
        Names of the channels, if the channels had names.
    symbolic_in_ : tuple of bool
        One flag per channel, True if the channel holds symbols; empty if no channel does.
    """

    # Annotations declare what `fit` learns: a model file must hold these names, see `learned.py`.
    n_channels_in_: int
    channel_names_in_: tuple[str, ...] | None
    symbolic_in_: tuple[bool, ...]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # The output is not an array, so scikit-learn must not put it into a data frame.
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the training sequences, and return the fitted transformer.

        `X` is a list of arrays of shape (n_channels, n_timepoints), or any other input of
        `mvdfq.check_sequences`. `y` are the labels of the sequences: a transformer of several views
        passes the labels on to its views, other transformers ignore the labels.
        """
        self._fit(self._read_training(X), y)
        return self

    def transform(self, X: Any) -> Any:
        """Return the sequences, transformed with what `fit` learned, in the same order.

        `X` must have the channels seen in `fit`. A quantizer returns `Symbols`, other transformers
        return `Sequences`.
        """
        return self._transform(self._read(X))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from the training sequences and transform them; the sequences are read once."""
        own = type(self).fit, type(self).transform
        if own != (SequenceTransformer.fit, SequenceTransformer.transform):
            return self.fit(X, y).transform(X)  # a class of a user, which does more than ours
        return self._fit_transform(self._read_training(X), y)

    def _fit(self, X: Sequences, y: Any) -> None:
        """Learn from checked sequences; a subclass that learns something overrides this method."""

    def _transform(self, X: Sequences) -> Any:
        """Transform checked sequences, which have the channels seen in `fit`."""
        raise NotImplementedError(f"{type(self).__name__} must define _transform.")

    def _fit_transform(self, X: Sequences, y: Any) -> Any:
        """Learn from checked sequences and transform them."""
        self._fit(X, y)
        return self._transform(self._read(X))  # `_fit` may have marked channels as symbolic

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the rows that `transform` returns, (n_rows,).

        `input_features` are the names of the channels; None means the names seen in `fit`.
        """
        check_is_fitted(self)
        given = self.channel_names_in_ if input_features is None else input_features
        names = None if given is None else tuple(map(str, given))
        nothing = replace(self._nothing(), channel_names=names)
        return np.array(channel_names(self.transform(nothing)), dtype=object)

    def check_learned(self) -> None:
        """Raise an error if the learned values, read from a file, do not belong together."""
        n, names = self.n_channels_in_, self.channel_names_in_
        fits = 0 < n <= MOST_CHANNELS
        require(fits, f"n_channels_in_ must be from 1 to {MOST_CHANNELS}, got {n!r}")
        for name, values in (("symbolic_in_", self.symbolic_in_), ("channel_names_in_", names)):
            fits = not values or len(values) == n
            require(fits, f"{name} must hold one value for each of the {n} channels, or nothing")
        self._check_learned()

    def _check_learned(self) -> None:
        """Check what annotations cannot say of a subclass: shapes, ranges and relations."""

    def set_output(self, *, transform: str | None = None) -> Any:
        """Accept a call of scikit-learn's `set_output` without effect, as a step of a pipeline."""
        return self

    @property
    def _symbolic_mask(self) -> np.ndarray:
        """Return one flag per channel seen in `fit`, True if the channel holds symbols."""
        return np.array(self.symbolic_in_ or (False,) * self.n_channels_in_)

    def _nothing(self) -> Sequences:
        """Return a collection without sequences, with the channels seen in `fit`."""
        data, offsets = np.empty((self.n_channels_in_, 0)), np.zeros(1, np.int64)
        return Sequences(data, offsets, self.channel_names_in_, symbolic=self.symbolic_in_)

    def _read_training(self, X: Any) -> Sequences:
        """Check the sequences given to `fit` and remember their channels."""
        X = check_sequences(X)
        if not len(X):
            raise ValueError("X holds no sequences; pass at least one sequence.")
        self.n_channels_in_ = X.n_rows
        self.channel_names_in_ = X.channel_names
        self.symbolic_in_ = X.symbolic
        return X

    def _read(self, X: Any) -> Sequences:
        """Check that the sequences given to `transform` have the channels seen in `fit`."""
        if not self.__sklearn_is_fitted__():  # asked first: scikit-learn takes longer to ask
            check_is_fitted(self)
        X = check_sequences(X, n_channels=self.n_channels_in_)
        known = self.channel_names_in_
        names = X.channel_names or known
        if names is not None and known is not None and names != known:
            raise ValueError(f"X must have the channels of fit, {list(known)}, got {list(names)}.")
        if names == X.channel_names and X.symbolic == self.symbolic_in_:
            return X
        # a plain list has neither names nor flags: then the names and flags of `fit` hold
        as_in_fit = X.with_fields(channel_names=names, symbolic=self.symbolic_in_)
        for j in np.flatnonzero(X.symbolic_mask & ~as_in_fit.symbolic_mask):
            raise ValueError(f"Channel {j} of X must hold numbers, as in fit, got symbols.")
        return as_in_fit

    def _refuse_symbols(self, X: Sequences) -> None:
        for j in np.flatnonzero(X.symbolic_mask):
            problem = f"needs numbers, but channel {channel_names(X)[j]} holds symbols"
            hint = "leave out the channel, or use mvdfq.DirectQuantizer, which takes both"
            raise ValueError(f"{type(self).__name__} {problem}; {hint}.")

    def __sklearn_is_fitted__(self) -> bool:
        # `fit` remembers the channels first, and may then refuse the values or a parameter
        cls: Any = type(self)
        return all(hasattr(self, name) for name in learned_names(cls))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True
        return tags


class PerChannel(SequenceTransformer):
    """Base of the transformers whose rows are the channels, each made of one channel alone."""

    def channel_shares(self) -> np.ndarray:
        """Return the identity: every row is one channel."""
        return np.eye(self.n_channels_in_)


def card_for(X: Sequences) -> tuple[str, Any]:
    """Return the device and functions of a card; "" and None for the processor and for symbols."""
    return ("", None) if X.symbolic_mask.any() else on_card("frames")


def channel_names(X: Any) -> tuple[str, ...]:
    """Return the names of the rows of `X`; ``x0, x1, ...`` without names."""
    return X.channel_names or tuple(f"x{j}" for j in range(X.n_rows))


def channel_index(channel: Any, names: Sequence[str], parameter: str) -> int:
    """Return the index of a channel that `parameter` gives by index or name."""
    if isinstance(channel, str) and channel in names:
        return names.index(channel)
    is_index = isinstance(channel, Integral) and not isinstance(channel, bool)
    if is_index and 0 <= channel < len(names):
        return int(channel)
    wanted = f"channels by index, 0 to {len(names) - 1}, or by name, {list(names)}"
    raise ValueError(f"{parameter} must give {wanted}, got {channel!r}.")


def with_rows(X: Sequences, data: np.ndarray, names: Iterable[str], flags: Any) -> Sequences:
    """Return sequences of the same frames with other rows; `flags` tell which rows hold symbols."""
    symbolic = tuple(map(bool, flags)) if any(flags) else ()
    return replace(X, data=data, channel_names=tuple(names), symbolic=symbolic)


def renamed(X: Sequences, data: np.ndarray, prefix: str) -> Sequences:
    """Return other values of the same channels, with `prefix` before the names of numbers."""
    flags = X.symbolic_mask
    pairs = zip(channel_names(X), flags, strict=True)
    return with_rows(X, data, (n if flag else f"{prefix} {n}" for n, flag in pairs), flags)


class UnknownShares(AttributeError):
    """A transformer does not say which channels its rows are made of."""


def steps_of(*parts: Any) -> list[Any]:
    """Return the transformers that the parts apply, in the order of use.

    >>> from sklearn.pipeline import make_pipeline
    >>> from mvdfq import Delta, Smooth
    >>> steps_of(make_pipeline(Smooth(9), "passthrough"), None, Delta())
    [Smooth(window=9), Delta()]
    """
    steps: list[Any] = []
    for part in parts:
        if isinstance(part, Pipeline):
            steps += steps_of(*(step for _, step in part.steps))
        elif part is not None and not isinstance(part, str):
            steps.append(part)
    return steps


def passes(part: Any) -> bool:
    """Tell whether a part leaves the sequences as they are."""
    return part is None or (isinstance(part, str) and part == "passthrough")


def fit_encoders(parts: list[Any], X: Any, y: np.ndarray) -> tuple[list[Any], Any]:
    """Fit transformers one after the other; return the transformers and the encoded sequences."""
    fitted: list[Any] = []
    for step in parts:
        if passes(step):
            continue
        if not hasattr(step, "fit") or not hasattr(step, "transform"):
            problem = f"{step!r} is not a transformer"
            hint = "pass a name or an object such as mvdfq.Delta() or mvdfq.DirectQuantizer()"
            raise TypeError(f"{problem}; {hint}.")
        fitted.append(clone(step))
        X = fitted[-1].fit_transform(X, y)
    return fitted, X


def encode(encoders: list[Any], X: Any) -> Any:
    """Return new sequences as fitted transformers make them."""
    for step in encoders:
        X = step.transform(X)
    return X


def shares_of(parts: Iterable[Any], n_channels: int) -> np.ndarray:
    """Return the share of each of `n_channels` channels in each row that the parts make."""
    shares = np.eye(n_channels)
    for step in steps_of(*parts):
        name = type(step).__name__
        if not hasattr(step, "channel_shares"):
            problem = f"{name} does not say which channels its rows are made of"
            missing = "importance and evidence by channel are not known"
            hint = f"use by_row, or give {name} a method channel_shares"
            raise UnknownShares(f"{problem}, so {missing}; {hint}.")
        own = np.asarray(step.channel_shares(), dtype=float)
        sums_to_one = own.ndim == 2 and np.allclose(own.sum(axis=1), 1) and (own >= 0).all()
        if not sums_to_one or own.shape[1] != len(shares):
            shape = f"an array of shape (n_rows, {len(shares)})"
            wanted = f"{shape} with non-negative rows that sum to 1"
            got = f"got shape {own.shape}"
            raise ValueError(f"{name}.channel_shares() must return {wanted}, {got}.")
        shares = own @ shares  # of a chain of transformers: the product of their matrices
    return shares
