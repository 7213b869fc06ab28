"""Versions of installed packages, and digests of the source files that a result depends on."""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def version_of(name: str) -> str:
    """Return the version of a package; "unknown" if the package runs without being installed.

    >>> version_of("no such package")
    'unknown'
    """
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


__version__ = version_of("mvdfq")


@cache
def source_digest(*modules: str, package: Path = PACKAGE) -> str:
    """Return a digest of some modules and of all modules of this package that they import.

    A kept record is used only while this digest stays the same: a changed kernel changes the
    digest, a changed command line does not, because no computation imports it.
    """
    content = hashlib.sha256()
    for path in sorted(source_files(*modules, package=package)):
        content.update(path.relative_to(package).as_posix().encode() + b"\0")
        content.update(path.read_bytes() + b"\0")
    return content.hexdigest()[:16]


def source_files(*modules: str, package: Path = PACKAGE) -> set[Path]:
    """Return the files and the data of some modules and of all modules that they import."""
    files: set[Path] = set()
    waiting = [*modules]
    while waiting:
        module = waiting.pop()
        top, *parts = module.split(".")
        if top != "mvdfq" or not parts:  # the package itself only lists names for users
            continue
        place = package.joinpath(*parts)
        path = next(filter(Path.is_file, (place / "__init__.py", place.with_suffix(".py"))), None)
        if path is not None and path not in files:  # else a name inside a module
            # Data of a module lie beside the module, under its name.
            data = [path.with_suffix(ending) for ending in (".csv", ".npz", ".toml")]
            files |= {path, *filter(Path.is_file, data)}
            # Python runs the folder above a module first.
            waiting += [module.rpartition(".")[0], *_imported(path)]
    return files


def _imported(path: Path) -> Iterator[str]:
    """Yield the names that a file imports; `from a import b` yields `a` and `a.b`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
