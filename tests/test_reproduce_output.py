"""A result in files: CSV, JSON and HTML."""

import csv
import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from made_results import LONG, made, made_scop
from mvdfq.reproduce.claims import claims
from mvdfq.reproduce.export import csv_rows, write_csv, write_json
from mvdfq.reproduce.pictures import NAMES, WIDTH, Scale
from mvdfq.reproduce.result import Result, Row
from mvdfq.reproduce.sections import html_section, page
from mvdfq.reproduce.show import blocks

EVIL = "<script>alert('x')</script> & \"more\""


@pytest.fixture(scope="module")
def evil():
    row = Row(EVIL, EVIL, "no", EVIL, EVIL, EVIL, published=1.0, line=1, status=EVIL, value=2.0,
              std=0.5, n_seeds=2, n_folds=2, method=EVIL, note=EVIL)  # fmt: skip
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
    assert Row(**{**read["rows"][0], "f1": tuple(read["rows"][0]["f1"])}) == genre.rows[0]


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
    read = Reader(html_section(genre))
    assert read.open == []
    assert read.tags.count("section") == 1
    drawn = [block for block in blocks(genre) if block.drawn]
    assert read.tags.count("svg") == len(drawn) == 9  # one picture per reading and protocol
    assert read.tags.count("circle") == 162
    text = " ".join(read.texts)
    assert "Music" not in text
    assert "Table genre" in text
    assert all(words in text for words in ("17.3", "5-fold", "artist-disjoint", LONG))
    assert "25-40 %" in text


@pytest.mark.parametrize("name", ["genre", "artist", "evil"])
def test_a_section_says_what_a_terminal_says(name, request):
    result = request.getfixturevalue(name)
    texts = {text.strip() for text in Reader(html_section(result)).texts}
    for block in blocks(result):
        assert block.title.replace("\n", "; ") in texts
        assert {str(value).strip() for row in block.rows for value in row.values()} <= texts | {""}
        assert {line.removeprefix("- ") for line in block.below} <= texts


def test_the_style_is_of_sections_alone(genre):
    style = html_section(genre).partition("<style>")[2].partition("</style>")[0]
    rules = [part.rpartition("}")[2] for part in style.split("{")[:-1]]
    selectors = [one.strip() for rule in rules for one in rule.split(",") if rule.strip()]
    assert all(one.startswith((".mvdfq-table", "@media")) for one in selectors)
    assert "prefers-color-scheme: dark" in style


def test_a_page_needs_no_other_file(genre, artist):
    text = page([genre, artist])
    read = Reader(text)
    assert read.open == []
    assert read.tags.count("section") == 2
    assert text.startswith("<!doctype html>")
    assert "script" not in read.tags
    outside = [value for key, value in read.attributes if key in ("src", "href")]
    assert outside == ["#table-genre", "#table-artist"]


def test_names_cannot_write_the_page(evil):
    for text in (html_section(evil), page([evil, evil])):
        read = Reader(text)
        assert read.open == []
        assert "script" not in read.tags
        assert not [key for key, _ in read.attributes if key.startswith("on")]
        assert "<script" not in text
        assert EVIL in "".join(read.texts)


def test_what_was_not_measured_says_why(artist):
    text = html_section(artist)
    assert "not measured" in text
    assert "not run: only quoted" in text


def test_pictures_fit_their_scale():
    rows = [Row("a", value=28.5, std=4.0, published=61.0), Row("b", published=3.0)]
    scale = Scale(rows)
    assert scale.ticks[0] == 0
    assert scale.ticks[-1] >= 61
    assert 3 <= len(scale.ticks) <= 6
    assert NAMES < scale.x(0) < scale.x(61) < NAMES + WIDTH
    assert Scale([Row("nothing")]).ticks[-1] == 1
    assert (
        Scale([replace(rows[0], value=0.004, std=None, published=0.002)]).x(0.004) < NAMES + WIDTH
    )
