"""Results, names and file contents that must stay; `python tests/snapshots.py` writes them anew.

docs/reliability.md says what may change when.
"""

import inspect
import json
import warnings
from pathlib import Path
from typing import get_type_hints

import numpy as np

import mvdfq
import mvdfq.io
import mvdfq.reproduce
from mvdfq.classifier.registry import EXPORTED
from mvdfq.classifier.saving.tree import CLASSES, _class

FOLDER = Path(__file__).parent / "snapshots"
NEEDED = {"layouts": [(0,), (0, 2), (0, 1, 3)]}


def numbers(n=12, n_channels=2):
    """Sequences without a random generator: its stream could change between versions."""
    return [
        np.array([[((7 + i % 3) * t * t + 3 * i + 5 * c * t) % 23 - 11 for t in range(20 + i % 4)]
                  for c in range(n_channels)]) + 0.25 * (i % 3)
        for i in range(n)
    ]  # fmt: skip


def letters(n=12):
    """Strings of four letters."""
    return ["".join("ACGT"[((3 + i % 3) * t * t + i) % 7 % 4] for t in range(24)) for i in range(n)]


def rounded(values):
    """Six digits, as plain numbers."""
    return [float(f"{value:.6g}") for value in np.ravel(values).tolist()]


def kernel_values(name):
    """Return kernel values of the second and third sequence with the first, in two embeddings."""
    cls, found = EXPORTED["kernel"][name], {}
    kernel = cls(**{k: v for k, v in NEEDED.items() if k in inspect.signature(cls).parameters})
    X = letters(3) if kernel.reads_symbols else [np.abs(np.sin(x)) / 2 for x in numbers(3, 4)]
    for manifold in (False, True):
        if manifold and not kernel.has_features:
            continue
        K = mvdfq.SequenceKernel(kernel, manifold=manifold).fit_transform(X)
        found["manifold" if manifold else "plain"] = rounded(K[0, 1:])
    return found


def preset_values(name):
    """Return decisions and labels of a preset for new sequences of three classes.

    The decisions of training sequences would say little: most of them are 1 or -1.
    """
    X, y = (letters(15) if name == "letters" else numbers(15)), np.arange(9) % 3
    sizes = [8, 16] if "multi" in name else [8]
    symbols = {"symbols": mvdfq.CodebookQuantizer(sizes)} if "vq" in name else {}
    clf = mvdfq.SequenceClassifier(name, cv=2, C=10, n_jobs=1, **symbols).fit(X[:9], y)
    decision = clf.decision_function(X[9:12])
    return {"decision": rounded(decision), "labels": clf.predict(X[9:]).tolist()}


def results():
    """Return the results of every kernel and preset."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "kernels": {name: kernel_values(name) for name in EXPORTED["kernel"]},
            "presets": {name: preset_values(name) for name in mvdfq.list_presets()},
        }


def api():
    """Return every public name: parameters of functions and methods with their defaults."""
    found = {}
    for module in (mvdfq, mvdfq.io, mvdfq.reproduce):
        for name in module.__all__:
            value, place = getattr(module, name), f"{module.__name__}.{name}"
            if inspect.isclass(value) or inspect.isfunction(value):
                found[place] = _parameters(value)
            else:
                found[place] = {}
            if inspect.isclass(value) and value.__module__.startswith("mvdfq"):
                methods = inspect.getmembers(value, inspect.isfunction)
                found |= {
                    f"{place}.{key}": _parameters(one)
                    for key, one in methods
                    if not key.startswith("_") and one.__module__.startswith("mvdfq")
                }
    return found


def _parameters(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return {}
    return {
        one.name: "needed" if one.default is one.empty else repr(one.default)
        for one in parameters
        if one.name != "self"
    }


def schema():
    """Return the attributes that a model file may hold, by the class as files name it."""
    found = {}
    for name in sorted(CLASSES):
        cls = _class(name)
        hints = get_type_hints(cls) | get_type_hints(cls.__init__)
        found[name] = sorted(key for key in hints if key[0] != "_" and key != "return")
    return found


def write():
    """Write all snapshots."""
    FOLDER.mkdir(exist_ok=True)
    for make in (results, api, schema):
        text = json.dumps(make(), indent=0, separators=(",", ":"), sort_keys=make is results)
        (FOLDER / f"{make.__name__}.json").write_text(text + "\n")


if __name__ == "__main__":
    write()
