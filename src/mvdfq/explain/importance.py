"""What is lost without a channel or a term; `SequenceClassifier.importance` has the formula."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import log_softmax
from scipy.stats import norm, t
from sklearn.utils.validation import column_or_1d

from mvdfq._utils.checks import check_entries
from mvdfq._utils.short import counted
from mvdfq.frames.base import channel_index
from mvdfq.sequences import Ragged, blocks_of, offsets_of
from mvdfq.terms.baseline import Baselines
from mvdfq.terms.fitted import FittedSum, FittedTerm
from mvdfq.terms.svm import Problems
from mvdfq.terms.validation import check_groups

# Sequences with this many frames are explained at a time.
BLOCK_FRAMES = 2**12


@dataclass(frozen=True)
class Importance:
    """What would be lost without each of some parts: channels, groups of channels, or terms.

    Parameters
    ----------
    names : list of str
        Names of the parts.
    log_loss : ndarray of shape (n_parts, 3)
        How much the log loss rises without the part, in nats, and the bounds of the 95 % interval.
    accuracy : ndarray of shape (n_parts, 3)
        How much the accuracy falls, and the bounds of its 95 % interval.
    source : str
        The sequences that were judged, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq import Importance
    >>> log_loss, accuracy = np.array([[0.31, 0.2, 0.42]]), np.array([[0.12, 0.05, 0.19]])
    >>> print(Importance(["pulse"], log_loss, accuracy, "90 new sequences"))
    lost without it, on 90 new sequences
    pulse: log loss 0.310 (0.200 to 0.420), accuracy 12.0 points (5.0 to 19.0)
    """

    names: list[str]
    log_loss: np.ndarray
    accuracy: np.ndarray
    source: str

    def __str__(self) -> str:
        lines = [f"lost without it, on {self.source}"]
        for k in np.argsort(-self.log_loss[:, 0], kind="stable"):
            rise, low, high = self.log_loss[k]
            drop, least, most = 100 * self.accuracy[k]
            loss = f"log loss {rise:.3f} ({low:.3f} to {high:.3f})"
            points = f"accuracy {drop:.1f} points ({least:.1f} to {most:.1f})"
            lines.append(f"{self.names[k]}: {loss}, {points}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Judged:
    """Sequences to judge: their margins, and what each part adds to the margins.

    `margins` is (n_sequences, n_columns), `parts` is (n_sequences, n_columns, n_parts); `y` holds
    the codes of the true classes; `decide` turns margins into decision values, which are
    multiplied by `temperature`.
    """

    margins: np.ndarray
    parts: np.ndarray
    y: np.ndarray
    decide: Callable[[np.ndarray], np.ndarray]
    temperature: float

    def outcomes(self, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log losses and hits, (n_parts + 1, n_sequences): with all parts, without each."""
        # the mean, not 0: a part that says the same of all sequences says nothing
        places, losses, hits = np.arange(len(self.y)), [], []
        for k in range(-1, self.parts.shape[2]):
            margins = self.margins if k < 0 else self.margins - self.parts[:, :, k] + mean[:, k]
            decision = self.temperature * self.decide(margins)
            if decision.ndim == 1:
                decision = np.stack([np.zeros_like(decision), decision], axis=1)
            losses.append(-log_softmax(decision, axis=1)[places, self.y])
            # the first of several equal classes is predicted, as `argmax` does
            hits.append(decision.argmax(axis=1) == self.y)
        return np.array(losses), np.array(hits)


def measured(clf: Any, X: Any, y: Any, groups: Any, by: Any) -> Importance:
    """Return `SequenceClassifier.importance` of a fitted classifier."""
    names, shares = parts_of(clf.terms_, clf.channel_names, by)
    n = clf.n_channels_in_
    if (X is None) != (y is None) or (X is None and groups is not None):
        raise ValueError("importance takes X and y together, or neither; groups go with X and y.")
    if X is None and len(clf.lost_) and isinstance(by, str):
        losses = clf.lost_[:n] if by == "channels" else clf.lost_[n:]
        source = "training sequences that machines held out"
        return Importance(names, losses[:, 0], losses[:, 1], source)
    if X is None:
        read, codes, groups = [term.train for term in clf.terms_], clf.train_y_, None
        if not all(isinstance(symbols, Ragged) for symbols in read):
            problem = "it was not measured in fit, and the training sequences are not kept"
            hint = "pass sequences that were not learned from, as in clf.importance(X, y)"
            raise AttributeError(f"The importance is not known: {problem}; {hint}.")
        source = "the training sequences themselves, which flatters"
    else:
        y = column_or_1d(y)
        groups, codes = check_groups(groups, len(y)), codes_of(y, clf.classes_.tolist())
        read, source = clf.sum_.read(clf.varying(X)), counted(len(y), "sequence")
        check_entries(len(read[0]), y=y)
    about = clf.sum_, clf.problems_, clf.class_shares_, clf.temperature_
    losses = lost([judge(*about, read, codes, shares)], groups)
    return Importance(names, losses[:, 0], losses[:, 1], source)


