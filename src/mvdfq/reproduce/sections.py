"""Results as an HTML page in the look of the report, made of the same blocks as in a terminal."""

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from mvdfq._utils.version import __version__
from mvdfq.pages.html import document
from mvdfq.reproduce.arrange import fact_words
from mvdfq.reproduce.pictures import picture
from mvdfq.reproduce.result import Result
from mvdfq.reproduce.show import Block, blocks
from mvdfq.reproduce.verdict import verdict

__all__ = ["page"]


def page(results: Iterable[Result]) -> str:
    """Return a whole page of results as HTML that needs no other file; all text is escaped."""
    results = [*results]
    links = [(f"table-{each.table}", each.title) for each in results]
    links[0] = "verdict", "Verdict" if len(results) == 1 else links[0][1]
    if len(results) == 1:
        links += _menu(blocks(results[0]))
    return document(
        "Figures of the paper, and ours",
        "\n".join(_section(each, links[0][0] if not k else "") for k, each in enumerate(results)),
        links="".join(f'<a href="#{escape(to)}">{escape(words)}</a>' for to, words in links),
        foot=f"mvdfq {escape(__version__)}. The figures of this page are in the .json and .csv "
        "files beside it.",
        style=files("mvdfq.reproduce").joinpath("section.css").read_text(encoding="utf-8"),
    )


def _section(result: Result, name: str = "") -> str:
    """Return a result: its verdict in one line, its facts, and its blocks."""
    big, words = verdict(result)
    line = f'<span class="big num">{escape(big)}</span>\n' if big else ""
    facts = f'<p class="soft">{escape(fact_words(result.facts))}</p>\n' if result.facts else ""
    inside = "\n".join(_block(block, _place(k)) for k, block in enumerate(blocks(result)))
    name = name or f"table-{result.table}"
    return (
        f'<section class="hero paper" id="{escape(name)}" tabindex="-1">\n'
        f"<h1>{escape(result.title)}</h1>\n"
        f'<div class="score">{line}<p>{escape(words)}</p></div>\n{facts}{inside}\n</section>'
    )


def _place(k: int) -> str:
    return f"block-{k}"


def _menu(shown: list[Block]) -> list[tuple[str, str]]:
    """Return places and words for the menu: what follows the figures, each kind once."""
    kinds = ("not measured", "claims", "remarks")
    found = {kind: _place(k) for k, block in reversed([*enumerate(shown)]) for kind in kinds
             if block.title.startswith(kind)}  # fmt: skip
    return [(found[kind], kind.capitalize()) for kind in kinds if kind in found]


def _block(block: Block, name: str) -> str:
    title = escape(block.title.replace("\n", "; "))
    drawn = picture(block.drawn) if block.drawn else ""
    content = f"{_table(block)}{_list(block.below)}{drawn}"
    if block.folded:
        return f'<details id="{name}"><summary>{title}</summary>\n{content}</details>'
    return f"<h3>{title}</h3>\n{content}"


def _table(block: Block) -> str:
    """Return the entries of a block; narrow screens show the heads beside every cell."""
    if not block.rows:
        return ""
    heads = "".join(f"<th>{escape(str(key))}</th>" for key in block.rows[0])
    lines = "".join(
        "<tr>" + "".join(_cell(key, value) for key, value in row.items()) + "</tr>\n"
        for row in block.rows
    )
    return f"<table><thead><tr>{heads}</tr></thead>\n<tbody>{lines}</tbody></table>\n"


def _cell(key: str, value: object) -> str:
    return f'<td data-is="{escape(str(key))}">{escape(str(value))}</td>'


def _list(lines: list[str]) -> str:
    items = "".join(f"<li>{escape(line.removeprefix('- '))}</li>\n" for line in lines)
    return f"<ul>{items}</ul>\n" if items else ""
