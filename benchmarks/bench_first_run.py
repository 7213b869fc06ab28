"""The first run in a new environment, which compiles, and the second run, which reads the cache.

``python benchmarks/bench_first_run.py`` writes results/first_run.csv and the table of
docs/scaling.md. Each run is one fresh process: import, fit on the bundled vowels, predict the test
part and print one explanation. The first process has an empty folder for compiled functions, the
second process the folder that the first process left. Time is seconds of the clock and of the
processor; `compiled` counts the functions that numba compiled, one for each set of types. Python's
own compiled modules are there from the start, as pip makes them when it installs a package.
"""

import compileall
import csv
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from scale_page import fill, table

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "first_run.csv"
PAGE = HERE.parent / "docs" / "scaling.md"
COLUMNS = ["run", "step", "seconds", "cpu_seconds", "compiled"]


class Steps:
    """The steps of one run: time, processor time and compiled functions since the last step."""

    def __init__(self):
        self.lines, self.n_compiled = [], 0
        self.before = self._now()

    def _now(self):
        used = resource.getrusage(resource.RUSAGE_SELF)
        return time.perf_counter(), used.ru_utime + used.ru_stime, self.n_compiled

    def listen(self):
        """Count the functions that are compiled from now on."""
        from numba.core import event

        class Counter(event.Listener):
            def on_start(listener, event):
                self.n_compiled += 1

            def on_end(listener, event):
                pass

        event.register("numba:compile", Counter())

    def end(self, step):
        """Note the end of a step."""
        now = self._now()
        seconds, cpu, compiled = (b - a for a, b in zip(self.before, now, strict=True))
        line = {"step": step, "seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2)}
        self.lines.append({**line, "compiled": compiled})
        self.before = self._now()


def one_run():
    """Do the steps in this process."""
    steps = Steps()
    import mvdfq

    clf = mvdfq.SequenceClassifier()
    steps.end("import")
    steps.listen()
    X_train, y_train = mvdfq.load_japanese_vowels(split="train")
    X_test, _ = mvdfq.load_japanese_vowels(split="test")
    clf.fit(X_train, y_train)
    steps.end("fit")
    clf.predict(X_test)
    steps.end("predict")
    str(clf.explain(X_test[0]))
    steps.end("explain")
    return steps.lines


def fresh(run, folder):
    """Measure in a fresh process; return the lines of the table."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    command = [sys.executable, __file__, "--here"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    lines = [{"run": run, **line} for line in json.loads(done.stdout.splitlines()[-1])]
    total = {key: round(sum(line[key] for line in lines), 2) for key in COLUMNS[2:]}
    lines.append({"run": run, "step": "all", **total})
    for line in lines:
        print("  ".join(f"{key}={line[key]}" for key in COLUMNS), flush=True)
    return lines


def main():
    """Measure both runs, and write the table."""
    if "--here" in sys.argv:
        print(json.dumps(one_run()))
        return
    compileall.compile_dir(HERE.parent / "src", quiet=1)
    with TemporaryDirectory() as folder:
        write(fresh("first", folder) + fresh("second", folder))


def write(lines):
    """Write the results and the table of the page."""
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    header = ["run", "step", "s", "processor s", "compiled functions"]
    fill(PAGE, "first", table(header, [[line[key] for key in COLUMNS] for line in lines]))


if __name__ == "__main__":
    main()
