"""Profiles of proteins as 20 rows of numbers: PSI-BLAST's PSSM, HMMER3, HH-suite, npz.

Of a hidden Markov model the emissions of the match states are read; insertions, deletions and
transitions are not. Formats are recognised by content, and files may be gzipped.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mvdfq.io.base import Dataset, ReadError
from mvdfq.io.fasta import head, read_lines
from mvdfq.io.proteins import About, as_table, columns_of, look_up
from mvdfq.io.scales import AMINO_ACIDS
from mvdfq.sequences import Sequences, check_sequences, offsets_of

__all__ = [
    "log_odds_to_probabilities",
    "looks_like_profiles",
    "read_profile_npz",
    "read_profiles",
]

# Nats in a unit of PSI-BLAST's scores: the ungapped lambda of BLOSUM62, to which they are scaled.
PSIBLAST_SCALE = 0.3176
# Frequencies of the amino acids, in thousandths: A. B. Robinson, L. R. Robinson, PNAS 88, 1991.
ROBINSON = """78.05 19.25 53.64 62.95 38.56 73.77 21.99 51.42 57.44 90.19
    22.43 44.87 52.03 42.64 51.29 71.20 58.41 64.41 13.30 32.16"""
# Emissions below this one count as this in log-odds, which would be infinite for 0.
FLOOR = 1e-4
# No score is larger; one that is would overflow.
LARGEST = 1e6
NUMBER = re.compile(r"-I|[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
# What numpy raises on a file that is no npz, or one that is cut short or altered.
UNREADABLE = (
    *(OSError, EOFError, ValueError, TypeError, KeyError, AttributeError, NotImplementedError),
    *(zlib.error, zipfile.BadZipFile),
)
Lines = Sequence[tuple[int, str]]


class Read(NamedTuple):
    """What is read of a protein: its name in the file, and 20 rows."""

    name: str
    rows: np.ndarray


class Model(NamedTuple):
    """How a kind of hidden Markov model writes emissions: the line, and nats in a unit."""

    line: re.Pattern[str]
    unit: float


MODELS = {
    "hmmer": Model(re.compile(r"\s*([0-9]+)\s+(.+)"), 1.0),
    "hhm": Model(re.compile(r"[A-Za-z]\s+([0-9]+)\s+(.+)"), np.log(2) / 1000),
}


def read_profiles(
    path: str | Path,
    *,
    values: str = "log-odds",
    labels: Any = None,
    skip_bad: bool = False,
) -> Dataset:
    r"""Read profiles: PSI-BLAST's ASCII PSSM, HMMER3's ``.hmm`` or HH-suite's ``.hhm``.

    Parameters
    ----------
    path : str or Path
        A file, which may hold several models, or a folder of files, all of one format; where
        all of them lie in folders within it, these are the classes. An npz file is read by
        `read_profile_npz`, and has log-odds only.

    values : {"log-odds", "probabilities"}, default="log-odds"
        Log-odds are the scores of a PSSM as they are, and bits over the background frequencies
        of Robinson and Robinson for emissions, of which those below 0.0001 count as that.
        Probabilities, which `mvdfq.Profile` takes, are the emissions as they are; scores go
        through `log_odds_to_probabilities`.

    labels : str, Path or mapping, default=None
        A table ``id,label[,group]``, or a mapping of id to class.

    skip_bad : bool, default=False
        Leave bad files out and list them in `Dataset.skipped`, rather than raise.

    Returns
    -------
    dataset : Dataset
        20 channels, the amino acids in alphabetic order of their letters. Names are paths of
        files within the folder, without the ending; in a file of several models, theirs.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mvdfq.io.profiles import read_profiles
    >>> letters = " ".join("ARNDCQEGHILKMFPSTWYV")
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "d1.pssm")
    ...     _ = path.write_text(f"\n{letters}\n 1 M {'-1 ' * 19} 4\n 2 A 5 {'-2 ' * 19}\n")
    ...     data = read_profiles(path)
    >>> data.names, data.X[0][[0, 17]]
    (['d1'], array([[-1.,  5.], [ 4., -2.]], dtype=float32))
    """
    if values not in ("log-odds", "probabilities"):
        raise ValueError(f"values must be 'log-odds' or 'probabilities', got {values!r}.")
    table = None if labels is None else as_table(labels)
    if zipfile.is_zipfile(path):
        return _from_npz(path, values, table)
    found: list[tuple[str, np.ndarray, About]] = []
    skipped, kinds = [], {}
    for file in _files(Path(path)):
        try:
            kind, profiles = _read_file(file)
            found += list(_named(Path(path), file, profiles, table))  # all of a file, or none
            kinds[kind] = file
        except ReadError as error:
            if not skip_bad:
                raise
            skipped.append(error)
    _check_found(path, found, kinds, skipped)
    X = _as_sequences([rows for _, rows, _ in found])
    y, groups = columns_of([about for _, _, about in found])
    names = [name for name, _, _ in found]
    X = _converted(X, next(iter(kinds)), values)
    return Dataset(X, y=y, names=names, groups=groups, skipped=tuple(skipped))


def _from_npz(path: str | Path, values: str, table: dict[str, About] | None) -> Dataset:
    """The profiles of an npz file, with the labels of a table if there is one."""
    if values != "log-odds":
        raise ReadError(
            path, "no telling what its log-odds are over", "call log_odds_to_probabilities"
        )
    data = read_profile_npz(path)
    if table is None:
        return data
    y, groups = columns_of([look_up(path, name, table) for name in data.names])
    return replace(data, y=y, groups=groups)


def _files(path: Path) -> list[Path]:
    """The files of a folder and its folders, in order; a file itself."""
    if not path.is_dir():
        return [path]
    below = (file for file in path.rglob("*") if file.is_file())
    files = sorted(file for file in below if not file.name.startswith("."))
    if not files:
        raise ReadError(path, "the folder holds no files")
    return files


def _named(
    path: Path, file: Path, profiles: list[Read], table: dict[str, About] | None
) -> Iterator[tuple[str, np.ndarray, About]]:
    """Profiles of a file with their names, and what the table or the folder says of them."""
    place = file.relative_to(path) if path.is_dir() else Path(file.name)
    stem = place.with_suffix("") if place.suffix == ".gz" else place
    folder = place.parts[0] if len(place.parts) > 1 else None
    for profile in profiles:
        name = stem.with_suffix("").as_posix() if len(profiles) == 1 else profile.name
        about = (folder, None) if table is None else look_up(file, name, table)
        yield name, profile.rows, about


def _check_found(
    path: str | Path, found: list[Any], kinds: dict[str, Path], skipped: list[ReadError]
) -> None:
    if not found:
        raise ReadError(path, "no profile can be used", f"the first: {skipped[0].problem}")
    if len(kinds) > 1:
        formats = " and ".join(f"{kind} ({file.name})" for kind, file in kinds.items())
        raise ReadError(path, f"holds profiles of several formats: {formats}", "read one at a time")
    labels = [label for _, _, (label, _) in found]
    if None in labels and any(labels):
        raise ReadError(path, "some files lie in folders, others beside them", "sort them by class")


def _as_sequences(parts: list[np.ndarray]) -> Sequences:
    data = np.concatenate(parts, axis=1, dtype=np.float32)
    return Sequences(data, offsets_of(x.shape[1] for x in parts), tuple(AMINO_ACIDS))


def _converted(X: Sequences, kind: str, values: str) -> Sequences:
    """Scores or emissions in the form asked for."""
    if kind == "pssm":
        return X if values == "log-odds" else log_odds_to_probabilities(X)
    if values == "probabilities":
        return X
    return X.with_data(np.log2(np.maximum(X.data, FLOOR) / _frequencies(None)[:, np.newaxis]))


def looks_like_profiles(path: str | Path) -> bool:
    """Does `read_profiles` read this: PSSM, HMMER3, HH-suite, npz, or a folder of them?

    Parameters
    ----------
    path : str or Path
        A file, of which only the beginning is read, or the list of what is in the npz; or a
        folder, of which the first file counts.

    Returns
    -------
    answer : bool
        False also for what cannot be read.

    Examples
    --------
    >>> from mvdfq.io.profiles import looks_like_profiles
    >>> looks_like_profiles("no such file")
    False
    """
    try:
        first = _files(Path(path))[0]
        if zipfile.is_zipfile(first):
            with zipfile.ZipFile(first) as archive:
                return {"pssm.npy", "start.npy"} <= set(archive.namelist())
    except (OSError, ReadError, zipfile.BadZipFile):
        return False
    return _kind(head(first).splitlines()) is not None


def _kind(lines: list[str]) -> str | None:
    """The format of a file that begins with these lines."""
    lines = [line for line in lines[:20] if line.strip()][:3]
    if not lines:
        return None
    for mark, kind in [("HMMER3", "hmmer"), ("HHsearch", "hhm")]:
        if lines[0].startswith(mark):
            return kind
    return "pssm" if any(_letters(line) for line in lines) else None


def _read_file(path: Path) -> tuple[str, list[Read]]:
    lines = list(read_lines(path))
    kind = _kind([line for _, line in lines[:20]])
    if kind is None:
        raise ReadError(path, "no profile in it", "PSI-BLAST, HMMER3 and HH-suite are known")
    if kind == "pssm":
        return kind, [Read(path.name, _read_pssm(path, lines))]
    return kind, [_read_model(path, block, MODELS[kind]) for block in _blocks(lines)]


def _letters(line: str) -> list[str] | None:
    """The amino acids in the order in which a line names them; None if it does not."""
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
    """The first 20 numbers, also where a minus sign is all that parts them; -I is missing."""
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
    """The lines of each model; ``//`` ends one."""
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if line.strip() == "//":
            yield block
            block = []
        elif block or line.strip():
            block.append((number, line))
    if block:
        yield block


