"""How fast are the Gram matrices, beside what a user could write instead?

``python benchmarks/bench_gram.py`` prints a table and writes it to results/gram.csv,
results/gram_steps.csv (the first line step by step, beside measured floors) and
results/growth.csv. Peers run in the same process, on the same data and cores; where a peer takes
minutes it does a stated share of the work, and its time is scaled up. ``bench_gram.py spectrum
steps`` measures only these sections and leaves other lines as they are.
"""

import csv
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import gram_steps
import numpy as np
from data import music
from peers import bincount_gram, scipy_gram, scipy_mismatch, vectorizer_gram

import mvdfq

HERE = Path(__file__).parent
N_JOBS = 2


def seconds(function, repeat=1):
    """Best wall time of several runs, and the result: the machine may be shared."""
    best, result = np.inf, None
    for _ in range(repeat):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def ours(symbols, kernel, repeat=5, **options):
    """Time one Gram matrix, after a small one that loads the compiled code."""
    estimator = mvdfq.SequenceKernel(kernel, n_jobs=N_JOBS, normalize=False, **options)
    estimator.fit_transform(symbols[:20])
    time.sleep(1)  # let the peer before us and its threads come to rest
    return seconds(lambda: estimator.fit_transform(symbols), repeat)


def cube(symbols):
    """Codes as (n_rows, n_sequences, n_frames), which the peers read."""
    return symbols.codes.reshape(symbols.n_rows, len(symbols), -1).astype(np.int64)


def row(work, ours, peer, theirs, target, note="", unit="s"):
    """One line of the table; a target is a ratio that we want to reach."""
    ratio = theirs / ours
    reached = "yes" if ratio >= target else "no"
    values = dict(work=work, unit=unit, ours=round(ours, 3), peer=peer, theirs=round(theirs, 2))
    return {**values, "ratio": round(ratio, 2), "target": target, "reached": reached, "note": note}


def spectrum(rows, codes):
    """Spectrum of length 6 on 32 uniform bins, raw and rooted."""
    layouts = [tuple(range(6))]
    for root in (False, True):
        name = f"Spectrum(6), 32 bins, {'root' if root else 'raw'}"
        time_ours, K = ours(rows, mvdfq.Spectrum(6), manifold=root)
        time_scipy, expected = seconds(lambda root=root: scipy_gram(codes, layouts, 34, root), 2)
        np.testing.assert_allclose(K, expected / (13 if root else 1), rtol=1e-4)
        yield row(name, time_ours, "numpy + scipy.sparse", time_scipy, 12 if root else 10)
        part, _ = seconds(lambda root=root: vectorizer_gram(codes[:3], 6, root), 2)
        yield row(name, time_ours, "CountVectorizer", part * 13 / 3, 30, "peer: 3 of 13 rows")


def spatial(name, rows, codes, base, targets):
    """Spatial(3, 1, 5); peers do every fourth row and every fifth layout."""
    layouts = [g.layouts[0].offsets for g in mvdfq.Spatial(3, 1, 5).groups(base)]
    time_ours, _ = ours(rows, mvdfq.Spatial(3, 1, 5), 2, manifold=True)
    for peer, function, target in targets:
        part, _ = seconds(lambda f=function: f(codes[::4], layouts[::5], base, True))
        scale = 13 * 25 / (len(codes[::4]) * len(layouts[::5]))
        note = f"peer: {len(codes[::4])} rows, {len(layouts[::5])} layouts"
        yield row(f"Spatial(3,1,5), {name}", time_ours, peer, part * scale, target, note)


