"""Sound files: features equal to librosa's, every container, every fault named, little memory."""

import json
import os
import pathlib
import pickle
import subprocess
import sys
import warnings
from dataclasses import asdict, replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.signal
from numpy.testing import assert_allclose, assert_array_equal

from mvdfq import SequenceClassifier
from mvdfq.io import list_parts, read
from mvdfq.io.labelling import Elsewhere
from mvdfq.io.sound import audio, decoding, spectral
from mvdfq.io.sound.audio import audio_features
from mvdfq.io.sound.decoding import holds_sound, resampled
from mvdfq.io.sound.feature_cache import FeatureCache
from mvdfq.io.sound.recipes import AUDIO_RECIPES, AudioRecipe, audio_recipe
from mvdfq.io.source import Glimpse, ReadError, Source

soundfile = pytest.importorskip("soundfile")

RATE = 16000
CONTAINERS = {
    "wav": ("WAV", "PCM_16"),
    "float.wav": ("WAV", "FLOAT"),
    "ulaw.wav": ("WAV", "ULAW"),
    "flac": ("FLAC", "PCM_16"),
    "au": ("AU", "PCM_16"),
    "ogg": ("OGG", "VORBIS"),
    "opus": ("OGG", "OPUS"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
}
LOSSLESS = ["wav", "float.wav", "flac", "au"]


def read_audio(path, recipe=None, *, skip_bad=False, progress=None, **options):
    files = path if isinstance(path, list) else []
    source = Source(pathlib.Path([*files, path][0]), skip_bad, progress, files=files)
    return audio.read(source, recipe, **options)


def tone(hertz=440, seconds=0.5, rate=RATE):
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * rate)) / rate)


def noise(seconds=0.5, rate=RATE, seed=0):
    return 0.1 * np.random.default_rng(seed).normal(size=int(seconds * rate)).astype(np.float32)


def write(path, samples=None, rate=RATE, **how):
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, noise() if samples is None else samples, rate, **how)
    return path


@pytest.fixture
def classes(tmp_path):
    """Two classes of two speakers each."""
    for name in ["high/anna_1.wav", "high/ben_1.wav", "low/anna_2.wav", "low/ben_2.wav"]:
        hertz = 1500 if name.startswith("high") else 200
        write(tmp_path / name, tone(hertz) + noise(seed=len(name)))
    return tmp_path


# --- features ---------------------------------------------------------------------------------

SIGNALS = {
    "noise": noise(1.0),
    "silence": np.zeros(RATE, dtype=np.float32),
    "tone": (tone(seconds=1.0) + 0.01 * noise(1.0)).astype(np.float32),
    # In single precision a pure tone leaves bands whose energy is the rounding itself.
    "pure tone": tone(seconds=1.0),
    "chirp": scipy.signal.chirp(np.arange(RATE) / RATE, 50, 1, 7900),
    "loud, then nothing": np.concatenate([noise(0.4), np.zeros(9000, dtype=np.float32)]),
    "short": noise(0.03),
    "double precision": noise(1.0).astype(np.float64),
}
OPTIONS = [
    {},
    {"n_mfcc": 20, "n_fft": 1024, "hop_length": 160, "win_length": 400, "window": "hamming"},
    {"n_fft": 512, "win_length": 401, "n_mels": 40, "htk": True, "mel_norm": None},
    {"center": False, "n_fft": 400, "hop_length": 300, "n_mels": 30},
    {"n_fft": 256, "hop_length": 400, "n_mels": 20},
    {"window": ("kaiser", 4.0), "n_mels": 40},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("signal", SIGNALS)
def test_mfcc_are_those_of_librosa(signal, options):
    librosa = pytest.importorskip("librosa")
    y = SIGNALS[signal]
    options = {"n_mfcc": 13} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # n_fft is longer than the short signal
        expected = librosa.feature.mfcc(y=y, sr=RATE, **options)
    ours = AudioRecipe(sr=RATE, **options).features([y])
    assert ours.dtype == expected.dtype == y.dtype
    # What rounding leaves of two orders of summation; librosa's bands are always float32.
    precision = 1e-5 if y.dtype == np.float32 else 1e-7
    assert_allclose(ours, expected, rtol=0, atol=precision * np.abs(expected).max())


@pytest.mark.parametrize(("htk", "mel_norm"), [(True, None), (False, "slaney"), (False, None)])
def test_mel_bands_are_those_of_librosa(htk, mel_norm):
    filters = pytest.importorskip("librosa").filters
    expected = filters.mel(sr=RATE, n_fft=1024, n_mels=40, htk=htk, norm=mel_norm, dtype=float)
    ours = spectral.mel_triangles(RATE, 1024, 40, htk, mel_norm, np.dtype(float))
    assert_allclose(ours.T, expected, atol=1e-12)


def naive_gtzan(y):
    """The recipe of the GTZAN features as its README has it, a frame at a time."""
    window = scipy.signal.get_window("hamming", 551)
    edges = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + 11025 / 700), 42) / 2595) - 1)
    hertz = np.arange(513) * 22050 / 1024
    mel = [np.interp(hertz, edges[i : i + 3], [0, 1, 0]) for i in range(40)]
    coefficients, bands = [], []
    for start in range(0, len(y) - 551 + 1, 276):
        power = np.abs(np.fft.rfft(y[start : start + 551] * window, 1024)) ** 2
        logs = np.log(np.array(mel) @ power + 1e-8)
        coefficients.append(scipy.fft.dct(logs, norm="ortho")[:13])
        bands.append([np.log(power[1 + 8 * i : 9 + 8 * i].mean() + 1e-8) for i in range(64)])
    return np.array(coefficients).T, np.array(bands).T


