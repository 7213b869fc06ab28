"""Digital silence and padding: what is read, what is told, and what copies are found."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mvdfq
from commands import run
from mvdfq.io import AUDIO_RECIPES, read
from mvdfq.io.inspection import RUN, facts_of, idle_frames
from mvdfq.io.sound.recipes import audio_recipe
from mvdfq.sequences import Sequences, offsets_of

soundfile = pytest.importorskip("soundfile")

RATE = 16000


def naive_silent(samples, hop, width):
    """Which frames hold zeros alone."""
    starts = range(0, len(samples) - width + 1, hop)
    return [all(value == 0 for value in samples[start : start + width]) for start in starts]


def noise(n, seed=0):
    return 0.1 * np.random.default_rng(seed).normal(size=n).astype(np.float32)


def padded(n, n_zeros, seed=0):
    return np.concatenate([noise(n, seed), np.zeros(n_zeros, np.float32), noise(500, seed + 1)])


@pytest.fixture
def sounds(tmp_path):
    """Two classes of noise; the files of one class are padded with zeros."""
    for i in range(8):
        for kind, n_zeros in (("bell", 8000), ("rain", 0)):
            (tmp_path / kind).mkdir(exist_ok=True)
            samples = np.concatenate([noise(8000, 2 * i + (kind == "rain")), np.zeros(n_zeros)])
            soundfile.write(tmp_path / kind / f"{i}.wav", samples, RATE)
    return tmp_path


@pytest.mark.parametrize("more", [{}, {"delta": True, "fft64": True}])
@pytest.mark.parametrize("n_zeros", [0, 100, 399, 400, 3000])
def test_frames_of_zeros_are_missing_values(n_zeros, more):
    samples = padded(3000, n_zeros)
    kept = replace(AUDIO_RECIPES["default"], silence="keep", **more).features([samples])
    found = replace(AUDIO_RECIPES["default"], silence="missing", **more).features([samples])
    silent = np.array(naive_silent(samples.tolist(), 160, 400))
    assert silent.any() == (n_zeros > 500)
    assert np.isfinite(kept).all()
    assert_array_equal(np.isnan(found[:13]), np.tile(silent, (13, 1)))
    assert_array_equal(found[:13, ~silent], kept[:13, ~silent])
    if more:  # slopes reach one frame into the silence
        beside = silent | np.roll(silent, 1) | np.roll(silent, -1)
        assert_array_equal(np.isnan(found[13:26]).any(axis=0), beside if silent.any() else silent)
        assert_array_equal(np.isnan(found[26:]), np.tile(silent, (64, 1)))


def test_the_default_reads_silence_as_missing_and_other_programs_keep_it():
    found = {name: recipe.silence for name, recipe in AUDIO_RECIPES.items()}
    expected = {"default": "missing", "telephone": "missing", "gtzan": "keep", "librosa": "keep"}
    assert found == expected
    with pytest.raises(ValueError, match="silence must be one of"):
        audio_recipe("default", "drop")


def test_silence_is_told_and_can_be_kept(sounds):
    data = read(sounds)
    share = np.isnan(data.X.data).all(axis=0)
    assert 0.2 < share.mean() < 0.4
    told = [remark for remark in data.remarks if "silence" in remark]
    assert told == [
        "digital silence in classes: 49.0% of 'bell', 0.0% of 'rain'; "
        "silence='missing' reads these frames as missing values"
    ]
    kept = read(sounds, silence="keep")
    assert np.isfinite(kept.X.data).all()
    assert "a classifier may tell classes by the silence" in kept.remarks[0]
    assert not [r for r in read(sounds / "rain").remarks if "silence" in r]


def test_a_pure_tone_is_no_silence(tmp_path):
    tone = 0.3 * np.sin(2 * np.pi * 400 * np.arange(8000) / 8000)  # a period is 20 samples
    soundfile.write(tmp_path / "tone.wav", tone, 8000)
    for silence in ("missing", "keep"):
        data = read(tmp_path / "tone.wav", silence=silence)
        assert idle_frames(data.X).mean() > 0.9
        assert data.remarks == ()


def test_padding_does_not_decide():
    """Dull and bright noise; the dull recordings are padded in training, the bright in the test."""
    rng = np.random.default_rng(0)

    def rows(is_dull, is_padded, silence):
        samples = rng.normal(size=8000)
        samples = np.convolve(samples, np.ones(2))[:8000] if is_dull else samples
        zeros = np.zeros(8000 * is_padded)
        recipe = audio_recipe("default", silence)
        return recipe.features([np.concatenate([samples, zeros]).astype(np.float32)])

    scores = {}
    y = np.tile([True, False], 12)
    for silence in ("keep", "missing"):
        train = [rows(is_dull, is_dull, silence) for is_dull in y]
        test = [rows(is_dull, not is_dull, silence) for is_dull in y]
        scores[silence] = mvdfq.SequenceClassifier("fast").fit(train, y).score(test, y)
    assert scores["keep"] < 0.5
    assert scores["missing"] == 1.0


@pytest.mark.slow
def test_the_program_reads_silence_as_it_was_trained(sounds, tmp_path):
    model = tmp_path / "m.mvdfq"
    run("train", sounds, "-o", model, "--silence", "keep", "--preset", "fast", "-q")
    assert mvdfq.load(model).source_["recipe"]["silence"] == "keep"
    _, err = run("predict", model, sounds)
    assert "silence='missing' would" not in err
    assert "--silence missing would read" in err
    _, err = run("train", sounds, "-o", model, "--silence", "never", code=5)
    assert "silence must be one of" in err


def test_inspect_tells_silence_by_class(sounds):
    out, err = run("inspect", sounds, "--deep")
    assert "classes  sequences  digital silence %" in out
    assert "digital silence in classes: 50.0% of 'bell', 0.0% of 'rain'" in err
    facts = json.loads(run("inspect", sounds, "--deep", "--format", "json")[0])
    assert facts["digital_silence_percent"] == {"bell": 50.0, "rain": 0.0}
    assert "digital_silence_percent" not in json.loads(
        run("inspect", sounds, "--format", "json")[0]
    )


@pytest.mark.parametrize("deep", [True, False])
def test_copies_in_other_containers_and_with_other_labels_are_named(sounds, deep):
    samples, _ = soundfile.read(sounds / "rain/0.wav", dtype="int16")
    soundfile.write(sounds / "rain/copy.flac", samples, RATE)
    soundfile.write(sounds / "bell/stereo.wav", np.stack([samples] * 2, axis=1), RATE)
    soundfile.write(sounds / "rain/slow.wav", samples, RATE // 2)  # another sound
    (sounds / "bell/same.wav").write_bytes((sounds / "rain/1.wav").read_bytes())
    out, _ = run("inspect", sounds, "--format", "json", *(["--deep"] if deep else []))
    lines = [line.replace(f"{sounds}/", "") for line in json.loads(out)["duplicates"]]
    same = "bell/same.wav = rain/1.wav (different labels: bell, rain)"
    copies = "bell/stereo.wav = rain/0.wav = rain/copy.flac (different labels: bell, rain)"
    assert sorted(lines) == ([same, copies] if deep else [same])


def test_copies_of_series_with_other_labels_are_named():
    X = mvdfq.check_sequences([np.arange(9.0)[None], np.arange(9.0)[None], np.ones((1, 4))])
    for y, told in ((["a", "b", "a"], " (different labels: a, b)"), (["a", "a", "b"], "")):
        data = mvdfq.io.Dataset(X, np.array(y), ["p", "q", "r"])
        assert facts_of(data)["duplicates"] == [f"p = q{told}"]


def naive_idle(x):
    """Frames without values, and frames in a run of at least five equal frames."""
    columns = [tuple(column) for column in x.T.tolist()]
    idle = [all(value != value for value in column) for column in columns]
    for start in range(len(columns)):
        stop = start
        while stop < len(columns) and columns[stop] == columns[start]:
            stop += 1
        if stop - start >= 5:
            idle[start:stop] = [True] * (stop - start)
    return idle


def test_idle_frames_against_their_slow_twin():
    assert RUN == 5
    rng = np.random.default_rng(0)
    parts = [
        np.repeat(rng.integers(0, 3, (2, 9)), rng.integers(1, 8, 9), axis=1) for _ in range(20)
    ]
    parts = [part.astype(float) for part in parts]
    for part in parts[::2]:
        part[:, rng.integers(0, part.shape[1], 3)] = np.nan
        part[0, 2] = np.nan
    parts += [parts[0][:, :1], np.zeros((2, 4)), np.zeros((2, 4))]
    X = Sequences(np.concatenate(parts, axis=1), offsets_of(part.shape[1] for part in parts))
    expected = [idle for part in parts for idle in naive_idle(part)]
    assert_array_equal(idle_frames(X), expected)
    letters = mvdfq.check_sequences(["AAAAAAAAA"])
    assert not idle_frames(letters).any()


@pytest.mark.slow
def test_padding_with_zeros_is_told_by_inspect_and_on_the_page():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(2, 40)) for _ in range(12)]
    for x in X[::2]:
        x[:, 25:] = 0
    y = np.array(["a", "b"] * 6)
    facts = facts_of(mvdfq.io.Dataset(mvdfq.check_sequences(X), y, [str(i) for i in range(12)]))
    assert facts["frames without change %"] == {"a": 37.5, "b": 0.0}
    assert "classes differ in frames without any change" in facts["remarks"][0]
    clf = mvdfq.SequenceClassifier("mvdfqm-sssk", C=10)
    health = mvdfq.report(clf, X, y, details=2, protocol="2-fold").data["health"]
    assert health["idle"] == [0.375, 0.0]
    assert health["idle_differs"]
    whole = mvdfq.report(clf, [x[:, :25] for x in X], y, details=2, protocol="2-fold")
    assert not whole.data["health"]["idle_differs"]
