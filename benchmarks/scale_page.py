"""The tables of docs/scaling.md, worked out from results/scale.csv and results/gpu.csv."""

import csv
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "scaling.md"
# Sequences per tile, classes and iterations of the linear model, workers, and a price.
TILE, CLASSES, COLUMNS, ITERATIONS, WORKERS = 1024, 10, 2**20, 100, 100
WORK = {
    "gram": "kernel matrix", "features": "hashed words", "fit": "`fit`", "predict": "`predict`",
    "page": "`report`", "scan": "`scan`", "dask gram": "kernel matrix",
    "dask fit_blocks": "`fit_blocks`",
}  # fmt: skip
SIZE = {"sequences": "n", "length": "length", "rows": "rows", "classes": "classes"}
PRICE = 0.05  # per hour of one core; an assumption
# Bytes per second that one core reads while it multiplies features; an assumption.
READ_RATE = 4e9


def lines_of(section, name="scale.csv"):
    """Return the lines of one section of a file of results."""
    with (HERE / "results" / name).open(newline="") as file:
        return [line for line in csv.DictReader(file) if line["section"] == section]


def table(header, rows):
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def growth():
    """Time and memory of the smallest and of the largest size, and the exponent between them."""
    cases = {}
    for line in [*lines_of("grow"), *lines_of("classifier")]:
        if line["against"] != "workers":
            cases.setdefault((line["method"], line["against"]), []).append(line)
    rows = [
        [WORK[method], against, *(_ends(lines, key) for key in (SIZE[against], "cpu_seconds")),
         lines[0]["exponent"], _ends(lines, "anonymous_mb")]
        for (method, against), lines in cases.items()
    ]  # fmt: skip
    return table(["work", "against", "size", "processor s", "exponent", "anonymous MB"], rows)


def _ends(lines, key):
    """The first and the last value of a column."""
    values = [float(lines[i][key]) for i in (0, -1)]
    return " to ".join(map(_digits, values))


def _digits(value):
    return f"{value:.0f}" if value > 100 else f"{value:.3g}"


def workers():
    """One and two workers: threads of one process, and Dask workers of one thread each."""
    lines = [x for s in ("grow", "cluster") for x in lines_of(s) if x["against"] == "workers"]
    alone = {x["method"]: float(x["seconds"]) for x in lines if x["workers"] == "1"}
    rows = [
        [WORK[x["method"]], "processes of Dask" if x["section"] == "cluster" else "threads",
         x["workers"], x["seconds"], x["cpu_seconds"],
         f"{alone[x['method']] / float(x['seconds']):.2f}"]
        for x in lines
    ]  # fmt: skip
    return table(["work", "workers are", "workers", "s", "processor s", "times as fast"], rows)


