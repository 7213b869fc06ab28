"""The .ts format of sktime and aeon: reader and writer."""

import gzip
import re
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.files import replacing
from mvdfq._utils.short import counted
from mvdfq.io.dataset import Case, Dataset, gather, read_header
from mvdfq.io.source import Source
from mvdfq.io.tables.csv_tables import COUNT, MISSING, channel_values, numbers
from mvdfq.io.tables.times import SAME_RATE, moments, unit_of
from mvdfq.sequences import Sequences, check_sequences

# The lines of a header that are read, and others, which show that the file is a .ts file.
FLAGS = ("timestamps", "univariate", "equallength", "targetlabel", "classlabel")
SIZES = {"dimension": "channels", "dimensions": "channels", "serieslength": "frames"}
OTHERS = ("problemname", "missing", "data")
# Quantifiers are possessive (a second + after each), so that every line takes linear time.
PAIR = re.compile(r"\(([^,()]++),([^,()]++)\)")
CHANNEL_END = re.compile(r"(?<=\))\s*+:")
KEY = re.compile(rf"@({'|'.join((*FLAGS, *SIZES, *OTHERS))})\b", re.IGNORECASE)


def read_ts(source: Source) -> Dataset:
    """Read a .ts file; its times tell the rate."""
    lines, header = source.content(), _Header()
    read_header(source, lines, header.note)
    data = gather(source, lines, header.case)
    if not header.steps:
        return data
    low, high = min(header.steps), max(header.steps)
    if high > (1 + SAME_RATE) * low:
        text = f"the times are {low:g} apart in one series and {high:g} in another, but rows count"
        hint = "mvdfq.from_long_table(sampling_rate=...) resamples series"
        source.remark(f"{text} as evenly spaced; {hint}")
    elif header.has_unit:
        rate = len(header.steps) / sum(header.steps)
        data = replace(data, X=replace(data.X, sampling_rate=rate))
    return replace(data, remarks=tuple(source.remarks))


@dataclass
class _Header:
    """What the lines before @data say; reads the lines below."""

    flags: dict[str, bool] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    # The step between the times of each series, in seconds if the unit of all times is known.
    steps: list[float] = field(default_factory=list)
    has_unit: bool = True
    # The words of all labels, in order; a label with spaces is several words.
    words: str = ""

    def note(self, line: str) -> bool:
        """Store what one line says, and ignore unknown lines; return whether data follow."""
        if line[0] != "@":
            raise ValueError(f"{line[:40]!r} before @data; is this a .ts file?")
        # Other programs read labels in any case, and files exist that rely on it.
        key, *words = line[1:].lower().split() or [""]
        if key == "data" and not words:
            if not {"classlabel", "targetlabel"} & self.flags.keys():
                hint = "write '@classLabel true' and the labels, or '@classLabel false'"
                raise ValueError(f"@data without @classLabel or @targetLabel before it; {hint}")
            return True
        if key in FLAGS:
            if words[:1] not in (["true"], ["false"]):
                raise ValueError(f"@{key} must be true or false, got {' '.join(words)[:40]!r}")
            self.flags[key] = words[0] == "true"
        elif key in SIZES:
            if not (words and COUNT.fullmatch(words[0])):
                raise ValueError(f"@{key} must be a number, got {' '.join(words)[:40]!r}")
            self.sizes[SIZES[key]] = int(words[0])
        if key == "classlabel":
            self.words = " ".join(["", *words[1:], ""])
        return False

    def case(self, line: str) -> Case:
        """Return the values and the label of one line."""
        label = None
        if self.flags.get("classlabel") or self.flags.get("targetlabel"):
            line, colon, word = line.rpartition(":")
            if not colon:
                raise ValueError("no label; the label follows the last colon")
            label = self._label(word.strip())
        else:
            line = line.removesuffix(":")  # aeon writes a colon before a label that is not there
        has_times = self.flags.get("timestamps")
        channels, times = _without_times(line) if has_times else (line.split(":"), [])
        if len(times) > 1:  # a series of one frame has no step
            unit = unit_of("time", times)
            self.has_unit &= unit is not None
            self.steps.append(float(np.diff(moments(times)).mean()) * (unit or 1.0))
        values = channel_values(channels)
        self._check_shape(values.shape)
        return Case(values, label)

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        """Refuse a series of another shape than the header says."""
        if self.flags.get("univariate"):
            self.sizes["channels"] = 1
        # with series of unequal lengths, older files of the archive give the longest
        is_equal = self.flags.get("equallength", "frames" in self.sizes)
        for key, size in zip(("channels", "frames")[: 1 + is_equal], shape, strict=False):
            if self.sizes.setdefault(key, size) != size:
                got = counted(size, key.removesuffix("s"))
                raise ValueError(f"{got}, expected {self.sizes[key]}")

    def _label(self, word: str) -> Any:
        if word.lower() in MISSING:
            raise ValueError(f"the label is missing: {word!r}")
        if self.flags.get("targetlabel"):
            return float(numbers(word)[0])
        if self.words.strip() and f" {' '.join(word.lower().split())} " not in self.words:
            raise ValueError(f"label {word[:40]!r} is not among the labels of @classLabel")
        return word


