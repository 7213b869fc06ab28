"""What a class looks like: the stretches of real sequences with the most evidence for the class."""

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

from mvdfq.explain.explanation import Explanation
from mvdfq.explain.moments import Moment, find_moments, has_both_strands, on_strand
from mvdfq.pages.details import curve, explanations, letters_of
from mvdfq.pages.run import Run
from mvdfq.sequences import Sequences
from mvdfq.sequences.containers import offsets_of

# Frames that are explained: some sequences of every class, evenly drawn, and of a long recording
# the middle.
MOST_FRAMES, LONGEST = 2**14, 2**11
# Stretches of a class, each from another sequence, and candidates of one sequence.
SHOWN, CANDIDATES = 4, 3
# Other sequences have such a stretch if theirs has at least this share of its evidence.
LIKE = 0.5
# Points of a curve; the stretch takes its middle half.
MOST_POINTS = 120

# A judged sequence, and one of its moments.
Stretch = tuple[int, Moment]


def stretches(run: Run) -> list[list[dict[str, Any]]]:
    """Return the strongest stretches of each class; none if the kernel does not count words."""
    candidates: list[list[Stretch]] = [[] for _ in run.labels]
    classes, best = [], []
    try:
        for f, places in _places(run).items():
            pieces, firsts = _pieces(run, places)
            is_whole = pieces.data.shape[1] == run.X.lengths[run.tested[places]].sum()
            whys = explanations(run, f, pieces, places if is_whole else None)
            for place, first, why in zip(places, firsts, whys, strict=True):
                c = int(run.truth[place])
                moments = find_moments(why, CANDIDATES, run.labels[c])
                for moment in moments:
                    frames = first + moment.frames[0], first + moment.frames[1]
                    candidates[c].append((place, replace(moment, frames=frames)))
                classes.append(c)
                best.append([_strongest(why, label, moments) for label in run.labels])
    except ValueError:  # not every kernel counts words
        return [[] for _ in run.labels]
    truth, known = np.array(classes), np.array(best)
    return [
        [
            _entry(run, stretch, known[:, c], truth == c) | logo(stretch[1], members)
            for stretch in chosen(members)
        ]
        for c, members in enumerate(candidates)
    ]