def _read_model(path: Path, lines: Lines, model: Model) -> Read:
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
    return Read(facts.get("NAME", "").partition(" ")[0], _in_order(path, letters, rows))


def _emissions(path: Path, number: int, text: str, unit: float) -> list[float]:
    """Probabilities that sum to 1, of costs; ``*`` is a cost without end."""
    try:
        costs = [np.inf if token == "*" else float(token) for token in text.split()[:20]]
    except ValueError:
        costs = []
    # What is no cost, below 0 or NaN, makes the sum NaN, which is refused with the sum 0.
    chances = np.array([np.exp(-unit * cost) if cost >= 0 else np.nan for cost in costs])
    if len(costs) < 20 or not chances.sum() > 0:
        raise ReadError(path, f"line {number}: expected 20 emissions, got {text[:40]!r}")
    return (chances / chances.sum()).tolist()


def _check_length(path: Path, told: str, found: int) -> None:
    """Refuse a model that was cut short."""
    said = told.partition(" ")[0]
    if said and said != str(found):
        raise ReadError(path, f"{found} positions, but LENG says {said}", "is the file complete?")


def log_odds_to_probabilities(
    X: Any, *, scale: float = PSIBLAST_SCALE, background: Any = None
) -> Sequences:
    r"""Turn log-odds into the probabilities that `mvdfq.Profile` takes.

    .. math:: p_a \propto q_a \exp(\text{scale} \cdot s_a), \qquad \sum_a p_a = 1

    Parameters
    ----------
    X : Sequences, or list of arrays of shape (20, n_positions)
        Log-odds :math:`s`, a row for each amino acid.

    scale : float, default=0.3176
        Nats in a unit: that of PSI-BLAST's scores by default, ``np.log(2)`` for bits.

    background : array-like of shape (20,) or "uniform", default=None
        Frequencies :math:`q`; None is those of Robinson and Robinson, which BLAST takes.

    Returns
    -------
    sequences : Sequences
        Probabilities; a position with a missing value is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq.io.profiles import log_odds_to_probabilities
    >>> scores = np.zeros((20, 1))
    >>> scores[0] = 2
    >>> log_odds_to_probabilities([scores], scale=np.log(2), background="uniform")[0][:2].round(3)
    array([[0.174],
           [0.043]])
    """
    X = check_sequences(X, n_channels=20)
    if not 0 < scale < np.inf:
        raise ValueError(f"scale must be a positive number, got {scale!r}.")
    exponents = scale * X.data + np.log(_frequencies(background))[:, np.newaxis]
    chances = np.exp(exponents - exponents.max(axis=0))
    return X.with_data((chances / chances.sum(axis=0)).astype(X.data.dtype))


