"""What was computed before, kept in a folder: a run that was broken off goes on from there."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from mvdfq._utils.files import replace_file

__all__ = ["Store", "default_folder"]

# Records of another format are left alone and made again.
FORMAT = 1


def default_folder() -> Path:
    """Return where results are kept unless the user says otherwise: the cache of the user."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "mvdfq" / "reproduce"


class Store:
    """A folder of records, each under a digest of what it is the result of.

    Parameters
    ----------
    folder : str or Path
        Where the records lie; it is made if it is not there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from mvdfq.reproduce.store import Store
    >>> with TemporaryDirectory() as folder:
    ...     store = Store(folder)
    ...     store.put({"fold": 1}, {"error": 20.0})
    ...     store.get({"fold": 1}), store.get({"fold": 2})
    ({'error': 20.0}, None)
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = f"{folder} cannot be a folder for results ({error.strerror})"
            raise ValueError(f"{reason}; name another as cache.") from None

    def get(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """Return the record of a key; None where there is none, or a damaged one."""
        try:
            stored = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        is_ours = isinstance(stored, dict) and stored.get("key") == _plain(key)
        return stored.get("record") if is_ours else None

    def put(self, key: dict[str, Any], record: dict[str, Any]) -> None:
        """Write a record at once or not at all."""
        replace_file(self._path(key), json.dumps({"key": key, "record": record}).encode())

    def _path(self, key: dict[str, Any]) -> Path:
        text = json.dumps([FORMAT, key], sort_keys=True)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def _plain(key: dict[str, Any]) -> Any:
    """Return the key as it comes back from a file."""
    return json.loads(json.dumps(key))
