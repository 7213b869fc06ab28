"""Short clips of sound files for the page."""

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq.pages.contents import tidy
from mvdfq.pages.run import Run

# Together the clips stay below 1.5 MB: a page with sound still travels by mail.
MOST_CLIPS, MOST_BYTES = 80, 1_500_000
SECONDS, RATE = 4.0, 16_000


def sound_files(path: Path, names: Sequence[str]) -> list[Path | None] | None:
    """Return the sound file of each name of a folder; None if the names are not sound files."""
    import soundfile

    folder = path if path.is_dir() else path.parent
    found = [folder / name for name in names]
    if not found or not found[0].is_file():
        return None
    try:
        soundfile.info(found[0])
    except (RuntimeError, OSError, TypeError):  # TypeError: a raw file does not say its format
        return None
    return [file if file.is_file() else None for file in found]


def clips_of(run: Run, data: dict[str, Any], audio: Sequence[Any]) -> dict[str, Any]:
    """Return the clips of the sequences in detail, then of others, around the most evidence."""
    if len(audio) != len(run.X):
        message = f"audio must hold one file per sequence ({len(run.X)}), got {len(audio)}."
        raise ValueError(message)
    rate, moments = data["sampling_rate"], dict[int, float]()
    for one in data["details"]:
        known = rate and one["total"]
        strongest = one["edges"][int(np.argmax(np.abs(one["total"])))] if known else 0
        moments[one["sequence"]] = strongest / rate if known else 0.0
    moments |= {place: 0.0 for place in range(len(run.tested)) if place not in moments}
    return tidy(sound_clips([audio[i] for i in run.tested], moments))


def sound_clips(files: Sequence[Any], moments: dict[int, float]) -> dict[str, Any]:
    """Return clips of sequences, given a second that each clip contains, until a limit is reached.

    The keys of `moments` are places in `files`.
    """
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
