"""Training by inner validation: the penalty C, and the scale of probabilities."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import log
from numbers import Real
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import assert_all_finite, column_or_1d, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from mvdfq._engines.choice import side_by_side
from mvdfq._utils.checks import DEFAULT_MEMORY
from mvdfq._utils.errors import ParameterError
from mvdfq._utils.threads import Report, n_threads, one_blas_thread
from mvdfq.terms.svm import FoldMachine, Margins, Problems, fit_margins, fit_shift, fit_temperature
from mvdfq.terms.typical import Calibration, Spread, inverse, nearness_in, spread_sizes

# Penalties to choose from; on normalized kernels a smaller or larger C changes nothing.
CANDIDATES = (1.0, 10.0, 100.0, 1000.0)
# The penalty to use if validation is not possible.
FALLBACK = 10.0
# Support vector machines lose the sequences if the weight times C is much smaller than this.
SMALLEST_WEIGHT = 1e-6
# Smallest share that a class of an even set has; more than two classes have less.
EVEN = 0.35


class Cautious(tuple[float, ...]):
    """Penalties, ascending; two classes of like weight take the smallest without a choice.

    With the squared hinge, two classes of any weight do so. Other classes: the best mean recall in
    inner folds, of equals the largest penalty. A rare class needs a large penalty: penalty 1 loses
    1.9 points of ROC50 against 10 on 54 families of proteins, 3 to 8 points on 7 classes.
    """


Fold = tuple[np.ndarray, np.ndarray]
Folds = list[Fold]
# Decision values of sequences that a fold holds out, and the places of the sequences.
HeldOut = tuple[np.ndarray, np.ndarray]


class QuickFolds(StratifiedGroupKFold):
    """Makes the same folds as scikit-learn, with one call of numpy per group, not one per fold."""

    def _find_best_fold(self, y_counts_per_fold, y_cnt, group_y_counts) -> int:
        """Return the fold in which a group leaves the shares of the classes most even."""
        n, best = self.n_splits, 0
        counts = y_counts_per_fold + np.eye(n)[:, :, None] * group_y_counts
        spreads = (counts / y_cnt).std(axis=1).mean(axis=1).tolist()
        sizes = y_counts_per_fold.sum(axis=1).tolist()
        for fold in range(1, n):
            more, equal = spreads[fold] - spreads[best], 1e-8 + 1e-5 * spreads[best]
            # of two that are equal but for rounding errors, the smaller fold
            if more < 0 or (more <= equal and sizes[fold] < sizes[best]):
                best = fold
        return best


@dataclass(frozen=True)
class Trained:
    """Trained machines and the scores of inner validation, (n_candidates, n_folds).

    `calibration` is what the inner folds say about p values, None if nothing is known. `folds` are
    the machines of the inner folds. After passes, `decision` are the decision values of the
    sequences that were held out, and `checked` the machines before they learned from them.
    """

    margins: Margins
    C: float
    temperature: float
    scores: np.ndarray
    best: int
    calibration: Calibration | None = None
    decision: np.ndarray | None = None
    folds: list[FoldMachine] = field(default_factory=list)
    checked: Margins | None = None

    @property
    def score(self) -> float:
        """Mean accuracy in the inner folds with the chosen C; NaN if nothing was held out."""
        scores = self.scores[self.best]
        return float(scores.mean()) if scores.size else np.nan


@dataclass(frozen=True)
class Trainer:
    """Trains machines on a matrix: dense kernel values or sparse features.

    The matrix is a function of the training indices. `fit` solves the problems on some rows of the
    matrix. `calibrates` says whether the folds also measure distances, for p values. `squared` says
    whether the loss is the squared hinge instead of the hinge. `memory` are the bytes that the
    matrix and its copies for folds may take.
    """

    problems: Problems
    y: np.ndarray
    sample_weight: np.ndarray
    groups: np.ndarray | None = None
    n_folds: int = 5
    random_state: int = 0
    n_jobs: int | None = None
    fit: Callable[..., Margins] = fit_margins
    calibrates: bool = True
    squared: bool = False
    memory: int = DEFAULT_MEMORY

    def __call__(
        self,
        matrix: Callable[[np.ndarray | None], Any],
        candidates: Sequence[float] = CANDIDATES,
        report: Report = lambda done, total: None,
    ) -> Trained:
        """Choose C among the candidates, fit the temperature, train on all sequences.

        ``matrix(None)`` is the matrix for the machine that is trained on all sequences.
        """
        candidates, everything = self.left(candidates), np.arange(len(self.y))
        folds = inner_folds(self.y, self.groups, self.n_folds, self.random_state)
        if not folds:  # nothing is known about boundary and scale
            C = min(candidates, key=lambda c: abs(log(c / FALLBACK)))
            margins = self._fit(matrix(None), everything, C)
            return Trained(margins, float(C), 1.0, np.empty((len(candidates), 0)), 0)
        done = self._in_folds(matrix, candidates, folds, report)
        machines, decisions, distances = zip(*done, strict=True)
        judged = zip(decisions, folds, strict=True)
        scores = np.array([[self._accuracy(d, check) for d in of] for of, (_, check) in judged]).T
        best = int(scores.mean(axis=1).argmax())
        if isinstance(candidates, Cautious):
            means = self._recalls(folds, decisions).mean(axis=0)
            best = int(np.flatnonzero(means == means.max())[-1])
        parts = [(of[best], check) for of, (_, check) in zip(decisions, folds, strict=True)]
        if shift := self._shift(parts):
            scores[best] = self._moved_scores(parts)
        decision, held_out = map(np.concatenate, zip(*parts, strict=True))
        decision, y = decision + shift, self.y[held_out]
        temperature = fit_temperature(decision, y, self.sample_weight[held_out])
        calibration = None
        if self.calibrates:
            spread = self._distances(matrix(everything), everything)[1]
            calibration = Calibration.of(decision, np.concatenate(distances), y, spread)
        C = float(candidates[best])
        margins = self._fit(matrix(None), everything, C).moved(shift)
        kept = self._machines(folds, [of[best].moved(shift) for of in machines if of])
        return Trained(margins, C, temperature, scores, best, calibration, folds=kept)

    def _in_folds(
        self, matrix: Callable, candidates: Sequence[float], folds: Folds, report: Report
    ) -> list[Any]:
        """Return what `_of_fold` returns for every fold, and report every fold."""
        train, done = partial(self._of_fold, matrix, candidates), []
        with one_blas_thread():  # the number of threads must not change a single bit
            for of_fold in side_by_side(train, folds, self._folds_at_once()):
                done.append(of_fold)
                report(len(done), len(folds) + 1)
        return done

    def _folds_at_once(self) -> int:
        """Return how many folds are trained at a time: a single problem leaves threads idle."""
        if len(self.problems.pairs) > 1:
            return 1
        matrix = 8 * len(self.y) ** 2
        copies = (self.memory - matrix) / (matrix * (1 - 1 / self.n_folds) ** 2)
        return max(min(n_threads(self.n_jobs), int(copies)), 1)

    def _shift(self, parts: Sequence[HeldOut]) -> float:
        """Return how far to move the boundary between two classes of unlike size, else 0.

        Methods of the paper have one machine for each pair of classes, and keep their boundary.
        """
        sizes = np.bincount(self.y)
        if len(sizes) != 2 or self.problems.scheme == "ovo" or _are_even(sizes):
            return 0.0
        decision, held_out = map(np.concatenate, zip(*parts, strict=True))
        return fit_shift(decision, self.y[held_out], self.sample_weight[held_out])

    def _moved_scores(self, parts: Sequence[HeldOut]) -> list[float]:
        """Return the accuracy in each fold, with the boundary that the other folds ask for."""
        shifts = [self._shift([*parts[:f], *parts[f + 1 :]] or parts) for f in range(len(parts))]
        moved = zip(shifts, parts, strict=True)
        return [self._accuracy(decision + by, check) for by, (decision, check) in moved]

    def left(self, candidates: Sequence[float]) -> Sequence[float]:
        """Return the penalties that are left to choose from, once the classes are known."""
        is_settled = self.squared or _are_even(np.bincount(self.y, self.sample_weight))
        return candidates[:1] if isinstance(candidates, Cautious) and is_settled else candidates

    def _of_fold(
        self, matrix: Callable[[np.ndarray], Any], candidates: Sequence[float], fold: Fold
    ) -> tuple[list[Margins], list[np.ndarray], np.ndarray | None]:
        """Return the machines of a fold, decisions by penalty, and distances of held-out sequences.

        Machines of pairs of classes are left out: there are many, and no caller needs them.
        """
        learn, check = fold
        values = matrix(learn)  # computed once for all penalties
        machines = [self._fit(values, learn, C) for C in candidates]
        cut = _cut(values, check, learn)
        decisions = [self.problems.decision(machine.of(cut)) for machine in machines]
        distances = self._distances(values, learn)[0][check] if self.calibrates else None
        return machines if self.problems.scheme == "ovr" else [], decisions, distances

    def _recalls(self, folds: Folds, decisions: Sequence[list[np.ndarray]]) -> np.ndarray:
        """Return the mean recall of the classes, (n_folds, n_candidates)."""

        def recall(decision: np.ndarray, y: np.ndarray) -> float:
            right = self.problems.predicted(decision) == y
            return float(np.mean([right[y == c].mean() for c in np.unique(y)]))

        pairs = zip(decisions, folds, strict=True)
        return np.array([[recall(d, self.y[check]) for d in fold] for fold, (_, check) in pairs])

    def chosen(self, values: Any, candidates: Sequence[float]) -> Trained:
        """Choose C in inner folds if there are several candidates; train on all sequences."""
        if len(candidates) > 1:
            return self(lambda learn: values, candidates)
        margins = self._fit(values, np.arange(len(self.y)), candidates[0])
        return Trained(margins, float(candidates[0]), 1.0, np.empty((1, 0)), 0)

    def checked(self, margins: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Return accuracy, temperature and decision values of sequences nobody learned from."""
        decision = self.problems.decision(margins)
        accuracy = self._accuracy(decision, np.arange(len(self.y)))
        return accuracy, fit_temperature(decision, self.y, self.sample_weight), decision

    def of(self, chosen: np.ndarray) -> "Trainer":
        """Return the trainer of some of the sequences."""
        groups, weight = self.groups, self.sample_weight[chosen]
        groups = None if groups is None else groups[chosen]
        return replace(self, y=self.y[chosen], sample_weight=weight, groups=groups)

    def _fit(self, values: Any, learn: np.ndarray, C: float) -> Margins:
        read = _cut(values, learn, learn), self.y[learn], self.problems, C
        how: Any = {"random_state": self.random_state, "n_jobs": self.n_jobs}
        how |= {"sample_weight": self.sample_weight[learn], "squared": self.squared}
        return self.fit(*read, **how)

    def _machines(self, folds: Folds, used: list[Margins]) -> list[FoldMachine]:
        """Return the machines of the folds, if they have a coefficient for every sequence."""
        kept = []
        for (learn, check), machine in zip(folds, used, strict=False):  # none are used of pairs
            if len(machine.coefficients) != len(learn):  # coefficients of explicit features
                return []
            coefficients = np.zeros((len(self.y), machine.coefficients.shape[1]))
            coefficients[learn] = machine.coefficients
            kept.append(FoldMachine(check, coefficients, machine.intercepts))
        return kept

    def _distances(self, values: Any, learn: np.ndarray) -> tuple[np.ndarray, Spread]:
        """Return relative distances of all sequences to the classes of `learn`, and the spread."""
        y, n_classes = self.y[learn], self.problems.n_classes
        members = np.zeros((len(self.y), n_classes))
        members[learn, y] = self.sample_weight[learn]
        members *= inverse(members.sum(axis=0))
        distances = nearness_in(values, members).distances()
        spread = Spread(spread_sizes(distances[learn, y], y, n_classes), (members**2).sum(axis=0))
        return spread.relative(distances), spread

    def _accuracy(self, decision: np.ndarray, check: np.ndarray) -> float:
        """Return the share of weight classified correctly: mean recall for balanced weights."""
        predicted = self.problems.predicted(decision)
        return float(np.average(predicted == self.y[check], weights=self.sample_weight[check]))


