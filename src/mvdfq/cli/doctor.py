"""``mvdfq doctor``: what is installed; ``mvdfq cache``: kept features of sound files."""

import os
import platform
import time
from enum import StrEnum
from pathlib import Path
from typing import Any

from mvdfq.cli.output import Format, show_facts

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "soundfile", "rich", "typer")
OPTIONAL = ("matplotlib", "pandas", "pyarrow", "torch", "dask", "aeon", "skops")


def doctor(format: Format = Format.human) -> None:
    """Show versions, processors, the compiler cache and missing packages.

    Example: mvdfq doctor --format json
    """
    from mvdfq._utils.version import version_of

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    facts: dict[str, Any] = {"python": platform.python_version(), "system": platform.platform()}
    facts["processors"] = usable
    for name in ("mvdfq", *PACKAGES, *OPTIONAL):
        absent = "not installed" + ", optional" * (name in OPTIONAL)
        version = version_of(name)
        facts[name] = absent if version == "unknown" else version
    show_facts(facts | _engines(), format)


def _engines() -> dict[str, str]:
    """Return the cache of compiled functions, the sound formats, and further engines."""
    from importlib.util import find_spec

    from mvdfq._engines import cpu
    from mvdfq._engines.choice import card_name

    # without the compiler numba writes no cache
    path = getattr(getattr(cpu.emit, "_cache", None), "cache_path", None)
    compiled = "off" if path is None else path
    if path and not os.access(path if os.path.isdir(path) else os.path.dirname(path), os.W_OK):
        compiled += " (cannot be written)"
    try:
        import soundfile

        wanted = {"WAV", "FLAC", "OGG", "MP3", "AU"}
        sound = ", ".join(sorted(wanted & set(soundfile.available_formats())))
    except (ImportError, OSError) as error:
        sound = f"none: {error}"
    gpu, cluster = "torch is not installed: pip install 'mvdfq[gpu]'", "Dask is not installed"
    if find_spec("torch"):
        gpu = card_name() or "torch finds no graphics card"
    if find_spec("distributed"):
        cluster = "with --scheduler ADDRESS"
    return {"compiler cache": compiled, "sound formats": sound, "GPU": gpu, "cluster": cluster}


# What to do with the cache.
Action = StrEnum("Action", ["show", "clear"])


def cache(
    action: Action = Action.show, folder: Path | None = None, format: Format = Format.human
) -> None:
    """Show or clear the cache of audio features.

    The variable MVDFQ_CACHE_SIZE sets the largest size (2GiB); the features that were used longest
    ago are removed first. MVDFQ_CACHE names another folder.
    Example: mvdfq cache clear
    """
    from mvdfq._utils.files import cache_folder
    from mvdfq.io.sound.feature_cache import FeatureCache, size_limit

    place = folder or cache_folder("features")
    entries = FeatureCache(place).entries() if place.is_dir() else []
    size = sum(size for _, _, size in entries)
    facts: dict[str, Any] = {"folder": str(place)}
    if action is Action.clear:
        removed = FeatureCache(place).trim(0) if entries else 0
        facts |= {"removed recordings": removed, "freed bytes": size}
    else:
        facts |= {"recordings": len(entries), "bytes": size, "limit in bytes": size_limit()}
        if entries:
            used, _, _ = entries[0]
            facts["oldest use"] = time.strftime("%Y-%m-%d", time.localtime(used))
    show_facts(facts, format)