def parts_of(
    terms: list[FittedTerm], channels: list[str], by: Any
) -> tuple[list[str], list[np.ndarray]]:
    """Return the names of parts, and their shares in the rows of each term, (n_rows, n_parts)."""
    shares = [term.channel_shares(len(channels)) for term in terms]
    if isinstance(by, str) and by == "channels":
        return channels, shares
    if isinstance(by, str) and by == "terms":
        pairs = zip(shares, np.eye(len(terms)), strict=True)
        ones = [np.tile(part, (len(rows), 1)) for rows, part in pairs]
        return [term.name for term in terms], ones
    if not isinstance(by, Mapping) or not by:
        raise ValueError(f"by must be 'channels', 'terms' or a dictionary of channels, got {by!r}.")
    # channels in no group have no part; their evidence stays in the margins
    member = np.zeros((len(channels), len(by)))
    for k, given in enumerate(by.values()):
        members = [given] if isinstance(given, str | Integral) else given
        member[[channel_index(channel, channels, "by") for channel in members], k] = 1
    return [str(name) for name in by], [rows @ member for rows in shares]


def all_shares(terms: list[FittedTerm], channels: list[str]) -> list[np.ndarray]:
    """Return the shares of the channels, and then of the terms, in the rows of each term."""
    shares = [parts_of(terms, channels, by)[1] for by in ("channels", "terms")]
    return [np.hstack(pair) for pair in zip(*shares, strict=True)]


def codes_of(y: np.ndarray, classes: list[Any]) -> np.ndarray:
    """Return the codes of labels; raises an error for a class that was not learned."""
    new = [label for label in y.tolist() if label not in classes]
    if new or not len(y):
        got = repr(new[0]) if new else "no labels"
        raise ValueError(f"y must hold classes that were learned, {classes}, got {got}.")
    return np.array([classes.index(label) for label in y.tolist()])


def judge(
    total: FittedSum,
    problems: Problems,
    class_shares: np.ndarray,
    temperature: float,
    read: list[Any],
    y: np.ndarray,
    shares: list[np.ndarray],
) -> Judged:
    """Return sequences with what each part adds to their margins, as a fitted sum judges them."""
    view = Baselines(problems.pairs, class_shares).average
    offsets = offsets_of(getattr(read[0], "lengths", np.ones(len(y), int)))
    margins, parts = [], []
    for block in blocks_of(offsets, BLOCK_FRAMES):
        part = [symbols[block] for symbols in read]
        margins.append(sum(total.sums(part).values(), start=total.constant))
        sums = [
            [evidence.by_layout.sum(axis=2) @ rows for evidence in term.evidence(symbols, view)]
            for term, symbols, rows in zip(total.terms, part, shares, strict=True)
        ]
        parts.append(np.sum(sums, axis=0))
    return Judged(np.concatenate(margins), np.concatenate(parts), y, problems.decision, temperature)


def lost(judged: list[Judged], groups: np.ndarray | None = None) -> np.ndarray:
    """Return what is lost without each part, (n_parts, 2, 3): log loss, accuracy, with bounds."""
    mean = sum(fold.parts.sum(axis=0) for fold in judged) / sum(len(fold.y) for fold in judged)
    outcomes = zip(*(fold.outcomes(mean) for fold in judged), strict=True)
    losses, hits = (np.concatenate(folds, axis=1) for folds in outcomes)
    rises, falls = losses[1:] - losses[0], hits[0].astype(float) - hits[1:]
    # one hit more or less is always possible: the interval is never a single point
    least = 1 / (hits.shape[1] + 2)
    pairs = zip(rises, falls, strict=True)
    return np.array([(_mean(a, groups), _mean(b, groups, least)) for a, b in pairs])


def _mean(
    values: np.ndarray, groups: np.ndarray | None, least: float = 0.0
) -> tuple[float, float, float]:
    """Return the mean and its 95 % interval, over sequences or groups of them."""
    names, codes = np.unique([] if groups is None else groups, return_inverse=True)
    n, mean = len(values), float(values.mean())
    quantile = float(norm.ppf(0.975))
    if len(names) > 1:
        quantile = float(t.ppf(0.975, len(names) - 1))
    else:
        codes = np.arange(n)
    sums = np.bincount(codes, values - mean)
    error = np.sqrt(len(sums) / max(len(sums) - 1, 1) * np.sum(sums**2)) / n
    half = quantile * max(float(error), least)
    return mean, mean - half, mean + half
