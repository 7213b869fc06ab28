"""Memory limits as users write them, and the memory that the machine has left."""

import re
from pathlib import Path

DEFAULT_MEMORY = 2**31  # bytes


def parse_memory(limit: int | str | None) -> int:
    """Read a memory limit: bytes, or text such as ``"500 MB"``; None means two gibibytes.

    Examples
    --------
    >>> parse_memory("500 MB"), parse_memory(4096)
    (500000000, 4096)
    """
    if limit is None:
        return DEFAULT_MEMORY
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([\d.]+)\s*([KMG]?)(I?)B?\s*", limit.upper())
        if match is None:
            raise ValueError(
                f"memory_limit must be bytes or text such as '500 MB' or '2 GiB', got {limit!r}."
            )
        number, prefix, binary = match.groups()
        limit = int(float(number) * (1024 if binary else 1000) ** " KMG".index(prefix or " "))
    if limit <= 0:
        raise ValueError(f"memory_limit must be positive, got {limit!r}.")
    return int(limit)


def available_memory() -> float:
    """Return the bytes that this process can still use; infinite where the system does not say."""
    free = _number("/proc/meminfo", r"MemAvailable:\s+(\d+) kB") * 1024
    group = Path("/sys/fs/cgroup")  # the limit of a container
    limit = _number(group / "memory.max", r"(\d+)")
    used = _number(group / "memory.stat", r"anon (\d+)", missing=0)
    return min(free, limit - used)


def _number(path: str | Path, pattern: str, missing: float = float("inf")) -> float:
    """Return the first number that a pattern finds in a file of the system."""
    try:
        match = re.search(pattern, Path(path).read_text())
    except OSError:
        return missing
    return missing if match is None else float(match[1])
