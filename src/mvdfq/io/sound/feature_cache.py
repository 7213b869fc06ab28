"""A cache folder for features, by content of the file, recipe and program; it only saves time."""

import hashlib
import os
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.checks import parse_memory
from mvdfq._utils.files import remove_unheld, replace_file
from mvdfq._utils.version import source_digest, version_of
from mvdfq.io.source import ReadError

DIGEST = 32  # bytes of a SHA-256
ENDING = ".features"


def size_limit() -> int:
    """Return the largest size of a cache in bytes, which the variable MVDFQ_CACHE_SIZE changes."""
    # 2GiB: about 100 hours of sound with 13 rows, 100 frames per second
    return parse_memory(os.environ.get("MVDFQ_CACHE_SIZE", "2GiB"))


@cache
def code_key() -> str:
    """Return a digest of the code that computes features."""
    code = source_digest("mvdfq.io.sound.decoding", "mvdfq.io.sound.recipes")
    packages = [(name, version_of(name)) for name in ("numpy", "scipy", "soundfile")]
    return hashlib.sha256(repr((code, packages)).encode()).hexdigest()[:16]


class FeatureCache:
    """A folder of extracted features; the folder is created if it does not exist."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"the cache folder cannot be created ({error.strerror})"
            raise ReadError(folder, problem, "name another folder, or use no cache") from None

    def entry(self, file: Any, recipe_key: str) -> Path:
        """Return where the features of an open file belong; the file is back at its start."""
        content = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        # Two letters of the digest as a sub-folder keep folders small with a million files.
        return self.folder / content[:2] / f"{content[2:]}-{recipe_key}-{code_key()}{ENDING}"

    def load(self, entry: Path) -> np.ndarray | None:
        """Return the features of an entry; None if there is no entry, or a damaged entry."""
        try:
            stored = entry.read_bytes()
            if hashlib.sha256(stored[DIGEST:]).digest() != stored[:DIGEST]:
                return None
            features = np.load(BytesIO(stored[DIGEST:]), allow_pickle=False)
        except (ValueError, EOFError, OSError):  # no entry, or whole, but not ours
            return None
        with suppress(OSError):
            os.utime(entry)  # the entry was used now: the entries used longest ago go first
        return features

    def store(self, entry: Path, features: np.ndarray) -> None:
        """Write the whole entry or nothing, even if another process writes the same entry."""
        body = BytesIO()
        np.save(body, features, allow_pickle=False)
        stored = hashlib.sha256(body.getbuffer()).digest() + body.getvalue()
        with suppress(OSError):  # a full disk, or no right to write: the caller has the features
            entry.parent.mkdir(exist_ok=True)
            replace_file(entry, stored)

    def entries(self) -> list[tuple[float, Path, int]]:
        """Return when each entry was last used, its file and its size, in the order of use."""
        entries = []
        for path in self.folder.glob(f"[0-9a-f][0-9a-f]/*{ENDING}"):
            with suppress(OSError):  # another process has removed the entry
                status = path.stat()
                entries.append((status.st_mtime, path, status.st_size))
        return sorted(entries)

    def trim(self, most_bytes: int) -> int:
        """Remove the oldest entries until the rest has at most `most_bytes`; return how many."""
        entries = self.entries()
        total, n_removed = sum(size for _, _, size in entries), 0
        for _, path, size in entries:
            if total <= most_bytes:
                break
            path.unlink(missing_ok=True)
            total, n_removed = total - size, n_removed + 1
        for path in self.folder.glob("[0-9a-f][0-9a-f]/.*.unfinished"):  # of killed processes
            remove_unheld(path)
        return n_removed
