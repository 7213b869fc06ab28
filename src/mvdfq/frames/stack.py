"""Some of the channels, or several views of the same sequences side by side."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from mvdfq._engines.choice import side_by_side
from mvdfq.frames import base
from mvdfq.frames.base import SequenceTransformer, channel_names, passes, steps_of, with_rows
from mvdfq.frames.learned import require, require_array
from mvdfq.sequences import Sequences, check_sequences
from mvdfq.sequences.containers import check_lengths

# With more groups than this, the names are names of sensors, not of kinds of features.
MOST_GROUPS = 8


class Select(SequenceTransformer):
    """Keep some of the channels, with their names, and leave out the others.

    Parameters
    ----------
    channels : int, str or list of int or str
        The channels to keep, by index or name. The result has the channels in this order.

    Attributes
    ----------
    channels_ : ndarray of shape (n_kept,)
        The indices of the channels that are kept.

    Examples
    --------
    >>> from mvdfq.frames import Select
    >>> X = Select([1]).fit_transform([[[0.0, 1.0], [5.0, 6.0]]])
    >>> X[0], X.channel_names
    (array([[5., 6.]]), ('x1',))
    """

    channels_: np.ndarray

    def __init__(self, channels: Any) -> None:
        self.channels = channels

    def _fit(self, X: Sequences, y: Any) -> None:
        alone = not np.iterable(self.channels) or isinstance(self.channels, str)
        given = [self.channels] if alone else list(self.channels)
        indices = [base.channel_index(channel, channel_names(X), "channels") for channel in given]
        if not indices or len(set(indices)) < len(indices):
            problem = "channels must name at least one channel, and each channel once"
            raise ValueError(f"{problem}, got {self.channels!r}.")
        self.channels_ = np.array(indices)

    def _transform(self, X: Sequences) -> Sequences:
        kept, names = self.channels_, channel_names(X)
        return with_rows(X, X.data[kept], (names[j] for j in kept), X.symbolic_mask[kept])

    def channel_shares(self) -> np.ndarray:
        """Return one row per channel that is kept, with a 1 for the channel."""
        return np.eye(self.n_channels_in_)[self.channels_]

    def _check_learned(self) -> None:
        indices, n = self.channels_, self.n_channels_in_
        require_array(self, "channels_", (None,), np.int64, low=0, high=n - 1)
        once = 0 < len(np.unique(indices)) == indices.size
        require(once, "channels_ must hold at least one index, and every index once")


def groups_by_name(X: Sequences) -> list[list[int]]:
    """Return the numeric channels in groups: the names of a group differ only in the last number.

    A slope is in the group of its channel. Channels whose names do not end in a number are one
    group; so are all channels if there would be more than `MOST_GROUPS` groups.

    >>> import mvdfq
    >>> names = ["mfcc 0", "mfcc 1", "delta mfcc 0", "delta mfcc 1", "band 0", "band 1", "energy"]
    >>> groups_by_name(mvdfq.check_sequences([[[0.0] * 9] * 7], channel_names=names))
    [[0, 1, 2, 3], [4, 5], [6]]
    """
    groups: dict[str, list[int]] = {}
    names, numeric = channel_names(X), np.flatnonzero(~X.symbolic_mask).tolist()
    for j in numeric:
        stem = names[j].rstrip("0123456789")
        groups.setdefault("" if stem == names[j] else stem.removeprefix("delta "), []).append(j)
    return list(groups.values()) if len(groups) <= MOST_GROUPS else [numeric]


class Stack(SequenceTransformer):
    """Put the channels of several views of the same sequences side by side, in their order.

    Parameters
    ----------
    views : list of transformers or of (str, transformer)
        The views. `fit` fits each view on the same sequences; ``"passthrough"`` or None means the
        sequences as they are. A view without a name gets the name of its class in lower case,
        with a number if the name occurs twice. Parameters are set as in a pipeline:
        ``delta__keep=False``. All views must return the same number of frames.

    Attributes
    ----------
    views_ : list of (str, transformer)
        The fitted views; None for a view that passes the sequences through.

    Notes
    -----
    If two views return channels of the same name, the second channel gets the name of its view as
    a prefix. A symbolic channel that several views pass through is kept once.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from mvdfq.frames import Delta, Smooth, Stack
    >>> slope = Delta(keep=False)
    >>> views = Stack(["passthrough", slope, make_pipeline(Smooth(3), slope)])
    >>> X = views.fit_transform([[0.0, 0.0, 6.0]])
    >>> X.channel_names
    ('x0', 'delta x0', 'delta smooth x0')
    >>> X[0]
    array([[0. , 0. , 6. ],
           [0. , 3. , 6. ],
           [2. , 1.5, 1. ]])
    """

    views_: list[tuple[str, Any]]

    def __init__(self, views: Any) -> None:
        self.views = views

    def _fit(self, X: Sequences, y: Any) -> None:
        self._fit_transform(X, y)

    def _fit_transform(self, X: Sequences, y: Any) -> Any:
        """Fit every view and transform the training sequences, in one pass."""

        def fitted(named: tuple[str, Any]) -> tuple[str, Any, Any]:
            name, given = named
            view: Any = None if given is None else clone(given)
            part = X
            if hasattr(view, "fit_transform"):  # a pipeline then transforms only once
                part = view.fit_transform(X, y)
            elif view is not None:
                part = view.fit(X, y).transform(X)
            return name, view, self._checked(name, part)

        done = list(side_by_side(fitted, self._named(X)))
        self.views_ = [(name, view) for name, view, _ in done]
        return self._joined(X, {name: part for name, _, part in done})

    def _named(self, X: Sequences) -> list[tuple[str, Any]]:
        """Return the views for these sequences, with their names."""
        return named_views(self.views)

    def _transform(self, X: Sequences) -> Any:
        return self._joined(X, self._parts(X))

    def _parts(self, X: Sequences) -> dict[str, Any]:
        """Return what each view makes of the sequences, by the name of the view."""

        def part(named: tuple[str, Any]) -> tuple[str, Any]:
            name, view = named
            return name, self._checked(name, base.encode(steps_of(view), X))

        return dict(side_by_side(part, self.views_))

    def _checked(self, name: str, part: Any) -> Any:
        """Return what a view made, or raise an error if the stack cannot hold it."""
        return check_sequences(part)

    def _joined(self, X: Sequences, parts: dict[str, Any]) -> Any:
        """Return the rows of all views; symbolic rows of one name are kept once."""
        check_lengths(parts)
        views, rows, names, flags = zip(*_kept_rows(parts), strict=True)
        data = [parts[view].data[row] for view, row in zip(views, rows, strict=True)]
        like = replace(next(iter(parts.values())), sampling_rate=X.sampling_rate)
        return with_rows(like, np.stack(data), names, flags)

    def channel_shares(self) -> np.ndarray:
        """Return the shares of the rows of all views that are kept."""
        shares = {name: base.shares_of([view], self.n_channels_in_) for name, view in self.views_}
        kept = _kept_rows(self._parts(self._nothing()))
        return np.array([shares[view][row] for view, row, *_ in kept])

    def _check_learned(self) -> None:
        require(self.views_, "views_ must hold at least one view, got an empty list")
        for name, view in self.views_:
            steps = steps_of(view)
            for step in steps:
                is_fitted, kind = hasattr(step, "n_channels_in_"), type(step).__name__
                require(is_fitted, f"view {name!r} must be fitted, but {kind} is not")
            n, n_read = self.n_channels_in_, steps[0].n_channels_in_ if steps else None
            require(n_read in (None, n), f"view {name!r} must read {n} channels, got {n_read}")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; if `deep`, views by name and theirs as ``name__parameter``."""
        params = super().get_params(deep=False)
        for name, view in named_views(self.views) if deep else ():
            params[name] = view
            nested = {} if view is None else view.get_params()
            params.update({f"{name}__{key}": value for key, value in nested.items()})
        return params

    def set_params(self, **params: Any) -> "Stack":
        """Set ``views``, replace a view by its name, or set ``name__parameter`` of a view."""
        self.views = params.pop("views", self.views)
        named = named_views(self.views)
        if any(name in params for name, _ in named):
            self.views = [(name, params.pop(name, view)) for name, view in named]
        super().set_params(**params)
        return self


