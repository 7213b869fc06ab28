"""Tables as a whole: their cells, what was run of them and what was not."""

import json
from dataclasses import replace

import numpy as np
import pytest

from made_results import with_methods
from made_sets import write_all
from mvdfq import DirectQuantizer, Spectrum, preset_terms
from mvdfq.evaluation import Evaluation, Fold
from mvdfq.io import ReadError
from mvdfq.reproduce import api
from mvdfq.reproduce.api import run
from mvdfq.reproduce.arrange import missing
from mvdfq.reproduce.baselines import MeanVariance
from mvdfq.reproduce.cells import READINGS, Cell, EstimatorMethod, StringMethod
from mvdfq.reproduce.folds import Measured
from mvdfq.reproduce.published import TABLES, cells, methods
from mvdfq.reproduce.result import Result, Row, compared_values
from mvdfq.reproduce.show import blocks
from mvdfq.reproduce.workshop import _subset

METHOD = StringMethod(DirectQuantizer(4), Spectrum(2), True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_all(tmp_path_factory.mktemp("sets"))


def needs_tslearn(cell):
    parts = (getattr(method, "estimator", None) for method in cell.methods)
    return any(getattr(part, "needs", None) == "tslearn" for part in parts)


# The protocol of a quick test; `make test-all` runs all protocols of a table.
PROTOCOLS = {"genre": ["fault-filtered"], "genre-compare": ["artist-disjoint"]}


@pytest.mark.parametrize(
    ("reading", "protocols"),
    [
        pytest.param("text", PROTOCOLS, id="text"),
        pytest.param("text", {}, id="all protocols", marks=pytest.mark.long),
        pytest.param("inferred", {}, id="inferred", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_a_smoke_run(folder, tmp_path, monkeypatch, table, reading, protocols):
    if (table, reading) == ("runtime", "inferred"):
        pytest.skip("times have no inferred settings")
    asked = protocols.get(table)
    if asked:  # tslearn takes seconds to compile: test_baselines.py tests its methods
        quick = [cell for cell in cells(table) if not needs_tslearn(cell)]
        monkeypatch.setattr(api, "cells", lambda table: quick)
    result = run(table, folder, quick=True, readings=[reading], protocols=asked, cache=tmp_path)
    json.dumps(result.to_dict())
    assert result.table == table
    assert any(row.published is not None for row in result.rows)
    assert any(row.value is not None for row in result.rows)


def test_a_reading_that_a_table_does_not_have_is_refused(tmp_path):
    with pytest.raises(ValueError, match="'runtime' has no cells of the reading 'inferred'"):
        run("runtime", tmp_path, readings=["inferred"])


class TestTables:
    def test_genre_has_18_cells_in_four_readings(self):
        own = [cell for cell in cells("genre") if "author" not in cell.name]
        assert len(own) == 72
        assert {cell.reading for cell in own} == {*READINGS}
        assert len({(c.name, c.kernel, c.manifold) for c in own}) == 18

    @pytest.mark.parametrize(
        ("reading", "name", "kernel", "wanted"),
        [
            ("text", "VQ", "Spectrum", "2048 codewords, Spectrum(k=5)"),
            ("text", "MVDFQ", "Mismatch", "Mismatch(k=6, m=1"),
            ("text", "MVDFQ", "SSSK", "32 uniform bins, Spatial(t=3, k=1, d=5)"),
            ("comment", "VQ", "Spectrum", "Spectrum(k=1)"),
            ("comment", "Sim. hashing", "Spectrum", "Spectrum(k=8)"),
            ("comment", "MVDFQ", "Mismatch", "Mismatch(k=5, m=2"),
            ("comment", "MVDFQ", "SSSK", "Spatial(t=3, k=2, d=5)"),
            ("inferred", "VQ", "Spectrum", "(n_codewords=2048, standardize=False), Spectrum(k=5)"),
            ("inferred", "VQ", "SSSK", "C=30"),
            ("inferred", "Sim. hashing", "Spectrum", "32 bits, Spectrum(k=6)"),
            ("inferred", "MVDFQ", "Mismatch", "with deltas, DirectQuantizer(margin=1.5, n_bins=32"),
            ("inferred", "MVDFQ", "SSSK", "C=30"),
        ],
    )
    def test_readings_have_the_settings_they_claim(self, reading, name, kernel, wanted):
        found = [
            c for c in cells("genre") if (c.name, c.kernel, c.reading) == (name, kernel, reading)
        ]
        assert len(found) == 2
        assert all(wanted in cell.methods[0].label for cell in found)

    @pytest.mark.parametrize("table", ["genre", "genre-compare", "bins", "artist"])
    def test_inferred_cells_are_one_vs_rest(self, table):
        methods = [m for c in cells(table) for m in c.methods if c.reading == "inferred"]
        assert methods
        assert {method.scheme for method in methods} == {"ovr"}
        others = [m for c in cells(table) for m in c.methods if c.reading != "inferred"]
        assert not any(getattr(method, "scheme", "") for method in others)

    def test_a_comment_gives_the_word_length_and_changes_no_other_reading(self):
        found = [c for c in cells("ismir") if (c.name, c.manifold) == ("MVDFQ", "yes")]
        words = {cell.reading: cell.methods[0].kernel.k for cell in found}
        assert words == {"text": 6, "comment": 3, "tuned": 1, "inferred": 6}
        assert [c.reading for c in cells("ismir-compare") if c.setting == "MFCC"] == [*READINGS]

    @pytest.mark.parametrize("ending", ["", "-alt"], ids=["text", "comment"])
    def test_text_and_comment_are_the_presets_of_these_names(self, ending):
        families = {"VQ": "vq", "Sim. hashing": "hashing", "MVDFQ": "mvdfq"}
        reading = "comment" if ending else "text"
        for cell in (c for c in cells("genre") if c.name in families and c.reading == reading):
            root = "m" if cell.manifold == "yes" else ""
            name = f"{families[cell.name]}{root}-{cell.kernel.lower()}{ending}"
            (preset,) = preset_terms(name)
            (method,) = cell.methods
            assert str(method.symbols.get_params()) == str(preset.symbols.get_params())
            ours, theirs = (part.get_params() for part in (method.kernel, preset.kernel))
            if ours.get("neighbourhood") == "observed":  # all words would be too many to list
                assert (ours["m"], root) == (2, "m")
                theirs["neighbourhood"] = "observed"
            assert (ours, method.manifold) == (theirs, preset.manifold)

    def test_settings_are_read_as_a_shell_reads_braces(self):
        found = methods(
            "mfcc+fft64: delta | direct({4,8}) > spectrum(2){, > root > C=30 > ovr}; GMM"
        )
        assert [m.label for m in found[:2]] == [
            "mfcc+fft64 with deltas, 4 quantile bins, Spectrum(k=2)",
            "mfcc+fft64 with deltas, 4 quantile bins, Spectrum(k=2), root, C=30",
        ]
        assert [(m.view, m.symbols[-1].n_bins, m.scheme) for m in found[1:4:2]] == [
            ("mfcc+fft64", 4, "ovr"),
            ("mfcc+fft64", 8, "ovr"),
        ]
        assert (len(found), found[4].label, found[4].view) == (5, "GMM()", "mfcc")

    def test_tables_share_their_cells(self):
        shared = {tuple(c.labels) for c in cells("genre")}
        both = [c for c in cells("genre-compare") if c.setting == "MFCC"]
        assert len(both) == 8
        assert all(tuple(cell.labels) in shared for cell in both)

    def test_what_needs_a_package_says_so(self, folder, tmp_path, monkeypatch):
        monkeypatch.setattr("mvdfq.reproduce.cells.find_spec", lambda name: None)
        result = run("genre-compare", folder, kept=True, cache=tmp_path)
        notes = {row.name: row.note for row in result.rows}
        assert notes["GAK"] == "not run: tslearn is not installed"
        assert notes["MFCC GMM"] == "not run yet"
        assert "not at hand as audio" in notes["DWCH (non-MFCC)"]

    def test_an_unknown_reading_is_refused(self, tmp_path):
        with pytest.raises(ValueError, match="no reading 'draft'; one of text"):
            run("genre", tmp_path, readings=["draft"])

    def test_an_unknown_table_is_refused(self, tmp_path):
        with pytest.raises(ValueError, match="no table 'genres'; one of datasets"):
            run("genres", tmp_path)

    @pytest.mark.parametrize(
        ("table", "hint"),
        [("genre", "one of 5-fold, artist"), ("homology", "this table has no protocols")],
    )
    def test_an_unknown_protocol_is_refused_before_data_are_read(self, table, hint, tmp_path):
        with pytest.raises(ValueError, match=f"no protocol 'album'; {hint}"):
            run(table, tmp_path / "nowhere", protocols=["album"])

    def test_a_folder_that_is_not_there_is_named(self, tmp_path):
        with pytest.raises(ReadError, match="nowhere"):
            run("datasets", tmp_path / "nowhere")


class TestPartialRuns:
    @pytest.fixture
    def one_cell(self, monkeypatch):
        """A table of one cell, which is tuned."""
        others = replace(METHOD, kernel=Spectrum(1)), METHOD
        cell = with_methods(Cell("MVDFQ", "Spectrum", "yes"), "tuned", *others)
        monkeypatch.setattr(api, "cells", lambda table: [cell])

    def test_what_is_missing_is_said_for_every_protocol(self, one_cell, folder, tmp_path):
        run("genre", folder, protocols=["artist-disjoint"], seeds=1, cache=tmp_path)
        result = run("genre", folder, kept=True, cache=tmp_path)
        measured = {row.protocol for row in result.rows if row.value is not None}
        assert measured == {"artist-disjoint"}
        (place,) = missing(result.rows)
        assert (place[0].note, place[1]) == ("not run yet", "tuned 5-fold, fault-filtered")

    def test_the_scheme_that_was_taken_is_said(self, one_cell, folder, tmp_path):
        (row,) = run("genre", folder, protocols=["5-fold"], seeds=1, cache=tmp_path).rows
        assert sum(row.method.values()) == 5
        assert all(label.endswith(("root, ovo", "root, ovr")) for label in row.method)

    def test_a_row_names_its_scheme(self):
        cell = with_methods(Cell("MVDFQ"), "text", METHOD)
        said = {scheme: {"predicted": [0, 1], "score": 1.0} for scheme in ("ovo", "ovr")}
        records = [{"method": str(METHOD), "seconds": {}, "said": said}]
        fold = Fold("1", 0, np.arange(2), np.arange(2), np.arange(2))
        evaluation = Evaluation("5-fold", [0, 1], [fold])
        for scheme in said:
            row = Measured(cell, "5-fold", scheme, records, evaluation).row("genre", {})
            assert (row.scheme, row.method) == (scheme, {METHOD.label: 1})
            assert row.methods(scheme) == [f"{METHOD.label}, {scheme}"]

    def test_each_scheme_has_its_matrix_and_both_share_their_settings(self):
        seen = {"reading": "text", "protocol": "5-fold", "n_seeds": 1, "n_folds": 5, "std": 1.0}
        rows = [
            Row("VQ", "SSSK", "no", scheme=s, value=v, method={"words": 5}, **seen)
            for s, v in [("ovo", 21.1), ("ovr", 20.1)]
        ]
        first, second, used = blocks(Result("genre", "t", rows))
        assert ("one-vs-one" in first.title, "one-vs-rest" in second.title) == (True, True)
        assert (first.rows[0]["VQ"], second.rows[0]["VQ"]) == ("21.1 ± 1.0", "20.1 ± 1.0")
        assert used.rows == [{"method": "VQ, SSSK", "used": "words"}]
        listed = blocks(Result("artist", "t", rows))[0].rows
        assert [entry["scheme"] for entry in listed] == ["ovo", "ovr"]

    def test_protocols_come_in_the_order_of_the_table(self, folder, tmp_path, monkeypatch):
        quick = with_methods(Cell("mean"), "text", EstimatorMethod(MeanVariance()))
        monkeypatch.setattr(api, "cells", lambda table: [quick])
        asked = ["artist-disjoint", "5-fold"]
        rows = run("genre", folder, protocols=asked, seeds=2, cache=tmp_path).rows
        assert [(row.protocol, row.n_seeds) for row in rows] == [
            ("5-fold", 2),
            ("artist-disjoint", 1),
        ]

    def test_times_that_are_not_there_are_said_to_be_missing(self, folder, tmp_path):
        rows = run("runtime", folder, kept=True, cache=tmp_path).rows
        lacking = [row for row in rows if row.metric == "time_s_1000x1000"]
        assert len(lacking) == 10
        assert all(row.value is None and row.note == "not run yet" for row in lacking)

    def test_what_some_protocols_used_is_said_of_them(self):
        many, few = {"a": 3, "b": 2, "c": 1, "d": 1}, {"b": 7}
        used = {"5-fold": many, "artist-disjoint": few, "fault-filtered": few}
        rows = [
            Row("VQ", "Spectrum", "no", protocol=cut, value=1.0, method=method)
            for cut, method in used.items()
        ]
        settings = next(b for b in blocks(Result("genre", "t", rows)) if "as used" in b.title)
        found = {line["used"]: line["where"] for line in settings.rows}
        assert found == {
            "3 x a; 2 x b; 2 more": "5-fold",
            "b": "artist-disjoint, fault-filtered",
        }

    def test_a_cell_with_other_repetitions_says_so(self):
        seen = {"protocol": "5-fold", "n_folds": 5, "std": 1.0}
        rows = [Row("VQ", k, "no", value=1.0, n_seeds=5, **seen) for k in ("Spectrum", "SSSK")]
        rows.append(Row("VQ", "Mismatch", "no", value=2.0, n_seeds=1, **seen))
        block = blocks(Result("genre", "t", rows))[0]
        assert block.second.endswith("seeds x folds 5x5 unless said")
        assert blocks(Result("genre", "t", rows[:2]))[0].second.endswith("seeds x folds 5x5")
        assert [line["VQ"] for line in block.rows] == ["1.0 ± 1.0", "1.0 ± 1.0", "2.0 ± 1.0 1x5"]


def test_values_are_compared_over_the_seeds_that_both_have():
    one = Row("a", value=3.0, by_seed={"0": 1.0, "1": 5.0})
    two = Row("b", value=4.0, by_seed={"1": 4.0, "2": 6.0})
    assert compared_values(one, two) == (5.0, 4.0)
    assert compared_values(one, Row("c", value=9.0)) == (3.0, 9.0)
    assert compared_values(one, Row("d")) is None


@pytest.mark.parametrize(
    ("sizes", "size"), [([31] * 5, 150), ([30, 30, 1], 20), ([40, 1, 1, 1], 20), ([5, 5], 10)]
)
def test_clips_are_chosen_from_classes_of_any_size(sizes, size):
    y = np.repeat(np.arange(len(sizes)), sizes)
    chosen = _subset(y, size, 0)
    assert len(chosen) == len({*chosen}) == size
    counts = np.bincount(y[chosen], minlength=len(sizes))
    assert counts.max() - size * max(sizes) / len(y) < len(sizes)


def test_where_nearly_all_clips_are_asked_for_one_of_each_class_is_left_out():
    y = np.repeat(np.arange(5), 31)
    assert len(_subset(y, 153, 0)) == 150
