"""Kill commands at random moments and start them again: are all files whole and the same?

    python tools/kill.py gram extract train save report reproduce --kills 100

Half of the kills are ``kill -9``, half are Ctrl-C. Half come at a random time, half at a moment in
which files change: when the folder of the output looks different, or up to 3 ms later. After each
kill

- every file is absent, old or new, and whole; only hidden unfinished files may lie beside;
- after Ctrl-C the program says one line, without a traceback, ends with code 130, and leaves no
  unfinished file but the matrix of `gram`, which the next run goes on with, and what worker
  processes were writing to the cache;
- no process is left.

The command is started again until it ends. Its files must then equal the files of a run that was
left alone, and no other file may be left. Most starts are forks of a process that has imported the
package, since importing takes longer than the work; every tenth start is a new interpreter.
"""

import argparse
import atexit
import contextlib
import csv
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy: threads do not survive a fork

import numpy as np
from marks import write_table

import mvdfq

# What the commands import: once, for all forks.
import mvdfq.cli.app
import mvdfq.gram.checkpoint
import mvdfq.io.reading
import mvdfq.pages.report
import mvdfq.reproduce.api
from mvdfq.cli import main

HEADER = ("command", "kills", "kill -9", "Ctrl-C", "while files change", "completed runs",
          "problems", "time")  # fmt: skip
ROOT = Path(__file__).parent.parent
# Tells the killer that Python has started; only from here on the program can answer Ctrl-C.
FRESH = "import os, sys; from mvdfq.cli import main; os.write(int(sys.argv.pop(1)), b'.'); main()"
PATIENCE = 60.0  # seconds until a process that should have ended is a problem
RUN = 12  # most kills before the command may come to its end
# Hidden files of unfinished work, and those of them that Ctrl-C may leave.
LEFT = re.compile(r"\.[^/]*\.(unfinished|journal|lock)")
RESUMED = re.compile(r"\.K\.npy\.|cache/")


def vowels(n: int) -> Callable[[Path], None]:
    """Return what writes `n` training sequences of the bundled data."""

    def write(folder: Path) -> None:
        X, y = mvdfq.load_japanese_vowels(split="train")
        some = np.linspace(0, len(y) - 1, n).astype(int)
        mvdfq.io.write_npz(folder / "data.npz", [X[i] for i in some], y[some])

    return write


def sounds(folder: Path) -> None:
    """Write 40 sound files of a second."""
    import soundfile

    rng = np.random.default_rng(0)
    for i in range(40):
        place = folder / "data" / ("low", "high")[i % 2]
        place.mkdir(parents=True, exist_ok=True)
        soundfile.write(place / f"{i:02}.wav", rng.normal(0, 0.1 + i % 2, 16000), 16000)


def genres(folder: Path) -> None:
    """Write a small set in the form of GTZAN."""
    sys.path.insert(0, str(ROOT / "tests"))
    from made_sets import write_gtzan

    write_gtzan(folder / "data", n_per_genre=5, n_frames=30)


def save_often() -> None:
    """Write a model again and again, as a program that saves checkpoints does."""
    model = mvdfq.load("model.mvdfq")
    for _ in range(40):
        model.save("out/m.mvdfq")


def write_model(folder: Path) -> None:
    """Write a model of 800 kB, which takes some time to save."""
    X, y = mvdfq.load_japanese_vowels(split="train")
    mvdfq.SequenceClassifier("mvdfq-sssk", C=1.0).fit(X, y).save(folder / "model.mvdfq")


@dataclass
class Target:
    """A command, its data, and what its earlier output was made with; then, what was counted."""

    name: str
    prepare: Callable[[Path], None]
    command: str  # of the program, or empty for `save_often`
    old: str = ""  # options of the run that made the earlier output
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0


SPECTRUM = "--preset mvdfqm-spectrum"
TARGETS = [
    Target("gram", vowels(200), f"gram data.npz -o out/K.npy {SPECTRUM} --memory-limit 1MB",
           "--dtype float32"),
    Target("extract", sounds, f"gram data -o out/K.npy {SPECTRUM} --n-jobs 2"),
    Target("train", vowels(60), f"train data.npz -o out/m.mvdfq {SPECTRUM}", "-C 3"),
    Target("save", write_model, ""),
    Target("report", vowels(60), "evaluate data.npz --preset mvdfq-sssk -C 1 --protocol 2-fold "
           "--details 4 --report out/a.html", "--seed 1"),
    Target("reproduce", genres, "reproduce genre --data data --quick --reading text "
           "--protocol 5-fold --seeds 1 --cache out/store -o out/tables"),
]  # fmt: skip


# processes ------------------------------------------------------------------------------------


