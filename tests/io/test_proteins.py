"""Proteins and nucleic acids: FASTA, labels, splits, rows of numbers, profiles."""

import gzip
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

from mvdfq import Letters, Profile, SequenceClassifier, SequenceKernel, Spectrum
from mvdfq.io.dataset import Dataset
from mvdfq.io.letters import profiles
from mvdfq.io.letters.fasta import is_fasta, read_fasta
from mvdfq.io.letters.labels import ROLES, homology_tasks, read_splits
from mvdfq.io.letters.profiles import is_profile
from mvdfq.io.letters.residues import (
    AMINO_ACIDS,
    MATRICES,
    SCALES,
    both_strands,
    matrix_values,
    property_rows,
    reverse_complement,
    substitution_rows,
)
from mvdfq.io.reading import read
from mvdfq.io.source import Glimpse, ReadError, Source

# Files of hypothesis' examples overwrite each other, which is what we want.
fuzz = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
TWO = ">d1 a.1.1 globin\nMVLS\nPAD\n>d2 b.1.1 antibody\nQVQL\n"


def write(folder, text, name="file.fasta"):
    path = folder / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def looks_like(sniff, path):
    return sniff(Glimpse(path))


def refused(match, function, *args, **options):
    with pytest.raises(ReadError, match=match):
        function(*args, **options)


# FASTA


