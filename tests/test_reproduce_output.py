"""A result as it is shown: in a terminal, as CSV, JSON and HTML; and the claims in percent."""

import csv
import inspect
import io
import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console
from typer.testing import CliRunner

from mvdfq.cli.app import app
from mvdfq.cli.reproduce import MORE
from mvdfq.reproduce import api
from mvdfq.reproduce.arrange import difference, number, with_spread
from mvdfq.reproduce.claims import claims
from mvdfq.reproduce.contradictions import remarks
from mvdfq.reproduce.export import csv_rows, write_csv, write_json
from mvdfq.reproduce.pictures import Scale
from mvdfq.reproduce.published import figures, find
from mvdfq.reproduce.result import Result, Row
from mvdfq.reproduce.sections import html_section, page
from mvdfq.reproduce.show import blocks

READINGS = ("text", "comment", "tuned")
PROTOCOLS = ("5-fold", "artist-disjoint", "fault-filtered")
LONG = "mfcc DirectQuantizer(n_bins=32, strategy='uniform'), Spectrum(k=6), root, ovo"
EVIL = "<script>alert('x')</script> & \"more\""


def beside(table, row):
    """Put the published figure beside a line."""
    first = find(table, row.name, row.kernel, row.manifold, row.setting, row.metric)[0]
    return replace(row, published=first.value, status=first.status, line=first.line)


def made(table, rows, **more):
    return Result(table, f"Table {table}", rows, remarks(table), claims(rows), more)


def genre_row(i, name, kernel, manifold, reading, protocol):
    row = beside("genre", Row(name, kernel, manifold, reading=reading, protocol=protocol))
    value = row.published + 0.1 * i - 3
    return replace(
        row, value=value, std=1.5, f1=(100 - value, 101 - value), n_seeds=5, n_folds=5,
        method=LONG, seconds={"gram": 1.25, "encode": 0.5},
    )  # fmt: skip


@pytest.fixture(scope="module")
def genre():
    places = [
        (name, kernel, manifold, reading, protocol)
        for protocol in PROTOCOLS
        for reading in READINGS
        for kernel in ("Spectrum", "Mismatch", "SSSK")
        for manifold in ("no", "yes")
        for name in ("VQ", "Sim. hashing", "MVDFQ")
    ]
    rows = [genre_row(i % 54, *each) for i, each in enumerate(places)]
    return made("genre", rows, data="GTZAN", sequences=1000, versions={"mvdfq": "1"})


@pytest.fixture(scope="module")
def artist():
    rows = []
    for figure in figures("artist"):
        if figure.metric == "error_pct":
            row = Row(figure.name, figure.kernel, figure.manifold, reading="text")
            row = replace(beside("artist", row), published_f1=66.22, protocol="group-per-class")
            rows.append(
                replace(row, value=figure.value + 1, std=2.0, f1=(60.1, 60.5), n_seeds=1,
                        n_folds=6, method=LONG, note="a remark")
            )  # fmt: skip
    rows.append(beside("artist", Row("MFCC GMM", reading="text", note="not run: only quoted")))
    return made("artist", rows)


@pytest.fixture(scope="module")
def evil():
    row = Row(EVIL, EVIL, "no", EVIL, EVIL, EVIL, published=1.0, line=1, status=EVIL, value=2.0,
              std=0.5, n_seeds=2, n_folds=2, method=EVIL, note=EVIL)  # fmt: skip
    unknown = replace(row, metric=EVIL, value=None)
    claim = claims(_scop())[0] | {"says": EVIL, "ours": {EVIL: {EVIL: 1.0}}, "from": EVIL}
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
    assert read.tags.count("svg") == 3 * (18 + 1)  # a picture a place, an axis a protocol
    assert read.tags.count("circle") == 162
    text = " ".join(read.texts)
    assert "Music" not in text
    assert "Table genre" in text
    assert all(words in text for words in ("17.3", "5-fold", "artist-disjoint", LONG))
    assert "25-40 %" in text


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
    assert "Not measured" in text
    assert "not run: only quoted" in text


def test_pictures_fit_their_scale():
    rows = [Row("a", value=28.5, std=4.0, published=61.0), Row("b", published=3.0)]
    scale = Scale(rows)
    assert scale.ticks[0] == 0
    assert scale.ticks[-1] >= 61
    assert 3 <= len(scale.ticks) <= 6
    assert 0 < scale.x(0) < scale.x(61) < 220
    assert Scale([Row("nothing")]).ticks[-1] == 1
    assert Scale([replace(rows[0], value=0.004, std=None, published=0.002)]).x(0.004) < 220


# the terminal ---------------------------------------------------------------------------------


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert Console().width == 100


