"""Profiles of proteins as 20 rows of numbers: PSI-BLAST, match states of HMMER3 and HH-suite."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mvdfq._utils.checks import check_choice
from mvdfq.io.dataset import Case, Dataset, check_kept, dataset_of
from mvdfq.io.letters.residues import AMINO_ACIDS, matrix_values
from mvdfq.io.source import PACKED_END, Glimpse, ReadError, Source, files_in, read_lines
from mvdfq.io.tables.csv_tables import read_float
from mvdfq.sequences import Sequences, offsets_of

# Nats in a unit of PSI-BLAST's scores: the ungapped lambda of BLOSUM62, to which they are scaled.
PSIBLAST_SCALE = 0.3176
# A smaller emission counts as this value in log-odds: the log-odds of 0 would be infinite.
FLOOR = 1e-4
# A larger score is an error in the file, and would overflow.
LARGEST = 1e6
NUMBER = re.compile(r"-I|[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
Lines = list[tuple[int, str]]


def read(source: Source, profile_values: str = "log-odds") -> Dataset:
    """Read a file of one or several models, or a folder of files of one format.

    If all files lie in sub-folders, the sub-folders are the classes. A name is the path of the file
    within the folder, or the name of the model if the file holds several models.
    """
    check_choice(profile_values, "profile_values", ("log-odds", "probabilities"))
    cases: list[Case] = []
    kinds: dict[str, Path] = {}
    root = source.path if source.path.is_dir() else source.path.parent
    for file in files_in(source.path):
        try:
            kind, profiles = read_profile_text(file)
        except ReadError as error:
            source.leave_out(error)
            continue
        place = file.relative_to(root)
        folder = place.parts[0] if len(place.parts) > 1 else None
        only = re.sub(rf"\.\w+{PACKED_END}$", "", place.as_posix()) if len(profiles) == 1 else None
        cases += [Case(profile.values, folder, only or str(profile.name)) for profile in profiles]
        kinds[kind] = file
    if not cases:
        check_kept(source.path, 0, source.skipped)
        source.fail("the folder holds no files")
    if len(kinds) > 1:
        formats = " and ".join(f"{kind} ({file.name})" for kind, file in kinds.items())
        source.fail(f"profiles of several formats: {formats}", "read one format at a time")
    labels = [case.label for case in cases]
    if None in labels and any(labels):
        source.fail("some files lie in folders, others beside them", "sort the files by class")
    frames = np.concatenate([case.values for case in cases], axis=1, dtype=np.float32)
    X = Sequences(frames, offsets_of(case.values.shape[1] for case in cases), tuple(AMINO_ACIDS))
    if "pssm" not in kinds and profile_values == "log-odds":
        X = X.with_data(np.log2(np.maximum(X.data, FLOOR) / _background()))
    elif "pssm" in kinds and profile_values == "probabilities":
        X = to_probabilities(X)
    return dataset_of(source, cases, lambda _: X)


def is_profile(glimpse: Glimpse) -> bool:
    """Does the file, or the first file of the folder, begin like a profile?"""
    first = files_in(glimpse.path)[:1]
    return any(profile_kind(Glimpse(file).lines) is not None for file in first)


def _background() -> np.ndarray:
    """Return frequencies of amino acids: A. B. Robinson, L. R. Robinson, PNAS 88, 1991."""
    thousandths = matrix_values("frequency")[0]
    return (thousandths / thousandths.sum())[:, np.newaxis]


def to_probabilities(X: Sequences) -> Sequences:
    """Return p ~ q exp(scale s) of scores s; one missing value makes a position missing."""
    exponents = PSIBLAST_SCALE * X.data + np.log(_background())
    chances = np.exp(exponents - exponents.max(axis=0))
    return X.with_data((chances / chances.sum(axis=0)).astype(X.data.dtype))


def profile_kind(lines: list[str]) -> str | None:
    """Return the format of a file that begins with these lines; None if it is not a profile."""
    lines = [line for line in lines[:20] if line.strip()][:3]
    for mark, kind in [("HMMER3", "hmmer"), ("HHsearch", "hhm")]:
        if lines and lines[0].startswith(mark):
            return kind
    return "pssm" if any(map(_letters, lines)) else None


def read_profile_text(path: Path) -> tuple[str, list[Case]]:
    """Return the format of a file and the profiles in the file."""
    source, lines = Source(path), list(read_lines(path))
    kind = profile_kind([line for _, line in lines[:20]])
    if kind is None:
        source.fail("no profile in the file", "PSI-BLAST, HMMER3 and HH-suite can be read")
    blocks: list[Lines] = [lines] if kind == "pssm" else [[]]
    for number, line in lines if kind != "pssm" else ():
        if line.strip() == "//":  # ends a model
            blocks.append([])
        elif blocks[-1] or line.strip():
            blocks[-1].append((number, line))
    blocks = blocks if blocks[-1] else blocks[:-1]
    return kind, [_read_one(source, block, MODELS[kind]) for block in blocks]


def _letters(line: str) -> list[str] | None:
    """Return the amino acids in the order of a line; None if the line does not name all 20."""
    letters = line.split()[:20]
    return letters if sorted(letters) == sorted(AMINO_ACIDS) else None


def _read_one(source: Source, lines: Lines, model: "Model") -> Case:
    """Read one profile: facts, a line that names the amino acids, and a line per position."""
    facts: dict[str, str] = {}
    letters: list[str] | None = None
    rows: list[list[float]] = []
    for number, line in lines:
        key, rest = (*line.split(maxsplit=1), "", "")[:2]
        if letters is None:
            facts.setdefault(key, rest)
            letters = _letters(rest if key == "HMM" else line)
        # the statistics below the last position hold numbers, too
        elif model.has_statistics and rows and key in ("", "K"):
            break
        elif match := model.line.fullmatch(line):
            place, values = str(len(rows) + 1), model.read(match[2])
            if match[1] != place:
                source.fail(f"line {number}: expected position {place}, got {match[1][:20]!r}")
            if values is None:
                source.fail(f"line {number}: expected 20 {model.what}, got {match[2][:40]!r}")
            rows.append(values)
    length = facts.get("LENG", "").partition(" ")[0]
    if length and length != str(len(rows)):
        source.fail(f"{len(rows)} positions, but LENG says {length}", "is the file complete?")
    if letters is None:
        source.fail("no line names the 20 amino acids", "is it of a nucleic acid?")
    if not rows:
        source.fail("the profile has no positions", "is the file complete?")
    in_order = np.array(rows).T[[letters.index(letter) for letter in AMINO_ACIDS]]
    return Case(in_order, name=facts.get("NAME", "").partition(" ")[0])


def _scores(text: str) -> list[float] | None:
    """Return the first 20 numbers, which minus signs may separate; -I is missing."""
    scores = [np.nan if score == "-I" else float(score) for score in NUMBER.findall(text)[:20]]
    if len(scores) < 20 or NUMBER.sub("", text).strip():
        return None
    return scores if np.nanmax(np.abs([0, *scores])) <= LARGEST else None


def _emissions(unit: float, text: str) -> list[float] | None:
    """Return probabilities that sum to 1, computed from costs; ``*`` is an infinite cost."""
    try:
        costs = [np.inf if token == "*" else read_float(token) for token in text.split()[:20]]
    except ValueError:
        return None
    # A value that is not a cost (below 0 or NaN) makes the sum NaN; NaN and 0 are refused.
    chances = np.array([np.exp(-unit * cost) if cost >= 0 else np.nan for cost in costs])
    return (chances / chances.sum()).tolist() if len(costs) == 20 and chances.sum() > 0 else None


class Model(NamedTuple):
    """How a format writes a position: the form of a line, and what reads its 20 values."""

    line: re.Pattern[str]
    read: Callable[[str], list[float] | None]
    what: str = "emissions"
    has_statistics: bool = False  # below the positions


MODELS = {
    "pssm": Model(re.compile(r"\s*+(\S++)\s*+(?:\S\s++)?+(.*)"), _scores, "scores", True),
    "hmmer": Model(re.compile(r"\s*([0-9]+)\s+(.+)"), partial(_emissions, 1.0)),
    "hhm": Model(re.compile(r"[A-Za-z]\s+([0-9]+)\s+(.+)"), partial(_emissions, np.log(2) / 1000)),
}
