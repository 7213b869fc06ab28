"""The names of columns in a wide table: ax_0, ax_1, ay_0 and ay_1 are moments of two channels."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

from mvdfq._utils.errors import Sentence
from mvdfq._utils.short import some
from mvdfq.io.source import Source
from mvdfq.io.tables.csv_tables import Names, is_number

# acc_x_t0 and t0_x1; ax_0, ax0, ax[0] and ('ax', 0); 0_ax: the channel, the moment, the channel
FORMS = [re.compile(form, re.IGNORECASE) for form in (
    r"(?:(.*?)[\W_]+)?(?:t|time|frame|step)[\W_]?(\d+(?:\.\d+)?)(?:[\W_]+(.*))?",
    r"(.*?)[\W_]*?(\d+(?:\.\d+)?)[\])]?()",
    r"()(\d+)[\W_]+(.*)",
)]  # fmt: skip
# The expressions take the square of the length; a longer name is not taken apart.
LONGEST = 100
# Dates are moments of one channel, in the order of the table.
DATES = re.compile(
    r"(?<![^\W\d_])(?:q[1-4]|jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?"
    r"|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)(?![^\W\d_])|^[\W\d_]*$", re.IGNORECASE
)  # fmt: skip
WORDS = Sentence(
    {"label": "NAME"}, ", ", {"group": "NAME"}, " and ", {"id": "NAME"}, " name columns of words"
)
HINT = Sentence({"drop": "NAME"}, " leaves out a column; ", WORDS)


def channels_of(
    source: Source, header: Names, places: Sequence[int]
) -> tuple[Sequence[int], Names]:
    """Return the columns of values, moment by moment, and the names of the channels."""
    if not places:
        source.fail("line 1: no column besides id, label and group")
    found: dict[str, dict[float, int]] = {}
    odd = []
    for i in places:
        channel, moment = _split(header[i], i)
        if found.setdefault(channel, {}).setdefault(moment, i) != i:
            odd.append(i)
    usual = max(found.values(), key=len)
    if len(usual) < 2 or (odd and len(found) == 1):
        return places, ["t"]
    odd += [i for own in found.values() if own.keys() != usual.keys() for i in own.values()]
    if odd:
        names, others = ([header[i] for i in columns] for columns in (odd, usual.values()))
        problem = f"got {some(names, 4)} beside {some(others, 4)}"
        source.fail(f"line 1: columns of all channels must have the same numbers, {problem}", HINT)
    if len({re.sub(r"\d", "", channel) for channel in found}) < len(found):
        channel, own = next(iter(found.items()))
        text = f"in the name {header[own[min(own)]]!r}, {channel!r} is the channel"
        source.remark(f"{text}, and the other number is the moment")
    moments = [*next(iter(found.values()))]
    if len({a < b for a, b in pairwise(moments)}) > 1:
        moments.sort()
        names = [header[usual[moment]] for moment in moments]
        source.remark(f"columns are put in the order of their numbers: {some(names, 4)}")
    return [own[moment] for moment in moments for own in found.values()], [*found]


def sizes_of(names: Names) -> Collection[int]:
    """Return the number of moments of every channel."""
    return Counter(_split(name, place)[0] for place, name in enumerate(names)).values()


def _split(name: str, place: int) -> tuple[str, float]:
    """Return the channel and the moment of a column."""
    if is_number(name):
        return "t", float(name)
    if len(name) > LONGEST:
        return name, 0.0
    if DATES.search(name):
        return "t", float(place)
    for match in filter(None, (form.fullmatch(name) for form in FORMS)):
        before, moment, after = match.groups()
        parts = [part.strip("('\" ") for part in (before, after) if part]
        return " ".join(filter(None, parts)) or "t", float(moment)
    return name, 0.0  # pandas calls columns of one name x, x.1, x.2
