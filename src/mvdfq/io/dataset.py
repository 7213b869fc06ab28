"""The data set that every reader returns, how readers make it, and its windows."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from mvdfq._utils.checks import check_entries
from mvdfq._utils.errors import Sentence
from mvdfq._utils.short import counted, in_short
from mvdfq.io.source import ReadError, Source
from mvdfq.sequences import check_sequences
from mvdfq.sequences.converters import channels_first
from mvdfq.sequences.sampling import cut, frames_of

Row = TypeVar("Row")
Collect = Callable[[Sequence[Any]], Any]


def check_kept(path: str | Path, n_kept: int, problems: Sequence[Any]) -> None:
    """Raise an error if fewer than half of the sequences could be read."""
    if n_kept < len(problems):
        problem = f"only {n_kept} of {n_kept + len(problems)} sequences can be read"
        raise ReadError(path, problem, Sentence("the first problem: ", str(problems[0])))


class Strings(list[str]):
    """A list of strings that an array of indices or a mask selects from, as from an array."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int | np.integer | slice):
            picked = super().__getitem__(key)
            return picked if isinstance(picked, str) else Strings(picked)
        return Strings(list.__getitem__(self, i) for i in np.arange(len(self))[key])


@dataclass(frozen=True, repr=False)
class Dataset:
    """Sequences read from files, and what the files say about them.

    Parameters
    ----------
    X : Sequences or list of str
        The sequences; `SequenceClassifier` takes them as they are.
    y : ndarray of shape (n_sequences,), default=None
        Labels; None if the files have no labels.
    names : list of str, default=()
        One name per sequence: its file, or its id.
    groups, split : ndarray of shape (n_sequences,), default=None
        The group of each sequence (a speaker, an album), and ``"train"`` or ``"test"``, if known.
    skipped : tuple of ReadError, default=()
        The errors of files or sequences that were left out, with ``skip_bad=True``.
    remarks : tuple of str, default=()
        What the reader decided by itself: which columns hold times and labels, which files it
        passed over.
    source : dict, default={}
        How the data were read. ``clf.source_ = data.source`` lets a classifier read new files in
        the same way, see `read_for`.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq.io import Dataset
    >>> data = Dataset(["ABBA", "BAB"], y=np.array(["x", "y"]), names=["1", "2"])
    >>> len(data), data.take([1]).X
    (2, ['BAB'])
    """

    X: Any
    y: np.ndarray | None = None
    names: list[str] = field(default_factory=list)
    groups: np.ndarray | None = None
    split: np.ndarray | None = None
    skipped: tuple[ReadError, ...] = ()
    remarks: tuple[str, ...] = ()
    source: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if type(self.X) is list:
            object.__setattr__(self, "X", Strings(self.X))

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        """Return one short paragraph: what was read, and what the reader said."""
        if isinstance(self.X, list):
            ends = sorted({f(map(len, self.X), default=0) for f in (min, max)})
            words = [f"{counted(len(self), 'string')} of {' to '.join(map(str, ends))} letters"]
        else:
            words = [self.X.in_words() if hasattr(self.X, "in_words") else in_short(self.X)]
        words += ["no labels"] if self.y is None else []
        for name, what in {"y": "class", "groups": "group", "split": "part"}.items():
            if (values := getattr(self, name)) is not None:
                kinds = Counter(map(str, np.asarray(values).tolist())).most_common()
                shown = ", ".join(f"{kind}: {n}" for kind, n in kinds[:5])
                more = ", ..." if len(kinds) > 5 else ""
                words += [f"{counted(len(kinds), what)} ({shown}{more})"]
        words += [f"{len(self.skipped)} skipped"] if self.skipped else []
        return "\n".join([f"<Dataset: {'; '.join(words)}>", *map(str, self.remarks)])

    def take(self, indices: Any) -> "Dataset":
        """Return the data set of the sequences at `indices`, in their order, or of a mask."""
        given = np.asarray(indices)
        indices = np.arange(len(self))[given] if given.dtype == bool else given.astype(np.int64)
        columns: Any = {name: values[indices] for name, values in self._columns().items()}
        return replace(self, X=self.X[indices], names=[self.names[i] for i in indices], **columns)

    def joined(self, other: "Dataset") -> "Dataset":
        """Return these sequences, then those of `other`; labels and groups if both have them."""
        if isinstance(self.X, list) != isinstance(other.X, list):
            raise ValueError("Strings and numbers cannot be read into one data set.")
        X = self.X + other.X if isinstance(self.X, list) else self.X.joined(other.X)
        ours, theirs = self._columns(), other._columns()
        shared = [name for name in ours if name in theirs]
        columns: Any = {name: np.append(ours[name], theirs[name]) for name in shared}
        names = [*self.names, *other.names]
        # Parts of one file share the list of what was skipped: list every problem once.
        skipped = tuple(dict.fromkeys([*self.skipped, *other.skipped]))
        remarks = tuple(dict.fromkeys([*self.remarks, *other.remarks]))
        return Dataset(X, names=names, skipped=skipped, remarks=remarks, **columns)

    def _columns(self) -> dict[str, Any]:
        """What is known about each sequence, one array per column; unknown columns are left out."""
        columns = {"y": self.y, "groups": self.groups, "split": self.split}
        return {name: values for name, values in columns.items() if values is not None}