def run(*arguments, code=0):
    done = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done


def with_result(monkeypatch, result):
    """Let the program find a result without computing it; return the calls."""
    calls, signature = [], inspect.signature(api.run)

    def fake(*arguments, **options):
        calls.append(signature.bind(*arguments, **options).arguments)
        return result

    monkeypatch.setattr(api, "run", fake)
    return calls


def test_genres_are_a_matrix(genre):
    first = blocks(genre)[0]
    assert [row["kernel"] for row in first.rows] == ["Spectrum", "Mismatch", "SSSK"]
    assert [*first.rows[0]] == ["kernel", "VQ", "hashing", "MVDFQ", "VQ-M", "hashing-M", "MVDFQ-M"]
    assert first.rows[0]["VQ"] == "31.5 ± 1.5 (34.5)"
    titles = [block.title for block in blocks(genre)]
    assert sum("error in percent" in title for title in titles) == 9
    assert sum(title.endswith("as used") for title in titles) == 3
    assert sum("plain folds" in title for title in titles) == 6


@pytest.mark.parametrize("name", ["genre", "artist"])
def test_nothing_is_cut_at_100_columns(name, request, monkeypatch, wide, tmp_path):
    result = request.getfixturevalue(name)
    with_result(monkeypatch, result)
    out = run(name, "--data", tmp_path).stdout
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 100
    words = set(out.split())
    for block in blocks(result):
        for row in block.rows:
            missing = [w for v in row.values() for w in str(v).split() if w not in words]
            assert not missing


def test_lists_show_both_figures(artist):
    first = blocks(artist)[0].rows
    assert first[0] == {
        "method": "MFCC mean+variance", "paper": "59.54", "line": "967", "ours": "60.5 ± 2.0",
        "diff.": "+1.0", "F1": "60.1/60.5", "paper's F1": "66.22", "runs": "1x6",
    }  # fmt: skip
    assert any(row["line"] == "972 (comment)" for row in first)


def test_numbers_are_as_long_as_the_paper_has_them():
    shown = [number(v) for v in (25.0, 16.74, 17.3, 1413.0, 2.5e-6, 0.0065, 0.0, None)]
    assert shown == ["25.0", "16.74", "17.3", "1413", "2.5e-06", "0.0065", "0.0", ""]
    row = Row("a", value=3.04, published=3.0, std=0.0, n_seeds=1, n_folds=1)
    assert (with_spread(row), difference(row)) == ("3.0", "+0.0")
    assert difference(replace(row, value=2.96)) == "+0.0"
    assert difference(replace(row, value=0.06, metric="time_s_1000x1000")) == "x 0.02"


def test_for_machines(genre, monkeypatch, wide, tmp_path):
    with_result(monkeypatch, genre)
    plain = json.loads(run("genre", "--data", tmp_path, "--format", "json").stdout)
    assert (plain["table"], len(plain["rows"])) == ("genre", 162)
    out = run("genre", "--data", tmp_path, "--format", "csv").stdout
    assert len(list(csv.DictReader(io.StringIO(out)))) == 162


def test_options_reach_the_run(genre, monkeypatch, wide, tmp_path):
    calls = with_result(monkeypatch, genre)
    run("genre", "--data", tmp_path, "--reading", "text", "--reading", "tuned",
        "--protocol", "5-fold", "--seeds", 2, "--quick", "--cache", tmp_path / "c",
        "--n-jobs", 1, "--memory-limit", "1 GB", "-q", "-o", tmp_path / "out")  # fmt: skip
    assert calls == [
        {
            "table": "genre", "folder": tmp_path, "readings": ["text", "tuned"],
            "protocols": ["5-fold"], "seeds": 2, "quick": True,
            "cache": tmp_path / "c", "n_jobs": 1, "memory_limit": "1 GB", "progress": None,
        }
    ]  # fmt: skip
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["genre.csv", "genre.html", "genre.json"]


def test_what_is_not_said_is_left_to_the_run(genre, monkeypatch, wide, tmp_path):
    calls = with_result(monkeypatch, genre)
    run("genre", "--data", tmp_path)
    assert calls[0].keys() == {"table", "folder", "n_jobs", "memory_limit", "progress"}


def test_ctrl_c_says_that_it_goes_on(monkeypatch, wide, tmp_path):
    def broken_off(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "run", broken_off)
    done = run("genre", "--data", tmp_path, code=130)
    assert MORE in done.stderr
    assert "interrupted" in done.stderr


