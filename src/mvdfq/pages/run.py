"""The run that a report is about: folds, predictions, and the classifiers that made them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import column_or_1d

from mvdfq._engines.choice import engine_of
from mvdfq._utils.threads import one_blas_thread
from mvdfq.classifier.similarity import all_points, points_of
from mvdfq.evaluation import Evaluation, Fold, aligned, codes_of, joined, useful_groups
from mvdfq.evaluation.measures import share_interval
from mvdfq.sequences import check_sequences
from mvdfq.terms.fitted import Points
from mvdfq.terms.validation import check_groups

# Classifiers of more folds are fitted again where a sequence of the fold is explained: a
# classifier of 2000 sequences holds tens of megabytes.
MOST_KEPT = 10
# Largest number of kernel values that are computed: 200 MB.
MOST_PAIRS = 25_000_000
# Test parts of more sequences keep no sketches, of 8 kB each.
MOST_POINTS = 5000
# Longer text in brackets is a remark, not a unit.
LONGEST_UNIT = 12


def unit_of(name: str) -> str | None:
    """Return the unit at the end of the name of a channel, in round or square brackets.

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
    """Judges every fold and keeps what a report needs; an argument `visit` of `mvdfq.evaluate`."""

    decided: list[Any] = field(default_factory=list)
    points: list[Points | None] = field(default_factory=list)
    p_values: list[np.ndarray | None] = field(default_factory=list)
    classes: list[np.ndarray] = field(default_factory=list)
    trains: list[np.ndarray] = field(default_factory=list)
    kept: dict[int, Any] = field(default_factory=dict)

    @one_blas_thread()
    def answers(self, clf: Any, X: Any, labels: list[Any]) -> tuple[np.ndarray, Any, Any]:
        """Return what `evaluation.answers` does, of a test part that is read once."""
        clf = getattr(clf, "best_estimator_", clf)
        with engine_of(clf):
            read, known = clf._read(X), clf.calibration_ is not None
            judged = clf.sum_.judge(read, clf.train_y_) if known else (None, None, None)
            *decided, lost = clf._decide(read, judged[0])
            p = clf._doubt(read, decided[0], lost, judged[1]) if known else None
        self.decided.append(decided)
        self.p_values.append(p)
        self.points.append(judged[2] if len(X) <= MOST_POINTS else None)
        chances = aligned(clf.probabilities(decided[0]), clf.classes_, labels)
        return clf.classes_[clf.problems_.predicted(decided[0])], decided[0], chances

    def __call__(self, clf: Any, X: Any, fold: Fold, train: np.ndarray) -> None:
        """Note the classifier of a fold, its classes and what it learned from."""
        clf = getattr(clf, "best_estimator_", clf)
        if len(self.kept) < MOST_KEPT:
            self.kept[len(self.trains)] = clf
        self.classes.append(clf.classes_)
        self.trains.append(train)


