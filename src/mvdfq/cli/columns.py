"""The options that name the columns of a table, for every command that reads data."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

__all__ = ["number_or_name", "with_columns"]

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
        help="Columns that are channels, such as x,y,z; default: all that are nothing else.",
        rich_help_panel=TABLES,
    ),
]
Resample = Annotated[
    float | None,
    typer.Option(
        help="Rows per second that all sequences are brought to; gaps stay gaps.",
        rich_help_panel=TABLES,
        min=0,
    ),
]
OPTIONS = {"id": Id, "time": Time, "group": Group, "channels": Channels, "resample": Resample}


def with_columns(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options; the command gets them as the dictionary `columns`."""

    @wraps(command)
    def run(**options: Any) -> None:
        given = {name: options.pop(name) for name in OPTIONS}
        columns = {name: _parsed(name, value) for name, value in given.items() if value is not None}
        command(**options, columns=columns)

    own = [p for p in inspect.signature(command).parameters.values() if p.name != "columns"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in OPTIONS.items()
    ]
    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    run.__signature__ = inspect.Signature([*parameters, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {
        **{name: kind for name, kind in command.__annotations__.items() if name != "columns"},
        **OPTIONS,
    }
    return run


def _parsed(name: str, value: Any) -> Any:
    if name == "channels":
        return [number_or_name(one.strip()) for one in value.split(",") if one.strip()]
    return value if name == "resample" else number_or_name(value)


def number_or_name(text: str) -> str | int:
    """Return a column as the library takes it: a number counts from 0, or from the end."""
    return int(text) if text.lstrip("-").isdigit() else text
