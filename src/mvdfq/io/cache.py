"""A cache folder for extracted features.

The name of an entry comes from the content of the sound file and the recipe. A renamed file keeps
its entry, and a changed file gets a new entry. A cache only saves time: an entry that cannot be
read is computed again, and an entry that cannot be written is not an error.
"""

import hashlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.files import replace_file
from mvdfq.io.base import ReadError

__all__ = ["FeatureCache"]

DIGEST = 32  # bytes of a SHA-256


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
        return self.folder / content[:2] / f"{content[2:]}-{recipe_key}.features"

    def load(self, entry: Path) -> np.ndarray | None:
        """Return the features of an entry; None if there is no entry, or a damaged entry."""
        try:
            stored = entry.read_bytes()
        except OSError:
            return None
        digest, body = stored[:DIGEST], stored[DIGEST:]
        if hashlib.sha256(body).digest() != digest:
            return None
        try:
            return np.load(BytesIO(body), allow_pickle=False)
        except (ValueError, EOFError, OSError):  # whole, but not ours
            return None

    def store(self, entry: Path, features: np.ndarray) -> None:
        """Write the whole entry or nothing, even if another process writes the same entry."""
        body = BytesIO()
        np.save(body, features, allow_pickle=False)
        stored = hashlib.sha256(body.getbuffer()).digest() + body.getvalue()
        try:
            entry.parent.mkdir(exist_ok=True)
            replace_file(entry, stored)
        except OSError:  # a full disk, or no right to write: the caller has the features anyway
            return
