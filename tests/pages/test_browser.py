"""The page in a real browser: Debian's Chromium, without a network."""

import json
import shutil
import time

import numpy as np
import pytest

import mvdfq
from mvdfq.pages import html

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
By = pytest.importorskip("selenium.webdriver.common.by").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="Chromium is not installed"),
    # the driver closes its pipes when the garbage collector comes by
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
EVIL = ["<script>document.title='broken'</script>", "</script><img src=x onerror=alert(1)>"]


def tones(n=40, rate=8000):
    """Two classes of sound: low and high tones with noise, as frames and as samples."""
    random = np.random.default_rng(0)
    sounds = [np.sin(np.arange(3000) * (0.05 if i % 2 else 0.35)) + random.normal(0, 1.2, 3000)
              for i in range(n)]  # fmt: skip
    pieces = [x.reshape(-1, 30) for x in sounds]
    frames = [np.array([p.std(axis=1), np.abs(np.diff(p)).mean(axis=1)]) for p in pieces]
    return frames, sounds


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    import soundfile

    folder = tmp_path_factory.mktemp("page")
    frames, sounds = tones()
    audio = [folder / f"{i}.wav" for i in range(len(sounds))]
    for path, samples in zip(audio, sounds, strict=True):
        soundfile.write(path, samples / 6, 8000)
    X = mvdfq.check_sequences(
        frames, channel_names=["loud <b>", "rough (m/s)"], sampling_rate=8000 / 30
    )
    y = np.array(["high", "low <i>"])[np.arange(len(X)) % 2]
    y[:3] = y[1:4].copy()  # some labels are wrong, so that some sequences are
    names = [*EVIL, *(f"tone {i}" for i in range(2, len(X)))]
    clf = mvdfq.SequenceClassifier("mvdfqm-sssk", C=10)
    return mvdfq.report(
        clf, X, y, names, folder / "report.html", protocol="2-fold", audio=audio, details=12,
        title="<script>Tones</script>", command="mvdfq evaluate tones",
    )  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ["headless", "no-sandbox", "disable-gpu", "disable-background-networking",
                     "hide-scrollbars", "window-size=1280,1000",
                     "autoplay-policy=no-user-gesture-required"]:  # fmt: skip
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    driver.execute_cdp_cmd("Network.enable", {})
    network = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", network)
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, made):
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get(made.path.as_uri())
    assert browser.execute_script("return document.documentElement.dataset.ready") == "yes"
    yield browser
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def text(page, selector):
    return page.find_element(By.CSS_SELECTOR, selector).text


def bitmap(page, selector):
    script = "return document.querySelector(arguments[0]).toDataURL()"
    return page.execute_script(script, selector)


def test_the_page_shows_the_numbers_of_the_file(page, made):
    data = json.loads(made.path.with_suffix(".json").read_text())
    assert text(page, "#accuracy") == f"{100 * data['verdict']['accuracy']:.1f} %"
    cells = {cell.get_attribute("data-cell"): int(cell.text)
             for cell in page.find_elements(By.CSS_SELECTOR, "[data-cell]")}  # fmt: skip
    matrix = data["confusions"]["matrix"]
    expected = {f"{a},{b}": n for a, row in enumerate(matrix) for b, n in enumerate(row) if n}
    assert cells == expected
    headings = [one.text for one in page.find_elements(By.TAG_NAME, "h2")]
    assert len(headings) == 7
    assert "mvdfq evaluate tones" in text(page, "#verdict")


def test_the_heading_of_the_confusions_is_true_when_counts_are_equal(page, made):
    matrix, names = made.data["confusions"]["matrix"], made.data["classes"]
    counts = {(a, b): n for a, row in enumerate(matrix) for b, n in enumerate(row) if a != b and n}
    most = [pair for pair, n in counts.items() if n == max(counts.values())]
    times = f"{(n := max(counts.values()))} time{'s' if n > 1 else ''}"
    expected = f"2 pairs of classes are confused most often: {times} each"
    if len(most) == 1:
        a, b = (names[c] for c in most[0])
        expected = f"{a} is taken for {b} most often: {times}"
    assert text(page, "#confusions h2") == expected


def bar_places(page, selector):
    """Left and right end of each bar, as shares of the width of its place."""
    script = (
        "return [...document.querySelectorAll(arguments[0])].map((bar) => {"
        " const box = bar.parentElement.getBoundingClientRect(), own = bar.getBoundingClientRect();"
        " return [(own.left - box.left) / box.width, (own.right - box.left) / box.width]; })"
    )
    return page.execute_script(script, selector)


