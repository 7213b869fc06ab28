"""Kernel matrices in files: tile by tile, and a new run goes on where an earlier run stopped.

A journal says which tiles are written, with checksums. It is a text file: each line is a checksum
and a JSON object, first a header that says what is computed, then one line per finished tile. A
line that was cut off or damaged is ignored.
"""

import errno
import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np

from mvdfq._engines.choice import current_engine, engine_of
from mvdfq._utils.checks import check_choice, parse_memory
from mvdfq._utils.files import locked
from mvdfq._utils.version import __version__
from mvdfq.gram.base import warn_wordless
from mvdfq.gram.kernel import SequenceKernel
from mvdfq.gram.plan import Tile, plan_tiles
from mvdfq.gram.sums import Gram, mirror_upper
from mvdfq.gram.tiles import Report, compute_tiles, gram
from mvdfq.sequences import offsets_of
from mvdfq.symbols.base import Symbols

FORMAT = "mvdfq gram journal 1"


class Stored(NamedTuple):
    """The number of tiles of a matrix, and of the tiles that an earlier run had written."""

    n_tiles: int
    n_found: int


def write_gram(
    kernel: SequenceKernel,
    X: Any,
    path: str | Path,
    *,
    dtype: str = "float64",
    progress: Report | None = None,
) -> np.memmap:
    """Fit a kernel and write the kernel matrix of all pairs of sequences to a .npy file.

    The values equal ``kernel.fit_transform(X)``. The matrix is never held in memory: tiles
    of about a thousand sequences are written to a hidden file beside `path`. The file becomes
    `path` when it is complete. After an interruption of any kind the same call goes on after the
    last tile, and the result is the same to the last bit.

    Parameters
    ----------
    kernel : SequenceKernel
        The kernel; its `memory_limit` bounds the memory of the computation.
    X : Symbols, list of integer arrays, list of str or iterator of Symbols
        Sequences of symbols; lengths may differ. For `Profile`, sequences of probabilities. An
        iterator yields blocks of a collection that does not fit into memory, such as
        ``(quantizer.transform(part().X) for part in mvdfq.io.list_parts(folder))``; the blocks are
        kept in a file beside `path` for the time of the computation.
    path : str or Path
        The file to write; its name ends in ``.npy``.
    dtype : {"float64", "float32"}, default="float64"
        Type of the stored values. ``"float32"`` halves the file.
    progress : callable, default=None
        Called with the number of pieces done and the number of all pieces that are left.

    Returns
    -------
    K : memmap of shape (n_sequences, n_sequences)
        The matrix in the file, read-only.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mvdfq import SequenceKernel, Spectrum, write_gram
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "K.npy"
    >>> write_gram(SequenceKernel(Spectrum(1)), ["AAB", "AAC"], path)[0, 1].round(3)
    np.float64(0.8)
    """
    path = Path(path)
    if path.suffix != ".npy":
        raise ValueError(f"path must end in .npy, got {str(path)!r}; name another file.")
    if isinstance(X, Iterator):
        X = spooled(X, path.parent)
    store_gram(kernel.fit(X), path, dtype, progress)
    return np.load(path, mmap_mode="r")


def store_gram(
    kernel: SequenceKernel, output: Path, dtype: str = "float64", progress: Report | None = None
) -> Stored:
    """Write the kernel matrix of the training sequences of a fitted kernel."""
    check_choice(dtype, "dtype", ("float32", "float64"))
    budget = parse_memory(kernel.memory_limit)
    tiles, task_bytes = plan_tiles(kernel.train_, None, kernel.plan_, budget)
    # by columns, the tile on the diagonal first: it gives the norms of its block, so every tile can
    # be normalized at once, and all tiles of a column have one block in common
    tiles.sort(key=lambda tile: (tile[1].start, tile[0] != tile[1], tile[0].start))
    with engine_of(kernel), locked(output):
        matrix = Unfinished(output, _key(kernel, tiles, dtype), len(kernel.train_), np.dtype(dtype))
        try:
            todo = [tile for tile in tiles if (tile[0].start, tile[1].start) not in matrix.found]
            memory = budget, task_bytes
            for tile, part in _parts(kernel, todo, memory, progress, len(tiles)):
                matrix.write(tile, kernel, part)
        except BaseException:
            del matrix.values  # closes the map: another run can go on
            raise
        matrix.finish()
        remove_others(output)
    warn_wordless(matrix.own)
    return Stored(len(tiles), len(tiles) - len(todo))


