"""Keywords of Python in messages of the library, as the options that users type at the shell."""

import re

__all__ = ["as_flags"]

# The parameters of mvdfq.io.read and mvdfq.evaluate that have an option.
FLAGS = {
    "format": "--as",
    **{name: f"--{name}" for name in ("label", "id", "time", "group", "channels", "resample")},
    "protocol": "--protocol",
    **{name: f"--{name}" for name in ("drop", "silence", "labels", "strands", "recipe", "cache")},
    "group_pattern": "--group-pattern",
    "skip_bad": "--skip-bad",
}
NAMES = "|".join(FLAGS)
GIVEN = re.compile(rf"(?<![\w.('\"])({NAMES})=('[^']*'|[^\s,;]+)")
ALONE = re.compile(rf"^({NAMES}) has no meaning(.*); remove \1\.$")


def as_flags(text: str) -> str:
    """Return a message with the options of the program instead of the keywords of the library.

    >>> as_flags("label=0 is the first column, label=None means no labels")
    '--label 0 is the first column, --label none means no labels'
    """
    text = ALONE.sub(lambda match: f"{FLAGS[match[1]]} has no meaning{match[2]}; remove it.", text)
    text = GIVEN.sub(lambda match: f"{FLAGS[match[1]]} {_value(match[2])}", text)
    return text.replace("--skip-bad True", "--skip-bad")  # the only option without a value


def _value(text: str) -> str:
    text = text.strip("'")
    return "none" if text == "None" else text
