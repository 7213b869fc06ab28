"""The .ts format of sktime and aeon: reader and writer."""

import gzip
import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mvdfq._utils.files import replacing
from mvdfq.io.dataset import Case, Dataset, Format, gather
from mvdfq.io.source import Glimpse, Source
from mvdfq.io.tables.csv_tables import COUNT, MISSING, channel_values, numbers
from mvdfq.io.tables.times import SAME_RATE, moments, unit_of
from mvdfq.sequences import Sequences, check_sequences

# The lines of a header that are read, and what may follow the key.
FLAGS = ("timestamps", "univariate", "equallength", "targetlabel", "classlabel")
COUNTS = ("dimension", "dimensions", "serieslength")
# Quantifiers are possessive (a second + after each), so that every line takes linear time.
PAIR = re.compile(r"\(([^,()]++),([^,()]++)\)")
CHANNEL_END = re.compile(r"(?<=\))\s*+:")
KEY = re.compile(
    rf"@({'|'.join((*FLAGS, *COUNTS, 'problemname', 'missing', 'data'))})\b", re.IGNORECASE
)


def _is_ts(glimpse: Glimpse) -> bool:
    return bool(glimpse.said and KEY.match(glimpse.said[0]))


def read_ts(source: Source) -> Dataset:
    """Read a .ts file."""
    lines = source.said()
    header = _read_header(source, lines)
    data = gather(source, lines, partial(_read_case, header=header))
    return replace(data, X=_with_rate(source, data.X, header), remarks=tuple(source.remarks))


def _with_rate(source: Source, X: Sequences, header: "_Header") -> Sequences:
    """Return the series with the rate that their times tell; say if the rates differ."""
    if not header.steps:
        return X
    low, high = min(header.steps), max(header.steps)
    if high > (1 + SAME_RATE) * low:
        source.remark(
            f"the times are {low:g} apart in one series and {high:g} in another, but rows count as "
            f"evenly spaced; mvdfq.from_long_table(sampling_rate=...) resamples series"
        )
        return X
    rate = len(header.steps) / sum(header.steps)
    return replace(X, sampling_rate=rate) if header.has_unit else X


@dataclass
class _Header:
    """What the lines before @data say; None if they do not say it."""

    timestamps: bool = False
    univariate: bool | None = None
    equallength: bool | None = None
    targetlabel: bool | None = None
    dimensions: int | None = None
    serieslength: int | None = None
    classlabel: bool | None = None
    # The step between the times of each series, in seconds if the unit of all times is known.
    steps: list[float] = field(default_factory=list)
    has_unit: bool = True
    # The words of all labels, in order; a label with spaces is several words.
    words: str = ""

    @property
    def labelled(self) -> bool:
        return bool(self.classlabel or self.targetlabel)


def _read_header(source: Source, lines: Iterator[tuple[int, str]]) -> _Header:
    header, number = _Header(), 0
    for number, line in lines:
        if line[0] != "@":
            source.fail(f"line {number}: {line[:40]!r} before @data", "is this a .ts file?")
        if line.lower() == "@data":
            return _checked(source, header, number)
        try:
            _note(header, line)
        except ValueError as error:
            source.fail(f"line {number}: {error}")
    source.fail(f"line {number}: the file ends before @data" if number else "the file is empty")


def _checked(source: Source, header: _Header, number: int) -> _Header:
    """Refuse a header that leaves open whether the last value of a line is a label."""
    if header.classlabel is None and header.targetlabel is None:
        hint = "write '@classLabel true' and the labels, or '@classLabel false'"
        source.fail(f"line {number}: @data without @classLabel or @targetLabel before it", hint)
    if header.univariate and header.dimensions not in (None, 1):
        source.fail(f"line {number}: univariate, but with {header.dimensions} dimensions")
    if header.serieslength is not None and header.equallength is None:
        header.equallength = True
    if not header.equallength:  # older files of the archive give the longest
        header.serieslength = None
    return header


