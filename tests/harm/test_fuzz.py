"""The corpus of the fuzzer is replayed, and the fuzzer itself finds what it should find."""

import importlib.util
import random
from pathlib import Path

import fuzz
import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.filterwarnings("ignore")
TARGETS = {target.name: target for target in fuzz.targets()}


def test_the_corpus_is_small_and_has_every_kind_of_file():
    assert sum(p.stat().st_size for p in fuzz.CORPUS.rglob("*") if p.is_file()) < 10**5
    wanted = {"arff", "audio", "csv", "fasta", "model", "npz", "profile", "ts"}
    assert wanted <= TARGETS.keys()


@pytest.mark.parametrize("name", TARGETS)
def test_no_file_of_the_corpus_ends_in_a_traceback(name, tmp_path):
    target = TARGETS[name]
    for data, ending in target.parents:
        fuzz.run(target, data, ending, tmp_path, traced=False)
    assert target.problems == []
    assert target.n_read > 0


@pytest.mark.parametrize("name", TARGETS)
def test_no_change_of_the_corpus_ends_in_a_traceback(name, tmp_path):
    target, rng = TARGETS[name], random.Random(0)
    datas = [data for data, _ in target.parents]
    for _ in range(25):
        data, ending = rng.choice(target.parents)
        fuzz.run(target, target.mutate(rng, data, datas), ending, tmp_path, traced=False)
    assert target.problems == []


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
def test_fuzzing_finds_no_problem(name, tmp_path):
    target = TARGETS[name]
    fuzz.fuzz(target, 20, random.Random(), tmp_path, tmp_path / "failures")
    assert target.problems == []


def test_the_fuzzer_finds_a_branch_and_its_problem(tmp_path, monkeypatch):
    # A reader that fails after two steps, each of which only new coverage rewards.
    path = tmp_path / "mvdfq_reader.py"
    path.write_text(
        "def read(path):\n"
        "    data = path.read_bytes()\n"
        "    if b'nan' in data:\n"
        "        if b'1e999' in data:\n"
        "            raise KeyError('found')\n"
    )
    spec = importlib.util.spec_from_file_location("mvdfq_reader", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    target = fuzz.Target("made", module.read, (ValueError,), fuzz.changed, [(b"a", ".txt")])
    chance = random.Random(0)
    for _ in range(20):  # on a busy machine a second holds few tries
        if not target.problems:
            fuzz.fuzz(target, 1, chance, tmp_path, tmp_path / "failures")
    assert len(target.parents) > 1
    assert "KeyError: 'found'" in target.problems[0]
    assert list((tmp_path / "failures").iterdir())
