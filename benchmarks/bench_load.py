"""Heavy use: many predictions, many callers, and collections that are large in one direction.

``python benchmarks/bench_load.py`` measures everything and writes results/load.csv and the table of
docs/reliability.md; ``bench_load.py "a million frames"`` measures some lines and keeps the others.
Each line is one fresh process with two threads. Memory is the largest resident memory of the
process, the program itself included; time is seconds of the clock and of the processor.
``--share 0.01`` measures small versions and writes nothing.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scale_page import fill, table

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "load.csv"
PAGE = HERE.parent / "docs" / "reliability.md"
COLUMNS = ["work", "step", "size", "seconds", "cpu_seconds", "peak_mb", "remark"]
N_JOBS = 2


class Log:
    """The steps of one piece of work: time, processor time and largest memory so far."""

    def __init__(self):
        self.lines = []

    @contextmanager
    def step(self, step, size, children=False):
        """Measure a step; the block may set the key `remark` of the line."""
        line = {"step": step, "size": size, "remark": ""}
        begin, used = time.perf_counter(), self._used(children)
        yield line
        seconds, cpu = time.perf_counter() - begin, self._used(children) - used
        line |= {"seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2)}
        line["peak_mb"] = round(_usage(children).ru_maxrss * 1024 / 1e6)  # KiB on Linux
        self.lines.append(line)

    def _used(self, children):
        usage = _usage(children)
        return usage.ru_utime + usage.ru_stime


def _usage(children):
    return resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF)


def series(n, n_channels, n_frames, n_classes=2, seed=0):
    """Return noise that moves at a pace of its class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    paces = np.linspace(0.2, 2.0, n_classes)[y]
    X = [np.cumsum(rng.normal(size=(n_channels, n_frames)), axis=1) * pace for pace in paces]
    return X, y


def vowels():
    """Return a classifier of the vowels, fitted, and the test part."""
    import mvdfq

    clf = mvdfq.SequenceClassifier(n_jobs=N_JOBS).fit(*mvdfq.load_japanese_vowels(split="train"))
    return clf, mvdfq.load_japanese_vowels(split="test")[0]


def resident_mb():
    """Return the memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# the pieces of work ---------------------------------------------------------------------------


def many_predictions(log, share):
    """Predict again and again with one classifier."""
    clf, X = vowels()
    n, size = int(50_000 * share), 25
    blocks = [X[a : a + size] for a in range(0, len(X) - size, size)]
    for block in blocks:
        clf.predict(block)
    before = resident_mb()
    with log.step("predict", f"{n} sequences in calls of {size}") as line:
        for i in range(n // size):
            clf.predict(blocks[i % len(blocks)])
        line["grown_mb"] = resident_mb() - before
        line["remark"] = f"resident memory {before:.0f} MB before, {resident_mb():.0f} MB after"


def answers(clf, X):
    """Return the bytes of all decisions; runs in threads and processes."""
    return clf.decision_function(X).tobytes()


def many_callers(log, share):
    """Ask one classifier from threads and from processes of three kinds."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    from joblib.externals.loky import get_reusable_executor

    clf, X = vowels()
    X = X[: max(4, int(len(X) * share))]
    expected = answers(clf, X)
    spawn, fork = (multiprocessing.get_context(kind) for kind in ("spawn", "fork"))
    pools = {
        "fork": lambda: ProcessPoolExecutor(2, fork),
        "8 threads": lambda: ThreadPoolExecutor(8),
        "spawn": lambda: ProcessPoolExecutor(2, spawn),
        "loky": lambda: get_reusable_executor(2),
    }
    for name, pool in pools.items():
        with log.step(name, f"8 calls of {len(X)} sequences", name != "8 threads") as line:
            with pool() as executor:
                digests = list(executor.map(answers, [clf] * 8, [X] * 8))
            assert digests == [expected] * 8, name
            line["remark"] = "the same bits"


def _fitted(log, X, y, size):
    import mvdfq

    with log.step("fit", size):
        clf = mvdfq.SequenceClassifier(n_jobs=N_JOBS).fit(X, y)
    return clf


