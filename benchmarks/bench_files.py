"""How fast are data files and model files read, and how large are they?

``python benchmarks/bench_files.py`` prints a table and writes it to results/files.csv. The times
are processor times of one thread, the best of three. All data files hold the same 600 000 values:
500 sequences of 6 channels and 200 frames. The model files hold the default and one preset of the
paper, trained on the 270 bundled utterances.
"""

import csv
import tempfile
import time
from pathlib import Path

import mvdfq

VALUES = (500, 6, 200)  # sequences, channels, frames


def write_long(path, X, y):
    """Write one line per time point, as CSV or Parquet."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    columns = {"id": [i for i, x in enumerate(X) for _ in range(x.shape[1])]}
    columns["time"] = [t / 100 for x in X for t in range(x.shape[1])]
    columns |= {f"x{c}": [v for x in X for v in x[c].tolist()] for c in range(len(X[0]))}
    columns["label"] = [str(label) for x, label in zip(X, y, strict=True) for _ in x.T]
    write = pa.csv.write_csv if path.suffix == ".csv" else pa.parquet.write_table
    write(pa.table(columns), path)


def write_fasta(path, X, y):
    """Write as many letters as the other files have values."""
    lines = (f">s{i}\n{'ACDEFGHIKLMNPQRSTVWY' * (x.size // 20)}" for i, x in enumerate(X))
    path.write_text("\n".join(lines))


DATA = {
    "data.npz": mvdfq.io.write_npz,
    "data.ts": mvdfq.io.write_ts,
    "long.parquet": write_long,
    "long.csv": write_long,
    "letters.fasta": write_fasta,
}

MODELS = {"default": {}, "mvdfqm-sssk": {"preset": "mvdfqm-sssk", "C": 10}}


def best(function):
    """Return the least processor time of three runs."""
    times = []
    for _ in range(3):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def main():
    """Measure every format and two models."""
    X, y = mvdfq.make_autoregressive(*VALUES, random_state=0)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, write in DATA.items():
            path = Path(folder) / name
            write(path, X, y)
            rows.append(row(path.suffix[1:], path, best(lambda path=path: mvdfq.io.read(path))))
        vowels = mvdfq.load_japanese_vowels(split="train")
        for name, options in MODELS.items():
            path = Path(folder) / f"{name}.mvdfq"
            mvdfq.SequenceClassifier(**options).fit(*vowels).save(path)
            rows.append(row(f"model, {name}", path, best(lambda path=path: mvdfq.load(path))))
    with open(Path(__file__).parent / "results" / "files.csv", "w", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows(rows)


def row(what, path, seconds):
    """Return one line of the table."""
    line = dict(file=what, MB=round(path.stat().st_size / 1e6, 2), read_s=round(seconds, 2))
    print(line, flush=True)
    return line


if __name__ == "__main__":
    main()
