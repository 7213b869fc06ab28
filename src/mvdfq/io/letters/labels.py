"""Tables of labels: the label and the group of a sequence by its id."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mvdfq.io.dataset import ReadError
from mvdfq.io.source import Source
from mvdfq.io.tables.csv_tables import named_rows

__all__ = ["About", "as_table", "columns_of", "look_up", "read_labels"]

# The label and the group of one sequence; None where there is no label or no group.
About = tuple[str | None, str | None]


def as_table(labels: str | Path | Mapping[str, str]) -> dict[str, About]:
    """Return label and group by id, from a file or from a mapping of id to label."""
    if isinstance(labels, Mapping):
        return {str(name): (value, None) for name, value in labels.items()}
    return read_labels(labels)


def look_up(path: str | Path, name: str, table: Mapping[str, About]) -> About:
    """Return label and group of `name`; a name that the table does not hold is a ReadError.

    The table may hold a part of a name with bars, such as P69905 of sp|P69905|HBA_HUMAN.
    """
    for part in (name, *name.split("|")):
        if part in table:
            return table[part]
    held = f"; the table holds ids such as {next(iter(table))!r}" if table else ""
    problem = f"{name!r} has no label in the table of labels{held}"
    raise ReadError(path, problem, "add a row for this id to the table")


def columns_of(about: Sequence[About]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return labels and groups as arrays; None where no sequence has a label or a group."""
    labels, groups = zip(*about, strict=True)
    return _column(labels), _column(groups)


def _column(values: Sequence[str | None]) -> np.ndarray | None:
    return None if all(value is None for value in values) else np.array(values)


def read_labels(path: str | Path) -> dict[str, About]:
    r"""Read a table of labels; its first line is ``id,label`` or ``id,label,group``.

    Parameters
    ----------
    path : str or Path
        Columns separated by tabs, semicolons or commas, in any order; other columns are ignored.

    Returns
    -------
    labels : dict of str to (label, group)
        By id; the group is None if the table has no column ``group``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mvdfq.io.letters.labels import read_labels
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels.csv")
    ...     _ = path.write_text("id,label\nd1,alpha\nd2,beta\n")
    ...     read_labels(path)
    {'d1': ('alpha', None), 'd2': ('beta', None)}
    """
    source, labels = Source(Path(path)), dict[str, About]()
    for number, row in named_rows(source, ["id", "label"], ["group"]):
        if not row["id"] or not row["label"]:
            source.fail(f"line {number}: the id or the label is empty")
        found = row["label"], row.get("group")
        if labels.setdefault(row["id"], found) != found:
            source.fail(f"line {number}: id {row['id']!r} has two labels or groups")
    if not labels:
        source.fail("the table holds no labels", "write one row per sequence below id,label")
    return labels
