"""A set of music: clips in several views, and the protocols that cut them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from mvdfq._utils.checks import parse_folds
from mvdfq.evaluation import folds_of
from mvdfq.reproduce.store import Shelf
from mvdfq.sequences import Sequences, offsets_of
from mvdfq.symbols.base import Symbols, check_symbols


class Cut(NamedTuple):
    """A fold: the indices of the training part and of the test part."""

    name: str
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class MusicSet:
    """Clips with their classes, in one or several views, and the protocols that cut them."""

    name: str
    views: dict[str, Callable[[], Any]]  # functions: a large view is read only when it is needed
    labels: np.ndarray
    groups: np.ndarray | None = None  # artists or albums
    split: np.ndarray | None = None  # "train", "valid" or "test" in an official split
    max_cuts: int | None = None  # only so many folds are used
    notes: dict[str, str] = field(default_factory=dict)  # what must be known of a view
    _read: Shelf = field(default_factory=lambda: Shelf(2), repr=False)
    _digests: dict[str, str] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.labels)

    def view(self, name: str) -> Any:
        """Return the clips in one form, numbers or symbols; two views stay in memory."""
        X, n = self._read.once(name, self.views[name]), len(self)
        if len(X) != n:
            raise ValueError(f"{self.name}: the view {name!r} has {len(X)} clips, expected {n}.")
        return X

    @cached_property
    def y(self) -> np.ndarray:
        """Classes as numbers, in the order of their names."""
        return np.unique(self.labels, return_inverse=True)[1]

    @cached_property
    def classes(self) -> list[str]:
        """Names of the classes."""
        return [str(label) for label in np.unique(self.labels)]

    def digest(self, view: str) -> str:
        """Return a digest of the clips of a view and of their classes."""
        if view not in self._digests:
            X = self.view(view)
            self._digests[view] = joblib.hash((X.data, X.offsets, self.labels.tolist()))
        return self._digests[view]

    def cuts(self, protocol: str, seed: int) -> list[Cut]:
        """Return the folds of a protocol."""
        if protocol == "artist-disjoint":  # as many folds as "5-fold"; "group" would make ten
            cutter = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
            parts = cutter.split(self.y, self.y, self.groups)
            folds: Any = ((f"fold {i}", *part) for i, part in enumerate(parts, start=1))
        elif protocol == "fault-filtered" and self.split is not None:
            split = np.where(self.split == "valid", "train", self.split)
            folds = folds_of("split", self.labels, split=split)
        else:
            folds = folds_of(protocol, self.labels, groups=self.groups, seed=seed)
        return [Cut(*fold) for fold in folds][: self.max_cuts]

    def allows(self, protocol: str) -> bool:
        """Return whether the data have the groups or the split that a protocol needs."""
        needed = {"artist-disjoint": self.groups, "group-per-class": self.groups}
        return needed.get(protocol, self.split if protocol == "fault-filtered" else ()) is not None

    def inner_groups(self, protocol: str) -> np.ndarray | None:
        """Return the groups that inner validation keeps together, as the protocol does."""
        return None if parse_folds(protocol) else self.groups

    def small(self, n_per_class: int = 6, n_frames: int = 200) -> "MusicSet":
        """Return a part for a smoke run: the first frames of a few clips of every class."""
        members = [np.flatnonzero(self.labels == label) for label in self.classes]
        # evenly spaced clips: the clips of a group stand together, and folds need several groups
        parts = [m[np.linspace(0, len(m) - 1, min(n_per_class, len(m))).astype(int)]
                 for m in members]  # fmt: skip
        chosen = np.sort(np.concatenate(parts))

        def part(read: Callable[[], Any]) -> Any:
            X = read()
            clips = [X[i][:, :n_frames] for i in chosen]
            return check_symbols(clips, X.n_symbols) if isinstance(X, Symbols) else joined(clips)

        views: Any = {name: partial(part, read) for name, read in self.views.items()}
        groups = None if self.groups is None else self.groups[chosen]
        # the chosen clips need not contain clips of both official parts
        thirds = np.where(np.arange(len(chosen)) % 3 == 0, "test", "train")
        split = None if self.split is None else thirds
        name = f"{self.name}, a small part"
        return MusicSet(name, views, self.labels[chosen], groups, split, 1, self.notes)


def joined(clips: list[np.ndarray]) -> Sequences:
    """Return clips one after the other, without the checks of `check_sequences`."""
    return Sequences(np.concatenate(clips, axis=1), offsets_of([x.shape[1] for x in clips]))
