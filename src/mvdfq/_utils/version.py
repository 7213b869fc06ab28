"""Versions of installed packages."""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["__version__", "version_of"]


def version_of(name: str) -> str:
    """Return the version of a package; "unknown" if the package runs without being installed.

    Examples
    --------
    >>> version_of("no such package")
    'unknown'
    """
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


__version__ = version_of("mvdfq")
