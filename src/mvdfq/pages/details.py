"""Sequences in the user's own terms: which are shown, curves, exact evidence, words, neighbours."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from mvdfq.explain.explanation import Explanation
from mvdfq.explain.moments import find_moments, has_both_strands, on_strand
from mvdfq.pages.run import Run
from mvdfq.pages.similar import nearest
from mvdfq.sequences import Sequences, blocks_of

# Points of a curve, and the bytes that all curves of a page may take.
MOST_POINTS = 300
MOST_BYTES = 560_000
# A sequence shows this many channels; the evidence of further channels is added up.
MOST_CHANNELS = 40
WORDS, MOMENTS, NEIGHBOURS = 12, 3, 3
# 4096 frames of 100 rows and 10 classes take about 200 MB while they are explained.
BLOCK_FRAMES = 2**12


def details(run: Run, n: int | None, asked: tuple[Any, Any] = (None, None)) -> list[dict[str, Any]]:
    """Return the details of the `n` sequences that tell most; None means all sequences.

    `asked` are the class in question and the class to compare with; None is for the usual classes.
    """
    places = chosen(run, n).tolist()
    n_channels = min(run.X.n_rows, MOST_CHANNELS)
    # a bin takes one byte of evidence and two points of a curve, each 4/3 characters of text
    bins = int(MOST_BYTES // max(len(places) * n_channels * 4, 1))
    points = int(np.clip(2 * bins, 40, MOST_POINTS))
    # a classifier keeps what it prepared to tell two classes apart, until it is asked for others
    pair = {p: (int(run.fold_of[p]), *_compared(run, p, *asked)) for p in places}
    made = {}
    for f, of_fold in groupby(sorted(places, key=pair.__getitem__), lambda p: pair[p][0]):
        alike = list(of_fold)
        near = nearest(run, f, alike, NEIGHBOURS)  # all of them, when the first is asked for
        compared = any(term.class_means for term in run.model(f).terms_)
        for place, why in zip(alike, _explained(run, f, alike), strict=True):
            made[place] = _detail(run, place, pair[place][1:], points, why)
            if not isinstance(why, str):  # all sequences of a fold are explained, or none
                made[place] |= {"compared": compared, "neighbours": next(near)}
    return [made[place] for place in places]


def _explained(run: Run, f: int, places: list[int]) -> Iterator[Explanation | str]:
    """Yield the explanations of sequences of one fold, or what forbids them."""
    try:
        yield from explanations(run, f, run.X[run.tested[places]], places)
    except ValueError as error:  # not every kernel counts words
        yield from [str(error)] * len(places)


def _compared(run: Run, place: int, label: Any, against: Any) -> tuple[int, int]:
    """Return the class in question and the class to compare with."""
    predicted = int(run.predicted[place])
    first = predicted if label is None else run.labels.index(label)
    usual = other_class(run, place) if first == predicted else predicted
    return first, usual if against is None else run.labels.index(against)


def other_class(run: Run, place: int) -> int:
    """Return the class to compare with: the true class, or the second most probable class.

    A true class that the classifier does not know cannot be compared with.
    """
    truth, known = int(run.truth[place]), run.known_classes(int(run.fold_of[place]))
    others = known[known != run.predicted[place]]
    return truth if truth in others else int(others[run.probabilities[place, others].argmax()])


def _detail(
    run: Run, place: int, classes: Sequence[int], points: int, why: Explanation | str
) -> dict[str, Any]:
    x = run.X[int(run.tested[place])]
    plain: dict[str, Any] = {
        "sequence": place,
        "for": classes[0],
        "against": classes[1],
        "probabilities": run.probabilities[place].tolist(),
        "n_frames": x.shape[1],
    }
    if isinstance(why, str):
        return plain | _channels(run, x, None, points) | {"note": why}
    contrast = why.between(*(run.labels[c] for c in classes))
    if joined := has_both_strands(contrast):
        x = x[:, : x.shape[1] // 2]
        plain["n_frames"] = x.shape[1]
    return plain | _channels(run, x, contrast, points, joined) | _reasons(contrast, joined)


def _channels(
    run: Run, x: np.ndarray, why: Explanation | None, points: int, joined: bool = False
) -> dict[str, Any]:
    """Return curves and evidence of the channels that count most, in the order of channels."""
    evidence, total = None, None if why is None else on_strand(why.by_time[0], joined)
    if why is not None and why.known_shares is not None:
        evidence = np.array([on_strand(row, joined) for row in why.by_channel_frame[0]])
    # without evidence, the first channels are shown
    strength = np.ones(len(x)) if evidence is None else np.abs(evidence).sum(axis=1)
    shown = np.sort(np.argsort(-strength, kind="stable")[:MOST_CHANNELS])
    edges = bin_edges(x.shape[1], points if x.shape[1] <= points else points // 2)
    result: dict[str, Any] = {
        "edges": edges.tolist(),
        "channels": shown.tolist(),
        "curves": [
            (run.X.symbolic_mask[c] and letters_of(x[c])) or curve(x[c], points) for c in shown
        ],
        "evidence": None,
        "total": None if total is None else sums(total, edges).tolist(),
    }
    if evidence is not None:
        result["evidence"] = sums(evidence[shown], edges).tolist()
        result["by_channel"] = evidence.sum(axis=1).tolist()
    return result


def _reasons(why: Explanation, joined: bool) -> dict[str, Any]:
    """Return the moments or stretches of letters and the words with the most evidence."""
    label = why.labels[0]
    words = [{"evidence": reason.evidence, "text": reason.text, "frame": reason.frames[0],
              "span": reason.offsets[-1] + 1} for reason in why.top(WORDS, label)]  # fmt: skip
    if why.are_letters:
        moments = find_moments(why, 2 * MOMENTS, label)
    else:
        moments = find_moments(why, len(why.by_time[0]), label, MOMENTS)
        moments.sort(key=lambda moment: moment.evidence < 0)  # moments for the class first
    return {
        "margin": float(why.margins[0]),
        "constant": float(why.constant[0]),
        "moments": [{"evidence": moment.evidence, "what": moment.what,
                     "frames": list(moment.frames)} for moment in moments],
        "words": [] if joined else words,
    }  # fmt: skip


def chosen(run: Run, n: int | None) -> np.ndarray:
    """Return at most `n` judged sequences: typical ones, confident errors, then the least sure."""
    right = run.truth == run.predicted
    doubt = np.argsort(run.confidence, kind="stable")
    total = len(right) if n is None else min(n, len(right))
    members = [doubt[(run.truth[doubt] == c) & right[doubt]] for c in range(len(run.labels))]
    first = [int(places[-1]) for places in members if len(places)][: max(total // 3, 1)]
    wrong = doubt[~right[doubt]][::-1]
    order = dict.fromkeys([*first, *wrong.tolist(), *doubt.tolist()])
    return np.array(list(order)[:total], dtype=np.int64)


def bin_edges(n_frames: int, most: int) -> np.ndarray:
    """Return the edges of at most `most` bins of nearly equal numbers of frames."""
    n = max(min(n_frames, most), 1)
    return np.arange(n + 1) * n_frames // n


def sums(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the sum of the last axis in every bin: the sum of all bins stays the same."""
    if not values.shape[-1]:
        return np.zeros((*values.shape[:-1], 1))
    return np.add.reduceat(values, edges[:-1], axis=-1)


