"""Formulas as MathML, made when the site is built: the site needs no script and no network."""

import re
from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

# Commands of LaTeX that docutils does not know, in its words.
KNOWN = {r"\dots": r"\ldots", r"\Big": "", r"\big": "", r"\displaystyle": ""}


def _formula(node: Any, as_block: bool) -> str:
    words = re.sub(r"\\[A-Za-z]+", lambda found: KNOWN.get(found[0], found[0]), node.astext())
    # docutils would put the index of a letter with a bar below the letter
    words = re.sub(r"(\\bar [a-z])_", r"\1{}_", words)
    return tex2mathml(words, as_block=as_block)


def _inline(writer: Any, node: Any) -> None:
    """Write a formula within a line."""
    writer.body.append(_formula(node, False))
    raise SkipNode


def _displayed(writer: Any, node: Any) -> None:
    """Write a formula of its own."""
    writer.body.append(f'<div class="math">{_formula(node, True)}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
