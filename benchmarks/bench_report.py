"""How fast the page of 5000 sequences is in headless Chromium, and how large.

Needs Chromium, its driver and selenium. Writes benchmarks/results/report.csv.
Run: python benchmarks/bench_report.py
"""

import csv
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

import mvdfq
from mvdfq.pages.html import page

RESULTS = Path(__file__).parent / "results" / "report.csv"
N = 5000
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


def main() -> None:
    """Make a page, measure it, print and store the times."""
    from selenium import webdriver

    random = np.random.default_rng(0)
    y = np.arange(N) % 8
    X = [np.cumsum(random.normal(c / 8, 1, (6, 40)), axis=1) for c in y]
    names = [f"recordings/folder_{i % 40}/take_{i:05d}.wav" for i in range(N)]
    start = time.perf_counter()
    clf = mvdfq.SequenceClassifier("mvdfqm-spectrum-alt", C=1, n_jobs=-1)
    made = mvdfq.report(clf, X, y, names, None, protocol="2-fold")
    seconds = time.perf_counter() - start
    rows = [("evaluate and gather the numbers", round(seconds, 1), "s")]
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in ["headless", "no-sandbox", "disable-gpu", "disable-background-networking"]:
        options.add_argument(f"--{argument}")
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(page(made.data), encoding="utf-8")
        rows.append(("page", round(path.stat().st_size / 1e6, 3), "MB"))
        driver.get(path.as_uri())
        time.sleep(1)
        script = "return performance.getEntriesByName('first-contentful-paint')[0].startTime"
        rows.append(("first paint", round(driver.execute_script(script)), "ms"))
        script = "return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
        rows.append(("all panels drawn", round(driver.execute_script(script)), "ms"))
        for name, action in ACTIONS.items():
            spent = [driver.execute_script(TIMED.format(action)) for _ in range(4)]
            rows.append((name, round(max(spent), 1), "ms"))
    driver.quit()
    with open(RESULTS, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([("what", "value", "unit"), *rows])
    for what, value, unit in rows:
        print(f"{what:34} {value:>8} {unit}")


if __name__ == "__main__":
    main()
