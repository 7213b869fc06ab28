"""What the page costs beside the evaluation, and how fast a page of 5000 sequences is in Chromium.

The first part needs Chromium, its driver and selenium. Writes benchmarks/results/report.csv.
Run: python benchmarks/bench_report.py [browser] [evaluation]
"""

import csv
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import mvdfq
from mvdfq.pages.html import page

RESULTS = Path(__file__).parent / "results" / "report.csv"
N = 5000
FIELDS = ["part", "what", "value", "unit"]
REPEATS = 2
# Each action runs in the page; the time includes the layout that follows.
ACTIONS = {
    "open a cell of the confusions": "document.querySelector('[data-cell]').click()",
    "show one class on the map": "document.querySelector('#map .legend button').click()",
    "point at the map": "document.getElementById('map-canvas').dispatchEvent("
    "new PointerEvent('pointermove', {clientX: 400, clientY: 300, bubbles: true}))",
    "open the next sequence": "document.getElementById('next').click()",
    "zoom into a sequence": "document.getElementById('zoom-in').click()",
    "switch the theme": "document.getElementById('theme').click()",
}
TIMED = (
    "const start = performance.now(); {}; document.body.offsetHeight;"
    "return performance.now() - start"
)


# Recordings of 5 s, and songs of two and a half minutes, as frames of 13 channels; their presets.
COLLECTIONS = {
    "320 x 13 x 498, default": (320, 498, None),
    "42 x 13 x 12000, fast": (42, 12_000, "fast"),
}


def beside_evaluation() -> Iterator[tuple[str, float, str]]:
    """Measure five folds alone, then five folds with their page, in processor time."""
    for name, (n, n_frames, preset) in COLLECTIONS.items():
        X, y = mvdfq.make_autoregressive(n, 13, n_frames, 8 if n > 100 else 3, random_state=0)
        clf = mvdfq.SequenceClassifier(preset)
        mvdfq.report(clf, X[:40], y[:40], path=None, protocol="2-fold")  # loads the compiled code
        spent: list[list[float]] = [[], []]
        for k, judge in enumerate([mvdfq.evaluate, partial(mvdfq.report, path=None)] * REPEATS):
            start = time.process_time()
            with threadpool_limits(1, "blas"):  # more threads wait for each other, and that counts
                judge(clf, X, y, protocol="5-fold")
            spent[k % 2].append(time.process_time() - start)
        alone, both = map(min, spent)  # other programs only add time
        yield f"{name}: evaluation", round(alone, 1), "processor s"
        yield f"{name}: its page", round(both - alone, 1), "processor s"
        yield f"{name}: page / evaluation", round(both / alone - 1, 2), ""


def in_browser() -> Iterator[tuple[str, float, str]]:
    """Make a page of many sequences, and measure it in Chromium."""
    from selenium import webdriver

    random = np.random.default_rng(0)
    y = np.arange(N) % 8
    X = [np.cumsum(random.normal(c / 8, 1, (6, 40)), axis=1) for c in y]
    names = [f"recordings/folder_{i % 40}/take_{i:05d}.wav" for i in range(N)]
    start = time.perf_counter()
    clf = mvdfq.SequenceClassifier("mvdfqm-spectrum-alt", C=1, n_jobs=-1)
    made = mvdfq.report(clf, X, y, names, None, protocol="2-fold")
    seconds = time.perf_counter() - start
    yield "evaluate and gather the numbers", round(seconds, 1), "s"
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in ["headless", "no-sandbox", "disable-gpu", "disable-background-networking"]:
        options.add_argument(f"--{argument}")
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(page(made.data), encoding="utf-8")
        yield "page", round(path.stat().st_size / 1e6, 3), "MB"
        driver.get(path.as_uri())
        time.sleep(1)
        script = "return performance.getEntriesByName('first-contentful-paint')[0].startTime"
        yield "first paint", round(driver.execute_script(script)), "ms"
        script = "return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
        yield "all panels drawn", round(driver.execute_script(script)), "ms"
        for name, action in ACTIONS.items():
            spent = [driver.execute_script(TIMED.format(action)) for _ in range(4)]
            yield name, round(max(spent), 1), "ms"
    driver.quit()


PARTS = {"browser": in_browser, "evaluation": beside_evaluation}


def main() -> None:
    """Measure the parts that are named; lines of other parts stay."""
    with open(RESULTS, newline="", encoding="utf-8") as file:
        kept = [row for row in csv.reader(file) if len(row) == 4]
    for part in sys.argv[1:] or PARTS:
        kept = [row for row in kept if row[0] != part]
        for row in PARTS[part]():
            print(f"{row[0]:40} {row[1]:>8} {row[2]}", flush=True)
            kept.append([part, *row])
    with open(RESULTS, "w", newline="", encoding="utf-8") as file:
        rows = [row for row in kept if row[0] != "part"]
        csv.writer(file, lineterminator="\n").writerows([FIELDS, *rows])


if __name__ == "__main__":
    main()
