"""Tables of DNA or proteins: one string of letters per row."""

import numpy as np
import pandas as pd
import pytest

import mvdfq
from commands import run
from mvdfq.io import ReadError, read, recognise

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "id": [f"p{i}" for i in range(12)],
        "sequence": ["".join(RNG.choice(list("ACGT"), 25 + i)) for i in range(12)],
        "label": list("ab") * 6,
    }
)


def check(data, table=TABLE):
    assert data.X == table["sequence"].tolist()
    assert [data.names, data.y.tolist()] == [table["id"].tolist(), table["label"].tolist()]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("order", [["id", "sequence", "label"], ["label", "sequence", "id"]])
def test_a_table_of_letters(tmp_path, mark, order):
    path = tmp_path / "a.csv"
    TABLE[order].to_csv(path, sep=mark, index=False)
    assert recognise(path) == "letters-csv"
    check(read(path))
    assert read(path, strands="both").X.lengths[0] == 2 * 25 + 1


@pytest.mark.parametrize("name", ["seq", "Protein", "what"])
def test_the_column_of_letters_has_a_known_name_or_long_words(tmp_path, name):
    path = tmp_path / "a.csv"
    TABLE.rename(columns={"sequence": name}).to_csv(path, index=False)
    check(read(path))


def test_short_letters_need_a_name(tmp_path):
    path = tmp_path / "a.csv"
    short = TABLE.assign(sequence=[f"SIINF{c}L" for c in "ACDEFGHIKLMN"])
    short.to_csv(path, index=False)
    check(read(path), short)
    short.rename(columns={"sequence": "what"}).to_csv(path, index=False)
    with pytest.raises(ReadError):
        read(path)
    check(read(path, channels=["what"]), short)


def test_the_shell_recognises_letters_by_the_column_of_labels(tmp_path):
    """The labels are numbers: without their name, they may be a channel beside names."""
    path = tmp_path / "a.csv"
    words = [f"SIINF{c}L" for c in "ACDEFGHIKLMN"]
    pd.DataFrame({"peptide": words, "binds": [0, 1] * 6}).to_csv(path, index=False)
    assert "letters 'peptide'" in "".join(run("inspect", path, "--label", "binds"))


def test_other_columns_are_left_out(tmp_path):
    path = tmp_path / "a.csv"
    more = TABLE.assign(length=range(12), family=list("uv") * 6)
    more.rename(columns={"label": "kind"}).to_csv(path, index=False)
    check(read(path, label="kind"))
    assert read(path, label="kind", group="family").groups.tolist() == list("uv") * 6
    assert read(path).y is None


def test_tables_in_memory_and_in_other_files(tmp_path):
    check(read(TABLE))
    assert mvdfq.check_sequences(TABLE.drop(columns="label")).lengths[0] == 25
    TABLE.to_parquet(tmp_path / "a.parquet")
    check(read(tmp_path / "a.parquet"))


def test_bad_letters_are_named(tmp_path):
    path = tmp_path / "a.csv"
    text = TABLE.to_csv(index=False)
    for cell, problem in [("AC1GT", "'1' at position 3"), ("", "the letters are missing")]:
        path.write_text(text + f"p12,{cell},a\n")
        with pytest.raises(ReadError, match=f"line 14: {problem}"):
            read(path, "letters-csv")
    path.write_text(text + "p12,ACGT\n")
    assert len(read(path, skip_bad=True).skipped) == 1


def test_names_of_series_are_not_letters(tmp_path):
    path = tmp_path / "a.csv"
    rows = [f"{name},{t},{t % 3},a" for name in ("alphabetic", "betatronic") for t in range(9)]
    path.write_text("sequence,time,x,label\n" + "\n".join(rows))
    assert read(path).names == ["alphabetic", "betatronic"]
    path.write_text("sequence,x1,x2,label\nalpha,1,2,a\nbeta,3,4,b\n")
    assert read(path).names == ["alpha", "beta"]


def test_new_rows_for_a_model(tmp_path):
    path = tmp_path / "a.csv"
    table = TABLE.rename(columns={"sequence": "read", "label": "kind", "id": "who"})
    table["read"] = table["read"].str[:9]
    table.to_csv(path, index=False)
    data = read(path, channels=["read"], label="kind", id="who")
    clf = mvdfq.SequenceClassifier(kernel=mvdfq.Spectrum(2)).fit(data.X, data.y)
    clf.source_ = data.source
    table[["who", "read"]].to_csv(path, index=False)
    assert list(mvdfq.predict_files(clf, path)) == table["who"].tolist()


def test_the_index_of_a_data_frame_is_no_header_of_numbers(tmp_path):
    path = tmp_path / "a.csv"
    TABLE.to_csv(path)
    check(read(path))


def test_letters_without_a_header_are_not_taken_for_a_header(tmp_path):
    path = tmp_path / "a.csv"
    TABLE.to_csv(path, index=False, header=False)
    with pytest.raises(ReadError, match="channels=NAME names a column of DNA or proteins"):
        read(path)


def test_one_of_two_columns_of_letters_is_named(tmp_path):
    path = tmp_path / "a.csv"
    table = TABLE.assign(light=TABLE["sequence"].str[::-1]).rename(columns={"sequence": "heavy"})
    table.to_csv(path, index=False)
    with pytest.raises(ReadError, match="channels=NAME names a column of DNA"):
        read(path)
    check(read(path, channels=["heavy"]))