@pytest.mark.parametrize("name", ["file.fasta", "file.fasta.gz", "zipped-without-ending.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_fasta_of_any_form_is_read(tmp_path, name, end):
    text = f"; a comment\n\n{TWO}".replace("PAD", "  pa d\n\n;another\n").replace("\n", end)
    path = write(tmp_path, text, name)
    path = path.rename(tmp_path / name.replace("without-ending.gz", ""))
    data = read_fasta(path)
    assert (data.X, data.names) == (["MVLSPAD", "QVQL"], ["d1", "d2"])
    assert data.y is data.groups is data.split is None
    assert looks_like(is_fasta, path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no records"),
        ("; only a comment\n", "holds no records"),
        ("MVLS\n", "line 1: a sequence without a header; records begin with '>'"),
        (">a\nMV\n>b\n>c\nM\n", "line 3: record 'b' is empty"),
        (">a\nMV\n> \nMV\n", "line 3: a record without an id"),
        (">a\nMV\n>b\nMVL\nS1\n", "line 3: record 'b': '1' at position 5 is not in 'protein'"),
        (">a\nM\u0131V\n", "position 2 is not in 'protein'"),  # a dotless i is no isoleucine
        (b">a\nM\xe9V\n", r"position 2 is not in 'protein'"),
        (b">a\nM\0V\n", "line 2: binary data, not text; text may be packed with gzip"),
    ],
)
def test_bad_fasta_is_refused_with_its_place(tmp_path, text, message):
    refused(message, read_fasta, write(tmp_path, text))


def test_what_cannot_be_opened_is_a_read_error(tmp_path):
    refused("No such file", read_fasta, tmp_path / "none.fasta")
    refused("directory", read_fasta, tmp_path)
    whole = gzip.compress(b">a\n" + b"MVLSPAD\n" * 100)
    refused("ended before", read_fasta, write(tmp_path, whole[:-20]))
    refused("decompressing", read_fasta, write(tmp_path, whole[:10] + b"\xff" * 40))


def test_bad_records_are_skipped_when_asked(tmp_path):
    path = write(tmp_path, ">a\nMV\n>b\n>c\nM?\n>d\nW\n")
    data = read_fasta(path, skip_bad=True)
    assert (data.X, data.names) == (["MV", "W"], ["a", "d"])
    assert ["is empty", "'?' at position 2"] == [
        next(part for part in ("is empty", "'?' at position 2") if part in str(e))
        for e in data.skipped
    ]
    refused("only 0 of 1 sequences can be read", read_fasta, write(tmp_path, ">b\n"), skip_bad=True)


def test_old_headers_of_other_encodings_do_no_harm(tmp_path):
    data = read_fasta(write(tmp_path, b"\xef\xbb\xbf>a prot\xe9ine\nMV\n"), label=1)
    assert data.y.tolist() == ["prot\\xe9ine"]


@pytest.mark.parametrize(
    ("alphabet", "lower", "expected"),
    [
        ("dna", "upper", "ACGTN"),
        ("dna", "mask", "ACNNN"),
        ("dna", "keep", "ACgtn"),
        ("protein", "mask", "ACXXX"),
        (None, "upper", "ACGTN"),
        (None, "keep", "ACgtn"),
    ],
)
def test_lower_case(tmp_path, alphabet, lower, expected):
    path = write(tmp_path, ">a\nACgtn\n")
    assert read_fasta(path, alphabet=alphabet, lower=lower).X == [expected]


def test_any_letters_are_taken_without_an_alphabet(tmp_path):
    assert read_fasta(write(tmp_path, ">a\nH1ß!\n"), alphabet=None).X == ["H1ß!"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alphabet": "greek"}, "alphabet must be"),
        ({"lower": "no"}, "lower must be"),
        ({"strands": "two"}, "strands must be"),
        (
            {"strands": "both", "alphabet": "protein"},
            "strands='both' needs alphabet='auto', 'dna' or 'rna', got 'protein'",
        ),
        ({"lower": "mask", "alphabet": None}, "lower='mask' needs an alphabet"),
        ({"label": "("}, "label='.' is not a regular expression"),
        ({"group": -1}, "group must be a pattern or the number of a word"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        read_fasta(write(tmp_path, TWO), **options)


NAMES = st.text("abcXYZ012_|.-", min_size=1, max_size=8)
RESIDUES = st.text("ACDEFGHIKLMNPQRSTVWYXBZ*", min_size=1, max_size=30)


@fuzz
@given(records=st.dictionaries(NAMES, RESIDUES, min_size=1, max_size=5), width=st.integers(1, 9))
def test_written_records_come_back(tmp_path, records, width):
    lines = []
    for name, residues in records.items():
        lines += [f">{name}", *(residues[i : i + width] for i in range(0, len(residues), width))]
    data = read_fasta(write(tmp_path, "\n".join(lines)))
    assert dict(zip(data.names, data.X, strict=True)) == records


BYTES = st.one_of(
    st.binary(max_size=60),
    st.text(">;ACgx1 \n\r\t", max_size=60).map(str.encode),
    st.binary(max_size=40).map(lambda b: b"\x1f\x8b" + b),
    st.binary(max_size=40).map(gzip.compress),
)


@fuzz
@given(data=BYTES, skip_bad=st.booleans(), alphabet=st.sampled_from(["protein", "dna", None]))
def test_fasta_is_read_or_refused(tmp_path, data, skip_bad, alphabet):
    path = write(tmp_path, data)
    assert looks_like(is_fasta, path) in (True, False)
    try:
        found = read_fasta(path, skip_bad=skip_bad, alphabet=alphabet)
    except ReadError:
        return
    assert isinstance(found, Dataset)
    assert len(found.names) == len(found) > 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello\n",
        ">\nMV\n",
        ">a\n",
        "> quoted\n> mail\nwith, a comma\n",
        "@relation x\n",
        "\0\1",
    ],
)
def test_what_does_not_look_like_fasta(tmp_path, text):
    assert not looks_like(is_fasta, write(tmp_path, text))
    assert not looks_like(is_fasta, tmp_path)


# Labels


def test_labels_from_the_header(tmp_path):
    path = write(tmp_path, TWO)
    assert read_fasta(path, label=1).y.tolist() == ["a.1.1", "b.1.1"]
    assert read_fasta(path, label=r"[ab]\.\d").y.tolist() == ["a.1", "b.1"]
    assert read_fasta(path, label=r"\s([ab])\.").y.tolist() == ["a", "b"]
    data = read_fasta(path, label=r"(\w+)$", group=0)
    assert data.y.tolist() == ["globin", "antibody"]
    assert data.groups.tolist() == ["d1", "d2"]
    refused(
        "line 1: no label in the header of 'd1'; looked for 3 in .*last bar",
        read_fasta,
        path,
        label=3,
    )
    refused("no group in the header of 'd1'", read_fasta, path, group="anti")
    assert read_fasta(path, label="anti", skip_bad=True).names == ["d2"]


def headed(headers):
    return "".join(f">{header}\nMV\n" for header in headers)


@pytest.mark.parametrize(
    ("headers", "labels"),
    [
        (["1", "1", "0", "0", "1"], ["1", "1", "0", "0", "1"]),
        (["+1", " -1 ", "-1", "+1"], ["+1", "-1", "-1", "+1"]),
        (["class=EP300", "class=none"] * 3, ["class=EP300", "class=none"] * 3),
        (["pos", "pos"], ["pos", "pos"]),
        (["EP300 1", "EP300 0"] * 2, ["EP300 1", "EP300 0"] * 2),
    ],
)
def test_headers_that_are_only_labels(tmp_path, headers, labels):
    data = read_fasta(write(tmp_path, headed(headers)))
    assert data.y.tolist() == labels
    assert data.names == [f"file:{i + 1}" for i in range(len(labels))]
    assert "read as labels" in data.remarks[0]
    assert f"{labels[0]!r} ({labels.count(labels[0])})" in data.remarks[0]


@pytest.mark.parametrize(
    ("headers", "names"),
    [
        (["a", "b", "a", "c", "d"], ["a:1", "b", "a:2", "c", "d"]),
        (["a", "a:1", "a", "b", "c"], ["a:2", "a:1", "a:3", "b", "c"]),
        (["1 chr1:5", "1 chr2:7", "0 chr3:9"], ["1:1", "1:2", "0"]),
        (["1 chr1:5", "1 chr2:7", "0 chr3:9", "0 chr1:4"], ["1:1", "1:2", "0:1", "0:2"]),
    ],
)
def test_ids_that_repeat_get_numbers(tmp_path, headers, names):
    data = read_fasta(write(tmp_path, headed(headers)))
    assert (data.names, data.y) == (names, None)
    assert "repeated ids got numbers" in data.remarks[-1]
    assert ("label=0 reads labels" in data.remarks[0]) == (len(headers) == 4)
    assert read_fasta(write(tmp_path, headed(headers)), label=0).y[0] == headers[0].split()[0]


def test_ids_that_differ_are_not_labels(tmp_path):
    data = read_fasta(write(tmp_path, headed("abcd")))
    assert (data.names, data.y, data.remarks) == (list("abcd"), None, ())


def test_fewer_than_half_of_the_records_is_an_error(tmp_path):
    path = write(tmp_path, ">a\nMV\n>b\n>c\n>d\nW\n")
    assert read(path, skip_bad=True).names == ["a", "d"]
    path = write(tmp_path, ">a\nMV\n>b\n>c\n")
    refused("only 1 of 3 sequences .*the first problem: .*line 3", read, path, skip_bad=True)


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_labels_from_a_table(tmp_path, mark):
    lines = ["Label,more,id,group", "beta,,d2,g", "alpha,1,d1,g"]
    table = write(tmp_path, "\n".join(lines).replace(",", mark), "labels.csv")
    data = read(write(tmp_path, TWO), labels=table)
    assert data.y.tolist() == ["alpha", "beta"]
    assert data.groups.tolist() == ["g", "g"]
    table = write(tmp_path, "id,label\nd1,alpha\n", "labels.csv")
    refused("'d2' has no label", read, tmp_path / "file.fasta", labels=table)


def test_labels_by_the_accession_of_a_header_with_bars(tmp_path):
    path = write(tmp_path, ">sp|P1|HBA_HUMAN alpha\nMVL\n>sp|P2|HBB_HUMAN\nMVH\n")
    data = read(path, labels={"P1": "x", "P2": "y"})
    assert data.y.tolist() == ["x", "y"]
    assert data.names == ["sp|P1|HBA_HUMAN", "sp|P2|HBB_HUMAN"]
    refused(
        "P2.* has no label in the table of labels; the table holds names such as 'P1'",
        read,
        path,
        labels={"P1": "x"},
    )


def test_labels_from_a_mapping(tmp_path):
    data = read(write(tmp_path, TWO), labels={"d1": "x", "d2": "y"})
    assert (data.y.tolist(), data.groups) == (["x", "y"], None)


# The homology protocol

SPLITS = "family role id\n1.1 pos-train b\n1.1 neg-train a\n1.1 pos-test d\n1.1 neg-test c\n"


@pytest.mark.parametrize("mark", [" ", "\t", ","])
def test_splits_become_tasks(tmp_path, mark):
    splits = read_splits(write(tmp_path, SPLITS.replace(" ", mark), "splits.tsv.gz"))
    assert splits == {"1.1": dict(zip(ROLES, (["b"], ["a"], ["d"], ["c"]), strict=True))}
    (task,) = homology_tasks("dcba", splits)
    assert (task.train.tolist(), task.y_train.tolist()) == ([2, 3], [True, False])
    assert (task.test.tolist(), task.y_test.tolist()) == ([0, 1], [True, False])
    part = task.dataset(Dataset(list("DCBA"), names=list("dcba")))
    assert (part.X, part.y.tolist()) == (list("BADC"), [True, False, True, False])
    assert part.split.tolist() == ["train", "train", "test", "test"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no splits"),
        ("1.1 train a\n", "line 1: expected family, role and id, got '1.1 train a'; roles are"),
        ("1.1 pos-train\n", "line 1: expected family, role and id"),
        (SPLITS + "1.1 neg-test b\n", "line 6: 'b' has two roles in '1.1'"),
    ],
)
def test_bad_splits(tmp_path, text, message):
    refused(message, read_splits, write(tmp_path, text, "splits.tsv"))


