"""Write the pictures of the guide, docs/guide/*.png, from the bundled vowels; needs matplotlib.

Run: python tools/write_pictures.py
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import mvdfq

FOLDER = Path(__file__).parents[1] / "docs" / "guide"


def main():
    """Draw all pictures."""
    X, y = mvdfq.load_japanese_vowels(split="train")
    x = X[0]
    clf = mvdfq.SequenceClassifier().fit(X, y)
    pictures = {
        "frames": frames(X, x),
        "symbols": mvdfq.figures.direct(mvdfq.DirectQuantizer(8).fit(X), x, most=4),
        "kernels": matrix(X, y),
        "explanations": mvdfq.figures.evidence(clf.explain(x), x),
        "classifier": mvdfq.figures.importance(clf),
    }
    for name, figure in pictures.items():
        figure.savefig(FOLDER / f"{name}.png", dpi=80)


def frames(X, x):
    """Return one channel as it is, smoothed, as slopes, and beside it the first component."""
    views = {
        "as it is": x[0],
        "Smooth(5)": mvdfq.Smooth(5).fit(X).transform([x])[0][0],
        "Delta(keep=False)": mvdfq.Delta(keep=False).fit(X).transform([x])[0][0],
        "Rotate(), pc0": mvdfq.Rotate().fit(X).transform([x])[0][0],
    }
    figure = Figure(figsize=(9, 2.2), layout="constrained")
    for axes, (name, row) in zip(figure.subplots(1, 4, sharex=True), views.items(), strict=True):
        axes.plot(row, color="#0072b2", marker=".")
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("frame")
    return figure


def matrix(X, y):
    """Return the kernel matrix of the training utterances, ordered by speaker."""
    symbols = mvdfq.DirectQuantizer(8).fit_transform([X[i] for i in np.argsort(y, kind="stable")])
    K = mvdfq.SequenceKernel(mvdfq.Spectrum([1, 2]), manifold=True).fit_transform(symbols)[::3, ::3]
    figure = Figure(figsize=(4, 3.2), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(
        K,
        interpolation="nearest",
        cmap="Blues",
        vmin=np.quantile(K, 0.02),
        vmax=np.quantile(K, 0.98),
    )
    figure.colorbar(image, label="kernel value")
    axes.set(xlabel="every third utterance, by speaker", ylabel="every third utterance, by speaker")
    return figure


if __name__ == "__main__":
    main()
