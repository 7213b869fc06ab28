"""The run that a report is about: folds, predictions, and the classifiers that made them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from mvdfq.evaluation import Evaluation, Fold, useful_groups
from mvdfq.evaluation.measures import share_interval
from mvdfq.sequences import Sequences

# Classifiers of more folds are fitted again where a sequence of the fold is explained: a
# classifier of 2000 sequences holds tens of megabytes.
MOST_KEPT = 10
# Longer text in brackets is a remark, not a unit.
LONGEST_UNIT = 12


def unit_of(name: str) -> str | None:
    """Return the unit at the end of the name of a channel, in round or square brackets.

    Examples
    --------
    >>> unit_of("accel x (m/s2)"), unit_of("skin [%]"), unit_of("take (2)"), unit_of("(V)")
    ('m/s2', '%', None, None)
    """
    for left, right in ("()", "[]"):
        before, bracket, unit = name.strip().removesuffix(right).rpartition(left)
        is_unit = bracket and name.strip().endswith(right) and not unit.strip().isdecimal()
        if is_unit and before.strip() and unit == unit.strip() and 0 < len(unit) <= LONGEST_UNIT:
            return unit
    return None


@dataclass
class Recorder:
    """Keeps what a report needs of every fold; an argument `visit` of `mvdfq.evaluate`."""

    probabilities: list[np.ndarray] = field(default_factory=list)
    p_values: list[np.ndarray | None] = field(default_factory=list)
    classes: list[np.ndarray] = field(default_factory=list)
    trains: list[np.ndarray] = field(default_factory=list)
    kept: dict[int, Any] = field(default_factory=dict)

    def __call__(self, clf: Any, X: Any, fold: Fold, train: np.ndarray) -> None:
        """Note the probabilities and p values of one fold, given classifier and test part."""
        clf = getattr(clf, "best_estimator_", clf)
        if len(self.kept) < MOST_KEPT:
            self.kept[len(self.trains)] = clf
        self.probabilities.append(clf.predict_proba(X))
        has_p_values = getattr(clf, "has_p_values", False)
        self.p_values.append(clf.p_values(X) if has_p_values else None)
        self.classes.append(clf.classes_)
        self.trains.append(train)


@dataclass(frozen=True)
class Run:
    """Sequences, the folds that judged them, and one classifier to ask about all sequences.

    `tested` are the places in `X` of the judged sequences, in the order of the folds of the first
    seed; all other arrays of judged sequences have this order. `reference` is the classifier for
    questions about the whole collection; `places` are the places in `X` of the sequences that
    `reference` learned from, None if it learned from others, whose names are `training_names`.
    """

    estimator: Any
    X: Sequences
    y: np.ndarray
    names: list[str]
    groups: np.ndarray | None
    evaluation: Evaluation
    recorder: Recorder
    reference: Any
    places: np.ndarray | None
    training_names: list[str]
    made: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def labels(self) -> list[Any]:
        """The classes."""
        return self.evaluation.labels

    @cached_property
    def channel_names(self) -> list[str]:
        """Names of the channels of `X`."""
        if self.X.channel_names is None and self.X.symbolic == (True,):
            return ["letters"]
        return list(self.X.channel_names or [f"x{c}" for c in range(self.X.n_rows)])

    @cached_property
    def units(self) -> list[str | None]:
        """The unit of each channel, from its name; None where the name holds no unit."""
        return [unit_of(name) for name in self.channel_names]

    @cached_property
    def n_folds(self) -> int:
        """Number of folds of the first seed."""
        folds = self.evaluation.folds
        return sum(fold.seed == folds[0].seed for fold in folds)

    @cached_property
    def folds(self) -> list[Fold]:
        """The folds of the first seed."""
        return self.evaluation.folds[: self.n_folds]

    @cached_property
    def tested(self) -> np.ndarray:
        """Places in `X` of the judged sequences."""
        return np.concatenate([fold.test for fold in self.folds])

    @cached_property
    def fold_of(self) -> np.ndarray:
        """Number of the fold of each judged sequence."""
        return np.repeat(np.arange(self.n_folds), [len(fold.test) for fold in self.folds])

    @cached_property
    def truth(self) -> np.ndarray:
        """Code of the true class of each judged sequence."""
        return self._codes([fold.truth for fold in self.folds])

    @cached_property
    def predicted(self) -> np.ndarray:
        """Code of the predicted class of each judged sequence."""
        return self._codes([fold.predicted for fold in self.folds])

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Probability of each class for each judged sequence, (n_judged, n_classes)."""
        return self._by_class(self.recorder.probabilities)

    @cached_property
    def p_values(self) -> np.ndarray | None:
        """The p value of each class for each judged sequence; None if a fold has no p values."""
        recorded = self.recorder.p_values[: self.n_folds]
        return None if any(p is None for p in recorded) else self._by_class(recorded)

    def _by_class(self, recorded: list[Any]) -> np.ndarray:
        """Return what the folds say of their classes, (n_judged, n_classes)."""
        parts = []
        for values, classes in zip(recorded, self.recorder.classes, strict=False):
            full = np.zeros((len(values), len(self.labels)))
            full[:, self._codes([classes])] = values  # a fold may miss a class
            parts.append(full)
        return np.concatenate(parts[: self.n_folds])

    @cached_property
    def confidence(self) -> np.ndarray:
        """Probability of the predicted class of each judged sequence."""
        return self.probabilities[np.arange(len(self.predicted)), self.predicted]

    def interval_of(self, mine: np.ndarray) -> list[float]:
        """Return the 95 % interval of the share of right predictions among some judged ones."""
        groups = None if self.groups is None else self.groups[self.tested[mine]]
        return list(share_interval((self.truth == self.predicted)[mine], groups))

    def model(self, f: int) -> Any:
        """Return the classifier of fold `f`; a classifier that was not kept is fitted again."""
        kept = self.recorder.kept
        if f not in kept:
            train = self.recorder.trains[f]
            groups = (
                None if self.groups is None else useful_groups(self.groups[train], self.y[train])
            )
            clf = clone(self.estimator).fit(self.X[train], self.y[train], groups=groups)
            kept[f] = getattr(clf, "best_estimator_", clf)
        return kept[f]

    @cached_property
    def judged_place(self) -> dict[int, int]:
        """The place among the judged sequences of each place in `X`."""
        return {int(i): place for place, i in enumerate(self.tested)}

    def training_name(self, f: int, index: int) -> tuple[str, int | None]:
        """Return the name of training sequence `index` of fold `f`, and its judged place."""
        if self.places is None:
            return self._given_name(index), None
        place = int(self.recorder.trains[f][index])
        return self.names[place], self.judged_place.get(place)

    def reference_name(self, index: int) -> str:
        """Return the name of training sequence `index` of the reference."""
        if self.places is not None:
            return self.names[int(self.places[index])]
        return self._given_name(index)

    def training_sides(self) -> np.ndarray:
        """Tell for each judged sequence which training sequences of the reference it may meet.

        The array is (n_judged, n_training): False for a pair that is in the same test part.
        """
        n_training = len(self.reference.train_index_)
        if self.places is None:
            return np.ones((len(self.tested), n_training), dtype=bool)
        masks = [np.isin(self.places, train) for train in self.recorder.trains[: self.n_folds]]
        return np.array(masks)[self.fold_of]

    def _given_name(self, index: int) -> str:
        names = self.training_names
        return names[index] if index < len(names) else f"training sequence {index}"

    def _codes(self, labels: list[np.ndarray]) -> np.ndarray:
        place = {label: c for c, label in enumerate(self.labels)}
        return np.array([place[one] for part in labels for one in part.tolist()], dtype=np.int64)