def _are_even(sizes: np.ndarray) -> bool:
    """Tell whether classes of these sizes are two classes of like size."""
    return bool(sizes.min() >= EVEN * sizes.sum())


def check_targets(
    n_sequences: int, y: Any, sample_weight: Any, groups: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Check labels, weights and groups; return them as arrays."""
    if y is None:
        raise ValueError("The classifier requires y to be passed, but the target y is None.")
    for name, given in [("y", y), ("sample_weight", sample_weight), ("groups", groups)]:
        if np.ma.is_masked(given):
            raise ValueError(f"{name} must have a value for every sequence, got masked values.")
    y = column_or_1d(y, warn=True)
    # None, NaN and empty text among words are missing labels, not classes
    labels = y.tolist() if y.dtype.kind in "OU" else []
    lacking = [i for i, label in enumerate(labels) if _is_missing(label)]
    if lacking:
        got = f"got {labels[lacking[0]]!r} for sequence {lacking[0]}; leave such sequences out"
        raise ValueError(f"y must have a label for every sequence, {got}.")
    are_words = {isinstance(label, str) for label in labels}
    if len(are_words) > 1:
        raise ValueError("y must hold words or numbers, got both; make all labels words.")
    if False in are_words:  # scikit-learn refuses numbers in an array of objects
        y = np.asarray(labels)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    if len(y) != n_sequences:
        raise ValueError(f"y must have {n_sequences} entries, got {len(y)}.")
    weight = _check_sample_weight(sample_weight, y, ensure_non_negative=True)
    if not weight.any() or weight.max() < SMALLEST_WEIGHT:
        wanted = f"a weight of at least {SMALLEST_WEIGHT:g}, got at most {weight.max(initial=0):g}"
        hint = "multiply all weights by the same number"
        raise ValueError(f"sample_weight must hold {wanted}; {hint}.")
    return y, weight, check_groups(groups, n_sequences)


def check_class_weight(class_weight: Any) -> None:
    """Refuse weights of classes that are not numbers from 0 on."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, Mapping):
        wanted = "None, 'balanced' or a dictionary from classes to numbers"
        raise ParameterError("class_weight", f"must be {wanted}, got {class_weight!r}")
    for label, weight in class_weight.items():
        if not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
            got = f"{weight!r} for class {label!r}"
            raise ValueError(f"class_weight must hold numbers from 0 on, got {got}.")


def weights_of_classes(class_weight: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return one weight per class, given the numbers of sequences; 1 for a class without a weight.

    scikit-learn sees the places of the classes, since it takes labels such as ``"1"`` for numbers.
    """
    if isinstance(class_weight, Mapping):
        places = {label: i for i, label in enumerate(classes.tolist())}
        strange = [label for label in class_weight if label not in places]
        # a part of the data, such as a fold, may lack a class
        if strange and len(class_weight) - len(strange) < len(places):
            known = ", ".join(map(repr, places))
            raise ParameterError("class_weight", f"names {strange[0]!r}; the classes are {known}")
        class_weight = {places[label]: w for label, w in class_weight.items() if label in places}
    codes = np.repeat(np.arange(len(classes)), counts)
    weights = compute_sample_weight(class_weight, codes)[np.cumsum(counts) - 1]
    if not weights.any():
        raise ParameterError("class_weight", "must be positive for a class, got only zeros")
    return weights


def check_groups(groups: Any, n_sequences: int) -> np.ndarray | None:
    """Check that every sequence has a group; return the groups as an array of one type."""
    if groups is None:
        return None
    groups = column_or_1d(np.asarray(groups, dtype=object))  # or NaN among text would be text
    if len(groups) != n_sequences:
        raise ValueError(f"groups must have {n_sequences} entries, got {len(groups)}.")
    lacking = [i for i, group in enumerate(groups.tolist()) if _is_missing(group)]
    if lacking:
        first = f"the first is sequence {lacking[0]}, counted from 0"
        got = f"got {len(lacking)} of {n_sequences} without a group ({first})"
        hint = "give them groups of their own, or leave out the groups"
        raise ValueError(f"groups must name the group of every sequence, {got}; {hint}.")
    plain = np.asarray(groups.tolist())
    return plain if plain.ndim == 1 and plain.dtype != object else groups.astype(str)


def _is_missing(value: Any) -> bool:
    """Tell whether a group or a label is None, NaN, pandas' NA or empty text."""
    if isinstance(value, str | bytes):
        return not value
    return value is None or str(value) in ("nan", "NaT", "<NA>")


def inner_folds(y: np.ndarray, groups: np.ndarray | None, n_folds: int, random_state: int) -> Folds:
    """Return indices to learn from and to check on; an empty list if no split is possible.

    All members of a group are in one fold. Small classes give fewer folds. A sequence whose class
    is in its own fold alone is not checked: nobody could have learned the class.
    """
    if groups is None:
        sizes = np.bincount(y)
        several, single = np.flatnonzero(sizes[y] > 1), np.flatnonzero(sizes[y] == 1)
        if not several.size:
            return []
        n_folds = min(n_folds, int(sizes[sizes > 1].min()))
        cutter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
        cuts = cutter.split(several, y[several])
        # a class of one member is in the training part of every fold
        return [(np.sort(np.append(several[a], single)), several[b]) for a, b in cuts]
    n_groups = len(np.unique(groups))
    if n_groups < 2:
        return []
    # at least two folds, even if a class has one member: such a class is not checked
    n_folds = min(n_folds, n_groups, max(int(np.bincount(y).min()), 2))
    grouped = QuickFolds(n_folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        # of a class of one member, which is not checked
        warnings.filterwarnings("ignore", message="The least populated class")
        parts = list(grouped.split(y, y, groups))
    known = [(learn, check[np.isin(y[check], y[learn])]) for learn, check in parts]
    return [(learn, check) for learn, check in known if len(check)]


def _cut(values: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """Return rows of features, or rows and columns of kernel values."""
    if not isinstance(values, np.ndarray):
        return values[rows]
    # all sequences: no copy of a large matrix
    if len(rows) == len(columns) == len(values):
        return values
    cut = np.empty((len(rows), len(columns)), values.dtype)
    for place, row in zip(cut, rows.tolist(), strict=True):
        # half the time of values[np.ix_(rows, columns)]
        values[row].take(columns, out=place, mode="clip")
    return cut
