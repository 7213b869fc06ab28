"""Profiles as programs write them in text: PSI-BLAST's PSSM, HMMER3 and HH-suite.

Of a hidden Markov model the emissions of the match states are read; insertions, deletions and
transitions are not.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mvdfq.io.dataset import Case
from mvdfq.io.letters.residues import AMINO_ACIDS
from mvdfq.io.source import ReadError, read_lines
from mvdfq.io.tables.csv_tables import read_float

# A larger score is an error in the file, and would overflow.
LARGEST = 1e6
NUMBER = re.compile(r"-I|[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
Lines = Sequence[tuple[int, str]]


class Model(NamedTuple):
    """How a kind of hidden Markov model writes emissions: the form of a line, nats per unit."""

    line: re.Pattern[str]
    unit: float


MODELS = {
    "hmmer": Model(re.compile(r"\s*([0-9]+)\s+(.+)"), 1.0),
    "hhm": Model(re.compile(r"[A-Za-z]\s+([0-9]+)\s+(.+)"), np.log(2) / 1000),
}


def profile_kind(lines: list[str]) -> str | None:
    """Return the format of a file that begins with these lines; None if it is not a profile."""
    lines = [line for line in lines[:20] if line.strip()][:3]
    if not lines:
        return None
    for mark, kind in [("HMMER3", "hmmer"), ("HHsearch", "hhm")]:
        if lines[0].startswith(mark):
            return kind
    return "pssm" if any(_letters(line) for line in lines) else None


def read_profile_text(path: Path) -> tuple[str, list[Case]]:
    """Return the format of a file and the profiles in the file."""
    lines = list(read_lines(path))
    kind = profile_kind([line for _, line in lines[:20]])
    if kind is None:
        raise ReadError(
            path, "no profile in the file", "PSI-BLAST, HMMER3 and HH-suite can be read"
        )
    if kind == "pssm":
        return kind, [Case(_read_pssm(path, lines), name=path.name)]
    return kind, [_read_model(path, block, MODELS[kind]) for block in _blocks(lines)]


def _letters(line: str) -> list[str] | None:
    """Return the amino acids in the order of a line; None if the line does not name all 20."""
    letters = line.split()[:20]
    return letters if sorted(letters) == sorted(AMINO_ACIDS) else None


def _in_order(path: Path, letters: list[str] | None, rows: list[list[float]]) -> np.ndarray:
    """Rows of a file as (20, n), the amino acids in our order."""
    if letters is None:
        raise ReadError(path, "no line names the 20 amino acids", "is it of a nucleic acid?")
    if not rows:
        raise ReadError(path, "the profile has no positions", "is the file complete?")
    return np.array(rows).T[[letters.index(letter) for letter in AMINO_ACIDS]]


def _read_pssm(path: Path, lines: Lines) -> np.ndarray:
    """Scores of a PSSM; columns right of them, if any, are percentages and are left out."""
    letters: list[str] | None = None
    rows: list[list[float]] = []
    for number, line in lines:
        fields = line.split(maxsplit=2)
        if letters is None:
            letters = _letters(line)
        elif rows and (not fields or fields[0] == "K"):  # statistics follow
            break
        elif fields:
            _check_position(path, number, fields[0], len(rows) + 1)
            rows.append(_scores(path, number, fields[-1]))
    return _in_order(path, letters, rows)


def _check_position(path: Path, number: int, text: str, expected: int) -> None:
    if text != str(expected):
        raise ReadError(path, f"line {number}: expected position {expected}, got {text[:20]!r}")


def _scores(path: Path, number: int, text: str) -> list[float]:
    """Return the first 20 numbers, also if only minus signs separate them; -I is missing."""
    tokens = NUMBER.findall(text)
    scores = [np.nan if token == "-I" else float(token) for token in tokens[:20]]
    if (
        len(scores) < 20
        or NUMBER.sub("", text).strip()
        or np.nanmax(np.abs([0, *scores])) > LARGEST
    ):
        raise ReadError(path, f"line {number}: expected 20 scores, got {text[:40]!r}")
    return scores


def _blocks(lines: Lines) -> Iterator[Lines]:
    """Yield the lines of each model; ``//`` ends a model."""
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if line.strip() == "//":
            yield block
            block = []
        elif block or line.strip():
            block.append((number, line))
    if block:
        yield block


def _read_model(path: Path, lines: Lines, model: Model) -> Case:
    """Emissions of the match states of one model, as probabilities."""
    facts: dict[str, str] = {}
    letters: list[str] | None = None
    rows: list[list[float]] = []
    for number, line in lines:
        if letters is None:
            key, rest = (*line.split(maxsplit=1), "", "")[:2]
            facts.setdefault(key, rest)
            letters = _letters(rest) if key == "HMM" else None
        elif match := model.line.fullmatch(line):
            _check_position(path, number, match[1], len(rows) + 1)
            rows.append(_emissions(path, number, match[2], model.unit))
    _check_length(path, facts.get("LENG", ""), len(rows))
    name = facts.get("NAME", "").partition(" ")[0]
    return Case(_in_order(path, letters, rows), name=name)


def _emissions(path: Path, number: int, text: str, unit: float) -> list[float]:
    """Return probabilities that sum to 1, computed from costs; ``*`` is an infinite cost."""
    try:
        costs = [np.inf if token == "*" else read_float(token) for token in text.split()[:20]]
    except ValueError:
        costs = []
    # A value that is not a cost (below 0 or NaN) makes the sum NaN; NaN and 0 are refused.
    chances = np.array([np.exp(-unit * cost) if cost >= 0 else np.nan for cost in costs])
    if len(costs) < 20 or not chances.sum() > 0:
        raise ReadError(path, f"line {number}: expected 20 emissions, got {text[:40]!r}")
    return (chances / chances.sum()).tolist()


def _check_length(path: Path, told: str, found: int) -> None:
    """Refuse a model that was cut short."""
    said = told.partition(" ")[0]
    if said and said != str(found):
        raise ReadError(path, f"{found} positions, but LENG says {said}", "is the file complete?")
