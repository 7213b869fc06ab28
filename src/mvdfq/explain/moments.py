"""Explanations in the words of users: moments and channels, or letters and positions."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from mvdfq.explain.explanation import Explanation
from mvdfq.explain.reason import LETTER, pattern

__all__ = ["Moment", "Pattern", "find_moments", "find_patterns"]

# Length of a moment: a tenth of the sequence, but at most half a second, or 50 frames if the
# sampling rate is not known, and at least 3 frames.
PARTS, SECONDS, FEWEST, MOST = 10, 0.5, 3, 50
# More channels than this are not named.
MOST_CHANNELS = 3


@dataclass(frozen=True)
class Moment:
    """A short piece of a sequence and its evidence for or against the predicted class.

    `frames` are the first frame and the frame after the last, counted from 0; `seconds` are their
    times, None if the sampling rate is not known. `channels` are the channels with the
    most evidence, up to half of it, at most three.
    """

    frames: tuple[int, int]
    seconds: tuple[float, float] | None
    channels: tuple[str, ...]
    evidence: float

    @property
    def when(self) -> str:
        """The time of the moment in words."""
        if self.seconds is None:
            first, stop = self.frames
            return f"frame {first}" if stop - first == 1 else f"frames {first} to {stop - 1}"
        begin, end = self.seconds
        digits = 1 if round(end - begin, 3) > 0.2 else 2  # 2.1 - 1.9 is a little more than 0.2
        return f"{begin:.{digits}f} to {end:.{digits}f} s"

    @property
    def what(self) -> str:
        """The channels in words."""
        *first, last = self.channels or ("all channels",)
        return f"{', '.join(first)} and {last}" if first else last


def find_moments(explanation: Explanation, n: int = 5, label: Any = None) -> list[Moment]:
    """Return the `n` moments with the most evidence for or against a class, the largest first.

    Moments do not overlap. `label` is as in `Explanation.top`.
    """
    column, sign = explanation.column(label)
    evidence, names = _by_channel(explanation, column, sign)
    n_frames, rate = evidence.shape[1], explanation.symbols.sampling_rate
    width = _width(n_frames, rate)
    total = np.concatenate([[0.0], np.cumsum(evidence.sum(axis=0))])
    sums = total[width:] - total[:-width]
    free = np.abs(sums)
    found: list[Moment] = []
    while len(found) < n and free.size and free.max() > 0:
        start = int(free.argmax())
        free[max(start - width + 1, 0) : start + width] = 0
        piece = evidence[:, start : start + width].sum(axis=1)
        times = None if rate is None else (start / rate, (start + width) / rate)
        channels = tuple(names[c] for c in _largest(piece, np.sign(sums[start])))
        found.append(Moment((start, start + width), times, channels, float(sums[start])))
    return found


def _by_channel(explanation: Explanation, column: int, sign: float) -> tuple[np.ndarray, list[str]]:
    """Return the evidence of each channel and frame; of each row if the shares are not known."""
    evidence = sign * explanation.by_frame[column]
    shares = explanation._known_shares
    if shares is None:
        return evidence, explanation.row_names
    return shares.T @ evidence, explanation.channels


def _width(n_frames: int, rate: float | None) -> int:
    most = MOST if rate is None else round(SECONDS * rate)
    return int(np.clip(max(min(n_frames // PARTS, most), FEWEST), 1, max(n_frames, 1)))


def _largest(piece: np.ndarray, sign: float) -> list[int]:
    """Return the channels that make up half of the evidence of this sign, at most three."""
    mine = np.maximum(sign * piece, 0)
    order = np.argsort(-mine, kind="stable")
    n = int(np.searchsorted(np.cumsum(mine[order]), mine.sum() / 2)) + 1
    return order[: min(n, MOST_CHANNELS)].tolist()


@dataclass(frozen=True)
class Pattern:
    """Letters with a point for every letter that is ignored, such as ``GC.G``, and their evidence.

    ``[KR]`` stands for one letter, K or R. `positions` are the frames of the first letter, counted
    from 0, the strongest first.
    """

    text: str
    positions: tuple[int, ...]
    evidence: float

    def __len__(self) -> int:
        """Return the number of letters from the first to the last."""
        return len(LETTER.findall(self.text))


def find_patterns(explanation: Explanation, n: int = 5, label: Any = None) -> list[Pattern]:
    """Return the `n` patterns of letters with the most evidence for or against a class.

    Words that several groups of layouts read from the same letters are one pattern.
    """
    column, sign = explanation.column(label)
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for block in explanation.evidence.words:
        ends = block.indptr.tolist()
        shares = (sign * block.shares[:, column]).tolist()
        starts, layouts = block.starts.tolist(), block.layouts.tolist()
        words = zip(block.rows.tolist(), block.codes.tolist(), pairwise(ends), strict=True)
        for row, codes, (first, stop) in words:
            letters = [explanation._name(row, code) for code in codes]
            for i in range(first, stop):
                offsets = explanation.offsets[block.group][layouts[i]]
                if offsets:  # a word of wildcards only holds no letter
                    found[pattern(letters, offsets)][starts[i] + offsets[0]] += shares[i]
    patterns = [
        Pattern(text, tuple(sorted(at, key=lambda place: -abs(at[place]))), sum(at.values()))
        for text, at in found.items()
    ]
    return sorted(patterns, key=lambda one: (-abs(one.evidence), one.positions[0]))[:n]