def test_gtzan_recipe_is_the_one_written_down():
    y = noise(2.0, 22050).astype(np.float64)
    coefficients, bands = naive_gtzan(y)
    rows = replace(AUDIO_RECIPES["gtzan"], fft64=True).features([y])
    assert rows.shape == (77, 1 + (len(y) - 551) // 276)
    assert_allclose(rows, np.concatenate([coefficients, bands]), atol=1e-9)


def test_frames_of_a_gtzan_clip_are_as_many_as_in_the_set():
    # The clips of 661794 samples have 2396 frames there, the longest (675808) has 2447.
    for n_samples, n_frames in [(661794, 2396), (675808, 2447)]:
        assert AUDIO_RECIPES["gtzan"].features([np.ones(n_samples, "f4")]).shape[1] == n_frames


def test_librosa_recipe_is_librosas_default():
    librosa = pytest.importorskip("librosa")
    y = noise(1.0, 22050)
    expected = librosa.feature.mfcc(y=y, n_mfcc=13)
    assert_allclose(AUDIO_RECIPES["librosa"].features([y]), expected, atol=1e-3)


def test_delta_rows_are_slopes_of_the_coefficients():
    rows = replace(AUDIO_RECIPES["default"], delta=True, fft64=True).features([noise()])
    assert len(rows) == 13 + 13 + 64
    assert_allclose(rows[13:26], np.gradient(rows[:13], axis=1), atol=1e-6)
    one_frame = replace(AUDIO_RECIPES["default"], delta=True).features([noise()[:400]])
    assert_array_equal(one_frame[13:], np.zeros((13, 1)))


@pytest.mark.parametrize("name", AUDIO_RECIPES)
@pytest.mark.parametrize("size", [1, 777, 30000])
def test_blocks_give_the_bits_of_the_whole(name, size):
    recipe = replace(AUDIO_RECIPES[name], fft64=True)
    y = noise(0.2 if size == 1 else 6.0)
    blocks = [y[i : i + size] for i in range(0, len(y), size)]
    assert_array_equal(recipe.features(blocks), recipe.features([y]))


@pytest.mark.parametrize("hop", [100, 1000])
def test_hops_longer_than_a_frame_keep_their_places(hop):
    recipe = AudioRecipe(sr=RATE, n_fft=256, hop_length=hop, center="snip", n_mels=20, top_db=None)
    y = noise(20)
    cut = 256 * hop - 10  # between the last sample of 256 frames and the first of the next
    rows = recipe.features([y[:cut], y[cut:]])
    last = rows.shape[1] - 1
    assert last == (len(y) - 256) // hop
    alone = recipe.features([y[last * hop : last * hop + 256]])
    assert_allclose(rows[:, -1:], alone, atol=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sr": 0}, "sr must be positive, got 0"),
        ({"n_mfcc": 129}, "n_mfcc must be from 1 to n_mels=128, got 129"),
        ({"win_length": 4096}, "win_length must be from 1 to n_fft=2048"),
        ({"center": "middle"}, "center must be one of .* got 'middle'"),
        ({"log": "log2"}, "log must be one of"),
        ({"fft64": True, "n_fft": 1000}, "n_fft must be a multiple of 128"),
    ],
)
def test_recipe_that_makes_no_sense_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        AudioRecipe(**options)


def test_signal_shorter_than_a_frame_is_refused():
    with pytest.raises(ValueError, match="shorter than a frame"):
        AudioRecipe(center=False).features([noise()[:100]])


def test_empty_mel_bands_are_told():
    with pytest.warns(UserWarning, match="of 80 mel bands are narrower than a bin"):
        AudioRecipe(sr=RATE, n_fft=256, n_mels=80, htk=True).features([noise()])