def joined_parts(path: Path, parts: Sequence[Dataset], splits: Sequence[str]) -> Dataset:
    """Join the parts of one data set; `Dataset.split` says which sequence is of which part."""
    first, *others = parts
    if not others:
        return first
    whose = "the training and the test part"
    for other in others:
        if first.X.n_rows != other.X.n_rows:
            raise ReadError(path, f"{whose} have {first.X.n_rows} and {other.X.n_rows} channels")
        for key in ("channel_names", "symbolic"):
            if getattr(first.X, key) != getattr(other.X, key):
                raise ReadError(path, f"{whose} differ in {key}")
        rate, other_rate = first.X.sampling_rate, other.X.sampling_rate
        # Rates that are measured by the times of rows differ a little.
        if not np.isclose(rate or 0.0, other_rate or 0.0, rtol=0.1):
            hint = Sentence({"resample": "RATE"}, " brings both parts to one rate")
            raise ReadError(path, f"{whose} differ in sampling_rate: {rate} and {other_rate}", hint)
        for key in ("y", "groups"):
            if (getattr(first, key) is None) != (getattr(other, key) is None):
                raise ReadError(path, f"only one of {whose} has {key}")
    split = np.repeat(np.array(splits), [len(part) for part in parts])
    return replace(reduce(Dataset.joined, parts), split=split)


class Case(NamedTuple):
    """One sequence of a file; without a name it gets a number."""

    values: Any
    label: Any = None
    name: str | None = None
    group: str | None = None


def read_header(source: Source, lines: Iterable[Any], note: Callable[[str], bool]) -> None:
    """Give each line of a header to `note`, until it returns True; errors name the line."""
    number = 0
    for number, line in lines:
        try:
            if note(line):
                return
        except ValueError as error:
            source.fail(f"line {number}: {error}")
    source.fail(f"line {number}: the file ends before @data" if number else "the file is empty")


def gather(
    source: Source,
    rows: Iterable[tuple[int, Row]],
    read: Callable[[Row], Case],
    collect: Collect = channels_first,
    row_name: str = "line",
) -> Dataset:
    """Read one sequence per numbered row; a row that raises a ValueError is skipped, or fails."""
    cases: list[Case] = []
    count = 0
    for count, (line, row) in enumerate(rows, 1):
        try:
            case = read(row)
            first = cases[0].values if cases else case.values
            if isinstance(first, np.ndarray) and len(case.values) != len(first):
                raise ValueError(f"{counted(len(case.values), 'channel')}, expected {len(first)}")
            name = f"{source.stem}:{count}" if case.name is None else case.name
            cases.append(case._replace(name=name))
        except ReadError as error:  # names its place
            source.leave_out(error)
        except ValueError as error:
            source.skip(Sentence(f"{row_name} {line}: ", str(error)))
    if not count:
        source.fail("the file holds no sequences after its header")
    if not cases:
        check_kept(source.path, 0, source.skipped)
    return dataset_of(source, cases, collect)


