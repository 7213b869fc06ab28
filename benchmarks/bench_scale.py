"""How do time and memory grow with sequences, length, rows and workers?

``python benchmarks/bench_scale.py`` measures everything; ``bench_scale.py grow`` or ``large``
measures one section and leaves the other lines of results/scale.csv as they are. Each line is one
fresh process. Memory is the largest anonymous memory of the process (RssAnon), the program itself
included, without the pages of files that the system can drop at any time.

``large`` is the matrix of 20 000 sequences of 13 x 500 in a float32 file; ``large 5000`` is a
smaller one.
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


def measured(work):
    """Do one piece of work in this process; print time and memory as JSON."""
    import mvdfq

    blocks = windows(work["n"], work["length"], work["rows"])
    first = next(iter(blocks()))
    quantizer = mvdfq.DirectQuantizer(32, strategy="uniform").fit(first[:1000])
    function = {"gram": gram, "features": features}[work["method"]]
    with TemporaryDirectory(dir=work["folder"]) as folder:
        function(quantizer, [first[:40]], folder, work)  # loads the compiled code
        peak = Peak()
        peak.start()
        begin, used = time.perf_counter(), time.process_time()
        facts = function(quantizer, blocks(), folder, work)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - used
    facts |= {"seconds": round(seconds, 3), "cpu_seconds": round(cpu, 3)}
    print(json.dumps(facts | {"anonymous_mb": round(peak.stop() / 1e6, 1)}))


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


def fresh(**work):
    """Measure in a fresh process; return a line of the table."""
    work = {"n": N, "length": LENGTH, "rows": ROWS, "workers": 2, "limit": "1 GB", **work}
    with TemporaryDirectory(dir=HERE) as folder:
        command = [sys.executable, __file__, "--work", json.dumps({**work, "folder": folder})]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment)
    if done.returncode:
        sys.exit(done.returncode)
    line = {**work, **json.loads(done.stdout.splitlines()[-1])}
    print("  ".join(f"{key}={value}" for key, value in line.items()), flush=True)
    return line


def grow():
    """Yield the growth of the kernel matrix and of hashed features."""
    for method in ("gram", "features"):
        for against, cases in CASES.items():
            lines = [fresh(section="grow", against=against, method=method, **c) for c in cases]
            sizes = [next(iter(case.values())) for case in cases]
            slope = np.polyfit(np.log(sizes), np.log([x["cpu_seconds"] for x in lines]), 1)[0]
            yield from ({**line, "exponent": round(float(slope), 2)} for line in lines)


def large(n=20_000):
    """Yield the one large matrix: 2 GB of anonymous memory, 15 minutes."""
    yield fresh(section="large", against="", method="gram", n=n, limit="1.5 GB") | {"exponent": ""}


def write(lines):
    """Write the results; lines of sections that were not measured now stay."""
    path = HERE / "results" / "scale.csv"
    path.touch()
    measured_now = {line["section"] for line in lines}
    with path.open(newline="") as file:
        kept = [line for line in csv.DictReader(file) if line["section"] not in measured_now]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows([*lines, *kept])


def main():
    """Measure the sections that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("section", nargs="?", choices=["grow", "large"])
    parser.add_argument("n", nargs="?", type=int, default=20_000)
    parser.add_argument("--work", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        measured(given.work)
        return
    if given.section in (None, "grow"):
        write(list(grow()))
    if given.section in (None, "large"):
        write(list(large(given.n)))


if __name__ == "__main__":
    main()
