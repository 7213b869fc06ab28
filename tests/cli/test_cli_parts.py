"""Parts of the classifier at the shell: ``--kernel 'gapped(8, 6)'``, help and the tab key."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import mvdfq
from commands import run
from mvdfq.classifier.registry import EXPORTED, NAMED, SpecError, parse
from mvdfq.cli.errors import described
from mvdfq.cli.evaluate import PROTOCOLS
from mvdfq.cli.shared import entry_of
from mvdfq.io import write_npz


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("kernel", "gapped(8,6)", "Gapped(g=8, k=6)"),
        ("kernel", " Gapped( g = 8, k = 6 )\n", "Gapped(g=8, k=6)"),
        ("kernel", "spectrum", "Spectrum()"),
        ("kernel", "sssk(d=7)", "Spatial(d=7)"),
        ("kernel", "words([(0, 4), (0, 8)], weights=[1, 0.5])",
         "Words(layouts=[(0, 4), (0, 8)], weights=[1, 0.5])"),
        ("symbols", "direct(n_bins=16)", "DirectQuantizer(n_bins=16)"),
        ("symbols", "direct(16, strategy=uniform)",
         "DirectQuantizer(n_bins=16, strategy='uniform')"),
        ("symbols", "DirectQuantizer(4) + joint",
         "Rows(views=[DirectQuantizer(n_bins=4), JointQuantizer()])"),
        ("symbols", "smooth(9) | direct",
         "Pipeline(steps=[('smooth', Smooth(window=9)), ('directquantizer', DirectQuantizer())])"),
        ("frames", "smooth(9) | delta",
         "Pipeline(steps=[('smooth', Smooth(window=9)), ('delta', Delta())])"),
        ("frames", "passthrough + delta(keep=False)",
         "Stack(views=['passthrough', Delta(keep=False)])"),
        # + binds tighter than |, parentheses group
        ("frames", "smooth | delta + centre",
         "Pipeline(steps=[('smooth', Smooth()), ('stack', Stack(views=[Delta(), Centre()]))])"),
        ("frames", "(smooth | delta) + centre",
         "Stack(views=[Pipeline(steps=[('smooth', Smooth()), ('delta', Delta())]), Centre()])"),
        ("frames", "passthrough", "'passthrough'"),
    ],
)  # fmt: skip
def test_text_becomes_parts(kind, text, expected):
    assert " ".join(repr(parse(kind, text)).split()) == expected


@pytest.mark.parametrize(
    ("kind", "text", "column", "says", "hint"),
    [
        ("kernel", "gaped(8, 6)", 0, "'gaped' is not the name of a kernel", "mean gapped?"),
        ("frames", "delta | smoth(9)", 8, "'smoth' is not the name", "did you mean smooth?"),
        ("kernel", "gapped(8, 6, foo=2)", 0, "unexpected keyword argument 'foo'", "write gapped("),
        ("kernel", "gapped(1, 2, 3, 4)", 0, "too many positional arguments", "write gapped("),
        ("kernel", "words", 0, "missing a required argument: 'layouts'", "write words("),
        ("kernel", "gapped(2, 6)", 0, "g must be a whole number >= 6, got 2", "--kernel help"),
        ("kernel", "gapped(8,", 6, "was never closed", "--kernel help"),
        ("kernel", "", 0, "ends too early", "--kernel help"),
        ("kernel", "spectrum(3) | spectrum(5)", 14, "cannot be joined", "--kernel help"),
        ("symbols", "delta", 0, "'delta' is a transformer, but a quantizer", "use codebook"),
        (
            "symbols",
            "direct | delta",
            0,
            "'direct' is a quantizer, but a transformer",
            "use centre",
        ),
        ("symbols", "é | direct", 0, "'é' is not the name", "--symbols help"),
        ("symbols", "direct(ü) | é(2)", 0, "'direct' is a quantizer", "use centre"),
        ("frames", "smooth * delta", 0, "expected a name", "--frames help"),
    ],
)
def test_errors_point_at_the_place(kind, text, column, says, hint):
    with pytest.raises(SpecError) as found:
        parse(kind, text)
    assert str(found.value).startswith(f"{kind}, character {column + 1}: ")
    shown = described(found.value)
    assert shown.pointer == (text, column)
    assert shown.message.startswith(f"--{kind}, character {column + 1}: ")
    assert says in shown.message
    assert hint in shown.hint
    assert shown.code == 2


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch ran')",
        "spectrum(__import__('os').system('touch ran'))",
        "spectrum(open('ran', 'w'))",
        "spectrum((lambda: 3)())",
        "(lambda: spectrum)()",
        "spectrum.__init__",
        "spectrum(k=[i for i in (1, 2)])",
        "spectrum(*[3])",
        "spectrum(**{'k': 3})",
        "spectrum(f'{open(1)}')",
        "spectrum(10**10**10)",
        "spectrum(" + "(" * 500 + ")" * 500,
        "spectrum(" + "-" * 900 + "1)",
        "spectrum(3)" + " " * 5000 + "#",
        "spectrum('\0')",
        "spectrum(k := 3)",
    ],
    ids=lambda text: text[:30],
)
def test_text_is_never_run(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError):
        parse("kernel", text)
    assert not list(tmp_path.iterdir())


def test_parameters_at_the_shell_reach_the_model(tmp_path):
    X, y = mvdfq.make_autoregressive(20, 2, 40, random_state=0)
    write_npz(tmp_path / "made.npz", X, y)
    run("train", tmp_path / "made.npz", "-o", tmp_path / "m.mvdfq", "--frames",
        "smooth(3) | delta", "--symbols", "direct(n_bins=5)", "--kernel", "gapped(4, 2)",
        "-q")  # fmt: skip
    clf = mvdfq.load(tmp_path / "m.mvdfq")
    assert repr(clf.terms_[0].reader.kernel) == "Gapped(g=4, k=2)"
    assert clf.terms_[0].encoders[-1].n_bins == 5
    frames = mvdfq.SequenceClassifier(
        frames=parse("frames", "smooth(3) | delta"), symbols=mvdfq.DirectQuantizer(5),
        kernel=mvdfq.Gapped(4, 2),
    ).fit(X, y)  # fmt: skip
    np.testing.assert_array_equal(clf.decision_function(X), frames.decision_function(X))


def test_a_kernel_that_counts_no_words_needs_no_other_option(tmp_path):
    X, y = mvdfq.make_autoregressive(12, 2, 30, random_state=0)
    write_npz(tmp_path / "made.npz", X, y)
    wanted = ["train", tmp_path / "made.npz", "-o", tmp_path / "m", "--kernel", "subsequence(2)"]
    run(*wanted, "-q")
    (term,) = mvdfq.load(tmp_path / "m").terms_
    assert not term.reader.manifold
    assert term.reader.pyramid == 1
    _, err = run(*wanted, "-q", "--pyramid", 2, code=5)
    assert "has no explicit features; pass --pyramid 1." in err


def test_an_error_shows_the_place(tmp_path):
    _, err = run("train", "nowhere", "-o", tmp_path / "m", "--kernel", "gaped(8, 6)", code=2)
    assert err.splitlines()[1:3] == ["  gaped(8, 6)", "  ^"]
    _, err = run("train", "nowhere", "-o", tmp_path / "m", "--preset", "mvdfqm-ssk", code=2)
    assert "did you mean mvdfqm-sssk?" in err


@pytest.mark.parametrize("command", ["train", "evaluate", "gram"])
@pytest.mark.parametrize("kind", ["frames", "symbols", "kernel"])
def test_help_of_an_option_explains_every_part(command, kind):
    out, _ = run(command, f"--{kind}", "help")  # neither data nor an output is needed
    for name, cls in NAMED[kind].items():
        (line,) = [one for one in out.splitlines() if re.match(rf"{name}\b[(:]", one)]
        assert line.endswith(".")
        assert all(parameter in line for parameter in cls._get_param_names())


def test_help_of_presets():
    out, _ = run("train", "--preset", "help")
    assert [line.partition(":")[0] for line in out.splitlines()] == mvdfq.list_presets()


def test_the_lists_of_values_are_those_of_the_library():
    from mvdfq.io.sound.recipes import AUDIO_RECIPES
    from mvdfq.reproduce.cells import READINGS
    from mvdfq.reproduce.published import TITLES

    for kind in ("frames", "symbols", "kernel"):
        assert entry_of("train", kind)["values"] == [*NAMED[kind]]
        assert set(EXPORTED[kind].values()) >= set(NAMED[kind].values())
    assert sorted(entry_of("train", "preset")["values"]) == sorted(mvdfq.list_presets())
    assert entry_of("train", "as_")["values"] == [*mvdfq.io.FORMATS]
    assert entry_of("train", "recipe")["values"] == [*AUDIO_RECIPES]
    assert entry_of("evaluate", "protocol")["values"] == ["5-fold", "10-fold", *PROTOCOLS]
    assert entry_of("reproduce", "reading")["values"] == [*READINGS]
    assert entry_of("reproduce", "name")["values"] == [*TITLES]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("train --kernel ga", ["gapped", "gappy"]),
        ("evaluate --symbols d", ["direct"]),
        ("gram --frames ", [*entry_of("gram", "frames")["values"], "help"]),
        ("train --preset mus", ["music"]),
        ("train --recipe t", ["telephone"]),
        ("train --as wide", ["wide-csv"]),
        ("predict --format j", ["json"]),
        ("evaluate --protocol group-", ["group-per-class"]),
        ("reproduce gen", ["genre", "genre-compare", "genre-draft"]),
        ("reproduce genre --reading t", ["text", "tuned"]),
    ],
)
def test_the_tab_key_completes_values(typed, expected):
    words = f"mvdfq {typed}"
    ask = {"_MVDFQ_COMPLETE": "complete_bash", "COMP_WORDS": words,
           "COMP_CWORD": str(len(words.split(" ")) - 1)}  # fmt: skip
    code = "from mvdfq.cli.app import app; app(prog_name='mvdfq')"
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | ask, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.stdout.split() == expected
