"""The tables of the paper, on made sets of the same form."""

import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from made_results import with_methods
from made_sets import write_all, write_gtzan, write_ismir, write_tone
from mvdfq import (
    CodebookQuantizer,
    Delta,
    DirectQuantizer,
    Mismatch,
    SequenceClassifier,
    SequenceKernel,
    Spatial,
    Spectrum,
)
from mvdfq._utils import version as sources
from mvdfq._utils.files import cache_folder
from mvdfq._utils.version import PACKAGE, source_digest, source_files
from mvdfq.io import ReadError
from mvdfq.reproduce.baselines import MeanVariance
from mvdfq.reproduce.cells import Cell, EstimatorMethod, StringMethod
from mvdfq.reproduce.folds import FoldJob, measure
from mvdfq.reproduce.loaders import LOADERS, NotThere, load_artist20, load_gtzan
from mvdfq.reproduce.published import cells
from mvdfq.reproduce.sets import MusicSet, joined
from mvdfq.reproduce.store import Shelf, Store
from mvdfq.reproduce.workshop import SCHEMES, Workshop
from mvdfq.symbols.base import check_symbols

SPECTRUM = StringMethod(DirectQuantizer(4, strategy="uniform"), Spectrum(2), True)
CELL = with_methods(Cell("MVDFQ", "Spectrum", "yes"), "text", SPECTRUM)


class Drawing(np.random.RandomState):
    """Draws a given seed, so that the inner folds of a classifier are those of a workshop."""

    def __init__(self, seed):
        super().__init__()
        self.seed_drawn = seed

    def randint(self, *args):
        return self.seed_drawn


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_all(tmp_path_factory.mktemp("sets"))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


class TestRows:
    """The matrix of a method is the sum over its rows, and equal rows are compared once."""

    TRAIN = np.array([0, 1, 2, 4])

    @pytest.fixture
    def symbols(self):
        rng = np.random.default_rng(0)
        clips = [rng.integers(4, size=(4, n)) for n in (30, 3, 50, 1, 20, 40)]
        for i, clip in enumerate(clips):
            clip[2] = 0 if i in self.TRAIN else 1  # constant in the training part
        return check_symbols(clips, [4, 5, 4, 9])

    @pytest.mark.filterwarnings("ignore:.*finds no word")
    @pytest.mark.parametrize("manifold", [False, True])
    @pytest.mark.parametrize("kernel", [Spectrum(2), Mismatch(3, 1), Spatial(3, 1, 3)])
    def test_the_sum_over_rows_is_the_matrix_of_the_kernel(self, symbols, kernel, manifold):
        method = StringMethod(None, kernel, manifold)
        kernel = method.sequence_kernel(1, None).fit(symbols[self.TRAIN])
        K = Workshop()._gram(method, symbols, self.TRAIN)
        expected = kernel.compare(kernel.read_new(symbols), None)[0]
        # roots are multiplied in single precision, several rows in one product
        assert_allclose(K, expected, rtol=1e-6 if manifold else 1e-13, atol=1e-15)
        assert_array_equal(K, K.T)
        assert K.diagonal().tolist() == [1, 1, 1, 0, 1, 1]  # one frame is no word

    @pytest.mark.filterwarnings("ignore:.*finds no word")
    def test_equal_rows_are_compared_once(self, symbols, monkeypatch):
        done, rows, original = [], Workshop(), SequenceKernel.fit_transform
        monkeypatch.setattr(
            SequenceKernel,
            "fit_transform",
            lambda self, *args: done.append(1) or original(self, *args),
        )
        method = StringMethod(None, Spectrum(2), True)
        first = rows._gram(method, symbols, self.TRAIN)
        assert len(done) == 3
        assert_array_equal(rows._gram(method, symbols, self.TRAIN), first)
        assert len(done) == 3
        rows._gram(replace(method, manifold=False), symbols, self.TRAIN)
        assert len(done) == 6
        codes = symbols.codes.copy()
        codes[1, 0] ^= 1
        rows._gram(method, symbols.with_data(codes), self.TRAIN)
        assert len(done) == 7
        rows._gram(method, replace(symbols, n_symbols=symbols.n_symbols + 1), self.TRAIN)
        assert len(done) == 10

    @pytest.mark.filterwarnings("ignore:.*finds no word")
    def test_rows_take_no_more_than_the_limit(self, symbols):
        many = symbols[np.tile(np.arange(len(symbols)), 10)]
        rows = Workshop(memory_limit=2 * 8 * len(many) ** 2)
        rows._gram(StringMethod(None, Spectrum(2)), many, self.TRAIN)
        assert len(rows._rows._kept) == 2


