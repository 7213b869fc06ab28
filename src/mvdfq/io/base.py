"""What every reader returns, and how it says that a file cannot be read."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Dataset", "ReadError"]


class ReadError(ValueError):
    """A file cannot be read: which, where in it, and what would do.

    Parameters
    ----------
    path : str or Path
        The file or folder.

    problem : str
        What is wrong with it, and where: ``"line 12: 3 values, expected 4"``.

    hint : str, default=""
        What the user can do about it.

    Examples
    --------
    >>> from mvdfq.io import ReadError
    >>> print(ReadError("a.ts", "line 3: no label", "labels follow the last colon"))
    a.ts: line 3: no label; labels follow the last colon
    """

    def __init__(self, path: str | Path, problem: str, hint: str = "") -> None:
        self.path, self.problem, self.hint = str(path), problem, hint
        super().__init__(str(path), problem, hint)

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}" + (f"; {self.hint}" if self.hint else "")


@dataclass(frozen=True)
class Dataset:
    """Sequences read from files, and what the files say about them.

    Parameters
    ----------
    X : Sequences or list of str
        The sequences; `SequenceClassifier` takes them as they are.

    y : ndarray of shape (n_sequences,), default=None
        Labels, None if the files have none.

    names : list of str, default=()
        A name for each sequence: the file it came from, or its id.

    groups : ndarray of shape (n_sequences,), default=None
        What each sequence belongs to (a speaker, an album), if known.

    split : ndarray of shape (n_sequences,), default=None
        ``"train"`` or ``"test"``, where the files say so.

    skipped : tuple of ReadError, default=()
        What could not be read and was left out, as asked.

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

    def __len__(self) -> int:
        return len(self.X)

    def take(self, indices: Any) -> "Dataset":
        """Return the data set of the sequences at `indices`, in that order.

        Parameters
        ----------
        indices : array-like of int
            Which sequences.

        Returns
        -------
        dataset : Dataset
            The smaller data set.
        """
        indices = np.asarray(indices, dtype=np.int64)
        X = [self.X[i] for i in indices] if isinstance(self.X, list) else self.X[indices]
        parts: dict[str, Any] = {
            name: None if value is None else value[indices]
            for name, value in [("y", self.y), ("groups", self.groups), ("split", self.split)]
        }
        return replace(self, X=X, names=[self.names[i] for i in indices], **parts)
