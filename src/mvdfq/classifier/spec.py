"""Parts of the classifier as text: ``gapped(8, 6)``, ``smooth(9) | delta``, ``direct(4) + joint``.

The text is parsed, never run: names are looked up among the parts of mvdfq, and arguments must be
plain values. ``|`` puts parts one after another, ``+`` puts parts side by side; ``+`` binds
tighter, as in Python.
"""

import ast
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any, NoReturn

from mvdfq._utils.errors import HintedError
from mvdfq.classifier.registry import EXPORTED, NAMED

# No useful part is longer; Python's parser needs much memory for very deep nesting.
LONGEST = 1000
# What a part of each kind is called in errors.
KINDS = {"frames": "a transformer", "symbols": "a quantizer", "kernel": "a kernel"}


class SpecError(HintedError, ValueError):
    """A text that describes no part: what is wrong, at which character, and what to write."""

    def __init__(self, kind: str, text: str, column: int, problem: str, hint: str = "") -> None:
        super().__init__(f"{kind}, character {column + 1}: {problem}", hint)
        self.kind, self.text, self.column = kind, text, column


def named_parts(kind: str) -> dict[str, type]:
    """Return the classes that a text of this kind can name: name -> class."""
    words = {"words": EXPORTED["kernel"]["Words"]} if kind == "kernel" else {}
    return dict(sorted(NAMED[kind].items())) | words


def call_of(name: str, cls: type) -> str:
    """Return how a part is called, with the defaults of its parameters: ``smooth(window=5)``."""
    shown = [
        parameter.name
        if parameter.default is Parameter.empty
        else f"{parameter.name}={parameter.default!r}"
        for parameter in signature(cls).parameters.values()
    ]
    return f"{name}({', '.join(shown)})" if shown else name


def parse(kind: str, text: str) -> Any:
    """Return the part that a text describes: a name, with or without arguments, or several joined.

    `kind` is the parameter of `SequenceClassifier` that takes the part.

    >>> parse("kernel", "gapped(8, 6)"), parse("symbols", "direct(n_bins=16)")
    (Gapped(g=8, k=6), DirectQuantizer(n_bins=16))
    """
    parser = _Parser(kind, text.replace("\n", " ").strip())
    part = parser.built(parser.tree(), kind)
    if kind == "kernel":
        try:
            part.check()
        except (ValueError, TypeError) as error:
            parser.refuse(str(error), 0)
    return part


class _Parser:
    """Turns one text into parts; errors point at the place in the text."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind, self.text = kind, text

    def refuse(self, problem: str, column: int, hint: str = "") -> NoReturn:
        """Raise an error about the text at `column`, counted from 0."""
        raise SpecError(self.kind, self.text, column, problem, hint)

    def tree(self) -> ast.expr:
        """Return the syntax tree of the text."""
        if len(self.text) > LONGEST:
            self.refuse(f"the text must have at most {LONGEST} characters.", 0)
        try:
            return ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            problem = "the text ends too early." if not self.text else f"{error.msg}."
            self.refuse(problem, min(max((error.offset or 1) - 1, 0), len(self.text)))
        except (ValueError, RecursionError, MemoryError):  # null bytes, very deep nesting
            self.refuse("the text cannot be parsed.", 0)

    def column(self, node: ast.AST) -> int:
        """Return where a node begins; the syntax tree counts bytes."""
        return len(self.text.encode()[: node.col_offset].decode())  # type: ignore[attr-defined]

    def built(self, node: ast.AST, kind: str) -> Any:
        """Return the part of a node, which must be a part of this kind."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.Add):
            if kind == "kernel":
                self.refuse("kernels cannot be joined by | or +.", self.column(node.right))
            return self.joined(node, kind)
        if isinstance(node, ast.Name):
            return self.made(node, [], {}, kind)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            named = {argument.arg: argument for argument in node.keywords}
            if None in named or any(isinstance(argument, ast.Starred) for argument in node.args):
                self.refuse("* and ** cannot be used.", self.column(node))
            return self.made(node.func, node.args, named, kind)  # type: ignore[arg-type]
        self.refuse("expected a name, or a name with values in parentheses.", self.column(node))

    def joined(self, node: ast.BinOp, kind: str) -> Any:
        """Return a pipeline for ``|``, and for ``+`` several parts side by side."""
        from sklearn.pipeline import make_pipeline

        from mvdfq.frames import Stack
        from mvdfq.symbols import Rows

        parts = _operands(node, type(node.op))
        if isinstance(node.op, ast.Add):
            side_by_side = Stack if kind == "frames" else Rows
            return side_by_side([self.built(part, kind) for part in parts])
        *first, last = parts
        steps = [self.built(part, "frames") for part in first]
        return make_pipeline(*steps, self.built(last, kind))

    def made(self, name: ast.Name, values: list, named: dict[str, ast.keyword], kind: str) -> Any:
        """Return the part of a name and its arguments."""
        if name.id == "passthrough" and not values and not named and kind != "kernel":
            return name.id
        cls = self.class_of(name, kind)
        known = signature(cls).replace(return_annotation=Parameter.empty)
        for key, node in named.items():
            if key not in known.parameters:
                hint = f"{name.id} has the parameters {', '.join(known.parameters)}"
                self.refuse(f"{name.id} has no parameter {key!r}.", self.column(node), hint)
        try:
            bound = known.bind(
                *(self.value(argument) for argument in values),
                **{key: self.value(argument.value) for key, argument in named.items()},
            )
        except TypeError as error:
            self.refuse(f"{name.id}: {error}.", self.column(name), f"write {name.id}{known}")
        return cls(*bound.args, **bound.kwargs)

    def class_of(self, name: ast.Name, kind: str) -> type:
        """Return the class of a name: its short name, or the name of the class."""
        wanted, known = name.id.lower(), named_parts(kind)
        known |= {cls.__name__.lower(): cls for cls in known.values()}
        if wanted in known:
            return known[wanted]
        for other in KINDS:
            if other != kind and wanted in named_parts(other):
                problem = f"{name.id!r} is {KINDS[other]}, but {KINDS[kind]} is expected here."
                self.refuse(problem, self.column(name), f"use {', '.join(named_parts(kind))}")
        near = get_close_matches(wanted, known, 1)
        hint = f"did you mean {near[0]}?" if near else ""
        self.refuse(f"{name.id!r} is not the name of {KINDS[kind]}.", self.column(name), hint)

    def value(self, node: ast.expr) -> Any:
        """Return a plain value; a word without quotes is text."""
        if isinstance(node, ast.Name):
            return node.id
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, RecursionError, MemoryError):
            problem = "expected a number, text, True, False, None or a list of these."
            self.refuse(problem, self.column(node))


def _operands(node: ast.expr, operator: type) -> list[ast.expr]:
    """Return all operands of a chain such as ``a | b | c``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, operator):
        return [*_operands(node.left, operator), node.right]
    return [node]
