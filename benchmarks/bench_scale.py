"""How do time and memory grow with sequences, length, rows, classes and workers?

``python benchmarks/bench_scale.py`` measures everything; ``bench_scale.py grow`` measures one
section and leaves the other lines of results/scale.csv as they are. The sections:

- ``grow``: kernel matrices and hashed words
- ``classifier``: fit, predict, page and scan of the default
- ``cluster``: a kernel matrix and `fit_blocks` on one and on two Dask workers of one thread
- ``large``: the matrix of 20 000 sequences of 13 x 500 in a float32 file

``--part 0.1`` measures a tenth of the sequences, to see the script work. Each size is one fresh
process. Memory is the largest anonymous memory of the process (RssAnon), the program itself
included, without the pages of files that the system can drop at any time.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import numpy as np
from data import music

HERE = Path(__file__).parent
ROWS, LENGTH, N = 13, 500, 1000
CASES = {
    "sequences": [{"n": n} for n in (500, 1000, 2000, 4000)],
    "length": [{"length": length} for length in (125, 250, 500, 1000)],
    "rows": [{"rows": rows} for rows in (2, 4, 8, 13)],
    "workers": [{"workers": 1}, {"workers": 2}],
}
# The classifier: a base, and each of its sizes doubled again and again.
BASE = {"n": 400, "length": 200, "rows": 6, "classes": 4}
CLASSIFIER_CASES = {
    "sequences": [{"n": n} for n in (200, 400, 800, 1600)],
    "length": [{"length": length} for length in (100, 200, 400, 800)],
    "rows": [{"rows": rows} for rows in (3, 6, 12, 24)],
    "classes": [{"classes": classes} for classes in (2, 4, 8, 16)],
}
CLUSTER_N = 2000
FIELDS = ["section", "against", "method", "n", "length", "rows", "classes", "workers", "limit",
          "written_mb", "seconds", "cpu_seconds", "anonymous_mb", "exponent"]  # fmt: skip


def windows(n, length, rows):
    """Return a function that yields `n` windows of clips in blocks of about a thousand."""
    clips = np.stack([clip[:rows] for clip in music()[0]])
    per_clip = -(-n // len(clips))
    starts = np.linspace(0, clips.shape[2] - length, per_clip).astype(int)

    def blocks():
        for k, start in enumerate(starts):
            # the same place in all clips: neighbours in the collection are different music
            yield clips[: n - k * len(clips), :, start : start + length]

    return blocks


class Peak(Thread):
    """Looks at the anonymous memory of this process twenty times per second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.ended, self.most = Event(), 0

    def run(self):
        """Look until `stop`."""
        while not self.ended.wait(0.05):
            status = Path("/proc/self/status").read_text()
            self.most = max(self.most, 1024 * int(re.search(r"RssAnon:\s+(\d+)", status)[1]))

    def stop(self):
        """Return the largest number of bytes."""
        self.ended.set()
        self.join()
        return self.most


def timed(method, function, cpu=time.process_time):
    """Call a function; print its time and memory as JSON, and the facts if it returns any."""
    peak = Peak()
    peak.start()
    begin, used = time.perf_counter(), cpu()
    result = function()
    seconds, used = time.perf_counter() - begin, cpu() - used
    facts = result if isinstance(result, dict) else {}
    facts |= {"seconds": round(seconds, 3), "cpu_seconds": round(used, 3)}
    print(json.dumps({"method": method, **facts, "anonymous_mb": round(peak.stop() / 1e6, 1)}))


def counted(work):
    """Measure a kernel matrix or hashed words in this process."""
    import mvdfq

    blocks = windows(work["n"], work["length"], work["rows"])
    first = next(iter(blocks()))
    quantizer = mvdfq.DirectQuantizer(32, strategy="uniform").fit(first[:1000])
    function = {"gram": gram, "features": features}[work["method"]]
    with TemporaryDirectory(dir=work["folder"]) as folder:
        function(quantizer, [first[:40]], folder, work)  # loads the compiled code
        timed(work["method"], lambda: function(quantizer, blocks(), folder, work))


def gram(quantizer, blocks, folder, work):
    """Write the kernel matrix to a float32 file."""
    import mvdfq
    from mvdfq._utils.progress import Lines

    kernel = mvdfq.SequenceKernel(
        mvdfq.Spectrum(6), manifold=True, n_jobs=work["workers"], memory_limit=work["limit"]
    )
    encoded = (quantizer.transform(block) for block in blocks)
    path = Path(folder) / "K.npy"
    with Lines(gap=10.0, shows_quick=False) as lines:
        K = mvdfq.write_gram(
            kernel, encoded, path, dtype="float32", progress=lines.report("kernel")
        )
    assert np.allclose(np.diagonal(K)[:100], 1)
    del K
    facts = {"written_mb": round(path.stat().st_size / 1e6, 1)}
    path.unlink()
    return facts


def features(quantizer, blocks, folder, work):
    """Hash the words of all sequences, block by block, as a linear model reads them."""
    import mvdfq
    from mvdfq.gram.vocabulary import Buckets

    options = {"n_jobs": work["workers"], "memory_limit": work["limit"]}
    counter = mvdfq.SequenceFeatures(mvdfq.Spectrum(6), manifold=True, n_features=2**20, **options)
    counter.fit_reader(quantizer.transform(np.zeros((1, work["rows"], 10))))
    counter.columns_ = Buckets(2**20)
    n = sum(counter.transform(quantizer.transform(block)).nnz for block in blocks)
    return {"written_mb": round(12 * n / 1e6, 1)}


