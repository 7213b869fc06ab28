r"""Linear machines fitted by passes over blocks of sequences.

.. math:: \min_{w, b} \; \tfrac12 \lVert w \rVert^2
          + C \sum_i v_i \max(0, 1 - t_i (\langle w, D (x_i - \mu) \rangle + b))^2

where :math:`x_i` are the features of sequence `i`, :math:`\mu` their means, `D` a diagonal matrix
of factors and :math:`t_i` is 1 or -1. The squared hinge has a gradient, and the gradient is a sum
over sequences: every pass adds up the gradients of all blocks, and L-BFGS takes one step. Features
that are centred need far fewer passes; the means go into the intercept, so features stay sparse.

L-BFGS minimises several problems side by side, each with its own step and its own memory: one
evaluation reads all sequences once, whatever the number of problems. Reference: J. Nocedal and
S. Wright, Numerical Optimization, 2006, algorithms 7.4 and 3.1.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq._utils.threads import Report
from mvdfq.terms.feature_blocks import Labelled
from mvdfq.terms.standard import Scale
from mvdfq.terms.svm import Margins, Problems

# Two steps that lower the sum of all objectives by less than this share are the last steps.
TOLERANCE = 5e-3
# The largest number of passes; the last line search may add passes.
MOST_PASSES = 100
# Steps that L-BFGS remembers; fewer where these would not fit into the memory limit.
STEPS = 8

Pairs = Sequence[tuple[int, int]]
# Values of the columns and their gradients, (n_columns,) and (n_variables, n_columns).
Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
# The decrease that a step must reach, as a share of what the slope promises.
ARMIJO = 1e-4
# A step that was halved so often is not worth another pass.
MOST_HALVINGS = 5


def _targets(y: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Return 1 for the positive class of every problem, -1 for the negative class, else 0."""
    targets = np.empty((len(y), len(pairs)), np.float32)
    for target, (positive, negative) in zip(targets.T, pairs, strict=True):
        target[:] = -1.0 if negative < 0 else -(y == negative).astype(np.float32)
        target[y == positive] = 1.0
    return targets


def _weight(block: Labelled, everything: bool) -> np.ndarray:
    """Return the weights of the sequences; 0 for a sequence that is held out."""
    weight = block.weight if everything else np.where(block.held, 0, block.weight)
    return weight[:, None].astype(np.float32)