def test_tasks_need_all_their_sequences():
    roles = dict(zip(ROLES, (["b"], ["a"], ["d"], ["c"]), strict=True))
    with pytest.raises(
        ValueError, match=r"Family '1.1' needs the sequence 'd', which is not in names"
    ):
        homology_tasks("abc", {"1.1": roles})
    with pytest.raises(ValueError, match=r"Family '1.1' has no sequence in the role 'neg-test'"):
        homology_tasks("abcd", {"1.1": {**roles, "neg-test": []}})


# Strands


def test_reverse_complement_worked_by_hand():
    assert reverse_complement("AACGTRYKMBVDHNSWX-.") == ".-XWSNDHBVKMRYACGTT"
    assert reverse_complement("aUg", alphabet="rna") == "cAu"
    with pytest.raises(ValueError, match="'U' at position 2 is not in 'dna'; letters are"):
        reverse_complement("AUG")
    with pytest.raises(ValueError, match="alphabet must be"):
        reverse_complement("A", alphabet="protein")


@given(st.text("ACGTRYSWKMBDHVNXacgtn-", max_size=30))
def test_the_other_strand_of_the_other_strand(sequence):
    assert reverse_complement(reverse_complement(sequence)) == sequence


def test_reverse_complement_agrees_with_biopython():
    seq = pytest.importorskip("Bio.Seq")
    letters = "ACGTRYSWKMBDHVNXacgtryswkmbdhvnx"
    assert reverse_complement(letters) == str(seq.Seq(letters).reverse_complement())
    letters = letters.replace("T", "U").replace("t", "u")
    other = str(seq.Seq(letters).reverse_complement_rna())
    assert reverse_complement(letters, alphabet="rna") == other


