"""Finished work is kept: records in a folder, and the last results of slow work in memory."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mvdfq._utils.errors import ParameterError
from mvdfq._utils.files import replace_file

# Records of another format are not used. Format 2: one prediction for each multi-class scheme.
FORMAT = 2
Record = dict[str, Any]


class Store:
    """A folder of records. A digest of everything that a record depends on is its file name."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"{str(folder)!r} cannot be created as a folder ({error.strerror})"
            raise ParameterError("cache", problem, "name another folder") from None

    def get(self, key: dict[str, Any]) -> Record | None:
        """Return the record of a key; None if the record is missing or damaged."""
        try:
            stored = json.loads(self.path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        # the key as JSON gives it back: two keys may have the same digest, and files may be moved
        is_ours = isinstance(stored, dict) and stored.get("key") == json.loads(json.dumps(key))
        return stored.get("record") if is_ours else None

    def put(self, key: dict[str, Any], record: Record) -> None:
        """Write a record as a whole; an interruption leaves no half-written file."""
        replace_file(self.path(key), json.dumps({"key": key, "record": record}).encode())

    def path(self, key: dict[str, Any]) -> Path:
        """Return the file of a key."""
        text = json.dumps([FORMAT, key], sort_keys=True)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


class Shelf:
    """Keeps at most `most` results; the result that was used longest ago is dropped first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the result of a key; make the result if it is not kept."""
        if key not in self._kept:
            while len(self._kept) >= self.most:  # before `make`, which needs the memory
                del self._kept[next(iter(self._kept))]
            self._kept[key] = make()
        self._kept[key] = self._kept.pop(key)
        return self._kept[key]
