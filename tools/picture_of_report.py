"""Write docs/report.png, the picture in the README: the page of the demo in headless Chromium.

Needs Chromium, its driver and selenium. Run: python tools/picture_of_report.py
"""

import base64
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from selenium import webdriver

import mvdfq
from mvdfq.pages.api import finish, fitted_run

TARGET = Path(__file__).parents[1] / "docs" / "report.png"
WIDTH, HEIGHT = 1200, 900
MOST_BYTES = 300_000
# The parts of the page that the picture shows, one above the other.
PARTS = {"#verdict": 400, "#sequence": 880}


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
        shots = picture(page, Path(folder))
        joined(shots).save(TARGET, optimize=True)
    size = TARGET.stat().st_size
    assert size <= MOST_BYTES, f"{TARGET} has {size} bytes, more than {MOST_BYTES}"


def picture(page: Path, folder: Path) -> list[Path]:
    """Return pictures of the parts of the page."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in ["headless", "no-sandbox", "disable-gpu", "disable-background-networking",
                     "hide-scrollbars", f"window-size={WIDTH},{HEIGHT}"]:  # fmt: skip
        options.add_argument(f"--{argument}")
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    shots = []
    try:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        for part, height in PARTS.items():
            script = (
                f"return document.querySelector('{part}').getBoundingClientRect().top + scrollY"
            )
            clip = {"x": 0, "y": driver.execute_script(script), "width": WIDTH, "height": height}
            shot = driver.execute_cdp_cmd(
                "Page.captureScreenshot",
                {"clip": {**clip, "scale": 1}, "captureBeyondViewport": True},
            )
            shots.append(folder / f"{part[1:]}.png")
            shots[-1].write_bytes(base64.b64decode(shot["data"]))
    finally:
        driver.quit()
    return shots


def joined(shots: list[Path]) -> Image.Image:
    """Return the pictures one above the other."""
    images = [Image.open(path).convert("RGB") for path in shots]
    whole = Image.new("RGB", (WIDTH, sum(image.height for image in images)))
    top = 0
    for image in images:
        whole.paste(image, (0, top))
        top += image.height
    return whole


if __name__ == "__main__":
    main()