def test_negative_values_and_names_with_commas(page, made, tmp_path):
    data = json.loads(json.dumps(made.data))
    data["channels"], data["units"] = ["a, b", "none"], [None, None]
    data["health"]["constant_channels"] = [0, 1]
    data["matters"]["removal"] = [{"channel": 0, "accuracy": 0.7, "lost": 0.3},
                                  {"channel": 1, "accuracy": 1.0, "lost": -0.1}]  # fmt: skip
    data["map"]["kernel"]["means"] = [[1.0, -0.11], [-0.11, 1.0]]
    (tmp_path / "signs.html").write_text(html.page(data), encoding="utf-8")
    page.get((tmp_path / "signs.html").as_uri())
    plus, minus = bar_places(page, "#matters .bars:has(i.bad) i")
    assert plus == pytest.approx([0.25, 1], abs=0.01)
    assert minus == pytest.approx([0, 0.25], abs=0.01)
    (alike,) = bar_places(page, "#classes .grid .bars i.bad")  # not the bar of something alike
    assert alike == pytest.approx([0, 1], abs=0.01)
    facts = text(page, "#health dl")
    assert '"a, b", "none"' in facts
    assert '2 channels without any change: "a, b", "none".' in text(page, "#health ul")


def test_stretches_say_in_how_many_sequences_they_are(page, made):
    one = made.data["stretches"][0][0]
    said = text(page, "#classes figcaption")
    (n, size), (m, others) = one["in_class"], one["in_others"]
    assert f"in a stretch of {n} of {size} of the sequences of " in said
    assert f"and of {m} of {others} of the others" in said


def test_the_underline_of_a_link_stands_below_an_underscore(page):
    low = page.execute_script(
        "const link = document.querySelector('button.link');"
        "const pen = document.createElement('canvas').getContext('2d');"
        "const style = getComputedStyle(link); pen.font = style.font;"
        "return [parseFloat(style.textUnderlineOffset),"
        " pen.measureText('_').actualBoundingBoxDescent]"
    )
    assert low[0] > low[1]


def test_probabilities_add_up(page):
    for _ in range(6):
        shown = page.find_elements(By.CSS_SELECTOR, "#one .split > div:last-child .bars b")
        tenths = [round(10 * float(one.text.removesuffix(" %"))) for one in shown]
        assert sum(tenths) == 1000
        page.execute_script("document.getElementById('next').click()")


def test_units_stand_beside_values(page):
    page.execute_script(
        "const canvas = document.getElementById('sequence-canvas');"
        "canvas.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const box = canvas.getBoundingClientRect();"
        "canvas.dispatchEvent(new PointerEvent('pointermove',"
        "  {clientX: box.left + box.width / 2, clientY: box.top + 140, bubbles: true}))"
    )
    said = text(page, "#readout")
    assert "rough = " in said
    assert " m/s, evidence" in said


def test_names_from_files_are_text(page):
    assert page.title == "<script>Tones</script> \u00b7 mvdfq report"
    assert not page.find_elements(By.CSS_SELECTOR, "main img, main script, main b b, main i i")
    assert "low <i>" in text(page, "#confusions")
    shown = page.execute_script(
        "document.querySelector('#map details').open = true;"
        "return new Promise((done) => setTimeout(() => done("
        "document.querySelector('#map table').textContent), 200))"
    )
    for name in EVIL:
        assert name in shown


def test_a_cell_lists_its_sequences_and_a_sequence_opens(page):
    wrong = page.find_element(By.CSS_SELECTOR, "[data-cell='0,1'], [data-cell='1,0']")
    page.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", wrong
    )
    wrong.click()
    links = page.find_elements(By.CSS_SELECTOR, "#members [data-sequence]")
    assert len(links) == min(int(wrong.text), 12)
    name = links[0].text
    links[0].click()
    assert text(page, "#name") == name
    assert page.execute_script("return document.activeElement.id") == "sequence"


def test_a_point_of_the_map_opens_and_plays(page):
    canvas = page.find_element(By.ID, "map-canvas")
    page.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", canvas
    )
    canvas.send_keys(Keys.ARROW_RIGHT)
    canvas.send_keys(Keys.ARROW_DOWN)
    name = text(page, "#tip").splitlines()[0]
    canvas.send_keys(Keys.ENTER)
    assert text(page, "#name") == name
    ended = time.time() + 5
    script = "return window.mvdfqPlayer && window.mvdfqPlayer.currentTime"
    while not page.execute_script(script) and time.time() < ended:
        time.sleep(0.05)
    assert page.execute_script(script) > 0


def test_pointing_at_the_map_names_a_sequence(page):
    page.execute_script(
        "const canvas = document.getElementById('map-canvas');"
        "canvas.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const box = canvas.getBoundingClientRect();"
        "for (let x = 0; x < box.width; x += 6) for (let y = 0; y < box.height; y += 6) {"
        "  if (!document.getElementById('tip').hidden) break;"
        "  canvas.dispatchEvent(new PointerEvent('pointermove',"
        "    {clientX: box.left + x, clientY: box.top + y, bubbles: true})); }"
    )
    assert "sure" in text(page, "#tip")


def test_the_timeline_zooms_by_button_and_by_key(page):
    before = bitmap(page, "#sequence-canvas")
    page.execute_script("document.getElementById('zoom-in').click()")
    near = bitmap(page, "#sequence-canvas")
    assert near != before
    canvas = page.find_element(By.ID, "sequence-canvas")
    canvas.send_keys(Keys.ARROW_RIGHT)
    assert bitmap(page, "#sequence-canvas") != near
    canvas.send_keys("0")
    assert bitmap(page, "#sequence-canvas") == before


