"""Remote homology: the kernels of residues, the sets, one machine a family, and the table."""

import csv
import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mvdfq
from conftest import size
from mvdfq.io import ReadError
from mvdfq.io.letters.residues import AMINO_ACIDS
from mvdfq.kernels import Mismatch, Spectrum
from mvdfq.reproduce import families, homology as table, published
from mvdfq.reproduce.cells import Cell
from mvdfq.reproduce.families import descriptors, inner_folds, protein_gram, rbf_gram
from mvdfq.reproduce.homology import homology, ranked, signed_rank
from mvdfq.reproduce.published import cells, methods
from mvdfq.reproduce.scop import load_scop
from mvdfq.reproduce.store import Store
from naive import homology as naive_homology

STRINGS = ["MKVLAW", "MKILAWWC", "CCXDECC", "AC", "W", "XXXX"]
POINTS = {name: descriptors(name) for name in ("BLOSUM62", "properties")}


# kernels of residues --------------------------------------------------------------------------


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize(("k", "m", "width"), [(1, 0, 0.3), (2, 0, 0.7), (3, 0, 0.4), (2, 1, 0.5)])
def test_rbf_kernels_are_sums_over_pairs_of_words(k, m, width, points):
    strings = STRINGS if m == 0 else ["MKV", "MKIC", "W"]
    expected = naive_homology.rbf_gram(strings, POINTS[points].tolist(), k, m, width)
    assert_allclose(rbf_gram(strings, POINTS[points], k, m, width), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("k", "m"), [(2, 0), (3, 0), (2, 1), (3, 1), (3, 2)])
def test_a_narrow_rbf_is_the_plain_kernel(k, m):
    letters = mvdfq.Letters(AMINO_ACIDS).fit_transform(STRINGS[:3])
    plain = mvdfq.SequenceKernel(Mismatch(k, m) if m else Spectrum(k)).fit_transform(letters)
    assert_allclose(rbf_gram(STRINGS[:3], np.eye(20), k, m, 0.05), plain, rtol=1e-5, atol=1e-7)


@pytest.mark.usefixtures("two_blas_threads")
def test_rbf_kernels_are_kernels():
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list(AMINO_ACIDS), n)) for n in rng.integers(3, 40, size=30)]
    for k, m in [(2, 0), (3, 0), (3, 1)]:
        K = rbf_gram(strings, POINTS["BLOSUM62"], k, m, 0.5)
        assert_allclose(K, K.T)
        assert_allclose(K.diagonal(), 1)
        assert np.linalg.eigvalsh(K).min() > -1e-6
        assert_array_equal(K, rbf_gram(strings, POINTS["BLOSUM62"], k, m, 0.5, n_jobs=3))


LETTERS, SCORES = f"letters: letters({AMINO_ACIDS})", "BLOSUM62 rows: direct(20, strategy=kmeans)"
(SLOPES,) = methods("BLOSUM62 rows: delta | direct(32, strategy=uniform, margin=1.5) > spectrum(3)")
METHODS = methods(
    f"{LETTERS} > spectrum(2); {SCORES} > spatial(2, 1, 3) > root; rbf(k=2, m=1);"
    f"BLOSUM62 rows: hashing(32) > mismatch(3, 1);"
    f"{LETTERS} > spectrum(2) > root & {SCORES} > spectrum(2) > root"
)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_nothing_is_learned_from_the_proteins(made, method):
    whole = protein_gram(method, made)
    part = protein_gram(method, made.small(1))
    places = [made.names.index(name) for name in made.small(1).names]
    assert_allclose(part, whole[np.ix_(places, places)], rtol=1e-6)


@pytest.mark.parametrize(
    "quantizer", [methods(f"{SCORES} > spectrum(3)")[0].symbols, SLOPES.symbols[-1]], ids=str
)
def test_every_score_of_a_row_is_a_symbol(quantizer):
    rows = mvdfq.io.substitution_rows([AMINO_ACIDS])
    symbols = quantizer.fit(rows).transform(rows)
    for scores, codes in zip(rows[0], symbols[0], strict=True):
        assert len(set(zip(scores.tolist(), codes.tolist(), strict=True))) == len(set(scores))
        assert len(set(codes.tolist())) == len(set(scores.tolist()))


