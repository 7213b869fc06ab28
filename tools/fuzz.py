"""Coverage-guided fuzzing of the readers and of `load`: no input may end in a traceback.

    python tools/fuzz.py --seconds 3600

Inputs are mutations of the files in tests/corpus. An input that goes from one line of mvdfq to
another line as no input did before becomes a parent of further inputs. Python's own tracing finds
such pairs of lines, so that every version of Python can run this without a compiler. An input with
a problem (an exception of another kind than the reader promises, or more than ten seconds of
computing) is written to the folder --failures, and the program ends with code 1.
"""

import argparse
import json
import math
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from marks import write_table

import mvdfq
from mvdfq import io

ROOT = Path(__file__).parent.parent
CORPUS, MODELS = ROOT / "tests" / "corpus", ROOT / "tests" / "models"
sys.path.insert(0, str(ROOT / "tests"))

from forged import Opened, walk  # noqa: E402

# Seconds of computing that an input of a few kilobytes may take, with tracing.
SLOW = 10.0
# Bytes and words that readers look for.
WORDS = [
    b"", b"\0", b"\n", b"\r\n", b",", b";", b"\t", b":", b"?", b"nan", b"inf", b"-1", b"1e999",
    b"9" * 30, b"1_0", b"(", b")", b"'", b'"', b"\\", b"{", b"}", b"@data", b"@attribute", b"%",
    b"#", b">", b"\xff", b"\xff\xfe", b"\x1f\x8b", b"PK\x03\x04", b"=", b"..", b"/etc/passwd",
    b" " * 300,
]  # fmt: skip
VALUES = [
    None, True, 0, -1, 1, 2**31, 2**63, 10**30, 0.5, "", "x", [], {}, {"tuple": []}, {"dict": []},
    {"float": "nan"}, {"range": [0, 10**9, 1]}, {"again": 1}, {"array": "0000.npy"},
    {"object": "Delta", "state": {"keep": True}}, {"object": "Pipeline", "state": {"steps": []}},
]  # fmt: skip

NUMBERS = [
    0, 1, -1, 2, 255, 2**16, 2**31, 2**32, 1e18, -1e18, 0.5, 1e-300, 1e300, math.nan, math.inf,
]  # fmt: skip
DTYPES = ["u1", "u2", "u4", "i4", "i8", "f4", "f8", ">f8", ">i8", "?", "U5"]

Edges = set[tuple[int, int, int]]


@dataclass
class Target:
    """Something that reads files: which files to start from, and which errors it may raise."""

    name: str
    read: Callable[[Path], Any]
    allowed: tuple[type[Exception], ...]
    mutate: Callable[[random.Random, bytes, list[bytes]], bytes]
    parents: list[tuple[bytes, str]] = field(default_factory=list)
    edges: Edges = field(default_factory=set)
    n_inputs: int = 0
    n_read: int = 0
    slowest: float = 0.0
    problems: list[str] = field(default_factory=list)