class Process:
    """A command in a process group of its own, as a shell starts it."""

    def __init__(self, command: str, folder: Path, is_fresh: bool) -> None:
        self.said = folder / "stderr.txt"
        said = os.open(self.said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        ready, tell = os.pipe()
        self.number = os.fork()
        if self.number == 0:
            os.setsid()
            os.chdir(folder)
            os.environ["MVDFQ_CACHE"] = str(folder / "out" / "cache")
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(said, 2)
            os.set_inheritable(tell, True)
            _carry_out(command, tell, is_fresh)
        os.close(tell)
        os.close(said)
        os.read(ready, 1)  # wait for the beginning, or for the end of a process that fails
        os.close(ready)
        self.begin = time.perf_counter()
        self.code: int | None = None

    def has_ended(self) -> bool:
        """Tell whether the process has ended; remember its exit code."""
        if self.code is None:
            number, status = os.waitpid(self.number, os.WNOHANG)
            if number:
                self.code = os.waitstatus_to_exitcode(status)
                self.seconds = time.perf_counter() - self.begin
        return self.code is not None

    def kill(self, number: int) -> None:
        """Send a signal: kill -9 to the process alone, Ctrl-C to its group, as a terminal does."""
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if number == signal.SIGINT else os.kill)(self.number, number)

    def wait(self) -> bool:
        """Wait for the end of the process and of all processes it started; False if one stays."""
        for is_over in (self.has_ended, self._is_alone):
            end = time.monotonic() + PATIENCE
            while not is_over():
                if time.monotonic() > end:
                    os.killpg(self.number, signal.SIGKILL)
                    return False
                time.sleep(0.005)
        return True

    def _is_alone(self) -> bool:
        listed = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True)
        rows = map(str.split, listed.stdout.splitlines())
        return not any(row[0] == str(self.number) and row[1][0] != "Z" for row in rows)


def _carry_out(command: str, tell: int, is_fresh: bool) -> None:
    """Become the program; never return into the code of the parent process."""
    if is_fresh and command:
        arguments = ["-c", FRESH, str(tell), *command.split()]
        os.execv(sys.executable, [sys.executable, *arguments])
    code: Any = 0
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["mvdfq", *command.split()]
        os.write(tell, b".")
        if command:
            main()
        else:
            save_often()
        _end_as_python_does()
    except SystemExit as end:
        code = end.code or 0
        _end_as_python_does()
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        os._exit(code)


def _end_as_python_does() -> None:
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stderr.flush()


# files ----------------------------------------------------------------------------------------


