"""Columns of times: as numbers, in seconds; the rates that they tell, and one rate for all."""

import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from mvdfq._utils.errors import Sentence, Usual
from mvdfq.io.source import Source
from mvdfq.io.tables.csv_tables import UNITS, floats, is_given, is_value
from mvdfq.sequences import Sequences, offsets_of
from mvdfq.sequences.check import check_sampling_rate
from mvdfq.sequences.sampling import GAP, rate_of, resampled

# Seconds since 1970 from 1979 to 2096, and the same in thousandths, millionths and billionths:
# numbers between these limits that rise are taken for the time of day and year.
EPOCH = 3e8, 4e9
# Days since 1900, from 1954 to 2119, as Excel writes dates, in steps of less than two minutes.
DAY_LIMITS, DAY_STEP, SECONDS_PER_DAY = (2e4, 8e4), 1e-3, 86400.0
# "time (ms)", "time[ms]", "time_ms", "t / s"
WITH_UNIT = re.compile(r"([^\[(/]*+)[\[(/]\s*+(\S+?)\s*+[\])]?\s*+")
WITH_TAIL = re.compile(r"(.*)[_ .-]([^_ .-]++)")
AGAIN = re.compile(r"(?<=[\])])\.\d++$")
ZONE = re.compile(r" ?(?:UTC|GMT|Z)$")
CLOCK = re.compile(r"(\d{1,2})(:\d\d(?::\d\d(?:[.,]\d++)?)?)(?:\s*+([aApP])\.?[mM]\.?)?(\S*+)")
DAY = re.compile(r"(\d{1,4})([-./])(\d{1,2})\2(\d{1,4})(?:[T ]\s*+(\S.*+))?")
DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}\D.*+|\d{4}-\d\d-\d\d|\d{1,2}:\d\d.*+")
ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d++)?")
# Rates that differ by more than a tenth are different rates, and not the jitter of one clock.
SAME_RATE = 0.1
AS_ROWS = Sentence({"time": "none"}, " keeps the order of the rows")
IN_MS = Sentence({"time": "NAME:ms"}, " says that column NAME holds milliseconds")
# A grid with more places per row than this is a mistake in the unit of the times.
MOST_PLACES = 1000


def split_unit(name: str) -> tuple[str, float | None]:
    """Return the name of a column without its unit, and the unit in seconds, or None."""
    name = AGAIN.sub("", name)
    for pattern in (WITH_UNIT, WITH_TAIL):
        match = pattern.fullmatch(name.strip())
        if match and match[2].lower() in UNITS:
            return match[1].strip(), UNITS[match[2].lower()]
    return name, UNITS.get(name.strip().lower())