def counts(sequence, k):
    return Counter(sequence[i : i + k] for i in range(len(sequence) - k + 1))


@pytest.mark.parametrize("alphabet", [None, "ACGT"])
@given(
    X=st.lists(st.text("ACGT", min_size=3, max_size=12), min_size=2, max_size=4),
    k=st.integers(1, 3),
)
def test_words_of_both_strands_are_the_sum_and_none_spans(alphabet, X, k):
    words = [counts(x, k) + counts(reverse_complement(x), k) for x in X]
    expected = [[sum(a[w] * b[w] for w in a) for b in words] for a in words]
    symbols = Letters(alphabet).fit_transform(both_strands(X))
    assert_array_equal(
        SequenceKernel(Spectrum(k), normalize=False).fit_transform(symbols), expected
    )


def test_both_strands_of_a_file(tmp_path):
    path = write(tmp_path, ">a\nAAC\n>b\nG\n")
    data = read_fasta(path, strands="both")
    assert_array_equal(read(path, strands="both").X.data, data.X.data)
    assert_array_equal(both_strands(["AAC", "G"]).data, data.X.data)
    letters = ["".join("_" if np.isnan(c) else chr(int(c)) for c in x[0]) for x in data.X]
    assert letters == ["AAC_GTT", "G_C"]
    assert data.take([1]).X.lengths.tolist() == [3]
    rna = write(tmp_path, ">a\nAAU\n")
    with pytest.raises(ReadError, match=r"'U' at position 3 is not in 'dna'; .*write T for U"):
        read_fasta(rna, strands="both")
    assert read_fasta(rna, strands="both", alphabet="rna").X.lengths.tolist() == [7]
    assert both_strands(["", "A"]).lengths.tolist() == [0, 3]
    with pytest.raises(ValueError, match="X holds no sequences"):
        both_strands([])