def _parts(
    kernel: SequenceKernel,
    tiles: list[Tile],
    memory: tuple[int, int],
    progress: Report | None,
    n_tiles: int,
) -> Iterator[tuple[Tile, Gram]]:
    """Yield tiles with their sums; a card computes each tile as a matrix of its own."""
    train, plan, n_jobs = kernel.train_, kernel.plan_, kernel.n_jobs
    if current_engine().name != "gpu":
        zeros = lambda tile: np.zeros([cut.stop - cut.start for cut in tile])  # noqa: E731
        yield from compute_tiles(train, None, plan, tiles, zeros, memory, n_jobs, progress, n_tiles)
        return
    for done, (rows, columns) in enumerate(tiles, start=1):
        right, limit = None if rows == columns else train[columns], kernel.memory_limit
        yield (rows, columns), gram(train[rows], right, plan, n_jobs=n_jobs, memory_limit=limit)
        if progress is not None:
            progress(done, len(tiles))


def _key(kernel: SequenceKernel, tiles: list[Tile], dtype: str) -> str:
    """Return a name of the computation: data, options, version, and all that can change a bit."""
    train = kernel.train_
    same = {"n_jobs", "memory_limit", "engine"}  # the engine in use counts, not the parameter
    # in full: the text of a long array would leave out its middle
    options = {
        name: value.tolist() if isinstance(value, np.ndarray) else str(value)
        for name, value in kernel.get_params().items()
        if name not in same
    }
    # the order of sums follows the tiles, so other tiles may change the last bit
    cuts = [columns.stop for rows, columns in tiles if rows == columns]
    data = [str(train.data.dtype), train.data.shape]
    facts = [__version__, current_engine().name, options, dtype, data, cuts]
    digest = hashlib.sha256(json.dumps(facts).encode())
    digest.update(np.ascontiguousarray(train.offsets).data)
    for row in train.data:  # row by row: a collection may lie in a file
        digest.update(np.ascontiguousarray(row).data)
    return digest.hexdigest()[:16]


def spooled(blocks: Iterable[Symbols], folder: Path) -> Symbols:
    """Write blocks of symbols one after the other to a file; return all as one collection.

    The codes are a memory map of a file without a name in `folder`, so that the file disappears
    with the process, also after ``kill -9``. Blocks must have the same rows and alphabets.
    """
    lengths: list[np.ndarray] = []
    first: Any = None
    with TemporaryFile(dir=folder) as file:
        for block in blocks:
            first = block[:0] if first is None else first
            if not isinstance(block, Symbols):
                raise TypeError(
                    f"Blocks must be Symbols, got {type(block).__name__}; a fitted quantizer turns "
                    f"a block of sequences into Symbols."
                )
            same = block.codes.dtype == first.codes.dtype and block.n_rows == first.n_rows
            if not same or not np.array_equal(block.n_symbols, first.n_symbols):
                got = f"{first.n_symbols.tolist()}, got {block.n_symbols.tolist()}"
                problem = f"All blocks must have the rows and alphabets of the first block, {got}"
                raise ValueError(f"{problem}; use one fitted quantizer.")
            # frame after frame, since the number of frames of all blocks is not known yet
            np.ascontiguousarray(block.codes.T).tofile(file)
            lengths.append(block.lengths)
        if not lengths:
            raise ValueError("X holds no sequences; pass at least one block of sequences.")
        file.flush()
        offsets = offsets_of(np.concatenate(lengths))
        shape = int(offsets[-1]), first.n_rows
        codes = first.codes.T
        if codes.dtype.itemsize * shape[0] * shape[1]:  # an empty file cannot be mapped
            codes = np.memmap(file, first.codes.dtype, "r", 0, shape)
    return replace(first, data=codes.T, offsets=offsets)