def curve(row: np.ndarray, most: int) -> list[float | None]:
    """Return a row in at most `most` points: the extremes of its pieces, None if missing."""
    if len(row) <= most:
        return [None if np.isnan(value) else value for value in row.tolist()]
    starts = bin_edges(len(row), most // 2)
    ends = [extreme.reduceat(row, starts[:-1]) for extreme in (np.fmin, np.fmax)]
    # where each extreme is reached first; anywhere for a piece without values
    hits = [np.flatnonzero(row == np.repeat(end, np.diff(starts))) for end in ends]
    low, high = (np.append(hit, -1)[hit.searchsorted(starts[:-1])] for hit in hits)
    pairs = np.where(low <= high, ends, ends[::-1]).T.ravel()
    return [None if np.isnan(value) else value for value in pairs.tolist()]


def letters_of(row: np.ndarray) -> str | None:
    """Return a row of letters as text; None if the symbols are not letters."""
    codes = np.where(np.isnan(row), ord("?"), row).astype(int)
    text = "".join(map(chr, codes.tolist())) if codes.min(initial=32) >= 32 else ""
    return text if text.isprintable() and text else None


def explanations(run: Run, f: int, X: Sequences, places: Any) -> Iterator[Explanation]:
    """Yield explanations, a few at a time; ValueError if the kernel does not count words.

    `places` are the judged sequences that `X` holds; None if `X` holds parts of them.
    """
    clf = run.model(f)
    for block in blocks_of(X.offsets, BLOCK_FRAMES):
        decided = None if places is None else run.decided(f, places[block])
        yield from clf._explained(clf._read(X[block]), X[block], decided)
