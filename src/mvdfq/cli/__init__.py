"""The command line: ``mvdfq --help`` lists the commands, one file each."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the program; Ctrl-C while it starts ends it as Ctrl-C within a command does."""
    try:
        from mvdfq.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted.\n")
        sys.exit(130)
