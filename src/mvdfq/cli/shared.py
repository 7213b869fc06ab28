"""Options that hold for a whole command: progress, engine, cluster; dataclasses as options.

`with_shared` adds the options to a command and carries them out, so that the command itself does
not have to pass them on.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from dataclasses import Field, dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_origin

import typer

from mvdfq.cli.errors import Refused
from mvdfq.cli.values import completed

# How progress is shown, and where a command computes.
Mode = StrEnum("Mode", ["auto", "bar", "lines", "none"])
Device = StrEnum("Device", ["cpu", "gpu", "auto"])
# The commands that a cluster or a graphics card can work for, and those that only a card can.
ON_CLUSTER = ("train", "gram", "predict", "evaluate")
ON_CARD = (*ON_CLUSTER, "reproduce")


def option(
    default: Any,
    help: str,
    *names: str,
    panel: str | None = None,
    values: Iterable[str] = (),
    **more: Any,
) -> Any:
    """Return an option, as a field of a dataclass or as the default of a parameter of a command.

    `values` are what the tab key offers.
    """
    if values:
        more["autocompletion"] = completed(values)
    info = typer.Option(*names, help=help, rich_help_panel=panel, **more)
    return field(default=default, metadata={"option": info})


@dataclass(frozen=True)
class Whole:
    """The options that hold for a whole command, where they fit."""

    progress: Mode = option(
        Mode.auto,
        "How progress is shown. lines: one line per 10 % or 30 s. auto: a bar in a terminal, else "
        "lines for work of more than 2 s.",
    )
    scheduler: str | None = option(
        None,
        "Address of a Dask scheduler, such as tcp://10.0.0.1:8786, whose cluster computes; "
        "default: this computer.",
    )
    engine: Device = option(
        Device.cpu,
        "Where to compute. cpu: the processor; gpu: a graphics card; auto: the graphics card if "
        "there is one.",
    )


def with_shared(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options that hold for whole commands, where they fit.

    A parameter that is a dataclass becomes one option for each field; equal names are one option.
    """
    own = signature(command).parameters
    records = {
        name: record
        for name, parameter in own.items()
        if (record := _Record.of(parameter.annotation))
    }
    options: dict[str, Parameter] = {}
    for name, parameter in own.items():
        if isinstance(parameter.default, Field):
            parameter = _parameter(parameter.default, name, parameter.annotation)
        for each in records[name].parameters() if name in records else [parameter]:
            options.setdefault(each.name, each.replace(kind=Parameter.KEYWORD_ONLY))
    fitting = {
        "progress": "quiet" in options,
        "scheduler": command.__name__ in ON_CLUSTER,
        "engine": command.__name__ in ON_CARD,
    }
    added = _Record(Whole, [name for name, fits in fitting.items() if fits])

    @wraps(command)
    def run(**given: Any) -> None:
        whole = added.filled(given)
        arguments = {
            name: records[name].filled(given) if name in records else given[name] for name in own
        }

        def carry_out() -> None:
            _show_progress(whole.progress if "progress" in added.names else Mode.none)
            with _computing(whole.engine, whole.scheduler):
                command(**arguments)

        copy_context().run(carry_out)  # the settings end with the command

    every = [*options.values(), *added.parameters()]
    # typer reads the options from the signature and their help from the annotations
    run.__signature__ = Signature(every)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in every}
    return run


@dataclass(frozen=True)
class _Record:
    """A dataclass that a command takes, and the names of its fields that are options."""

    cls: Any
    names: list[str]

    @classmethod
    def of(cls, annotation: Any) -> "_Record | None":
        """Return the record of a parameter; None if the parameter takes no dataclass.

        ``Annotated[Parts, ("seed",)]`` names fields that are no options.
        """
        is_noted = get_origin(annotation) is Annotated
        kind, *notes = get_args(annotation) if is_noted else (annotation,)
        if not is_dataclass(kind):
            return None
        without = {name for note in notes for name in note}
        return cls(kind, [each.name for each in fields(kind) if each.name not in without])

    def parameters(self) -> list[Parameter]:
        """Return the fields as parameters of a command."""
        every = [each for each in fields(self.cls) if each.name in self.names]
        return [_parameter(each, each.name, each.type) for each in every]

    def filled(self, given: dict[str, Any]) -> Any:
        """Return the dataclass with the values that the user gives."""
        return self.cls(**{name: given[name] for name in self.names})


def _parameter(each: Field[Any], name: str, kind: Any) -> Parameter:
    info = each.metadata.get("option")
    kind = kind if info is None else Annotated[kind, info]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=each.default, annotation=kind)


@contextmanager
def _computing(engine: Device, address: str | None) -> Iterator[None]:
    """Let a graphics card or the cluster of a scheduler compute; raise an error at once if none."""
    with ExitStack() as stack:
        if engine is not Device.cpu:
            from mvdfq._engines.choice import use_engine

            try:
                stack.enter_context(use_engine(str(engine)))
            except ImportError:
                message = "--engine gpu needs torch, which is not installed."
                raise Refused(message, "pip install 'mvdfq[gpu]', or pass --engine cpu") from None
            except RuntimeError:
                message = (
                    "--engine gpu needs a graphics card that torch can use, but torch finds none."
                )
                hint = "install a build of torch for the card, or pass --engine cpu"
                raise Refused(message, hint) from None
        if address is not None:
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