def dataset_of(source: Source, cases: Sequence[Case], collect: Collect) -> Dataset:
    """Return the data set of sequences that have names; `collect` makes `X` of their values."""
    columns = [case.label for case in cases], [case.group for case in cases]
    y, groups = (None if {*values} <= {None} else np.array(values) for values in columns)
    names = numbered(source, [str(case.name) for case in cases])
    X = collect([case.values for case in cases])
    skipped, remarks = tuple(source.skipped), tuple(source.remarks)
    return Dataset(X, y, names, groups, skipped=skipped, remarks=remarks)


def numbered(source: Source, names: Sequence[str]) -> list[str]:
    """Return names that all differ: ``a`` that occurs twice becomes ``a:1`` and ``a:2``."""
    often = {name: n for name, n in Counter(names).items() if n > 1}
    for first, n in islice(often.items(), 1):
        got = f"{len(often)} repeated ids got numbers, such as '{first}:1'"
        source.remark(f"id {first!r} occurs {n} times; {got}")
    used, numbers, renamed = set(names), Counter[str](), []
    for name in names:
        free = name
        while name in often and (free == name or free in used):
            numbers[name] += 1
            free = f"{name}:{numbers[name]}"
        renamed.append(free)
    return renamed


def windows(
    data: Any,
    window: int | str,
    step: int | str | None = None,
    *,
    y: Any = None,
    groups: Any = None,
) -> Dataset:
    """Cut recordings into windows of the same length, to learn from or to predict.

    Windows of one recording are one group, so that no recording stands on both sides of a fold; if
    the recordings have groups (speakers, users), the windows keep them. A recording that is shorter
    than a window is one window.

    Parameters
    ----------
    data : Dataset or list of array-like of shape (n_channels, n_timepoints)
        Recordings, as `mvdfq.io.read` reads them, or any other input of `mvdfq.check_sequences`.
    window : int or str
        Length of a window: frames, or a duration such as ``"5s"``, ``"500ms"`` or ``"2min"``.
    step : int or str, default=None
        From the start of a window to the start of the next; None means `window`.
    y, groups : array-like of shape (n_recordings,), default=None
        Labels and groups of the recordings, if `data` is not a Dataset.

    Returns
    -------
    windows : Dataset
        The windows with their labels and groups. A name is that of the recording and the time of
        the first frame, in seconds if the sampling rate is known.

    Examples
    --------
    >>> import mvdfq, numpy as np
    >>> cut = mvdfq.windows([np.zeros((2, 100)), np.ones((2, 70))], 40, 20, y=np.array(["a", "b"]))
    >>> cut.y.tolist(), cut.names[1], cut.groups.tolist()
    (['a', 'a', 'a', 'a', 'b', 'b'], '0@20', ['0', '0', '0', '0', '1', '1'])
    """
    if not isinstance(data, Dataset):
        known = [None if column is None else np.asarray(column) for column in (y, groups)]
        data = check_sequences(data)
        check_entries(len(data), y=y, groups=groups)
        data = Dataset(data, known[0], [str(i) for i in range(len(data))], known[1])
    elif y is not None or groups is not None:
        raise ValueError("y and groups stand in the Dataset; pass the Dataset alone.")
    X = check_sequences(data.X)
    rate = X.sampling_rate
    size = frames_of(window, rate, "window")
    step = size if step is None else frames_of(step, rate, "step")
    parts, owners, starts = cut(X, size, step)
    # windows of one recording are alike: no fold may have them on both sides
    data = replace(data, groups=np.array(data.names) if data.groups is None else data.groups)
    times = starts / rate if rate else starts
    names = [f"{data.names[i]}@{t:g}" for i, t in zip(owners, times, strict=True)]
    cuts = f"{counted(len(parts), 'window')} of {counted(size, 'frame')}, {step} apart"
    remark = f"cut {counted(len(X), 'recording')} into {cuts}"
    columns: Any = {name: values[owners] for name, values in data._columns().items()}
    return replace(data, X=parts, names=names, remarks=(*data.remarks, remark), **columns)
