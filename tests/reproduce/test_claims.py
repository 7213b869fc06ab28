"""What the paper claims in percent, from its own figures and from ours."""

import pytest

from made_results import PROTOCOLS, READINGS, beside, made_scop
from mvdfq.reproduce.claims import claims
from mvdfq.reproduce.result import Row


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
    found = by_words(claims(made_scop()))
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


def test_claims_rest_on_the_seeds_that_both_sides_have():
    seen = {"reading": "text", "protocol": "5-fold"}
    many = Row("VQ", "SSSK", "no", value=50.0, by_seed={"0": 40.0, "1": 60.0}, **seen)
    one = Row("MVDFQ", "SSSK", "no", value=30.0, by_seed={"0": 30.0}, **seen)
    found = by_words(claims([beside("genre", row) for row in (many, one)]))
    assert found["MVDFQ-SSSK against VQ."]["ours"] == {"5-fold": {"text": pytest.approx(25.0)}}


def test_each_scheme_is_compared_with_itself():
    seen = {"reading": "text", "protocol": "5-fold"}
    values = {
        ("VQ", "ovo"): 40.0,
        ("VQ", "ovr"): 50.0,
        ("MVDFQ", "ovo"): 30.0,
        ("MVDFQ", "ovr"): 25.0,
    }
    rows = [Row(n, "SSSK", "no", scheme=s, value=v, **seen) for (n, s), v in values.items()]
    found = by_words(claims([beside("genre", row) for row in rows]))
    ours = found["MVDFQ-SSSK against VQ."]["ours"]
    assert ours == {"5-fold": {"text": pytest.approx(25.0), "text ovr": pytest.approx(50.0)}}


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
