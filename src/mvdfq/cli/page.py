"""Options and calls of the commands that write a page."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mvdfq.cli.errors import CANNOT_WRITE, USAGE, Refused, check_name
from mvdfq.cli.output import note, progress_bar


@dataclass(frozen=True)
class PageOptions:
    """What the command line says about the page; checked before data are read."""

    report: Path | None = None
    details: str = "60"
    no_audio: bool = False
    remove_channels: bool = False

    def check(self) -> None:
        """Raise an error for a page that cannot or must not be written."""
        path, details = self.report, self.details
        if path is None:
            return
        if path.suffix not in (".html", ".htm"):
            raise Refused(f"--report must end in .html, got {path}.", "name another file", USAGE)
        check_name(path.with_suffix(".json"))  # the longest of the names beside the page
        if not path.absolute().parent.is_dir():
            raise Refused(f"{path.parent} is not a folder.", "make the folder first", CANNOT_WRITE)
        from mvdfq.pages.html import foreign_files

        for foreign in foreign_files(path)[:1]:  # .json or .csv of the user
            message = f"--report {path} would replace {foreign}, which is not part of a report."
            hint = f"name another page, for example {path.with_stem(path.stem + '-report')}"
            raise Refused(message, hint, CANNOT_WRITE)
        if details != "all" and (not details.isdecimal() or int(details) < 1):
            message = f"--details must be a whole number above 0 or all, got {details}."
            raise Refused(message, "for example --details 60", USAGE)

    def recorder(self) -> Any:
        """Return what `mvdfq.evaluate` calls after every fold; None if no page is wanted."""
        if self.report is None:
            return None
        from mvdfq.pages.run import Recorder

        return Recorder()

    def n_removed(self, X: Any) -> int:
        """Return how many evaluations without one channel are wanted."""
        n_channels = 1 if isinstance(X, list) else X.n_rows
        return n_channels if self.report and self.remove_channels and n_channels > 1 else 0

    def write(
        self, clf: Any, read: Any, data: Path, result: Any, recorder: Any, rules: Any, quiet: bool
    ) -> None:
        """Write the page of an evaluation, if one is wanted."""
        if self.report is None:
            return
        from mvdfq.pages.clips import sound_files
        from mvdfq.pages.report import finish, run_of

        run = run_of(clf, read.X, read.y, read.names or None, read.groups, result, recorder)
        about = {"title": data.absolute().name, "command": command_line()}
        audio = None if self.no_audio else sound_files(data, run.names)
        wanted = rules if self.remove_channels else None
        details = "all" if self.details == "all" else int(self.details)
        with progress_bar("page", quiet) as progress:
            told = {} if progress is None else {"report": progress}
            finish(run, about, details, wanted, audio, self.report, **told)
        note(f"report: {self.report}", quiet)


def command_line() -> str:
    """Return the command as it was typed."""
    return shlex.join(["mvdfq", *sys.argv[1:]])