def _note(header: _Header, line: str) -> None:
    """Store what one line of the header says; ignore unknown lines."""
    key, *words = line[1:].split()
    key = key.lower()
    first = words[0].lower() if words else ""
    if key in FLAGS:
        if first not in ("true", "false"):
            raise ValueError(f"@{key} must be true or false, got {first[:40]!r}")
        setattr(header, key, first == "true")
    elif key in COUNTS:
        if not (COUNT.fullmatch(first) and int(first)):
            raise ValueError(f"@{key} must be a positive number, got {first[:40]!r}")
        setattr(header, {"dimension": "dimensions"}.get(key, key), int(first))
    if key == "classlabel":
        # Other programs read labels in any case, and files exist that rely on it.
        header.words = " ".join(["", *words[1:], ""]).lower()


def _read_case(line: str, header: _Header) -> Case:
    """The values and the label of one line."""
    label = None
    if header.labelled:
        line, colon, word = line.rpartition(":")
        if not colon:
            raise ValueError("no label; the label follows the last colon")
        label = _label(word, header)
    else:
        line = line.removesuffix(":")  # aeon writes a colon before a label that is not there
    channels, times = _without_times(line) if header.timestamps else (line.split(":"), [])
    values = channel_values(channels)
    _check_shape(values, header)
    _note_step(times, header)
    return Case(values, label)


def _label(word: str, header: _Header) -> Any:
    word = word.strip()
    if word.lower() in MISSING:
        raise ValueError(f"the label is missing: {word!r}")
    if header.targetlabel:
        return float(numbers(word)[0])
    if header.words.strip() and f" {' '.join(word.lower().split())} " not in header.words:
        raise ValueError(f"label {word[:40]!r} is not among the labels of @classLabel")
    return word


def _check_shape(values: np.ndarray, header: _Header) -> None:
    """Compare the shape with the header, or with the first series if the header says nothing."""
    n_channels, length = values.shape
    if header.univariate and n_channels > 1:
        raise ValueError(f"{n_channels} channels in a file with @univariate true")
    header.dimensions = header.dimensions or n_channels
    if n_channels != header.dimensions:
        raise ValueError(f"{n_channels} channels, expected {header.dimensions}")
    if header.equallength:
        header.serieslength = header.serieslength or length
        if length != header.serieslength:
            raise ValueError(f"length {length}, expected {header.serieslength}, equal for all")


def _without_times(line: str) -> tuple[list[str], list[str]]:
    """Channels of ``(time,value)`` pairs without their times, and the times of the series.

    Times must be evenly spaced, and the same in all channels.
    """
    channels: list[str] = []
    clocks: list[list[str]] = []
    for text in CHANNEL_END.split(line):
        pairs = PAIR.findall(text)
        if not pairs or re.sub(r"[\s,]", "", PAIR.sub("", text)):
            raise ValueError(f"{text[:40]!r} is not a list of (time,value) pairs")
        clocks.append([time for time, _ in pairs])
        channels.append(",".join(value for _, value in pairs))
        _check_times(clocks[-1])
        if len(clocks[-1]) == len(clocks[0]) and (moments(clocks[-1]) != moments(clocks[0])).any():
            hint = "resample the series with mvdfq.from_long_table(sampling_rate=...)"
            raise ValueError(f"channel {len(clocks)} has other times than channel 1; {hint}")
    return channels, clocks[0]


def _check_times(times: list[str]) -> None:
    steps = np.diff(moments(times))
    if not (steps > 0).all():
        raise ValueError(f"times do not increase after {times[int(np.argmin(steps > 0))]!r}")
    if steps.size and steps.max() - steps.min() > 1e-3 * steps.min():
        raise ValueError(
            "times are not evenly spaced; resample the series with "
            "mvdfq.from_long_table(sampling_rate=...)"
        )


def _note_step(times: list[str], header: _Header) -> None:
    """Keep the step between the times of a series; a series of one frame has no step."""
    if len(times) > 1:
        unit = unit_of("time", times)
        header.has_unit &= unit is not None
        header.steps.append(float(np.diff(moments(times)).mean()) * (unit or 1.0))


