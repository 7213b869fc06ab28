"""The command line: ``mvdfq --help`` lists the commands, one file each."""

from mvdfq.cli.app import main

__all__ = ["main"]