def _without_times(line: str) -> tuple[list[str], list[str]]:
    """Return channels of ``(time,value)`` pairs without their times, and the times of all."""
    channels: list[str] = []
    clock: list[str] = []
    first = np.empty(0)
    hint = "resample the series with mvdfq.from_long_table(sampling_rate=...)"
    for text in CHANNEL_END.split(line):
        pairs = PAIR.findall(text)
        if not pairs or re.sub(r"[\s,]", "", PAIR.sub("", text)):
            raise ValueError(f"{text[:40]!r} is not a list of (time,value) pairs")
        channels.append(",".join(value for _, value in pairs))
        times = moments(words := [time for time, _ in pairs])
        clock, first = (clock, first) if clock else (words, times)
        steps = np.diff(times)
        is_even = not steps.size or 0 < steps.max() <= 1.001 * steps.min()
        if not is_even or not np.array_equal(times, first):
            problem = "the times do not rise in even steps, or differ from the times of channel 1"
            raise ValueError(f"channel {len(channels)}: {problem}; {hint}")
    return channels, clock


def write_ts(path: str | Path, X: Any, y: Any = None) -> None:
    """Write sequences as a .ts file, which sktime, aeon and `read` read.

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

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np
    >>> from mvdfq.io import read, write_ts
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.ts"
    >>> write_ts(path, [np.ones((2, 3)), np.zeros((2, 4))], ["sitting down", "up"])
    >>> read(path).y
    array(['sitting down', 'up'], dtype='<U12')
    """
    path, sequences = Path(path), check_sequences(X)
    if any(sequences.symbolic):
        problem = "A .ts file holds only numbers, but X has symbolic channels"
        raise ValueError(f"{problem}; use write_npz.")
    labels = None if y is None else _labels_to_write(y, len(sequences))
    name = re.sub(r"\s+", "_", Source(path).stem)
    head = [f"@problemName {name}", *_header_lines(sequences, labels), "@data"]
    with replacing(path) as raw, ExitStack() as stack:
        file: Any = raw
        if path.suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile(path.stem, "wb", fileobj=raw))
        file.write("".join(f"{line}\n" for line in head).encode())
        for i, x in enumerate(sequences):
            # The format has no series without frames: write one missing frame.
            rows = x.astype(float).tolist() if x.shape[1] else [[np.nan]] * len(x)
            line = ":".join(",".join(map(repr, row)) for row in rows).replace("nan", "NaN")
            file.write((line + (f":{labels[i]}\n" if labels else "\n")).encode())


def _labels_to_write(y: Any, n_sequences: int) -> list[Any]:
    y = np.asarray(y)
    if y.shape != (n_sequences,):
        raise ValueError(f"y has shape {y.shape}, X has {n_sequences} sequences.")
    labels = y.tolist() if y.dtype.kind == "f" else [str(label) for label in y.tolist()]
    for i, label in enumerate(map(str, labels)):
        if ":" in label or " ".join(label.split()) != label or label.lower() in MISSING:
            raise ValueError(f"Label {i} is {label!r}, which a .ts file cannot hold.")
    return labels


def _header_lines(X: Sequences, labels: list[Any] | None) -> list[str]:
    lengths = set(X.lengths.clip(1).tolist())
    missing = bool(np.isnan(X.data).any() or (X.lengths == 0).any())
    flags = {"timeStamps": False, "missing": missing, "univariate": X.n_rows == 1}
    lines = [f"@{key} {str(flag).lower()}" for key, flag in flags.items()]
    lines += [f"@dimension {X.n_rows}"] if X.n_rows > 1 else []
    lines += [f"@equalLength {str(len(lengths) == 1).lower()}"]
    lines += [f"@seriesLength {lengths.pop()}"] if len(lengths) == 1 else []
    if labels is None:
        return [*lines, "@classLabel false"]
    if isinstance(labels[0], float):
        return [*lines, "@targetLabel true"]
    return [*lines, " ".join(["@classLabel true", *sorted(set(labels))])]
