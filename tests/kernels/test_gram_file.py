"""Kernel matrices in files: the same values, whatever happens while they are written."""

import json
import re
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline

import mvdfq
from commands import run
from mvdfq import Gapped, Mismatch, SequenceKernel, Spectrum, Subsequence, write_gram
from mvdfq._utils.files import locked
from mvdfq.classifier.similarity import lazily_fitted_kernel
from mvdfq.gram.checkpoint import store_gram
from mvdfq.gram.sums import Products
from mvdfq.gram.tiles import KeptCounts
from mvdfq.kernels.counting import GroupTask
from mvdfq.symbols.base import check_symbols

ROOT = Path(__file__).parents[2]
RANDOM = np.random.default_rng(5)
# 23 sequences of three rows, some too short for a word
X = [RANDOM.integers(0, 4, (3, n)) for n in [*RANDOM.integers(2, 60, 22), 1]]
LETTERS = ["".join(RANDOM.choice(list("ACGT"), n)) for n in RANDOM.integers(5, 40, 23)]


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Five sequences per tile: 15 tiles."""
    monkeypatch.setattr("mvdfq.gram.plan.TILE", 5)
    monkeypatch.setattr("mvdfq.gram.plan.TILE_OF_PAIRS", 5)


def hidden(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def stop_after(n):
    """Progress that interrupts the work after `n` reports."""
    told = []

    def progress(done, total):
        told.append(done)
        if len(told) > n:
            raise KeyboardInterrupt

    return progress


def interrupted(kernel, path, n=30, **options):
    """Write until `n` pieces are done; return the unfinished file."""
    with pytest.raises(KeyboardInterrupt):
        write_gram(kernel, X, path, progress=stop_after(n), **options)
    assert not path.exists()
    (unfinished,) = path.parent.glob(f".{path.name}.*.unfinished")
    return unfinished


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The kernel finds no word")
@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (Spectrum([1, 3]), {}),
        (Spectrum(2), {"manifold": True}),
        (Spectrum(2), {"normalize": False}),
        (Spectrum(2), {"row_norm": "cosine", "row_weights": [1, 0, 2.5]}),
        (Spectrum([1, 2]), {"pyramid": 2, "group_weights": [0.5, 2]}),
        (Spectrum(2), {"manifold": True, "gamma": 0.7}),
        (Gapped(4, 3), {"manifold": True}),
        (Mismatch(3, 1), {}),
        (Mismatch(3, 1), {"manifold": True}),
        (Subsequence(2), {}),
    ],
    ids=str,
)
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.usefixtures("two_blas_threads")
def test_the_file_holds_the_matrix_of_fit_transform(kernel, options, n_jobs, tmp_path):
    path = tmp_path / "K.npy"
    estimator = SequenceKernel(kernel, n_jobs=n_jobs, **options)
    expected = estimator.fit_transform(X)
    found = write_gram(estimator, X, path)
    assert_array_equal(found, expected)
    assert not found.flags.writeable
    write_gram(estimator, X, path, dtype="float32")
    assert_array_equal(np.load(path), expected.astype(np.float32))
    assert [file.name for file in tmp_path.iterdir()] == ["K.npy"]


def test_letters_and_profiles(tmp_path):
    kernel = SequenceKernel(Spectrum(3))
    assert_array_equal(
        write_gram(kernel, LETTERS, tmp_path / "K.npy"), kernel.fit_transform(LETTERS)
    )
    shares = [np.float64(RANDOM.dirichlet(np.ones(3), 9)).T for _ in range(7)]
    kernel = SequenceKernel(mvdfq.Profile(2, sigma=2.0))
    assert_array_equal(write_gram(kernel, shares, tmp_path / "K.npy"), kernel.fit_transform(shares))


@pytest.mark.filterwarnings("ignore:The kernel finds no word")
@pytest.mark.parametrize("n", [0, 1, 17, 30, 44])
def test_a_new_run_goes_on_where_the_last_run_stopped(n, tmp_path):
    kernel, path = SequenceKernel(Spectrum(2), manifold=True), tmp_path / "K.npy"
    expected = kernel.fit_transform(X)
    interrupted(kernel, path, n)
    stored = store_gram(kernel.fit(X), path)
    assert stored == (15, n // 3)  # a tile is three pieces: one per row
    assert_array_equal(np.load(path), expected)
    assert hidden(tmp_path) == []


@pytest.mark.filterwarnings("ignore:The kernel finds no word")
def test_a_run_that_stopped_after_the_last_tile_ends(tmp_path, monkeypatch):
    kernel, path = SequenceKernel(Spectrum(2), manifold=True), tmp_path / "K.npy"
    expected = kernel.fit_transform(X)
    with monkeypatch.context() as patch:
        patch.setattr("mvdfq.gram.checkpoint.Unfinished.finish", lambda matrix: [].pop())
        with pytest.raises(IndexError):
            write_gram(kernel, X, path)
    assert store_gram(kernel.fit(X), path) == (15, 15)
    assert_array_equal(np.load(path), expected)
    assert hidden(tmp_path) == []


def test_an_interruption_does_not_change_the_last_bit(tmp_path):
    """Few tiles alone would be cut into more pieces, whose sums are rounded otherwise."""
    random = np.random.default_rng(0)
    strings = ["".join(random.choice(list("ACDEFGHIK"), 60)) for _ in range(40)]
    whole, path = tmp_path / "whole.npy", tmp_path / "K.npy"
    kernel = SequenceKernel(mvdfq.Spatial(3, 1, 4), manifold=True, pyramid=3)
    write_gram(kernel, strings, whole)
    with pytest.raises(KeyboardInterrupt):
        write_gram(kernel, strings, path, progress=stop_after(34))
    assert store_gram(kernel.fit(strings), path).n_found == 34  # of 36
    assert_array_equal(np.load(path), np.load(whole))


@pytest.mark.filterwarnings("ignore:The kernel finds no word")
def test_damaged_tiles_are_computed_again(tmp_path):
    kernel, path = SequenceKernel(Spectrum(2), manifold=True), tmp_path / "K.npy"
    expected = kernel.fit_transform(X)
    unfinished = interrupted(kernel, path, 30)  # ten tiles
    values = np.load(unfinished, mmap_mode="r+")
    values[1, 2] = 0.25  # in the first tile, also a norm-giving tile
    values[12, 3] += 1e-9  # in the lower triangle: the mirror image of a tile
    values.flush()
    stored = store_gram(kernel.fit(X), path)
    assert stored.n_found == 8
    assert_array_equal(np.load(path), expected)


@pytest.mark.filterwarnings("ignore:The kernel finds no word")
def test_a_damaged_journal_loses_only_the_damaged_lines(tmp_path):
    kernel, path = SequenceKernel(Spectrum(2), manifold=True), tmp_path / "K.npy"
    expected = kernel.fit_transform(X)
    interrupted(kernel, path, 30)
    (journal,) = tmp_path.glob(".*.journal")
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 11
    lines[3] = lines[3].replace(b"0.", b"1.", 1)  # a norm, or a digit of the checksum
    lines[4] = b"\xff" + lines[4][1:]
    lines[-1] = lines[-1][:40]  # the process ended while the line was written
    journal.write_bytes(b"".join(lines))
    with pytest.raises(KeyboardInterrupt):  # a second interruption, after the cut-off line
        write_gram(kernel, X, path, progress=stop_after(6))
    stored = store_gram(kernel.fit(X), path)
    assert stored.n_found in (9, 10)
    assert_array_equal(np.load(path), expected)


@pytest.mark.filterwarnings("ignore:The kernel finds no word")
def test_a_run_that_ended_before_it_removed_its_journal(tmp_path, monkeypatch):
    kernel, path = SequenceKernel(Spectrum(2)), tmp_path / "K.npy"
    expected = kernel.fit_transform(X)
    with monkeypatch.context() as patch:
        patch.setattr("mvdfq.gram.checkpoint.os.replace", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write_gram(kernel, X, path)
    (unfinished,) = tmp_path.glob(".*.unfinished")
    unfinished.rename(path)
    assert store_gram(kernel.fit(X), path).n_found == 0  # the matrix is computed again
    assert_array_equal(np.load(path), expected)
    assert hidden(tmp_path) == []


@pytest.mark.filterwarnings("ignore:The kernel finds no word")
@pytest.mark.parametrize(
    ("other", "data", "dtype"),
    [
        (SequenceKernel(Spectrum(3)), X, "float64"),
        (SequenceKernel(Spectrum(2), row_weights=[1, 1, 1.0000001]), X, "float64"),
        (SequenceKernel(Spectrum(2)), X[::-1], "float64"),
        (SequenceKernel(Spectrum(2)), X, "float32"),
    ],
)
def test_other_computations_start_anew(other, data, dtype, tmp_path):
    path = tmp_path / "K.npy"
    interrupted(SequenceKernel(Spectrum(2)), path)
    assert store_gram(other.fit(data), path, dtype).n_found == 0
    assert_array_equal(np.load(path), other.fit_transform(data).astype(dtype))
    assert hidden(tmp_path) == []  # the first matrix will never be finished


def test_options_that_change_no_value_are_free(tmp_path):
    interrupted(SequenceKernel(Spectrum(2), n_jobs=1), tmp_path / "K.npy")
    again = SequenceKernel(Spectrum(2), n_jobs=2, memory_limit="1 GB").fit(X)
    with pytest.warns(UserWarning, match="finds no word in sequence 22"):
        assert store_gram(again, tmp_path / "K.npy").n_found > 0


def test_two_runs_on_one_output(tmp_path):
    path = tmp_path / "K.npy"
    with locked(path), pytest.raises(BlockingIOError, match=r"K\.npy is being written by another"):
        write_gram(SequenceKernel(Spectrum(2)), X, path)
    assert hidden(tmp_path) == []
    write_gram(SequenceKernel(Spectrum(1)), LETTERS, path)


@pytest.mark.filterwarnings("ignore:The kernel finds no word")
@pytest.mark.parametrize("name", ["K.npy", "*.npy", "K[1].npy"])
def test_files_of_the_user_stay(name, tmp_path):
    kept = [f".{name}.backup", f".{name}.0123456789abcdef", ".x.npy.0123456789abcdef.journal"]
    kept += [f".{name}.0123456789abcdef.journal", f".{name}.0123456789abcdef.unfinished"]
    for file in kept:
        (tmp_path / file).write_text("mine")
    write_gram(SequenceKernel(Spectrum(2)), X, tmp_path / name)
    assert [(tmp_path / file).read_text() for file in kept] == ["mine"] * len(kept)


@pytest.mark.filterwarnings("ignore:The kernel finds no word")
def test_foreign_files_in_the_place_of_ours_are_refused(tmp_path):
    path, kernel = tmp_path / "K.npy", SequenceKernel(Spectrum(2))
    unfinished = interrupted(kernel, path)
    journal = unfinished.with_suffix(".journal")
    journal.write_text("a diary")
    with pytest.raises(FileExistsError, match="without a journal; move or remove"):
        write_gram(kernel, X, path)
    unfinished.unlink()
    with pytest.raises(FileExistsError, match="not the journal of this matrix"):
        write_gram(kernel, X, path)
    assert journal.read_text() == "a diary"
    journal.unlink()
    write_gram(kernel, X, path)


def test_bad_arguments(tmp_path):
    kernel = SequenceKernel(Spectrum(1))
    with pytest.raises(ValueError, match=r"path must end in \.npy, got"):
        write_gram(kernel, LETTERS, tmp_path / "K.csv")
    with pytest.raises(ValueError, match="dtype must be 'float32' or 'float64', got"):
        write_gram(kernel, LETTERS, tmp_path / "K.npy", dtype="float16")
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_that_cannot_reserve(tmp_path, monkeypatch):
    def unknown(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("mvdfq.gram.checkpoint.os.posix_fallocate", unknown)
    kernel = SequenceKernel(Spectrum(1))
    found = write_gram(kernel, LETTERS, tmp_path / "K.npy")
    assert_array_equal(found, kernel.fit_transform(LETTERS))


def test_a_disk_without_room(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mvdfq.gram.checkpoint.os.posix_fallocate", full)
    with pytest.raises(OSError, match="no room for a matrix of"):
        write_gram(SequenceKernel(Spectrum(1)), LETTERS, tmp_path / "K.npy")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore:The kernel finds no word")
def test_tiles_of_a_card(tmp_path):
    pytest.importorskip("torch")
    kernel, path = SequenceKernel(Spectrum(2), manifold=True), tmp_path / "K.npy"
    expected = kernel.fit_transform(X)
    interrupted(kernel, path)
    with mvdfq.use_engine("gpu", device="cpu"):
        assert store_gram(kernel.fit(X), path).n_found == 0  # tiles of engines are not mixed
    np.testing.assert_allclose(np.load(path), expected, atol=1e-6)


# larger than memory ---------------------------------------------------------------------------


def series(n=12):
    random = np.random.default_rng(3)
    return [np.cumsum(random.normal(size=(2, m)), axis=1) for m in random.integers(20, 90, n)]


def test_an_iterator_of_blocks(tmp_path):
    quantizer = mvdfq.DirectQuantizer(5).fit(series())
    kernel = SequenceKernel(Spectrum(2), manifold=True)
    expected = kernel.fit_transform(quantizer.transform(series()))
    blocks = (quantizer.transform(series()[a : a + 5]) for a in range(0, 12, 5))
    assert_array_equal(write_gram(kernel, blocks, tmp_path / "K.npy"), expected)
    assert isinstance(kernel.train_.data.base, np.memmap)
    assert [file.name for file in tmp_path.iterdir()] == ["K.npy"]


def test_bad_blocks(tmp_path):
    path, kernel = tmp_path / "K.npy", SequenceKernel(Spectrum(2))
    one, other = (mvdfq.DirectQuantizer(n).fit_transform(series()) for n in (4, 5))
    with pytest.raises(ValueError, match="All blocks must have the rows and alphabets of the"):
        write_gram(kernel, iter([one, other]), path)
    with pytest.raises(TypeError, match="Blocks must be Symbols, got list"):
        write_gram(kernel, iter([series()]), path)
    with pytest.raises(ValueError, match="X holds no sequences; pass at least one block"):
        write_gram(kernel, iter([]), path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("n_learned", [12, 6, 3])
def test_parts_are_fitted_on_as_much_as_fits(n_learned, tmp_path):
    X, clf = series(), mvdfq.SequenceClassifier("mvdfqm-spectrum", symbols="direct", frames="delta")
    taught = X[:: 12 // n_learned]
    clf.memory_limit = 8 * (sum(x.nbytes for x in taught) + 1)
    blocks = lambda: (X[a : a + 5] for a in range(0, 12, 5))  # noqa: E731
    kernel, *found = lazily_fitted_kernel(clf, blocks, tmp_path)
    assert found == [12, n_learned]
    encoder = make_pipeline(mvdfq.Delta(), mvdfq.DirectQuantizer()).fit(taught)
    assert_array_equal(kernel.train_.codes, encoder.transform(X).codes)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def tables(tmp_path):
    folder = tmp_path / "tables"
    (folder / "up").mkdir(parents=True)
    for i, x in enumerate(series()):
        lines = [f"{t},{a:.6f},{b:.6f}" for t, (a, b) in enumerate(x.T)]
        (folder / "up" / f"{i:02}.csv").write_text("\n".join(["time,a,b", *lines]) + "\n")
    return folder


def test_a_folder_in_parts_is_the_folder(tables, monkeypatch):
    monkeypatch.setattr("mvdfq.io.reading.MOST_FILES", 5)
    for words in (False, True):
        for file in (tables / "up").iterdir() if words else ():
            file.write_text(f"time,a,b\n0,1,red\n1,2,{file.stem}th\n")
        whole, parts = mvdfq.io.read(tables), mvdfq.io.list_parts(tables)
        for _ in range(2):  # as often as needed
            found = [part() for part in parts]
            assert [len(part) for part in found] == [5, 5, 2]
            joined = reduce(mvdfq.io.Dataset.joined, found)
            assert joined.names == whole.names
            assert joined.X.symbolic == whole.X.symbolic
            assert_array_equal(joined.X.data, whole.X.data)


def test_what_is_no_folder_of_series_is_refused(tables, tmp_path):
    with pytest.raises(mvdfq.io.ReadError, match="is not a folder of sound files or tables"):
        mvdfq.io.list_parts(tables / "up" / "00.csv")
    with pytest.raises(mvdfq.io.ReadError, match="no file matches"):
        mvdfq.io.list_parts(tables, "*.npz")


def test_a_large_folder_at_the_shell(tables, tmp_path, monkeypatch):
    monkeypatch.setattr("mvdfq.io.reading.MOST_FILES", 5)
    arguments = ["gram", tables, "-q", "--symbols", "direct", "--preset", "mvdfqm-spectrum", "-o"]
    run(*arguments, tmp_path / "whole.npy")
    less = ["--memory-limit", sum(file.stat().st_size for file in (tables / "up").iterdir()) - 1]
    run(*arguments, tmp_path / "K.npy", *less)
    _, err = run(*arguments[:2], *arguments[3:], tmp_path / "L.npy", *less)
    assert "columns: time 'time'; channels 'a', 'b'" in err
    assert re.search(r"learned on \d+ of 12 sequences, which fit into the memory limit", err)
    assert (tmp_path / "K.names.txt").read_bytes() == (tmp_path / "whole.names.txt").read_bytes()
    assert np.load(tmp_path / "K.npy").shape == (12, 12)


def test_journal_lines_are_json(tmp_path):
    interrupted(SequenceKernel(Spectrum(2)), tmp_path / "K.npy")
    (journal,) = tmp_path.glob(".*.journal")
    records = [json.loads(line.split(" ", 1)[1]) for line in journal.read_text().splitlines()]
    assert records[0]["format"].startswith("mvdfq gram journal")
    assert records[1]["tile"] == [[0, 5], [0, 5]]
    assert len(records[1]["own"]) == 5


# blocks that are counted once -----------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Spectrum(4), Spectrum(1), Gapped(4, 3), mvdfq.Gappy(4, 2)])
def test_products_of_two_blocks_are_the_products_of_their_joined_row(kernel):
    symbols = check_symbols(X)
    row = kernel.row([symbols], 1)
    for group in kernel.groups(row.n_symbols):
        task = GroupTask(group)
        parts = [task.counted(kernel.row([symbols[cut]], 1)) for cut in (slice(9), slice(9, None))]
        blocks, joined = (Products(9, 9, len(symbols), False) for _ in range(2))
        assert parts[0].fits(parts[1])
        blocks.add_counted(*parts)
        task.add_to(joined, row)
        for products in (blocks, joined):
            products.finish()
        assert_array_equal(blocks.values, joined.values)
        assert_array_equal(blocks.own, joined.own)


@pytest.mark.parametrize("room", [1000, 3, 0])  # blocks whose counts can be kept
def test_a_block_is_counted_once_per_row_of_tiles(room, tmp_path, monkeypatch):
    random, n_counted = np.random.default_rng(0), 0
    symbols = check_symbols(random.integers(0, 9, (25, 2, 40)), 9)  # five blocks, two rows
    count = GroupTask.counted

    def noted(task, row, root):
        nonlocal n_counted
        n_counted += 1
        return count(task, row, root)

    monkeypatch.setattr(GroupTask, "counted", noted)
    most = 2 * room * 8000  # a block of a row has about 7000 bytes
    monkeypatch.setattr("mvdfq.gram.tiles.KeptCounts", lambda _: KeptCounts(most))
    write_gram(SequenceKernel(Spectrum(3)), symbols, tmp_path / "K.npy")
    # five tiles on the diagonal have one block, ten other tiles have two
    least, most = {1000: (5, 5), 3: (5, 5 + 10), 0: (25, 25)}[room]
    assert 2 * least <= n_counted <= 2 * most


def test_kept_counts_stay_within_their_limit():
    kernel = Spectrum(3)
    (group,) = kernel.groups(4)
    one = GroupTask(group).counted(kernel.row([check_symbols(X)], 0))
    kept = KeptCounts(2 * one.nbytes)
    for place in (1, 2, 1, 3):
        kept.get(place, lambda: one)
    assert [*kept.kept] == [1, 3]  # 2 was used longest ago
    assert kept.used == 2 * one.nbytes
    nothing = KeptCounts(0)
    assert nothing.get(1, lambda: one) is one
    assert not nothing.kept