# Rows of numbers


@pytest.mark.parametrize("name", MATRICES)
def test_matrices_are_symmetric_and_agree_with_biopython(name):
    found = matrix_values(name)
    assert_array_equal(found, found.T)
    matrices = pytest.importorskip("Bio.Align.substitution_matrices")
    witness = matrices.load(name)
    assert_array_equal(found, [[witness[a, b] for b in AMINO_ACIDS] for a in AMINO_ACIDS])


def test_scales_agree_with_biopython():
    data = pytest.importorskip("Bio.SeqUtils.ProtParamData")
    for name, witness in [("hydropathy", data.kd), ("flexibility", data.Flex)]:
        values = property_rows([AMINO_ACIDS], name).data[0]
        assert_allclose(values, [witness[letter] for letter in AMINO_ACIDS], rtol=1e-6)


def test_scales_say_what_everybody_knows():
    X = property_rows([AMINO_ACIDS])
    assert X.channel_names == tuple(SCALES)
    rows = dict(zip(SCALES, X[0], strict=True))
    best = {name: AMINO_ACIDS[row.argmax()] for name, row in rows.items()}
    assert best["hydropathy"] == "I"
    assert best["volume"] == "W"
    assert best["polarity"] == "D"
    assert best["helix"] == "E"
    assert best["strand"] == "V"
    charged = {a: q for a, q in zip(AMINO_ACIDS, rows["charge"], strict=True) if q}
    assert charged == {"D": -1, "E": -1, "K": 1, "R": 1}


# Written out a second time, to be compared with.
RULE = {"B": "DN", "Z": "EQ", "J": "IL", "U": "C", "O": "K", "X": "", "*": "", "-": "", ".": ""}


