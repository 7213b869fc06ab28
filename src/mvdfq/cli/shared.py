"""Commands as the shell sees them: parameters become options; progress, engine and cluster.

`options.toml` says what the help shows, and which commands have a shared option. `with_shared` adds
the options that hold for a whole command and carries them out: no command passes them on.
"""

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli.errors import USAGE, Refused
from mvdfq.cli.output import in_words

# How progress is shown, and where a command computes.
Mode = StrEnum("Mode", ["auto", "bar", "lines", "none"])
Device = StrEnum("Device", ["cpu", "gpu", "auto"])
# The address of a Dask scheduler: a computer and a port.
ADDRESS = r"((tcp|tls|wss?|ucx)://)?[^/]+:\d+/?"
# The tables of `options.toml` that commands share.
SHARED = ("shared", "reading", "columns", "classifier", "page")


@dataclass(frozen=True)
class Whole:
    """The options that hold for a whole command, where they fit."""

    progress: Mode = Mode.auto
    scheduler: str | None = None
    engine: Device = Device.cpu


@cache
def tables() -> dict[str, dict[str, Any]]:
    """Return what `options.toml` holds."""
    return tomllib.loads(Path(__file__).with_name("options.toml").read_text(encoding="utf-8"))


def entry_of(command: str, name: str) -> dict[str, Any]:
    """Return what `options.toml` says about a parameter of a command."""
    known = tables()
    table = next(known[key] for key in (command, *SHARED) if name in known.get(key, {}))
    entry = table[name] if isinstance(table[name], dict) else {"help": table[name]}
    return {"panel": table.get("panel"), "values": [], **entry}


def with_shared(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options that hold for whole commands, where they fit.

    A parameter that is a dataclass becomes one option for each field; equal names are one option.
    """
    declared, called = signature(command).parameters, command.__name__
    without = tables().get(called, {}).get("without", [])
    records = {
        name: [each for each in _fields(parameter.annotation) if each.name not in without]
        for name, parameter in declared.items()
    }
    options: dict[str, Parameter] = {}
    for name, parameter in declared.items():
        for each in records[name] or [parameter]:
            options.setdefault(each.name, each)
    added = [each for each in _fields(Whole) if called in entry_of(called, each.name)["commands"]]

    @wraps(command)
    def run(**given: Any) -> None:
        whole = Whole(**{each.name: given[each.name] for each in added})
        arguments = {}
        for name, parts in records.items():
            values = {each.name: given[each.name] for each in parts}
            arguments[name] = declared[name].annotation(**values) if parts else given[name]

        def carry_out() -> None:
            _show_progress(whole.progress if added else Mode.none)
            with _computing(whole.engine, whole.scheduler):
                command(**arguments)

        copy_context().run(carry_out)  # the settings end with the command

    shown = [_described(command.__name__, each) for each in (*options.values(), *added)]
    # typer reads the options from the signature and their help from the annotations
    run.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in shown}
    return run


def _fields(kind: Any) -> list[Parameter]:
    """Return the fields of a dataclass as parameters; none for other types."""
    return [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
        for each in (fields(kind) if is_dataclass(kind) else [])
    ]


def _described(command: str, parameter: Parameter) -> Parameter:
    """Return a parameter with what the help shows about it, as typer reads it."""
    name, entry = parameter.name, entry_of(command, parameter.name)
    values = [*entry["values"], *(["help"] if "explained" in entry else [])]
    about: dict[str, Any] = {key: entry[key] for key in ("min", "max", "metavar") if key in entry}
    about["help"] = entry["help"].replace("{values}", in_words(entry["values"]))
    about["rich_help_panel"] = entry["panel"] or None
    if values:
        about["autocompletion"] = lambda incomplete: [v for v in values if v.startswith(incomplete)]
    if "explained" in entry:

        def explained(value: str | None) -> str | None:
            from mvdfq.cli.options import explain_values

            return explain_values(name) if value == "help" else value

        about |= {"callback": explained, "is_eager": True}  # the list of values needs no data
    flags = entry.get("flags", ["--" + name.rstrip("_").replace("_", "-")])
    is_argument = entry.get("argument", False)
    info = typer.Argument(**about) if is_argument else typer.Option(*flags, **about)
    kind: Any = Annotated[parameter.annotation, info]
    return parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=kind)


@contextmanager
def _computing(engine: Device, address: str | None) -> Iterator[None]:
    """Let a graphics card or the cluster of a scheduler compute; raise an error at once if none."""
    with ExitStack() as stack:
        if engine is not Device.cpu:
            from mvdfq._engines.choice import use_engine

            try:
                stack.enter_context(use_engine(str(engine)))
            except RuntimeError as error:  # there is no graphics card
                raise Refused(str(error)) from None
        if address is not None:
            if not re.fullmatch(ADDRESS, address):  # a client of no address fails again at exit
                message = f"--scheduler must be the address of a Dask scheduler, got {address!r}."
                raise Refused(message, "for example --scheduler tcp://10.0.0.1:8786", USAGE)
            from mvdfq._engines.choice import Engine, use_engine
            from mvdfq._engines.spread import client_of

            try:
                client = stack.enter_context(client_of(Engine("dask", client=address)))
            except (ConnectionError, ImportError, ValueError) as error:
                raise Refused(f"--scheduler {address}: {error}") from None
            stack.enter_context(use_engine(client))
        yield


def _show_progress(mode: Mode) -> None:
    """Set what shows progress in this command."""
    from mvdfq._utils.progress import BARS, GAP, Lines, rich_bar

    if mode is Mode.auto and not sys.stderr.isatty():
        BARS.set(lambda transient: Lines(GAP, shows_quick=False))
    elif mode is Mode.lines:
        BARS.set(lambda transient: Lines(gap=0))
    elif mode is Mode.none:
        BARS.set(lambda transient: None)
    else:
        BARS.set(lambda transient: rich_bar(transient, force=True))
