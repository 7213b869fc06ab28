"""Folders that belong to the user, where the operating system expects them."""

from pathlib import Path

from platformdirs import user_cache_path

__all__ = ["cache_folder"]


def cache_folder(*parts: str) -> Path:
    """Return a folder inside the cache folder of mvdfq; the folder is not created.

    On Linux this is ``$XDG_CACHE_HOME/mvdfq``, or ``~/.cache/mvdfq`` if the variable is not set.
    On macOS and Windows it is the folder that the operating system provides for caches.

    Examples
    --------
    >>> cache_folder("reproduce").parts[-2:]
    ('mvdfq', 'reproduce')
    """
    return user_cache_path("mvdfq", appauthor=False).joinpath(*parts)