def test_recipes_have_names_and_keys():
    assert audio_recipe(None) == AUDIO_RECIPES["default"]
    assert audio_recipe("gtzan") == AUDIO_RECIPES["gtzan"]
    assert audio_recipe("gtzan+fft64+delta").n_rows == 13 + 13 + 64
    with pytest.raises(ValueError, match=r"one of .*'librosa'.* got 'mp3'"):
        audio_recipe("mp3")
    with pytest.raises(ValueError, match=r"got 'gtzan.chroma'"):
        audio_recipe("gtzan+chroma")
    variants = [*AUDIO_RECIPES.values(), AudioRecipe(delta=True), AudioRecipe(window="hamming")]
    assert len({recipe.key for recipe in variants}) == len(variants)
    assert pickle.loads(pickle.dumps(variants[0])).key == variants[0].key
    # A model file holds the recipe as JSON, which knows no tuples.
    kaiser = AudioRecipe(window=("kaiser", 4.0))
    again = AudioRecipe(**json.loads(json.dumps(asdict(kaiser))))
    assert again == kaiser
    assert_array_equal(again.features([noise()]), kaiser.features([noise()]))
    run = "from mvdfq.io import AudioRecipe; print(AudioRecipe(delta=True).key)"
    assert python(run).strip() == AudioRecipe(delta=True).key  # the same in another process


# --- decoding ---------------------------------------------------------------------------------


def python(code, **more):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, **more).stdout


