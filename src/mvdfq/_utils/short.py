"""Short texts of objects that hold large arrays."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

__all__ = ["Short", "counted", "in_short", "listed"]

# Longer texts are replaced by what they are texts of.
LONGEST = 60


class Short:
    """A dataclass, declared with ``repr=False``, that shows shapes instead of contents.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> @dataclass(repr=False)
    ... class Fitted(Short):
    ...     weights: np.ndarray
    ...     scheme: str
    >>> Fitted(np.zeros((100, 3)), "ovr")
    Fitted(weights=<array 100 x 3>, scheme='ovr')
    """

    def __repr__(self) -> str:
        shown = [f for f in fields(self) if f.repr]  # type: ignore[arg-type]
        parts = ", ".join(f"{f.name}={in_short(getattr(self, f.name, None))}" for f in shown)
        return f"{type(self).__name__}({parts})"


def in_short(value: Any) -> str:
    """Return the text of a value, or what the value is if its text is long."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape and not hasattr(value, "in_words"):
        return f"<array {' x '.join(map(str, shape))}>"
    if isinstance(value, list | tuple | set | frozenset | Mapping) and len(value) > 5:
        return f"<{type(value).__name__} of {len(value)}>"
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"<{type(value).__name__}>"


def counted(n: int, what: str) -> str:
    """Return a number and its noun: "1 sequence", "2 sequences", "3 classes".

    >>> counted(1, "class"), counted(3, "class"), counted(2, "channel")
    ('1 class', '3 classes', '2 channels')
    """
    ending = "" if n == 1 else "es" if what.endswith("s") else "s"
    return f"{n} {what}{ending}"


def listed(numbers: Iterable[int], what: str) -> str:
    """Return a noun and the first five numbers: "sequence 3", "sequences 0, 2, 5, 6, 9, ...".

    >>> listed([3], "sequence"), listed(range(9), "sequence")
    ('sequence 3', 'sequences 0, 1, 2, 3, 4, ...')
    """
    found = list(numbers)
    more = ", ..." if len(found) > 5 else ""
    return f"{what}{'' if len(found) == 1 else 's'} {', '.join(map(str, found[:5]))}{more}"
