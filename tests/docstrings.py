"""What a numpydoc docstring says, and what the function accepts."""

import inspect
import re


def sections(value):
    """Split a numpydoc docstring: title -> text."""
    doc = inspect.cleandoc(value.__doc__ or "")
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", doc, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented(value):
    """Names on the unindented ``name : type`` lines of the section Parameters."""
    lines = re.findall(r"^(\S[^:\n]*) :", sections(value).get("Parameters", ""), re.MULTILINE)
    return [name.strip().lstrip("*") for line in lines for name in line.split(",")]


def accepted(value):
    return [name for name in inspect.signature(value).parameters if name != "self"]
