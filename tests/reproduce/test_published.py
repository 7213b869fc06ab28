"""The figures of the paper: all there, each found by its place and by no other."""

from collections import Counter

import pytest

from mvdfq.reproduce.claims import MEASURES, all_claims, all_remarks, remarks
from mvdfq.reproduce.published import STATUSES, TITLES, cells, figures, find, rank

OWN = {table: [f for f in figures(table) if f.table == table] for table in TITLES}
ALL = [figure for own in OWN.values() for figure in own]
LAST_LINE = 1150


def test_every_figure_of_the_paper_counts():
    counts = {table: len(own) for table, own in OWN.items() if own}
    assert counts == {
        "datasets": 8,
        "genre": 18,
        "genre-compare": 20,
        "genre-draft": 42,
        "ismir": 11,
        "ismir-compare": 9,
        "artist": 13,
        "homology": 25,
        "runtime": 16,
        "settings": 16,
        "text": 14,
    }
    assert Counter(figure.status for figure in ALL) == {
        "printed": 96,
        "text": 21,
        "if0": 39,
        "comment": 36,
    }


def test_figures_are_whole():
    for figure in ALL:
        assert figure.name
        assert figure.status in STATUSES
        assert 0 < figure.line < LAST_LINE
        assert figure.value is not None or figure.metric == "setting"
        assert figure.value is None or float(figure.text) == figure.value


def test_a_line_and_a_value_are_one_figure():
    places = Counter((figure.line, figure.text) for figure in ALL)
    assert max(places.values()) == 1


@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        (("genre", "VQ", "Spectrum", "no"), 34.5, 647),
        (("genre", "MVDFQ", "SSSK", "yes"), 17.3, 649),
        (("genre-compare", "MVDFQM", "SSSK", "yes", "MFCC"), 17.3, 794),
        (("genre-compare", "MVDFQM", "SSSK", "yes", "mfcc+fft64"), 13.6, 795),
        (("genre-compare", "MVDFQ-1D", "SSSK", "yes"), 22.0, 908),
        (("genre-compare", "MVDFQM", "SSSK", "yes", "k-means bins"), 16.9, 872),
        (("genre-compare", "AdaBoost"), 17.5, 789),
        (("genre-draft", "Sim. hashing", "Spectrum", "no"), 27.8, 825),
        (("ismir", "MVDFQ", "Spectrum", "yes"), 16.74, 925),
        (("ismir-compare", "NMF"), 16.5, 949),
        (("artist", "VQ", "", "no"), 42.97, 970),
        (("runtime", "Sim. hashing", "k=5", "yes", "E=64"), 28.2, 1114),
        (("bins", "MVDFQ", "Spectrum", "yes", "B=16"), 23.9, 1115),
        (("homology", "MVDFQ", "Mismatch", "no", "", "mean_ROC50"), 49.17, 1063),
        (("datasets", "GTZAN genre (10)", "", "", "", "n_sequences"), 1000, 621),
        (("text", "MVDFQ", "SSSK", "no"), 22.6, 866),
    ],
)
def test_some_figures(place, value, line):
    first = find(*place)[0]
    assert (first.value, first.line) == (value, line)


def test_the_matrix_of_genres_is_full():
    found = [
        find("genre", name, kernel, manifold)
        for name in ("VQ", "Sim. hashing", "MVDFQ")
        for kernel in ("Spectrum", "Mismatch", "SSSK")
        for manifold in ("no", "yes")
    ]
    assert [len(same) for same in found] == [1] * 18


CELLS = [
    (table, cell)
    for table in ("genre", "genre-compare", "ismir", "ismir-compare", "artist", "runtime", "bins")
    for cell in cells(table)
]


def found_for(table, cell, metric="error_pct"):
    return find(table, cell.name, cell.kernel, cell.manifold, cell.setting, metric)


@pytest.mark.parametrize("metric", ["error_pct", "F1_pct"])
def test_no_cell_has_two_figures_of_the_same_rank(metric):
    for table, cell in CELLS:
        found = found_for(table, cell, metric)
        ranks = [rank(figure) for figure in found]
        assert not ranks or ranks.count(ranks[0]) == 1, (table, cell, found)


@pytest.mark.parametrize(
    "table", ["genre", "genre-compare", "ismir", "ismir-compare", "artist", "runtime"]
)
def test_every_printed_error_has_a_cell(table):
    mine = [cell for name, cell in CELLS if name == table]
    found = {figure for cell in mine for figure in found_for(table, cell)[:1]}
    printed = {f for f in OWN[table] if (f.status, f.metric) == ("printed", "error_pct")}
    assert printed <= found


def test_words_are_whole_words():
    assert not find("runtime", "MVDFQ", setting="B=6")
    assert not find("genre", "Spectrum")
    assert [f.value for f in find("ismir-compare", "MVDFQM", setting="MFCC, k=3")] == [16.74]
    assert {f.metric for f in find("artist", "VQ", metric="")} == {"error_pct", "F1_pct"}


def test_printed_figures_come_first():
    found = find("genre-compare", "MVDFQM", "SSSK", "yes")
    ranks = [STATUSES.index(figure.status) for figure in found]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) > 1


def test_an_unknown_table_is_named():
    with pytest.raises(ValueError, match="no table 'nothing'; one of datasets, genre"):
        figures("nothing")


def test_remarks_are_about_tables_and_lines_that_exist():
    assert len(all_remarks()) >= 19
    for remark in all_remarks():
        lines = [*map(int, remark["lines"])]
        assert set(remark["tables"]) <= set(TITLES)
        assert lines == sorted(lines)
        assert all(0 < line < LAST_LINE for line in lines)
    assert any("26.3" in text and "649" in text for text in remarks("genre"))
    assert remarks("nothing") == []


def test_claims_are_about_figures_that_exist():
    known = {(figure.line, figure.value) for figure in ALL}
    assert len(all_claims()) == 41
    for claim in all_claims():
        assert {*claim["before"], *claim["after"]} <= known
        assert claim["measure"] in MEASURES
        assert claim["low"] < claim["high"]