@pytest.mark.parametrize(
    ("rate", "wanted"),
    [(8000, 16000), (44100, 22050), (48000, 22050), (22050, 16000), (9999, 8000)],
)
@pytest.mark.parametrize("size", [1000, 10**6])
def test_resampled_blocks_are_the_whole_signal_resampled(rate, wanted, size, monkeypatch):
    monkeypatch.setattr(decoding, "BLOCK", 2**15)  # pieces short enough that there are many
    y = noise(3.0, rate)[:-5]
    blocks = [y[i : i + size] for i in range(0, len(y), size)]
    ours = np.concatenate([*resampled(blocks, rate, wanted)])
    divisor = np.gcd(rate, wanted)
    expected = scipy.signal.resample_poly(y, wanted // divisor, rate // divisor)
    assert len(ours) == len(expected)
    assert_allclose(ours, expected, atol=1e-7)


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_is_read(tmp_path, container):
    kind, subtype = CONTAINERS[container]
    y = tone(440) + noise()
    file = write(tmp_path / f"a.{container}", y, format=kind, subtype=subtype)
    assert holds_sound(Glimpse(file))
    ours = np.median(audio_features(file), axis=1)
    other = np.median(AUDIO_RECIPES["default"].features([noise(seed=1)]), axis=1)
    expected = np.median(AUDIO_RECIPES["default"].features([y.astype(np.float32)]), axis=1)
    # A codec changes a sound, but far less than to another one.
    assert np.linalg.norm(ours - expected) < 0.3 * np.linalg.norm(other - expected)


@pytest.mark.parametrize("container", LOSSLESS)
def test_lossless_containers_hold_the_same_sound(tmp_path, container):
    kind, subtype = CONTAINERS[container]
    y = np.round(noise() * 2**15) / 2**15
    file = write(tmp_path / "a", y, format=kind, subtype=subtype)
    assert_array_equal(audio_features(file), AUDIO_RECIPES["default"].features([y.astype("f4")]))


def test_wav_of_unknown_length_is_read(tmp_path):
    file = write(tmp_path / "piped.wav")
    expected = audio_features(file)
    content = bytearray(file.read_bytes())
    content[4:8] = b"\xff\xff\xff\xff"  # as a program writes that cannot go back
    file.write_bytes(bytes(content))
    assert_array_equal(audio_features(file), expected)


def test_content_decides_not_the_extension(tmp_path):
    y = np.round(noise() * 2**15) / 2**15
    file = write(tmp_path / "song.mp3", y, format="FLAC")
    other = write(tmp_path / "song.raw", y, format="WAV")
    assert_array_equal(audio_features(file), audio_features(other))


def test_channels_are_averaged_and_rates_brought_together(tmp_path):
    left, right = tone(300, rate=48000), noise(rate=48000)
    stereo = write(tmp_path / "a.wav", np.stack([left, right], 1), 48000, subtype="FLOAT")
    mono = ((left.astype("f4") + right) / 2).astype("f4")
    expected = AUDIO_RECIPES["default"].features(
        [scipy.signal.resample_poly(mono, 1, 3).astype("f4")]
    )
    assert_allclose(audio_features(stereo), expected, atol=1e-3)


def test_memory_does_not_grow_with_the_recording(tmp_path):
    # An hour of 8000 samples a second is 115 MB once decoded.
    with soundfile.SoundFile(tmp_path / "hour.wav", "w", 8000, 1, "ULAW") as file:
        for seed in range(60):
            file.write(noise(60, 8000, seed=seed))
    code = """if True:
        import sys, tracemalloc
        from dataclasses import replace
        from mvdfq.io.sound.audio import audio_features
        from mvdfq.io.sound.recipes import AUDIO_RECIPES
        recipe = replace(AUDIO_RECIPES["telephone"], sr=4000, n_mels=20)
        audio_features(sys.argv[1] + "/short.wav", recipe)  # imports count for nothing
        tracemalloc.start()
        rows = audio_features(sys.argv[1] + "/hour.wav", recipe)
        print(rows.shape[1], tracemalloc.get_traced_memory()[1] - 2 * rows.nbytes)
    """
    write(tmp_path / "short.wav", rate=8000)
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    n_frames, working_memory = map(int, done.stdout.split())
    assert n_frames == 1 + (3600 * 4000 - 200) // 80
    assert working_memory < 8e6  # beside the features, once in parts and once whole


# --- folders ----------------------------------------------------------------------------------


def test_folder_of_classes(classes):
    data = read(classes, group_pattern=r"^([a-z]+)_")
    assert data.names == ["high/anna_1.wav", "high/ben_1.wav", "low/anna_2.wav", "low/ben_2.wav"]
    assert data.y.tolist() == ["high", "high", "low", "low"]
    assert data.groups.tolist() == ["anna", "ben", "anna", "ben"]
    assert data.X.channel_names[:2] == ("mfcc 0", "mfcc 1")
    assert data.X.sampling_rate == 100
    assert data.X.data.dtype == np.float32
    for i, name in enumerate(data.names):
        assert_array_equal(data.X[i], audio_features(classes / name))
    assert SequenceClassifier(C=1).fit(data.X, data.y).predict(data.X).tolist() == data.y.tolist()


@pytest.mark.parametrize(
    ("pattern", "groups"),
    [
        ("_(.)", ["1", "1", "2", "2"]),
        ("(?P<other>.)_(?P<group>.)", ["1", "1", "2", "2"]),
        ("([a-z]+)", ["anna", "ben", "anna", "ben"]),
        ("([a-z]+)/", ["high", "high", "low", "low"]),  # a slash: folders are searched as well
    ],
)
def test_group_patterns(classes, pattern, groups):
    assert read(classes, group_pattern=pattern).groups.tolist() == groups


def test_group_pattern_that_does_not_match(classes):
    write(classes / "low" / "nobody.wav")
    with pytest.raises(
        ReadError, match=r"nobody.wav: group_pattern '_\(.\)' finds no group in this"
    ):
        read(classes, group_pattern="_(.)")
    with pytest.raises(ReadError, match=r"anna_1.wav: group_pattern .* finds no group"):
        read(classes, group_pattern="n(x)?")  # it matches, but without the group
    data = read(classes, group_pattern="_(.)", skip_bad=True)
    assert len(data) == len(data.groups) == len(data.y) == 4
    assert len(data.skipped) == 1


@pytest.mark.parametrize(
    ("pattern", "message"),
    [("(", "is not a regular expression"), (r"_\d_", r"'_\\d_' has no group")],
)
def test_group_pattern_that_makes_no_sense(classes, pattern, message):
    with pytest.raises(ValueError, match=message):
        read(classes, group_pattern=pattern)


@pytest.mark.usefixtures("two_blas_threads")
def test_processes_give_the_same_and_tell_how_far_they_are(classes):
    told = []
    one = read_audio(classes)
    two = read_audio(classes, n_jobs=2, progress=lambda *done: told.append(done))
    assert_array_equal(one.X.data, two.X.data)
    assert one.names == two.names
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_files_without_labels(classes):
    files = [classes / "low" / "ben_2.wav", str(classes / "high" / "anna_1.wav")]
    data = read_audio(files)
    assert data.y is None
    assert data.groups is None
    assert data.names == [str(file) for file in files]
    single = read_audio(files[0])
    assert_array_equal(single.X[0], data.X[0])
    flat = read_audio(classes / "low")
    assert flat.names == ["anna_2.wav", "ben_2.wav"]
    assert flat.y is None


def test_hidden_files_and_notes_are_passed_over(classes):
    (classes / ".DS_Store").write_bytes(b"x")
    (classes / "low" / "._anna_2.wav").write_bytes(b"x")
    (classes / ".git").mkdir()
    (classes / "README.txt").write_text("Our recordings.")
    (classes / "low" / "cover.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(99))
    (classes / "low" / "disc").mkdir()
    (classes / "low" / "disc" / "low.cue").write_text('FILE "low.wav" WAVE')
    (classes / "scans").mkdir()
    (classes / "scans" / "front.png").write_bytes(b"\x89PNG")
    data = read_audio(classes)
    assert len(data) == 4
    assert data.remarks == (
        "passed over 4 files that are not sound: README.txt, low/cover.jpg, low/disc/low.cue, "
        "scans/front.png",
    )
    assert sorted(set(data.y)) == ["high", "low"]


def test_a_folder_of_pictures_is_not_a_class(tmp_path):
    for name in ("one.wav", "two.wav"):
        write(tmp_path / name)
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "front.jpg").write_bytes(b"\xff\xd8")
    data = read_audio(tmp_path)
    assert (data.names, data.y) == (["one.wav", "two.wav"], None)
    assert data.remarks == ("passed over 1 file that is not sound: scans/front.jpg",)


@pytest.mark.parametrize("name", ["song.mp3", "song.M4A", "song.flac", "song.wav"])
def test_what_is_called_sound_is_not_passed_over(classes, name):
    (classes / "low" / name).write_bytes(b"not sound at all, but so called")
    with pytest.raises(ReadError, match=rf"{name}: is damaged or not sound"):
        read_audio(classes)


def test_class_of_one_file_warns(classes):
    write(classes / "alone" / "a.wav")
    with pytest.warns(UserWarning, match="Class 'alone' has only one file"):
        assert len(read_audio(classes)) == 5


def test_files_deeper_in_a_class(classes):
    write(classes / "low" / "album" / "c_3.wav")
    data = read_audio(classes)
    assert data.names[2:] == ["low/album/c_3.wav", "low/anna_2.wav", "low/ben_2.wav"]
    assert data.y.tolist() == ["high"] * 2 + ["low"] * 3


# --- faults -----------------------------------------------------------------------------------


def truncated(path, container="flac", share=0.5):
    kind, subtype = CONTAINERS[container]
    content = write(path, noise(2), format=kind, subtype=subtype).read_bytes()
    path.write_bytes(content[: int(share * len(content))])


def with_nan(path):
    y = noise()
    y[777] = np.nan
    write(path, y, format="WAV", subtype="FLOAT")


def no_link(path):
    path.symlink_to(path.parent / "nothing.wav")


FAULTS = {
    "empty": (lambda path: path.write_bytes(b""), r"is empty \(0 bytes\)"),
    "text": (lambda path: path.write_text("Not sound at all." * 99), "is damaged or not sound"),
    "header alone": (lambda path: truncated(path, share=0.002), "is damaged or not sound"),
    "half a file": (truncated, "is damaged or not sound"),
    "half a wav": (lambda path: truncated(path, "wav"), "ends after 32022 of 64044 bytes"),
    "no samples": (lambda path: write(path, noise(0)), "is too short: 0 s"),
    "short": (lambda path: write(path, noise(0.02)), "too short: 0.02 s, a window takes 0.025 s"),
    "silent": (lambda path: write(path, np.zeros(9999)), "is silent"),
    "silent mp3": (lambda path: write(path, np.zeros(9999), format="MP3"), "is silent"),
    "cancelled": (lambda path: write(path, np.outer(tone(), [1, -1])), "is silent"),
    "not finite": (with_nan, "sample 777 is not a finite number"),
    "rate": (lambda path: write(path, rate=500), "500 samples per second"),
    "dead link": (no_link, "cannot be opened .No such file"),
    "link to itself": (lambda path: path.symlink_to(path), "cannot be opened"),
    "pipe": (os.mkfifo, "is not a regular file"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_file_is_named_or_skipped(classes, fault):
    make, message = FAULTS[fault]
    make(classes / "low" / "b_bad.wav")
    with pytest.raises(ReadError, match=rf"low.b_bad\.wav: .*{message}.*; \w") as caught:
        read_audio(classes)
    assert caught.value.hint
    data = read_audio(classes, skip_bad=True, cache=classes / ".cache")
    assert len(data) == len(data.y) == len(data.names) == 4
    assert [error.path for error in data.skipped] == [str(classes / "low" / "b_bad.wav")]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_first_fault_in_name_order_is_raised(classes, n_jobs):
    for name in ["low/c.wav", "low/b.wav", "low/z.wav"]:
        (classes / name).write_bytes(b"")
    with pytest.raises(ReadError, match=r"low.b\.wav"):
        read_audio(classes, n_jobs=n_jobs)
    skipped = read_audio(classes, n_jobs=n_jobs, skip_bad=True).skipped
    assert [error.path[-5:] for error in skipped] == ["b.wav", "c.wav", "z.wav"]


def test_recording_longer_than_allowed(classes, monkeypatch):
    recipe = replace(AUDIO_RECIPES["default"], max_duration=1.0)
    write(classes / "low" / "long.wav", noise(1.1))
    with monkeypatch.context() as patched:
        patched.setattr(decoding, "_samples", lambda *_: pytest.fail("it was decoded"))
        with pytest.raises(ReadError, match=r"long.wav: lasts more than 1 seconds; .*max_durat"):
            audio_features(classes / "low" / "long.wav", recipe)
    # also where the header does not tell
    stream = SimpleNamespace(samplerate=RATE, channels=1, read=lambda *_, **__: noise()[:, None])
    with pytest.raises(ReadError, match="lasts more than 1 seconds"):
        [*decoding._samples(stream, "stream", recipe)]


def test_file_that_may_not_be_read(classes, monkeypatch):
    def refuse(file):
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(decoding, "FileIO", refuse)  # root may read everything
    with pytest.raises(ReadError, match=r"anna_1.wav: cannot be opened .Permission denied.; check"):
        read_audio(classes)


def test_path_that_is_not_there(tmp_path):
    with pytest.raises(ReadError, match=r"nothing: cannot be opened .No such file.*; check"):
        read_audio(tmp_path / "nothing")
    with pytest.raises(ReadError, match="cannot be opened"):
        read_audio(str(tmp_path / "a\0b"))


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux alone")
def test_name_that_is_not_utf8(classes):
    os.rename(os.fsencode(classes / "low/ben_2.wav"), os.fsencode(classes) + b"/low/b\xe9n.wav")
    with pytest.raises(ReadError, match=r"low/b.*n\.wav: the name is not valid UTF-8") as caught:
        read_audio(classes)
    str(caught.value).encode()  # it can be printed
    assert len(read_audio(classes / "high", skip_bad=True)) == 2


def test_link_in_a_circle_is_not_followed(classes):
    (classes / "low" / "again").symlink_to(classes / "low")
    (classes / "low" / "root").symlink_to(classes)
    assert len(read_audio(classes)) == 4


OUT = "is a link that leads out of the folder; copy into the folder what the link leads to"


@pytest.mark.parametrize("place", ["low/more", "more", "low/c.wav", "c.wav"])
def test_links_that_lead_out_of_the_folder_are_not_followed(classes, tmp_path_factory, place):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write(elsewhere / "c.wav")
    is_file = place.endswith(".wav")
    (classes / place).symlink_to(elsewhere / "c.wav" if is_file else elsewhere)
    with pytest.raises(ReadError, match=f"{place}: {OUT}"):
        read_audio(classes)
    data = read_audio(classes, skip_bad=True)
    assert len(data) == 4
    assert len(data.skipped) == 1
    # a link to a file inside, and a link that the user names, are followed
    (classes / place).unlink()
    (classes / "low/inside.wav").symlink_to(classes / "high/ben_1.wav")
    assert len(read_audio(classes)) == 5
    (elsewhere / "all").symlink_to(classes)
    assert len(read_audio(elsewhere / "all")) == 5


def test_links_in_metadata_and_in_other_folders_are_not_followed(classes, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write(elsewhere / "c.wav")
    (elsewhere / "a.csv").write_text("time,x\n0,1\n1,2\n")
    (classes / "low/c.wav").symlink_to(elsewhere / "c.wav")
    (classes / "metadata.csv").write_text("file_name,label\nlow/c.wav,a\nlow/ben_2.wav,b\n")
    with pytest.raises(ReadError, match=r"line 2: expected a file in the folder .*'low/c.wav'"):
        read_audio(classes)
    (elsewhere / "metadata.csv").write_text("file_name,label\nlow/ben_2.wav,b\n")
    (classes / "metadata.csv").unlink()
    (classes / "metadata.csv").symlink_to(elsewhere / "metadata.csv")
    with pytest.raises(ReadError, match=f"metadata.csv: {OUT}"):
        read_audio(classes)
    folder = tmp_path_factory.mktemp("tables")
    (folder / "a.csv").symlink_to(elsewhere / "a.csv")
    for attempt in (read, list_parts, lambda folder: list_parts(folder, "*.csv")):
        with pytest.raises(ReadError, match=f"a.csv: {OUT}"):
            attempt(folder)
    folder = tmp_path_factory.mktemp("pair")
    for part in ("TRAIN", "TEST"):
        text = "@classLabel true a\n@data\n1,2:a\n"
        (elsewhere / f"x_{part}.ts").write_text(text)
        (folder / f"x_{part}.ts").symlink_to(elsewhere / f"x_{part}.ts")
    with pytest.raises(ReadError, match=f"x_TEST.ts: {OUT}"):
        read(folder)


def test_a_folder_that_is_closed_is_an_error(classes, monkeypatch):
    closed = next(path for path in classes.iterdir() if path.is_dir()) / "closed"
    closed.mkdir()
    scandir = os.scandir

    def guarded(path):
        if str(path) == str(closed):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)  # the user root may open every folder
    with pytest.raises(ReadError, match=r"closed: cannot be opened \(Permission denied\)"):
        read(classes)


def test_empty_class_and_file_beside_the_classes(classes):
    (classes / "nothing").mkdir()
    write(classes / "stray.wav")
    with pytest.raises(ReadError, match=r"nothing: is an empty folder; put the files"):
        read_audio(classes)
    problems = [str(error) for error in read_audio(classes, skip_bad=True).skipped]
    assert "stray.wav: lies beside the class folders; move the file" in problems[1]


def test_nothing_that_can_be_read(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing but notes")
    with pytest.raises(ReadError, match="holds no sound files"):
        read_audio(tmp_path)
    (tmp_path / "a.wav").write_bytes(b"")
    with pytest.raises(
        ReadError, match=r"only 0 of \d+ sequences can be read; the first problem: .*a.wav: is emp"
    ):
        read_audio(tmp_path, skip_bad=True)


# --- metadata.csv -----------------------------------------------------------------------------


def table(folder, text, encoding="utf-8"):
    (folder / "metadata.csv").write_text(text, encoding=encoding)


def test_metadata_table(classes):
    lines = ["file_name, label, group", "low/ben_2.wav,deep,x", 'high/anna_1.wav,"shrill, loud",y']
    lines += ["", "low/anna_2.wav,deep,y", 'high/ben_1.wav,"shrill, loud",x', ""]
    table(classes, "\r\n".join(lines), "utf-8-sig")
    data = read_audio(classes)
    assert data.names[:2] == ["low/ben_2.wav", "high/anna_1.wav"]
    assert data.y.tolist() == ["deep", "shrill, loud", "deep", "shrill, loud"]
    assert data.groups.tolist() == ["x", "y", "y", "x"]
    by_name = read(classes, group_pattern="(anna|ben)")  # goes before the column
    assert by_name.groups.tolist() == ["ben", "anna", "anna", "ben"]


@pytest.mark.parametrize("name", ["speaker", "Subject_ID", "participant"])
def test_metadata_names_groups_in_other_words(classes, name):
    rows = "low/ben_2.wav,deep,x\nhigh/anna_1.wav,shrill,y\nlow/anna_2.wav,deep,y\n"
    table(classes, f"file_name,label,{name}\n{rows}high/ben_1.wav,shrill,x\n")
    data = read_audio(classes)
    assert data.groups.tolist() == ["x", "y", "y", "x"]
    assert f"group: column {name!r} of metadata.csv" in data.remarks


def test_metadata_names_files_and_labels_in_other_words(classes):
    table(classes, f"Path;class;who\n{GOOD.replace(',', ';')}")
    data = read_audio(classes)
    assert data.y.tolist() == ["h", "h", "l", "l"]
    told = ["file_name: column 'Path' of metadata.csv", "label: column 'class' of metadata.csv"]
    assert list(data.remarks)[:2] == told
    # labels that come from elsewhere go before; the same table with columns that have any name
    table(classes, f"Path;genre;who\n{GOOD.replace(',', ';')}")
    with pytest.raises(ReadError, match=r"no column 'label'; .* and label=NAME read other"):
        read(classes)
    named = read(classes, labels=classes / "metadata.csv", label="genre", group="who")
    assert named.y.tolist() == ["h", "h", "l", "l"]
    assert named.groups.tolist() == ["a", "b", "a", "b"]


def test_sound_that_the_table_does_not_list_is_told(classes):
    write(classes / "stray.wav")
    (classes / "low/cover.jpg").write_bytes(b"a picture")
    table(classes, "file_name,label\nlow/ben_2.wav,a\n./high/ben_1.wav,a\nlow/anna_2.wav,\n")
    data = read_audio(classes, skip_bad=True)
    assert data.names == ["low/ben_2.wav", "./high/ben_1.wav"]
    told = "passed over 2 sound files that metadata.csv does not list: high/anna_1.wav, stray.wav"
    assert told in data.remarks
    table(classes, f"file_name,label,group\n{GOOD}stray.wav,l,a,more\n")
    assert not any("passed over" in one for one in read_audio(classes, skip_bad=True).remarks)


GOOD = "high/anna_1.wav,h,a\nhigh/ben_1.wav,h,b\nlow/anna_2.wav,l,a\nlow/ben_2.wav,l,b\n"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("low/nobody.wav,l,a", "found 'low/nobody.wav'"),
        ("low,l,a", "found 'low'"),
        ("../secret.wav,l,a", "found '../secret.wav'"),
        ("low/../../secret.wav,l,a", "found 'low/../../secret.wav'"),
        ("/etc/passwd,l,a", "found '/etc/passwd'"),
        ("low/ben_2.wav,l,a", "found 'low/ben_2.wav'"),
        ("low/new.wav,,a", "no label"),
        ("low/new.wav,l", "no group"),
        (",l,a", "no file_name"),
        ("low/new.wav,l,a,b", "4 cells, the header has 3"),
    ],
)
def test_faulty_line_of_the_table_is_numbered(classes, line, problem):
    write(classes / "low" / "new.wav")
    write(classes.parent / "secret.wav")
    table(classes, f"file_name,label,group\n{GOOD}{line}\n")
    with pytest.raises(ReadError, match=f"metadata.csv: line 6: .*{problem}"):
        read_audio(classes)
    data = read_audio(classes, skip_bad=True)
    assert len(data) == len(data.groups) == 4
    assert len(data.skipped) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: there is no column 'file_name'"),
        (
            "id;label\n",
            "line 1: there is no column 'file_name'; found 'id', 'label'",
        ),
        ("file_name,group\n", "line 1: there is no column 'label'"),
        ("file_name,label\n\xe9,l\n", "line 2: expected a file .* found '\xe9'"),
        ("file_name,label\n", "holds no sound files"),
    ],
)
def test_table_that_is_none(classes, text, problem):
    table(classes, text, "latin-1")
    with pytest.raises(ReadError, match=problem):
        read_audio(classes, skip_bad=True)


