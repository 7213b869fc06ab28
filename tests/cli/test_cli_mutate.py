"""``mvdfq mutate`` and `SequenceClassifier.mutate`: effects of changes, by deciding again."""

import csv
import io

import pytest

import mvdfq
from commands import run, write_dna
from mvdfq.explain.mutations import Change, Strand, substitutions


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of DNA with and without TGACTCA on either strand."""
    folder = tmp_path_factory.mktemp("dna")
    write_dna(folder / "some.fa", 60, "ACGT", dict(enumerate("TGACTCA", start=20)))
    train = ["train", folder / "some.fa", "--label", 1, "-q", "-o"]
    run(*train, folder / "one.mvdfq")
    run(*train, folder / "both.mvdfq", "--strands", "both")
    return folder


def by_hand(clf, text, label, strands):
    """The decision value of a class for one string."""
    x = mvdfq.io.both_strands([text]) if strands == "both" else [text]
    value = float(clf.decision_function(x)[0])
    return value if label == clf.classes_[1] else -value


def mutate(folder, strands, *arguments):
    out = run("mutate", folder / f"{strands}.mvdfq", folder / "some.fa", "--label", 1, "--which",
              "d1", "--format", "csv", "-q", *arguments)[0]  # fmt: skip
    return list(csv.DictReader(io.StringIO(out)))


@pytest.mark.parametrize("strands", ["one", "both"])
def test_every_substitution_is_decided_again(folder, strands):
    clf, text = mvdfq.load(folder / f"{strands}.mvdfq"), mvdfq.io.read(folder / "some.fa").X[1]
    rows = mutate(folder, strands)
    assert len(rows) == 180
    before = by_hand(clf, text, "with", strands)
    for row in rows[::13]:
        i = int(row["position"]) - 1
        after = by_hand(clf, text[:i] + row["alt"] + text[i + 1 :], "with", strands)
        assert text[i] == row["ref"]
        assert float(row["effect"]) == pytest.approx(after - before, abs=2e-6)
        assert row["speaks"] == ("for with" if after > before else "against with")
    strongest = sorted(rows, key=lambda row: float(row["effect"]))[:8]
    assert all(20 <= int(row["position"]) <= 28 for row in strongest)


@pytest.mark.parametrize("strands", ["one", "both"])
def test_variants_insert_and_delete(folder, strands, tmp_path):
    clf, text = mvdfq.load(folder / f"{strands}.mvdfq"), mvdfq.io.read(folder / "some.fa").X[1]
    (tmp_path / "v.vcf").write_text(
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\n"
        "d1\t21\t.\tT\tC,G\nd2\t1\t.\tQ\tA\nd1\t21\t.\tTGACTCA\tT\nd1\t24\t.\tC\tCAAA\n"
    )
    rows = mutate(folder, strands, "--variants", tmp_path / "v.vcf")
    new = [text[:20] + "C" + text[21:], text[:20] + "G" + text[21:], text[:21] + text[27:],
           text[:24] + "AAA" + text[24:]]  # fmt: skip
    before = by_hand(clf, text, "with", strands)
    expected = [by_hand(clf, one, "with", strands) - before for one in new]
    assert [float(row["effect"]) for row in rows] == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize(("table", "message"), [
    ("position,ref,alt\n21,A,C\n", "position 21 must hold 'A', but"),
    ("position,ref,alt\n99,A,C\n", "string of 60 letters holds '' there"),
    ("position,alt\n21,C\n", "line 1: there is no column ref"),
    ("position,ref,alt\nx,A,C\n", "line 2: position, ref and alt must be given"),
    ("position,ref,alt\n", "holds no variant of d1"),
    ("", "holds no variants"),
])  # fmt: skip
def test_variants_that_do_not_fit_are_refused(folder, tmp_path, table, message):
    (tmp_path / "v.csv").write_text(table)
    mine = ["mutate", folder / "one.mvdfq", folder / "some.fa", "--label", 1, "--which", "d1"]
    _, err = run(*mine, "--variants", tmp_path / "v.csv", code=5)
    assert message in err
    assert "v.csv" in err


def test_a_heat_map_and_another_class(folder, tmp_path):
    mine = ["mutate", folder / "one.mvdfq", folder / "some.fa", "--label", 1, "--which", "d1", "-q"]
    out, _ = run(*mine, "-o", tmp_path / "m.html", "--region", "18-30", "--class", "without")
    assert "for without" in out
    assert "<svg" in (tmp_path / "m.html").read_text()
    turned = mutate(folder, "one", "--class", "without", "--region", "21-21")
    plain = mutate(folder, "one", "--region", "21-21")
    assert [float(a["effect"]) for a in turned] == [-float(b["effect"]) for b in plain]
    for wrong in (["--region", "5"], ["--region", "9-3"], ["--class", "x"]):
        run(*mine, *wrong, code=5)
    run(*mine, "-o", "m.txt", code=2)


@pytest.mark.filterwarnings("ignore:No known word is found")
@pytest.mark.parametrize("text", ["", "NN-N"])
def test_strings_without_a_letter_to_replace_have_no_changes(text):
    X, y = ["ACGTTGCAACGT", "ACGTTTTAACGT", "TTGCAACGGATT", "TTTTAACGGATT"] * 2, ["a", "b"] * 4
    found = mvdfq.SequenceClassifier().fit(X, y).mutate(text)
    assert found.changes == []
    assert found.effects.shape == (0,)
    with pytest.raises(ValueError, match="single substitutions, got none among the changes"):
        mvdfq.figures.mutations(found)


def test_letters_that_may_be_put_in():
    assert [one.alt for one in substitutions("A-n")] == list("CGT")
    assert {one.alt for one in substitutions("AUG")} == set("ACGU")
    assert len(substitutions("MKVL")) == 4 * 19
    assert substitutions("b1b", (0, 1)) == [Change(0, "b", "1")]
    for text in ("AACGT", "ACRYKMBVDHNSWGT", "acrgt"):  # with codes for several bases
        assert Strand.of(mvdfq.io.both_strands([text])) == Strand(text, joined=True)
    with pytest.raises(ValueError, match="one string of letters"):
        Strand.of(mvdfq.check_sequences([[[1.0, 2.0]]]))


@pytest.mark.filterwarnings("default:.* did not occur in training")
def test_strange_letters_are_warned_of_once(folder, tmp_path):
    text = mvdfq.io.read(folder / "some.fa").X[1]
    (tmp_path / "rna.fa").write_text(f">d1\n{text.replace('T', 'U')}\n")
    _, err = run("mutate", folder / "one.mvdfq", tmp_path / "rna.fa")
    assert err.count("did not occur in training") == 1
    assert "('U') in 1 of 1 sequence" in err
    clf = mvdfq.load(folder / "one.mvdfq")  # letters that a variant brings are told, too
    with pytest.warns(UserWarning, match=r"1 symbol \('Q'\)"):
        clf.mutate(text, [(0, text[0], "Q")])
