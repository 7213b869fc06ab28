"""Records of finished work, kept in a folder: an interrupted run continues from there."""

import hashlib
import json
from pathlib import Path
from typing import Any

from mvdfq._utils.files import replace_file

__all__ = ["Store"]

# Records of another format are not used. Format 2: one prediction for each multi-class scheme.
FORMAT = 2


class Store:
    """A folder of records. A digest of everything that a record depends on is its file name."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = f"cache={str(folder)!r} cannot be created as a folder ({error.strerror})"
            raise ValueError(f"{reason}; name another folder.") from None

    def get(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """Return the record of a key; None if the record is missing or damaged."""
        try:
            stored = json.loads(self.path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        is_ours = isinstance(stored, dict) and stored.get("key") == _plain(key)
        return stored.get("record") if is_ours else None

    def put(self, key: dict[str, Any], record: dict[str, Any]) -> None:
        """Write a record as a whole; an interruption leaves no half-written file."""
        replace_file(self.path(key), json.dumps({"key": key, "record": record}).encode())

    def path(self, key: dict[str, Any]) -> Path:
        """Return the file of a key."""
        text = json.dumps([FORMAT, key], sort_keys=True)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def _plain(key: dict[str, Any]) -> Any:
    """Return the key as JSON gives it back."""
    return json.loads(json.dumps(key))
