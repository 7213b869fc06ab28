"""The experiments of the paper, run again: `run` computes a table, `TABLES` names them."""

from typing import Any

__all__ = ["TABLES", "run"]


def __getattr__(name: str) -> Any:
    """Import the work when it is asked for: the published figures are shown without it."""
    if name not in __all__:
        raise AttributeError(f"module 'mvdfq.reproduce' has no attribute {name!r}")
    from mvdfq.reproduce import api

    return getattr(api, name)
