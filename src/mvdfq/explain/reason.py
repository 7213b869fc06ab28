"""One word of a sequence as a reason, in words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

# A letter, or letters that share a symbol, such as [KR]; a line break is a letter, too.
LETTER = re.compile(r"\[\S{2,}?\]|.", re.DOTALL)
# Channels of a row that a text names; `Reason.channels` holds all of them.
MOST_CHANNELS = 3


@dataclass(frozen=True)
class Reason:
    """One word of a sequence and its evidence.

    Parameters
    ----------
    row : str
        Name of the row that holds the word.
    channels : tuple of str
        The channels that make up at least half of the row, the largest first.
    symbols : tuple of str
        Names of the symbols of the word.
    offsets : tuple of int
        Offsets of the symbols from the first symbol, in the strongest occurrence.
    frames : tuple of int
        Frame of the first symbol in each occurrence; the strongest occurrence first.
    time : float or None
        Time of the strongest occurrence in seconds, if the sampling rate is known.
    evidence : float
        The sum over all occurrences of the word of what they add to the decision value.
    letters : bool, default=False
        Whether the word is part of a string: the text then has letters, a point for every letter
        that is ignored, and a position counted from 1.

    Examples
    --------
    >>> from mvdfq import Reason
    >>> reason = Reason("pc4", ("x3", "x1"), ("low", "high"), (0, 4), (12, 30), 0.24, 0.031)
    >>> print(reason)
    +0.0310  pc4 (x3, x1) low-high (frames +0 +4) at 0.24 s, 2 times
    >>> print(Reason("x0", ("x0",), ("T", "A", "G"), (0, 1, 4), (60,), None, 0.005, letters=True))
    +0.0050  TA..G at position 61
    """

    row: str
    channels: tuple[str, ...]
    symbols: tuple[str, ...]
    offsets: tuple[int, ...]
    frames: tuple[int, ...]
    time: float | None
    evidence: float
    letters: bool = False

    def __str__(self) -> str:
        return f"{self.evidence:+.4f}  {self.text}"

    @property
    def text(self) -> str:
        """The word and its place, without the evidence."""
        times = "" if len(self.frames) == 1 else f", {len(self.frames)} times"
        if self.letters:
            word = pattern(self.symbols, self.offsets) if self.symbols else "anything"
            word = f"'{word}'" if " " in word else word  # a space at the end is a letter, too
            return f"{word} at position {self.frames[0] + 1}{times}"
        where = f"frame {self.frames[0]}" if self.time is None else f"{self.time:.2f} s"
        is_run = self.offsets == tuple(range(len(self.offsets)))
        step = "" if is_run else f" (frames {' '.join(f'+{o}' for o in self.offsets)})"
        # the name of the row may hold the names of its channels
        is_named = all(channel in self.row for channel in self.channels)
        shown, left = self.channels, len(self.channels) - MOST_CHANNELS
        if left > 1:  # one more name is as short as "and 1 more"
            shown = (*shown[: MOST_CHANNELS - 1], f"{shown[MOST_CHANNELS - 1]} and {left} more")
        made_of = "" if is_named else f" ({', '.join(shown)})"
        word = "-".join(self.symbols) or "anything"
        return f"{self.row}{made_of} {word}{step} at {where}{times}"


def pattern(letters: Sequence[str], offsets: Sequence[int]) -> str:
    """Return letters as text, with a point for every letter between them that is ignored."""
    known = dict(zip(offsets, letters, strict=True))
    return "".join(known.get(i, ".") for i in range(offsets[0], offsets[-1] + 1))