FORMAT = Format("ts", _is_ts, read_ts, extensions=("ts",))


def write_ts(
    path: str | Path,
    X: Any,
    y: Any = None,
    *,
    problem_name: str | None = None,
    comment: str = "",
) -> None:
    """Write sequences as a .ts file, which sktime, aeon and `read_series` read.

    Numbers are read back exactly. The format does not hold channel names or a sampling rate;
    `write_npz` keeps both.

    Parameters
    ----------
    path : str or Path
        The file; compressed if its name ends in ``.gz``.

    X : Sequences, list of array-like or 3-D array
        The sequences, as every estimator takes them, without symbolic channels.

    y : array-like of shape (n_sequences,), default=None
        Labels, without colons or missing values. Floats are written as targets of a regression.

    problem_name : str, default=None
        The name of the data set; by default the name of the file.

    comment : str, default=""
        Text for the top of the file.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np
    >>> from mvdfq.io import read_series, write_ts
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.ts"
    >>> write_ts(path, [np.ones((2, 3)), np.zeros((2, 4))], ["sitting down", "up"])
    >>> read_series(path).y
    array(['sitting down', 'up'], dtype='<U12')
    """
    path, sequences = Path(path), check_sequences(X)
    if any(sequences.symbolic):
        raise ValueError(
            "A .ts file holds only numbers, but X has symbolic channels; use write_npz."
        )
    labels = None if y is None else _labels_to_write(y, len(sequences))
    name = re.sub(r"\s+", "_", problem_name or Source(path).stem)
    head = [f"# {line}" for line in comment.splitlines()] + [f"@problemName {name}"]
    head += [*_header_lines(sequences), _label_line(labels), "@data"]
    with replacing(path) as raw, _packed(raw, path) as file:
        file.write("".join(f"{line}\n" for line in head).encode())
        for i, x in enumerate(sequences):
            file.write((_case_line(x) + (f":{labels[i]}\n" if labels else "\n")).encode())


def _packed(file: BinaryIO, path: Path) -> Any:
    """Return what writes to the file: compressed if the path ends in .gz."""
    if path.suffix == ".gz":
        return gzip.GzipFile(path.stem, "wb", fileobj=file)
    return nullcontext(file)


def _labels_to_write(y: Any, n_sequences: int) -> list[Any]:
    y = np.asarray(y)
    if y.shape != (n_sequences,):
        raise ValueError(f"y has shape {y.shape}, X has {n_sequences} sequences.")
    labels = y.tolist() if y.dtype.kind == "f" else [str(label) for label in y.tolist()]
    for i, label in enumerate(map(str, labels)):
        if ":" in label or " ".join(label.split()) != label or label.lower() in MISSING:
            raise ValueError(f"Label {i} is {label!r}, which a .ts file cannot hold.")
    return labels


def _header_lines(X: Sequences) -> list[str]:
    lengths = set(X.lengths.clip(1).tolist())
    missing = bool(np.isnan(X.data).any() or (X.lengths == 0).any())
    flags = {"timeStamps": False, "missing": missing, "univariate": X.n_rows == 1}
    lines = [f"@{key} {str(flag).lower()}" for key, flag in flags.items()]
    lines += [f"@dimension {X.n_rows}"] if X.n_rows > 1 else []
    lines += [f"@equalLength {str(len(lengths) == 1).lower()}"]
    return lines + ([f"@seriesLength {lengths.pop()}"] if len(lengths) == 1 else [])


def _label_line(labels: list[Any] | None) -> str:
    if labels is None:
        return "@classLabel false"
    if isinstance(labels[0], float):
        return "@targetLabel true"
    return " ".join(["@classLabel true", *sorted(set(labels))])


def _case_line(x: np.ndarray) -> str:
    # The format has no series without frames: write one missing frame.
    rows = x.astype(float).tolist() if x.shape[1] else [[np.nan]] * len(x)
    return ":".join(",".join(map(repr, row)) for row in rows).replace("nan", "NaN")