def look(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of every file below a folder, by its path."""
    states = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with contextlib.suppress(OSError):
                status = os.stat(path)
                states[os.path.relpath(path, folder)] = status.st_size, status.st_mtime_ns
    return states


def content(path: Path) -> Any:
    """Return what a file says, without times of day and measured seconds."""
    if path.suffix == ".mvdfq":
        mvdfq.load(path)
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    if path.suffix == ".json":
        return _timeless(json.loads(path.read_text()))
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return _timeless(list(csv.DictReader(file)))
    return path.read_bytes()


def _timeless(value: Any) -> Any:
    """Return a value of JSON without the seconds that were measured."""
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if "second" not in k}
    return [_timeless(v) for v in value] if isinstance(value, list) else value


def contents(folder: Path) -> dict[str, Any]:
    """Return what every file below a folder says."""
    return {name: content(folder / name) for name in look(folder)}


# the loop -------------------------------------------------------------------------------------


def changes(process: Process, folder: Path) -> Iterator[None]:
    """Yield whenever a file below the folder has appeared, grown or gone."""
    seen = look(folder)
    while not process.has_ended():
        now = look(folder)
        if now != seen:
            seen = now
            yield
        time.sleep(0.0005)


def left_alone(
    target: Target, folder: Path, options: str = ""
) -> tuple[dict[str, Any], float, int]:
    """Run without a kill; return the files, the seconds, and how often files changed."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    process = Process(f"{target.command} {options}".strip(), folder, is_fresh=False)
    n_changes = sum(1 for _ in changes(process, folder / "out"))
    if not process.wait() or process.code:
        raise RuntimeError(f"{target.name} fails without a kill: {process.said.read_text()}")
    return contents(folder / "out"), process.seconds, n_changes


def attack(target: Target, n_kills: int, seed: int) -> None:
    """Kill `n_kills` times, and complete the command now and then."""
    chance, begin, old = random.Random(seed), time.perf_counter(), {}
    # not TemporaryDirectory, which forks would remove at their end
    folder = Path(tempfile.mkdtemp()).resolve()
    try:
        target.prepare(folder)
        left_alone(target, folder)  # loads compiled code
        if target.old:
            old = left_alone(target, folder, target.old)[0]
            shutil.copytree(folder / "out", folder / "old")
        new, *pace = left_alone(target, folder)
        while target.counts["kills"] < n_kills:
            has_old = bool(old) and chance.random() < 0.5
            shutil.rmtree(folder / "out")
            (folder / "out").mkdir()
            if has_old:
                shutil.copytree(folder / "old", folder / "out", dirs_exist_ok=True)
            allowed = [old, new] if has_old else [new]
            for _ in range(min(chance.randint(1, RUN), n_kills - target.counts["kills"])):
                kill_once(target, folder, allowed, pace, chance)
            complete(target, folder, new)
    finally:
        shutil.rmtree(folder)
    target.seconds = time.perf_counter() - begin


def kill_once(
    target: Target, folder: Path, allowed: list[Any], pace: list[Any], chance: random.Random
) -> None:
    """Start the command, kill it, and look at what it left."""
    number, before = chance.choice([signal.SIGKILL, signal.SIGINT]), look(folder / "out")
    process = Process(target.command, folder, is_fresh=chance.random() < 0.1)
    is_aimed = aim(process, folder / "out", pace, chance)
    process.kill(number)
    is_over = process.wait()
    if process.code == 0:  # the kill came too late
        return
    target.counts["kills"] += 1
    target.counts[signal.Signals(number).name] += 1
    target.counts["aimed"] += is_aimed
    problems = [] if is_over else ["a process does not end"]
    problems += damaged(folder / "out", allowed)
    if number == signal.SIGINT:
        left = look(folder / "out").keys() - before.keys()
        problems += [f"Ctrl-C leaves {name}" for name in left if is_stray(name)]
        problems += said_badly(process) if target.command else []
    target.problems += problems


def aim(process: Process, out: Path, pace: list[Any], chance: random.Random) -> bool:
    """Wait for the moment of a kill; tell whether files changed in this moment."""
    whole, n_changes = pace
    if chance.random() < 0.5:
        end = process.begin + chance.uniform(0, whole)
        while time.perf_counter() < end and not process.has_ended():
            time.sleep(0.001)
        return False
    wanted = chance.randint(1, max(n_changes, 1))
    for n_seen, _ in enumerate(changes(process, out), start=1):
        if n_seen == wanted:
            time.sleep(chance.choice([0, 0, 0.001, 0.003]))
            return True
    return False


def damaged(out: Path, allowed: list[Any]) -> Iterator[str]:
    """Yield the problem of every file that is neither old nor new; unfinished files are hidden."""
    for name in look(out):
        if LEFT.fullmatch(os.path.basename(name)):
            continue
        try:
            held = content(out / name)
        except Exception as error:
            yield f"{name} is damaged: {type(error).__name__}: {error}"
        else:
            if not any(name in files and held == files[name] for files in allowed):
                yield f"{name} is neither old nor new"


def is_stray(name: str) -> bool:
    """Tell whether a path is an unfinished file that Ctrl-C should have removed."""
    return bool(LEFT.fullmatch(os.path.basename(name))) and not RESUMED.match(name)


def said_badly(process: Process) -> list[str]:
    """Return what is wrong with the words and the exit code of a program after Ctrl-C."""
    said = process.said.read_text()
    is_good = said.count("interrupted.") == 1 and "Traceback" not in said
    if process.code == 130 and is_good:
        return []
    return [f"Ctrl-C ends with code {process.code} and says:\n{said}"]


def complete(target: Target, folder: Path, new: dict[str, Any]) -> None:
    """Run the command to its end; its files must be those of a run that was left alone."""
    process = Process(target.command, folder, is_fresh=False)
    process.wait()
    target.counts["runs"] += 1
    if process.code:
        target.problems.append(f"the run after the kills fails: {process.said.read_text()}")
    left = contents(folder / "out")
    target.problems += [f"{name} is left" for name in left.keys() - new.keys()]
    target.problems += [f"{name} is not the same" for name in new if left.get(name) != new[name]]


def main_of_tool() -> int:
    """Attack the commands that were named; return 1 if a problem was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [target.name for target in TARGETS]
    parser.add_argument("target", nargs="+", choices=names, help="what to kill")
    parser.add_argument("--kills", type=int, default=100, help="kills of each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", type=Path, help="page whose table of kills is written anew")
    options = parser.parse_args()
    done = [target for target in TARGETS if target.name in options.target]
    for target in done:
        attack(target, options.kills, options.seed)
        print(" | ".join(map(str, row(target))), flush=True)
        print("\n".join(target.problems), end="", file=sys.stderr)
    if options.record is not None:
        write_table(options.record, "kills", HEADER, map(row, done))
    return int(any(target.problems for target in done))


def row(target: Target) -> list[Any]:
    """Return one line of the table."""
    counts = [target.counts[name] for name in ("kills", "SIGKILL", "SIGINT", "aimed", "runs")]
    return [target.name, *counts, len(target.problems), f"{target.seconds:.0f} s"]


if __name__ == "__main__":
    sys.exit(main_of_tool())