@pytest.mark.parametrize("letter", RULE)
def test_the_rule_for_odd_letters(letter):
    rows = substitution_rows([AMINO_ACIDS])[0]
    same = [rows[:, AMINO_ACIDS.index(residue)] for residue in RULE[letter]]
    expected = np.mean(same, axis=0) if same else np.full(20, np.nan)
    # At the end of a sequence too: a missing residue keeps its place.
    X = substitution_rows([f"A{letter}{letter.lower()}", "W"])
    assert X.lengths.tolist() == [3, 1]
    assert_array_equal(X[0][:, 1:], np.stack([expected, expected], axis=1))
    assert sorted([*RULE, *AMINO_ACIDS]) == sorted("ABCDEFGHIJKLMNOPQRSTUVWXYZ*-.")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: substitution_rows(["AC", "A1"]),
            "Sequence 1: '1' at position 2 is not an amino acid",
        ),
        (lambda: substitution_rows(["", "Aé"]), "Sequence 1: 'é' at position 2"),
        (lambda: substitution_rows(["AC"], "BLOSUM1"), "matrix must be one of .*BLOSUM45"),
        (lambda: substitution_rows([]), "X holds no sequences"),
        (
            lambda: property_rows(["AC"], ["size"]),
            "scales must be some of hydro.*'size'",
        ),
        (lambda: property_rows(["AC"], []), "scales must be some of"),
    ],
)
def test_rows_of_what_is_not_known(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rows_are_of_strings():
    with pytest.raises(TypeError, match="got one string"):
        substitution_rows("ACD")
    with pytest.raises(TypeError, match="Sequence 0 must be a string of residues, got int"):
        substitution_rows([1])


def test_rows_go_into_the_classifier():
    rng = np.random.default_rng(0)
    kinds = ["".join(rng.choice(list(letters), 30)) for letters in ["ILVFX", "DEKRN"] * 10]
    y = np.array(["buried", "exposed"] * 10)
    for X in [substitution_rows(kinds), property_rows(kinds)]:
        assert SequenceClassifier("mvdfq-sssk").fit(X[:14], y[:14]).score(X[14:], y[14:]) == 1


# Profiles

ORDER = "ARNDCQEGHILKMFPSTWYV"


def pssm_text(scores, percent=True):
    """A PSSM as PSI-BLAST writes it."""
    lines = ["", "Last position-specific scoring matrix computed, weighted observed percentages"]
    lines += ["           " + "  ".join(ORDER) + ("   " + "   ".join(ORDER)) * percent]
    for i, row in enumerate(scores, 1):
        more = "".join(f"{5:4d}" for _ in row) + "  0.41 0.06" if percent else ""
        lines.append(f"{i:5d} M   " + "".join(f"{score:3d}" for score in row) + more)
    statistics = ["", "                      K         Lambda", "PSI Ungapped  0.1946 0.3179"]
    return "\n".join([*lines, *statistics, ""])


def read_profiles(path, values="log-odds", skip_bad=False):
    return profiles.read(Source(path, skip_bad), values)


def test_pssm_in_our_order(tmp_path):
    scores = np.arange(40).reshape(2, 20) - 20  # two digits and a sign leave no space between
    path = write(tmp_path, pssm_text(scores), "d1.pssm")
    data = read_profiles(path)
    assert data.names == ["d1"]
    assert data.X.channel_names == tuple(AMINO_ACIDS)
    assert_array_equal(data.X[0], scores.T[[ORDER.index(a) for a in AMINO_ACIDS]])
    assert_array_equal(read_profiles(write(tmp_path, pssm_text(scores, False))).X[0], data.X[0])
    assert looks_like(is_profile, path)
    assert not looks_like(is_fasta, path)


def test_missing_scores_stay_missing(tmp_path):
    text = pssm_text([[0] * 20]).replace("M     0", "M    -I")
    rows = read_profiles(write(tmp_path, text, "d1.pssm.gz")).X[0]
    assert np.isnan(rows).sum() == 1


def hmmer_text(name, P):
    """A model as HMMER3 writes it: costs in nats, then lines for insertions and transitions."""
    costs = [["*" if p == 0 else f"{-np.log(p):.5f}" for p in row] for row in P]
    lines = ["HMMER3/f [3.3.2 | Nov 2020]", f"NAME  {name}", f"LENG  {len(P)}", "ALPH  amino"]
    lines += ["HMM     " + "    ".join(AMINO_ACIDS), "        m->m   m->i   m->d"]
    between = ["        " + "  2.99573" * 20, "        0.01 4.6 5.3 0.6 0.7 0.0 *"]
    lines += ["  COMPO " + "  2.99573" * 20, *between]
    for i, row in enumerate(costs, 1):
        lines += [f"{i:7d} " + "  ".join(row) + f"  {i} a - - -", *between]
    return "\n".join([*lines, "//", ""])


def hhm_text(name, P):
    """A model as HH-suite writes it: costs in thousandths of a bit."""
    costs = [["*" if p == 0 else f"{-1000 * np.log2(p):.0f}" for p in row] for row in P]
    lines = [
        "HHsearch 1.5",
        f"NAME  {name} a.1.1 globin",
        f"LENG  {len(P)} match states, 9 columns",
    ]
    lines += ["SEQ", ">Consensus", "HMM", "#", "NULL   " + "\t".join(["4322"] * 20)]
    lines += ["HMM    " + "\t".join(AMINO_ACIDS), "       M->M\tM->I", "       0\t*\t*\t0\t*\t0\t*"]
    for i, row in enumerate(costs, 1):
        lines += [f"A {i}   \t" + "\t".join(row) + f"\t{i}", "       0\t*\t*\t0\t*\t0\t*", ""]
    return "\n".join([*lines, "//", ""])


@pytest.fixture
def chances():
    P = np.random.default_rng(0).dirichlet(np.full(20, 0.3), size=4)
    P[0] = np.eye(20)[3]
    return P


def test_links_that_lead_out_of_a_folder_of_profiles_are_refused(tmp_path):
    folder = tmp_path / "profiles"
    folder.mkdir()
    (tmp_path / "a.pssm").write_text(pssm_text(np.zeros((2, 20), dtype=int)))
    (folder / "a.pssm").symlink_to(tmp_path / "a.pssm")
    with pytest.raises(ReadError, match=r"a\.pssm: is a link that leads out of the folder"):
        read_profiles(folder)


@pytest.mark.parametrize("writer", [hmmer_text, hhm_text])
def test_emissions_of_models(tmp_path, chances, writer):
    path = write(tmp_path, writer("one", chances) + writer("two", chances[::-1]), "several.hmm")
    data = read_profiles(path, values="probabilities")
    assert data.names == ["one", "two"]
    assert_allclose(data.X[0], chances.T, atol=1e-3)
    assert_allclose(data.X[1], chances[::-1].T, atol=1e-3)
    assert looks_like(is_profile, path)
    bits = read_profiles(path).X.data
    assert np.isfinite(bits).all()


def test_a_model_without_a_label_is_skipped(tmp_path, chances):
    write(tmp_path, hmmer_text("p", chances) + hmmer_text("q", chances), "several.hmm")
    write(tmp_path, hmmer_text("r", chances), "r.hmm")
    data = read(tmp_path, labels={"p": "x", "r": "y"}, skip_bad=True)
    assert (data.names, data.y.tolist(), len(data.skipped)) == (["r", "p"], ["y", "x"], 1)


def test_a_folder_of_profiles(tmp_path, chances):
    for name in ["a/1.hmm", "a/2.hmm.gz", "b/1.hmm"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path, hmmer_text("same", chances), name)
    assert looks_like(is_profile, tmp_path)
    data = read_profiles(tmp_path)
    assert (data.names, data.y.tolist()) == (["a/1", "a/2", "b/1"], ["a", "a", "b"])
    labels = {"a/1": "x", "a/2": "y", "b/1": "x"}
    assert read(tmp_path, labels=labels).y.tolist() == ["x", "y", "x"]
    del labels["a/1"]
    assert read(tmp_path, labels=labels, skip_bad=True).names == ["a/2", "b/1"]
    refused("'a/1' has no label", read, tmp_path, labels=labels)
    write(tmp_path, "nothing", "b/note.txt")
    refused("note.txt: no profile in the file", read_profiles, tmp_path)
    assert len(read_profiles(tmp_path, skip_bad=True).skipped) == 1
    write(tmp_path, pssm_text([[0] * 20]), "b/note.txt")
    refused(r"several formats: hmmer \(1.hmm\) and pssm \(note.txt\)", read_profiles, tmp_path)
    write(tmp_path, hmmer_text("same", chances), "b/note.txt")
    write(tmp_path, hmmer_text("same", chances), "top.hmm")
    refused("some files lie in folders", read_profiles, tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("    2 M", "    3 M"), "line 5: expected position 2, got '3'"),
        (lambda t: t.replace("  7", ""), "line 4: expected 20 scores"),
        (lambda t: t.replace("  7", "  x"), "line 4: expected 20 scores"),
        (lambda t: t.replace("  7", "  1e9"), "line 4: expected 20 scores"),
        (lambda t: t[: t.index("    1 M")], "the profile has no positions"),
        (lambda t: "", "no profile in the file; PSI-BLAST, HMMER3 and HH-suite can"),
    ],
)
def test_bad_pssm(tmp_path, change, message):
    text = pssm_text(np.arange(40).reshape(2, 20), percent=False)
    refused(message, read_profiles, write(tmp_path, change(text), "d1.pssm"))