def changed(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Return bytes with one to four changes: flips, words, cuts, copies, pieces of other inputs."""
    content = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        a = rng.randrange(len(content) + 1)
        b = min(len(content), a + rng.choice([0, 1, 2, 8, 50]))
        other = rng.choice(others)
        piece = rng.choice([rng.choice(WORDS), bytes(content[a:b]) * 3, other[a : a + 50], None])
        if piece is None and a < len(content):
            content[a] ^= 1 << rng.randrange(8)
        else:
            content[a:b] = piece or b""
    return bytes(content[: 2**16])


def forged(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Change one value or one array of a model file; write the file again with its checksums."""
    try:
        opened = Opened(BytesIO(data))
        opened.description["arrays"].keys()
        arrays = [node for node in walk(opened.description["model"]) if "array" in node]
    except Exception:  # the parent itself is damaged
        return changed(rng, data, others)
    kind = rng.choice([*["value"] * 2, *["array"] * 2 * bool(arrays), "bytes"])
    if kind == "bytes":
        return changed(rng, data, others)
    if kind == "value":
        _change_value(rng, opened.description)
    else:
        opened.change(rng.choice(arrays), partial(changed_array, rng))
    opened.path = BytesIO()
    opened.write()
    return opened.path.getvalue()


def _change_value(rng: random.Random, description: Any) -> None:
    places = list(_places(description))
    holder, key = rng.choice(places)
    if rng.random() < 0.2 and isinstance(holder, dict):
        del holder[key]
    else:
        other, name = rng.choice(places)
        holder[key] = rng.choice([rng.choice(VALUES), json.loads(json.dumps(other[name]))])


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def changed_array(rng: random.Random, array: np.ndarray) -> np.ndarray:
    """Return an array with one other number, another shape, another order or another type."""
    number = rng.choice(NUMBERS)
    changes: list[Callable[[], np.ndarray]] = [
        lambda: array[1:],
        lambda: np.concatenate([array, array[-1:]]),
        lambda: array[::-1],
        lambda: array[:0],
        lambda: array.T,
        lambda: array.ravel(),
        lambda: array[..., None],
        lambda: array.astype(rng.choice(DTYPES)),
        *[lambda: _with_number(rng, array, number)] * 8,
    ]
    with warnings.catch_warnings(action="ignore"):
        try:
            return np.ascontiguousarray(rng.choice(changes)())
        except (ValueError, TypeError, IndexError, OverflowError):  # not a change of this array
            return array


def _with_number(rng: random.Random, array: np.ndarray, number: float) -> np.ndarray:
    """Put a number in one place, or in all; a number outside the type goes to its ends."""
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        number = int(np.clip(np.nan_to_num(number), info.min, info.max))
    flat = array.ravel()
    flat[rng.choice([slice(None), rng.randrange(array.size)])] = number
    return flat.reshape(array.shape)


def load_and_predict(path: Path) -> Any:
    """Load a model; a model that loads must answer."""
    model = mvdfq.load(path)
    step = next((step for term in model.terms_ for step in term.encoders), None)
    if hasattr(step, "alphabets_"):
        return model.predict_proba(["ABCABCAB"] * 2)
    return model.predict_proba([[[0.1 * (t % 7) for t in range(20)]] * model.n_channels_in_] * 2)


def targets() -> list[Target]:
    """Return one target per folder of the corpus; `load` also starts from the stored models."""
    per_folder = []
    for folder in sorted(entry for entry in CORPUS.iterdir() if entry.is_dir()):
        is_model = folder.name == "model"
        target = Target(
            folder.name,
            load_and_predict if is_model else io.read,
            (mvdfq.ModelFileError,) if is_model else (io.ReadError,),
            forged if is_model else changed,
        )
        for path in [*sorted(folder.iterdir()), *(sorted(MODELS.glob("*.mvdfq")) * is_model)]:
            target.parents.append((path.read_bytes(), "".join(path.suffixes)))
        per_folder.append(target)
    return per_folder


def run(target: Target, data: bytes, ending: str, folder: Path, traced: bool = True) -> Edges:
    """Read one input; return the pairs of lines of mvdfq that were reached."""
    path = folder / f"input{ending}"
    path.write_bytes(data)
    edges: Edges = set()
    start = time.process_time()
    try:
        if traced:
            sys.settrace(_tracer(edges))
        target.read(path)
        target.n_read += 1
    except target.allowed:
        pass
    except Exception as error:
        target.problems.append(f"{type(error).__name__}: {error}"[:200])
    finally:
        sys.settrace(None)
    seconds = time.process_time() - start
    target.n_inputs += 1
    target.slowest = max(target.slowest, seconds)
    if seconds > SLOW:
        target.problems.append(f"{seconds:.0f} s of computing")
    return edges


def _tracer(edges: Edges) -> Any:
    """Return a trace function that notes pairs of lines in the files of mvdfq."""

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        if "mvdfq" not in frame.f_code.co_filename:
            return None
        number, last = hash(frame.f_code), [0]

        def step(frame: FrameType, event: str, argument: Any) -> Any:
            edges.add((number, last[0], frame.f_lineno))
            last[0] = frame.f_lineno
            return step

        return step

    return enter


def fuzz(target: Target, seconds: float, rng: random.Random, folder: Path, failures: Path) -> None:
    """Mutate inputs of one target for some seconds."""
    for data, ending in target.parents:
        # not counted: the first call of a compiled loop compiles the loop
        run(replace(target, problems=[]), data, ending, folder, traced=False)
        target.edges |= run(target, data, ending, folder)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data, ending = rng.choice(target.parents)
        data = target.mutate(rng, data, [parent for parent, _ in target.parents])
        known = len(target.problems)
        edges = run(target, data, ending, folder)
        if len(target.problems) > known:
            failures.mkdir(parents=True, exist_ok=True)
            name = f"{target.name}-{target.n_inputs}{ending}"
            (failures / name).write_bytes(data)
            print(f"{name}: {target.problems[-1]}", flush=True)
        elif edges - target.edges:
            target.edges |= edges
            target.parents.append((data, ending))


def main() -> int:
    """Fuzz all targets, print what was tried; return 1 if there was a problem."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="time for all targets together")
    parser.add_argument("--only", help="name of one target, a folder of tests/corpus")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--failures", type=Path, default=ROOT / "fuzz-failures")
    parser.add_argument("--record", type=Path, help="page whose table of fuzzing is written anew")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = [target for target in targets() if options.only in (None, target.name)]
    rng = random.Random(options.seed)
    print(f"{'target':<10} {'inputs':>8} {'read':>8} {'pairs':>8} {'slowest':>8} {'problems':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for target in chosen:
            fuzz(target, options.seconds / len(chosen), rng, Path(folder), options.failures)
            print(
                f"{target.name:<10} {target.n_inputs:>8} {target.n_read:>8} {len(target.edges):>8} "
                f"{target.slowest:>7.1f}s {len(target.problems):>8}",
                flush=True,
            )
    if options.record is not None:
        record(options.record, chosen, options.seconds)
    return int(any(target.problems for target in chosen))


def record(page: Path, done: list[Target], seconds: float) -> None:
    """Write the table of a page."""
    header = ["target", "inputs", "read without an error", "pairs of lines reached", "slowest"]
    rows = [
        [target.name, target.n_inputs, target.n_read, len(target.edges), f"{target.slowest:.1f} s",
         len(target.problems)]
        for target in done
    ]  # fmt: skip
    above = f"The last recorded run took {seconds:.0f} seconds:"
    write_table(page, "fuzz", [*header, "problems"], rows, above)


if __name__ == "__main__":
    sys.exit(main())
