"""The settings of every cell and reading, read from `settings.csv`.

A line of the file is a cell in one reading. Its column `methods` tells the methods as text:
``VIEW: QUANTIZER > KERNEL``, then ``> root`` for the manifold embedding, ``> C=30`` and ``> ovr``.
MFCC is the usual view and not written. Braces list values as in a shell, ``;`` separates further
methods, and inner validation chooses among all of them. ``&`` is the mean of two kernels. A name
alone is a baseline.
docs/reproduction_details.md says why the settings are as they are.
"""

import ast
from functools import cache
from importlib import import_module
from typing import Any

from mvdfq.classifier.registry import parse
from mvdfq.reproduce.cells import Cell, EstimatorMethod, MeanMethod, RbfMethod, StringMethod
from mvdfq.reproduce.published import stored


@cache
def cells(table: str) -> list[Cell]:
    """Return the cells of a table, in the order of the paper."""
    mine = [entry for entry in stored("settings.csv") if entry.pop("table") == table]
    return [Cell(**entry | {"methods": tuple(methods(entry["methods"]))}) for entry in mine]


def methods(text: str) -> list[Any]:
    """Return the methods that a text describes, see the top of this file.

    Examples
    --------
    >>> [method.label for method in methods("direct({4,8}) > spectrum(2) > root")]
    ['4 quantile bins, Spectrum(k=2), root', '8 quantile bins, Spectrum(k=2), root']
    """
    texts = [each for part in text.split(";") for each in _expanded(part.strip()) if each]
    return [_method(each) for each in texts]


def _expanded(text: str) -> list[str]:
    """Return all texts that a text with braces stands for; the last braces change fastest."""
    before, brace, rest = text.partition("{")
    if not brace:
        return [text]
    values, _, after = rest.partition("}")
    return [each for value in values.split(",") for each in _expanded(before + value + after)]


def _method(text: str) -> Any:
    if "&" in text:
        return MeanMethod(tuple(_method(part) for part in text.split("&")))
    view, _, parts = text.rpartition(":")
    first, *rest = (part.strip() for part in parts.split(">"))
    view = view.strip() or "mfcc"
    if not rest:  # a call such as ``rbf(k=2)``, or a name alone
        call: Any = ast.parse(first if first.endswith(")") else f"{first}()", mode="eval").body
        name, given = call.func.id, {k.arg: ast.literal_eval(k.value) for k in call.keywords}
        if name == "rbf":
            return RbfMethod(**given)
        # imported by its name: the records of string kernels do not depend on the baselines
        baselines = import_module("mvdfq.reproduce.baselines")
        return EstimatorMethod(getattr(baselines, name)(**given), view)
    kernel, *words = rest
    return StringMethod(
        None if first == "as they are" else _part("symbols", first),
        _part("kernel", kernel),
        "root" in words,
        view,
        next((float(word[2:]) for word in words if word.startswith("C=")), None),
        next((word for word in words if word in ("ovo", "ovr")), ""),
    )


_part = cache(parse)