class TestStore:
    def test_gives_back_what_was_put(self, store):
        store.put({"fold": 1, "seed": 2}, {"C": 10.0})
        assert store.get({"seed": 2, "fold": 1}) == {"C": 10.0}
        assert store.get({"seed": 2, "fold": 3}) is None

    @pytest.mark.parametrize("damage", ["", "{", "[]", '{"key": {"fold": 9}, "record": {}}'])
    def test_damaged_records_are_made_again(self, store, damage):
        store.put({"fold": 1}, {"C": 10.0})
        (path,) = store.folder.iterdir()
        path.write_text(damage)
        assert store.get({"fold": 1}) is None


class TestSets:
    def test_gtzan_has_all_its_views(self, folder):
        data = load_gtzan(folder)
        with np.load(folder / "gtzan" / "mfcc.npz") as stored:
            lengths, values = stored["lengths"], stored["values"]
        X = data.view("mfcc")
        assert_array_equal(X.lengths, lengths)
        assert_array_equal(X[1], values[lengths[0] : lengths[:2].sum()].T.astype(np.float32))
        assert data.view("mfcc+fft64").n_rows == 77
        assert data.view("author").n_symbols.tolist() == [1024]
        assert data.view("author").lengths.tolist() == lengths.tolist()

    def test_levels_of_artist20_are_the_middle_of_their_bins(self, folder):
        data = load_artist20(folder)
        with np.load(folder / "artist20" / "mfcc_middle2min.npz") as stored:
            level = int(stored["levels"][0, 0])
        assert data.view("mfcc")[0][0, 0] == pytest.approx(-5 + (level + 0.5) / 256 * 10)

    def test_artists_are_held_apart(self, folder):
        data = load_gtzan(folder)
        for _, train, test in data.cuts("artist-disjoint", 0):
            assert not {*data.groups[train]} & {*data.groups[test]}

    def test_the_fault_filtered_split_learns_from_train_and_valid(self, folder):
        data = load_gtzan(folder)
        ((_, train, test),) = data.cuts("fault-filtered", 0)
        assert {*data.split[train]} == {"train", "valid"}
        assert {*data.split[test]} == {"test"}

    def test_one_album_of_every_artist_is_held_out(self, folder):
        data = load_artist20(folder)
        cuts = data.cuts("group-per-class", 0)
        assert len(cuts) == 6
        for _, _, test in cuts:
            albums = {*data.groups[test]}
            assert len(albums) == 3
            assert len({album.split("/")[0] for album in albums}) == 3

    def test_ismir_is_both_parts(self, folder):
        data = LOADERS["ismir"](folder)
        assert data.classes == ["classical", "jazz_blues"]
        assert len(data) == 24
        assert data.view("mfcc").n_rows == 13
        assert data.view("mfcc+fft64").n_rows == 77
        assert data.view("audio").n_rows == 1
        assert data.view("fft64").data.min() == 0

    def test_arrays_that_are_missing_or_damaged_are_named(self, tmp_path):
        path = tmp_path / "gtzan" / "mfcc.npz"
        path.parent.mkdir()
        np.savez(path, labels=np.array(["blues"]))
        with pytest.raises(ReadError, match=r"arrays are \['labels'\], expected \['labels', 'art"):
            load_gtzan(tmp_path)
        path.write_bytes(path.read_bytes()[:40])
        with pytest.raises(ReadError, match="the archive is damaged"):
            load_gtzan(tmp_path)

    def test_a_view_has_one_entry_per_clip(self):
        data = MusicSet("made", {"mfcc": lambda: joined([np.ones((1, 4))])}, np.array(["a", "b"]))
        with pytest.raises(ValueError, match="the view 'mfcc' has 1 clips, expected 2"):
            data.view("mfcc")

    def test_a_shelf_drops_what_was_used_longest_ago(self):
        shelf, made = Shelf(2), []
        for key in "abacab":
            assert shelf.once(key, lambda key=key: made.append(key) or key.upper()) == key.upper()
        assert made == ["a", "b", "c", "b"]

    def test_ismir_names_the_line_without_a_file(self, tmp_path):
        write_ismir(tmp_path, n_per_genre=1)
        path = tmp_path / "ismir2004" / "metadata" / "training" / "tracklist.csv"
        path.write_text(path.read_text() + '"world","a","b","c","1","world/none.mp3"\n')
        with pytest.raises(ReadError, match=r"line 3: there is no file .*none\.mp3"):
            LOADERS["ismir"](tmp_path)

    def test_ismir_names_the_short_line(self, tmp_path):
        write_ismir(tmp_path, n_per_genre=1)
        path = tmp_path / "ismir2004" / "metadata" / "training" / "tracklist.csv"
        path.write_text('"world","a"\n')
        with pytest.raises(ReadError, match="line 1: 2 fields, expected 6"):
            LOADERS["ismir"](tmp_path)

    def test_gtzan_from_recordings(self, tmp_path):
        for genre, hertz in [("blues", 200), ("rock", 700)]:
            for i in range(2):
                write_tone(tmp_path / "gtzan" / genre / f"{genre}.{i}.wav", hertz + i)
        data = LOADERS["gtzan"](tmp_path)
        assert data.labels.tolist() == ["blues", "blues", "rock", "rock"]
        assert not data.allows("artist-disjoint")
        assert data.allows("5-fold")

    @pytest.mark.parametrize("place", ["gtzan/genres", "gtzan", "Data/genres_original"])
    def test_gtzan_as_it_is_distributed(self, tmp_path, place):
        for genre, hertz in [("blues", 200), ("rock", 700)]:
            for i in range(2):
                write_tone(tmp_path / place / genre / f"{genre}.{i}.wav", hertz + i)
        (tmp_path / place / "bextract_mkcollection.mf").write_text("blues.0.wav")
        (tmp_path / place).with_name("images").mkdir(exist_ok=True)
        top = tmp_path / place.partition("/")[0]
        given = [top, tmp_path / place] + ([tmp_path] if top.name == "gtzan" else [])
        for folder in given:
            data = LOADERS["gtzan"](folder)
            assert data.labels.tolist() == ["blues", "blues", "rock", "rock"]

    def test_a_layout_is_checked_before_the_work(self, tmp_path):
        write_tone(tmp_path / "gtzan" / "all" / "blues.0.wav", 300)
        expected = r"gtzan: has another layout; expected gtzan/blues/\*\.au to gtzan/rock"
        for folder in (tmp_path, tmp_path / "gtzan"):
            with pytest.raises(ReadError, match=expected):
                LOADERS["gtzan"](folder)

    @pytest.mark.parametrize("place", ["artist20", "artist20/mp3s-32k"])
    def test_artist20_as_it_is_distributed(self, tmp_path, place):
        for name in ["abba/one/a.wav", "abba/two/b.wav", "cure/one/c.wav"]:
            write_tone(tmp_path / place / name, 300)
        for folder in (tmp_path, tmp_path / "artist20"):
            assert LOADERS["artist20"](folder).labels.tolist() == ["abba", "abba", "cure"]
        with pytest.raises(NotThere):
            LOADERS["gtzan"](tmp_path)

    def test_sets_may_be_named_themselves(self, folder):
        for key, name in [("gtzan", "gtzan"), ("artist20", "artist20"), ("ismir", "ismir2004"),
                          ("proteins", "proteins")]:  # fmt: skip
            whole, own = LOADERS[key](folder), LOADERS[key](folder / name)
            assert type(whole) is type(own)

    def test_artist20_from_recordings(self, tmp_path):
        for name in ["abba/one/a.wav", "abba/two/b.wav", "cure/one/c.wav", "cure/three/d.wav"]:
            write_tone(tmp_path / "artist20" / name, 300)
        data = LOADERS["artist20"](tmp_path)
        assert data.groups.tolist() == ["abba/one", "abba/two", "cure/one", "cure/three"]
        assert data.labels.tolist() == ["abba", "abba", "cure", "cure"]

    def test_what_is_not_there_is_named(self, tmp_path):
        with pytest.raises(ReadError, match="gtzan: is not there"):
            LOADERS["gtzan"](tmp_path)


