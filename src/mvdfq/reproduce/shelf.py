"""A shelf: the last few results of slow work stay in memory."""

from collections.abc import Callable
from typing import Any

__all__ = ["Shelf"]


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
