"""Channels of a table that may be something else: a time, a label, the name of a subject."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mvdfq.io.source import Source
from mvdfq.io.tables.column_roles import Columns, Roles, has_unit_of_time, some

__all__ = ["Values", "judged"]

# Steps that must rise before a column is called a time: noise does so in one of 1024 columns.
MIN_STEPS = 10
# The steps of a clock are that much alike.
EVEN = 0.01
KEPT = "channels=NAMES reads such a column all the same"


@dataclass(frozen=True)
class Values:
    """The values of the channels by name, sequence after sequence, and where sequences begin."""

    by_name: Mapping[str, np.ndarray]
    starts: np.ndarray
    # Channels of words, whose codes have no order.
    words: frozenset[str]

    def still(self, name: str) -> np.ndarray | None:
        """Return the value of each sequence if no value changes within a sequence, else None."""
        values = self.by_name[name]
        low, high = (extreme.reduceat(values, self.starts) for extreme in (np.fmin, np.fmax))
        # A sequence of one row cannot change.
        is_still = len(values) > len(low) and np.array_equal(low, high, equal_nan=True)
        return low if is_still and np.unique(low).size > 1 else None

    def repeats(self, name: str) -> bool:
        """Does a sequence hold more than one value?"""
        counts = np.add.reduceat(~np.isnan(self.by_name[name]), self.starts, dtype=int)
        return bool(counts.max() > 1)

    def rises(self, name: str) -> bool:
        """Does every value exceed the value before it in the same sequence?"""
        steps = self._steps(name)
        return name not in self.words and len(steps) >= MIN_STEPS and bool((steps > 0).all())

    def is_even(self, name: str) -> bool:
        """Are the steps alike, as the steps of a clock are?"""
        low, high = np.quantile(self._steps(name), [0.1, 0.9])
        return bool(high - low <= EVEN * high)

    def _steps(self, name: str) -> np.ndarray:
        return np.delete(np.diff(self.by_name[name]), self.starts[1:] - 1)


def judged(
    source: Source, columns: Columns, roles: Roles, values: Values, y: np.ndarray | None
) -> Roles:
    """Return the roles after a look at all values of the channels; remark what is doubtful.

    A column that never changes within a sequence and tells the class is left out. A column that
    rises in every sequence is the time if no other column is. Channels that the user names stay
    channels.
    """
    found = {name: values.still(name) for name in roles.names}
    still = {name: value for name, value in found.items() if value is not None}
    if columns.channels is None:
        telling = [name for name, value in still.items() if y is not None and _tells(value, y)]
        roles = _without_telling(source, roles, telling)
        roles = _with_clock(source, columns, roles, values)
    _remark_still(source, [one for one in still if one in roles.names and values.repeats(one)])
    return roles


def _tells(values: np.ndarray, y: np.ndarray) -> bool:
    """Does the value of a sequence tell its class, also for a new sequence?

    Every value belongs to one class, and values recur or the classes lie side by side.
    """
    values = np.unique(values, return_inverse=True)[1]
    n_values, n_classes, n = values.max() + 1, np.unique(y).size, len(y)
    pairs = np.unique(np.stack([values, y]), axis=1)
    if n_classes < 2 or pairs.shape[1] > n_values:
        return False
    runs = 1 + np.count_nonzero(np.diff(pairs[1]))
    return bool(2 * n_values <= n or (runs == n_classes and n >= 3 * n_classes))


def _without_telling(source: Source, roles: Roles, telling: list[str]) -> Roles:
    if not telling:
        return roles
    what = f"{some(telling)} never changes within a sequence and tells the class"
    if len(telling) == len(roles.channels):
        source.fail(f"no other channel than {what}", KEPT)
    source.remark(f"left out: {what}; {KEPT}")
    return roles.without(telling)


def _with_clock(source: Source, columns: Columns, roles: Roles, values: Values) -> Roles:
    """Take a column that rises in every sequence as the time; ask if there is a time already."""
    rising = sorted(filter(values.rises, roles.names), key=lambda name: not values.is_even(name))
    clocks = [name for name in rising if has_unit_of_time(name)] or rising[:1]
    # One recording alone may hold a channel that rises; times stand in the first column.
    alone = len(values.starts) == 1 and clocks[:1] != roles.names[:1]
    may = columns.time == "time" and "time" not in roles.places and not alone
    if may and clocks and len(roles.channels) > len(clocks):
        place = roles.header.index(clocks[0])
        source.remark(
            f"time {clocks[0]!r}: it rises in every sequence and no column is called a time; {KEPT}"
        )
        rising = [name for name in rising if name not in clocks]
        is_clock = values.is_even(clocks[0])
        places = {**roles.places, "time": place}
        roles = replace(roles.without(clocks), places=places, is_clock=is_clock)
    if rising:
        source.remark(
            f"{some(rising)} rises in every sequence: is it a time? time=NAME or drop=NAME"
        )
    return roles


def _remark_still(source: Source, still: list[str]) -> None:
    """Say which channels do not change within any sequence: they may tell the subject or class."""
    if still:
        source.remark(
            f"{some(still)} never changes within a sequence; group=NAME, label=NAME or "
            f"drop=NAME keep such a column out of the channels"
        )
