"""The cluster engine on two worker processes: the same answers, also if a worker or client dies."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mvdfq
from commands import run
from mvdfq import SequenceClassifier, SequenceKernel, Spectrum
from mvdfq._engines.spread import WAITING, DaskBlocks, run_on_cluster
from mvdfq.classifier import learning, passes as block_passes
from mvdfq.gram import plan as plans, tiles
from mvdfq.terms import pass_solver

distributed = pytest.importorskip("distributed", reason="needs the extra: mvdfq[cluster]")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Dask's own, while workers come and go
]

X, Y = mvdfq.make_autoregressive(90, 2, (15, 25), n_classes=3, random_state=0)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        before = set(client.run(os.getpid).values())
        yield client
        workers = before | set(client.run(os.getpid).values())
    deadline = time.monotonic() + 30
    while any(map(_runs, workers)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not any(map(_runs, workers)), "a worker outlived its cluster"


def _runs(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Small tiles, and few sequences are many."""
    monkeypatch.setattr(plans, "TILE", 16)
    monkeypatch.setattr(learning, "MANY", 60)
    monkeypatch.setattr(block_passes, "BLOCK_SEQUENCES", 30)
    monkeypatch.setattr(pass_solver, "MOST_PASSES", 4)


def symbols():
    return mvdfq.DirectQuantizer(4).fit_transform(X)


def kernel(**options):
    return SequenceKernel(Spectrum(2), manifold=True, **options)


def kill_one(client):
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def test_an_engine_without_a_client_says_so():
    with pytest.raises(RuntimeError, match="there is none; create a"):
        kernel(engine="dask").fit_transform(symbols())


def test_tiles_are_those_of_this_process(client):
    with mvdfq.use_engine(client):
        found = kernel().fit_transform(symbols())
        crossed = kernel().fit(symbols()[:50]).transform(symbols()[50:])
    assert_array_equal(found, kernel().fit_transform(symbols()))
    assert_array_equal(crossed, kernel().fit(symbols()[:50]).transform(symbols()[50:]))


def test_an_address_is_an_engine_and_files_are_written(client, tmp_path):
    by_address = kernel(engine=client.scheduler.address)
    found = mvdfq.write_gram(by_address, symbols(), tmp_path / "K.npy")
    assert_array_equal(found, kernel().fit_transform(symbols()))


def test_a_killed_worker_changes_nothing(client):
    def slow(left, right, plan, budget, original=tiles.tile_of):
        time.sleep(0.05)
        return original(left, right, plan, budget)

    with pytest.MonkeyPatch.context() as patch, mvdfq.use_engine(client):
        patch.setattr(tiles, "tile_of", slow)
        timer = threading.Timer(0.3, kill_one, [client])
        timer.start()
        found = kernel().fit_transform(symbols())
        timer.join()
    assert_array_equal(found, kernel().fit_transform(symbols()))


def test_a_fit_and_its_predictions_on_a_cluster(client):
    here = SequenceClassifier("fast").fit(X, Y)
    with mvdfq.use_engine(client):
        there = SequenceClassifier("fast").fit(X, Y)
        predicted = there.decision_function(X)
    assert_allclose(there.decision_function(X), here.decision_function(X), atol=0.02)
    assert_array_equal(predicted, there.decision_function(X))


def test_blocks_are_read_by_the_workers(client, tmp_path):
    for i in range(3):
        mvdfq.io.write_npz(tmp_path / f"{i}.npz", X[i::3], Y[i::3])
    blocks = mvdfq.io.list_parts(tmp_path, "*.npz")
    here = SequenceClassifier("fast").fit_blocks(blocks)
    with mvdfq.use_engine(client):
        there = SequenceClassifier("fast").fit_blocks(blocks)
    assert_allclose(there.decision_function(X), here.decision_function(X), atol=0.02)
    assert there.training_["digest"] == here.training_["digest"]


