"""Checks of single parameters, and memory limits as users write them.

Errors name the parameter, the expected and the found value.
"""

import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.errors import ParameterError

# Most values of one parameter; a range may be longer than the memory.
MOST = 10_000
# A few hundred roundings of double precision, as a share of the largest value: sums of equal
# numbers in different orders differ by less, and a signal of 1e-3 on an offset of 1e9 by more.
ROUNDING = 2.0**-44
DEFAULT_MEMORY = 2**31  # bytes


def check_choice(value: Any, name: str, allowed: tuple[str, ...]) -> None:
    """Raise an error unless a parameter has one of a few values."""
    if not isinstance(value, str) or value not in allowed:
        listed = " or ".join(map(repr, allowed)) if len(allowed) < 3 else f"one of {allowed}"
        raise ParameterError(name, f"must be {listed}, got {value!r}")


def check_whole(value: Any, name: str, at_least: int = 1, at_most: int | None = None) -> int:
    """Return a parameter that must be a whole number, or raise an error."""
    if not isinstance(value, Integral) or value < at_least:
        raise ParameterError(name, f"must be a whole number >= {at_least}, got {value!r}")
    if at_most is not None and int(value) > at_most:
        raise ParameterError(name, f"must be a whole number <= {at_most}, got {value!r}")
    return int(value)


def check_several(values: Any, name: str) -> list[int]:
    """Return a list of one or several whole numbers, or raise an error."""
    values = list(islice(values, MOST + 1)) if isinstance(values, Iterable) else [values]
    if not values:
        raise ParameterError(name, "must hold at least one number, got an empty collection")
    if len(values) > MOST:
        raise ParameterError(name, f"must hold at most {MOST} numbers, got more")
    return [check_whole(value, name) for value in values]


def check_positive(value: Any, name: str) -> float:
    """Return a parameter that must be a positive number, or raise an error."""
    value = value.item() if isinstance(value, np.floating) else value
    if not is_number(value) or not 0 < value <= sys.float_info.max:
        raise ParameterError(name, f"must be a number > 0, got {value!r}")
    return float(value)


def check_entries(n: int, **columns: Any) -> None:
    """Raise an error unless each column is None or has one entry for each of `n` sequences."""
    for name, values in columns.items():
        if values is not None and len(values) != n:
            raise ParameterError(name, f"must have {n} entries, got {len(values)}")


def check_spread(spread: Any) -> None:
    """Raise an error if a variance is infinite: squares of numbers above 1e154 overflow."""
    if not np.isfinite(spread).all():
        problem = "The numbers of X are too large to square (above about 1e150)"
        raise ValueError(f"{problem}; divide them by a constant, such as the largest number.")


def check_decay(value: Any) -> float:
    """Return a decay, which must be at most 1: what is farther apart must not count more."""
    if check_positive(value, "decay") > 1:
        raise ParameterError("decay", f"must be a number > 0 and at most 1, got {value!r}")
    return float(value)


def is_number(value: Any) -> bool:
    """Whether the value is one real number of Python or NumPy, and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def parse_folds(protocol: str) -> int | None:
    """Return the number of folds of a protocol such as ``"5-fold"``; None for other protocols.

    >>> parse_folds("5-fold"), parse_folds("group")
    (5, None)
    """
    match = re.fullmatch(r"(\d+)-fold", protocol)
    return None if match is None else int(match[1])


def parse_memory(limit: int | str | None) -> int:
    """Read a memory limit: bytes, or text such as ``"500 MB"``; None means two gibibytes.

    >>> parse_memory("500 MB"), parse_memory(4096)
    (500000000, 4096)
    """
    limit = DEFAULT_MEMORY if limit is None else limit
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([\d.]+)\s*([KMG]?)(I?)B?\s*", limit.upper())
        if match is None:
            wanted = f"must be bytes or text such as '500 MB' or '2 GiB', got {limit!r}"
            raise ParameterError("memory_limit", wanted)
        number, prefix, binary = match.groups()
        limit = int(float(number) * (1024 if binary else 1000) ** " KMG".index(prefix or " "))
    if limit <= 0:
        raise ParameterError("memory_limit", f"must be positive, got {limit!r}")
    return int(limit)


def available_memory() -> float:
    """Return the bytes that this process can still use; infinite where the system does not say."""
    free = _number("/proc/meminfo", r"MemAvailable:\s+(\d+) kB") * 1024
    group = Path("/sys/fs/cgroup")  # the limit of a container
    limit = _number(group / "memory.max", r"(\d+)")
    return min(free, limit - _number(group / "memory.stat", r"anon (\d+)", missing=0))


def _number(path: str | Path, pattern: str, missing: float = float("inf")) -> float:
    """Return the first number that a pattern finds in a file of the system."""
    with suppress(OSError):
        match = re.search(pattern, Path(path).read_text())
        return missing if match is None else float(match[1])
    return missing