class Run:
    """Sequences, the folds of the first seed that judged them, and the classifiers of the folds.

    `tested` are the places of the judged sequences in `X`, in the order of the folds, which
    `fold_of`, `truth`, `predicted`, `confidence`, `probabilities` and `p_values` share.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        names: Sequence[str] | None,
        groups: Any,
        evaluation: Evaluation,
        recorder: Recorder,
    ) -> None:
        self.estimator, self.evaluation, self.recorder = estimator, evaluation, recorder
        self.X, self.y, all_folds = check_sequences(X), column_or_1d(y), evaluation.folds
        X, self.groups = self.X, check_groups(groups, len(self.X))
        self.names = [*map(str, range(len(X)) if names is None else names)]
        if len(self.names) != len(X):
            n = len(self.names)
            raise ValueError(f"names must hold one name per sequence ({len(X)}), got {n}.")
        # a fitted classifier judges sequences as they are; it may know the names it learned from
        source = {} if self.knows_training else getattr(recorder.kept[0], "source_", {})
        self.training_names = [*map(str, source.get("names", []))]
        self.labels = evaluation.labels
        letters = X.channel_names is None and X.symbolic == (True,)
        usual = ["letters"] if letters else [f"x{c}" for c in range(X.n_rows)]
        self.channel_names = list(X.channel_names or usual)
        self.units = [unit_of(name) for name in self.channel_names]
        self.folds = [fold for fold in all_folds if fold.seed == all_folds[0].seed]
        self.n_folds = len(self.folds)
        self.tested = np.concatenate([fold.test for fold in self.folds])
        self.judged_place = {int(i): place for place, i in enumerate(self.tested)}
        self.fold_of = np.repeat(np.arange(self.n_folds), [len(f.test) for f in self.folds])
        first = replace(evaluation, folds=self.folds)
        self.truth = codes_of(first.truth, self.labels)
        self.predicted = codes_of(first.predicted, self.labels)
        self.probabilities = np.asarray(first.probabilities)
        self.confidence = self.probabilities[np.arange(len(self.predicted)), self.predicted]
        recorded = zip(recorder.p_values, recorder.classes, self.folds, strict=False)
        self.p_values = joined([aligned(p, of, self.labels) for p, of, _ in recorded])

    def interval_of(self, places: np.ndarray) -> list[float]:
        """Return the 95 % interval of the share of right predictions among some judged ones."""
        groups = None if self.groups is None else self.groups[self.tested[places]]
        return list(share_interval((self.truth == self.predicted)[places], groups))

    def model(self, f: int) -> Any:
        """Return the classifier of fold `f`; a classifier that was not kept is fitted again."""
        kept, train = self.recorder.kept, self.recorder.trains[f]
        if f not in kept:
            X, y = self.X[train], self.y[train]
            groups = None if self.groups is None else useful_groups(self.groups[train], y)
            clf = clone(self.estimator).fit(X, y, groups=groups)
            kept[f] = getattr(clf, "best_estimator_", clf)
        return kept[f]

    def points(self, f: int, places: Any) -> Points:
        """Return judged sequences of a fold as its classifier compares them."""
        if (known := self.recorder.points[f]) is not None:
            return known[np.asarray(places) - self.fold_of.searchsorted(f)]
        return points_of(self.model(f), self.X[self.tested[places]])

    def decided(self, f: int, places: Any) -> Any:
        """Return decision values, margins and sums of terms; None of what another fold judged."""
        decision, margins, sums = self.recorder.decided[f]
        inside = np.asarray(places) - self.fold_of.searchsorted(f)
        if (self.fold_of[places] != f).any():
            return None
        return decision[inside], margins[inside], {name: sums[name][inside] for name in sums}

    def known_classes(self, f: int) -> np.ndarray:
        """Return the codes of the classes that the classifier of fold `f` knows."""
        return codes_of(self.recorder.classes[f], self.labels)

    @property
    def knows_training(self) -> bool:
        """Whether the training sequences of the folds are in `X`."""
        return self.recorder.trains[0].size > 0

    def training_name(self, index: int) -> str:
        """Return the name of a sequence of `X` or, if training is elsewhere, of training."""
        names = self.names if self.knows_training else self.training_names
        return names[index] if index < len(names) else f"training sequence {index}"

    @cached_property
    def similarities(self) -> np.ndarray | None:
        """Kernel values of judged with all, or training, sequences; None if they are too many."""
        clf = self.model(0)
        n = len(self.X) if self.knows_training else len(clf.train_index_)
        if len(self.tested) * n > MOST_PAIRS:
            return None
        if self.knows_training:
            judged = self.folds[0].test, self.recorder.points[0]
            points = all_points(clf, self.X, self.recorder.trains[0][clf.train_index_], *judged)
            return clf.sum_.likeness(points[self.tested], points)
        return clf.sum_.likeness(self.points(0, np.arange(len(self.tested))))

    @cached_property
    def sides(self) -> np.ndarray:
        """Which sequences of `X` each fold learned from, (n_folds, n_sequences)."""
        trains = self.recorder.trains[: self.n_folds]
        return np.array([np.isin(np.arange(len(self.X)), train) for train in trains])
