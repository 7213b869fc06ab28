"""``mvdfq explain`` in the words of users: class, probability, the sum, moments, letters."""

import csv
import io
import json
import re

import numpy as np
import pytest
import soundfile

import mvdfq
from commands import RATE, run, tone, write_dna, write_sounds
from mvdfq.cli.reasons import Reasons
from mvdfq.explain.moments import Moment, find_moments, find_patterns
from mvdfq.io import write_npz
from naive import kernels as naive


@pytest.fixture(scope="module")
def sounds(tmp_path_factory):
    """A model of two kinds of sound, and a sound that changes its kind after a second."""
    folder = tmp_path_factory.mktemp("sounds")
    rng = write_sounds(folder, 6)
    both = np.concatenate([tone("noise", rng), tone("tone", rng), tone("tone", rng)])
    run("train", folder, "-o", folder / "m.mvdfq", "-q", "--preset", "mvdfqm-sssk", "-C", 10)
    soundfile.write(folder / "both.wav", both, RATE)
    return folder


@pytest.fixture(scope="module")
def dna(tmp_path_factory):
    """A model of DNA with and without the motif GC.G at position 25."""
    folder = tmp_path_factory.mktemp("dna")
    write_dna(folder / "some.fa", 40, "AT", {24: "G", 25: "C", 27: "G"})
    train = ["train", folder / "some.fa", "--label", 1, "--kernel", "gapped(4, 3)", "-q"]
    run(*train, "-o", folder / "m.mvdfq")
    run(*train, "-o", folder / "both.mvdfq", "--strands", "both")
    return folder


def explain(model, data, *arguments):
    return run("explain", model, data, *arguments, "--n-jobs", 1, "-q")[0]


