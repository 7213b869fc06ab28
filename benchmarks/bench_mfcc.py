"""How fast are MFCC, beside librosa's, and how much of reading a file is decoding?

``python benchmarks/bench_mfcc.py`` prints a table and writes it to results/mfcc.csv. One core: the
process is bound to one where the system allows it, and linear algebra to one thread. The signal is
three minutes of noise with tones, single precision. ``speed`` is seconds of sound in a second.
"""

import csv
import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile
from threadpoolctl import threadpool_limits

from mvdfq.io.sound.audio import audio_features
from mvdfq.io.sound.recipes import AUDIO_RECIPES, AudioRecipe

SECONDS = 180
ROUNDS = 15
# The options that both know; GTZAN's logarithm and its frames are ours alone.
SHARED = {
    "librosa's defaults, 13 coefficients": dict(sr=22050, n_mfcc=13),
    "GTZAN's window, hop and bands": dict(
        sr=22050, n_mfcc=13, n_fft=1024, win_length=551, hop_length=276, window="hamming",
        n_mels=40, htk=True, mel_norm=None,
    ),
    "16 kHz, 25 ms every 10 ms": dict(
        sr=16000, n_mfcc=13, n_fft=512, win_length=400, hop_length=160, window="hamming",
        n_mels=40, htk=True, mel_norm=None,
    ),
}  # fmt: skip
KINDS = ["wav", "flac", "ogg", "mp3"]


def signal(sr):
    """Noise with tones, of a level like music's."""
    t = np.arange(SECONDS * sr) / sr
    tones = sum(np.sin(2 * np.pi * hertz * t) for hertz in (110, 440, 1760))
    return (0.1 * tones + 0.05 * np.random.default_rng(0).normal(size=t.size)).astype(np.float32)


def medians(*functions):
    """Median wall time of each function; they take turns, so that a busy machine is fair."""
    times = [[] for _ in functions]
    for function in functions:
        function()
    for _ in range(ROUNDS):
        for function, taken in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def row(work, ours, peer="", theirs=None, target="", reached=None):
    """One line of the table; empty where there is nobody to compare with."""
    return dict(
        work=work, ours_s=round(ours, 4), speed=round(SECONDS / ours), peer=peer,
        theirs_s="" if theirs is None else round(theirs, 4),
        ratio="" if theirs is None else round(theirs / ours, 2), target=target,
        reached={None: "", True: "yes", False: "no"}[reached],
    )  # fmt: skip


def against_librosa():
    """Yield the same features by both, without decoding."""
    import librosa

    for work, options in SHARED.items():
        y = signal(options["sr"])
        ours, theirs = medians(
            lambda y=y, o=options: AudioRecipe(**o).features([y]),
            lambda y=y, o=options: librosa.feature.mfcc(y=y, **o),
        )
        reached = theirs >= ours and SECONDS / ours >= 500
        yield row(work, ours, "librosa.feature.mfcc", theirs, "ratio 1, speed 500", reached)


def recipes():
    """Yield the recipes that librosa has not."""
    for name in ("default", "gtzan", "telephone"):
        recipe = AUDIO_RECIPES[name]
        y = signal(recipe.sr)
        (ours,) = medians(lambda y=y, r=recipe: r.features([y]))
        reached = SECONDS / ours >= 500
        yield row(f"recipe {name!r}", ours, target="speed 500", reached=reached)


def files():
    """Yield whole files of 44100 Hz in stereo, beside decoding alone."""
    y = np.stack([signal(44100)] * 2, axis=1)
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            file = Path(folder) / f"a.{kind}"
            with soundfile.SoundFile(file, "w", 44100, 2) as sound:
                for start in range(0, len(y), 44100):  # libvorbis takes no large block
                    sound.write(y[start : start + 44100])
            ours, decoding = medians(
                lambda file=file: audio_features(file), lambda file=file: soundfile.read(file)
            )
            work = f"{kind} file, 44100 Hz stereo, recipe 'default'"
            yield row(work, ours, "soundfile.read alone", decoding)


def main():
    """Measure everything."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows = []
    with threadpool_limits(1):
        for part in (against_librosa, recipes, files):
            for line in part():
                rows.append(line)
                print(*line.values(), sep=" | ", flush=True)
    with open(Path(__file__).parent / "results" / "mfcc.csv", "w", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
