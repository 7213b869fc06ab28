"""The files of a folder as parts of one data set, each read when it is needed."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from mvdfq.io.base import Dataset, ReadError, check_inside
from mvdfq.io.reading import read

__all__ = ["list_parts"]


def list_parts(
    folder: str | Path, pattern: str = "*", **options: Any
) -> list[Callable[[], Dataset]]:
    r"""List the files of a folder as functions that read one file each.

    Every file is a data set of its own, with labels: Parquet, ``.npz``, ``.ts``, ... On a cluster
    the folder must be one that all workers see under the same path.

    Parameters
    ----------
    folder : str or Path
        The folder.

    pattern : str, default="*"
        Which files to read, such as ``"*.parquet"``.

    **options : dict
        Options of `read`, such as `label`.

    Returns
    -------
    parts : list of callable
        One function without arguments per file, in the order of the names;
        `SequenceClassifier.fit_blocks` takes the list.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mvdfq.io import list_parts
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("a", "b"):
    ...     _ = (folder / f"{name}.csv").write_text("id,time,x,label\n0,0,1.5,u\n0,1,2.5,u\n")
    >>> [part().y.tolist() for part in list_parts(folder, "*.csv")]
    [['u'], ['u']]
    """
    files = sorted(file for file in Path(folder).glob(pattern) if file.is_file())
    for file in files:
        check_inside(file, folder)
    if not files:
        raise ReadError(folder, f"no file matches {pattern!r}", "name another folder or pattern")
    return [partial(read, file, **options) for file in files]