@pytest.mark.slow
def test_class_probability_runner_up_and_sum(sounds):
    out = explain(sounds / "m.mvdfq", sounds / "both.wav")
    clf = mvdfq.load(sounds / "m.mvdfq")
    x = mvdfq.io.read(sounds / "both.wav").X
    chances = dict(zip(clf.classes_.tolist(), clf.predict_proba(x)[0], strict=True))
    best, other = sorted(chances, key=chances.get, reverse=True)
    lines = out.splitlines()
    assert lines[0].endswith("both.wav (sequence 1 of 1)")
    assert lines[1].startswith(f"{best}, {100 * chances[best]:.0f} %. It gets ")
    facts = json.loads(explain(sounds / "m.mvdfq", sounds / "both.wav", "--format", "json"))
    parts = [facts[key] for key in ("evidence_for", "evidence_against", "evidence_constant")]
    assert sum(parts) == pytest.approx(facts["decision_value"])
    assert abs(facts["decision_value"]) == pytest.approx(abs(clf.decision_function(x)[0]))
    assert facts["decision_value"] >= 0
    assert f"It gets {facts['decision_value']:+.2f} for {best} rather than {other}: " in lines[1]
    assert f"{parts[2]:+.2f} like every sequence, and the rest because of:" in lines[1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_sum_begins_with_an_average_other_sequence(n_classes):
    rng, y = np.random.default_rng(0), np.arange(24) % n_classes
    X = rng.normal(size=(24, 2, 40))
    X[:, 0] += 3 * np.sin(np.arange(40) * (0.2 + 0.5 * y[:, None]))
    clf = mvdfq.SequenceClassifier(cv=2, C=1).fit(X, y)
    reasons = Reasons(clf, clf.explain(X[0]), "x", 4)
    others = clf.decision_function(X)[y > 0]
    average = -others.mean() if n_classes == 2 else others[:, 0].mean()
    title = "0 rather than 1" if n_classes == 2 else "0"
    value = reasons.sums["decision_value"]
    rather = f" for {title}" if n_classes == 2 else ""
    text = f"An average other sequence gets {average:+.2f}{rather}; this one gets {value:+.2f},"
    assert text in reasons.verdict()
    for rows, heading in reasons.tables():
        assert heading.endswith(title) or heading.startswith("next is ")
        is_for = " for " in heading or heading.startswith("next is ")
        assert {row["evidence"][0] for row in rows} <= {"+" if is_for else "-"}


@pytest.mark.slow
def test_moments_come_first_and_words_behind_details(sounds):
    out = explain(sounds / "m.mvdfq", sounds / "both.wav")
    assert " s  mfcc" in out
    assert "words" not in out
    facts = json.loads(explain(sounds / "m.mvdfq", sounds / "both.wav", "--format", "json"))
    for moment in facts["moments"]:  # the noise is in the first second, the tone after it
        is_for = (moment["evidence"] > 0) == (facts["predicted"] == "tone")
        assert is_for == (moment["seconds"][0] > 0.9)
    out = explain(sounds / "m.mvdfq", sounds / "both.wav", "--details")
    assert "words with the most evidence" in out
    assert "rows of symbols with the most evidence" in out


def test_moments_are_the_windows_with_the_most_evidence(sounds):
    clf = mvdfq.load(sounds / "m.mvdfq")
    explanation = clf.explain(mvdfq.io.read(sounds / "both.wav").X)
    column, sign = explanation.column()
    shares = explanation.channel_shares.tolist()
    by_frame = (sign * explanation.by_frame[column]).tolist()
    expected = naive.moments(by_frame, shares, width=29, n=4)
    found = find_moments(explanation, 4)
    assert [moment.frames for moment in found] == [(start, start + 29) for start, *_ in expected]
    assert [moment.evidence for moment in found] == pytest.approx([one[1] for one in expected])
    names = [tuple(explanation.channels[c] for c in one[2]) for one in expected]
    assert [moment.channels for moment in found] == names
    every = naive.moments(by_frame, shares, width=29, n=len(by_frame[0]))
    expected = [one for sign in (1, -1) for one in [m for m in every if sign * m[1] > 0][:1]]
    found = find_moments(explanation, len(by_frame[0]), of_sign=1)
    assert {moment.frames[0] for moment in found} == {start for start, *_ in expected}
    assert len(found) == len(expected) == 2


def test_times_of_equal_moments_have_equal_decimals():
    moments = [Moment((0, 10), (1.7, 1.9), (), 1.0), Moment((10, 20), (1.9, 2.1), (), 1.0)]
    assert [moment.when for moment in moments] == ["1.70 to 1.90 s", "1.90 to 2.10 s"]


@pytest.mark.parametrize(
    ("n", "shown"),
    [(4, "(c0, c1, c2, c3)"), (15, "(c0, c1, c2 and 12 more)")],
)
def test_a_word_names_the_largest_of_many_channels(n, shown):
    channels = tuple(f"c{i}" for i in range(n))
    reason = mvdfq.Reason("pc1", channels, ("low",), (0,), (3,), None, 0.5)
    assert str(reason) == f"+0.5000  pc1 {shown} low at frame 3"


def test_letters_are_shown_at_their_positions(dna):
    out = explain(dna / "m.mvdfq", dna / "some.fa", "--label", 1, "--which", 2)
    first = next(line for line in out.splitlines() if "GC.G" in line)
    assert "position 25" in first
    assert first.startswith("+0.")
    assert "regions, positions from 1, that speak for" in " ".join(out.split())
    out = explain(dna / "m.mvdfq", dna / "some.fa", "--label", 1, "--which", 2, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["start", "end", "letters", "evidence"]
    assert any(int(row["start"]) <= 25 <= int(row["end"]) for row in rows[:2])


def test_proteins_have_letters_and_positions(tmp_path):
    rng, lines = np.random.default_rng(0), []
    for i in range(24):
        letters = "".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 40))
        motif = "HRDLKPEN" if i % 2 else "CPYCGKAF"
        lines.append(f">p{i} {i % 2}\n{letters[:20]}{motif}{letters[20:]}\n")
    path, model = tmp_path / "p.fa", tmp_path / "p.mvdfq"
    path.write_text("".join(lines))
    run("train", path, "--label", 1, "-o", model, "-q")
    out = explain(model, path, "--label", 1, "--which", 2, "--top", 300)
    assert "words, with positions from 1, that speak for" in " ".join(out.split())
    assert re.search(r"^\+0\.\d{4}   *H.*  position 21$", out, re.MULTILINE)
    regions = json.loads(explain(model, path, "--label", 1, "--which", 2, "--format", "json"))
    assert "HRDL" in regions["regions"][0]["text"]
    assert re.search(r"\[[A-Z]{2,}\]", out)  # the row of similar residues
    assert "frame" not in out


def test_a_group_of_letters_is_one_letter():
    rng = np.random.default_rng(0)
    X = [
        "".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 30)) + "HLVK" * (i % 2) for i in range(20)
    ]
    explanation = mvdfq.SequenceClassifier().fit(X, [i % 2 for i in range(20)]).explain(X[1])
    patterns = find_patterns(explanation, 200)
    assert any("[" in pattern.text and "." in pattern.text for pattern in patterns)
    for pattern in patterns:
        assert pattern.length == len(re.sub(r"\[\w{2,}?\]", "x", pattern.text))


def test_the_other_strand_has_positions_of_the_given_strand(dna):
    data = mvdfq.io.read(dna / "some.fa", label=1)
    reversed_ = dna / "reversed.fa"
    reversed_.write_text(f">r\n{mvdfq.io.reverse_complement(data.X[1])}\n")
    out = explain(dna / "both.mvdfq", reversed_, "--top", 20)
    line = next(line for line in out.splitlines() if " GC.G " in line)
    # the motif of letters 25 to 28 of 60 is on letters 33 to 36 of the reverse complement
    assert "position 33 of the reverse strand" in line