def moments(times: Sequence[str]) -> np.ndarray:
    """Times as numbers: unchanged, or nanoseconds since 1970 if they are dates or clock times."""
    with suppress(ValueError):  # most times are numbers
        numbers = floats(times)
        if not np.isnan(numbers).any():
            return numbers
    if ISO.fullmatch(times[0]):
        with suppress(ValueError):  # all times are written as the first, as data frames write them
            if all(len(time) == len(times[0]) and time[-1].isdecimal() for time in times):
                return np.array(times, "datetime64[ns]").astype(np.int64)
    if not all(map(is_given, times)):
        raise ValueError("a time is missing")
    times = [ZONE.sub("Z", time) for time in times]
    days = [DAY.fullmatch(time) for time in times]
    # 12/31/2020 is American, 31/12/2020 is not; with points and dashes the day comes first.
    american = not any(day and (day[2] != "/" or int(day[1]) > 12) for day in days)
    iso = [_iso(*pair, american) for pair in zip(times, days, strict=True)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of time zones, which NumPy reads right
            return np.array(iso, "datetime64[ns]").astype(np.int64)
    except ValueError:
        raise ValueError(Sentence(f"{times[0][:40]!r} is not a time; ", AS_ROWS)) from None


def are_doubtful(times: Sequence[str]) -> bool:
    """Tell whether dates have slashes, and no date tells which of its numbers is the month."""
    days = [day for day in map(DAY.fullmatch, times) if day and day[2] == "/" and len(day[1]) < 4]
    dates = {day.group(1, 3, 4) for day in days}
    return len(dates) > 1 and all(max(int(a), int(b)) <= 12 for a, b, _ in dates)


def _iso(text: str, day: re.Match[str] | None, american: bool) -> str:
    """Return a date or a clock time in the order of ISO 8601; anything else is left as it is."""
    if day is None:
        clock = _clock(text)
        return f"1970-01-01T{clock}" if clock else text
    first, _, second, third, clock = day.groups()
    numbers = (third, first, second) if american else (third, second, first)
    numbers = (first, second, third) if len(first) == 4 else numbers
    date = "-".join(f"{int(number):02}" for number in numbers)
    return f"{date}T{_clock(clock) or clock}" if clock else date


def _clock(text: str) -> str | None:
    """Return a clock time with two digits of the hour, from 0 to 23, and a decimal point."""
    if (match := CLOCK.fullmatch(text)) is None:
        return None
    hour, half = int(match[1]), (match[3] or "").lower()
    hour = hour % 12 + 12 * (half == "p") if half else hour
    return f"{hour:02}{match[2].replace(',', '.')}{match[4]}"


def epoch_unit(cells: Sequence[str]) -> float | None:
    """Return the unit in seconds if all cells are times since 1970, by their size; else None."""
    if not cells or not all(map(is_value, cells)) or not all(map(is_given, cells)):
        return None
    try:
        low, high = np.percentile(floats(cells), [0, 100])
    except ValueError:  # 1,5e999, or 1,5 beside 2.5: refused where the values are read
        return None
    inside = (unit for unit in (1.0, 1e-3, 1e-6, 1e-9) if EPOCH[0] <= low * unit)
    return next((unit for unit in inside if high * unit <= EPOCH[1]), None)


def unit_of(name: str, cells: Sequence[str]) -> float | None:
    """Return seconds per unit of a column of times: by name, or by size; None if nothing tells."""
    # Dates are in nanoseconds, decimals are seconds; whole numbers may count rows, or milliseconds.
    numbers = [cell for cell in cells if is_value(cell) and is_given(cell)]
    if 2 * len(numbers) < len(cells):
        return 1e-9
    unit = split_unit(name)[1] or epoch_unit(numbers)
    if unit is None and not all(cell.strip().lstrip("+-").isdecimal() for cell in numbers):
        return SECONDS_PER_DAY if _are_days(numbers) else 1.0
    return unit


def _are_days(cells: Sequence[str]) -> bool:
    """Are decimals that rise slowly dates of Excel, and not seconds at more than 1000 Hz?"""
    with suppress(ValueError):  # a wrong number is refused where the values are read
        values = np.clip(floats(cells), *DAY_LIMITS)
        steps = np.abs(np.diff(values))
        return bool(steps.size and 0 < np.median(steps) < DAY_STEP)
    return False


def at_one_rate(source: Source, X: Sequences, seconds: list[Any], rate: float | None) -> Sequences:
    """Return sequences at `rate`, or with the rate that their times in `seconds` tell."""
    check_sampling_rate(rate, "resample")
    known = [times for times in seconds if times is not None]
    if rate is not None:
        if len(known) < len(seconds):
            problem = "resample needs times, and the unit of the times is not known"
            source.fail(problem, Sentence(IN_MS, "; s, us and ns work too"))
        return _resampled(source, X, known, rate)
    rates = np.array([rate_of(times) for times in known])
    rates = rates[np.isfinite(rates)]
    if not rates.size:
        return X
    middle = float(np.median(rates))
    # 50 for 50.0000477, since times are rounded, but not 0.01667 for 1/60
    plain = float(f"{middle:.4g}")
    middle = plain if abs(plain - middle) <= 1e-5 * middle else middle
    if (np.abs(np.log(rates / middle)) > np.log1p(SAME_RATE)).any():
        low, high = rates.min(), rates.max()
        remark = f"the sampling rates differ: {low:.4g} to {high:.4g} rows per second; "
        source.remark(Sentence(remark, {"resample": middle}, " brings all sequences to one rate"))
        return X
    steps = (np.diff(times) for times in known)
    uneven = sum(bool(gaps.size and gaps.max() > GAP * np.median(gaps)) for gaps in steps)
    source.remark(Usual(f"sampling rate from the times: {middle:g} rows per second"))
    if uneven:
        text = f"{uneven} of {len(X)} sequences have gaps in time, but rows count as evenly spaced"
        source.remark(Sentence(text, "; ", {"resample": middle}, " puts missing values into them"))
    return replace(X, sampling_rate=middle)


def _resampled(source: Source, X: Sequences, seconds: list[np.ndarray], rate: float) -> Sequences:
    parts = []
    for x, times in zip(X, seconds, strict=True):
        if times[-1] * rate > MOST_PLACES * len(times):
            problem = f"{len(times)} rows last {times[-1]:.4g} s, which is too long for "
            source.fail(Sentence(problem, {"resample": rate}), IN_MS)
        parts.append(resampled(x, times, rate, X.symbolic_mask))
    source.remark(f"all sequences are resampled to {rate:g} rows per second")
    data, offsets = np.concatenate(parts, axis=1), offsets_of(part.shape[1] for part in parts)
    return replace(X.with_data(data, offsets), sampling_rate=float(rate))