def mismatch(codewords, one_row, row_codes):
    """Mismatch by its linear-time identity, on a large and a small alphabet."""
    large, small = mvdfq.Mismatch(5, 2), mvdfq.Mismatch(5, 1)
    time_ours, _ = ours(codewords, large, 2)
    weights = [g.weight for g in large.groups(2048) if len(g.layouts[0].offsets)]
    weights = list(dict.fromkeys(weights))
    part, _ = seconds(lambda: scipy_mismatch(cube(codewords)[0], 5, weights, 2048, share=1 / 4))
    note = "peer: every fourth of 31 rounds"
    yield row(
        "Mismatch(5,2), 2048 codewords", time_ours, "numpy + scipy.sparse", part * 31 / 8, 8, note
    )
    time_ours, K = ours(one_row, small)
    weights = list(dict.fromkeys(g.weight for g in small.groups(34)))
    time_scipy, expected = seconds(lambda: scipy_mismatch(row_codes, 5, weights, 34))
    np.testing.assert_array_equal(K, expected)
    yield row("Mismatch(5,1), one row", time_ours, "numpy + scipy.sparse", time_scipy, 8)


def rooted_mismatch(rows):
    """Mismatch(6, 1) with the manifold embedding: no peer, but a bound of four minutes."""
    time_ours, K = ours(rows, mvdfq.Mismatch(6, 1), 1, manifold=True)
    assert np.linalg.eigvalsh(K).min() > -1e-6
    yield row("Mismatch(6,1), manifold, 13 rows", time_ours, "four minutes", 240.0, 1)


def in_fresh_process(code):
    """Run code in a new interpreter; it prints one line of JSON."""
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return json.loads(done.stdout.splitlines()[-1])


PEAK = """
import json, sys, numpy as np, mvdfq
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
symbols = mvdfq.Symbols(**np.load("{path}"))
kernel = mvdfq.SequenceKernel({kernel}, manifold={root}, n_jobs=2, memory_limit={limit})
kernel.fit_transform(symbols[:20])
before = peak()
kernel.fit_transform(symbols)
print(json.dumps([before, peak()]))
"""


def memory(symbols, folder):
    """Peak memory of whole processes, in megabytes: codes, program and computation."""
    path = Path(folder) / "symbols.npz"
    np.savez(path, data=symbols.data, offsets=symbols.offsets, n_symbols=symbols.n_symbols)
    cases = [
        ("peak, Spectrum(6)", "mvdfq.Spectrum(6)", False, 1000),
        ("peak, Mismatch(6,1), manifold", "mvdfq.Mismatch(6, 1)", True, 3000),
    ]
    for work, kernel, root, most in cases:
        code = PEAK.format(path=path, kernel=kernel, root=root, limit=None)
        yield row(work, in_fresh_process(code)[1] / 1e6, "limit", float(most), 1, unit="MB")
    for limit in (10**8, 3 * 10**8):
        code = PEAK.format(path=path, kernel="mvdfq.Spectrum(6)", root=False, limit=limit)
        before, after = in_fresh_process(code)
        result = 8 * len(symbols) ** 2
        work = f"beyond input and result, memory_limit={limit // 10**6} MB"
        yield row(work, (after - before - result) / 1e6, "limit", limit / 1e6, 1, unit="MB")


COMPILED = """
import json, time, numba.core.event as event, mvdfq
recorder = event.RecordingListener()
event.register("numba:compile", recorder)
mvdfq.SequenceKernel(mvdfq.Spectrum(3)).fit_transform(["ABAB", "ABBA"])
print(json.dumps([sum(r[1].is_start for r in recorder.buffer)]))
"""


def start():
    """Import time, and whether a second process compiles anything."""
    code = "import time, json; t = time.perf_counter(); import mvdfq; "
    code += "print(json.dumps([time.perf_counter() - t]))"
    best = min(in_fresh_process(code)[0] for _ in range(5))
    yield row("import mvdfq", best, "0.2 s", 0.2, 1)
    in_fresh_process(COMPILED)
    (compiled,) = in_fresh_process(COMPILED)
    work = "functions compiled by a second process"
    yield row(work, compiled + 1, "none", 1.0, 1, note="counted from 1", unit="functions")


