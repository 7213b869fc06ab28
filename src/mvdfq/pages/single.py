"""The page of one sequence: why it is put into its class."""

from pathlib import Path
from typing import Any

from mvdfq._utils.version import __version__
from mvdfq.frames.base import UnknownShares
from mvdfq.pages.api import clips_of, fitted_run
from mvdfq.pages.contents import SCHEMA, tidy
from mvdfq.pages.details import details
from mvdfq.pages.html import page
from mvdfq.sequences import check_sequences

__all__ = ["explanation_page"]


def explanation_page(
    clf: Any,
    X: Any,
    which: int,
    name: str,
    command: str = "",
    audio: list[Path | None] | None = None,
) -> str:
    """Return the page about sequence `which` of `X`; its true class is not known."""
    x = check_sequences(X)[[which]]
    run = fitted_run(clf, x, clf.predict(x), [name])
    data = {
        "schema": SCHEMA,
        "about": {"title": name, "command": command, "version": __version__},
        "classes": [str(label) for label in run.labels],
        "channels": run.channel_names,
        "units": run.units,
        "sampling_rate": run.X.sampling_rate,
        "sequences": {
            "name": run.names,
            "truth": [None],
            "predicted": run.predicted.tolist(),
            "confidence": run.confidence.tolist(),
            "length": run.X.lengths.tolist(),
        },
        "details": details(run, 1),
        "matters": _channels(clf),
    }
    data = tidy(data)
    return page(data, {} if audio is None else clips_of(run, data, audio))


def _channels(clf: Any) -> dict[str, Any] | None:
    """Return the importance of the channels; None for one channel, or if it is not known."""
    if clf.n_channels_in_ < 2:
        return None
    try:
        shares = clf.feature_importance_.tolist()
    except (AttributeError, UnknownShares, ValueError):
        return None
    return {"channels": shares, "rows": [], "views": [], "layouts": [], "note": ""}
