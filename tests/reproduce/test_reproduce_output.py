"""A result in files: CSV, JSON and HTML."""

import csv
import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from made_results import LONG, made, made_scop
from mvdfq.pages.html import page as report_page
from mvdfq.reproduce.arrange import verdict
from mvdfq.reproduce.claims import claims
from mvdfq.reproduce.published import SECONDS
from mvdfq.reproduce.result import Result, Row, csv_rows, read_json, write_csv, write_json
from mvdfq.reproduce.show import blocks, page

EVIL = "<script>alert('x')</script> & \"more\""


@pytest.fixture(scope="module")
def evil():
    row = Row(EVIL, EVIL, "no", EVIL, EVIL, EVIL, published=1.0, line=1, status=EVIL, value=2.0,
              std=0.5, n_seeds=2, n_folds=2, method={EVIL: 1}, note=EVIL)  # fmt: skip
    unknown = replace(row, metric=EVIL, value=None)
    claim = claims(made_scop())[0] | {"says": EVIL, "ours": {EVIL: {EVIL: 1.0}}, "from": EVIL}
    return Result(EVIL, EVIL, [row, unknown], [EVIL], [claim], {EVIL: {EVIL: EVIL}})


# files ----------------------------------------------------------------------------------------


def test_csv_comes_back(genre, tmp_path):
    write_csv(genre, tmp_path / "genre.csv")
    with open(tmp_path / "genre.csv", newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    assert len(read) == len(genre.rows) == 162
    for line, row in zip(read, genre.rows, strict=True):
        assert (line["name"], line["kernel"], line["protocol"]) == (
            row.name,
            row.kernel,
            row.protocol,
        )
        assert float(line["value"]) == row.value
        assert float(line["f1_mean_of_classes"]) == row.f1[0]
        assert float(line["seconds_gram"]) == 1.25


def test_csv_leaves_empty_what_is_not_known(artist):
    last = csv_rows(artist)[-1]
    assert (last["value"], last["std"], last["f1_mean_of_classes"]) == ("", "", "")
    assert last["published"] == 44.0
    assert csv_rows(made("genre", [])) == []


def test_json_comes_back(genre, tmp_path):
    write_json(genre, tmp_path / "genre.json")
    read = json.loads((tmp_path / "genre.json").read_text(encoding="utf-8"))
    assert read == json.loads(json.dumps(genre.to_dict()))
    assert read_json(tmp_path / "genre.json") == genre
    first = read["rows"][0]
    assert (first["method"], first["used"]) == (LONG, {LONG: 1})


# pages ----------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """Checks that what is opened is closed, and collects tags, text and attributes."""

    VOID = ("meta", "link", "br", "img", "circle", "line")

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.attributes = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_a_section_is_whole(genre):
    read = Reader(page(genre))
    assert read.open == []
    assert read.tags.count("section") == 1
    text = " ".join(read.texts)
    assert "Music" not in text
    assert "Table genre" in text
    assert all(words in text for words in ("17.3", "5-fold", "artist-disjoint", LONG))
    assert "25-40 %" in text


@pytest.mark.parametrize("name", ["genre", "artist", "evil"])
def test_a_section_says_what_a_terminal_says(name, request):
    result = request.getfixturevalue(name)
    texts = {text.strip() for text in Reader(page(result)).texts}
    for block in blocks(result):
        assert block.heading("; ") in texts
        assert {str(value).strip() for row in block.rows for value in row.values()} <= texts | {""}
        assert {*block.below} <= texts


def test_the_page_has_the_look_of_a_report(genre):
    report = report_page({"details": [], "about": {}})
    read, other = Reader(page(genre)), Reader(report)
    assert ("id", "theme") in read.attributes
    assert ("class", "brand") in read.attributes
    assert ("class", "hero paper") in read.attributes
    style, look = ("".join(one.texts).partition("</style>")[0] for one in (read, other))
    assert look.partition("/* the verdict */")[0].split("--serif")[1] in style
    targets = {value for key, value in read.attributes if key == "id"}
    links = [value for key, value in read.attributes if key == "href" and value.startswith("#")]
    assert {link[1:] for link in links} <= targets


def test_the_verdict_counts_points():
    rows = [
        Row("a", published=20.0, value=21.0),
        Row("b", published=20.0, value=10.0),
        Row("c", published=20.0, value=25.0),
        Row("d", published=20.0),
        Row("e", metric="F1_pct", published=50.0, value=60.0),
    ]
    big, words = verdict(Result("t", "T", rows))
    assert big == "1 of 4"
    assert "better 2 times and worse 1 times" in words
    # of several readings, the nearest counts; folds by artist are another task
    rows += [Row("c", reading="text", published=20.0, value=20.5)]
    rows += [Row("a", protocol="artist-disjoint", published=20.0, value=60.0)]
    assert verdict(Result("t", "T", rows))[0] == "2 of 4"
    counts = [Row("a", metric="n_classes", published=5, value=5)]
    assert verdict(Result("t", "T", counts)) == (
        "1 of 1",
        "counts are equal to the counts of the paper.",
    )
    seconds = [Row("a", metric=SECONDS, published=10.0, value=1.0)]
    assert verdict(Result("t", "T", seconds))[0] == "x 0.1"
    assert verdict(Result("t", "T", [Row("a")]))[0] == ""


def test_a_page_needs_no_other_file(genre):
    text = page(genre)
    read = Reader(text)
    assert read.open == []
    assert read.tags.count("section") == 1
    assert text.startswith("<!doctype html>")
    assert read.tags.count("script") == 1
    outside = [value for key, value in read.attributes if key in ("src", "href")]
    assert all(value.startswith("#") or value == "data:," for value in outside)
    assert "#verdict" in outside


def test_names_cannot_write_the_page(evil):
    text = page(evil)
    read = Reader(text)
    assert read.open == []
    assert read.tags.count("script") == 1
    assert not [key for key, _ in read.attributes if key.startswith("on")]
    assert text.count("<script") == 1
    assert EVIL in "".join(read.texts)


def test_what_was_not_measured_says_why(artist):
    text = page(artist)
    assert "not measured" in text
    assert "not run: only quoted" in text
