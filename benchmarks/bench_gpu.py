"""How fast is the GPU engine, beside the card's own limits and the CPU engine?

``python benchmarks/bench_gpu.py`` prints a table and writes it to results/gpu.csv. All times
include the copies to the card and back. ``--data FILE`` names an .npz file with an array `X` of
shape (n_clips, 13, n_frames); without it the data are autoregressive noise of that shape.
"""

import argparse
import csv
import os
import platform
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import torch

import mvdfq
from mvdfq._engines.choice import card_name
from mvdfq.sequences import check_sequences

HERE = Path(__file__).parent
LINES = []
# Bytes and operations per second that the card reaches.
CEILINGS = {}


def waited(function):
    """Run a function and return its result and its wall time; the card is idle at both ends."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    start = time.perf_counter()
    result = function()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return result, time.perf_counter() - start


def median(function, repeat):
    """Return the result, the median and the spread of the times after two runs to warm up."""
    for _ in range(min(2, repeat)):
        result = function()
    times = [waited(function)[1] for _ in range(repeat)]
    return result, float(np.median(times)), max(times) - min(times)


def line(work, engine, seconds, target="", error="", note=""):
    """Keep and print one line of the table; times are in milliseconds."""
    measured = dict(work=work, engine=engine, ms=round(1000 * seconds, 3), target_ms=target)
    measured |= dict(error=error and f"{error:.1e}", note=note)
    LINES.append(measured)
    print("  ".join(f"{k}={v}" for k, v in measured.items() if v != ""), flush=True)


def ceilings(device):
    """Measure the limits of the card: copies, and matrix products of three precisions."""
    pair = torch.empty((2, 2**30), dtype=torch.float32, device=device).normal_()
    _, seconds, _ = median(lambda: pair[1].copy_(pair[0]), 5)
    CEILINGS["copies"] = pair.nbytes / seconds
    note = f"{pair.nbytes / seconds / 1e12:.2f} TB/s"
    line("copy on the card, 8.6 GB read and written", "ceiling", seconds, note=note)
    pair = None
    for dtype, n in [(torch.float16, 8192), (torch.float32, 8192), (torch.float64, 4096)]:
        a = torch.randn((n, n), device=device).to(dtype)
        _, seconds, _ = median(lambda a=a: a @ a, 5)
        if dtype == torch.float16:
            CEILINGS["products"] = 2 * n**3 / seconds
        note = f"{2 * n**3 / seconds / 1e12:.0f} TFLOP/s"
        line(f"product {n} x {n}, {dtype}", "ceiling", seconds, note=note)
    codes = np.random.default_rng(0).integers(0, 32, 2**24, dtype=np.uint8)
    from mvdfq._engines.gpu.device import to_device, to_host

    moved, seconds, _ = median(lambda: to_device(codes, device), 5)
    line("16.8 MB to the card", "ceiling", seconds, note=f"{codes.nbytes / seconds / 1e9:.1f} GB/s")
    _, seconds, _ = median(lambda: to_host(moved), 5)
    line("16.8 MB from the card", "ceiling", seconds)


def kernel_of(kernel, root, **options):
    """Return a kernel as a user makes it."""
    return mvdfq.SequenceKernel(kernel, manifold=root, **options)


def gram(name, symbols, kernel, root, target, args, repeat=7, cpu=True):
    """Time the public call that makes a Gram matrix, compare it with the processor, profile it."""
    fitted = kernel_of(kernel, root).fit(symbols)

    def on_card():
        with mvdfq.use_engine("gpu", device=args.device):
            return kernel_of(kernel, root).fit_transform(symbols)

    K, seconds, spread = median(on_card, repeat)
    error = ""
    if cpu and args.cpu:
        reference = kernel_of(kernel, root, n_jobs=-1)
        reference.fit_transform(symbols[:20])
        expected, cpu_seconds = waited(lambda: reference.fit_transform(symbols))
        error = float(np.abs(K - expected).max() / np.abs(expected).max())
        if not root:
            assert np.array_equal(K, expected), f"{name}: raw counts differ"
        line(name, f"cpu, {os.cpu_count()} cores", cpu_seconds)
    memory = torch.cuda.max_memory_allocated() / 1e9 if args.device == "cuda" else 0
    note = f"+-{1000 * spread:.1f}; peak {memory:.1f} GB; {against_ceilings(on_card, fitted)}"
    line(name, "gpu", seconds, target, error, note)
    if args.profile:
        profile(on_card)


def against_ceilings(function, fitted):
    """Return the operations and bytes that one matrix takes, and the time that they need at least.

    Operations are those of all products of halves. Bytes are codes, the matrix, and either eight
    passes of a sort of 64-bit words or one histogram.
    """
    from mvdfq._engines.gpu import products
    from mvdfq.gram.gram_on_gpu import FEW_WORDS, reading_of

    done, multiply = [0], products.half_products

    def counted(left, right):
        done[0] += 2 * left.shape[0] * left.shape[1] * left.shape[2] * right.shape[2]
        return multiply(left, right)

    products.half_products = counted
    function()
    products.half_products = multiply
    n, moved, train = len(fitted.train_), 0, fitted.train_
    for _, task in fitted.plan_.tasks(0):
        reading, base = reading_of(task), int(fitted.plan_.n_symbols[0])
        words = train.data.size * (1 + reading.near * reading.length * (base - 1))
        few = reading.n_words(base) <= FEW_WORDS and not reading.near
        moved += 8 * train.n_rows * n * reading.n_words(base) if few else 8 * 16 * words
    moved += train.data.nbytes + 8 * n * n
    note = f"{done[0] / 1e9:.0f} GFLOP, {moved / 1e9:.1f} GB"
    if "products" in CEILINGS:
        floor = done[0] / CEILINGS["products"] + moved / CEILINGS["copies"]
        note += f", floor {1000 * floor:.1f} ms"
    return note


def profile(function):
    """Print the kernels that take longest."""
    from torch.profiler import ProfilerActivity, profile as torch_profile

    with torch_profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profile:
        function()
    events = [e for e in profile.key_averages() if getattr(e, "self_device_time_total", 0) > 0]
    events.sort(key=lambda e: -e.self_device_time_total)
    total = sum(e.self_device_time_total for e in events)
    print(f"   kernels together {total / 1000:.2f} ms")
    for e in events[:14]:
        print(f"   {e.self_device_time_total / 1000:8.3f} ms {e.count:5d} x {e.key[:90]}")


def many_clips(symbols, times):
    """Return many clips: shifted in time, one code in ten moved by one."""
    rng = np.random.default_rng(0)
    data = np.concatenate([np.roll(symbols.data, 37 * i, axis=1) for i in range(times)], axis=1)
    moved = rng.integers(0, 20, data.shape, dtype=np.uint8)
    data = np.clip(data.astype(np.int16) + (moved == 0) - (moved == 1), 0, 33).astype(np.uint8)
    n = data.shape[1] // 1293
    return mvdfq.Symbols(data, np.arange(n + 1) * 1293, n_symbols=symbols.n_symbols)


def classifier(X, args):
    """Time fit and predict of the default, as a user calls it; half of the clips are new."""
    half, y, values = len(X) // 2, np.arange(len(X)) % 10, {}
    for engine in ["cpu"] * args.cpu + ["gpu"]:
        clf = mvdfq.SequenceClassifier(n_jobs=-1 if engine == "cpu" else None)
        repeat = 1 if engine == "cpu" else 7
        with mvdfq.use_engine(engine, device=args.device):
            _, fitting, _ = median(partial(clf.fit, X[:half], y[:half]), repeat)
            decisions, predicting, _ = median(partial(clf.decision_function, X[half:]), repeat)
        values[engine] = decisions
        line(f"fit of {half} clips, default", engine, fitting, 600)
        error = float(np.abs(decisions - values.get("cpu", decisions)).max())
        line(f"predict of {len(X) - half} clips, default", engine, predicting, 150, error)


def main():
    """Measure everything that the arguments ask for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--out", default=str(HERE / "results" / "gpu.csv"))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--no-cpu", dest="cpu", action="store_false")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--only", default="ceilings,spectrum,spatial,mismatch,many,classifier")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    wanted = args.only.split(",")
    if args.data:
        X = list(np.load(args.data)["X"][: args.n].astype(np.float32))
        source = "GTZAN"
    else:
        X, _ = mvdfq.make_autoregressive(
            n_sequences=args.n, n_channels=13, n_timepoints=1293, random_state=0
        )
        source = "autoregressive stand-in"
    X = check_sequences(X)
    machine = f"{source}, {len(X)} x {X.n_rows} x {X.lengths[0]}; {card_name(args.device)}"
    machine += f", torch {torch.__version__}, {os.cpu_count()} cores {platform.machine()}"
    print(machine, flush=True)
    try:
        run(X, wanted, args)
    finally:
        with open(args.out, "w", newline="") as file:
            writer = csv.DictWriter(file, [*LINES[0], "data"])
            writer.writeheader()
            writer.writerows({**record, "data": machine} for record in LINES)
        print("\n" + machine)
        for record in LINES:
            print("  ".join(f"{value!s:>10.46}" for value in record.values()))