class TestFolds:
    def test_a_fold_is_what_one_would_do_by_hand(self, folder, store):
        """Quantizer, kernel and machine fitted on the training part with scikit-learn alone."""
        data = load_gtzan(folder)
        schemes = measure([CELL], data, ["5-fold"], [3], Workshop(), store)
        assert [measured.scheme for measured in schemes] == ["ovo", "ovr"]
        for measured in schemes:
            self.check_by_hand(measured, data)

    def check_by_hand(self, measured, data):
        X, y = data.view("mfcc"), data.y
        cutter = StratifiedKFold(5, shuffle=True, random_state=3)
        for fold, record, (train, test) in zip(
            measured.evaluation.folds, measured.records, cutter.split(y, y), strict=True
        ):
            bins = DirectQuantizer(4, strategy="uniform").fit(X[train])
            kernel = SequenceKernel(Spectrum(2), manifold=True, constant_rows="ignore")
            K = kernel.fit_transform(bins.transform(X[train]))
            C, new = record["said"][measured.scheme]["C"], kernel.transform(bins.transform(X[test]))
            assert_array_equal(fold.test, test)
            if measured.scheme == "ovo":
                machine = SVC(kernel="precomputed", C=C, break_ties=True)
                expected = machine.fit(K, y[train]).predict(new)
            else:
                machines = [SVC(kernel="precomputed", C=C).fit(K, y[train] == c) for c in set(y)]
                margins = [machine.decision_function(new) for machine in machines]
                expected = np.argmax(margins, axis=0)
            assert_array_equal(fold.predicted, expected)

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_a_fold_is_what_the_classifier_does_with_the_same_inner_folds(self, folder, scheme):
        data, seed = load_gtzan(folder), 3
        cut = data.cuts("5-fold", seed)[0]
        said = Workshop().run(CELL.methods, data, cut, "5-fold", seed)["said"][scheme]
        clf = SequenceClassifier(
            frames="passthrough",
            symbols=SPECTRUM.symbols,
            kernel=SPECTRUM.kernel,
            manifold=True,
            pyramid=1,
            C="auto",
            multi_class=scheme,
            random_state=Drawing(seed),
        ).fit(data.view("mfcc")[cut.train], data.y[cut.train])
        assert (said["C"], said["score"]) == (clf.C_, clf.validation_score_)
        assert said["predicted"] == clf.predict(data.view("mfcc")[cut.test]).tolist()

    def test_a_method_is_chosen_without_the_test_part(self, folder, monkeypatch, store):
        data = load_gtzan(folder)
        cell = with_methods(CELL, "tuned", SPECTRUM, StringMethod(SPECTRUM.symbols, Spectrum(1)))
        seen = []
        original = Workshop._score
        monkeypatch.setattr(
            Workshop,
            "_score",
            lambda self, method, data, some, *rest: (
                seen.append(some) or original(self, method, data, some, *rest)
            ),
        )
        measured = measure([cell], data, ["5-fold"], [0], Workshop(choice=12), store)[0]
        for i, (_, train, test) in enumerate(data.cuts("5-fold", 0)):
            for some in seen[2 * i : 2 * i + 2]:
                assert len(some) == 12
                assert {*some} <= {*train}
                assert not {*some} & {*test}
        assert sum(measured.row("genre", {}).method.values()) == 5

    def test_groups_are_held_apart_inside_too(self, folder, monkeypatch, store):
        data = load_artist20(folder)
        seen = []
        original = Workshop._train
        monkeypatch.setattr(
            Workshop,
            "_train",
            lambda self, K, y, groups, *rest: (
                seen.append(groups) or original(self, K, y, groups, *rest)
            ),
        )
        measure([CELL], data, ["group-per-class"], [0], Workshop(), store)
        cuts = data.cuts("group-per-class", 0)
        for groups, (_, train, _) in zip(seen, cuts, strict=True):
            assert_array_equal(groups, data.groups[train])

    def test_the_scheme_that_validates_better_is_taken_where_cells_are_tuned(self, folder, store):
        data, cell = load_gtzan(folder), with_methods(CELL, "tuned", SPECTRUM)
        (measured,) = measure([cell], data, ["5-fold"], [0], Workshop(), store)
        taken = Counter()
        for fold, record in zip(measured.evaluation.folds, measured.records, strict=True):
            said = record["said"]
            best = max(SCHEMES, key=lambda scheme: said[scheme]["score"])
            taken[f"{SPECTRUM.label}, {best}"] += 1
            assert_array_equal(fold.predicted, said[best]["predicted"])
        assert measured.row("genre", {}).method == taken

    def test_penalty_and_scheme_of_a_method_are_used(self, folder, store):
        """Against scikit-learn: deltas, bins and machines of the inferred reading."""
        data = load_gtzan(folder)
        symbols = make_pipeline(Delta(), SPECTRUM.symbols)
        method = replace(SPECTRUM, symbols=symbols, C=30.0, scheme="ovr")
        cell = with_methods(CELL, "inferred", method)
        (measured,) = measure([cell], data, ["5-fold"], [0], Workshop(), store)
        assert measured.scheme == "ovr"
        assert measured.row("genre", {}).method == {f"with deltas, {SPECTRUM.label}, C=30": 5}
        X = Delta().fit_transform(data.view("mfcc"))
        for fold, record, cut in zip(
            measured.evaluation.folds, measured.records, data.cuts("5-fold", 0), strict=True
        ):
            assert {*record["said"]} == {"ovr"}
            assert record["said"]["ovr"]["C"] == 30
            symbols = clone(SPECTRUM.symbols).fit(X[cut.train]).transform(X)
            K = SequenceKernel(Spectrum(2), manifold=True).fit_transform(symbols)
            margins = [
                SVC(kernel="precomputed", C=30)
                .fit(K[np.ix_(cut.train, cut.train)], data.y[cut.train] == c)
                .decision_function(K[np.ix_(cut.test, cut.train)])
                for c in range(len(data.classes))
            ]
            assert_array_equal(fold.predicted, np.argmax(margins, axis=0))

    def test_both_schemes_share_one_kernel_matrix(self, folder, monkeypatch, store):
        data, grams = load_gtzan(folder), []
        original = Workshop._gram
        monkeypatch.setattr(
            Workshop, "_gram", lambda self, *args: grams.append(1) or original(self, *args)
        )
        assert len(measure([CELL], data, ["5-fold"], [0], Workshop(), store)) == 2
        assert len(grams) == 5

    def test_symbols_are_shared_between_kernels(self, folder, monkeypatch, store):
        data = load_gtzan(folder)
        fits = []
        original = CodebookQuantizer.fit
        monkeypatch.setattr(
            CodebookQuantizer,
            "fit",
            lambda self, X, y=None: fits.append(1) or original(self, X, y),
        )
        words = CodebookQuantizer(8)
        words_of_three = [
            with_methods(Cell("VQ", str(k)), "text", StringMethod(words, Spectrum(k)))
            for k in (1, 2, 3)
        ]
        measure(words_of_three, data, ["5-fold"], [0], Workshop(), store)
        assert len(fits) == 5

    def test_a_class_may_be_missing_in_a_training_part(self, folder, store):
        """A class of one artist cannot be learned where this artist is held out."""
        data = load_gtzan(folder)
        artists = np.where(data.labels == "blues", "one", data.groups)
        data = MusicSet(data.name, data.views, data.labels, artists)
        cell = with_methods(CELL, "tuned", SPECTRUM, StringMethod(SPECTRUM.symbols, Spectrum(1)))
        (measured,) = measure([cell], data, ["artist-disjoint"], [0], Workshop(choice=9), store)
        for fold, (_, train, _) in zip(
            measured.evaluation.folds, data.cuts("artist-disjoint", 0), strict=True
        ):
            assert {*fold.predicted} <= {*data.y[train]}
        assert any(0 not in data.y[train] for _, train, _ in data.cuts("artist-disjoint", 0))

    def test_groups_are_held_apart_where_baselines_are_chosen(self, folder, store):
        data, seen = load_artist20(folder), []

        class Constant(DummyClassifier):
            def fit(self, X, y, groups=None):
                seen.append(groups)
                return super().fit(X.lengths[:, None], y)

            def predict(self, X):
                return super().predict(X.lengths[:, None])

        methods = [EstimatorMethod(Constant(strategy=s)) for s in ("prior", "most_frequent")]
        cell = with_methods(Cell("mean"), "text", *methods)
        measure([cell], data, ["group-per-class"], [0], Workshop(choice=18), store)
        assert len(seen) == 6 * (2 * 3 + 1)  # in inner folds, and once more per fold
        assert all(groups is not None for groups in seen)

    def test_baselines_stand_behind_the_same_interface(self, folder, store):
        data = load_gtzan(folder)
        (cell,) = (c for c in cells("genre-compare") if c.name == "MFCC mean+variance")
        assert isinstance(cell.methods[0], EstimatorMethod)
        (measured,) = measure([cell], data, ["5-fold"], [0], Workshop(), store)
        assert 0 <= measured.by_seed["0"] <= 100