# --- cache ------------------------------------------------------------------------------------


def entries(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def no_decoding(monkeypatch):
    monkeypatch.setattr(decoding, "decoded_features", lambda *_: pytest.fail("it was decoded"))


def test_cache_knows_content_and_recipe(classes, tmp_path_factory, monkeypatch):
    cache = tmp_path_factory.mktemp("cache") / "new"
    first = read_audio(classes, cache=cache, n_jobs=2)
    assert len(entries(cache)) == 4
    (classes / "low" / "ben_2.wav").rename(classes / "low" / "renamed.wav")
    with monkeypatch.context() as patched:
        no_decoding(patched)
        again = read_audio(classes, cache=cache)
        with pytest.raises(pytest.fail.Exception):
            read_audio(classes, "gtzan", cache=cache)
        write(classes / "low" / "anna_2.wav", noise(seed=99))
        with pytest.raises(pytest.fail.Exception):
            read_audio(classes, cache=cache)
    assert_array_equal(first.X.data, again.X.data)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other"])
def test_damaged_entry_is_made_again(classes, tmp_path, damage):
    cache, file = tmp_path / ".cache", classes / "low" / "ben_2.wav"
    expected = audio_features(file, cache=FeatureCache(cache))
    (entry,) = entries(cache)
    content = entry.read_bytes()
    if damage == "other":  # whole, but of another number of rows
        FeatureCache(cache).store(entry, expected[:3])
    else:
        flipped = bytearray(content)
        flipped[-50] ^= 1
        entry.write_bytes({"cut": content[:-9], "flip": bytes(flipped), "empty": b""}[damage])
    assert_array_equal(audio_features(file, cache=FeatureCache(cache)), expected)
    assert entries(cache) == [entry]  # and nothing else is left there
    assert entry.read_bytes() == content


def test_cache_that_cannot_be_written(classes, monkeypatch):
    (classes / "file.txt").write_text("in the way")
    with pytest.raises(ReadError, match=r"file.txt.cache: the cache folder cannot be created"):
        read_audio(classes, cache=classes / "file.txt" / "cache")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert len(read_audio(classes, cache=classes / ".cache")) == 4
    assert entries(classes / ".cache") == []


# --- what is sound ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "is_audio"),
    [
        (b"RIFF\0\0\0\0WAVEfmt ", True),
        (b"RIFF\0\0\0\0AVI LIST", False),
        (b"ID3\x04\0\0\0\0\0\0\0\0", True),
        (b"\xff\xfb\x90\x64" + bytes(9), True),
        ("text".encode("utf-16"), False),
        (b"\xff\xff\xff\xff" + bytes(9), False),
        (b"\xff\xd8\xff\xe0JFIF" + bytes(9), False),
        (b"@relation x\n", False),
        (b"PK\x03\x04", False),
        (b"\xff", False),
        (b"", False),
    ],
)
def test_first_bytes_tell(tmp_path, content, is_audio):
    (tmp_path / "file").write_bytes(content)
    assert holds_sound(Glimpse(tmp_path / "file")) == is_audio


