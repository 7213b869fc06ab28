"""What a class looks like: its strongest words as small curves in the units of the channels."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvdfq.explain.explanation import Explanation
from mvdfq.explain.reason import Reason
from mvdfq.pages.batches import explanations
from mvdfq.pages.choice import typical
from mvdfq.pages.run import Run

__all__ = ["class_words", "explained"]

# Sequences per class whose words are added up, and sequences in all.
MEMBERS, MOST_MEMBERS = 2, 40
WORDS, LOOKED_AT = 4, 40
# Occurrences whose curves are averaged, and frames that are shown before and after a word.
OCCURRENCES, AROUND = 30, 2


def explained(run: Run) -> dict[int, Explanation]:
    """Return explanations by the reference of a few typical members of each class."""
    per_class = max(1, min(MEMBERS, MOST_MEMBERS // max(len(run.labels), 1)))
    places = [p for mine in typical(run, per_class) for p in mine][:MOST_MEMBERS]
    try:
        whys = list(explanations(run.reference, run.X[run.tested[places]])) if places else []
    except ValueError:  # not every kernel counts words
        return {}
    return dict(zip(places, whys, strict=True))


@dataclass
class _Found:
    """A word, its evidence in some sequences, and where it occurs."""

    reason: Reason
    evidence: float = 0.0
    seen: list[tuple[float, int, Reason]] = field(default_factory=list)


def class_words(run: Run, whys: dict[int, Explanation]) -> list[list[dict[str, Any]]]:
    """Return the strongest words of each class, with curves and a sequence where they occur."""
    return [[_word(run, one) for one in _strongest(run, whys, c)] for c in range(len(run.labels))]


def _strongest(run: Run, whys: dict[int, Explanation], c: int) -> list[_Found]:
    """Add up the evidence of equal words; take the strongest word of each row."""
    found: dict[Any, _Found] = {}
    for place, why in whys.items():
        if run.truth[place] != c:
            continue
        for reason in why.top(LOOKED_AT, run.labels[c]):
            key = reason.row, reason.symbols, reason.offsets
            one = found.setdefault(key, _Found(reason))
            one.evidence += reason.evidence
            one.seen.append((reason.evidence, place, reason))
    order = sorted(found.values(), key=lambda one: -one.evidence)
    rows: dict[str, _Found] = {}
    for one in order:
        # letters have one row: then all words are of this row
        row = one.reason.row if run.X.n_rows > 1 else str(len(rows))
        if one.evidence > 0:
            rows.setdefault(row, one)
    return list(rows.values())[:WORDS]


def _word(run: Run, one: _Found) -> dict[str, Any]:
    evidence, place, strongest = max(one.seen, key=lambda seen: seen[0])
    channel = _channel(run, one.reason)
    return {
        "row": one.reason.row,
        "symbols": list(one.reason.symbols),
        "offsets": list(one.reason.offsets),
        "evidence": one.evidence / len(one.seen),
        "members": len(one.seen),
        "sequence": place,
        "frame": strongest.frames[0],
        "channel": channel,
        "curve": None if channel is None else _mean_curve(run, one, channel),
        "example": evidence,
    }


def _channel(run: Run, reason: Reason) -> int | None:
    """Return the channel with the largest share in the row; None for letters or without shares."""
    names = run.channel_names
    if not reason.channels or reason.channels[0] not in names:
        return None
    c = names.index(reason.channels[0])
    return None if run.X.symbolic_mask[c] else c


def _mean_curve(run: Run, one: _Found, channel: int) -> dict[str, Any]:
    """Average the values of a channel over the occurrences of a word; with their spread."""
    span = one.reason.offsets[-1] + 1
    pieces = []
    for _, place, reason in one.seen:
        row = run.X[int(run.tested[place])][channel]
        padded = np.concatenate([np.full(AROUND, np.nan), row, np.full(AROUND + span, np.nan)])
        pieces += [padded[f : f + span + 2 * AROUND] for f in reason.frames[:OCCURRENCES]]
    stack = np.array(pieces[:OCCURRENCES])
    known = (~np.isnan(stack)).sum(axis=0)
    filled = np.where(np.isnan(stack), 0, stack)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = filled.sum(axis=0) / known
        spread = np.sqrt(np.maximum((filled**2).sum(axis=0) / known - mean**2, 0))
    plain = [[None if np.isnan(v) else float(v) for v in line] for line in (mean, spread)]
    return {"first": -AROUND, "mean": plain[0], "std": plain[1], "n": len(stack)}
