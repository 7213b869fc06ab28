"""Folders that belong to the user, where the operating system expects them."""

import os
from pathlib import Path

from platformdirs import user_cache_path

__all__ = ["cache_folder"]


def cache_folder(*parts: str) -> Path:
    """Return a folder inside the cache folder of mvdfq; the folder is not created.

    The variable MVDFQ_CACHE names the cache folder. Without it the folder is, on Linux,
    ``$XDG_CACHE_HOME/mvdfq``, or ``~/.cache/mvdfq`` if that variable is not set; on macOS and
    Windows it is the folder that the operating system provides for caches.

    Examples
    --------
    >>> cache_folder("reproduce").name
    'reproduce'
    """
    chosen = os.environ.get("MVDFQ_CACHE")
    base = Path(chosen) if chosen else user_cache_path("mvdfq", appauthor=False)
    return base.joinpath(*parts)
