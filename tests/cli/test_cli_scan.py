"""Events in long recordings: windows to learn from, and the times of what is heard."""

import csv
import io
import itertools
import json

import numpy as np
import pytest
import soundfile

from commands import run

RATE = 8000
DOGS = (31.0, 98.5, 170.0, 262.25)


def sound(kind, seconds, rng):
    """Sounds that differ as real ones do: barks, rain, an engine, birds."""
    t = np.arange(int(seconds * RATE)) / RATE
    noise = rng.normal(size=len(t))
    if kind == "dog":  # bursts of a falling tone with a rough edge
        phase = (t * rng.uniform(2.5, 3.5)) % 1
        pitch = rng.uniform(400, 600) * (1.3 - phase)
        tone = sum(np.sin(2 * np.pi * k * np.cumsum(pitch) / RATE) / k for k in (1, 2, 3, 4))
        return (phase < 0.45) * np.exp(-4 * phase) * (tone + 0.3 * noise) * 0.4 + 0.003 * noise
    if kind == "rain":
        return 0.1 * noise * rng.uniform(0.5, 1)
    if kind == "engine":
        pitch = rng.uniform(60, 90)
        return 0.2 * np.sign(np.sin(2 * np.pi * pitch * t)) + 0.02 * noise
    pitch = 2500 + 600 * np.sin(2 * np.pi * rng.uniform(4, 7) * t)
    return 0.2 * np.sin(2 * np.pi * np.cumsum(pitch) / RATE) + 0.003 * noise


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of four sounds, trained on windows of two seconds of longer recordings."""
    folder, rng = tmp_path_factory.mktemp("sounds"), np.random.default_rng(0)
    for kind in ("dog", "rain", "engine", "bird"):
        (folder / kind).mkdir()
        for i in range(6):
            soundfile.write(folder / kind / f"{i}.wav", sound(kind, 6, rng), RATE)
    path = folder.parent / "garden.mvdfq"
    out, err = run("train", folder, "-o", path, "--recipe", "telephone", "--preset", "fast",
                   "--windows", "2s", "--step", "1s", "--format", "json")  # fmt: skip
    assert json.loads(out)["sequences"] == 6 * 4 * 4
    assert "cut 24 recordings into 96 windows of 200 frames, 100 apart" in err
    assert "hold 24 groups apart" in err
    return path


@pytest.fixture(scope="module")
def garden(tmp_path_factory):
    """Five minutes of rain, engines and birds, with two seconds of a dog, four times."""
    rng = np.random.default_rng(1)
    parts = [sound(("rain", "engine", "bird")[k % 3], 20, rng) for k in range(15)]
    whole = np.concatenate(parts)
    for start in DOGS:
        a = int(start * RATE)
        whole[a : a + 2 * RATE] = sound("dog", 2, rng)
    path = tmp_path_factory.mktemp("long") / "garden.wav"
    soundfile.write(path, whole, RATE)
    return path


def dogs_of(rows):
    return [(float(row["start"]), float(row["end"])) for row in rows if row["label"] == "dog"]


@pytest.mark.slow
def test_four_dogs_in_five_minutes(model, garden):
    out, _ = run("scan", model, garden, "--window", "2s", "--step", "0.5s", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    found = dogs_of(rows)
    assert len(found) == 4
    for (start, end), true in zip(found, DOGS, strict=True):
        assert abs((start + end) / 2 - (true + 1)) < 0.8
        assert 0.5 < end - start < 3.5
    assert rows[0]["start"] == "0.0"
    assert rows[-1]["end"] == "299.98"  # frames of 25 ms every 10 ms
    pairs = itertools.pairwise(rows)
    assert all(float(a["end"]) <= float(b["start"]) for a, b in pairs)


@pytest.mark.slow
def test_formats_of_events(model, garden, tmp_path):
    about = (model, garden, "--window", "2s", "--step", "1s")
    (found,) = json.loads(run("scan", *about, "--unknown", "--format", "json")[0])
    assert found["window"] == 2
    assert len(found["windows"]) == 298
    assert all(0 <= row["typicality"] <= 1 for row in found["windows"])
    track, _ = run("scan", *about, "--format", "audacity", "--picture", tmp_path / "events.html")
    lines = [line.split("\t") for line in track.splitlines()]
    assert [line[2] for line in lines].count("dog") == 4
    assert all(float(a) < float(b) for a, b, _ in lines)
    page = (tmp_path / "events.html").read_text()
    assert page.count("<rect") == len(lines)
    assert "garden.wav" in page
    assert "sound.currentTime" in page
    run("scan", *about, "--picture", tmp_path / "events.svg")
    assert (tmp_path / "events.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("words", "code", "options"),
    [
        ("must be a number of frames, or a duration", 5, ("--window", "5 apples")),
        ("must be at least one frame", 5, ("--step", "0s")),
        ("a.png must end in .svg or .html", 2, ("--picture", "a.png")),
        ("--picture shows one recording", 2, ("b.wav", "--picture", "a.svg")),
        ("the labels of one recording", 2, ("b.wav", "--format", "audacity")),
    ],
)
def test_wrong_options_of_a_scan(model, garden, words, code, options):
    _, err = run("scan", model, garden, *options, code=code)
    assert words in err


def test_step_needs_windows(garden):
    _, err = run("evaluate", garden.parent, "--step", "1s", code=2)
    assert "--step needs --windows" in err


def test_activities_of_users_in_one_table(tmp_path):
    """The layout user, activity, timestamp, x, y, z: runs of rows, cut into windows."""
    rng, lines, t = np.random.default_rng(0), ["user,activity,timestamp,x,y,z"], 49_105_962_326_000
    for user in (33, 17, 20, 8):
        for activity in ("Jogging", "Walking", "Jogging", "Sitting"):
            wide = {"Jogging": 3, "Walking": 1, "Sitting": 0.1}[activity]
            for row in wide * rng.normal(size=(200, 3)):
                t += 50_000_000
                lines.append(f"{user},{activity},{t},{row[0]:.3f},{row[1]:.3f},{row[2]:.3f}")
    path = tmp_path / "activities.csv"
    path.write_text("\n".join(lines))
    about = ("evaluate", path, "--preset", "fast", "--windows", "5s", "--step", "2.5s")
    out, err = run(*about, "--time", "timestamp:ns", "--format", "json")
    found = json.loads(out)
    assert found["protocol"] == "group"
    assert found["n"] == 16 * 3  # windows of 100 rows, 50 apart, in runs of 200 rows
    assert found["accuracy"] > 0.95
    assert "a sequence: a run of rows with one label" in err
    _, err = run(*about, code=5)  # nothing says what a step of the times is
    assert "--time NAME:ms says the unit of the times" in err


def test_a_model_of_both_strands_does_not_scan(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f">s{i} {i % 2}\n{''.join(rng.choice(list('ACGT'), 40))}" for i in range(12)]
    data, model = tmp_path / "dna.fasta", tmp_path / "both.mvdfq"
    data.write_text("\n".join(lines))
    run("train", data, "-o", model, "-q", "--label", "1", "--strands", "both")
    _, err = run("scan", model, data, "--window", "10", code=5)
    assert "scan reads one strand, and the model was trained on both strands" in err