def test_slopes_are_rows_beside_the_scores(made):
    X = made.view("BLOSUM62 rows")
    bins = mvdfq.DirectQuantizer(32, strategy="uniform", margin=1.5)
    symbols = bins.fit_transform(mvdfq.Delta().fit_transform(X))
    assert symbols.n_rows == 40
    expected = mvdfq.SequenceKernel(Spectrum(3)).fit_transform(symbols)
    assert_allclose(protein_gram(SLOPES, made), expected)


# sets -----------------------------------------------------------------------------------------


def write_set(folder, n_tasks=3):
    """Superfamilies of three families each that share a motif; lines ``family role id``."""
    rng = np.random.default_rng(0)
    records, members = [], {}
    for s in range(4):
        motif = rng.choice(list(AMINO_ACIDS), 12)
        for f in range(3):
            for i in range(4):
                noise = rng.choice(list(AMINO_ACIDS), 12)
                residues = np.where(rng.random(12) < 0.8, motif, noise)
                code, name = f"{s}.1.1.{f}", f"d{s}{f}{i}"
                records.append(f">{name} {code}.{i} made\n{''.join(residues)}X{''.join(noise)}\n")
                members.setdefault(code, []).append(name)
    lines = [f"{family} {role} {name}\n" for family, role, name in made_roles(members, n_tasks)]
    with gzip.open(folder / "sequences.fasta.gz", "wt") as file:
        file.writelines(records)
    with gzip.open(folder / "splits.tsv.gz", "wt") as file:
        file.writelines(["family\trole\tid\n", *lines])


def made_roles(members, n_tasks):
    for family in [*members][: 3 * n_tasks : 3]:
        for code, names in members.items():
            kin = code[0] == family[0]
            for i, name in enumerate(names):
                part = "test" if code == family or (not kin and i % 2) else "train"
                yield family, f"{'pos' if kin else 'neg'}-{part}", name


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("proteins")
    write_set(folder)
    return load_scop(folder)


def test_the_form_of_liao_and_noble(made):
    assert (len(made), len(made.tasks)) == (48, 3)
    task = made.tasks[0]
    assert {made.names[i][:2] for i in task.train[task.y_train]} == {"d0"}
    assert set(made.codes[task.test[task.y_test]]) == {"0.1.1.0"}


def test_a_part_has_few_of_every_role(made):
    part = made.small(2, n_positive=3, n_negative=5)
    assert [task.family for task in part.tasks] == [task.family for task in made.tasks[:2]]
    for task, whole in zip(part.tasks, made.tasks, strict=False):
        assert_array_equal(np.bincount(task.y_train), [5, 3])
        known = {made.names[i] for i in whole.train}
        assert {part.names[i] for i in task.train} <= known
    assert part.digest != made.digest


def test_digests_tell_tasks_apart(made, tmp_path):
    write_set(tmp_path, n_tasks=2)
    assert load_scop(tmp_path).digest != made.digest


SCOP159 = {
    "all.fasta": ">a x\nMK\n>b a.1.1.2 x\nMV\n>c\nWW\n>d\nAA\n>e\nCC\n",
    "labels.tsv": "id\ta.1\tb.2\na\t1\t2\nb\t2\t1\nc\t0\t0\nd\t3\t4\ne\t4\t3\n",
}


def write_files(folder, **changed):
    for name, text in {**SCOP159, **{k.replace("_", "."): v for k, v in changed.items()}}.items():
        if text is not None:
            (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (SCOP159["labels.tsv"], ["a.1", "b.2"]),
        ("a.1,b.2\n1,2\n2,1\n0,0\n3,4\n4,3\n", ["a.1", "b.2"]),
        ("1 2\n2 1\n\n0 0\n3 4\n4 3\n", ["1", "2"]),
        ("e 4 3\nb 2 1\na 1 2\nd 3 4\n", ["1", "2"]),
    ],
)
def test_the_form_of_the_set_of_the_paper(tmp_path, labels, names):
    data = load_scop(write_files(tmp_path, labels_tsv=labels))
    assert data.names == ["a", "b", "d", "e"]
    assert data.codes.tolist() == ["a", "a.1.1.2", "d", "e"]
    assert [task.family for task in data.tasks] == names
    task = data.tasks[1]
    assert_array_equal(task.train, [0, 1])
    assert_array_equal(task.y_train, [False, True])
    assert_array_equal(task.y_test, [False, True])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"labels_tsv": None}, "a file of roles .*, found none"),
        ({"all_fasta": None}, "a FASTA file .*, found none"),
        ({"more_fa": ">x\nAA\n"}, r"found all\.fasta, more\.fa"),
        ({"labels_tsv": ""}, r"labels\.tsv: holds no lines"),
        ({"labels_tsv": "1\n2\n3\n"}, r"labels\.tsv: 3 lines for 5 sequences"),
        ({"labels_tsv": "a 1\nb 7\n"}, r"labels\.tsv: line 2: '7' is not a role; roles are 0 to 4"),
        ({"labels_tsv": "a 1\nb 1 2\n"}, r"line 2: 3 columns, expected 2"),
        ({"labels_tsv": "a 1\nz 1\n"}, r"line 2: 'z' is not in the FASTA file"),
        ({"labels_tsv": "a 1\na 1\n"}, r"line 2: 'a' has two lines"),
        ({"labels_tsv": "id x x\na 1 2\n"}, "line 1: names of 2 families expected"),
        ({"labels_tsv": "x\na 1 2\n"}, "line 1: names of 2 families expected"),
        ({"labels_tsv": "a 1\nb 2\nd 3\n"}, "Family '1' has no sequence in the role 'neg-test'"),
        ({"all_fasta": ">a\nMK\n>a\nMV\n"}, r"all\.fasta: line 3: 'a' is there twice"),
        ({"all_fasta": ">a\n>b\nMV\n"}, r"line 1: 'a' has no id or no residues"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, changed, message):
    with pytest.raises(ReadError, match=message):
        load_scop(write_files(tmp_path, **changed))


