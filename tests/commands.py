"""Run the program in tests, and sounds and DNA to run it on."""

import contextlib
import os
import pty
import select
import subprocess
import sys
import time

import numpy as np
import soundfile
from typer.testing import CliRunner

from mvdfq.cli.app import app

RATE = 8000


def run(*arguments, code=0, cwd=None):
    """Run a command in this process; return what the command wrote to both streams."""
    with contextlib.chdir(cwd or os.curdir):
        done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.stdout + done.stderr
    return done.stdout, done.stderr


def run_process(*arguments, code=0):
    """Run a command as a user does; return what the command wrote to both streams."""
    command = [sys.executable, "-W", "error::UserWarning", "-m", "mvdfq", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def tone(kind, rng):
    """A second of sound of one of three kinds."""
    t = np.arange(RATE) / RATE
    pitch = rng.uniform(200, 400)
    sounds = {
        "tone": np.sin(2 * np.pi * pitch * t),
        "noise": rng.normal(size=RATE) / 4,
        "chirp": np.sin(2 * np.pi * (pitch + 800 * t) * t),
    }
    return 0.5 * sounds[kind] + rng.normal(size=RATE) / 100


def write_sounds(folder, n):
    """Write `n` files of tones and `n` files of noise, one sub-folder per class.

    Returns the random generator, to draw further sounds from.
    """
    rng = np.random.default_rng(0)
    for kind in ("tone", "noise"):
        (folder / kind).mkdir()
        for i in range(n):
            soundfile.write(folder / kind / f"{i}.wav", tone(kind, rng), RATE)
    return rng


def write_dna(path, n, letters, motif):
    """Write `n` random strings; every other string has the motif, given as letters by position."""
    rng, lines = np.random.default_rng(0), []
    for i in range(n):
        row = rng.choice(list(letters), 60)
        if i % 2:
            row[[*motif]] = [*motif.values()]
        lines.append(f">d{i} {'with' if i % 2 else 'without'}\n{''.join(row)}\n")
    path.write_text("".join(lines))


def in_terminal(*arguments, interrupt_at=None):
    """Run the program in a pseudo-terminal; return its exit code and all it drew."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "mvdfq", *map(str, arguments)])
    drawn, end = b"", time.monotonic() + 120
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            drawn += os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if interrupt_at is not None and interrupt_at in drawn:
            os.write(terminal, b"\x03")  # Ctrl-C, which reaches all processes of the command
            interrupt_at = None
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), drawn.decode(errors="replace")