def _places(run: Run) -> dict[int, list[int]]:
    """Return judged sequences of every class, by the classifier that explains them."""
    lengths, by_fold = np.minimum(run.X.lengths[run.tested], LONGEST), defaultdict(list)
    for c, label in enumerate(run.labels):
        members = np.flatnonzero(run.truth == c)
        mean = max(lengths[members].mean(), 1) if len(members) else 1
        n = min(len(members), max(int(MOST_FRAMES // len(run.labels) / mean), SHOWN))
        for place in members[np.arange(n) * len(members) // max(n, 1)].tolist():
            f = int(run.fold_of[place])
            f = f if f in run.recorder.kept else 0
            if label in run.recorder.classes[f].tolist():
                by_fold[f].append(place)
    return by_fold


def _pieces(run: Run, places: list[int]) -> tuple[Sequences, list[int]]:
    """Return sequences, of long recordings the middle, and the first frame of each."""
    X = run.X[run.tested[places]]
    if X.lengths.max(initial=0) <= LONGEST or X.symbolic_mask.any():
        return X, [0] * len(places)
    firsts = np.maximum(X.lengths - LONGEST, 0) // 2
    stops = X.offsets[:-1] + firsts + np.minimum(X.lengths, LONGEST)
    cuts = zip((X.offsets[:-1] + firsts).tolist(), stops.tolist(), strict=True)
    data = np.concatenate([X.data[:, a:b] for a, b in cuts], axis=1)
    offsets = offsets_of(np.minimum(X.lengths, LONGEST).tolist())
    return replace(X, data=data, offsets=offsets), firsts.tolist()


def _strongest(why: Explanation, label: Any, moments: list[Moment]) -> float:
    """Return the strongest evidence for a class in a stretch of the same length."""
    if not moments or not any(label in np.atleast_1d(column) for column in why.labels):
        return -np.inf
    column, sign = why.column(label)
    first, stop = moments[0].frames
    evidence = on_strand(sign * why.by_frame[column].sum(axis=0), has_both_strands(why))
    total = np.cumsum(np.append(0.0, evidence))
    return float((total[stop - first :] - total[: first - stop]).max(initial=-np.inf))


def chosen(candidates: list[Stretch]) -> list[Stretch]:
    """Return the strongest stretches of different sequences, unlike channels or letters first."""
    order = sorted((f for f in candidates if f[1].evidence > 0), key=lambda f: -f[1].evidence)
    unlike: dict[Any, Stretch] = {}
    for place, moment in order:
        if all(place != other for other, _ in unlike.values()):
            unlike.setdefault(moment.channels[:1] or moment.letters or len(unlike), (place, moment))
    taken = dict(unlike.values())
    for place, moment in order:
        taken.setdefault(place, moment)
    return sorted([*taken.items()][:SHOWN], key=lambda f: -f[1].evidence)


def _entry(run: Run, stretch: Stretch, best: np.ndarray, inside: np.ndarray) -> dict[str, Any]:
    place, moment = stretch
    x, (a, b) = run.X[int(run.tested[place])], moment.frames
    # how many sequences, of this class and of others, have such a stretch
    like, names = best >= LIKE * moment.evidence, run.channel_names
    first, last = max(a - (b - a) // 2, 0), min(b + (b - a) // 2, x.shape[1])
    channels = [names.index(name) for name in moment.channels if name in names]
    shown = [c for c in channels if not run.X.symbolic_mask[c]]
    return {
        "sequence": place,
        "frames": [a, b],
        "evidence": moment.evidence,
        "what": "" if moment.letters else moment.what,
        "in_class": [int(like[inside].sum()), int(inside.sum())],
        "in_others": [int(like[~inside].sum()), int((~inside).sum())],
        "window": [first, last],
        "channels": shown,
        "curves": [curve(x[c, first:last], MOST_POINTS) for c in shown],
        "letters": letters_of(x[0, a:b]) if run.X.symbolic == (True,) else None,
    }


def logo(moment: Moment, others: list[Stretch]) -> dict[str, Any]:
    r"""Return the letters of a stretch and of like stretches of its class, piled up by position.

    Of every sequence, the stretch that agrees best is moved to where most letters are the same, and
    counts if at least half of the letters that meet are the same. The pile of a position is
    :math:`\log_2 s - H - (s - 1) / (2 n \ln 2)` bits high, where `H` is the entropy of its `n`
    letters and `s` the size of the alphabet; a letter takes the share of its count.
    """
    if not moment.letters:
        return {"logo": None, "n_logo": 0}
    size = len(moment.letters)
    alphabet = {letter for _, other in others for letter in other.letters}
    best: dict[int, tuple[int, str]] = {}
    for place, other in others:
        for shift in range(-(size // 2), size // 2 + 1):
            moved = "".join(other.letters[i + shift] if 0 <= i + shift < len(other.letters) else " "
                            for i in range(size))  # fmt: skip
            agree = sum(a == b for a, b in zip(moment.letters, moved, strict=True))
            best[place] = max(best.get(place, (0, "")), (agree, moved))
    alike = [moved for agree, moved in best.values() if 2 * agree >= len(moved.strip()) > 0]
    piles = []
    for letters in zip(*alike, strict=True):  # heights in bits, the lowest first
        known = Counter(letter for letter in letters if letter != " ")
        n = max(known.total(), 1)
        shares = np.array([count / n for _, count in known.most_common()])
        small = (len(alphabet) - 1) / (2 * np.log(2) * n)
        bits = max(np.log2(max(len(alphabet), 1)) + float(shares @ np.log2(shares)) - small, 0.0)
        heights = zip(known.most_common(), (bits * shares).tolist(), strict=True)
        piles.append([[letter, height] for (letter, _), height in heights if height > 0][::-1])
    return {"logo": piles, "n_logo": len(alike)}
