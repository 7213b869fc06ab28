"""The table of confusions: as a matrix if it fits the terminal, else the largest confusions."""

from itertools import product
from string import ascii_lowercase
from typing import Any

from mvdfq.cli.output import screen_width, table

__all__ = ["show_confusion"]

# People do not read a matrix with more classes; a pipe still gets the whole matrix.
MOST_CLASSES = 40
LARGEST = 10


def show_confusion(names: list[str], counts: list[list[int]]) -> None:
    """Print how often a class (row) was predicted as a class (column)."""
    width = screen_width()
    short = _letters(len(names))
    if width is None or (len(names) <= MOST_CLASSES and _width(names, names, counts) <= width):
        table(_matrix(names, names, counts), "\nconfusions: true class, and how often each class "
              "was predicted", plain=True)  # fmt: skip
        return
    rows = [f"{letter} = {name}" for letter, name in zip(short, names, strict=True)]
    if len(names) <= MOST_CLASSES and _width(rows, short, counts) <= width:
        title = "\nconfusions: true class, and how often each class was predicted"
        table(_matrix(rows, short, counts), title, plain=True)
        return
    found = _largest(names, counts)
    if found:
        title = f"\nthe {len(found)} largest confusions; --format json has the whole table"
        table(found, title)


def _letters(n: int) -> list[str]:
    """Return short names: a, b, ..., z, aa, ab, ..."""
    pairs = ["".join(pair) for pair in product(ascii_lowercase, repeat=2)]
    return [*ascii_lowercase, *pairs][:n]


def _matrix(rows: list[str], columns: list[str], counts: list[list[int]]) -> list[dict[str, Any]]:
    # the heading of the first column must differ from all classes
    heading = "true \\ predicted"
    return [
        {heading: row, **{f"{name}": n for name, n in zip(columns, line, strict=True)}}
        for row, line in zip(rows, counts, strict=True)
    ]


def _width(rows: list[str], columns: list[str], counts: list[list[int]]) -> int:
    """Return the width of the matrix in characters, two between columns."""
    widths = [
        max(len(name), *(len(str(line[c])) for line in counts)) for c, name in enumerate(columns)
    ]
    return max(len("true \\ predicted"), *map(len, rows)) + sum(2 + width for width in widths)


def _largest(names: list[str], counts: list[list[int]]) -> list[dict[str, Any]]:
    """Return the most frequent errors, with their share of the true class."""
    errors = [(counts[i][j], i, j) for i, j in product(range(len(names)), repeat=2) if i != j]
    return [
        {"true": names[i], "predicted": names[j], "times": n,
         "share": f"{n / sum(counts[i]):.1%}"}
        for n, i, j in sorted(errors, key=lambda one: (-one[0], one[1:]))[:LARGEST]
        if n
    ]  # fmt: skip
