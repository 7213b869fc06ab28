"""Any file or folder -> a data set: the format is recognised by content, or named."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq.io.base import Dataset, ReadError
from mvdfq.io.listing import group_expression, group_in

__all__ = ["FORMATS", "read", "recognise"]

SERIES = ("ts", "arff", "npz", "npy", "wide-csv", "long-csv", "parquet", "csv-folder")
FORMATS = ("audio", "fasta", "profiles", *SERIES)

# Which formats an option has a meaning for.
MEANT_FOR = {
    "recipe": ("audio",),
    "cache": ("audio",),
    "label": ("fasta", "arff", "wide-csv", "long-csv", "parquet"),
    "labels": ("fasta", "profiles"),
    "strands": ("fasta",),
}
# Files looked at to find out what a folder holds.
FEW = 20


def recognise(path: str | Path) -> str:
    r"""Return the format of a file or folder, one of `FORMATS`, by looking into it.

    Parameters
    ----------
    path : str or Path
        The file or folder.

    Returns
    -------
    format : str
        ``"audio"``, ``"fasta"``, ``"ts"``, ...

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mvdfq.io import recognise
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "no.ending"
    >>> _ = path.write_text(">d1 globin\nMVLSPAD\n")
    >>> recognise(path)
    'fasta'
    """
    from mvdfq.io.audio import looks_like_audio
    from mvdfq.io.fasta import looks_like_fasta
    from mvdfq.io.profiles import looks_like_profiles
    from mvdfq.io.series import looks_like_series

    path = Path(path)
    if not path.exists():
        found = looks_like_series(path)  # X may stand for X_TRAIN and X_TEST
        if found is None:
            os.stat(path)  # a missing file is an error of its own
            raise ReadError(path, "cannot be read")
        return found
    if path.is_dir():
        if any(looks_like_audio(one) for one in _some_files(path)):
            return "audio"
    elif looks_like_fasta(path):
        return "fasta"
    elif looks_like_audio(path):
        return "audio"
    if looks_like_profiles(path):
        return "profiles"
    if (found := looks_like_series(path)) is not None:
        return found
    raise ReadError(path, "its format is not recognised", f"name it, one of {', '.join(FORMATS)}")


def _some_files(folder: Path) -> list[Path]:
    """A few files of a folder and of the folders in it, hidden ones aside."""
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(place, name) for name in sorted(files)[:3] if not name.startswith(".")]
        if len(found) >= FEW:
            break
    return found


def read(
    path: str | Path | Sequence[str | Path],
    format: str | None = None,
    *,
    recipe: Any = None,
    label: Any = None,
    labels: str | Path | None = None,
    strands: str = "one",
    group_pattern: str | None = None,
    skip_bad: bool = False,
    n_jobs: int | None = None,
    cache: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Dataset:
    r"""Read sequences from a file, a folder or several files.

    Parameters
    ----------
    path : str, Path or list of these
        What to read. Several files must be of one format.

    format : str, default=None
        One of `FORMATS`; by default it is recognised by content.

    recipe : AudioRecipe or str, default=None
        How sound becomes numbers.

    label : str or int, default=None
        Which column, attribute or part of a FASTA header holds the label; ``"none"`` where a
        table has none.

    labels : str or Path, default=None
        A table ``id,label[,group]`` for FASTA files and profiles.

    strands : {"one", "both"}, default="one"
        ``"both"`` reads FASTA as DNA, each sequence with its reverse complement.

    group_pattern : str, default=None
        Regular expression that finds the group in the name of a sequence.

    skip_bad : bool, default=False
        Leave out what cannot be read and list it in `Dataset.skipped`.

    n_jobs : int, default=None
        Number of processes for sound files.

    cache : str or Path, default=None
        Folder for features of sound files.

    progress : callable, default=None
        Called with how much is done and how much there is.

    Returns
    -------
    dataset : Dataset
        The sequences and what the files say of them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mvdfq.io import read
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.fasta"
    >>> _ = path.write_text(">d1 a\nMVLS\n>d2 b\nPAD\n")
    >>> read(path, label=1).y.tolist()
    ['a', 'b']
    """
    several = not isinstance(path, str | os.PathLike)
    paths = [Path(one) for one in path] if several else [Path(path)]  # type: ignore[union-attr, arg-type]
    if not paths:
        raise ValueError("Nothing to read was named.")
    kind = format or recognise(paths[0])
    if kind not in FORMATS:
        raise ValueError(f"format={kind!r} is not known; it is one of {', '.join(FORMATS)}.")
    given = {"recipe": recipe, "label": label, "labels": labels, "cache": cache}
    given["strands"] = None if strands == "one" else strands
    _refuse_unused(kind, given)
    if kind == "audio":
        from mvdfq.io.audio import read_audio

        what = paths if several else paths[0]
        return read_audio(
            what,
            recipe,
            group_pattern=group_pattern,
            skip_bad=skip_bad,
            n_jobs=n_jobs,
            cache=cache,
            progress=progress,
        )
    if kind == "fasta":
        parts = [_read_fasta(one, label, labels, strands, skip_bad) for one in paths]
    else:
        parts = [_read_one(one, kind, label, labels, skip_bad, progress) for one in paths]
    return _with_groups(reduce(_joined, parts), group_pattern)


def _refuse_unused(kind: str, given: dict[str, Any]) -> None:
    """Refuse options that have no meaning for a format, rather than pass over them."""
    for name, value in given.items():
        if value is not None and kind not in MEANT_FOR[name]:
            raise ValueError(f"{name} has no meaning for data of the format {kind}; leave it out.")


def _read_fasta(path: Path, label: Any, labels: Any, strands: str, skip_bad: bool) -> Dataset:
    from mvdfq.io.proteins import read_fasta

    alphabet = "protein" if strands == "one" else "dna"
    return read_fasta(
        path, label=label, labels=labels, alphabet=alphabet, strands=strands, skip_bad=skip_bad
    )


def _read_one(path: Path, kind: str, label: Any, labels: Any, skip_bad: bool, progress) -> Dataset:
    """Read one file or folder of series or profiles."""
    if kind == "profiles":
        from mvdfq.io.profiles import read_profiles

        return read_profiles(path, labels=labels, skip_bad=skip_bad)
    from mvdfq.io.series import read_series

    options: dict[str, Any] = {} if label is None else {"label": label}
    if isinstance(label, str) and label.lower() == "none":
        options["label"] = None
    return read_series(path, kind, skip_bad=skip_bad, progress=progress, **options)


def _joined(first: Dataset, second: Dataset) -> Dataset:
    """One data set of two; what only one of them has is dropped."""
    if isinstance(first.X, list) != isinstance(second.X, list):
        raise ValueError("Strings and numbers cannot be read into one data set.")
    X = first.X + second.X if isinstance(first.X, list) else first.X.joined(second.X)
    columns = {
        name: None if mine is None or other is None else np.concatenate([mine, other])
        for name in ("y", "groups", "split")
        for mine, other in [(getattr(first, name), getattr(second, name))]
    }
    names = [*first.names, *second.names]
    return Dataset(X, names=names, skipped=first.skipped + second.skipped, **columns)


def _with_groups(data: Dataset, pattern: str | None) -> Dataset:
    """Find groups in the names of sequences."""
    expression = group_expression(pattern)
    if expression is None:
        return data
    groups = [group_in(name, expression) for name in data.names]
    for name, group in zip(data.names, groups, strict=True):
        if group is None:
            problem = f"no group is found in its name by {pattern!r}"
            raise ReadError(name, problem, "the expression must match every name")
    return replace(data, groups=np.array(groups))
