"""Features that were extracted before, kept in a folder under what they were made from.

An entry is named after the content of the sound file and the recipe, so that neither a renamed
file nor a changed one can be mistaken. A cache only saves time: what cannot be read is made
again, and what cannot be written is left.
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
            problem = f"cannot be made a cache folder ({error.strerror})"
            raise ReadError(folder, problem, "name another folder, or none") from None

    def entry(self, file: Any, recipe_key: str) -> Path:
        """Return where the features of an open file belong; the file is back at its start."""
        content = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        # Two letters of the digest as a sub-folder keep folders small with a million files.
        return self.folder / content[:2] / f"{content[2:]}-{recipe_key}.features"

    def load(self, entry: Path) -> np.ndarray | None:
        """Return the features of an entry; None where there are none, or damaged ones."""
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
        """Write an entry at once or not at all, whoever else writes the same one."""
        body = BytesIO()
        np.save(body, features, allow_pickle=False)
        stored = hashlib.sha256(body.getbuffer()).digest() + body.getvalue()
        try:
            entry.parent.mkdir(exist_ok=True)
            replace_file(entry, stored)
        except OSError:  # the disk is full, or not ours to write: the features are there anyway
            return
