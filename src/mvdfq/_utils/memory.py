"""Memory limits as users write them."""

import re

__all__ = ["DEFAULT_MEMORY", "parse_memory"]

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