def long_table(which):
    """A long table of some of the sequences: one line per frame."""
    pandas = pytest.importorskip("pandas")
    frames = [
        pandas.DataFrame(
            {"id": i, "time": np.arange(X[i].shape[1]), "a": X[i][0], "b": X[i][1], "label": Y[i]}
        )
        for i in which
    ]
    return pandas.concat(frames)


def test_parquet_files_are_blocks(client, tmp_path):
    pytest.importorskip("pyarrow")
    for i in range(3):
        mvdfq.io.write_npz(tmp_path / f"{i}.npz", X[i::3], Y[i::3])
        long_table(range(i, len(X), 3)).to_parquet(tmp_path / f"{i}.parquet", index=False)
    here = SequenceClassifier("fast").fit_blocks(mvdfq.io.list_parts(tmp_path, "*.npz"))
    with mvdfq.use_engine(client):
        there = SequenceClassifier("fast").fit_blocks(mvdfq.io.list_parts(tmp_path, "*.parquet"))
    assert_allclose(there.decision_function(X), here.decision_function(X), atol=0.02)


def _fails():
    raise mvdfq.io.ReadError("part 2", "has no labels", "name the labels")


def test_the_error_of_a_task_arrives(client):
    with mvdfq.use_engine(client), pytest.raises(mvdfq.io.ReadError, match="part 2: has no labels"):
        SequenceClassifier("fast").fit_blocks([(X, Y), _fails])


def test_sums_outlive_a_worker(client):
    blocks = DaskBlocks(client, [partial(np.full, 3, i) for i in range(5)])
    one = blocks.sum(_as_tuple, 2)
    kill_one(client)
    assert_array_equal(blocks.sum(_as_tuple, 2)[0], one[0])
    assert_array_equal(one[0], np.full(3, 20))


def _as_tuple(block, factor):
    return (factor * block,)


LOST = """
import sys, time
from distributed import Client
client = Client(sys.argv[1])
futures = [client.submit(time.sleep, 0.2 + i / 1000) for i in range(200)]
print("ready", flush=True)
time.sleep(60)
"""


def _sleeping(dask_scheduler):
    return sum(str(key).startswith("sleep") for key in dask_scheduler.tasks)


def test_a_lost_client_leaves_nothing_behind(client):
    lost = subprocess.Popen(
        [sys.executable, "-c", LOST, client.scheduler.address], stdout=subprocess.PIPE, text=True
    )
    assert lost.stdout.readline() == "ready\n"
    lost.kill()
    lost.wait()
    lost.stdout.close()
    deadline = time.monotonic() + 30
    while client.run_on_scheduler(_sleeping) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert client.run_on_scheduler(_sleeping) == 0
    test_tiles_are_those_of_this_process(client)


def test_commands_take_a_scheduler(client, tmp_path):
    data, model = tmp_path / "data.npz", tmp_path / "model.mvdfq"
    mvdfq.io.write_npz(data, X, Y)
    address = ["--scheduler", client.scheduler.address, "-q"]
    run("train", data, "-o", model, "--preset", "fast", *address)
    there, _ = run("predict", model, data, "--format", "json", *address)
    assert there == run("predict", model, data, "--format", "json", "-q")[0]
    nobody = ["--scheduler", "tcp://127.0.0.1:9", "-q"]
    _, said = run("gram", data, "-o", tmp_path / "K.npy", *nobody, code=5)
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in said


class FakeClient:
    """A cluster of one thread that notes which jobs it was given."""

    def __init__(self):
        self.given = []

    def nthreads(self):
        return {"worker": 1}

    def submit(self, function, *args, pure):
        self.given.append(args)
        return SimpleNamespace(result=partial(function, *args))


def test_jobs_of_a_cluster_are_few_at_a_time_and_in_order():
    client = FakeClient()
    jobs = ((f"job {i}", i) for i in range(20))
    for done, pair in enumerate(run_on_cluster(client, lambda i: i * i, jobs)):
        assert pair == (f"job {done}", done**2)
        assert len(client.given) == min(done + WAITING + 1, 20)
    assert done == 19