# machines -------------------------------------------------------------------------------------


def test_inner_folds_hold_whole_families_of_the_training_part_out(made):
    for task in made.tasks:
        checked = []
        for learn, y, check, y_check in inner_folds(task, made.codes):
            assert set(learn) | set(check) == set(task.train)
            assert not set(learn) & set(check)
            assert not set(made.codes[learn[y]]) & set(made.codes[check[y_check]])
            checked += check.tolist()
        assert sorted(checked) == sorted(task.train)


def test_positives_of_one_family_are_cut_at_random(made):
    task = made.tasks[0]
    folds = list(inner_folds(task, np.full(len(made), "one")))
    assert len(folds) == 3
    assert all(y.any() and y_check.any() for _, y, _, y_check in folds)


def test_a_run_goes_on_where_it_stopped(made, tmp_path, monkeypatch):
    families_ranked, grams = [], []
    spy(monkeypatch, families, "_rank", families_ranked)
    spy(monkeypatch, families, "protein_gram", grams)
    methods = METHODS[:2]

    def stop(done, total):
        assert total == 6
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ranked(methods, made, Store(tmp_path), progress=stop)
    families_ranked.clear()
    grams.clear()
    reports = []
    again = ranked(methods, made, Store(tmp_path), progress=lambda *said: reports.append(said))
    assert (len(families_ranked), len(grams), reports) == (2, 1, [(5, 6), (6, 6)])
    fresh = ranked(methods, made, Store(tmp_path / "fresh"), n_jobs=2)
    assert roc50_of(again) == roc50_of(fresh)
    families_ranked.clear()
    ranked(methods, made, Store(tmp_path))
    assert not families_ranked


def roc50_of(records):
    return {(name, f): r["roc50"] for name, mine in records.items() for f, r in mine.items()}


def spy(monkeypatch, module, name, calls):
    function = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args: calls.append(args) or function(*args))


# the table ------------------------------------------------------------------------------------


def test_worked_number_of_the_signed_rank_test():
    a = np.array([5, 1, 3, 4, 5, 6, 7], dtype=float)
    b = np.array([5, 2, 1, 1, 1, 1, 1], dtype=float)
    assert signed_rank(a, b) == signed_rank(b, a) == 0.0625
    assert signed_rank(a, a) == 1


def test_methods_are_chosen_on_the_training_part():
    cell = Cell("x", methods=(METHODS[0], METHODS[1]))
    first, second = cell.labels
    inner = {first: {"f": [0.2, 0.1], "g": [0.5, 0.5]}, second: {"f": [0.1, 0.4], "g": [0, 0.1]}}
    test = {first: {"f": [0.9, 0.7], "g": [0.3, 0.2]}, second: {"f": [0.8, 0.1], "g": [0.8, 0.6]}}
    records = {
        m: {f: {"inner": inner[m][f], "roc50": test[m][f], "seconds": {"gram": 2}} for f in "fg"}
        for m in cell.labels
    }
    _, row, values = table._judged(cell, records, ["f", "g"])
    assert values.tolist() == [0.1, 0.3]
    labels = [method.label for method in cell.methods]
    used = [f"{label}, one machine per family" for label in labels]
    assert row.method == {f"{used[0]}, C=1": 1, f"{used[1]}, C=100": 1}


