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
    places = list(dict.fromkeys([*moments, *range(len(run.tested))]))
    files = [None if audio[i] is None else Path(audio[i]) for i in run.tested]
    return tidy(sound_clips(files, places, [moments.get(p, 0.0) for p in places]))


def sound_clips(
    files: Sequence[Path | None], places: Sequence[int], starts: Sequence[float]
) -> dict[str, Any]:
    """Return clips of the sequences at `places`, as data addresses, until a limit is reached.

    `starts` are the seconds that a clip should contain; long files are cut around them.
    """
    clips: dict[str, Any] = {}
    total = 0
    for place, middle in zip(places, starts, strict=True):
        file = files[place]
        if file is None or len(clips) >= MOST_CLIPS:
            continue
        try:
            kind, data, start, seconds = _clip(file, middle)
        except (RuntimeError, OSError):  # the file has gone or changed since it was read
            continue
        total += len(data) * 4 // 3
        if total > MOST_BYTES:
            break
        address = f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
        clips[str(place)] = {"start": start, "seconds": seconds, "data": address}
    return clips


def _clip(file: Path, middle: float) -> tuple[str, bytes, float, float]:
    """Read a few seconds, mix the channels, lower the rate, and encode."""
    import soundfile

    with soundfile.SoundFile(file) as sound:
        rate = sound.samplerate
        start = max(min(middle - SECONDS / 2, sound.frames / rate - SECONDS), 0.0)
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
    return kind, out.getvalue(), start, len(samples) / rate
