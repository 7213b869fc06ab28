"""What a channel does in a moment, in words: low, high, rising, falling, up and down."""

import numpy as np

# A channel is low or high from half a standard deviation of the training values on, very low or
# very high from one and a half on; so much must it move to rise or to fall. If the deviation is not
# known, six of them are the range of the training values.
LEVELS = [(-1.5, "very low"), (-0.5, "low"), (0.5, "middle"), (1.5, "high"), (np.inf, "very high")]
MOVE = 0.5


def in_range(values: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """Return channels in sixths of their ranges in training, 0 in the middle of the range.

    >>> in_range(np.array([[1.0, 4.0]]), np.array([[1.0], [4.0]]))
    array([[-3.,  3.]])
    """
    low, high = ranges[:, :, None]
    width = np.where(high > low, high - low, np.nan)
    return 6 * (values - (low + high) / 2) / width


def shape_of(values: np.ndarray) -> str:
    """Return the shape of some values in units of the spread over training; "" if none is known.

    >>> shape_of(np.full(9, -1.0)), shape_of(np.linspace(-1, 1, 9))
    ('low', 'rising from low to high')
    >>> shape_of(np.array([1.0, -1, 1, -1, 1, -1, 1, -1])), shape_of(np.full(3, np.nan))
    ('middle, up and down', '')
    >>> shape_of(np.linspace(0.6, 1.4, 9)), shape_of(np.array([-1.0, -1, -1, -1, 0, 1]))
    ('high and rising', 'low, then rising')
    """
    z = values[~np.isnan(values)]
    if not z.size:
        return ""
    first, middle, last = (float(part.mean()) if part.size else float(z.mean())
                           for part in np.array_split(z, 3))  # fmt: skip
    move, level = last - first, _level(float(z.mean()))
    verb = "rising" if move > 0 else "falling"
    if abs(move) < MOVE:
        low, high = np.quantile(z, [0.1, 0.9])  # a single peak is no swing
        return f"{level}, up and down" if high - low > 2 * MOVE else level
    if _level(first) == _level(last):
        return f"{level} and {verb}"
    if abs(middle - first) < abs(move) / 4:  # it moves at the end alone
        return f"{_level(first)}, then {verb}"
    return f"{verb} from {_level(first)} to {_level(last)}"


def _level(value: float) -> str:
    return next(name for most, name in LEVELS if value < most)
