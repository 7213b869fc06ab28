"""The options that name the columns of a table, for every command that reads data."""

import re
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Annotated, Any

import typer

__all__ = ["OPTIONS", "given_columns", "number_or_name", "set_columns"]

TABLES = "Columns of tables, by name or number (0 is the first)"

Id = Annotated[
    str | None,
    typer.Option(help="Column that names the sequence of each row.", rich_help_panel=TABLES),
]
Time = Annotated[
    str | None,
    typer.Option(
        help="Column of times, or none: rows in order; NAME:ms says the unit: s, ms, us or ns.",
        rich_help_panel=TABLES,
    ),
]
Group = Annotated[
    str | None,
    typer.Option(help="Column of groups (subjects, devices), or none.", rich_help_panel=TABLES),
]
Channels = Annotated[
    str | None,
    typer.Option(
        help="Columns that are channels, such as x,y,z; default: all columns without another role.",
        rich_help_panel=TABLES,
    ),
]
Drop = Annotated[
    str | None,
    typer.Option(help="Columns that are left out, such as note,index.", rich_help_panel=TABLES),
]
Resample = Annotated[
    float | None,
    typer.Option(
        help="Rows per second that all sequences are brought to; gaps stay gaps.",
        rich_help_panel=TABLES,
        min=0,
    ),
]
Silence = Annotated[
    str | None,
    typer.Option(
        help="Frames of digital silence in sound: missing or keep; default: as the recipe says.",
        rich_help_panel="Reading data",
    ),
]
OPTIONS = {"id": Id, "time": Time, "group": Group, "channels": Channels, "drop": Drop}
OPTIONS["resample"] = Resample
OPTIONS["silence"] = Silence


GIVEN: ContextVar[dict[str, Any]] = ContextVar("GIVEN", default={})  # noqa: B039


def set_columns(options: Mapping[str, Any]) -> None:
    """Keep the columns that the user names, until the command ends."""
    given = {name: options[name] for name in OPTIONS if options.get(name) is not None}
    GIVEN.set({name: _parsed(name, value) for name, value in given.items()})


def given_columns() -> dict[str, Any]:
    """Return the columns that the user names, as keywords of `mvdfq.io.read`."""
    return dict(GIVEN.get())


def _parsed(name: str, value: Any) -> Any:
    if name in ("channels", "drop"):
        return [number_or_name(one.strip()) for one in value.split(",") if one.strip()]
    return value if name in ("resample", "silence") else number_or_name(value)


def number_or_name(text: str) -> str | int:
    """Return a column as the library takes it: a number counts from 0, or from the end."""
    return int(text) if re.fullmatch("-?[0-9]{1,18}", text) else text