def run(X, wanted, args):
    """Run the sections."""
    if "ceilings" in wanted and args.device == "cuda":
        ceilings(args.device)
    uniform = mvdfq.DirectQuantizer(32, strategy="uniform").fit_transform(X)
    eight = mvdfq.DirectQuantizer(8, strategy="quantile").fit_transform(X)
    if "spectrum" in wanted:
        gram("Spectrum(6), 32 bins, root", uniform, mvdfq.Spectrum(6), True, 12, args)
        gram("Spectrum(6), 32 bins, raw", uniform, mvdfq.Spectrum(6), False, "", args)
    if "spatial" in wanted:
        spatial = mvdfq.Spatial(3, 1, 5)
        gram("Spatial(3,1,5), 8 bins, root", eight, spatial, True, 25, args)
        gram("Spatial(3,1,5), 32 bins, root", uniform, spatial, True, 60, args)
        gram("Spatial(3,1,5), 8 bins, raw", eight, spatial, False, "", args)
    if "mismatch" in wanted:
        work = "Mismatch(6,1), 32 bins, root"
        gram(work, uniform, mvdfq.Mismatch(6, 1), True, 500, args)
    if "many" in wanted:
        many = many_clips(uniform, 10)
        gram(f"Spectrum(6), {len(many)} clips, root", many, mvdfq.Spectrum(6), True, 10_000, args,
             2, cpu=False)  # fmt: skip
    if "classifier" in wanted:
        classifier(X, args)


if __name__ == "__main__":
    main()
