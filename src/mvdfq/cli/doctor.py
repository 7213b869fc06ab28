"""``mvdfq doctor``: what is installed; ``mvdfq cache``: kept features of sound files."""

import os
import platform
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli import options as o
from mvdfq.cli.output import Format, show_facts

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "soundfile", "rich", "typer")
OPTIONAL = ("matplotlib", "pandas", "pyarrow", "torch", "dask", "aeon", "skops")


def doctor(format: o.Output = Format.human) -> None:
    """Show versions, processors, the compiler cache and missing packages.

    Example: mvdfq doctor --format json
    """
    facts = {**_machine(), **_versions(), **_compiler(), **_sound(), **_further()}
    show_facts(facts, format)


def _machine() -> dict[str, Any]:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": usable,
    }


def _versions() -> dict[str, Any]:
    from mvdfq._utils.version import version_of

    known = {name: version_of(name) for name in ("mvdfq", *PACKAGES, *OPTIONAL)}
    absent = {name: "not installed" + ", optional" * (name in OPTIONAL) for name in known}
    return {name: absent[name] if text == "unknown" else text for name, text in known.items()}


def _compiler() -> dict[str, Any]:
    """Return the folder of compiled functions, and whether it can be written."""
    from mvdfq._engines import cpu

    cache = getattr(cpu.emit, "_cache", None)  # there is no cache if the compiler is switched off
    path = getattr(cache, "cache_path", None)
    if path is None:
        return {"compiler cache": "off"}
    writable = os.access(path if os.path.isdir(path) else os.path.dirname(path), os.W_OK)
    return {"compiler cache": f"{path}{'' if writable else ' (cannot be written)'}"}


def _sound() -> dict[str, Any]:
    try:
        import soundfile
    except (ImportError, OSError) as error:
        return {"sound formats": f"none: {error}"}
    wanted = {"WAV", "FLAC", "OGG", "MP3", "AU"}
    return {"sound formats": ", ".join(sorted(wanted & set(soundfile.available_formats())))}


def _further() -> dict[str, Any]:
    """Return the engines beside the processor."""
    from importlib.util import find_spec

    from mvdfq._engines.choice import card_name

    gpu, cluster = "torch is not installed: pip install 'mvdfq[gpu]'", "Dask is not installed"
    if find_spec("torch"):
        gpu = card_name() or "torch finds no graphics card"
    if find_spec("distributed"):
        cluster = "with --scheduler ADDRESS"
    return {"GPU": gpu, "cluster": cluster}


# What to do with the cache.
Action = StrEnum("Action", ["show", "clear"])


def cache(
    action: Annotated[Action, typer.Argument(help="show or clear.")] = Action.show,
    folder: Annotated[
        Path | None, typer.Option("--cache", help="Another folder, as given to --cache before.")
    ] = None,
    format: o.Output = Format.human,
) -> None:
    """Show or clear the cache of audio features.

    The variable MVDFQ_CACHE_SIZE sets the largest size (2GiB); the features that were used longest
    ago are removed first. MVDFQ_CACHE names another folder.
    Example: mvdfq cache clear
    """
    from mvdfq.io.sound.feature_cache import FeatureCache, features_folder, size_limit

    place = folder or features_folder()
    entries = FeatureCache(place).entries() if place.is_dir() else []
    facts = {"folder": str(place), "recordings": len(entries)}
    size = sum(entry.size for entry in entries)
    if action is Action.clear:
        removed = FeatureCache(place).trim(0) if entries else 0
        facts = {"folder": str(place), "removed recordings": removed, "freed bytes": size}
    else:
        oldest = entries[0].used if entries else None
        day = None if oldest is None else time.strftime("%Y-%m-%d", time.localtime(oldest))
        facts |= {"bytes": size, "limit in bytes": size_limit(), "oldest use": day}
    show_facts({k: v for k, v in facts.items() if v is not None}, format)
