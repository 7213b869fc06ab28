"""What the rows of a table are: moments, series, or strings of letters."""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from mvdfq.io.source import Glimpse, ReadError, Source
from mvdfq.io.tables.column_roles import COLUMNS, Columns, Roles, known_places, rises
from mvdfq.io.tables.csv_tables import Names, counts_up, glimpsed, has_header, is_given, is_value
from mvdfq.io.tables.wide_names import sizes_of

# A table without a header and with at most this many columns, whose first column rises, is one
# series with its times, and not one series per row.
FEW = 20
LETTERS = re.compile(r"[A-Za-z*.-]+")
# Words are DNA or proteins from this length on: beside numbers if the name of the column is known,
# and if the name is not known.
SHORTEST, LONG = 10, 20


def _is_bare_series(roles: Roles, rows: Sequence[Names]) -> bool:
    """Is this one series: no header, label or id, few columns, and a first column that rises?"""
    n = len(roles.header)
    bare = list(roles.header) == list(map(str, range(n))) and not {"id", "label"} & {*roles.places}
    repeats = 1 < n <= min(FEW, len(rows) // 2)
    return bare and repeats and rises([row[0] for row in rows], None, strictly=True)


def has_layout(layout: str, glimpse: Glimpse) -> bool:
    """Is the file a table of text of this layout?"""
    return _text_layout(glimpse) == layout


@lru_cache(maxsize=1)  # four formats ask for the same file
def _text_layout(glimpse: Glimpse) -> str | None:
    table = glimpsed(glimpse)
    columns = {key: value for key, value in glimpse.options.items() if key in COLUMNS}
    return None if table is None else layout_of(table, Columns(**columns))


def letters_place(table: Any, columns: Columns, roles: Roles) -> int | None:
    """Return the only column of DNA or proteins, which differ from row to row; None for others."""
    named = {*known_places("letters", table.header)}
    named |= {i for i, name in enumerate(table.header) if name in (columns.channels or ())}
    rows = [row for row in table.sample if len(row) == len(table.header)]
    columns_of_cells = enumerate(zip(*rows, strict=True))
    cells = {i: [cell for cell in column if is_given(cell)] for i, column in columns_of_cells}
    has_numbers = any(all(map(is_value, cells.get(i, ["-"]))) for i in roles.channels)
    found = []
    for i, words in cells.items():
        least = (SHORTEST if has_numbers else 1) if i in named else LONG
        is_long = sum(map(len, words)) >= least * len(words)
        if i not in named and (has_numbers or len(table.header[i]) >= LONG):  # not a name
            continue
        n_letters = sum(bool(LETTERS.fullmatch(word)) for word in words)  # the rest may be broken
        if is_long and 2 * len({*words}) > len(words) and n_letters >= 0.9 * len(words):
            found.append(i)
    found = [i for i in found if i in named] or found
    return found[0] if len(found) == 1 and not roles.is_clock else None


def layout_of(table: Any, columns: Columns) -> str | None:
    """Return if rows are series ("wide", "letters") or times of one ("one") or several ("long")."""
    rows = [table.header, *table.sample] if table.is_named else table.sample
    body = [row for row in table.sample if len(row) == len(table.header)]
    named = (columns.label, columns.id, columns.group)
    apart = {i for i, name in enumerate(rows[0]) if name in named}
    roles = None
    with suppress(ReadError):  # the reader will say that a column that the user names is not there
        for known in (Columns(), columns):
            roles = known.find(Source(Path("table")), table.header, body)
    if roles is not None and body:
        if letters_place(table, columns, roles) is not None:
            return "letters"
        apart |= {*roles.places.values()}
        ids = [row[roles.places["id"]] for row in body] if "id" in roles.places else []
        recur = bool(ids) and (roles.is_clock or 2 * len(set(ids)) <= len(ids))
        # a named id that never recurs, without times, names series
        differ = 1 < len(ids) == len(set(ids)) and "time" not in roles.places
        if (columns.id != "id" and not differ) or roles.has_runs or recur:
            return "long"
        if roles.is_clock or _is_bare_series(roles, body):
            numbers = all(is_value(row[i]) for row in body for i in roles.channels)
            is_one = (numbers or roles.melted) and not {"id", "label"} & {*roles.places}
            return "one" if is_one else None
        others = [name for i, name in enumerate(table.header) if i not in apart]
        is_few = table.is_named and (not ids or counts_up(ids)) and 1 < len(others) <= FEW
        if is_few and columns.id == "id" and max(sizes_of(others)) == 1:
            return None  # a row may be a moment of a series, or a series
    # A broken cell here and there is left to the reader, which names the cell.
    inner = [
        cell
        for row in (rows[1:] if apart or has_header(rows) else rows)
        for i, cell in enumerate(row)
        if i not in (apart or (0, len(row) - 1)) and is_given(cell)
    ]
    return "wide" if 2 * sum(map(is_value, inner)) > len(inner) else None
