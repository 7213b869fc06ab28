"""Kill `mvdfq.write_gram` at random moments and run it again: is the matrix always the same?

``python tools/kill_gram.py 100`` kills 100 times with ``kill -9``. After every kill the output must
be absent or complete. A matrix that was completed in spite of the kills must equal the matrix of a
run that was left alone, to the last bit. The moments of writing are hit often: tiles are small.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import mvdfq
from mvdfq.gram import cuts

N_SEQUENCES, TILE = 200, 20  # 55 tiles


def write(path):
    """Write the matrix; in all runs the same."""
    X = np.random.default_rng(0).integers(0, 8, (N_SEQUENCES, 4, 60))
    kernel = mvdfq.SequenceKernel(mvdfq.Spectrum([1, 3]), manifold=True, n_jobs=2)
    mvdfq.write_gram(kernel, list(X), path, dtype="float32")


def killed_run(path, delay):
    """Start a run, kill it after `delay` seconds; return whether the kill came in time."""
    child = os.fork()
    if child == 0:
        try:
            write(path)
        finally:
            os._exit(0)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def main(n_kills, seed=0):
    """Kill, run again, compare."""
    cuts.TILE = TILE
    chance = random.Random(seed)
    with TemporaryDirectory() as folder:
        alone, path = Path(folder, "alone.npy"), Path(folder, "K.npy")
        write(alone)  # also loads the compiled code
        expected = alone.read_bytes()
        alone.unlink()
        begin = time.perf_counter()
        write(alone)
        whole = time.perf_counter() - begin
        kills = completed = 0
        while kills < n_kills:
            # most kills come early, so that one matrix survives many of them
            delay = chance.uniform(0, whole * chance.choice([0.2, 0.5, 1.1]))
            kills += killed_run(path, delay)
            if path.exists():
                assert path.read_bytes() == expected, "a complete matrix has other bytes"
                if not list(Path(folder).glob(".K.npy.*.journal")):
                    completed += 1
                    path.unlink()
        write(path)
        assert path.read_bytes() == expected, "the last matrix has other bytes"
        left = sorted(file.name for file in Path(folder).iterdir())
        assert left == ["K.npy", "alone.npy"], left
    print(f"{kills} kills, {completed + 1} matrices completed, all with the same bytes")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
