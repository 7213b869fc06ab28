"""FASTA files with labels, and the families of the protein homology protocol."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq.io.base import Dataset, ReadError
from mvdfq.io.fasta import ALPHABETS, Record, both_strands, clean, read_lines, read_records

__all__ = ["HomologyTask", "homology_tasks", "read_fasta", "read_labels", "read_splits"]

ROLES = ("pos-train", "neg-train", "pos-test", "neg-test")
# What is said about one sequence: its label and its group, None if nothing is.
About = tuple[str | None, str | None]


def read_fasta(
    path: str | Path,
    *,
    label: str | int | None = None,
    group: str | int | None = None,
    labels: str | Path | Mapping[str, str] | None = None,
    alphabet: str | None = "protein",
    lower: str = "upper",
    strands: str = "one",
    skip_bad: bool = False,
) -> Dataset:
    r"""Read a FASTA file, plain or gzipped.

    Lines may be wrapped and end as they like; blank lines and those that begin with ``;`` are
    left out. A record is bad if it has no id, no residues, an id that came before, a character
    outside the alphabet or no label where labels are asked for.

    Parameters
    ----------
    path : str or Path
        The file.

    label : str or int, default=None
        Where the header says the class: a regular expression, of which the first group counts,
        or else all of the match; or the number of a word, 0 being the id.

    group : str or int, default=None
        Where the header says what the sequence belongs to, likewise.

    labels : str, Path or mapping, default=None
        A table ``id,label[,group]`` (see `read_labels`), or a mapping of id to class.

    alphabet : {"protein", "dna", "rna", None}, default="protein"
        Which letters may occur, ambiguity codes and gaps (``-`` and ``.``) among them; None
        takes any. ``"protein"`` has all letters and ``*``, so that DNA passes as well.

    lower : {"upper", "mask", "keep"}, default="upper"
        Lower case becomes upper case; or marks masked residues, which become X (N in nucleic
        acids); or stays.

    strands : {"one", "both"}, default="one"
        ``"both"`` joins each nucleic acid with its reverse complement, see `both_strands`.

    skip_bad : bool, default=False
        Leave bad records out and list them in `Dataset.skipped`, rather than raise.

    Returns
    -------
    dataset : Dataset
        `X` is a list of str, or symbolic `Sequences` for both strands; `names` are the ids.

    Raises
    ------
    ReadError
        If the file is not FASTA, or a record is bad.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mvdfq.io.proteins import read_fasta
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.fasta")
    ...     _ = path.write_text(">d1 a.1.1 globin\nMVLS\npad\n>d2 b.1.1 antibody\nQVQL\n")
    ...     data = read_fasta(path, label=r" (\w)\.")
    >>> data.X, data.names, data.y.tolist()
    (['MVLSPAD', 'QVQL'], ['d1', 'd2'], ['a', 'b'])
    """
    _check_options(alphabet, lower, strands)
    about = _labeller(path, label, group, labels)
    entries: dict[str, tuple[str, About]] = {}
    skipped = []
    for record in read_records(path):
        try:
            _check_id(path, record, entries)
            entries[record.id] = _residues(path, record, alphabet, lower), about(record)
        except ReadError as error:
            if not skip_bad:
                raise
            skipped.append(error)
    if not entries:
        raise ReadError(path, "no record can be used", f"the first: {skipped[0].problem}")
    X: Any = [sequence for sequence, _ in entries.values()]
    if strands == "both" and alphabet is not None:
        X = both_strands(X, alphabet)
    y, groups = columns_of([about for _, about in entries.values()])
    return Dataset(X, y=y, names=list(entries), groups=groups, skipped=tuple(skipped))


def _check_options(alphabet: str | None, lower: str, strands: str) -> None:
    if alphabet is not None and alphabet not in ALPHABETS:
        raise ValueError(f"alphabet must be 'protein', 'dna', 'rna' or None, got {alphabet!r}.")
    if lower not in ("upper", "mask", "keep"):
        raise ValueError(f"lower must be 'upper', 'mask' or 'keep', got {lower!r}.")
    if strands not in ("one", "both"):
        raise ValueError(f"strands must be 'one' or 'both', got {strands!r}.")
    if strands == "both" and alphabet not in ("dna", "rna"):
        raise ValueError(f"strands='both' needs alphabet='dna' or 'rna', got {alphabet!r}.")
    if lower == "mask" and alphabet is None:
        raise ValueError("lower='mask' needs an alphabet, whose unknown letter it writes.")


def _check_id(path: str | Path, record: Record, known: Mapping[str, Any]) -> None:
    if not record.id:
        raise ReadError(path, f"line {record.line}: a record without an id", "write one after '>'")
    if record.id in known:
        raise ReadError(
            path, f"line {record.line}: id {record.id!r} occurs twice", "ids must differ"
        )


def _residues(path: str | Path, record: Record, alphabet: str | None, lower: str) -> str:
    where = f"line {record.line}: record {record.id!r}"
    if not record.sequence:
        raise ReadError(path, f"{where} is empty", "remove it, or skip bad records")
    try:
        return clean(record.sequence, alphabet, lower)
    except ValueError as error:
        raise ReadError(path, f"{where}: {error}", "alphabet=None takes any letters") from None


def _labeller(
    path: str | Path,
    label: str | int | None,
    group: str | int | None,
    labels: str | Path | Mapping[str, str] | None,
) -> Callable[[Record], About]:
    """What tells the label and the group of a record: its header, or a table."""
    if labels is None:
        find_label, find_group = _finder(path, label, "label"), _finder(path, group, "group")
        return lambda record: (find_label(record), find_group(record))
    if label is not None or group is not None:
        raise ValueError("labels come from the header or from a table: pass one of the two.")
    table = as_table(labels)
    return lambda record: look_up(path, record.id, table)


def _finder(path: str | Path, where: str | int | None, what: str) -> Callable[[Record], str | None]:
    """What finds a label in a header, by a regular expression or by the number of a word."""
    if where is None:
        return lambda record: None
    find = _word(where, what) if isinstance(where, int) else _match(where, what)

    def found(record: Record) -> str:
        text = find(record.header)
        if text is None:
            problem = f"line {record.line}: no {what} in the header of {record.id!r}"
            raise ReadError(path, problem, f"looked for {where!r}")
        return text

    return found


def _word(number: int, what: str) -> Callable[[str], str | None]:
    if isinstance(number, bool) or number < 0:
        raise ValueError(f"{what} must be a pattern or the number of a word, got {number!r}.")
    return lambda header: dict(enumerate(header.split())).get(number)


def _match(pattern: str, what: str) -> Callable[[str], str | None]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{what}={pattern!r} is no regular expression: {error}.") from None

    def find(header: str) -> str | None:
        match = compiled.search(header)
        return match and match[1 if compiled.groups else 0]

    return find


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
    >>> from mvdfq.io.proteins import read_labels
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


def read_splits(path: str | Path) -> dict[str, dict[str, list[str]]]:
    r"""Read which sequences each family trains and tests with: lines ``family role id``.

    Parameters
    ----------
    path : str or Path
        Plain or gzipped; a first line with these names may be there. Roles are ``pos-train``,
        ``neg-train``, ``pos-test`` and ``neg-test``.

    Returns
    -------
    splits : dict of str to dict of str to list of str
        Family -> role -> ids, in the order of the file; every role is there.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mvdfq.io.proteins import read_splits
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "splits.tsv")
    ...     _ = path.write_text("family\trole\tid\n1.1\tpos-train\td1\n1.1\tneg-test\td2\n")
    ...     read_splits(path)["1.1"]["pos-train"]
    ['d1']
    """
    splits: dict[str, dict[str, list[str]]] = {}
    seen = set()
    for number, line in read_lines(path):
        fields = line.replace(",", " ").split()
        if not fields or fields == ["family", "role", "id"]:
            continue
        if len(fields) != 3 or fields[1] not in ROLES:
            problem = f"line {number}: expected family, role and id, got {line[:60]!r}"
            raise ReadError(path, problem, f"roles are {', '.join(ROLES)}")
        family, role, name = fields
        if (family, name) in seen:
            raise ReadError(path, f"line {number}: {name!r} has two roles in {family!r}")
        seen.add((family, name))
        splits.setdefault(family, {role: [] for role in ROLES})[role].append(name)
    if not splits:
        raise ReadError(path, "holds no splits", "lines are: family role id")
    return splits


@dataclass(frozen=True, eq=False)
class HomologyTask:
    """Tell the members of one family from all others, trained on their wider kin.

    Parameters
    ----------
    family : str
        The family.

    train, test : ndarray of int
        Indices of the sequences to learn from and to rank.

    y_train, y_test : ndarray of bool
        Which of them are positive.

    Examples
    --------
    >>> from mvdfq.io import Dataset
    >>> from mvdfq.io.proteins import homology_tasks
    >>> roles = {"pos-train": ["b"], "neg-train": ["a"], "pos-test": ["d"], "neg-test": ["c"]}
    >>> task = homology_tasks(["a", "b", "c", "d"], {"1.1": roles})[0]
    >>> task.family, task.train, task.y_train
    ('1.1', array([0, 1]), array([False,  True]))
    >>> task.dataset(Dataset(["A", "B", "C", "D"], names=["a", "b", "c", "d"])).split.tolist()
    ['train', 'train', 'test', 'test']
    """

    family: str
    train: np.ndarray
    test: np.ndarray
    y_train: np.ndarray
    y_test: np.ndarray

    def dataset(self, data: Dataset) -> Dataset:
        """Return the sequences of this task, with their classes and the split.

        Parameters
        ----------
        data : Dataset
            The sequences whose names the task was made with.

        Returns
        -------
        dataset : Dataset
            Training sequences, then test sequences; `y` is True for members of the family.
        """
        parts = ["train"] * len(self.train) + ["test"] * len(self.test)
        chosen = data.take(np.concatenate([self.train, self.test]))
        y = np.concatenate([self.y_train, self.y_test])
        return replace(chosen, y=y, split=np.array(parts))


def homology_tasks(
    names: Iterable[str], splits: Mapping[str, Mapping[str, Sequence[str]]]
) -> list[HomologyTask]:
    """Make one binary task of each family, the protocol of remote homology detection [1]_.

    Parameters
    ----------
    names : sequence of str
        Ids of the sequences, `Dataset.names`.

    splits : mapping of str to mapping of str to sequence of str
        Family -> role -> ids, as `read_splits` returns it.

    Returns
    -------
    tasks : list of HomologyTask
        One a family, in the order of `splits`; indices ascend.

    References
    ----------
    .. [1] L. Liao, W. S. Noble, "Combining pairwise sequence similarity and support vector
       machines for detecting remote protein evolutionary and structural relationships",
       Journal of Computational Biology 10(6), 2003.

    Examples
    --------
    >>> from mvdfq.io.proteins import homology_tasks
    >>> roles = {"pos-train": ["b"], "neg-train": ["a"], "pos-test": ["d"], "neg-test": ["c"]}
    >>> homology_tasks(["a", "b", "c", "d"], {"1.1": roles})[0].test
    array([2, 3])
    """
    places = {name: i for i, name in enumerate(names)}
    return [_task(family, roles, places) for family, roles in splits.items()]


def _task(
    family: str, roles: Mapping[str, Sequence[str]], places: Mapping[str, int]
) -> HomologyTask:
    for role in ROLES:
        if not roles.get(role):
            raise ValueError(f"Family {family!r} has no sequence in the role {role!r}.")
        for name in roles[role]:
            if name not in places:
                raise ValueError(f"Family {family!r} asks for {name!r}, which was not read.")
    train, y_train = _part(roles, "train", places)
    test, y_test = _part(roles, "test", places)
    return HomologyTask(family, train, test, y_train, y_test)


def _part(
    roles: Mapping[str, Sequence[str]], part: str, places: Mapping[str, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and classes of the training or of the test part, in ascending order."""
    positive = [places[name] for name in roles[f"pos-{part}"]]
    negative = [places[name] for name in roles[f"neg-{part}"]]
    indices = np.array(positive + negative, dtype=np.int64)
    order = np.argsort(indices)
    return indices[order], order < len(positive)