class Unfinished:
    """The matrix in a hidden file beside `output`, which `finish` moves to `output`.

    `key` names the computation: a journal of another computation is not continued. Every tile is on
    the disk before its line is in the journal. The line holds a checksum, so that a tile whose
    bytes changed is computed again. Tiles on the diagonal also store the norms of their sequences.
    """

    def __init__(self, output: Path, key: str, n: int, dtype: np.dtype) -> None:
        self.output, self.path = output, _place(output, key, "unfinished")
        self.journal, self.own = _place(output, key, "journal"), np.zeros(n)
        if self.path.exists() and not is_journal(self.journal, key):
            raise FileExistsError(f"{self.path} exists without a journal; move or remove the file.")
        self._read_journal(key)
        header = BytesIO()  # what a .npy file begins with
        descr = np.lib.format.dtype_to_descr(dtype)
        facts = {"descr": descr, "fortran_order": False, "shape": (n, n)}
        np.lib.format.write_array_header_1_0(header, facts)
        self._allocate(header.getvalue(), len(header.getvalue()) + n * n * dtype.itemsize)
        self.values = np.lib.format.open_memmap(self.path, "r+")
        # the first row and column of each tile whose bytes are as the journal says
        self.found = set()
        for record in self.records:
            rows, columns = (slice(*cut) for cut in record["tile"])
            own = np.array(record.get("own", ()), dtype=float)
            # both images: a crash may have written one of them
            upper, lower = self.values[rows, columns], self.values[columns, rows]
            if {_checksum(upper, own), _checksum(lower.T, own)} == {record["checksum"]}:
                self.own[rows] = own if rows == columns else self.own[rows]
                self.found.add((rows.start, columns.start))

    def _read_journal(self, key: str) -> None:
        """Read the lines of finished tiles; begin a journal if the file has none."""
        header, path = _header(key), self.journal
        written = path.read_bytes() if path.exists() else b""
        if header.startswith(written):  # a new journal, or the process ended while it was created
            path.write_bytes(header)
        elif not written.startswith(header):
            problem = f"{path} exists, but it is not the journal of this matrix, or it is damaged"
            raise FileExistsError(f"{problem}; move or remove the file.")
        elif not written.endswith(b"\n"):  # the last line was cut off
            path.write_bytes(written + b"\n")
        self.records = []
        for line in written[len(header) :].split(b"\n"):
            checksum, _, text = line.partition(b" ")
            # before the text is parsed: a damaged line may be anything
            if checksum == b"%08x" % zlib.crc32(text):
                self.records.append(json.loads(text))

    def _allocate(self, header: bytes, size: int) -> None:
        """Make room for the matrix, so that a full disk is an error now and not a crash later."""
        try:
            with open(self.path, "r+b" if self.path.exists() else "xb") as file:
                file.write(header)
                # the length first: some systems cannot reserve, but all can lengthen
                file.truncate(size)
                if hasattr(os, "posix_fallocate"):  # not on Windows and macOS
                    os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if error.errno in (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):  # cannot reserve
                return
            # nothing was computed: leave no files behind
            if not self.records:
                self.path.unlink(missing_ok=True)
                self.journal.unlink()
            problem = f"there is no room for a matrix of {size} bytes ({error.strerror})"
            raise OSError(error.errno, problem, str(self.output)) from None

    def write(self, tile: Tile, kernel: SequenceKernel, part: Gram) -> None:
        """Write the kernel values of a tile and their mirror image; then note it in the journal."""
        rows, columns = tile
        record: dict[str, Any] = {"tile": [[cut.start, cut.stop] for cut in tile]}
        own = np.empty(0)
        if rows == columns:
            own = self.own[rows] = part.left
            mirror_upper(part.values, own)
            record["own"] = own.tolist()
        part = replace(part, left=self.own[rows], right=self.own[columns])
        self.values[rows, columns] = kernel.finished(part, is_square=rows == columns)
        # from the file, not from the part: rounding to the type of the file must be the same
        self.values[columns, rows] = self.values[rows, columns].T
        record["checksum"] = _checksum(self.values[rows, columns], own)
        self.values.flush()
        with self.journal.open("ab") as file:
            file.write(_line(record))
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> None:
        """Move the complete matrix to the output and remove the journal."""
        self.values.flush()
        del self.values
        # after the map is closed, since Windows does not move a mapped file
        os.replace(self.path, self.output)
        self.journal.unlink()


def is_journal(path: Path, key: str) -> bool:
    """Tell whether a file is the journal of the computation `key`."""
    header = _header(key)
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(header)) == header


def _header(key: str) -> bytes:
    return _line({"format": FORMAT, "key": key})


def _line(record: dict[str, Any]) -> bytes:
    text = json.dumps(record, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def remove_others(output: Path) -> None:
    """Remove the unfinished matrices of earlier runs with this output: other data, other options.

    Only pairs of files that `Unfinished` made are removed, which their journals prove.
    """
    name = re.compile(re.escape(f".{output.name}.") + r"([0-9a-f]{16})\.journal")
    for journal in list(output.parent.iterdir()):
        match = name.fullmatch(journal.name)
        # a file of this name that somebody else made stays
        if match and is_journal(journal, match[1]):
            values = _place(output, match[1], "unfinished")
            if not values.is_symlink() and not values.is_dir():
                values.unlink(missing_ok=True)
                journal.unlink()


def _place(output: Path, key: str, ending: str) -> Path:
    return output.with_name(f".{output.name}.{key}.{ending}")


def _checksum(values: np.ndarray, own: np.ndarray) -> str:
    digest = hashlib.blake2b(np.ascontiguousarray(values).data, digest_size=16)
    digest.update(own.tobytes())
    return digest.hexdigest()
