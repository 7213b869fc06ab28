"""What matters: what would be lost without each channel and each term, on judged sequences."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from mvdfq._utils.short import counted
from mvdfq.evaluation import evaluate
from mvdfq.explain.importance import Importance, Judged, all_shares, judge, lost
from mvdfq.frames.base import UnknownShares
from mvdfq.pages.run import Run

# Sequences that are judged without each channel, and their frames: some, evenly drawn.
MOST_SEQUENCES, MOST_FRAMES = 500, 2**15


def matters(run: Run) -> dict[str, Any]:
    """Return what would be lost without each channel and each term, and on which sequences."""
    kept = list(run.recorder.kept.values())
    if run.knows_training and all(len(clf.lost_) for clf in kept):
        losses = np.mean([clf.lost_ for clf in kept], axis=0)
        source = f"training sequences that were held out ({counted(len(kept), 'classifier')})"
    else:
        places = _places(run)
        try:
            judged = list(_judged(run, places))
        except (UnknownShares, ValueError) as error:  # not every kernel counts words
            return {"channels": None, "terms": None, "source": "", "note": str(error)}
        losses = lost(judged, None if run.groups is None else run.groups[run.tested[places]])
        source = counted(len(places), "judged sequence")
    names, n = [term.name for term in run.model(0).terms_], len(run.channel_names)
    channels = _plain(Importance(run.channel_names, losses[:n, 0], losses[:n, 1], source))
    terms = _plain(Importance(names, losses[n:, 0], losses[n:, 1], source))
    return {"channels": channels, "terms": terms, "source": source, "note": ""}


def of_model(clf: Any) -> dict[str, Any] | None:
    """Return what a model knows about its channels; None if it knows nothing."""
    if clf.n_channels_in_ < 2 or not len(clf.lost_):
        return None
    importance = clf.importance()
    return {"channels": _plain(importance), "terms": None, "source": importance.source, "note": ""}


def _plain(importance: Importance) -> list[dict[str, Any]]:
    rises, falls = importance.log_loss.tolist(), importance.accuracy.tolist()
    rows = zip(importance.names, rises, falls, strict=True)
    return [{"name": name, "log_loss": rise, "accuracy": fall} for name, rise, fall in rows]


def _places(run: Run) -> np.ndarray:
    """Return judged sequences whose machine is kept and knows their class, in order of folds."""
    known = [set(run.recorder.classes[f].tolist()) for f in range(run.n_folds)]
    labels = [run.labels[c] for c in run.truth]
    pairs = zip(run.fold_of.tolist(), labels, strict=True)
    places = np.flatnonzero([f in run.recorder.kept and label in known[f] for f, label in pairs])
    frames = max(int(run.X.lengths[run.tested[places]].sum()), 1)
    n = min(len(places), MOST_SEQUENCES, max(MOST_FRAMES * len(places) // frames, 2))
    return places[np.arange(n) * len(places) // max(n, 1)]


def _judged(run: Run, places: np.ndarray) -> Iterator[Judged]:
    """Yield the judged sequences of each fold, with what channels and terms add."""
    if not len(places):
        raise ValueError("No judged sequence has a class that was learned.")
    for f in np.unique(run.fold_of[places]):
        clf, judged = run.model(int(f)), places[run.fold_of[places] == f]
        shares = all_shares(clf.terms_, run.channel_names)
        # a fold may lack a class: its codes differ from the codes of the run
        codes = [clf.classes_.tolist().index(run.labels[c]) for c in run.truth[judged]]
        read = clf.sum_.read(clf.varying(run.X[run.tested[judged]]))
        about = clf.sum_, clf.problems_, clf.class_shares_, clf.temperature_
        yield judge(*about, read, np.array(codes), shares)


def removal(run: Run, protocol: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the accuracy without each channel, by evaluating again; None if one channel."""
    if run.X.n_rows < 2:
        return None
    rows, names, symbolic = [], run.X.channel_names, run.X.symbolic
    for c in range(run.X.n_rows):
        data = np.delete(run.X.data, c, axis=0)
        names_left = names and (*names[:c], *names[c + 1 :])
        symbolic_left = (*symbolic[:c], *symbolic[c + 1 :])
        X = replace(run.X, data=data, channel_names=names_left, symbolic=symbolic_left)
        result = evaluate(clone(run.estimator), X, run.y, **protocol)
        fall = run.evaluation.accuracy - result.accuracy
        rows.append({"channel": c, "accuracy": result.accuracy, "lost": fall})
    return rows
