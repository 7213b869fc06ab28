"""Compute the tables of the paper, and write results/paper/TABLE.csv and .json.

Every finished fold is kept, so the script can be stopped and started again. RUNS lists what is
computed of each table, the most important part first. A row that a results file holds already
stays, unless the new row rests on at least as many seeds. With --kept nothing is computed: the
files are written from the kept folds. MVDFQ_ENGINE=gpu computes kernel matrices on a graphics card.

    MVDFQ_DATA=folder python benchmarks/reproduce_paper.py [--kept] [TABLE ...]
"""

import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

from mvdfq import use_engine
from mvdfq.reproduce import run
from mvdfq.reproduce.claims import claims
from mvdfq.reproduce.result import read_json, write_csv, write_json

RESULTS = Path(__file__).parent / "results" / "paper"
ALL = ("text", "comment", "tuned", "inferred")
# Readings, protocols and seeds of each run.
RUNS = {
    "datasets": [(ALL, None, 1)],
    "genre": [
        (("text",), ("5-fold",), 1),
        (("inferred",), ("5-fold",), 1),
        (("tuned",), ("5-fold",), 1),
        (("comment",), ("5-fold",), 1),
        (ALL, ("fault-filtered",), 1),
        (ALL, ("artist-disjoint",), 1),
        (ALL, None, 5),
    ],
    "genre-compare": [(("text",), ("5-fold",), 1), (ALL, None, 5)],
    "artist": [(ALL, None, 1)],
    "homology": [(ALL, None, 1)],
    "bins": [(ALL, None, 5)],
    "runtime": [(ALL, None, 5)],
}


def measured(table, readings, protocols, seeds, kept=False):
    """Run a part of a table, and print how many folds are done."""

    def say(done, total):
        print(f"\r{table} {'+'.join(readings)} {done}/{total}", end="", flush=True)

    return run(
        table,
        os.environ["MVDFQ_DATA"],
        readings=readings,
        protocols=protocols,
        seeds=seeds,
        kept=kept,
        cache=os.environ.get("MVDFQ_CACHE"),
        n_jobs=int(os.environ.get("MVDFQ_JOBS", "-1")),
        memory_limit="6 GB",
        progress=None if kept else say,
    )


def merged(old, new):
    """Return two results of a table as one: a later run may have computed a part of the cells.

    Of two measured rows the new row is taken, unless the old row has more seeds. A row without a
    value stays only while nothing was measured in its place, reading and protocol. Rows keep the
    order of the old result; further rows follow the rows of their place.
    """
    best = {key(row): row for row in old.rows if row.value is not None}
    for row in new.rows:
        if row.value is not None and row.n_seeds >= best.get(key(row), row).n_seeds:
            best[key(row)] = row
    rows = []
    for spot in dict.fromkeys(key(row)[:-1] for row in [*old.rows, *new.rows]):
        here = [row for at, row in best.items() if at[:-1] == spot]
        rows += here or [r for r in [*new.rows, *old.rows] if key(r)[:-1] == spot][:1]
    return replace(new, rows=rows, claims=claims(rows))


def key(row):
    """Return what tells a row from all other rows of its table; the scheme comes last."""
    return *row.place, row.reading, row.protocol, row.scheme


def main():
    """Run the tables that are named, or all; write what is known of each."""
    warnings.simplefilter("ignore")
    RESULTS.mkdir(parents=True, exist_ok=True)
    kept, names = "--kept" in sys.argv, [name for name in sys.argv[1:] if name != "--kept"]
    for table in names or RUNS:
        with use_engine(os.environ.get("MVDFQ_ENGINE", "cpu")):
            for part in [] if kept else RUNS[table]:
                measured(table, *part)
                print()
        result, path = measured(table, ALL, None, 5, kept=True), RESULTS / f"{table}.json"
        result = merged(read_json(path), result) if path.exists() else result
        write_csv(result, path.with_suffix(".csv"))
        write_json(result, path)


if __name__ == "__main__":
    main()
