"""The tables of the paper as they are committed: results/paper/TABLE.csv and .json.

Everything is kept fold by fold, so that the script may be stopped and started again. RUNS says
what is computed of each table, in the order of its importance; files hold all that is known of a
table by then. With --kept nothing is computed: files are written of what is there.

    MVDFQ_DATA=folder python benchmarks/reproduce_paper.py [--kept] [TABLE ...]
"""

import os
import sys
import warnings
from pathlib import Path

from mvdfq.reproduce import run
from mvdfq.reproduce.export import write_csv, write_json

RESULTS = Path(__file__).parent / "results" / "paper"
ALL = ("text", "comment", "tuned")
# Readings, protocols and seeds of each run.
RUNS = {
    "datasets": [(ALL, None, 1)],
    "genre": [
        (("text",), ("5-fold",), 1),
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
    """Run a part of a table, saying on the way how far it is."""

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


def main():
    """Run the tables that are named, or all; write what is known of each."""
    warnings.simplefilter("ignore")
    RESULTS.mkdir(parents=True, exist_ok=True)
    kept, names = "--kept" in sys.argv, [name for name in sys.argv[1:] if name != "--kept"]
    for table in names or RUNS:
        for part in [] if kept else RUNS[table]:
            measured(table, *part)
            print()
        result = measured(table, ALL, None, 5, kept=True)
        write_csv(result, RESULTS / f"{table}.csv")
        write_json(result, RESULTS / f"{table}.json")


if __name__ == "__main__":
    main()
