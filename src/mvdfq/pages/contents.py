"""All numbers of a report: one dict, ready for JSON; docs/guide/report.md documents it."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mvdfq._utils.threads import Report
from mvdfq._utils.version import __version__
from mvdfq.pages.details import details
from mvdfq.pages.matters import matters
from mvdfq.pages.outcome import confusions, health, trust, verdict
from mvdfq.pages.run import Run
from mvdfq.pages.similar import atlas
from mvdfq.pages.stretches import stretches

SCHEMA = "mvdfq report 1"


def contents(
    run: Run,
    about: dict[str, Any],
    n_details: int | None,
    report: Report = lambda done, total: None,
) -> dict[str, Any]:
    """Return the panels of a report as plain numbers and text.

    `about` holds title, data and command; `n_details` is the number of sequences in detail;
    `report` is told after every panel how many panels are done.
    """
    about = {**about, "classifier": " ".join(repr(run.estimator).split())}
    found = names_of(run, about)
    panels: dict[str, Callable[[Run], Any]] = {
        "verdict": verdict,
        "confusions": confusions,
        "map": atlas,
        "details": partial(details, n=n_details),
        "matters": matters,
        "stretches": stretches,
        "trust": trust,
        "health": health,
    }
    for k, (key, make) in enumerate(panels.items(), 1):
        found[key] = make(run)
        report(k, len(panels))
    found["sequences"] = _sequences(run, found["map"].pop("x"), found["map"].pop("y"))
    return tidy(found)


def names_of(run: Run, about: dict[str, Any]) -> dict[str, Any]:
    """Return what every page begins with: what it is about, classes and channels."""
    return {
        "schema": SCHEMA,
        "about": {**about, "version": __version__},
        "classes": [str(label) for label in run.labels],
        "channels": run.channel_names,
        "units": run.units,
        "sampling_rate": run.X.sampling_rate,
    }


def _sequences(run: Run, x: list[float], y: list[float]) -> dict[str, Any]:
    """Return the judged sequences, one column per fact."""
    columns = {
        "name": [run.names[i] for i in run.tested],
        "truth": run.truth.tolist(),
        "predicted": run.predicted.tolist(),
        "confidence": run.confidence.tolist(),
        "length": run.X.lengths[run.tested].tolist(),
        "fold": run.fold_of.tolist(),
        "x": x,
        "y": y,
    }
    if run.groups is not None:
        columns["group"] = [str(run.groups[i]) for i in run.tested]
    return columns


def tidy(value: Any, digits: int = 5) -> Any:
    """Round floats to `digits` significant digits; None in place of NaN, which JSON lacks."""
    if isinstance(value, dict):
        return {key: tidy(one, digits) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [tidy(one, digits) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, float):
        return value
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
