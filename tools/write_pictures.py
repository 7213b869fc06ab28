"""Write the pictures of the guide, docs/guide/*.png and *.svg; needs matplotlib.

Run: python tools/write_pictures.py
"""

import json
import tempfile
import zipfile
from pathlib import Path

import diagrams
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
        "datasets": datasets(X, y),
        "model_files": model_file(clf),
    }
    for name, figure in pictures.items():
        figure.savefig(FOLDER / f"{name}.png", dpi=80)
    for draw in (diagrams.files, diagrams.sequences, diagrams.command_line):
        (FOLDER / f"{draw.__name__}.svg").write_text(draw(), encoding="utf-8")


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


def datasets(X, y):
    """Return an utterance of each of two speakers, and a made sequence of each of two classes."""
    made, classes = mvdfq.make_autoregressive(8, 3, 60, random_state=1)
    panels = {f"speaker {who}": X[np.flatnonzero(y == who)[0]] for who in ("1", "2")}
    panels |= {f"made, class {c}": made[np.argmax(classes == c)] for c in (0, 1)}
    figure = Figure(figsize=(9, 2.3), layout="constrained")
    axes = figure.subplots(1, 4)
    axes[1].sharey(axes[0])
    axes[3].sharey(axes[2])
    for panel, (name, x) in zip(axes, panels.items(), strict=True):
        panel.plot(x.T, linewidth=1)
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("frame")
    return figure


# What an array of a model file is, by the attribute that holds the array.
KINDS = {"train": "training symbols", "values": "weights of words", "weights": "weights of words"}


def model_file(clf):
    """Return the bytes of a model file, by what they hold."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "speakers.mvdfq"
        clf.save(path)
        with zipfile.ZipFile(path) as archive:
            sizes = {info.filename: info.compress_size for info in archive.infolist()}
            model = json.loads(archive.read("model.json"))["model"]
        whole = path.stat().st_size
    shares = {"model.json: parameters, labels, names": sizes["model.json"]}
    for name, attributes in arrays(model):
        kind = next((KINDS[a] for a in attributes if a in KINDS), "bins, axes and thresholds")
        shares[kind] = shares.get(kind, 0) + sizes[name]
    shares["table of contents of the archive"] = whole - sum(sizes.values())
    figure = Figure(figsize=(9, 2), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh([*shares], [size / 1000 for size in shares.values()], color="#0072b2")
    axes.bar_label(bars, fmt="%.0f kB", padding=3)
    axes.invert_yaxis()
    axes.set(xlabel=f"kB of {whole / 1000:.0f} kB in all", xlim=(0, 1.12 * axes.get_xlim()[1]))
    return figure


def arrays(node, attributes=()):
    """Yield the name of each array of a model file and the attributes that lead to the array."""
    if isinstance(node, dict) and "array" in node:
        yield node["array"], attributes
    elif isinstance(node, dict | list):
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, inner in items:
            yield from arrays(inner, (*attributes, key))


if __name__ == "__main__":
    main()