def test_every_published_figure_has_its_row():
    with (Path(published.__file__).parent / "published.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["table"] == "homology"]
    assert len(rows) > 20
    ours = {(cell.name, cell.kernel) for cell in cells("homology")}
    for name, column, _ in table.COMPARISONS:
        ours |= {(name, kernel) for at, kernel in ours if at == column}
    assert {(row["method"], row["kernel"]) for row in rows} <= ours


def test_a_quick_run_fills_the_table(made, tmp_path):
    reports = []
    readings = size(["text", "comment", "tuned", "inferred"], ["text", "inferred"])
    rows = homology(
        made.small(), Store(tmp_path), readings=readings,
        progress=lambda *report: reports.append(report),
    )  # fmt: skip
    assert reports[-1][0] == reports[-1][1] == len(reports)
    assert {row.reading for row in rows} == set(readings)
    for row in rows:
        if row.value is None:
            assert row.note.startswith(("not run: no profiles", "quoted only"))
        else:
            assert 0 <= row.value <= (100 if row.metric == "mean_ROC50" else 1)
            assert row.n_folds == 3
            assert row.method
    first = next(row for row in rows if row.reading == "text")
    (records,) = ranked(methods(f"{LETTERS} > spectrum(3)"), made.small(), Store(tmp_path)).values()
    values = [r["roc50"][int(np.argmax(r["inner"]))] for r in records.values()]
    assert first.value == pytest.approx(100 * np.mean(values))
    assert first.std == pytest.approx(100 * np.std(values))


def test_what_is_kept_is_shown_without_computing(made, tmp_path):
    store = Store(tmp_path)
    made = made.small()
    empty = homology(made, store, kept=True, readings=["text"])
    assert {row.note for row in empty} == {"not run yet"}
    assert not [*store.folder.iterdir()]
    rows = homology(made, store, readings=["text"])
    assert homology(made, store, kept=True, readings=["text"]) == rows


def write_profiles(folder, names):
    """ASCII PSSMs of six positions, at each of which one residue is likely."""
    rng = np.random.default_rng(0)
    (folder / "profiles").mkdir()
    for name in names:
        scores = np.where(np.arange(20) == rng.integers(4, size=(6, 1)), 9, -4)
        lines = [f"{i + 1} M {' '.join(map(str, line))}\n" for i, line in enumerate(scores)]
        head = f"\n{' '.join('ARNDCQEGHILKMFPSTWYV')}\n"
        (folder / "profiles" / f"{name}.pssm").write_text(head + "".join(lines))


def test_profiles_are_used_where_they_are_given(made, tmp_path):
    write_set(tmp_path, n_tasks=3)
    write_profiles(tmp_path, made.names)
    data = load_scop(tmp_path)
    assert (made.profiles_digest, data.digest) == ("", made.digest)
    assert data.profiles_digest
    rows = homology(data.small(), Store(tmp_path / "store"), readings=["comment"])
    found = {(row.name, row.metric): row for row in rows if row.kernel == "Profile"}
    assert len(found) == 4
    assert all(row.value is not None and not row.note for row in found.values())
    assert found["MVDFQ vs profile", "p_value"].value <= 1


def test_a_profile_that_is_not_there_is_named(made, tmp_path):
    write_set(tmp_path)
    write_profiles(tmp_path, made.names[1:])
    with pytest.raises(ReadError, match=f"no profile of '{made.names[0]}'"):
        load_scop(tmp_path).view("log-odds")


@pytest.mark.data
@pytest.mark.parametrize(
    ("step", "mean"), [(6, 0.355), pytest.param(1, 0.269, marks=pytest.mark.long)]
)
def test_the_families_of_liao_and_noble(data_folder, tmp_path, step, mean):
    data = load_scop(data_folder / "proteins")
    assert (len(data), len(data.tasks)) == (4352, 54)
    rows = homology(data.small(), Store(tmp_path), readings=["text"])
    assert all(row.value > 60 for row in rows if row.metric == "mean_ROC50")
    some = replace(data, tasks=data.tasks[::step])
    letters = methods(f"{LETTERS} > spectrum(3)")
    (records,) = ranked(letters, some, Store(tmp_path), n_jobs=2).values()
    values = [record["roc50"][0] for record in records.values()]
    assert len(values) == 54 // step
    assert np.mean(values) == pytest.approx(mean, abs=0.005)
