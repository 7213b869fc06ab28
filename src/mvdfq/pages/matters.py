"""What matters: the weight of channels, views and layouts, and what removing a channel costs."""

from typing import Any

import numpy as np
from sklearn.base import clone

from mvdfq.evaluation import evaluate
from mvdfq.frames.base import UnknownShares
from mvdfq.pages.class_words import Tally
from mvdfq.pages.run import Run

__all__ = ["matters", "removal"]


def matters(run: Run, tally: Tally | None) -> dict[str, Any]:
    """Return the importance of channels, and shares of rows, views and layouts in evidence."""
    found: dict[str, Any] = {"channels": None, "rows": [], "views": [], "layouts": [], "note": ""}
    try:
        found["channels"] = run.reference.feature_importance_.tolist()
    except (AttributeError, UnknownShares, ValueError) as error:
        found["note"] = str(error)
    if tally is not None:
        terms, names = tally.first.row_terms, tally.first.row_names
        kinds = [_kind(run, *row) for row in zip(terms, names, strict=True)]
        found["rows"] = _shares(names, tally.rows)
        found["views"] = _shares(kinds, tally.rows)
        found["layouts"] = _layouts(run, tally)
    return found


def _shares(names: list[str], strengths: np.ndarray, ordered: bool = True) -> list[dict[str, Any]]:
    """Add up what has the same name; return the share of each name, largest first."""
    total: dict[str, float] = {}
    for name, share in zip(names, strengths / max(strengths.sum(), 1e-300), strict=True):
        total[name] = total.get(name, 0.0) + float(share)
    order = sorted(total, key=lambda name: -total[name]) if ordered else total
    return [{"name": name, "share": total[name]} for name in order]


def _kind(run: Run, term: str, name: str) -> str:
    """Return what a row is: filters, or single rows or pairs of rows of a term or a view."""
    if not _reads_symbols(run, term):
        return term
    encoders = next(one.encoders for one in run.reference.terms_ if one.name == term)
    views = {term} | {view for step in encoders for view, _ in getattr(step, "views_", [])}
    view, _, rest = name.partition(": ")
    view, rest = (view, rest) if view in views else ("", name)
    kind = "pairs of rows" if " & " in rest and rest not in run.channel_names else "single rows"
    return f"{view}, {kind}" if view else kind


def _reads_symbols(run: Run, term: str) -> bool:
    return any(one.name == term and hasattr(one, "reader") for one in run.reference.terms_)


def _layouts(run: Run, tally: Tally) -> list[dict[str, Any]]:
    """Return the share of every group of layouts in the evidence, in the order of groups."""
    pairs = zip(tally.first.group_terms, tally.first.offsets, strict=True)
    names = [
        _layout_name(group) if _reads_symbols(run, term) else f"{term}, {_layout_name(group)}"
        for term, group in pairs
    ]
    return _shares(names, tally.layouts.sum(axis=0), ordered=False)


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
