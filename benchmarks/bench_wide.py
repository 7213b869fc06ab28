"""Hundreds of channels: how long do fit and predict take, and what does the bound on rows change?

``python benchmarks/bench_wide.py`` fits the default, as it is and with all principal components,
on made sequences of the shapes of two sets of the UEA archive, and on spoken digits as 257 bands of
a spectrum (plain folds, and one speaker after the other left out). Results are printed and
written to results/wide.csv; the digits need the folder MVDFQ_DATA. Times are processor seconds.
"""

import csv
import os
import sys
import time
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.io import wavfile
from scipy.signal import stft
from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold

import mvdfq
from mvdfq.classifier import presets
from mvdfq.evaluation.measures import log_losses

RESULTS = Path(__file__).parent / "results" / "wide.csv"
# Sequences, channels, frames and classes, as in two sets of the UEA archive, and of a sensor array.
SHAPES = {"DuckDuckGeese": (50, 1345, 270, 5), "PEMS-SF": (267, 963, 144, 7),
          "500 channels": (100, 500, 100, 4)}  # fmt: skip
BOUNDS = {"default": presets.MOST, "all components": None}


def made(n, n_channels, n_frames, n_classes):
    """Random walks with noise, whose level says the class in some channels more than in others."""
    random = np.random.default_rng(0)
    shape, y = (n, n_channels, n_frames), np.arange(n) % n_classes
    level = y[:, None, None] * np.linspace(0, 1, n_channels)[:, None]
    walks = 0.3 * random.normal(size=shape).cumsum(axis=2)
    return list(walks + random.normal(size=shape) + level), y


def digits():
    """Log spectra of spoken digits, 257 bands every 16 ms; the digits and the speakers."""
    paths = sorted((Path(os.environ.get("MVDFQ_DATA", ".")) / "fsdd_wav").glob("*/*.wav"))
    X = []
    for path in paths:
        rate, sound = wavfile.read(path)
        parts = stft(sound / 2**15, rate, nperseg=256, noverlap=128, nfft=512)[2]
        X.append(np.log(np.abs(parts) ** 2 + 1e-10))
    names = [path.stem.split("_") for path in paths]
    return X, np.array([name[0] for name in names]), np.array([name[1] for name in names])


def judged(X, y, folds):
    """Accuracy and log loss over all folds, and processor seconds of all fits and predictions."""
    right, losses, fit, predict = [], [], 0.0, 0.0
    for learn, check in folds:
        start = time.process_time()
        clf = mvdfq.SequenceClassifier(n_jobs=1).fit([X[i] for i in learn], y[learn])
        fit, start = fit + time.process_time() - start, time.process_time()
        known = clf.predict_proba([X[i] for i in check])
        predict += time.process_time() - start
        truth = np.searchsorted(clf.classes_, y[check])
        right += (known.argmax(axis=1) == truth).tolist()
        losses += log_losses(known, truth).tolist()
    return round(np.mean(right), 4), round(np.mean(losses), 4), round(fit, 1), round(predict, 1)


def tasks():
    """Yield the name, the sequences, the classes and the folds of every task."""
    for name, shape in SHAPES.items():
        X, y = made(*shape)
        yield f"made, {name}", X, y, [(np.arange(len(y)), np.arange(20))]
    X, y, speakers = digits()
    if X:
        plain = StratifiedKFold(2, shuffle=True, random_state=0).split(X, y)
        yield "digits, two plain folds", X, y, list(plain)
        yield "digits, speakers apart", X, y, list(LeaveOneGroupOut().split(X, y, speakers))


def main():
    """Measure every task with both bounds; write the table."""
    warnings.simplefilter("ignore")
    judged(*made(8, 5, 30, 2), [(np.arange(8), np.arange(8))])  # compile before clocks run
    fields = ["task", "rows", "accuracy", "log loss", "fit_s", "predict_s"]
    lines = []
    for name, X, y, folds in tasks():
        for rows, most in BOUNDS.items():
            with patch.object(presets, "MOST", most):
                lines.append(dict(zip(fields, [name, rows, *judged(X, y, folds)], strict=True)))
            print(*lines[-1].values(), sep="\t", flush=True)
    with open(RESULTS, "w", newline="") as file:
        table = csv.DictWriter(file, fields)
        table.writeheader()
        table.writerows(lines)


if __name__ == "__main__":
    sys.exit(main())
