"""A result as a section of an HTML page, made of the same blocks as in a terminal."""

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from mvdfq.reproduce.arrange import fact_words
from mvdfq.reproduce.pictures import picture
from mvdfq.reproduce.result import Result
from mvdfq.reproduce.show import Block, blocks

__all__ = ["html_section", "page"]

# The colours of the page around the sections, as on the page of a report.
PAGE_STYLE = (
    "body { margin: 0; background: #faf8f4; }\n"
    "@media (prefers-color-scheme: dark) { body { background: #11141a; } }"
)


def html_section(result: Result) -> str:
    """Return a result as a section of a page with its own style; all text is escaped."""
    return f"<style>{_style()}</style>\n{_section(result)}"


def page(results: Iterable[Result]) -> str:
    """Return a whole page of results as HTML that needs no other file."""
    results = [*results]
    links = " · ".join(
        f'<a href="#table-{escape(each.table)}">{escape(each.title)}</a>' for each in results
    )
    menu = f'<nav class="mvdfq-table">{links}</nav>\n' if len(results) > 1 else ""
    body = menu + "\n".join(_section(each) for each in results)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        "<title>Figures of the paper, and ours</title>\n"
        f"<style>{PAGE_STYLE}\n{_style()}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _style() -> str:
    return files("mvdfq.reproduce").joinpath("section.css").read_text(encoding="utf-8")


def _section(result: Result) -> str:
    facts = f'<p class="soft">{escape(fact_words(result.facts))}</p>\n' if result.facts else ""
    inside = "\n".join(_block(block) for block in blocks(result))
    return (
        f'<section class="mvdfq-table" id="table-{escape(result.table)}">\n'
        f"<h2>{escape(result.title)}</h2>\n{facts}{inside}\n</section>"
    )


def _block(block: Block) -> str:
    title = escape(block.title.replace("\n", "; "))
    drawn = picture(block.drawn) if block.drawn else ""
    content = f"{_table(block)}{_list(block.below)}{drawn}"
    if block.folded:
        return f"<details><summary>{title}</summary>\n{content}</details>"
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