def test_patterns_sum_over_layouts_and_positions(dna):
    explanation = mvdfq.load(dna / "m.mvdfq").explain(mvdfq.io.read(dna / "some.fa").X[1])
    column, sign = explanation.column()
    patterns = find_patterns(explanation, 10**6)
    total = sign * explanation.by_time[column].sum()
    assert sum(one.evidence for one in patterns) == pytest.approx(total)
    x = mvdfq.io.read(dna / "some.fa").X[1]
    for one in patterns:
        for place in one.positions:
            piece = x[place : place + len(one.text)]
            shown = zip(piece, one.text, strict=True)
            assert "".join("." if p == "." else letter for letter, p in shown) == one.text


@pytest.mark.parametrize(("which", "name"), [("1", "d0"), ("8", "d7"), ("d7", "d7"), ("40", "d39")])
def test_sequences_count_from_one_or_have_a_name(dna, which, name):
    arguments = [dna / "m.mvdfq", dna / "some.fa", "--label", 1, "--which", which]
    assert explain(*arguments).startswith(f"{name} (sequence {int(name[1:]) + 1} of 40)")
    assert json.loads(explain(*arguments, "--format", "json"))["name"] == name


@pytest.mark.parametrize("which", ["0", "41", "-1", "nobody"])
def test_other_sequences_are_refused(dna, which):
    _, err = run("explain", dna / "m.mvdfq", dna / "some.fa", "--which", which, code=5)
    assert f"--which must be a number from 1 to 40, or a name, got {which}" in err
    assert "hint: " in err
    assert "d0, d1, d2 ..." in err


def test_frames_without_a_rate_and_channels_without_shares(tmp_path):
    X, y = mvdfq.make_autoregressive(20, 2, 40, random_state=0)
    write_npz(tmp_path / "made.npz", X, y)
    model = tmp_path / "m.mvdfq"
    run("train", tmp_path / "made.npz", "-o", model, "-q", "--preset", "mvdfqm-sssk")
    out = explain(model, tmp_path / "made.npz")
    assert "frames, counted from 0, that speak for" in out
    assert "frames " in out
    facts = json.loads(explain(model, tmp_path / "made.npz", "--format", "json"))
    assert facts["moments"][0]["seconds"] is None
    first, last = (facts["moments"][0][key] for key in ("first_frame", "last_frame"))
    assert 0 <= first < last < 40


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A model of three classes whose events stand at frames 30 to 45, and its sequences."""
    folder, rng = tmp_path_factory.mktemp("planted"), np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 3, 80))
    X[y == 1, 1, 30:45] += 4
    X[y == 2, 2, 30:45] -= 4
    X = mvdfq.check_sequences(X, sampling_rate=10, channel_names=["a", "b", "c"])
    write_npz(folder / "made.npz", X, np.array(["none", "up", "down"])[y])
    run("train", folder / "made.npz", "-o", folder / "m.mvdfq", "-q", "--preset", "fast")
    return folder


def test_a_moment_says_what_its_channels_do(planted):
    out = explain(planted / "m.mvdfq", planted / "made.npz", "--which", 2)
    assert out.splitlines()[1].startswith("up, ")
    first = out.split("moments that speak for up\n")[1].splitlines()[1]
    assert re.search(r"[2-4]\.\d to [2-5]\.\d s  b (very )?high", first)
    assert "pc" not in out
    assert "next is " in out


def test_another_class_and_two_classes(planted):
    mine = [planted / "m.mvdfq", planted / "made.npz", "--which", 2]
    out = explain(*mine, "--class", "none")
    assert re.match(r"none, \d+ % \(predicted: up\)\. An average other", out.splitlines()[1])
    assert "next is up, " in out
    facts = json.loads(explain(*mine, "--against", "none", "--format", "json"))
    assert (facts["class"], facts["against"]) == ("up", "none")
    clf, x = mvdfq.load(planted / "m.mvdfq"), mvdfq.io.read(planted / "made.npz").X[[1]]
    both = clf.explain(x).between("up", "none")
    assert facts["decision_value"] == pytest.approx(both.margins[0])
    assert facts["moments"][0]["evidence"] > 0
    text = explain(*mine, "--against", "none")
    assert "A sequence halfway between both classes gets" in text
    # the evidence of the runner-up has the sign of the runner-up
    turned = json.loads(explain(*mine, "--class", "none", "--against", "up", "--format", "json"))
    assert turned["decision_value"] == pytest.approx(-facts["decision_value"])
    for arguments in (["--class", "x"], ["--against", "up"], ["--against", "x"]):
        run("explain", *mine, *arguments, code=5)


def test_numbers_of_moments_add_up(planted):
    mine = [planted / "m.mvdfq", planted / "made.npz", "--which", 2]
    rows = list(csv.DictReader(io.StringIO(explain(*mine, "--format", "csv"))))
    assert list(rows[0]) == ["start", "end", "channel", "evidence"]
    facts = json.loads(explain(*mine, "--format", "json"))
    first = [float(row["evidence"]) for row in rows if row["start"] == rows[0]["start"]]
    assert sum(first) == pytest.approx(facts["moments"][0]["evidence"], abs=1e-6)
    assert [row["channel"] for row in rows[:3]] == ["a", "b", "c"]
    assert float(rows[0]["end"]) > float(rows[0]["start"])
