"""The program ``mvdfq``: its commands, its errors and their exit codes.

Commands import what they need when they run, so that ``mvdfq --help`` answers at once.
"""

import os
import re
import sys
from collections.abc import Callable
from functools import wraps
from itertools import zip_longest
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from mvdfq.cli.demo import demo
from mvdfq.cli.doctor import cache, doctor
from mvdfq.cli.errors import described, one_line_warnings, watched_interrupts
from mvdfq.cli.evaluate import evaluate
from mvdfq.cli.explain import explain, mutate
from mvdfq.cli.inspect import inspect
from mvdfq.cli.output import note
from mvdfq.cli.predict import USUAL_P, predict, scan
from mvdfq.cli.reproduce import reproduce
from mvdfq.cli.shared import tables, with_shared
from mvdfq.cli.train import gram, train


class _Flags:
    """A command whose help does not show a type after flags: a flag takes no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class Command(_Flags, TyperCommand):
    """A command. ``--unknown`` may stand without its number."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; the usual p value follows ``--unknown`` unless a number does."""
        given = []
        for arg, following in zip_longest(args, args[1:], fillvalue=""):
            is_known = arg != "--unknown" or re.fullmatch(r"[0-9.]+(e-?[0-9]+)?", following)
            given += [arg] if is_known else [arg, USUAL_P]
        return super().parse_args(ctx, given)


class Group(_Flags, TyperGroup):
    """The program itself."""


app = typer.Typer(
    name="mvdfq",
    cls=Group,
    epilog=tables()["program"]["epilog"],
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Classify sequences: folders of audio, sensor recordings, series, proteins."""


def version() -> None:
    """Show the version.

    Example: mvdfq version
    """
    from importlib.metadata import version as version_of

    typer.echo(f"mvdfq {version_of('mvdfq')}")


def _guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Print every error of a command as one sentence and a hint; exit with a fixed code."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        with watched_interrupts() as interrupts:
            try:
                with one_line_warnings():
                    command(*arguments, **options)
                sys.stdout.flush()
            except BrokenPipeError:  # the reader of the output has closed it
                _drop_output()
            except (Exception, KeyboardInterrupt) as error:
                # A library may catch the interrupt and fail later: the user still wants to stop.
                known = described(KeyboardInterrupt() if interrupts else error)
                if known is None:  # a fault of the program
                    raise
                note(f"error: {known.message}")
                if known.pointer:
                    text, place = known.pointer
                    note(f"  {text}")
                    note(f"  {' ' * place}^")
                if known.hint:
                    note(f"hint: {known.hint}")
                if isinstance(error, OSError) and error.filename is None:
                    _drop_output()
                raise typer.Exit(known.code) from None

    return run


def _drop_output() -> None:
    """Send what is left of the output nowhere: Python would fail again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app.command(cls=Command)(_guarded(version))
COMMANDS = (
    demo, inspect, train, predict, evaluate, explain, mutate, scan, gram, reproduce, cache, doctor,
)  # fmt: skip
for command in COMMANDS:
    app.command(cls=Command)(_guarded(with_shared(command)))


def main() -> None:
    """Run the program; what fails outside of commands is the output of help."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except OSError as error:
        _drop_output()
        known = described(error)
        if known is None or isinstance(error, BrokenPipeError):
            sys.exit(0)
        note(f"error: {known.message}")
        sys.exit(known.code)
