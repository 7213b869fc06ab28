"""Tables whose rows hold DNA or proteins as text: id, sequence, label."""

from dataclasses import replace
from typing import Any

from mvdfq._utils.errors import Sentence, Usual
from mvdfq._utils.short import some
from mvdfq.io.dataset import Case, Dataset, Strings, gather
from mvdfq.io.letters.residues import both_strands, clean
from mvdfq.io.source import Source
from mvdfq.io.tables.column_roles import Columns
from mvdfq.io.tables.csv_tables import is_given, table_of
from mvdfq.io.tables.layouts import letters_place


def read_letters(
    source: Source, table: Any = None, strands: str = "one", **options: Any
) -> Dataset:
    """Read the rows of a table, or of a file of text, each a string of letters."""
    columns = replace(Columns(**options), time=None)
    table = table_of(source) if table is None else table
    header, is_both = table.header, strands == "both"
    place = letters_place(table, columns, columns.find(source, header, table.sample))
    if place is None:
        hint = Sentence({"channels": "NAME"}, f" names one of {some(header)}")
        source.fail("it is not clear which column holds letters", hint)
    places = replace(columns, channels=[place]).find(source, header).places
    shown = [f"{key} {header[i]!r}" for key, i in (*places.items(), ("letters", place))]
    source.remark(Usual(f"columns: {'; '.join(shown)}"))

    def read_row(row: list[Any]) -> Case:
        if len(row) != len(header):
            raise ValueError(f"{len(row)} cells, the header has {len(header)}")
        facts = {key: str(row[i]) for key, i in places.items()}
        if not is_given(row[place]) or not is_given(facts.get("label", "-")):
            raise ValueError("the letters or the label are missing")
        letters = clean(row[place], "dna" if is_both else "protein", "upper")
        return Case(letters, *map(facts.get, ("label", "id", "group")))

    return gather(source, table.rows, read_row, both_strands if is_both else Strings)
