"""The tables of the paper as they are committed: results/paper/TABLE.csv and .json.

Everything is kept fold by fold, so that the script may be stopped and started again. What is
run of each table stands in RUNS, in the order of its importance; a table is written as soon as
one of its runs is complete, with all that is known of it by then.

    MVDFQ_DATA=folder python benchmarks/reproduce_paper.py [TABLE ...]
"""

import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

from mvdfq.reproduce.api import run
from mvdfq.reproduce.claims import claims
from mvdfq.reproduce.export import write_csv, write_json

RESULTS = Path(__file__).parent / "results" / "paper"
# Readings, protocols and seeds of each run.
ALL = ("text", "comment", "tuned")
RUNS = {
    "datasets": [(ALL, None, 1)],
    "genre": [
        (("text",), ("5-fold",), 1),
        (("tuned",), ("5-fold",), 1),
        (("comment",), ("5-fold",), 1),
        (("text",), ("fault-filtered",), 1),
        (("tuned",), ("fault-filtered",), 1),
        (("text",), ("artist-disjoint",), 1),
    ],
    "genre-compare": [(("text",), ("5-fold",), 1), (("comment", "tuned"), ("5-fold",), 1)],
    "artist": [(("text",), None, 1), (("comment", "tuned"), None, 1)],
    "homology": [(ALL, None, 1)],
    "bins": [(("text",), None, 1)],
    "runtime": [(("text",), None, 1)],
}


def measured(table, readings, protocols, seeds):
    """Run a part of a table, saying on the way how far it is."""

    def say(done, total):
        print(f"\r{table} {'+'.join(readings)} {done}/{total}", end="", flush=True)

    return run(
        table,
        os.environ["MVDFQ_DATA"],
        readings=readings,
        protocols=protocols,
        seeds=seeds,
        cache=os.environ.get("MVDFQ_CACHE"),
        n_jobs=int(os.environ.get("MVDFQ_JOBS", "-1")),
        memory_limit="6 GB",
        progress=say,
    )


def main():
    """Run the tables that are named, or all."""
    warnings.simplefilter("ignore")
    RESULTS.mkdir(parents=True, exist_ok=True)
    for table in sys.argv[1:] or RUNS:
        rows = []
        for readings, protocols, seeds in RUNS[table]:
            result = measured(table, readings, protocols, seeds)
            rows += [row for row in result.rows if row not in rows]
            whole = replace(result, rows=rows, claims=claims(rows))
            write_csv(whole, RESULTS / f"{table}.csv")
            write_json(whole, RESULTS / f"{table}.json")
            print()


if __name__ == "__main__":
    main()
