"""``mvdfq cache``: the features of sound files that commands keep."""

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mvdfq.cli import options as o
from mvdfq.cli.output import Format, show_facts

__all__ = ["cache"]


class Action(StrEnum):
    """What to do with the cache."""

    show = "show"
    clear = "clear"


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
