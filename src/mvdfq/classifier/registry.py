"""The public parts and their names: ``gapped(8, 6)``, ``smooth(9) | delta``, ``direct(4) + joint``.

A part that `frames`, `symbols` or `kernels` exports is known here, on the command line and in model
files. Text is parsed, never run: arguments must be plain values.
"""

import ast
from difflib import get_close_matches
from inspect import Parameter, signature
from types import ModuleType
from typing import Any

from sklearn.pipeline import make_pipeline

from mvdfq import frames, kernels, symbols
from mvdfq._utils.errors import HintedError
from mvdfq.frames.base import SequenceTransformer
from mvdfq.kernels import Kernel

# No useful part is longer; Python's parser needs much memory for very deep nesting.
LONGEST = 1000
# What a part of each kind is called in errors.
KINDS = {"frames": "a transformer", "symbols": "a quantizer", "kernel": "a kernel"}


def _exported(room: ModuleType, base: type) -> dict[str, type]:
    """Return the parts that a room exports, by the names of their classes."""
    classes = {name: value for name, value in vars(room).items() if isinstance(value, type)}
    return {name: cls for name, cls in classes.items() if issubclass(cls, base) and cls is not base}


# The parts by the parameter of `SequenceClassifier` that takes them.
EXPORTED = {
    "frames": _exported(frames, SequenceTransformer),
    "symbols": _exported(symbols, SequenceTransformer),
    "kernel": _exported(kernels, Kernel),
}
# Parts without a name, and why.
UNNAMED = {
    "Select": "its channels must be given",
    "Stack": "its views must be given",
    "Rows": "its quantizers must be given",
    "PerGroup": "its quantizer must be given",
    "MismatchPairs": "it is not positive semi-definite; Mismatch is the kernel to use",
}
# Name -> class, by parameter: "direct" is DirectQuantizer. The paper calls the kernel Spatial SSSK.
NAMED: dict[str, dict[str, type]] = {
    kind: {name.removesuffix("Quantizer").lower(): classes[name] for name in sorted(classes)
           if name not in UNNAMED}
    for kind, classes in EXPORTED.items()
}  # fmt: skip
NAMED["kernel"] = dict(sorted({**NAMED["kernel"], "sssk": kernels.Spatial}.items()))


class SpecError(HintedError, ValueError):
    """A text that describes no part: what is wrong, at which character, and what to write."""

    def __init__(self, kind: str, text: str, column: int, problem: str, hint: str = "") -> None:
        super().__init__(f"{kind}, character {column + 1}: {problem}", hint)
        self.kind, self.text, self.column = kind, text, column


class _Misfit(Exception):
    """What is wrong, the node or the character where it is wrong, and maybe a hint."""


def call_of(name: str, cls: type) -> str:
    """Return how a part is called, with the defaults of its parameters: ``smooth(window=5)``."""
    usual = ((key, each.default) for key, each in signature(cls).parameters.items())
    shown = [key if value is Parameter.empty else f"{key}={value!r}" for key, value in usual]
    return f"{name}({', '.join(shown)})" if shown else name


def parse(kind: str, text: str) -> Any:
    """Return the part that a text describes: a name, with or without arguments, or several joined.

    `kind` is the parameter of `SequenceClassifier` that takes the part.

    >>> parse("kernel", "gapped(8, 6)"), parse("symbols", "direct(n_bins=16)")
    (Gapped(g=8, k=6), DirectQuantizer(n_bins=16))
    """
    text = text.replace("\n", " ").strip()
    try:
        part = _built(_tree(text), kind)
        if kind == "kernel":
            part.check()
        return part
    except _Misfit as error:
        problem, where, *hint = error.args
    except (ValueError, TypeError) as error:  # of a kernel's parameters
        problem, where, hint = str(error), 0, []
    # the syntax tree counts bytes
    column = where if isinstance(where, int) else len(text.encode()[: where.col_offset].decode())
    raise SpecError(kind, text, column, problem.removesuffix("."), *hint)


def _tree(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise _Misfit(f"the text must have at most {LONGEST} characters", 0)
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        problem = error.msg if text else "the text ends too early"
        raise _Misfit(problem, min(max((error.offset or 1) - 1, 0), len(text))) from None
    except (ValueError, RecursionError, MemoryError):  # null bytes, very deep nesting
        raise _Misfit("the text cannot be parsed", 0) from None


def _built(node: ast.expr, kind: str) -> Any:
    """Return the part of a node, which must be a part of this kind."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.Add):
        if kind == "kernel":
            raise _Misfit("kernels cannot be joined by | or +", node.right)
        # only the last step of a chain makes symbols: all steps before it change numbers
        *first, last = parts = _operands(node, type(node.op))
        if isinstance(node.op, ast.Add):
            views = [_built(part, kind) for part in parts]
            return frames.Stack(views) if kind == "frames" else symbols.Rows(views)
        return make_pipeline(*(_built(part, "frames") for part in first), _built(last, kind))
    call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    if not isinstance(call.func, ast.Name):
        raise _Misfit("expected a name, or a name with values in parentheses", node)
    named = {keyword.arg: keyword for keyword in call.keywords if keyword.arg is not None}
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if starred or len(named) < len(call.keywords):
        raise _Misfit("* and ** cannot be used", node)
    if call.func.id == "passthrough" and node is call.func and kind != "kernel":
        return "passthrough"
    return _made(call.func, call.args, named, kind)


def _operands(node: ast.expr, operator: type) -> list[ast.expr]:
    """Return all operands of a chain such as ``a | b | c``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, operator):
        return [*_operands(node.left, operator), node.right]
    return [node]


def _made(name: ast.Name, values: list, named: dict[str, ast.keyword], kind: str) -> Any:
    """Return the part of a name and its arguments."""
    cls = _class_of(name, kind)
    known = signature(cls).replace(return_annotation=Parameter.empty)
    given = {key: _value(argument.value) for key, argument in named.items()}
    try:
        bound = known.bind(*map(_value, values), **given)
    except TypeError as error:
        raise _Misfit(f"{name.id}: {error}", name, f"write {name.id}{known}") from None
    return cls(*bound.args, **bound.kwargs)


def _class_of(name: ast.Name, kind: str) -> type:
    """Return the class of a name: its short name, or the name of the class."""
    wanted, hint_all = name.id.lower(), f"use {', '.join(NAMED[kind])}"
    known = NAMED[kind] | {cls.__name__.lower(): cls for cls in NAMED[kind].values()}
    if wanted in known:
        return known[wanted]
    for other in KINDS:
        if wanted in NAMED[other]:
            problem = f"{name.id!r} is {KINDS[other]}, but {KINDS[kind]} is expected here"
            raise _Misfit(problem, name, hint_all)
    near = get_close_matches(wanted, known, 1)
    hint = f"did you mean {near[0]}?" if near else hint_all
    raise _Misfit(f"{name.id!r} is not the name of {KINDS[kind]}", name, hint)


def _value(node: ast.expr) -> Any:
    """Return a plain value; a word without quotes is text."""
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        problem = "expected a number, text, True, False, None or a list of these"
        raise _Misfit(problem, node) from None
