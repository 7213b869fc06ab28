"""Explanations in the words of users: moments and channels, or letters and positions."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from mvdfq.explain.explanation import Explanation
from mvdfq.explain.mutations import reverse_strand
from mvdfq.explain.reason import pattern

# Length of a moment: a tenth of the sequence, but at most half a second, or 50 frames if the
# sampling rate is not known, and at least 3 frames.
PARTS, SECONDS, FEWEST, MOST = 10, 0.5, 3, 50
# More channels than this are not named.
MOST_CHANNELS = 3
# Letters of a moment of a string.
LETTERS = 12
# A channel is low or high from half a standard deviation of the training values on, very low or
# very high from one and a half standard deviations on. A channel that rises or falls moves by half
# a standard deviation. If the deviation is not known, it is a sixth of the range in training.
LEVELS = [(-1.5, "very low"), (-0.5, "low"), (0.5, "middle"), (1.5, "high"), (np.inf, "very high")]
MOVE = 0.5


@dataclass(frozen=True)
class Moment:
    """A short piece of a sequence and its evidence for or against a class.

    `frames` are the first frame and the frame after the last frame, counted from 0; `seconds` are
    their times, None if the sampling rate is not known. `channels` are at most three channels that
    hold half of the evidence, the largest first; `shapes` say what these channels do. `by_channel`
    is the evidence of all channels, by name. A moment of a string has `letters` instead.
    """

    frames: tuple[int, int]
    seconds: tuple[float, float] | None
    channels: tuple[str, ...]
    evidence: float
    shapes: tuple[str, ...] = ()
    by_channel: dict[str, float] = field(default_factory=dict)
    letters: str = ""

    def __str__(self) -> str:
        return f"{self.evidence:+.4f}  {self.when}: {self.what}"

    @property
    def when(self) -> str:
        """The time of the moment in words."""
        first, stop = self.frames
        if self.letters:
            return f"positions {first + 1} to {stop}"
        if self.seconds is None:
            return f"frame {first}" if stop - first == 1 else f"frames {first} to {stop - 1}"
        begin, end = self.seconds
        digits = 1 if round(end - begin, 3) > 0.2 else 2  # 2.1 - 1.9 is a little more than 0.2
        return f"{begin:.{digits}f} to {end:.{digits}f} s"

    @property
    def what(self) -> str:
        """The letters, or the channels and what they do, in words."""
        pairs = zip(self.channels, self.shapes or ("",) * len(self.channels), strict=True)
        parts = [f"{name} {shape}".strip() for name, shape in pairs]
        return self.letters or "; ".join(parts) or "all channels"


def find_moments(
    explanation: Explanation, n: int = 5, label: Any = None, of_sign: int | None = None
) -> list[Moment]:
    """Return the `n` moments with the most evidence for or against a class, the largest first.

    Moments do not overlap. `label` is as in `Explanation.top`. `of_sign` is the largest number of
    moments for the class, and of moments against it. The evidence of joined strands is added up.
    """
    column, sign = explanation.column(label)
    evidence, names = sign * explanation.by_frame[column], explanation.row_names
    if explanation.are_letters:
        text, joined = _text(explanation), has_both_strands(explanation)
        total = on_strand(evidence.sum(axis=0), joined)
        return [Moment((a, b), None, (), float(total[a:b].sum()), letters=text[a:b])
                for a, b in strongest_windows(total, min(LETTERS, len(total)), n)]  # fmt: skip
    if (shares := explanation.known_shares) is not None:  # else only rows have evidence
        evidence, names = shares.T @ evidence, explanation.channels
    rate, n_frames = explanation.symbols.sampling_rate, evidence.shape[1]
    most = MOST if rate is None else round(SECONDS * rate)
    width = int(np.clip(max(min(n_frames // PARTS, most), FEWEST), 1, max(n_frames, 1)))
    windows = strongest_windows(evidence.sum(axis=0), width, n, of_sign)
    return [_moment(explanation, evidence[:, a:b], names, (a, b)) for a, b in windows]


def _moment(why: Explanation, piece: np.ndarray, names: list[str], ends: tuple[int, int]) -> Moment:
    """Return the moment of these frames, given its evidence by channel or row and frame."""
    rate, sums, total = why.symbols.sampling_rate, piece.sum(axis=1), float(piece.sum())
    # the channels that make up half of the evidence of this sign, at most three
    strength = np.maximum(np.sign(total) * sums, 0)
    order = np.argsort(-strength, kind="stable")
    n = int(np.searchsorted(np.cumsum(strength[order]), strength.sum() / 2)) + 1
    largest = order[: min(n, MOST_CHANNELS)].tolist()
    shapes: tuple[str, ...] = ()
    if why.curves is not None and names is why.channels:
        shapes = tuple(shape_of(why.curves[c, ends[0] : ends[1]]) for c in largest)
    times = None if rate is None else (ends[0] / rate, ends[1] / rate)
    by_channel = dict(zip(names, sums.tolist(), strict=True))
    return Moment(ends, times, tuple(names[c] for c in largest), total, shapes, by_channel)


def strongest_windows(
    evidence: np.ndarray, width: int, n: int, of_sign: int | None = None
) -> list[tuple[int, int]]:
    """Return the `n` windows of this width with the largest sums of either sign; none overlap.

    Of all these windows, the first `of_sign` of each sign are returned.
    """
    total = np.concatenate([[0.0], np.cumsum(evidence)])
    sums = total[width:] - total[:-width]
    free, left = np.abs(sums), {True: of_sign or n, False: of_sign or n}
    windows: list[tuple[int, int]] = []
    for _ in range(min(n, len(free))):
        start = int(free.argmax())
        if not any(left.values()) or free[start] <= 0:
            break
        if left[sums[start] > 0]:
            left[sums[start] > 0] -= 1
            windows.append((start, start + width))
        free[max(start - width + 1, 0) : start + width] = 0
    return windows


def has_both_strands(why: Explanation) -> bool:
    """Tell whether the reverse complement of a string follows the string, after a gap."""
    text = _text(why) if why.are_letters else ""
    half = text[: len(text) // 2]
    return bool(half.strip("?")) and text == f"{half}?{reverse_strand(half)}"


def _text(why: Explanation) -> str:
    """Return the letters of a string; ? stands for a gap or a group of letters."""
    names = (why.symbol_name(0, code) for code in why.symbols[0][0].tolist())
    return "".join(name if len(name) == 1 else "?" for name in names)


def on_strand(evidence: np.ndarray, joined: bool) -> np.ndarray:
    """Return the evidence of the given strand, plus the evidence of a joined reverse complement."""
    n = len(evidence) // 2
    return evidence[:n] + evidence[n + 1 :][::-1] if joined and n else evidence


@dataclass(frozen=True)
class Pattern:
    """Letters with a point for every letter that is ignored, such as ``GC.G``, and their evidence.

    ``[KR]`` stands for one letter, K or R. `length` is the number of letters from the first to the
    last. `positions` are the frames of the first letter, counted from 0, the strongest first.
    """

    text: str
    length: int
    positions: tuple[int, ...]
    evidence: float


def find_patterns(explanation: Explanation, n: int = 5, label: Any = None) -> list[Pattern]:
    """Return the `n` patterns of letters with the most evidence for or against a class.

    Words that several groups of layouts read from the same letters are one pattern.
    """
    column, sign = explanation.column(label)
    places: dict[tuple[str, int], Counter[int]] = defaultdict(Counter)
    for block in explanation.evidence.words:
        ends = block.indptr.tolist()
        shares = (sign * block.shares[:, column]).tolist()
        starts, layouts = block.starts.tolist(), block.layouts.tolist()
        words = zip(block.rows.tolist(), block.codes.tolist(), pairwise(ends), strict=True)
        for row, codes, (first, stop) in words:
            letters = [explanation.symbol_name(row, code) for code in codes]
            for i in range(first, stop):
                offsets = explanation.offsets[block.group][layouts[i]]
                if offsets:  # a word of wildcards only holds no letter
                    word = pattern(letters, offsets), offsets[-1] - offsets[0] + 1
                    places[word][starts[i] + offsets[0]] += shares[i]
    patterns = [
        Pattern(*word, tuple(sorted(added, key=lambda i: -abs(added[i]))), sum(added.values()))
        for word, added in places.items()
    ]
    return sorted(patterns, key=lambda item: (-abs(item.evidence), item.positions[0]))[:n]


def in_range(values: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """Return channels in sixths of their ranges in training, 0 in the middle of the range.

    >>> in_range(np.array([[1.0, 4.0]]), np.array([[1.0], [4.0]]))
    array([[-3.,  3.]])
    """
    low, high = ranges[:, :, None]
    return 6 * (values - (low + high) / 2) / np.where(high > low, high - low, np.nan)


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
        low, high = np.quantile(z, [0.1, 0.9])  # a single peak is not a swing
        return f"{level}, up and down" if high - low > 2 * MOVE else level
    if _level(first) == _level(last):
        return f"{level} and {verb}"
    if abs(middle - first) < abs(move) / 4:  # it moves at the end alone
        return f"{_level(first)}, then {verb}"
    return f"{verb} from {_level(first)} to {_level(last)}"


def _level(value: float) -> str:
    return next(name for most, name in LEVELS if value < most)