def million_frames(log, share):
    """Train with a sequence of a million frames, predict and explain such a sequence."""
    n = int(1_000_000 * share)
    long, y_long = series(2, 3, n)
    X, y = series(20, 3, min(n, 1000), seed=1)
    clf = _fitted(log, [*X, *long], [*y, *y_long], f"20 sequences of {len(X[0][0])}, 2 of {n}")
    with log.step("predict", f"1 sequence of {n}"):
        clf.predict(long[:1])
    with log.step("explain", f"1 sequence of {n}"):
        clf.explain(long[0])


def many_channels(log, share):
    """Train on sequences of two thousand channels, predict and explain."""
    n = int(2000 * share)
    X, y = series(60, n, 60)
    clf = _fitted(log, X, y, f"60 sequences of {n} x 60")
    with log.step("predict", f"60 sequences of {n} x 60"):
        clf.predict(X)
    with log.step("explain", f"1 sequence of {n} x 60"):
        clf.explain(X[0])


def many_classes(log, share):
    """Train on a thousand classes of four sequences and predict."""
    n = int(1000 * share)
    X, y = series(4 * n, 3, 40, n_classes=n)
    clf = _fitted(log, X, y, f"{n} classes of 4 sequences of 3 x 40")
    with log.step("predict", f"{4 * n} sequences of 3 x 40"):
        clf.predict(X)


def many_sequences(log, share):
    """Train on short sequences at the command line, with lines of progress; then predict."""
    import mvdfq

    n = int(100_000 * share)
    X, y = series(n, 3, 20)
    with TemporaryDirectory() as folder:
        data, model = Path(folder, "data.npz"), Path(folder, "model.mvdfq")
        mvdfq.io.write_npz(data, X, y)
        for step, arguments in [("train", [data, "-o", model]), ("predict", [model, data])]:
            command = [sys.executable, "-m", "mvdfq", step, *arguments, "--progress", "lines"]
            with log.step(f"mvdfq {step}", f"{n} sequences of 3 x 20", children=True) as line:
                done = subprocess.run([*command, "--n-jobs", str(N_JOBS)], stdout=-3, stderr=-1)
                said = done.stderr.decode().splitlines()
                assert done.returncode == 0, said
                line["remark"] = f"{len(said)} lines of progress"


WORKS = {
    "50 000 predictions": many_predictions,
    "many callers": many_callers,
    "a million frames": million_frames,
    "2000 channels": many_channels,
    "1000 classes": many_classes,
    "100 000 sequences": many_sequences,
}


def fresh(work, share):
    """Measure in a fresh process; return the lines of the table."""
    command = [sys.executable, __file__, "--work", work, "--share", str(share)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    lines = [{"work": work, **line} for line in json.loads(done.stdout.splitlines()[-1])]
    for line in lines:
        print("  ".join(f"{key}={line[key]}" for key in COLUMNS), flush=True)
    return lines


def main():
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("works", nargs="*", help=f"lines to measure: {', '.join(WORKS)}")
    parser.add_argument("--share", type=float, default=1.0, help="share of all sizes")
    parser.add_argument("--work", help="one piece of work, in this process")
    options = parser.parse_args()
    if options.work:
        log = Log()
        WORKS[options.work](log, options.share)
        print(json.dumps(log.lines))
        return
    measured = {work: fresh(work, options.share) for work in options.works or WORKS}
    if options.share == 1:
        write(measured)


def write(measured):
    """Write the new lines; lines of other works stay."""
    kept = {}
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            for line in csv.DictReader(file):
                kept.setdefault(line["work"], []).append(line)
    kept |= measured
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        lines = [line for work in WORKS for line in kept.get(work, [])]
        writer.writerows(lines)
    header = ["work", "step", "size", "s", "processor s", "peak MB", "remark"]
    fill(PAGE, "load", table(header, [[line[key] for key in COLUMNS] for line in lines]))


if __name__ == "__main__":
    main()
