"""All numbers of a report, and short clips of its sound files.

The numbers are one dict, ready for JSON; docs/guide/report.md documents it.
"""

import base64
import io
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.threads import Report, one_blas_thread
from mvdfq._utils.version import __version__
from mvdfq.pages.details import details
from mvdfq.pages.matters import matters
from mvdfq.pages.outcome import confusions, health, trust, verdict
from mvdfq.pages.run import Run
from mvdfq.pages.similar import atlas
from mvdfq.pages.stretches import stretches

SCHEMA = "mvdfq report 1"
# Together the clips stay below 1.5 MB: a page with sound still travels by mail.
MOST_CLIPS, MOST_BYTES = 80, 1_500_000
SECONDS, RATE = 4.0, 16_000


@one_blas_thread()  # products are small: more threads would only wait for each other
def contents(
    run: Run,
    about: dict[str, Any],
    n_details: int | None,
    report: Report = lambda done, total: None,
) -> dict[str, Any]:
    """Return the panels of a report as plain numbers; `report` is told after each panel."""
    about = {**about, "classifier": " ".join(repr(run.estimator).split())}
    data = names_of(run, about)
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
        data[key] = make(run)
        report(k, len(panels))
    places = {"fold": run.fold_of.tolist(), "x": data["map"].pop("x"), "y": data["map"].pop("y")}
    data["sequences"] = judged_sequences(run) | places
    if run.groups is not None:
        data["sequences"]["group"] = [str(run.groups[i]) for i in run.tested]
    return tidy(data)


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


def judged_sequences(run: Run) -> dict[str, Any]:
    """Return the judged sequences, one column per fact."""
    return {
        "name": [run.names[i] for i in run.tested],
        "truth": run.truth.tolist(),
        "predicted": run.predicted.tolist(),
        "confidence": run.confidence.tolist(),
        "length": run.X.lengths[run.tested].tolist(),
    }


def tidy(value: Any, digits: int = 5) -> Any:
    """Round floats to `digits` significant digits; None in place of NaN, which JSON lacks."""
    if isinstance(value, dict):
        return {key: tidy(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        if {*map(type, value)} == {float}:  # one call to round all, a tenth of the time
            rounded = (f"%.{digits}g " * len(value) % tuple(value)).split()
            return [None if text[-1] in "nf" else float(text) for text in rounded]  # nan and inf
        return [tidy(item, digits) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, float):
        return value
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def sound_files(path: Path, names: Sequence[str]) -> list[Path | None] | None:
    """Return the sound file of each name of a folder; None if the names are not sound files."""
    import soundfile

    folder = path if path.is_dir() else path.parent
    files = [folder / name for name in names]
    if not files or not files[0].is_file():
        return None
    try:
        soundfile.info(files[0])
    except (RuntimeError, OSError, TypeError):  # TypeError: a raw file does not say its format
        return None
    return [file if file.is_file() else None for file in files]


def clips_of(run: Run, data: dict[str, Any], audio: Sequence[Any]) -> dict[str, Any]:
    """Return the clips of the sequences in detail, then of others, around the most evidence."""
    if len(audio) != len(run.X):
        raise ValueError(f"audio must hold one file per sequence ({len(run.X)}), got {len(audio)}.")
    rate, moments = data["sampling_rate"], dict[int, float]()
    for detail in data["details"]:
        known = rate and detail["total"]
        strongest = detail["edges"][int(np.argmax(np.abs(detail["total"])))] if known else 0
        moments[detail["sequence"]] = strongest / rate if known else 0.0
    moments |= {place: 0.0 for place in range(len(run.tested)) if place not in moments}
    return tidy(sound_clips([audio[i] for i in run.tested], moments))


def sound_clips(files: Sequence[Any], moments: dict[int, float]) -> dict[str, Any]:
    """Return clips of files around a second each, by place in `files`, until a limit is reached."""
    clips: dict[str, Any] = {}
    total = 0
    for place, moment in moments.items():
        if files[place] is None or len(clips) >= MOST_CLIPS:
            continue
        try:
            clip = _clip(files[place], moment)
        except (RuntimeError, OSError):  # the file has gone or changed since it was read
            continue
        total += len(clip["data"])
        if total > MOST_BYTES:
            break
        clips[str(place)] = clip
    return clips


def _clip(file: Any, moment: float) -> dict[str, Any]:
    """Read a few seconds around a moment, mix the channels, lower the rate, and encode."""
    import soundfile

    with soundfile.SoundFile(file) as sound:
        rate = sound.samplerate
        start = max(min(moment - SECONDS / 2, sound.frames / rate - SECONDS), 0.0)
        sound.seek(int(start * rate))
        samples = sound.read(int(SECONDS * rate), always_2d=True).mean(axis=1)
    if rate > RATE:
        from scipy.signal import resample_poly

        factor = np.gcd(rate, RATE)
        samples, rate = resample_poly(samples, RATE // factor, rate // factor), RATE
    samples = np.clip(samples, -1, 1)
    kind, form = ("audio/mpeg", "MP3")
    if form not in soundfile.available_formats():  # libsndfile before 1.1 writes no MP3
        kind, form = ("audio/wav", "WAV")
    out = io.BytesIO()
    soundfile.write(out, samples, rate, format=form)
    address = f"data:{kind};base64,{base64.b64encode(out.getvalue()).decode('ascii')}"
    return {"start": start, "seconds": len(samples) / rate, "data": address}
