"""A kernel matrix that is being computed: a memory map, its journal, and its norms.

The journal says which tiles are written, with checksums. It is a text file: each line is a
checksum and a JSON object, first a header that says what is computed, then one line per finished
tile. A line that was cut off or damaged is ignored.
"""

import errno
import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq.gram.plan import Tile

FORMAT = "mvdfq gram journal 1"


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
        start = len(header.getvalue())
        size = start + n * n * dtype.itemsize
        # a run that ended between moving the matrix and removing the journal left both
        is_moved = not self.path.exists() and bool(self.records) and output.is_file()
        self.is_moved = is_moved and output.stat().st_size == size
        if not self.is_moved:
            self._allocate(header.getvalue(), size)
        path, mode = (output, "r") if self.is_moved else (self.path, "r+")
        self.values = np.memmap(path, dtype, mode, start, (n, n))  # type: ignore[call-overload]
        self.found = set(self._valid_tiles())

    def _read_journal(self, key: str) -> None:
        """Read the lines of finished tiles; begin a new journal if there is none."""
        header, path = _header(key), self.journal
        written = path.read_bytes() if path.exists() else b""
        if header.startswith(written):  # a new journal, or the process ended while it was created
            path.write_bytes(header)
        elif not written.startswith(header):
            raise FileExistsError(
                f"{path} exists, but it is not the journal of this matrix, or it is damaged; move "
                f"or remove the file."
            )
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
                _reserve(file.fileno(), size)
        except OSError as error:
            # nothing was computed: leave no files behind
            if not self.records:
                self.path.unlink(missing_ok=True)
                self.journal.unlink()
            problem = f"there is no room for a matrix of {size} bytes ({error.strerror})"
            raise OSError(error.errno, problem, str(self.output)) from None

    def _valid_tiles(self) -> Iterable[tuple[int, int]]:
        """Yield the first row and column of each tile whose bytes are as the journal says."""
        for record in self.records:
            rows, columns = (slice(*cut) for cut in record["tile"])
            own = np.array(record.get("own", ()), dtype=float)
            # both images: a crash may have written one of them
            upper, lower = self.values[rows, columns], self.values[columns, rows]
            if {_checksum(upper, own), _checksum(lower.T, own)} == {record["checksum"]}:
                self.own[rows] = own if rows == columns else self.own[rows]
                yield rows.start, columns.start

    def write(self, tile: Tile, values: np.ndarray) -> None:
        """Write a tile and its mirror image; then note it in the journal."""
        rows, columns = tile
        self.values[rows, columns] = values
        # from the file, not from `values`: rounding to the type of the file must be the same
        self.values[columns, rows] = self.values[rows, columns].T
        own = self.own[rows] if rows == columns else np.empty(0)
        record: dict[str, Any] = {"tile": [[cut.start, cut.stop] for cut in tile]}
        record["checksum"] = _checksum(self.values[rows, columns], own)
        if rows == columns:
            record["own"] = own.tolist()
        self.values.flush()
        with self.journal.open("ab") as file:
            file.write(_line(record))
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> None:
        """Move the complete matrix to the output and remove the journal."""
        self.values.flush()
        self.close()
        if not self.is_moved:
            # after the map is closed, since Windows does not move a mapped file
            os.replace(self.path, self.output)
        self.journal.unlink()

    def close(self) -> None:
        """Close the map; another run can go on."""
        del self.values


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


def _reserve(number: int, size: int) -> None:
    """Reserve the bytes of a file, where the system can do so."""
    if not hasattr(os, "posix_fallocate"):  # Windows, macOS
        return
    try:
        os.posix_fallocate(number, 0, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):
            raise


def _checksum(values: np.ndarray, own: np.ndarray) -> str:
    digest = hashlib.blake2b(np.ascontiguousarray(values).data, digest_size=16)
    digest.update(own.tobytes())
    return digest.hexdigest()