def named_views(views: Any) -> list[tuple[str, Any]]:
    """Return the views as pairs of name and transformer; None means passthrough."""
    if not isinstance(views, list | tuple):
        raise TypeError(f"views must be a list, got {type(views).__name__}; pass [view].")
    pairs = []
    for view in views:
        name = "passthrough" if passes(view) else type(view).__name__.lower()
        pair = view if isinstance(view, tuple) else (name, view)
        wanted = "A view must be a transformer"
        if len(pair) != 2 or not isinstance(pair[0], str):
            raise TypeError(f"{wanted} or a pair (name, transformer), got {pair!r}.")
        is_usable = hasattr(pair[1], "fit") and hasattr(pair[1], "transform")
        if not passes(pair[1]) and (isinstance(pair[1], type) or not is_usable):
            raise TypeError(f"{wanted}, 'passthrough' or None, got {pair[1]!r}.")
        pairs.append(pair)
    total, seen = Counter(name for name, _ in pairs), Counter[str]()
    named = []
    for (name, view), given in zip(pairs, views, strict=True):
        seen[name] += 1
        if isinstance(given, tuple) and (total[name] > 1 or "__" in name or name == "views"):
            wanted = "unique, without '__' and not 'views'"
            raise ValueError(f"A view name must be {wanted}, got {name!r}.")
        # as make_pipeline does; only names that the user gives must differ
        unique = f"{name}-{seen[name]}" if total[name] > 1 else name
        named.append((unique, None if passes(view) else view))
    if not named:
        raise ValueError("views must hold at least one view, got an empty list.")
    return named


def _kept_rows(parts: dict[str, Sequences]) -> list[tuple[str, int, str, bool]]:
    """List the rows of a stack: view, row of the view, name in the stack, whether symbolic."""
    kept: list[tuple[str, int, str, bool]] = []
    names: set[str] = set()
    for view, part in parts.items():
        pairs = zip(channel_names(part), part.symbolic_mask.tolist(), strict=True)
        for row, (name, flag) in enumerate(pairs):
            # several views may pass the same symbolic channel through
            if flag and name in names:
                continue
            unique = f"{view}: {name}" if name in names else name
            kept.append((view, row, unique, flag))
            names.add(unique)
    return kept