class TestResume:
    def test_a_run_that_was_broken_off_goes_on(self, folder, monkeypatch, store):
        data, done = load_gtzan(folder), []
        original = Workshop.run

        def broken(self, *args):
            if len(done) == 3:
                raise KeyboardInterrupt
            done.append(1)
            return original(self, *args)

        monkeypatch.setattr(Workshop, "run", broken)
        with pytest.raises(KeyboardInterrupt):
            measure([CELL], data, ["5-fold"], [0], Workshop(), store)
        calls = []
        monkeypatch.setattr(
            Workshop, "run", lambda self, *args: calls.append(1) or original(self, *args)
        )
        told = []
        report = lambda *counts: told.append(counts)  # noqa: E731
        first = measure([CELL], data, ["5-fold"], [0], Workshop(), store, report)[0]
        assert told == [(4, 5), (5, 5)]
        assert len(calls) == 2
        again = measure([CELL], data, ["5-fold"], [0], Workshop(), store)[0]
        assert len(calls) == 2
        assert first.by_seed == again.by_seed

    def test_cells_of_equal_methods_are_computed_once(self, folder, store):
        twin = replace(CELL, name="the same")
        first, _, second, _ = measure(
            [CELL, twin], load_gtzan(folder), ["5-fold"], [0], Workshop(), store
        )
        assert first.by_seed == second.by_seed
        assert len(list(store.folder.iterdir())) == 5

    def test_other_data_are_not_taken_for_these(self, folder, tmp_path, store):
        write_gtzan(tmp_path, seed=1)
        for place in (folder, tmp_path):
            measure([CELL], load_gtzan(place), ["5-fold"], [0], Workshop(), store)
        assert len(list(store.folder.iterdir())) == 10

    def test_progress_counts_what_was_there(self, folder, store):
        data, told = load_gtzan(folder), []
        report = lambda done, total: told.append((done, total))  # noqa: E731
        measure([CELL], data, ["5-fold"], [0], Workshop(), store)
        measure([CELL], data, ["5-fold"], [0, 1], Workshop(), store, report)
        assert told == [(i, 10) for i in range(6, 11)]

    def test_what_is_kept_is_shown_without_computing(self, folder, store):
        """Cells that are not complete are left out, be it in one protocol."""
        data, protocols = load_gtzan(folder), ["5-fold", "artist-disjoint"]
        other = with_methods(Cell("VQ"), "text", StringMethod(DirectQuantizer(3), Spectrum(1)))
        measured = measure([CELL], data, ["5-fold"], [0], Workshop(), store)
        shown = measure([CELL, other], data, protocols, [0, 1], None, store)
        assert [(each.cell.name, each.protocol) for each in shown] == [("MVDFQ", "5-fold")] * 2
        for one, same in zip(shown, measured, strict=True):
            assert one.scheme == same.scheme
            assert one.by_seed == same.by_seed
        next(iter(store.folder.glob("*.json"))).unlink()
        assert measure([CELL], data, protocols, [0, 1], None, store) == []

    def test_another_split_is_not_taken_for_this(self, folder, tmp_path, store):
        measure([CELL], load_gtzan(folder), ["fault-filtered"], [0], Workshop(), store)
        data = load_gtzan(folder)
        swapped = np.where(data.split == "test", "train", "test")
        other = MusicSet(data.name, data.views, data.labels, data.groups, swapped)
        measured, _ = measure([CELL], other, ["fault-filtered"], [0], Workshop(), store)
        assert_array_equal(measured.evaluation.folds[0].test, np.flatnonzero(swapped == "test"))

    def test_folds_that_no_seed_changes_are_run_once(self, folder, store):
        data = load_artist20(folder)
        measured, _ = measure([CELL], data, ["group-per-class"], [0, 1], Workshop(), store)
        assert (len(measured.by_seed), len(measured.records)) == (1, 6)

    def test_slow_cells_have_one_seed(self, folder, monkeypatch, store):
        monkeypatch.setattr("mvdfq.reproduce.folds.SLOW", -1.0)
        measured, _ = measure([CELL], load_gtzan(folder), ["5-fold"], [0, 1], Workshop(), store)
        assert len(measured.by_seed) == 1

    def test_seeds_that_are_there_are_shown_however_slow(self, folder, monkeypatch, store):
        data = load_gtzan(folder)
        measure([CELL], data, ["5-fold"], [0, 1], Workshop(), store)
        monkeypatch.setattr("mvdfq.reproduce.folds.SLOW", -1.0)
        shown, _ = measure([CELL], data, ["5-fold"], [0, 1, 2], None, store)
        assert [*shown.by_seed] == ["0", "1"]

    def test_quick_cells_have_all_seeds_in_the_first_protocol(self, folder, store):
        protocols = ["5-fold", "artist-disjoint"]
        first, _, second, _ = measure(
            [CELL], load_gtzan(folder), protocols, [0, 1], Workshop(), store
        )
        assert (len(first.by_seed), len(second.by_seed)) == (2, 1)
        assert len(first.evaluation.folds) == 10