def test_every_picture_has_a_label_and_a_table(page):
    unnamed = page.execute_script(
        "return [...document.querySelectorAll('canvas, svg:not([aria-hidden]), button, select')]"
        ".filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim())).length"
    )
    assert unnamed == 0
    tables = page.execute_script(
        "const all = [...document.querySelectorAll('details')];"
        "all.forEach((one) => { one.open = true; });"
        "return new Promise((done) => setTimeout(() =>"
        "  done(all.map((one) => one.querySelectorAll('td, li').length)), 300))"
    )
    assert len(tables) >= 9
    assert min(tables) > 0


def test_the_keyboard_reaches_every_panel(page):
    seen = set()
    body = page.find_element(By.TAG_NAME, "body")
    body.click()
    for _ in range(150):
        page.switch_to.active_element.send_keys(Keys.TAB)
        script = "const at = document.activeElement.closest('section'); return at && at.id"
        seen.add(page.execute_script(script))
        if "health" in seen:
            break
    assert {"confusions", "map", "sequence", "classes", "trust", "health"} <= seen


def test_the_theme_switches(page):
    def background():
        return page.execute_script("return getComputedStyle(document.body).backgroundColor")

    page.execute_script("localStorage.clear(); location.reload()")
    colours, marks = {background()}, {bitmap(page, "#map-canvas")}
    for _ in range(2):
        page.find_element(By.ID, "theme").click()
        colours.add(background())
        marks.add(bitmap(page, "#map-canvas"))
    assert len(colours) == 2
    assert len(marks) == 2
    page.execute_script("localStorage.clear()")


@pytest.mark.parametrize("width", [360, 768])
def test_a_narrow_screen_needs_no_sideways_scrolling(page, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    time.sleep(0.3)
    wide = page.execute_script(
        "return [...document.querySelectorAll('main *')].filter((one) => !one.closest('.scroll')"
        " && one.getBoundingClientRect().right > arguments[0] + 1).map((one) =>"
        " `${one.tagName} ${one.className} ${one.textContent.slice(0, 40)}`)", width
    )  # fmt: skip
    assert wide == []
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


def test_nothing_is_fetched(page):
    found = page.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert [name for name in found if not name.startswith("data:")] == []
    refused = page.execute_script(
        "return fetch('https://example.org').then(() => 'fetched', () => 'refused')"
    )
    assert refused == "refused"
    page.get_log("browser")  # the refusal is logged as an error, as it should be


def test_the_page_prints(page):
    assert len(page.print_page()) > 20_000


def test_the_page_of_one_sequence(browser, tmp_path):
    from mvdfq.pages.report import explanation_page

    frames, _ = tones()
    y = np.arange(len(frames)) % 2
    clf = mvdfq.SequenceClassifier("mvdfqm-sssk", C=10).fit(frames, y)
    path = tmp_path / "why.html"
    path.write_text(explanation_page(clf, frames, 3, EVIL[0]), encoding="utf-8")
    browser.get(path.as_uri())
    assert text(browser, "h1") == f"Why {EVIL[0]} is put into the class 1"
    assert browser.get_log("browser") == []


def test_the_page_of_a_table_has_the_theme_of_a_report(browser, tmp_path):
    from made_results import made as made_table
    from mvdfq.reproduce.result import Row
    from mvdfq.reproduce.show import page as table_page

    rows = [Row("MVDFQ", "SSSK", "no", published=22.6, value=25.5, std=2.1, n_seeds=5, n_folds=5)]
    path = tmp_path / "table.html"
    path.write_text(table_page(made_table("genre", rows)), encoding="utf-8")
    browser.get(path.as_uri())
    assert text(browser, ".score .big") == "0 of 1"
    before = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    for _ in range(2):
        browser.find_element(By.ID, "theme").click()
    after = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert before != after
    assert browser.get_log("browser") == []
    browser.execute_script("localStorage.clear()")


def test_the_accuracy_of_each_group_is_shown(browser, tmp_path):
    frames, _ = tones()
    y = np.array(["high", "low"])[np.arange(len(frames)) % 2]
    groups = np.array(["<b>anna</b>", "ben", "cleo"])[np.arange(len(y)) % 7 // 3]
    clf = mvdfq.SequenceClassifier("fast", C=10)
    path = tmp_path / "groups.html"
    verdict = mvdfq.report(clf, frames, y, path=path, groups=groups, details=1).data["verdict"]
    browser.get(path.as_uri())
    shown = text(browser, "#groups")
    for row in verdict["groups"]:
        assert row["group"] in shown
        assert f"{100 * row['accuracy']:.1f} % ({row['right']} of {row['n']})" in shown
    top = text(browser, "#verdict")
    assert f"{verdict['right']} of {verdict['n']} sequences recognised" in top
    assert "t interval over 3 groups" in top
    assert "3 groups are held apart" in top
