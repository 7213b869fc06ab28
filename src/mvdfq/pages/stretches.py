"""What a class looks like: the stretches of real sequences with the most evidence for the class."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq.explain.explanation import Explanation
from mvdfq.explain.moments import find_moments, find_regions, on_strand
from mvdfq.pages.details import curve, explanations, is_joined, letters_of
from mvdfq.pages.run import Run

# Frames of the sequences that are explained: half a minute. A class of more frames is looked at in
# some of its sequences, evenly drawn.
MOST_FRAMES = 2**15
# Stretches of a class, each from another sequence, and candidates of one sequence.
SHOWN, CANDIDATES = 4, 3
# Other sequences have such a stretch if theirs has at least this share of its evidence.
LIKE = 0.5
# Points of a curve; the stretch takes its middle half.
MOST_POINTS = 120


@dataclass
class _Found:
    """A stretch of a judged sequence: frames, evidence, channels and words."""

    place: int
    frames: tuple[int, int]
    evidence: float
    channels: tuple[str, ...] = ()
    what: str = ""


def stretches(run: Run) -> list[list[dict[str, Any]]]:
    """Return the strongest stretches of each class; none if the kernel does not count words."""
    places, best = _places(run), []
    found: list[list[_Found]] = [[] for _ in run.labels]
    try:
        pairs = zip(places, explanations(run.reference, run.X[run.tested[places]]), strict=True)
        for place, why in pairs:
            c = int(run.truth[place])
            mine = list(_candidates(run, why, int(place), run.labels[c]))
            found[c] += mine
            joined = is_joined(run, int(run.tested[place]))
            best.append([_strongest(run, why, label, mine, joined) for label in run.labels])
    except ValueError:  # not every kernel counts words
        return [[] for _ in run.labels]
    truth, known = run.truth[places], np.array(best)
    return [
        [_entry(run, one, known[:, c], truth == c) for one in _chosen(mine)]
        for c, mine in enumerate(found)
    ]


def _places(run: Run) -> np.ndarray:
    """Return the judged sequences to explain: all sequences, or some of every class."""
    known = set(run.reference.classes_.tolist())
    lengths, found = run.X.lengths[run.tested], []
    for c, label in enumerate(run.labels):
        members = np.flatnonzero(run.truth == c)
        if label in known and len(members):
            most = MOST_FRAMES // len(run.labels) / max(lengths[members].mean(), 1)
            n = min(len(members), max(int(most), 2))
            found.append(members[np.arange(n) * len(members) // n])
    return np.concatenate([*found, np.empty(0, int)]).astype(int)


def _candidates(run: Run, why: Explanation, place: int, label: Any) -> Iterator[_Found]:
    """Yield stretches of a sequence that speak for its class."""
    if why.are_letters and run.X.n_rows == 1:
        joined = is_joined(run, int(run.tested[place]))
        for region in find_regions(why, CANDIDATES, label, joined):
            yield _Found(place, (region.first - 1, region.last), region.evidence)
        return
    for one in find_moments(why, CANDIDATES, label):
        yield _Found(place, one.frames, one.evidence, one.channels, one.what)


def _strongest(run: Run, why: Explanation, label: Any, mine: list[_Found], joined: bool) -> float:
    """Return the strongest evidence for a class in a stretch of the same length."""
    if label not in run.reference.classes_.tolist() or not mine:
        return -np.inf
    column, sign = why.column(label)
    width = mine[0].frames[1] - mine[0].frames[0]
    total = np.cumsum(np.append(0.0, on_strand(sign * why.by_time[column], joined)))
    return float((total[width:] - total[:-width]).max(initial=-np.inf))


def _chosen(found: list[_Found]) -> list[_Found]:
    """Return the strongest stretches of different sequences, of different channels first."""
    order = sorted((one for one in found if one.evidence > 0), key=lambda one: -one.evidence)
    by_channel: dict[Any, _Found] = {}
    for one in order:
        if all(one.place != other.place for other in by_channel.values()):
            by_channel.setdefault(one.channels[:1] or len(by_channel), one)
    rest = [one for one in order if one.place not in {two.place for two in by_channel.values()}]
    chosen = [*by_channel.values(), *{one.place: one for one in reversed(rest)}.values()][:SHOWN]
    return sorted(chosen, key=lambda one: -one.evidence)


def _entry(run: Run, one: _Found, best: np.ndarray, mine: np.ndarray) -> dict[str, Any]:
    x, (a, b) = run.X[int(run.tested[one.place])], one.frames
    like, names = best >= LIKE * one.evidence, run.channel_names
    first, last = max(a - (b - a) // 2, 0), min(b + (b - a) // 2, x.shape[1])
    channels = [names.index(name) for name in one.channels if name in names]
    shown = [c for c in channels if not run.X.symbolic_mask[c]]
    return {
        "sequence": one.place,
        "frames": [a, b],
        "evidence": one.evidence,
        "what": one.what,
        "in_class": [int(like[mine].sum()), int(mine.sum())],
        "in_others": [int(like[~mine].sum()), int((~mine).sum())],
        "window": [first, last],
        "channels": shown,
        "curves": [curve(x[c, first:last], MOST_POINTS) for c in shown],
        "letters": letters_of(x[0, a:b]) if run.X.symbolic == (True,) else None,
    }