def _frequencies(background: Any) -> np.ndarray:
    if background is None:
        background = ROBINSON.split()
    elif isinstance(background, str) and background == "uniform":
        background = np.ones(20)
    frequencies = np.array(background, dtype=float)
    if frequencies.shape != (20,) or not (frequencies > 0).all():
        raise ValueError("background must be 20 positive frequencies, 'uniform' or None.")
    return frequencies / frequencies.sum()


def read_profile_npz(path: str | Path) -> Dataset:
    """Read profiles out of one npz file.

    Parameters
    ----------
    path : str or Path
        Arrays ``pssm`` (n_positions, 20), all profiles one below the other, and ``start``
        (n + 1), where each begins; and, where they are known, ``ids``, ``label`` (with
        ``folds``, the names of the classes, of which what stands before a tab is taken) and
        ``columns``, the letters of the columns, in alphabetic order if it is not there.

    Returns
    -------
    dataset : Dataset
        20 channels of numbers as they are in the file. Those of the EDD set are bits over equal
        frequencies: ``log_odds_to_probabilities(X, scale=np.log(2), background="uniform")``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from mvdfq.io.profiles import read_profile_npz
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.npz")
    ...     np.savez(path, pssm=np.zeros((7, 20)), start=[0, 3, 7], label=[0, 1])
    ...     data = read_profile_npz(path)
    >>> data.X.lengths, data.y
    (array([3, 4]), array([0, 1]))
    """
    arrays = _load(path)
    pssm, start = arrays["pssm"], arrays["start"]
    letters = list(str(arrays.get("columns", AMINO_ACIDS)))
    _check_arrays(path, pssm, start, letters)
    for name in ("ids", "label"):
        if name in arrays and arrays[name].shape != (len(start) - 1,):
            raise ReadError(path, f"{name} must be one for each of {len(start) - 1} profiles")
    order = [letters.index(letter) for letter in AMINO_ACIDS]
    X = Sequences(pssm.T[order].astype(np.float32), start.astype(np.int64), tuple(AMINO_ACIDS))
    names = [str(name) for name in arrays.get("ids", np.arange(len(X)))]
    return Dataset(X, y=_classes(path, arrays), names=names)


