"""Options that hold for a whole command: progress, the cache of features, columns of tables.

`with_shared` adds the options to a command and carries them out, so that the command itself does
not have to pass them on.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli.columns import OPTIONS, set_columns
from mvdfq.cli.errors import Refused

__all__ = ["default_cache", "with_shared"]


class Mode(StrEnum):
    """How progress is shown."""

    auto = "auto"
    bar = "bar"
    lines = "lines"
    none = "none"


ProgressMode = Annotated[
    Mode,
    typer.Option(
        "--progress",
        help="How progress is shown. lines: one line per 10 % or 30 s. auto: a bar in a terminal, "
        "else lines for work of more than 2 s.",
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Do not use or keep audio features in the cache; see mvdfq cache.",
        rich_help_panel="Reading data",
    ),
]

Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        help="Address of a Dask scheduler, such as tcp://10.0.0.1:8786, whose cluster computes; "
        "default: this computer.",
    ),
]


class Device(StrEnum):
    """Where a command computes."""

    cpu = "cpu"
    gpu = "gpu"
    auto = "auto"


EngineName = Annotated[
    Device,
    typer.Option(
        "--engine",
        help="Where to compute. cpu: the processor; gpu: a graphics card; auto: the graphics card "
        "if there is one.",
    ),
]
# The commands that a cluster or a graphics card can work for, and those that only a card can.
ON_CLUSTER = ("train", "gram", "predict", "evaluate")
ON_CARD = (*ON_CLUSTER, "reproduce")

IS_CACHED: ContextVar[bool] = ContextVar("IS_CACHED", default=True)


def with_shared(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options that hold for whole commands, where they fit."""
    known = signature(command).parameters
    added: dict[str, tuple[Any, Any]] = {}
    if "quiet" in known:
        added["progress"] = ProgressMode, Mode.auto
    if "as_" in known:
        added["no_cache"] = NoCache, False
        added |= {name: (kind, None) for name, kind in OPTIONS.items()}
    if command.__name__ in ON_CLUSTER:
        added["scheduler"] = Scheduler, None
    if command.__name__ in ON_CARD:
        added["engine"] = EngineName, Device.cpu

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        own = {name: options.pop(name, default) for name, (_, default) in added.items()}

        def carry_out() -> None:
            _show_progress(own.get("progress", Mode.none))
            IS_CACHED.set(not own.get("no_cache", False))
            set_columns(own)
            with _card(own.get("engine")), _cluster(own.get("scheduler")):
                command(*arguments, **options)

        copy_context().run(carry_out)  # the settings end with the command

    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in added.items()
    ]
    run.__signature__ = signature(command).replace(  # type: ignore[attr-defined]
        parameters=[*known.values(), *more]
    )
    run.__annotations__ = command.__annotations__ | {k: kind for k, (kind, _) in added.items()}
    return run


@contextmanager
def _card(engine: Device | None) -> Iterator[None]:
    """Let a graphics card compute; raise an error at once if no card is found."""
    if engine in (None, Device.cpu):
        yield
        return
    from mvdfq._engines.choice import use_engine

    with ExitStack() as stack:
        try:
            stack.enter_context(use_engine(str(engine)))
        except (ImportError, RuntimeError) as error:
            text = str(error).replace("engine='gpu'", "--engine gpu")
            raise Refused(text.replace("pass engine='cpu'", "pass --engine cpu")) from None
        yield


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Let the cluster of a scheduler compute; say at once if no scheduler answers."""
    if address is None:
        yield
        return
    from mvdfq._engines.choice import Engine, use_engine
    from mvdfq._engines.cluster import client_of

    with ExitStack() as stack:
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


def default_cache() -> Path | None:
    """Return the folder of the cache; None if it is switched off or cannot be created."""
    from mvdfq.io.sound.feature_cache import features_folder

    if not IS_CACHED.get():
        return None
    folder = features_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # a home without the right to write: the cache only saves time
        return None
    return folder
