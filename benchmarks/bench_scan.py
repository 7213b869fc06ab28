"""How long does a scan take, and how much memory? Recordings of 5, 30 and 120 minutes.

    python benchmarks/bench_scan.py

Trains on five-second windows of made sounds (rain, an engine, birds), writes long recordings of the
same sounds at 16 kHz, and runs ``mvdfq scan MODEL long.wav --window 5s --step 1s`` in a process of
its own, with and without ``--unknown``. Writes one line per run to results/scan.csv: seconds, and
the largest memory of the process.
"""

import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile

RESULTS = Path(__file__).parent / "results" / "scan.csv"
FIELDS = ["minutes", "unknown", "seconds", "seconds per minute", "peak MB"]
RATE, MINUTES, KINDS = 16_000, (5, 30, 120), ("rain", "engine", "bird")


def sound(kind, seconds, rng):
    """Return some seconds of one kind of sound."""
    t = np.arange(int(seconds * RATE)) / RATE
    noise = rng.normal(size=len(t))
    if kind == "rain":
        return 0.1 * noise * rng.uniform(0.5, 1)
    if kind == "engine":
        return 0.2 * np.sign(np.sin(2 * np.pi * rng.uniform(60, 90) * t)) + 0.02 * noise
    pitch = 2500 + 600 * np.sin(2 * np.pi * rng.uniform(4, 7) * t)
    return 0.2 * np.sin(2 * np.pi * np.cumsum(pitch) / RATE) + 0.003 * noise


def run(*words):
    """Run a command; return its seconds and its largest memory in MB."""
    began = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "mvdfq", *map(str, words), "-q"], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, words
    return time.perf_counter() - began, usage.ru_maxrss / 1024


def main():
    """Train, and scan recordings of several lengths."""
    rng, lines = np.random.default_rng(0), []
    with tempfile.TemporaryDirectory() as folder:
        root, model = Path(folder) / "sounds", Path(folder) / "sounds.mvdfq"
        for kind in KINDS:
            (root / kind).mkdir(parents=True)
            for i in range(20):
                soundfile.write(root / kind / f"{i}.wav", sound(kind, 10, rng), RATE)
        run("train", root, "-o", model, "--windows", "5s", "--step", "2.5s", "--no-cache")
        for minutes in MINUTES:
            path = Path(folder) / f"{minutes}.wav"
            with soundfile.SoundFile(path, "w", RATE, 1) as file:
                for k in range(3 * minutes):
                    file.write(sound(KINDS[k % 3], 20, rng))
            for unknown in ([], ["--unknown"]):
                about = "scan", model, path, "--window", "5s", "--step", "1s", "--no-cache"
                seconds, peak = run(*about, *unknown)
                each = f"{seconds / minutes:.2f}"
                lines.append([minutes, bool(unknown), f"{seconds:.1f}", each, f"{peak:.0f}"])
                print(*lines[-1], flush=True)
    with RESULTS.open("w", newline="") as file:
        csv.writer(file).writerows([FIELDS, *lines])


if __name__ == "__main__":
    main()
