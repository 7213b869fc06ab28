"""Tasks of homology detection: which proteins a family trains and tests with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mvdfq._utils.short import Short
from mvdfq.io.dataset import Dataset
from mvdfq.io.source import ReadError, read_lines

ROLES = ("pos-train", "neg-train", "pos-test", "neg-test")


def read_splits(path: str | Path) -> dict[str, dict[str, list[str]]]:
    r"""Read which sequences each family trains and tests with: lines ``family role id``.

    Parameters
    ----------
    path : str or Path
        A plain or gzipped file; the first line may hold the names of the columns. Roles are
        ``pos-train``, ``neg-train``, ``pos-test`` and ``neg-test``.

    Returns
    -------
    splits : dict of str to dict of str to list of str
        Family -> role -> ids, in the order of the file; each family has all four roles.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mvdfq.io import read_splits
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "splits.tsv"
    >>> _ = path.write_text("family\trole\tid\n1.1\tpos-train\td1\n1.1\tneg-test\td2\n")
    >>> read_splits(path)["1.1"]["pos-train"]
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
        raise ReadError(path, "holds no splits", "write lines: family role id")
    return splits


@dataclass(frozen=True, eq=False, repr=False)
class HomologyTask(Short):
    """Tell the members of one family from all others, after training on related families.

    Parameters
    ----------
    family : str
        The name of the family.
    train, test : ndarray of int
        Indices of the sequences to learn from and to rank.
    y_train, y_test : ndarray of bool
        Which of these sequences are positive.

    Examples
    --------
    >>> from mvdfq.io import Dataset, homology_tasks
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
        """Return training sequences, then test sequences; `y` is True for members of the family.

        `data` is the data set whose names the task was made with.
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
        One per family, in the order of `splits`; indices ascend.

    References
    ----------
    .. [1] L. Liao, W. S. Noble, "Combining pairwise sequence similarity and support vector
       machines for detecting remote protein evolutionary and structural relationships",
       Journal of Computational Biology 10(6), 2003.

    Examples
    --------
    >>> from mvdfq.io import homology_tasks
    >>> roles = {"pos-train": ["b"], "neg-train": ["a"], "pos-test": ["d"], "neg-test": ["c"]}
    >>> homology_tasks(["a", "b", "c", "d"], {"1.1": roles})[0].test
    array([2, 3])
    """
    places = {name: i for i, name in enumerate(names)}
    tasks = []
    for family, roles in splits.items():
        for role in ROLES:
            if not roles.get(role):
                raise ValueError(f"Family {family!r} has no sequence in the role {role!r}.")
            for name in (name for name in roles[role] if name not in places):
                problem = f"Family {family!r} needs the sequence {name!r}"
                raise ValueError(f"{problem}, which is not in names.")
        parts: list[np.ndarray] = []
        for part in ("train", "test"):
            positive, negative = roles[f"pos-{part}"], roles[f"neg-{part}"]
            indices = np.array([places[name] for name in (*positive, *negative)], dtype=np.int64)
            order = np.argsort(indices)
            parts += [indices[order], order < len(positive)]
        train, y_train, test, y_test = parts
        tasks.append(HomologyTask(family, train, test, y_train, y_test))
    return tasks