def growth(X):
    """Exponents of time against length, rows, bins and number of sequences."""
    quantizer = mvdfq.DirectQuantizer(32, strategy="uniform").fit(X)
    symbols = quantizer.transform(X)
    n = X[0].shape[1]

    def binned(n_bins):
        return mvdfq.DirectQuantizer(n_bins, strategy="uniform").fit_transform(X)

    cases = {
        "length": [(f, quantizer.transform([x[:, : n * f // 8] for x in X])) for f in (1, 2, 4, 8)],
        "rows": [(r, symbols.rows(slice(0, r))) for r in (2, 4, 8, 13)],
        "bins": [(b, binned(b)) for b in (8, 16, 32, 64)],
        "sequences": [(m, symbols[:m]) for m in (125, 250, 500, 1000)],
    }
    for what, steps in cases.items():
        times = [ours(part, mvdfq.Spectrum(6))[0] for _, part in steps]
        slope = np.polyfit(np.log([size for size, _ in steps]), np.log(times), 1)[0]
        for (size, _), t in zip(steps, times, strict=True):
            yield dict(against=what, size=size, seconds=round(t, 4), exponent=round(slope, 3))


def write(name, lines):
    """Write one results file; lines of works that were not measured now stay."""
    path = HERE / "results" / name
    key = next(iter(lines[0]))
    measured = {line[key] for line in lines}
    path.touch()
    with path.open(newline="") as file:
        kept = [line for line in csv.DictReader(file) if line[key] not in measured]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows([*lines, *kept])


def show(line):
    """Print one line of a table."""
    print("  ".join(f"{key}={value}" for key, value in line.items() if value != ""), flush=True)


def main():
    """Measure everything, or the sections that are named."""
    with TemporaryDirectory() as folder:
        measure(folder, sys.argv[1:])


def measure(folder, chosen):
    """Run sections and write their tables."""
    X, source = music()
    uniform = mvdfq.DirectQuantizer(32, strategy="uniform").fit_transform(X)
    machine = f"{source}, {len(X)} x {X[0].shape[0]} x {X[0].shape[1]}, {N_JOBS} threads"
    print(f"{machine}, {platform.machine()}, numpy {np.__version__}")
    files = {"gram_steps.csv": ["steps"], "growth.csv": ["growth"]}
    lines_of = {}
    for name, section in sections(X, uniform, folder).items():
        if chosen and name not in chosen:
            continue
        file = next((file for file, names in files.items() if name in names), "gram.csv")
        for line in section():
            show(line)
            lines_of.setdefault(file, []).append({**line, "data": machine})
    for file, lines in lines_of.items():
        write(file, lines)


def sections(X, uniform, folder):
    """Return what can be measured, by name."""
    slow = ("numpy + scipy.sparse", scipy_gram)

    def eight_bins():
        eight = mvdfq.DirectQuantizer(8, strategy="quantile").fit_transform(X)
        peers = [("numpy bincount + GEMM", bincount_gram, 1.5), (*slow, 40)]
        return spatial("8 quantile bins", eight, cube(eight), 8, peers)

    def with_mismatches():
        quantizer = mvdfq.CodebookQuantizer(2048, random_state=0)
        codewords = quantizer.fit_transform(music(n_frames=2400)[0])
        return mismatch(codewords, uniform.rows(slice(5, 6)), cube(uniform)[5])

    return {
        "spectrum": lambda: spectrum(uniform, cube(uniform)),
        "steps": lambda: gram_steps.steps(uniform, mvdfq.Spectrum(6)),
        "spatial-8": eight_bins,
        "spatial-32": lambda: spatial("32 bins", uniform, cube(uniform), 34, [(*slow, 8)]),
        "mismatch": with_mismatches,
        "rooted-mismatch": lambda: rooted_mismatch(uniform),
        "memory": lambda: memory(uniform, folder),
        "start": start,
        "growth": lambda: growth(X),
    }


if __name__ == "__main__":
    main()
