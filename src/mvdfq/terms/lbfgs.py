"""L-BFGS for several problems side by side, each problem with its own step and its own memory.

One evaluation reads all sequences once, whatever the number of problems. So the problems take
their steps together: columns are independent, but all columns are evaluated in one pass.
Reference: J. Nocedal and S. Wright, Numerical Optimization, 2006, algorithms 7.4 and 3.1.
"""

from collections import deque
from collections.abc import Callable

import numpy as np

__all__ = ["Evaluate", "minimise"]

# Values of the columns and their gradients, (n_columns,) and (n_variables, n_columns).
Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
# The decrease that a step must reach, as a share of what the slope promises.
ARMIJO = 1e-4
# A step that was halved so often is not worth another pass.
MOST_HALVINGS = 5


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
