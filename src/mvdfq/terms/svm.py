"""Support vector machines: several two-class problems on one kernel or feature matrix.

One-vs-rest has one problem per class, one-vs-one has one problem per pair of classes. In both
schemes the solution of a problem is one column of coefficients, so margins are a matrix product
and evidence can be summed.
"""

from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_expit, log_softmax
from sklearn import config_context
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import assert_all_finite

from mvdfq._engines.choice import current_engine
from mvdfq._utils.short import Short
from mvdfq._utils.threads import n_threads, run_in_order

# liblinear has one random generator per process, and every fit seeds the generator: two fits at
# the same time would change each other's random numbers.
_LIBLINEAR = Lock()
# Where the solver stops, and its most steps per sequence. With 1e-3, as in libsvm, decision values
# of two machines, or of a processor and a card, differ by up to 6e-4; with 1e-6 by less than 1e-6,
# in about the same time. Noisy labels in few dimensions need many more steps: there 1e-3 must do.
TOLERANCE, MOST_STEPS = 1e-6, 100
# The penalty of a machine without slack: no coefficient comes near this bound.
NO_SLACK = 1e9
# A temperature of 0 would make all classes equally probable, and would not tell which class wins.
LEAST_TRUST = 0.05


@dataclass(frozen=True)
class Problems:
    """The two-class problems that `n_classes` classes are split into."""

    n_classes: int
    scheme: str

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The positive and the negative class (-1: all other classes) of each problem."""
        if self.n_classes == 2:
            return [(1, 0)]
        if self.scheme == "ovr":
            return [(c, -1) for c in range(self.n_classes)]
        return [(i, j) for i in range(self.n_classes) for j in range(i + 1, self.n_classes)]

    def decision(self, margins: np.ndarray) -> np.ndarray:
        """Return one value per class, or one value if there are two classes.

        One-vs-one: the number of problems that a class wins, plus less than half a vote from the
        sum of its margins, which breaks ties as scikit-learn does.
        """
        if self.n_classes == 2:
            return margins[:, 0]
        if self.scheme == "ovr":
            return margins
        votes = np.zeros((len(margins), self.n_classes))
        sums = np.zeros_like(votes)
        for margin, (i, j) in zip(margins.T, self.pairs, strict=True):
            sums[:, i] += margin
            sums[:, j] -= margin
            votes[:, i] += margin >= 0
            votes[:, j] += margin < 0
        return votes + sums / (3 * (np.abs(sums) + 1))

    def predicted(self, decision: np.ndarray) -> np.ndarray:
        """Return the index of the predicted class for each decision."""
        return (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)


@dataclass(frozen=True, repr=False)
class Margins(Short):
    """Machines side by side: ``margins = values @ coefficients + intercepts``."""

    coefficients: np.ndarray
    intercepts: np.ndarray

    def of(self, values: Any) -> np.ndarray:
        """Return the margins, (n_sequences, n_problems)."""
        return values @ self.coefficients + self.intercepts

    def moved(self, shift: float) -> "Margins":
        """Return the machines with `shift` added to all margins."""
        return Margins(self.coefficients, self.intercepts + shift)


class FoldMachine(NamedTuple):
    """The machine of an inner fold: coefficients of all sequences, and the sequences to judge."""

    check: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray


def fit_margins(
    values: Any,
    y: np.ndarray,
    problems: Problems,
    C: float,
    *,
    sample_weight: np.ndarray,
    random_state: int = 0,
    n_jobs: int | None = None,
    squared: bool = False,
) -> Margins:
    """Solve every problem; dense `values` are kernel values, sparse `values` are features.

    If `squared`, the loss of the only problem is the squared hinge.
    """
    used = np.flatnonzero(sample_weight > 0)
    if not sp.issparse(values):
        assert_all_finite(values, input_name="kernel matrix")  # once, not once per problem
        # SVC solves all pairs by itself if every class has members
        if len(problems.pairs) > problems.n_classes == len(np.unique(y[used])):
            return _solve_pairs(values, y, used, problems, C, sample_weight[used], random_state)

    def solve(pair: tuple[int, int]) -> tuple[np.ndarray, float]:
        positive, negative = pair
        members = used[np.isin(y[used], pair)] if negative >= 0 else used
        labels = y[members] == positive
        if labels.all() or not labels.any():  # only one class has weight
            return np.zeros(values.shape[1]), 1.0 if labels.all() else -1.0
        if sp.issparse(values):
            loss = "squared_hinge" if squared else "hinge"
            linear = LinearSVC(C=C, loss=loss, max_iter=10_000, random_state=random_state)
            with _LIBLINEAR:
                linear.fit(values[members], labels, sample_weight[members])
            return linear.coef_[0], float(linear.intercept_[0])
        fit = _fit_squared if squared else _fit_kernel
        svc = fit(values, members, labels, C, sample_weight[members], random_state)
        # one coefficient per training sequence: 0 unless the sequence is a support vector
        column = np.zeros(len(values))
        column[members[svc.support_]] = svc.dual_coef_[0]
        return column, float(svc.intercept_[0])

    # a card has nothing to do meanwhile, and the processor nothing else
    n_jobs = -1 if n_jobs is None and current_engine().name == "gpu" else n_jobs
    done = run_in_order(solve, problems.pairs, n_threads(n_jobs))
    columns, intercepts = zip(*(result for _, result in done), strict=True)
    return Margins(np.array(columns).T, np.array(intercepts))


class QuietSVC(SVC):
    """Says by `fit_status_` alone that it stopped early: threads share filters of warnings."""

    def _warn_from_fit_status(self) -> None:
        """Do not warn."""


def _fit_kernel(K, used, labels, C, sample_weight, random_state, cache_size=200) -> SVC:
    K = K if len(used) == len(K) else K[np.ix_(used, used)]
    options = {"kernel": "precomputed", "C": C, "random_state": random_state}
    options["cache_size"] = cache_size
    with config_context(assume_finite=True):
        svc = QuietSVC(**options, tol=TOLERANCE, max_iter=MOST_STEPS * len(used))
        svc.fit(K, labels, sample_weight)
    return svc if svc.fit_status_ == 0 else SVC(**options).fit(K, labels, sample_weight)


def _fit_squared(K, used, labels, C, sample_weight, random_state) -> SVC:
    r"""Solve a problem with the squared hinge.

    .. math:: \min_f \frac{1}{2} \|f\|^2 + C \sum_i w_i \max(0, 1 - y_i f(x_i))^2

    This is the machine without slack on the kernel :math:`K_{ij} + \delta_{ij} / (2 C w_i)`.
    """
    K = K if len(used) == len(K) else K[np.ix_(used, used)]
    diagonal = np.einsum("ii->i", K)  # a view: a copy of the matrix would need as much memory again
    before = diagonal.copy()
    diagonal += 1 / (2 * C * sample_weight)
    try:
        # nearly all sequences are support vectors: room for all rows, a fifth less time
        room = {"cache_size": K.size * 4 / 2**20 + 1}
        return _fit_kernel(K, np.arange(len(K)), labels, NO_SLACK, None, random_state, **room)
    finally:
        diagonal[:] = before


def _solve_pairs(K, y, used, problems, C, sample_weight, random_state) -> Margins:
    """Solve all pairs of classes by one call, which saves most of the time of small problems.

    In ``SVC.dual_coef_`` a support vector of class i has its coefficient against class j in row j
    if j < i, else in row j - 1, since there is no row for class i.
    """
    svc = _fit_kernel(K, used, y[used], C, sample_weight, random_state)
    support = used[svc.support_]
    columns = np.zeros((len(K), len(problems.pairs)))
    for p, (i, j) in enumerate(problems.pairs):
        first, second = y[support] == i, y[support] == j
        columns[support[first], p] = svc.dual_coef_[j - 1, first]
        columns[support[second], p] = svc.dual_coef_[i, second]
    return Margins(columns, svc.intercept_)


def fit_temperature(decision: np.ndarray, y: np.ndarray, sample_weight: np.ndarray) -> float:
    """Return the factor that turns decision values into the log-odds that fit the labels best.

    All classes share one factor, so that the predicted class is the most probable class. As in
    Platt's method, the target of a label is slightly less than 1: otherwise the factor would grow
    without bound when all labels are predicted correctly. Few labels may be fitted by chance: the
    factor is then made smaller, see `_trust`.
    """
    if decision.ndim == 1:
        decision = np.stack([np.zeros_like(decision), decision], axis=1)

    # Laplace's rule: even if all labels are right, the next may be wrong
    doubt = 1 / (len(y) + 2)
    targets = np.full(decision.shape, doubt / decision.shape[1])
    targets[np.arange(len(y)), y] += 1 - doubt

    def loss(log_factor: float) -> float:
        logs = log_softmax(np.exp(log_factor) * decision, axis=1)
        return -float(np.average((targets * logs).sum(axis=1), weights=sample_weight))

    # the logarithm of the factor, which must be positive
    factor = float(np.exp(minimize_scalar(loss, bounds=(-5, 5), method="bounded").x))
    logs = log_softmax(factor * decision, axis=1)[np.arange(len(y)), y]
    return factor * _trust(logs + np.log(decision.shape[1]), sample_weight)


def fit_shift(decision: np.ndarray, y: np.ndarray, sample_weight: np.ndarray) -> float:
    r"""Return what to add to the decision values of two classes, which are equally probable at 0.

    If one class is rare, a machine puts nearly all new sequences on the side of the other class,
    even where all members of the rare class have larger decision values. Platt's method says where
    the classes are equally probable,

    .. math:: p_1(x) = 1 / (1 + e^{-(a f(x) + b)}), \qquad f(x) = -b / a
    """
    sizes = np.bincount(y, minlength=2)
    # slightly less than 1 and more than 0: otherwise the slope would grow without bound
    targets = np.where(y == 1, sizes[1] + 1, 1) / (sizes[y] + 2)
    mean, spread = decision.mean(), decision.std() or 1.0
    scaled = (decision - mean) / spread

    def loss(numbers: np.ndarray) -> float:
        odds = numbers[0] * scaled + numbers[1]
        logs = targets * log_expit(odds) + (1 - targets) * log_expit(-odds)
        return -float(np.average(logs, weights=sample_weight))

    slope, shift = minimize(loss, [1.0, 0.0], bounds=[(1e-3, None), (None, None)]).x
    # at least one decision value stays on each side
    return float(np.clip(shift / slope * spread - mean, -decision.max(), -decision.min()))


def _trust(gains: np.ndarray, sample_weight: np.ndarray) -> float:
    """Return how much of a temperature to believe, given what it gains in each label.

    A gain is the log probability of a label, less the log probability of a guess. With the mean
    gain `t` in standard errors, the share is ``1 - 1 / t**2``, as James and Stein shrink a mean,
    but at least LEAST_TRUST. benchmarks/bench_probabilities.py measures what this gains.
    """
    weight = sample_weight / sample_weight.sum()
    mean = float(weight @ gains)
    error = np.sqrt(float(weight**2 @ (gains - mean) ** 2))
    if mean <= 0 or error >= mean:
        return LEAST_TRUST
    return max(1 - (error / mean) ** 2, LEAST_TRUST)
