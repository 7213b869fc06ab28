"""What a class looks like: its strongest words as small curves in the units of the channels.

The words of a class are ranked by their mean evidence over the sequences of the class, and then
looked up in all judged sequences.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from mvdfq.explain.explanation import Explanation, largest_channels
from mvdfq.kernels.counting import GroupTask
from mvdfq.pages.details import blocks, explanations
from mvdfq.pages.run import Run

__all__ = ["Tally", "class_words", "tallied"]

# Frames of the sequences that are explained: half a minute. A class of more frames is looked at in
# some of its sequences, evenly drawn.
MOST_FRAMES = 2**15
# Words of one sequence that are added up, the strongest first; a short sequence holds 4000.
LOOKED_AT = 1000
WORDS = 4
# Sequences whose curves are averaged, and frames that are shown before and after a word.
OCCURRENCES, AROUND = 30, 2


class Words(NamedTuple):
    """Words of one group of layouts in one sequence: row, codes and evidence of each word."""

    group: int
    rows: np.ndarray
    codes: np.ndarray
    evidence: np.ndarray


@dataclass
class Tally:
    """Sums over the explanations of many sequences.

    `first` is one of the explanations, which knows the names of rows, layouts and symbols.
    `words` and `n_members` hold the words for the class and the number of sequences looked at, by
    class.
    """

    first: Explanation
    words: dict[int, list[Words]] = field(default_factory=dict)
    n_members: dict[int, int] = field(default_factory=dict)

    def add(self, why: Explanation, c: int, label: Any) -> None:
        """Add the explanation of a sequence of class `c`."""
        self.words.setdefault(c, []).extend(_words_for(why, label))
        self.n_members[c] = self.n_members.get(c, 0) + 1


def _words_for(why: Explanation, label: Any) -> list[Words]:
    """Return the words of a sequence with the most evidence for or against a class."""
    column, sign = why.column(label)
    found = why.evidence.words
    totals = [sign * block.totals(column) for block in found]
    weakest = np.sort(np.abs(np.concatenate([*totals, np.zeros(1)])))[-LOOKED_AT:][0]
    kept = [np.flatnonzero(np.abs(total) > weakest) for total in totals]
    return [
        Words(block.group, block.rows[at], block.codes[at], total[at])
        for block, total, at in zip(found, totals, kept, strict=True)
    ]


def tallied(run: Run) -> Tally | None:
    """Return the sums over explanations by the reference; None if its kernel counts no words."""
    places, tally = _places(run), None
    try:
        for place, why in zip(places, explanations(run.reference, run.X[run.tested[places]]),
                              strict=True):  # fmt: skip
            tally = tally or Tally(why)
            c = int(run.truth[place])
            tally.add(why, c, run.labels[c])
    except ValueError:  # not every kernel counts words
        return None
    return tally


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


@dataclass
class _Strong:
    """A word with its mean evidence for a class, and where it occurs first in each sequence.

    `places` are the judged sequences that hold the word; the word begins at frame `starts` of the
    sequence and is read by layout `layouts` of its group.
    """

    group: int
    row: int
    codes: np.ndarray
    evidence: float
    places: np.ndarray = field(default_factory=lambda: np.empty(0, int))
    starts: np.ndarray = field(default_factory=lambda: np.empty(0, int))
    layouts: np.ndarray = field(default_factory=lambda: np.empty(0, int))


def class_words(run: Run, tally: Tally | None) -> list[list[dict[str, Any]]]:
    """Return the strongest words of each class, with curves and a sequence where they occur."""
    if tally is None:
        return [[] for _ in run.labels]
    strong = [_strongest(run, tally, c) for c in range(len(run.labels))]
    _locate(run, tally.first, [word for words in strong for word in words])
    return [[_word(run, tally, c, word) for word in words] for c, words in enumerate(strong)]


def _strongest(run: Run, tally: Tally, c: int) -> list[_Strong]:
    """Return the strongest word of each of the strongest rows, over all members looked at."""
    found = sorted(_means(tally, c), key=lambda word: -word.evidence)
    strong: dict[int, _Strong] = {}
    for w, word in enumerate(found):
        # letters have one row: then all words are of this row
        strong.setdefault(word.row if run.X.n_rows > 1 else w, word)
    return [word for word in strong.values() if word.evidence > 0][:WORDS]


def _means(tally: Tally, c: int) -> Iterator[_Strong]:
    """Yield the strongest words of every row and group with their mean evidence for class `c`."""
    by_group: dict[int, list[Words]] = {}
    for words in tally.words.get(c, []):
        by_group.setdefault(words.group, []).append(words)
    for group, mine in by_group.items():
        _, rows, codes, evidence = (np.concatenate(part) for part in zip(
            *(([words.group], *words[1:]) for words in mine), strict=True))  # fmt: skip
        distinct, at = np.unique(np.column_stack([rows, codes]), axis=0, return_inverse=True)
        means = np.bincount(at.ravel(), evidence, len(distinct)) / tally.n_members[c]
        for a, b in pairwise([*np.unique(distinct[:, 0], return_index=True)[1], len(distinct)]):
            for w in a + np.argsort(-means[a:b], kind="stable")[:WORDS]:
                yield _Strong(group, int(distinct[w, 0]), distinct[w, 1:], float(means[w]))


def _locate(run: Run, why: Explanation, words: list[_Strong]) -> None:
    """Look words up in all judged sequences."""
    wanted: dict[tuple[int, int], list[_Strong]] = {}
    for word in words:
        wanted.setdefault((word.row, word.group), []).append(word)
    for a, b in blocks(run.X[run.tested]):
        X = run.reference.varying(run.X[run.tested[a:b]])
        parts = {term.name: (term, term.read(X)) for term in run.reference.terms_}
        for (row, group), alike in wanted.items():
            name = why.row_terms[row]
            term, symbols = parts[name]
            plan = term.reader.plan_
            # explanations number the rows and groups of all terms one after another
            r, g = row - why.row_terms.index(name), group - why.group_terms.index(name)
            read = GroupTask(plan.groups(r)[g]).occurrences(plan.row([symbols], r))
            for word in alike:
                _note(word, read, a, symbols.offsets)


def _note(word: _Strong, read: Any, first: int, offsets: np.ndarray) -> None:
    """Add the first occurrence of a word in each sequence of a block."""
    at = np.arange(len(read.words))
    for k, code in enumerate(word.codes):
        at = at[read.words[at, k] == code]
    owners, firsts = np.unique(read.sequence[at], return_index=True)
    at = at[firsts]
    word.places = np.append(word.places, owners + first)
    word.starts = np.append(word.starts, read.starts[at] - offsets[owners])
    word.layouts = np.append(word.layouts, read.layout[at])


def _word(run: Run, tally: Tally, c: int, word: _Strong) -> dict[str, Any]:
    why, mine = tally.first, run.truth[word.places] == c
    inside = np.flatnonzero(mine)
    example = inside[np.argmax(run.probabilities[word.places[inside], c])]
    offsets = np.array(why.offsets[word.group][word.layouts[example]] or (0,))
    channel = _channel(run, why, word.row)
    alike = inside[word.layouts[inside] == word.layouts[example]]
    size = int(np.sum(run.truth == c))
    return {
        "row": why.row_names[word.row],
        "symbols": [why.names[word.row][code] for code in word.codes],
        "offsets": (offsets - offsets[0]).tolist(),
        "evidence": word.evidence,
        "looked_at": tally.n_members[c],
        "in_class": [len(inside), size],
        "in_others": [int(np.sum(~mine)), len(run.truth) - size],
        "sequence": int(word.places[example]),
        "frame": int(word.starts[example] + offsets[0]),
        "channel": channel,
        "curve": None if channel is None else _mean_curve(run, word, alike, offsets, channel),
    }


def _channel(run: Run, why: Explanation, row: int) -> int | None:
    """Return the channel with the largest share in the row; None for letters or without shares."""
    names = largest_channels(why, row)
    if not names or names[0] not in run.channel_names:
        return None
    c = run.channel_names.index(names[0])
    return None if run.X.symbolic_mask[c] else c


def _mean_curve(
    run: Run, word: _Strong, alike: np.ndarray, offsets: np.ndarray, channel: int
) -> dict[str, Any]:
    """Average the values of a channel over the occurrences of a word; with their spread."""
    span, pieces = int(offsets[-1] - offsets[0]) + 1, []
    for i in alike[:OCCURRENCES]:
        row = run.X[int(run.tested[word.places[i]])][channel]
        padded = np.concatenate([np.full(AROUND, np.nan), row, np.full(AROUND + span, np.nan)])
        first = int(word.starts[i] + offsets[0])
        pieces.append(padded[first : first + span + 2 * AROUND])
    stack = np.array(pieces)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a frame beyond the end of all sequences
        mean, spread = np.nanmean(stack, axis=0).tolist(), np.nanstd(stack, axis=0).tolist()
    return {"first": -AROUND, "mean": mean, "std": spread, "n": len(stack)}