def test_folders_are_told_by_their_files(classes, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "a.csv").write_text("1,2\n")
    os.mkfifo(other / "pipe")
    assert holds_sound(Glimpse(classes))
    assert not holds_sound(Glimpse(other))
    assert not holds_sound(Glimpse(other / "nothing"))


# --- real recordings --------------------------------------------------------------------------


@pytest.mark.data
def test_six_hundred_spoken_digits(data_folder, tmp_path):
    folder = data_folder / "fsdd_wav"
    assert holds_sound(Glimpse(folder))
    data = read(folder, recipe="telephone", group_pattern=r"_(\w+)_", n_jobs=2, cache=tmp_path)
    assert len(data) == 600
    assert np.unique(data.y).tolist() == list("0123456789")
    assert np.unique(data.groups, return_counts=True)[1].tolist() == [100] * 6
    assert len(set(data.names)) == 600
    assert np.isfinite(data.X.data).all()
    held_out = data.groups == "theo"
    learned, heard = data.take(np.flatnonzero(~held_out)), data.take(np.flatnonzero(held_out))
    score = SequenceClassifier(C=1).fit(learned.X, learned.y).score(heard.X, heard.y)
    assert score > 0.5  # a guess is right one time in ten


@pytest.mark.parametrize("rates", [(8000, 44100), (RATE, RATE)])
def test_classes_that_differ_in_the_rate_of_their_files_are_remarked(tmp_path, rates):
    for label, rate in zip(("old", "new"), rates, strict=True):
        for i in range(2):
            write(tmp_path / label / f"{i}.wav", noise(rate=rate, seed=i), rate)
    facts = audio.facts_of_audio(tmp_path, Elsewhere(), None, None, False, 1)
    said = "classes differ in their files: WAV 44100 Hz, 1 channel in 'new'; WAV 8000 Hz"
    for remarks in (facts["remarks"], audio.read(Source(tmp_path)).remarks):
        assert any(said in remark for remark in remarks) == (rates != (RATE, RATE))