@pytest.mark.parametrize("writer", [hmmer_text, hhm_text])
def test_bad_models(tmp_path, chances, writer):
    text = writer("one", chances)
    for change, message in [
        (lambda t: t.replace("LENG  4", "LENG  5"), "4 positions, but LENG says 5"),
        (lambda t: t.replace("*", "x"), "expected 20 emissions"),
        (lambda t: t.replace("*", "-1"), "expected 20 emissions"),
        (lambda t: t.replace("*", "nan"), "expected 20 emissions"),
        (lambda t: t.replace("W", "x"), "no line names the 20 amino acids"),
    ]:
        found = change(text)
        found = found.replace("LENG  4", "LENG  0") if "names" in message else found
        refused(message, read_profiles, write(tmp_path, found, "one.hmm"))
    empty = _empty(tmp_path)
    refused("the folder holds no files", read_profiles, empty)
    assert not looks_like(is_profile, empty)
    with pytest.raises(ValueError, match="profile_values must be"):
        read_profiles(tmp_path, values="bits")


def _empty(folder):
    (folder / "empty").mkdir()
    return folder / "empty"


@fuzz
@given(data=st.data(), form=st.sampled_from(["pssm", "hmmer", "hhm"]))
def test_profiles_are_read_or_refused(tmp_path, data, form):
    P = np.full((2, 20), 0.05)
    text = {"pssm": pssm_text([[1] * 20] * 2), "hmmer": hmmer_text("a", P), "hhm": hhm_text("a", P)}
    start = data.draw(st.integers(0, len(text[form])))
    stop = data.draw(st.integers(start, min(start + 30, len(text[form]))))
    noise = data.draw(st.text("0123456789.-+*eIMA \n\t/", max_size=12))
    path = write(tmp_path, text[form][:start] + noise + text[form][stop:], "file.txt")
    assert looks_like(is_profile, path) in (True, False)
    try:
        found = read_profiles(
            path, values=data.draw(st.sampled_from(["log-odds", "probabilities"]))
        )
    except ReadError:
        return
    assert found.X.n_rows == 20
    assert not np.isinf(found.X.data).any()