def gpu():
    """The public calls on a graphics card, beside the processor of the same machine."""
    rows = {}
    with (HERE / "results" / "gpu.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            if line["engine"] != "ceiling":
                rows.setdefault(line["work"], {})[line["engine"].split(",")[0]] = line
    made = []
    for work, lines in rows.items():
        card = lines["gpu"]
        floor = re.search("floor (.*)", card["note"])
        times = [_digits(float(lines[e]["ms"])) if e in lines else "" for e in ("cpu", "gpu")]
        made.append([work, *times, card["error"], floor[1] if floor else ""])
    return table(["work", "processor, ms", "card, ms", "largest difference", "floor"], made)


def large():
    """The large matrix."""
    rows = [
        [line["n"], f"{line['rows']} x {line['length']}", line["limit"], line["seconds"],
         line["cpu_seconds"], f"{float(line['anonymous_mb']):.0f}", line["written_mb"]]
        for line in lines_of("large")
    ]  # fmt: skip
    header = ["sequences", "size", "memory_limit", "s", "processor s", "anonymous MB", "file MB"]
    return table(header, rows)


def constants():
    """Return measured constants: seconds per pair and per value, bytes of features per sequence."""
    pairs = lines_of("large") or [x for x in lines_of("grow") if x["method"] == "gram"]
    most = max(pairs, key=lambda line: int(line["n"]))
    counted = [x for x in lines_of("grow") if x["method"] == "features"]
    last = max(counted, key=lambda line: int(line["n"]))
    n, values = int(last["n"]), int(last["rows"]) * int(last["length"])
    return {
        "pair": float(most["cpu_seconds"]) / (int(most["n"]) ** 2 / 2),
        "value": float(last["cpu_seconds"]) / (n * values),
        "values": values,
        "features": float(last["written_mb"]) * 1e6 / n,
        "fit": fit_by_passes(),
    }


def fit_by_passes():
    """Return sequences, and seconds of one core per sequence, of the largest measured fit."""
    lines = [x for x in lines_of("fit", "linear.csv") if x["method"].startswith("mvdfq")]
    most = max(lines, key=lambda line: int(line["sequences"]))
    return int(most["sequences"]), float(most["cpu_s"]) / int(most["sequences"])


def paper():
    """From ten thousand to ten million sequences: kernel matrix and linear model."""
    known, rows = constants(), []
    for n in (10**4, 10**5, 10**6, 10**7):
        tiles = (n / TILE) ** 2 / 2
        core = known["pair"] * n**2 / 2
        # every tile reads one block anew; the other block stays for a row of tiles
        moved = tiles * TILE * known["values"] + 4 * n**2
        rows.append(["kernel matrix", f"{n:,}", *_costs(core, moved, 4 * n**2)])
    for n in (10**4, 10**5, 10**6, 10**7):
        stored = n * known["features"]
        core = n * known["values"] * known["value"] + ITERATIONS * stored / READ_RATE
        gradients = ITERATIONS * WORKERS * COLUMNS * CLASSES * 8
        rows.append(
            ["linear model", f"{n:,}", *_costs(core, n * known["values"] + gradients, stored)]
        )
    header = ["work", "sequences", "time of one core", f"of {WORKERS} workers", "bytes moved",
              "bytes stored", "price"]  # fmt: skip
    return table(header, rows)


def _costs(core, moved, stored):
    price = core / 3600 * PRICE
    return [_time(core), _time(core / WORKERS), _bytes(moved), _bytes(stored), f"{price:,.2f}"]


def _time(seconds):
    for unit, size in (("days", 86400), ("hours", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s"


def _bytes(value):
    for unit in ("kB", "MB", "GB", "TB", "PB"):
        value /= 1000
        if value < 1000:
            return f"{value:.3g} {unit}"
    return f"{value:.3g} EB"


def said():
    """The constants in words."""
    known = constants()
    n, fit = known["fit"]
    return (
        f"- {known['pair'] * 1e9:.0f} ns of one core per pair of sequences of 13 x 500\n"
        f"- {known['value'] * 1e9:.1f} ns of one core per value (one row, one frame) to count and "
        f"hash its word\n"
        f"- {known['features'] / 1e3:.0f} kB of features per sequence, 12 bytes per count\n"
        f"- {fit * 1e3:.2g} ms of one core per sequence of 3 x 20 for a whole fit of the default "
        f"by passes ({n:,} sequences, `bench_linear.py`): {_time(fit * 1e7)} for ten million"
    )


def fill(page, name, made):
    """Put text between the marks ``<!-- name -->`` and ``<!-- end -->`` of a page."""
    mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    page.write_text(mark.sub(lambda found: f"{found[1]}{made}\n{found[2]}", page.read_text()))


def write_page():
    """Put the tables between their marks in the page."""
    for name, made in [
        ("gpu", gpu), ("growth", growth), ("workers", workers), ("large", large),
        ("constants", said), ("paper", paper),
    ]:  # fmt: skip
        fill(PAGE, name, made())


if __name__ == "__main__":
    write_page()