def _load(path: str | Path) -> dict[str, np.ndarray]:
    try:
        # Opened here, for numpy leaves files open that it cannot read.
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except UNREADABLE as error:
        raise ReadError(path, f"no npz file of arrays: {error}") from error
    lacking = [name for name in ("pssm", "start") if name not in arrays]
    if lacking:
        raise ReadError(path, f"no array {lacking[0]!r} in it", "pssm and start are needed")
    return arrays


def _check_arrays(
    path: str | Path, pssm: np.ndarray, start: np.ndarray, letters: list[str]
) -> None:
    if pssm.ndim != 2 or pssm.shape[1] != 20 or pssm.dtype.kind not in "fiu":
        raise ReadError(path, f"pssm must be (n_positions, 20) numbers, got {pssm.shape}")
    if sorted(letters) != sorted(AMINO_ACIDS):
        raise ReadError(path, f"columns must be the 20 amino acids, got {''.join(letters)!r}")
    ends = start.ndim == 1 and start.size > 1 and start[0] == 0 and start[-1] == len(pssm)
    if start.dtype.kind not in "iu" or not ends or (np.diff(start.astype(np.int64)) < 0).any():
        raise ReadError(path, f"start must ascend from 0 to the {len(pssm)} positions of pssm")
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite
        infinite = np.isinf(pssm.astype(np.float32)).any()
    if infinite:
        raise ReadError(path, "pssm holds infinite values", "NaN marks a missing one")


def _classes(path: str | Path, arrays: dict[str, np.ndarray]) -> np.ndarray | None:
    """Labels, by their names where the file has these."""
    y, folds = arrays.get("label"), arrays.get("folds")
    if y is None or folds is None:
        return y
    if y.dtype.kind not in "iu" or (y.size and not 0 <= y.min() <= y.max() < len(folds)):
        raise ReadError(path, f"label must number the {len(folds)} folds from 0")
    return np.array([str(name).partition("\t")[0] for name in folds])[y]
