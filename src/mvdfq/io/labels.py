"""Tables of labels: what is known of sequences by their ids."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from mvdfq.io.base import ReadError
from mvdfq.io.fasta import read_lines

__all__ = ["About", "as_table", "columns_of", "look_up", "read_labels"]

# What is said about one sequence: its label and its group, None if nothing is.
About = tuple[str | None, str | None]


def as_table(labels: str | Path | Mapping[str, str]) -> dict[str, About]:
    """Return labels, given as a file or as a mapping, by id."""
    if isinstance(labels, Mapping):
        return {str(name): (value, None) for name, value in labels.items()}
    return read_labels(labels)


def look_up(path: str | Path, name: str, table: Mapping[str, About]) -> About:
    """Return what the table says about `name`; a name it does not have is a ReadError."""
    if name not in table:
        raise ReadError(path, f"{name!r} has no label in the table of labels", "add a line for it")
    return table[name]


def columns_of(about: Sequence[About]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return labels and groups as arrays; None where nothing is known of any sequence."""
    labels, groups = zip(*about, strict=True)
    return _column(labels), _column(groups)


def _column(values: Sequence[str | None]) -> np.ndarray | None:
    return None if all(value is None for value in values) else np.array(values)


def read_labels(path: str | Path) -> dict[str, About]:
    r"""Read a table of labels: ``id,label`` or ``id,label,group`` on its first line.

    Parameters
    ----------
    path : str or Path
        Columns parted by tabs, semicolons or commas, in any order; others are left out.

    Returns
    -------
    labels : dict of str to (label, group)
        By id; the group is None where there is no such column.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mvdfq.io.labels import read_labels
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels.csv")
    ...     _ = path.write_text("id,label\nd1,alpha\nd2,beta\n")
    ...     read_labels(path)
    {'d1': ('alpha', None), 'd2': ('beta', None)}
    """
    labels: dict[str, About] = {}
    for number, row in _table_rows(path):
        if not row["id"] or not row["label"]:
            raise ReadError(path, f"line {number}: the id or the label is empty")
        found = row["label"], row.get("group")
        if labels.setdefault(row["id"], found) != found:
            raise ReadError(path, f"line {number}: id {row['id']!r} has two labels or groups")
    if not labels:
        raise ReadError(path, "holds no labels", "below the line id,label comes one a sequence")
    return labels


def _table_rows(path: str | Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of a table with a header, by the names of the columns."""
    lines = [(number, line) for number, line in read_lines(path) if line.strip()]
    first = lines[0][1] if lines else ""
    mark = next((mark for mark in "\t;" if mark in first), ",")
    try:
        rows = list(csv.reader((line for _, line in lines), delimiter=mark))
    except csv.Error as error:
        raise ReadError(path, f"no table: {error}") from None
    names = [name.strip().lower() for name in rows[0]] if rows else []
    if not {"id", "label"} <= set(names):
        raise ReadError(path, f"no columns 'id' and 'label' in {first[:60]!r}", "name them so")
    # A quoted field may hold a line break: the reader then has fewer rows than there are lines.
    for (number, _), row in zip(lines[1:], rows[1:], strict=False):
        cells = [cell.strip() for cell in row] + [""] * len(names)
        yield number, dict(zip(names, cells, strict=False))
