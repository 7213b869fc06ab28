r"""Linear machines fitted by passes over blocks of sequences.

.. math:: \min_{w, b} \; \tfrac12 \lVert w \rVert^2
          + C \sum_i v_i \max(0, 1 - t_i (\langle w, D (x_i - \mu) \rangle + b))^2

where :math:`x_i` are the features of sequence `i`, :math:`\mu` their means, `D` a diagonal matrix
of factors and :math:`t_i` is 1 or -1. The squared hinge has a gradient, and the gradient is a sum
over sequences: every pass adds up the gradients of all blocks, and L-BFGS takes one step for the
sum of all problems. Features that are centred need far fewer passes; the means go into the
intercept, so features stay sparse.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from mvdfq._utils.threads import Report
from mvdfq.terms.feature_blocks import Labelled
from mvdfq.terms.standard import Scale
from mvdfq.terms.svm import Margins, Problems

# A step that lowers the sum of all objectives by less than this share is the last step.
TOLERANCE = 1e-3
# The largest number of passes; the last line search may add passes.
MOST_PASSES = 100
# Steps that L-BFGS remembers; fewer where these would not fit into the memory limit.
STEPS = 8

Pairs = Sequence[tuple[int, int]]


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
        first, n_passes = self._start(start, everything), 0

        def evaluate(point: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal n_passes
            x = point.reshape(first.shape).astype(np.float32)
            weights = factor * x[:-1]
            # centring without touching the features, which stay sparse
            offsets = x[-1] - centre @ weights
            done = n_passes

            def report(block: int, n_blocks: int) -> None:
                expected = (most + 1) * n_blocks  # a line search may need more
                self.report(min(done * n_blocks + block, expected - 1), expected)

            read = hinge_sums, pairs, everything, weights, offsets
            losses, gradient, slopes = self.blocks.sum(*read, stride=self.stride, report=report)
            n_passes += 1
            # the same centring, in the gradient
            gradient = factor * (gradient - centre[:, None] * slopes.astype(np.float32))
            gradient = C * np.vstack([gradient, slopes])
            gradient[:-1] += x[:-1]
            norm = float(np.square(x[:-1], dtype=float).sum())
            return norm / 2 + C * losses.sum(), gradient.ravel()

        # two arrays per step, and half of the memory for the blocks
        steps = int(np.clip(self.memory // (4 * max(first.nbytes, 1)), 2, STEPS))
        options = {"maxcor": steps, "maxfun": most, "ftol": self.tolerance, "gtol": 0.0}
        solution = minimize(evaluate, first.ravel(), jac=True, method="L-BFGS-B", options=options)
        x = solution.x.reshape(first.shape).astype(np.float32)
        return Margins(x[:-1], x[-1] - centre @ (factor * x[:-1]))

    def _start(self, start: Margins | None, everything: bool) -> np.ndarray:
        """Return the first point: the machines to go on from, or the best constant margins."""
        x = np.zeros((len(self.columns.mean) + 1, len(self.problems.pairs)))
        if start is None:
            total, weight = self.blocks.sum(target_sums, self.problems.pairs, everything)
            # the mean target: the margin of sequences that do not differ
            x[-1] = total / np.maximum(weight, 1)
        else:
            x[:-1] = start.coefficients
            moved = (self.columns.factor[:, None] * start.coefficients).astype(np.float32)
            x[-1] = start.intercepts + self.columns.mean.astype(np.float32) @ moved
        return x
