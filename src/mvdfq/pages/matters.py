"""What matters: the weight of channels, views and layouts, and what removing a channel costs."""

from typing import Any

import numpy as np
from sklearn.base import clone

from mvdfq.evaluation import evaluate
from mvdfq.frames.base import UnknownShares
from mvdfq.pages.run import Run

__all__ = ["matters", "removal"]

# How the names of the rows of filters begin.
FILTERS = "filters on "


def matters(run: Run, whys: list[Any]) -> dict[str, Any]:
    """Return the importance of channels and rows, and shares of views and layouts in evidence.

    `whys` are explanations by the reference, which the shares of views and layouts come from.
    """
    found: dict[str, Any] = {"channels": None, "rows": [], "views": [], "layouts": [], "note": ""}
    try:
        found["channels"] = run.reference.feature_importance_.tolist()
    except (AttributeError, UnknownShares, ValueError) as error:
        found["note"] = str(error)
    if whys:
        found["rows"] = _rows(whys)
        found["views"] = _grouped(found["rows"])
        found["layouts"] = _layouts(whys)
    return found


def _rows(whys: list[Any]) -> list[dict[str, Any]]:
    """Return the share of every row in the evidence, largest first."""
    strength = np.mean([np.abs(why.by_frame).sum(axis=(0, 2)) for why in whys], axis=0)
    shares = strength / max(strength.sum(), 1e-300)
    order = np.argsort(-shares, kind="stable")
    names = whys[0].row_names
    return [{"name": names[r], "share": float(shares[r])} for r in order.tolist()]


def _grouped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add up rows by kind: pairs of rows, filters, views by the name before the colon."""
    total: dict[str, float] = {}
    for row in rows:
        kind = _kind(row["name"])
        total[kind] = total.get(kind, 0.0) + row["share"]
    return [{"name": name, "share": share} for name, share in
            sorted(total.items(), key=lambda pair: -pair[1])]  # fmt: skip


def _kind(name: str) -> str:
    if name.startswith(FILTERS):
        return "filters"
    view, colon, rest = name.partition(": ")
    kind = "pairs of rows" if "&" in (rest or name) else "single rows"
    return f"{view}, {kind}" if colon else kind


def _layouts(whys: list[Any]) -> list[dict[str, Any]]:
    """Return the share of every group of layouts in the evidence, in the order of groups."""
    strength = np.mean([np.abs(why.evidence.by_layout).sum(axis=(0, 1)) for why in whys], axis=0)
    shares = strength / max(strength.sum(), 1e-300)
    by_row = np.sum([np.abs(why.evidence.by_layout).sum(axis=0) for why in whys], axis=0)
    filters = [name.startswith(FILTERS) for name in whys[0].row_names]
    of_filters = by_row[filters].sum(axis=0) > by_row[np.logical_not(filters)].sum(axis=0)
    names = [
        f"filters, {_layout_name(group)}" if mine else _layout_name(group)
        for group, mine in zip(whys[0].offsets, of_filters, strict=True)
    ]
    total: dict[str, float] = {}
    for name, share in zip(names, shares.tolist(), strict=True):
        total[name] = total.get(name, 0.0) + share
    return [{"name": name, "share": share} for name, share in total.items()]


def _layout_name(group: list[tuple[int, ...]]) -> str:
    first = group[0] or (0,)
    name = "frames " + " ".join(f"+{offset}" for offset in first)
    name = "single frames" if first == (0,) else name
    return name if len(group) == 1 else f"{name} and {len(group) - 1} more"


def removal(run: Run, protocol: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the accuracy without each channel, measured by evaluating again; None if one channel.

    `protocol` holds the arguments of `mvdfq.evaluate`.
    """
    if run.X.n_rows < 2:
        return None
    found = []
    for c in range(run.X.n_rows):
        kept = np.delete(np.arange(run.X.n_rows), c)
        result = evaluate(clone(run.estimator), _channels(run.X, kept), run.y, **protocol)
        lost = run.evaluation.accuracy - result.accuracy
        found.append({"channel": c, "accuracy": result.accuracy, "lost": lost})
    return found


def _channels(X: Any, kept: np.ndarray) -> Any:
    from dataclasses import replace

    names = X.channel_names
    return replace(
        X,
        data=X.data[kept],
        channel_names=None if names is None else tuple(names[c] for c in kept),
        symbolic=tuple(X.symbolic[c] for c in kept) if X.symbolic else (),
    )