def classifier(work):
    """Measure fit, predict, page and scan of the default, one after the other."""
    import mvdfq

    def steps(n):
        X, y = mvdfq.make_autoregressive(
            2 * n, work["rows"], work["length"], work["classes"], random_state=0
        )
        clf = mvdfq.SequenceClassifier(n_jobs=work["workers"])
        recording = np.concatenate(X[n : n + n // 4], axis=1)
        window = {"window": work["length"], "step": work["length"] // 2}
        yield "fit", lambda: clf.fit(X[:n], y[:n])
        yield "predict", lambda: clf.predict_proba(X[n:])
        yield "page", lambda: mvdfq.report(clf, X[n:], y[n:], path=None)
        yield "scan", lambda: clf.scan(recording, **window)

    for _, function in steps(4 * work["classes"]):  # loads the compiled code
        function()
    for method, function in steps(work["n"]):
        timed(method, function)


def cluster(work):
    """Measure a kernel matrix and a fit by blocks on Dask workers of one thread each."""
    from distributed import Client, LocalCluster

    import mvdfq

    X = np.concatenate(list(windows(work["n"], work["length"], work["rows"])()))
    symbols = mvdfq.DirectQuantizer(32, strategy="uniform").fit_transform(list(X))
    kernel = mvdfq.SequenceKernel(mvdfq.Spectrum(6), manifold=True)
    made, y = mvdfq.make_autoregressive(5 * work["n"], 3, 20, 10, random_state=0)
    for i in range(10):
        mvdfq.io.write_npz(Path(work["folder"]) / f"{i}.npz", made[i::10], y[i::10])
    parts = mvdfq.io.list_parts(work["folder"], "*.npz")
    options = {"threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(n_workers=work["workers"], **options) as workers, Client(workers) as client:

        def cpu():
            return time.process_time() + sum(client.run(time.process_time).values())

        with mvdfq.use_engine(client):
            fast = mvdfq.SequenceClassifier("fast").fit_blocks(parts[:2])  # loads compiled code
            kernel.fit_transform(symbols[:40])
            timed("dask gram", lambda: kernel.fit_transform(symbols), cpu)
            timed("dask fit_blocks", lambda: fast.fit_blocks(parts), cpu)


def fresh(function, **work):
    """Measure in a fresh process; return the lines of the table."""
    work = {"n": N, "length": LENGTH, "rows": ROWS, "workers": 2, "limit": "1 GB", **work}
    with TemporaryDirectory(dir=HERE) as folder:
        given = json.dumps({**work, "function": function, "folder": folder})
        command = [sys.executable, __file__, "--work", given]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment)
    if done.returncode:
        sys.exit(done.returncode)
    lines = [{**work, **json.loads(text)} for text in done.stdout.splitlines() if text[:1] == "{"]
    for line in lines:
        print("  ".join(f"{key}={value}" for key, value in line.items()), flush=True)
    return lines


def against_all(function, all_cases, part, **given):
    """Yield the lines of all sizes, with the slope of time against size on two logarithmic axes."""
    for against, cases in all_cases.items():
        done = []
        for case in cases:
            case = {**given, **case}
            case["n"] = max(24, round(part * case["n"]))
            done.append(fresh(function, against=against, **case))
        sizes = [next(iter(case.values())) for case in cases]
        for lines in zip(*done, strict=True):  # one method, all sizes
            slope = np.polyfit(np.log(sizes), np.log([x["cpu_seconds"] for x in lines]), 1)[0]
            yield from ({**line, "exponent": round(float(slope), 2)} for line in lines)


def grow(part):
    """Yield the growth of kernel matrices and hashed words."""
    for method in ("gram", "features"):
        yield from against_all("counted", CASES, part, section="grow", n=N, method=method)


def of_classifier(part):
    """Yield the growth of the default classifier."""
    yield from against_all("classifier", CLASSIFIER_CASES, part, section="classifier", **BASE)


def on_cluster(part):
    """Yield the work of one and of two Dask workers."""
    n = max(40, round(part * CLUSTER_N))
    for workers in (1, 2):
        yield from fresh("cluster", section="cluster", against="workers", workers=workers, n=n)


def large(part):
    """Yield the one large matrix: 2 GB of anonymous memory, 15 minutes."""
    n = round(part * 20_000)
    yield from fresh("counted", section="large", against="", method="gram", n=n, limit="1.5 GB")


SECTIONS = {"grow": grow, "classifier": of_classifier, "cluster": on_cluster, "large": large}
WORKS = {"counted": counted, "classifier": classifier, "cluster": cluster}


def write(path, lines):
    """Write the results; lines of sections that were not measured now stay."""
    path.touch()
    measured_now = {line["section"] for line in lines}
    with path.open(newline="") as file:
        kept = [line for line in csv.DictReader(file) if line["section"] not in measured_now]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows([*lines, *kept])


def main():
    """Measure the sections that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("section", nargs="?", choices=[*SECTIONS])
    parser.add_argument("--part", type=float, default=1.0, help="share of the sequences")
    parser.add_argument("--to", type=Path, default=HERE / "results" / "scale.csv")
    parser.add_argument("--work", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        WORKS[given.work["function"]](given.work)
        return
    for name, measure in SECTIONS.items():
        if given.section in (None, name):
            write(given.to, list(measure(given.part)))


if __name__ == "__main__":
    main()
