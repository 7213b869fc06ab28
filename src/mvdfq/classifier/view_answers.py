"""Answers of a classifier with views: importance and evidence of all parts together."""

from typing import Any

import numpy as np

from mvdfq.classifier.views import FittedWords
from mvdfq.explain.evidence import find_evidence
from mvdfq.explain.explanation import Explanation
from mvdfq.explain.views import (
    LEVELS,
    filter_evidence,
    filter_levels,
    with_rows,
)
from mvdfq.explain.words import Evidence
from mvdfq.gram.plan import Plan
from mvdfq.machines.filter_words import FilterMachine
from mvdfq.sequences import Sequences
from mvdfq.symbols import Symbols
from mvdfq.symbols.naming import names_of, numbered

__all__ = ["explain_views", "extra_norms", "extra_shares", "parts_of_rows", "symbols_of_parts"]


def extra_shares(views: list[Any], n_channels: int) -> np.ndarray:
    """Return the channel shares of the rows that views have beside those of the first kernel.

    First the rows of views with an encoder, then one row per channel if there are filters.
    """
    own = [view.channel_shares(n_channels) for view in views if view.has_own_rows]
    filters = np.eye(n_channels if any(not view.has_own_rows for view in views) else 0)
    return np.concatenate([*own, filters.reshape(-1, n_channels)])


def extra_norms(views: list[Any], shares: list[float], n_channels: int) -> np.ndarray:
    """Return the squared norms of the rows of `extra_shares`."""
    norms = [view.norms(n_channels) / share for view, share in zip(views, shares, strict=True)]
    pairs = list(zip(views, norms, strict=True))
    own = [norm for view, norm in pairs if view.has_own_rows]
    filters = [norm for view, norm in pairs if not view.has_own_rows]
    return np.concatenate([*own, np.sum(filters, axis=0) if filters else np.empty(0)])


def symbols_of_parts(clf: Any, X: Sequences) -> list[tuple[Plan, Symbols]]:
    """Return plan and symbols of every part that counts words, in the order of explanations."""
    words = [view for view in clf.views_ if view.has_own_rows]
    first = clf.kernel_.plan_, clf.encode(X)
    return [first, *((view.machine.reader.plan_, view.read(X)) for view in words)]


def parts_of_rows(clf: Any) -> list[str | None]:
    """Return the part of the sum that each row of an explanation belongs to; None: the first."""
    words = [view for view in clf.views_ if view.has_own_rows]
    found: list[str | None] = [None] * len(clf.kernel_.plan_.row_weights)
    for view in words:
        found += [view.name] * len(view.machine.reader.plan_.row_weights)
    filters = [view.name for view in clf.views_ if not view.has_own_rows]
    return found + filters[:1] * clf.n_channels_in_


def explain_views(plains: list[Explanation], views: list[Any], X: Sequences) -> list[Explanation]:
    """Return explanations by the first kernel with the evidence of all views added."""
    for view in (view for view in views if view.has_own_rows):
        read = view.read(X)
        pairs = zip(plains, find_evidence(view.machine, read), strict=True)
        plains = [_with_words(p, e, view, read[[i]]) for i, (p, e) in enumerate(pairs)]
    filters = [view.machine for view in views if not view.has_own_rows]
    if not filters:
        return plains
    return [_with_filters(plain, filters, X[i : i + 1]) for i, plain in enumerate(plains)]


def _with_words(
    plain: Explanation, evidence: Evidence, view: FittedWords, symbols: Symbols
) -> Explanation:
    """Return the explanation with the rows of the encoder of a view."""
    plan = view.machine.reader.plan_
    names = names_of(view.encoder, plan.n_symbols.tolist())
    n_channels = len(plain.channels)
    return with_rows(
        plain,
        evidence,
        symbols,
        [f"{view.name}: {name}" for name in view.machine.reader.row_names_],
        [[one.offsets for one in group.layouts] for group in plan.groups(0)],
        [names[r] for r in view.rows],
        lambda: view.channel_shares(n_channels),
    )


def _with_filters(plain: Explanation, filters: list[FilterMachine], X: Sequences) -> Explanation:
    """Return the explanation with one more row per channel: the filters on that channel."""
    offsets: list[Any] = []
    for d in [machine.encoder[1].dilations_[0].item() for machine in filters]:
        offsets += [[(0,)], [(0, d, 2 * d)]]
    return with_rows(
        plain,
        filter_evidence(filters, X),
        filter_levels(X),
        [f"filters on {name}" for name in plain.channels],
        offsets,
        [numbered(LEVELS)] * X.n_rows,
        lambda: np.eye(X.n_rows),
    )
