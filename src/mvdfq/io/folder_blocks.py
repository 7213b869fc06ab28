"""The files of a folder, a block or a file at a time: the folder need not fit into memory."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from mvdfq.io.dataset import Dataset, ReadError, check_inside
from mvdfq.io.reading import read
from mvdfq.io.recognition import recognise
from mvdfq.io.sound.listing import list_audio
from mvdfq.io.steady import State, changed, state_of
from mvdfq.io.tables.folder import csv_files

__all__ = ["FolderBlocks", "list_parts"]

# Largest number of files and of their bytes in a block.
MOST_FILES, MOST_BYTES = 512, 2**28


class FolderBlocks:
    r"""Read the sound files or tables of a folder block by block, as often as needed.

    Iterating yields one `Dataset` per block of files. Names are the same as with `read`; labels and
    groups are not read.

    Parameters
    ----------
    path : str or Path
        A folder of sound files, or of tables with one series per file.

    format : {"audio", "csv-folder"}, default=None
        By default the format is recognised by content.

    progress : callable, default=None
        Called with the number of files done and the number of all files.

    **options : dict
        Options of `read`: `recipe`, `cache`, `n_jobs`, `skip_bad`, or columns of tables.

    Attributes
    ----------
    files : list of Path
        All files, in the order in which they are read.

    n_bytes : int
        Size of all files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mvdfq.io import FolderBlocks
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("a", "b"):
    ...     _ = (folder / f"{name}.csv").write_text("time,x\n0,1.5\n1,2.5\n")
    >>> [block.names for block in FolderBlocks(folder)]
    [['a.csv', 'b.csv']]
    """

    def __init__(
        self,
        path: str | Path,
        format: str | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
        **options: Any,
    ) -> None:
        self.path, self.progress, self.options = Path(path), progress, options
        self.format = format or recognise(path)
        if self.format not in ("audio", "csv-folder") or not self.path.is_dir():
            raise ReadError(
                path, "is not a folder of sound files or tables", "mvdfq.io.read reads other data"
            )
        self.files, self._names, self.problems = self._listed()
        self._states: dict[Path, State] = {}

    def _listed(self) -> tuple[list[Path], dict[str, str], list[ReadError]]:
        """List the files, their names by path, and what is wrong with the folder."""
        if self.format == "audio":
            found = list_audio(self.path)
            files, names, problems = found.files, found.names, found.problems
            if problems and not self.options.get("skip_bad"):
                raise problems[0]
        else:
            files, problems = csv_files(self.path), []
            names = [file.relative_to(self.path).as_posix() for file in files]
        return files, dict(zip(map(str, files), names, strict=True)), problems

    @cached_property
    def n_bytes(self) -> int:
        """Size of all files."""
        return sum(file.stat().st_size for file in self.files)

    def __iter__(self) -> Iterator[Dataset]:
        done = 0
        for files in self._cut():
            block = read(files, self.format, **self.options)
            if any(block.X.symbolic) and len(files) < len(self.files):
                # every call of `read` numbers words anew
                problem = "columns of text cannot be read in blocks of files"
                raise ReadError(self.path, problem, "read the whole folder, with a larger limit")
            self._check_unchanged(files)
            done += len(files)
            if self.progress is not None:
                self.progress(done, len(self.files))
            yield replace(block, names=[self._names[str(Path(name))] for name in block.names])

    def _check_unchanged(self, files: list[Path]) -> None:
        """Raise an error for a file that is not as it was when it was read before."""
        for file in files:
            state = state_of(file)
            if self._states.setdefault(file, state) != state:
                raise changed(file)

    def _cut(self) -> Iterator[list[Path]]:
        """Cut the list of files into blocks."""
        block: list[Path] = []
        size = 0
        for file in self.files:
            more = file.stat().st_size
            if block and (len(block) == MOST_FILES or size + more > MOST_BYTES):
                yield block
                block, size = [], 0
            block.append(file)
            size += more
        if block:
            yield block


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
