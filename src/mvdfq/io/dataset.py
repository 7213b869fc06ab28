"""The data set that every reader returns, and the error for a file that cannot be read."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.errors import HintedError
from mvdfq._utils.short import counted, in_short

__all__ = ["Dataset", "ReadError", "check_inside", "check_kept"]


class ReadError(HintedError, ValueError):
    """A file cannot be read; the error names the file, the place in the file and the remedy.

    Parameters
    ----------
    path : str or Path
        The file or folder.

    problem : str
        What is wrong, and where: ``"line 12: 3 values, expected 4"``.

    hint : str, default=""
        What the user can do about it.

    Examples
    --------
    >>> from mvdfq.io import ReadError
    >>> print(ReadError("a.ts", "line 3: no label", "labels follow the last colon"))
    a.ts: line 3: no label; labels follow the last colon
    """

    def __init__(self, path: str | Path, problem: str, hint: str = "") -> None:
        super().__init__(f"{path}: {problem}", hint)
        self.path, self.problem = str(path), problem
        # An error travels between processes as its class and these arguments.
        self.args = (self.path, problem, hint)


def check_inside(path: Path, folder: str | Path) -> None:
    """Raise an error if a file or folder that was found in `folder` is a link that leads out."""
    # realpath, unlike Path.resolve, takes links in circles
    real, inside = os.path.realpath(path), os.path.realpath(folder)
    if path.is_symlink() and not Path(real).is_relative_to(inside):
        hint = "copy into the folder what the link leads to, or name the files themselves"
        raise ReadError(path, "is a link that leads out of the folder", hint)


def check_kept(path: str | Path, n_kept: int, problems: Sequence[Any]) -> None:
    """Raise an error if fewer than half of the sequences could be read."""
    if n_kept < len(problems):
        problem = f"only {n_kept} of {n_kept + len(problems)} sequences can be read"
        raise ReadError(path, problem, f"the first problem: {problems[0]}")


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

    groups : ndarray of shape (n_sequences,), default=None
        One group per sequence (a speaker, an album), if known.

    split : ndarray of shape (n_sequences,), default=None
        ``"train"`` or ``"test"`` for each sequence, if the files name the parts.

    skipped : tuple of ReadError, default=()
        The errors of files or sequences that were left out, with ``skip_bad=True``.

    remarks : tuple of str, default=()
        What the reader decided by itself: which columns hold times and labels, which files it
        passed over.

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

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        """Return one short paragraph: what was read, and what the reader said."""
        if isinstance(self.X, list):
            lengths = sorted({len(x) for x in self.X})
            long = f"{lengths[0]} to {lengths[-1]}" if len(lengths) > 1 else f"{lengths[:1]}"[1:-1]
            words = [f"{counted(len(self), 'string')} of {long or 0} letters"]
        else:
            words = [self.X.in_words() if hasattr(self.X, "in_words") else in_short(self.X)]
        for name, what in (("y", "class"), ("groups", "group"), ("split", "part")):
            words += _kinds(getattr(self, name), what)
        words += [f"{len(self.skipped)} skipped"] if self.skipped else []
        return "\n".join([f"<Dataset: {'; '.join(words)}>", *map(str, self.remarks)])

    def take(self, indices: Any) -> "Dataset":
        """Return the data set of the sequences at `indices`, in the order of `indices`."""
        indices = np.asarray(indices, dtype=np.int64)
        X = [self.X[i] for i in indices] if isinstance(self.X, list) else self.X[indices]
        columns: dict[str, Any] = {
            name: None if values is None else values[indices]
            for name, values in self._columns().items()
        }
        return replace(self, X=X, names=[self.names[i] for i in indices], **columns)

    def joined(self, other: "Dataset") -> "Dataset":
        """Return one data set: these sequences, then the sequences of `other`.

        Labels, groups and splits are left out if only one of the two data sets has them.
        """
        if isinstance(self.X, list) != isinstance(other.X, list):
            raise ValueError("Strings and numbers cannot be read into one data set.")
        X = self.X + other.X if isinstance(self.X, list) else self.X.joined(other.X)
        theirs = other._columns()
        columns = {
            name: None
            if values is None or theirs[name] is None
            else np.append(values, theirs[name])
            for name, values in self._columns().items()
        }
        names = [*self.names, *other.names]
        # Parts of one file share the list of what was skipped: list every problem once.
        skipped = tuple(dict.fromkeys([*self.skipped, *other.skipped]))
        remarks = tuple(dict.fromkeys([*self.remarks, *other.remarks]))
        return Dataset(X, names=names, skipped=skipped, remarks=remarks, **columns)

    def _columns(self) -> dict[str, Any]:
        """What is known about each sequence, one array per column."""
        return {"y": self.y, "groups": self.groups, "split": self.split}


def _kinds(values: np.ndarray | None, what: str) -> list[str]:
    """Say how many labels of each kind there are, if there are few kinds."""
    if values is None:
        return ["no labels"] if what == "class" else []
    kinds = Counter(map(str, np.asarray(values).tolist())).most_common()
    few = ", ".join(f"{kind}: {n}" for kind, n in kinds[:5])
    return [f"{counted(len(kinds), what)} ({few}{', ...' if len(kinds) > 5 else ''})"]
