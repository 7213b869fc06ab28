"""Write docs/report.png, the picture in the README: the page of the demo in headless Chromium.

Needs Chromium, its driver and selenium. Run: python tools/picture_of_report.py
"""

import base64
import shutil
import tempfile
from pathlib import Path

from selenium import webdriver

import mvdfq
from mvdfq.pages.report import finish, fitted_run

TARGET = Path(__file__).parents[1] / "docs" / "report.png"
WIDTH, HEIGHT = 1200, 1360
MOST_BYTES = 300_000
# The parts of the page that the picture shows, one above the other, and how much of each.
PARTS = {"verdict": 390, "sequence": 862}
# Hides all other parts and cuts the parts that are shown.
ONLY = (
    "const parts = arguments[0]; document.querySelector('.top').style.position = 'static';"
    "document.querySelectorAll('main > section').forEach((one) => {"
    "  if (!parts[one.id]) { one.style.display = 'none'; return; }"
    "  one.style.height = `${parts[one.id]}px`; one.style.overflow = 'hidden'; });"
)


def main() -> None:
    """Make the page, draw two of its panels, and write the picture."""
    train = mvdfq.load_japanese_vowels(split="train")
    test = mvdfq.load_japanese_vowels(split="test")
    names = [f"utterance {i}" for i in range(640)]
    clf = mvdfq.SequenceClassifier().fit(*train)
    run = fitted_run(clf, test[0], test[1], names, train)
    about = {"title": "Japanese vowels: nine speakers", "command": "mvdfq demo"}
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "demo.html"
        finish(run, about, path=page)
        TARGET.write_bytes(picture(page))
    size = TARGET.stat().st_size
    assert size <= MOST_BYTES, f"{TARGET} has {size} bytes, more than {MOST_BYTES}"


def picture(page: Path) -> bytes:
    """Return a picture of the parts of the page."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in ["headless", "no-sandbox", "disable-gpu", "disable-background-networking",
                     "hide-scrollbars"]:  # fmt: skip
        options.add_argument(f"--{argument}")
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    try:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        driver.execute_script(ONLY, PARTS)
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    finally:
        driver.quit()
    return base64.b64decode(shot["data"])


if __name__ == "__main__":
    main()