def target_sums(block: Labelled, pairs: Pairs, everything: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of the targets of every problem, and of their weights."""
    targets, weight = _targets(block.y, pairs), _weight(block, everything)
    return (weight * targets).sum(axis=0), (weight * np.abs(targets)).sum(axis=0)


def hinge_sums(
    block: Labelled, pairs: Pairs, everything: bool, weights: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the losses of a block, their gradients by the features and by the intercepts."""
    # all problems at once: reading the features costs more than the products
    margins = block.features.times(weights) + offsets.astype(np.float32)
    targets = _targets(block.y, pairs)
    # a target of 0 has slack 1, but no slope: the sequence is in neither class of the pair
    slack = np.maximum(0, 1 - targets * margins)
    slopes = _weight(block, everything) * targets * slack
    losses = (slopes * targets * slack).sum(axis=0, dtype=float)
    slopes *= -2
    return losses, block.features.gathered(slopes), slopes.sum(axis=0, dtype=float)


@dataclass(frozen=True)
class PassSolver:
    """Fits machines to blocks: `blocks` adds up a function of all blocks, here or elsewhere.

    A `stride` of 3 learns from every third block only.
    """

    blocks: Any
    columns: Scale
    problems: Problems
    memory: int
    report: Report = lambda done, total: None
    stride: int = 1
    tolerance: float = TOLERANCE
    most: int | None = None

    def __call__(self, C: float, start: Margins | None = None, everything: bool = True) -> Margins:
        """Return the machines on the features times their factors.

        `start` are machines to go on from; `everything` means the held-out sequences, too.
        """
        pairs, factor = self.problems.pairs, self.columns.factor.astype(np.float32)[:, None]
        centre = self.columns.mean.astype(np.float32)
        most = MOST_PASSES if self.most is None else self.most
        n_passes = 0

        def evaluate(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            nonlocal n_passes
            weights = factor * x[:-1]
            # centring without touching the features, which stay sparse
            offsets = x[-1] - centre @ weights
            done = n_passes

            def report(block: int, n_blocks: int) -> None:
                expected = (most + 1) * n_blocks  # a line search may need more
                self.report(min(done * n_blocks + block, expected - 1), expected)

            losses, gradient, slopes = self.blocks.sum(
                hinge_sums, pairs, everything, weights, offsets, stride=self.stride, report=report
            )
            n_passes += 1
            # the same centring, in the gradient
            gradient = factor * (gradient - centre[:, None] * slopes.astype(np.float32))
            gradient = C * np.vstack([gradient, slopes.astype(np.float32)])
            gradient[:-1] += x[:-1]
            norms = np.einsum("ij,ij->j", x[:-1], x[:-1]).astype(float)
            return norms / 2 + C * losses, gradient

        first = self._start(start, everything)
        # two arrays per step, and half of the memory for the blocks
        steps = int(np.clip(self.memory // (4 * max(first.nbytes, 1)), 2, STEPS))
        x = minimise(evaluate, first, self.tolerance, most, steps)
        return Margins(x[:-1], x[-1] - centre @ (factor * x[:-1]))

    def _start(self, start: Margins | None, everything: bool) -> np.ndarray:
        """Return the first point: the machines to go on from, or the best constant margins."""
        x = np.zeros((len(self.columns.mean) + 1, len(self.problems.pairs)), np.float32)
        if start is None:
            total, weight = self.blocks.sum(target_sums, self.problems.pairs, everything)
            # the mean target: the margin of sequences that do not differ
            x[-1] = total / np.maximum(weight, 1)
        else:
            x[:-1] = start.coefficients
            moved = (self.columns.factor[:, None] * start.coefficients).astype(np.float32)
            x[-1] = start.intercepts + self.columns.mean.astype(np.float32) @ moved
        return x


def minimise(
    evaluate: Evaluate, start: np.ndarray, tolerance: float, most: int, memory: int
) -> np.ndarray:
    """Return the minimum of every column, (n_variables, n_columns).

    Stops if the sum of all columns falls by less than `tolerance` of itself in each of two steps,
    or after `most` evaluations and the last line search. Keeps the last `memory` steps:
    2 * memory arrays of the size of `start`.
    """
    x, past = start, deque[tuple[np.ndarray, np.ndarray, np.ndarray]](maxlen=memory)
    n_small = n_evaluated = 0

    def counted(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal n_evaluated
        n_evaluated += 1
        return evaluate(x)

    value, gradient = counted(x)
    while n_evaluated <= most:
        step, slope = _direction(gradient, past)
        found = _line_search(counted, x, value, step, slope, first=not past)
        if found is None:
            break
        moved, new_value, new_gradient = found
        change, bend = moved - x, new_gradient - gradient
        curvature = _dots(change, bend)
        # also of columns without curvature, whose shares `_divided` sets to 0
        past.append((change, bend, curvature))
        fallen = value.sum() - new_value.sum()
        x, value, gradient = found
        # one small step may follow a bad line search; two are an end
        n_small = n_small + 1 if fallen <= tolerance * value.sum() else 0
        if n_small == 2:
            break
    return x


def _direction(gradient: np.ndarray, past: deque) -> tuple[np.ndarray, np.ndarray]:
    """Return the step of every column and the slope along the step (the two-loop recursion)."""
    step = gradient.copy()
    shares = []
    for change, bend, curvature in reversed(past):
        share = _divided(_dots(change, step), curvature)
        step -= share * bend
        shares.append(share)
    if past:
        _, bend, curvature = past[-1]
        # 0 for a column that could not get lower in the last step: it stays where it is
        step *= _divided(curvature, _dots(bend, bend))
    for (change, bend, curvature), share in zip(past, reversed(shares), strict=True):
        step += (share - _divided(_dots(bend, step), curvature)) * change
    if past:
        step[:, past[-1][2] <= 0] = 0
    np.negative(step, out=step)
    slope = _dots(step, gradient)
    uphill = slope > 0  # rounding: such columns go downhill by their gradient
    if uphill.any():
        sizes = np.maximum(np.sqrt(_dots(gradient, gradient)), 1).astype(gradient.dtype)
        step[:, uphill] = -(gradient / sizes)[:, uphill]
        slope = _dots(step, gradient)
    return step, slope


def _line_search(
    evaluate: Evaluate,
    x: np.ndarray,
    value: np.ndarray,
    step: np.ndarray,
    slope: np.ndarray,
    first: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the next point with its value and gradient; None if no column gets any lower.

    The first step has no curvature to go by: its length is 1 at most.
    """
    length = 1 / np.maximum(np.sqrt(np.abs(slope)), 1) if first else np.ones(len(slope))
    for _ in range(MOST_HALVINGS):
        moved = x + step * length.astype(x.dtype)
        new_value, gradient = evaluate(moved)
        good = new_value <= value + ARMIJO * length * slope
        if good.all():
            return moved, new_value, gradient
        # columns that are low enough keep their length, and wait for the others
        length[~good] /= 2
    # five halvings: leave these columns where they are
    length[~good] = 0
    if not length.any():
        return None
    moved = x + step * length.astype(x.dtype)
    return moved, *evaluate(moved)


def _dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the inner product of every column."""
    return np.einsum("ij,ij->j", a, b).astype(float)


def _divided(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return ``a / b`` in single precision; 0 where `b` is not positive, as after no step."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0).astype(np.float32)