def test_probabilities_by_hand():
    scores = np.zeros((20, 3))
    scores[0, 1] = 2
    scores[4, 2] = np.nan
    P = profiles.to_probabilities(read_back(scores))
    assert_allclose(P[0][:, :2].sum(axis=0), 1)
    more = np.exp(2 * 0.3176)
    assert_allclose(P[0][0, 1] / P[0][1, 1], more * P[0][0, 0] / P[0][1, 0])
    assert_allclose(P[0][[0, 18], 0], [0.07805, 0.0133])  # scores of 0: the background
    assert np.isnan(P[0][:, 2]).all()


def read_back(scores):
    X = substitution_rows(["A" * scores.shape[1]])
    return X.with_data(scores)


def test_profiles_go_into_the_kernel(tmp_path):
    strong = np.full((9, 20), -4)
    strong[range(9), range(9)] = 9
    for i in range(2):
        write(tmp_path, pssm_text(np.roll(strong, i, axis=0)), f"{i}.pssm")
    X = read_profiles(tmp_path, values="probabilities").X
    K = SequenceKernel(Profile(k=3, sigma=3.0)).fit_transform(X)
    assert_allclose(np.diag(K), 1)
    assert 0.5 < K[0, 1] < 1


# The sets of the paper


@pytest.mark.slow
@pytest.mark.data
def test_remote_homologues_are_found(data_folder):
    path = data_folder / "proteins" / "sequences.fasta.gz"
    assert looks_like(is_fasta, path)
    data = read_fasta(path, label=r"\s(\d+\.\d+\.\d+\.\d+)\.")
    assert len(data) == 4352
    splits = read_splits(data_folder / "proteins" / "splits.tsv.gz")
    tasks = {task.family: task for task in homology_tasks(data.names, splits)}
    assert len(tasks) == 54
    task = tasks["7.3.6.2"]
    assert (task.y_train.sum(), task.y_test.sum()) == (16, 26)
    # Positive training sequences are of the superfamily, positive test sequences of the family.
    assert set(data.y[task.test[task.y_test]]) == {"7.3.6.2"}
    X = [data.X[i] for i in task.train]
    clf = SequenceClassifier(kernel="sssk", C=1.0, class_weight="balanced").fit(X, task.y_train)
    scores = clf.decision_function([data.X[i] for i in task.test])
    assert roc_auc_score(task.y_test, scores) > 0.95