def test_tables_are_listed_and_shown_without_data(wide):
    listed = json.loads(run("--format", "json").stdout)
    assert {"table": "genre", "title": "Music genre recognition", "published figures": 18} in listed
    done = run("genre")
    assert done.stdout.count("error_pct") == 1  # what is the same in all lines is said once
    assert len(done.stdout.splitlines()) == 18 + 3
    assert "--data FOLDER" in done.stderr
    shown = json.loads(run("settings", "--format", "json").stdout)
    assert {"5-6", "(5,2)"} <= {figure["text"] for figure in shown}


def test_settings_are_only_quoted_where_data_are_at_hand_too(wide, tmp_path):
    done = run("settings", "--data", tmp_path)
    assert "VQ codewords" in done.stdout
    assert "nothing to run" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["nothing"], 2, "no table 'nothing'"),
        (["genre", "--data", ".", "--reading", "loud"], 2, "no reading 'loud'"),
        (["homology", "--data", ".", "--protocol", "5-fold"], 2, "this table has none"),
        (["genre", "-o", "out"], 2, "need a table that is run"),
        (["genre", "--kept"], 2, "need a table that is run"),
        (["settings", "--data", ".", "--seeds", "2"], 2, "need a table that is run"),
        (["datasets", "--data", "nowhere"], 3, "nowhere: is not there"),
        (["genre", "--data", ".", "-o", "no/such/place"], 6, "is no folder"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, code, says, wide, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert says in run(*arguments, code=code).stderr


# claims ---------------------------------------------------------------------------------------


def _scop():
    seen = {"metric": "mean_ROC50", "protocol": "homology", "reading": "text"}
    return [
        beside("homology", Row(name, kernel, value=value, **seen))
        for kernel, value in [("Spectrum", 30.0), ("Mismatch", 40.0), ("SSSK", 50.0)]
        for name, value in [("Univariate", value), ("MVDFQ", value + 10)]
    ]


def by_words(found):
    return {each["says"]: each for each in found}


def test_the_papers_own_figures_give_these_percents(genre, artist):
    found = by_words(genre.claims + artist.claims)
    shares = {
        "Better than univariate: genre, SSSK.": 27.3,
        "Better than univariate: genre, SSSK, manifold.": 30.8,
        "Better than univariate: artists.": 40.3,
        "MVDFQ-SSSK against hashing.": 12.7,
        "MVDFQM-SSSK against hashing.": 24.8,
        "The manifold helps: VQ, mismatch.": 4.3,
    }
    assert {words: round(found[words]["published"], 1) for words in shares} == shares


def test_proteins_gain_more_than_the_text_says():
    found = by_words(claims(_scop()))
    spectrum, mismatch = found["Proteins, spectrum."], found["Proteins, mismatch."]
    assert (round(spectrum["published"], 1), spectrum["agrees"]) == (55.1, False)
    assert (round(mismatch["published"], 1), mismatch["agrees"]) == (17.3, True)
    assert spectrum["ours"] == {"homology": {"text": pytest.approx(100 / 3)}}
    assert mismatch["ours"] == {"homology": {"text": pytest.approx(25)}}


def test_ours_is_by_protocol_and_reading(genre):
    claim = by_words(genre.claims)["MVDFQ-SSSK against VQ."]
    assert set(claim["ours"]) == set(PROTOCOLS)
    assert set(claim["ours"]["5-fold"]) == set(READINGS)
    values = {
        (row.name, row.reading): row.value
        for row in genre.rows
        if (row.kernel, row.manifold, row.protocol) == ("SSSK", "no", "5-fold")
    }
    before, after = values["VQ", "tuned"], values["MVDFQ", "tuned"]
    assert claim["ours"]["5-fold"]["tuned"] == pytest.approx(100 * (before - after) / before)


def compare(value, adaboost=None, protocol="5-fold"):
    seen = {"reading": "tuned", "protocol": protocol}
    rows = [
        beside("genre-compare", Row("AdaBoost", reading="text", protocol=protocol, value=adaboost)),
        beside("genre-compare", Row("MVDFQM", "SSSK", "yes", "MFCC", value=value, **seen)),
    ]
    return by_words(claims(rows))["Better than others: genre, AdaBoost."]


def test_the_literature_is_quoted_where_it_was_not_run():
    claim = compare(14.0)
    assert (round(claim["published"], 1), claim["agrees"]) == (1.1, False)
    assert claim["ours"] == {"5-fold": {"tuned": pytest.approx(20.0)}}
    assert compare(14.0, adaboost=28.0)["ours"] == {"5-fold": {"tuned": pytest.approx(50.0)}}
    assert compare(14.0, protocol="artist-disjoint")["ours"] is None
    assert compare(None)["ours"] is None


def test_claims_of_other_tables_are_left_out(artist):
    assert {each["line"] for each in artist.claims} == {102, 246, 1006}
    assert claims([]) == []
