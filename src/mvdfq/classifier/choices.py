"""Choose the parts of a classifier: arguments replace the parts of a preset."""

from dataclasses import replace
from typing import Any

import numpy as np

from mvdfq._utils.checks import check_positive
from mvdfq.classifier.letters_default import letters_settings
from mvdfq.classifier.presets import PRESETS, Settings, part
from mvdfq.gram.base import are_letters
from mvdfq.kernels import Kernel
from mvdfq.machines.validation import CANDIDATES, Cautious
from mvdfq.symbols.base import Symbols

__all__ = ["candidates", "check_nested", "settings_for"]


def settings_for(classifier: Any, X: Any) -> Settings:
    """Return the parts of a classifier for X: its own parts, else the parts of its preset."""
    name = classifier.preset
    if name is None:
        name = "letters" if are_letters(X) else "numbers"
    if name not in PRESETS:
        raise ValueError(f"preset={name!r} is not known; mvdfq.list_presets() lists all presets.")
    own = {
        key: value
        for key in ("frames", "symbols", "kernel", "manifold", "pyramid", "multi_class", "C")
        if (value := getattr(classifier, key)) is not None
    }
    for kind in ("frames", "symbols", "kernel"):
        if kind in own:
            own[kind] = part(kind, own[kind])
    _refuse_letters(name, own, X)
    settings = letters_settings(X) if name == "letters" else PRESETS[name]()
    changed = {"frames", "symbols", "kernel", "manifold", "pyramid"} & own.keys()
    if changed or classifier.gamma is not None or classifier.weights is not None:
        settings = settings.alone()
    settings = replace(settings, **own)
    if not isinstance(settings.kernel, Kernel):
        raise TypeError(f"kernel must be a name or a kernel, got {settings.kernel!r}.")
    if isinstance(X, Symbols) or not settings.kernel.reads_symbols:
        _refuse_encoders(own, settings.kernel, isinstance(X, Symbols))
        settings = replace(settings, frames=None, symbols=None)
    _check_settings(classifier, settings)
    return settings


def check_nested(classifier: Any, params: dict[str, Any]) -> None:
    """Refuse a parameter such as `symbols__n_bins` if the part `symbols` is not an object."""
    examples = {"frames": "Delta()", "symbols": "DirectQuantizer()", "kernel": "Spectrum()"}
    for name in params:
        kind, is_nested, _ = name.partition("__")
        if not is_nested or kind not in examples:
            continue
        value = params.get(kind, getattr(classifier, kind))
        if value is None or isinstance(value, str):
            raise ValueError(
                f"{name} sets a parameter of {kind}, but {kind}={value!r} has no parameters; pass "
                f"the part as an object first, such as {kind}=mvdfq.{examples[kind]}."
            )


def _refuse_letters(name: str, own: dict[str, Any], X: Any) -> None:
    """Refuse symbols if the encoders of the preset need numbers."""
    if name in ("numbers", "fast", "music") and "symbols" not in own and are_letters(X):
        raise ValueError(
            f"preset={name!r} reads numbers, but all channels of X hold letters or symbols; pass "
            f"preset='letters'."
        )


def _refuse_encoders(own: dict[str, Any], kernel: Kernel, has_symbols: bool) -> None:
    for kind in ("frames", "symbols"):
        if own.get(kind) not in (None, "passthrough") and (has_symbols or kind == "symbols"):
            what = "X holds symbols already" if has_symbols else f"{kernel!r} reads numbers"
            raise ValueError(f"{what}; pass {kind}=None.")


def _check_settings(classifier: Any, settings: Settings) -> None:
    """Refuse options that do not exist or cannot be combined."""
    allowed: dict[str, tuple[Any, ...]] = {
        "solver": ("auto", "kernel", "linear"),
        "weights": (None, "rows", "groups"),
    }
    for name, values in allowed.items():
        if getattr(classifier, name) not in values:
            raise ValueError(f"{name} must be one of {values}, got {getattr(classifier, name)!r}.")
    if settings.multi_class not in ("ovr", "ovo"):
        raise ValueError(f"multi_class must be 'ovr' or 'ovo', got {settings.multi_class!r}.")
    _check_features(classifier, settings.kernel)
    if not isinstance(settings.manifold, bool | np.bool_):
        raise ValueError(f"manifold must be True or False, got {settings.manifold!r}.")
    if classifier.solver == "linear" and classifier.gamma is not None:
        raise ValueError("gamma needs solver='kernel', got 'linear': the RBF has no features.")


def _check_features(classifier: Any, kernel: Kernel) -> None:
    """Refuse options that need explicit features, or several rows or groups."""
    if classifier.solver == "linear" and not kernel.has_features:
        raise ValueError(f"{kernel!r} has no features for solver='linear'; pass 'kernel'.")
    if classifier.weights == "groups" and not kernel.has_groups:
        raise ValueError(f"{kernel!r} has no groups to weight; pass weights=None.")
    if classifier.weights == "rows" and not kernel.reads_symbols:
        raise ValueError(f"{kernel!r} reads all rows together; pass weights=None.")


def candidates(C: Any) -> tuple[float, ...]:
    """Return the penalties to choose from."""
    if isinstance(C, str):
        if C != "auto":
            raise ValueError(f"C must be a number, several numbers or 'auto', got {C!r}.")
        return CANDIDATES
    if isinstance(C, Cautious):
        return C
    values = tuple(check_positive(value, "C") for value in np.ravel(np.asarray(C, dtype=object)))
    if not values:
        raise ValueError("C must hold at least one number, got an empty sequence.")
    return tuple(sorted(values))