# A changed file, and the modules whose digests must change with it.
CHANGES = {
    "kernels/mismatch.py": {"workshop", "families"},
    "_engines/cpu.py": {"workshop", "families"},
    "terms/svm.py": {"workshop", "families"},
    "reproduce/families.py": {"families"},
    "io/letters/residues.csv": {"families"},
    "cli/app.py": set(),
    "reproduce/show.py": set(),
    "reproduce/claims.py": set(),
    "reproduce/settings.csv": set(),
}


class TestSources:
    """A record is used only while the source files that its computation imports stay the same."""

    def test_a_changed_byte_changes_the_digests_of_what_imports_it(self, tmp_path, monkeypatch):
        # every file is parsed once, and the changed one again
        parsed = cache(lambda path, content, original=sources._imported: [*original(path)])
        monkeypatch.setattr(sources, "_imported", lambda path: parsed(path, path.read_bytes()))
        ignored = shutil.ignore_patterns("__pycache__")
        package = shutil.copytree(PACKAGE, tmp_path / "mvdfq", ignore=ignored)

        def digests():
            source_digest.cache_clear()
            starts = ("workshop", "families")
            return {s: source_digest(f"mvdfq.reproduce.{s}", package=package) for s in starts}

        before = digests()
        for file, expected in CHANGES.items():
            (package / file).write_bytes((package / file).read_bytes() + b"#")
            after = digests()
            assert {start for start in before if before[start] != after[start]} == expected
            before = after

    def test_imports_are_what_python_imports(self):
        """The modules that one process loads for the computation are all in the digest."""
        code = "import sys, mvdfq.reproduce.workshop; print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        loaded = {name for name in done.stdout.split() if name.startswith("mvdfq.")}
        files = {PACKAGE.parent / Path(*name.split(".")) for name in loaded}
        found = source_files("mvdfq.reproduce.workshop")
        known = {
            path.parent if path.name == "__init__.py" else path.with_suffix("") for path in found
        }
        assert len(files) > 20
        assert files <= known

    def test_a_record_of_other_sources_is_not_used(self, folder, monkeypatch, store):
        data = load_gtzan(folder)
        measure([CELL], data, ["5-fold"], [0], Workshop(), store)
        assert measure([CELL], data, ["5-fold"], [0], None, store)
        monkeypatch.setattr("mvdfq.reproduce.folds.source_digest", lambda *modules: "other")
        assert measure([CELL], data, ["5-fold"], [0], None, store) == []

    def test_the_module_of_a_baseline_counts_for_its_cells_alone(self, folder):
        data = load_gtzan(folder)
        baseline = with_methods(Cell("mean"), "text", EstimatorMethod(MeanVariance()))
        assert FoldJob(baseline, "5-fold", 0, data.cuts("5-fold", 0)[0], data).key["source"] == (
            source_digest("mvdfq.reproduce.workshop", MeanVariance.__module__)
        )
        with_baseline = source_files(MeanVariance.__module__)
        assert not with_baseline <= source_files("mvdfq.reproduce.workshop")


def test_the_default_store_is_in_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("MVDFQ_CACHE", raising=False)
    monkeypatch.setattr(
        "mvdfq._utils.files.user_cache_path", lambda name, appauthor: Path(tmp_path, name)
    )
    assert cache_folder("reproduce") == Path(tmp_path, "mvdfq", "reproduce")
