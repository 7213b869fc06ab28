"""A result as a section of a page that needs nothing else, and a page of such sections."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from mvdfq.reproduce.arrange import (
    METRICS,
    READING_WORDS,
    STRICTER,
    difference,
    f1,
    fact_words,
    grouped,
    label,
    missing,
    number,
    place,
    published,
    runs,
    with_spread,
)
from mvdfq.reproduce.pictures import Scale
from mvdfq.reproduce.result import Result, Row

__all__ = ["html_section", "page"]

# The page around sections, in their colours.
PAGE_STYLE = (
    "body { margin: 0; background: #ffffff; }\n"
    "@media (prefers-color-scheme: dark) { body { background: #14181d; } }"
)


def html_section(result: Result) -> str:
    """Return a result as a section of a page, with its own style and without scripts.

    Parameters
    ----------
    result : Result
        What came out.

    Returns
    -------
    section : str
        HTML; all text of the result is escaped.
    """
    return f"<style>{_style()}</style>\n{_section(result)}"


def page(results: Iterable[Result]) -> str:
    """Return a whole page of results.

    Parameters
    ----------
    results : iterable of Result
        One for each table.

    Returns
    -------
    page : str
        HTML that needs no other file.
    """
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
    readings = [*dict.fromkeys(row.reading for row in result.rows if row.value is not None)]
    groups = grouped(result.rows, lambda row: (row.protocol, row.metric))
    parts = [
        f"<h2>{escape(result.title)}</h2>",
        _facts(result.facts),
        *(_group(rows, readings) for rows in groups.values()),
        _missing(missing(result.rows)),
        _claims(result.claims, readings),
        _remarks(result.remarks),
        _details([row for row in result.rows if row.value is not None]),
    ]
    inside = "\n".join(part for part in parts if part)
    return f'<section class="mvdfq-table" id="table-{escape(result.table)}">\n{inside}\n</section>'


def _facts(facts: dict[str, Any]) -> str:
    return f'<p class="soft">{escape(fact_words(facts))}</p>' if facts else ""


def _group(rows: Sequence[Row], readings: Sequence[str]) -> str:
    """Return the lines of a protocol: a place a row, a reading a column, and the pictures."""
    mine = [reading for reading in readings if any(row.reading == reading for row in rows)]
    scale, protocol, metric = Scale(rows), rows[0].protocol, rows[0].metric
    title = ", ".join(part for part in (protocol, METRICS.get(metric, metric)) if part)
    heads = "".join(f'<th class="num">{escape(reading) or "ours"}</th>' for reading in mine)
    body = "".join(
        _place_row(same, mine, readings, scale) for same in grouped(rows, place).values()
    )
    stricter = "<p>The paper's figures are of plain folds.</p>\n" if protocol in STRICTER else ""
    return (
        f"<h3>{escape(title)}</h3>\n{stricter}{_key(mine, readings)}\n"
        f'<table><thead><tr><th>method</th><th class="num">paper</th>{heads}'
        f'<th class="plot">{scale.axis()}</th></tr></thead>\n<tbody>{body}</tbody></table>'
    )


def _key(mine: Sequence[str], readings: Sequence[str]) -> str:
    dots = " ".join(
        f'<span class="key c{_colour(reading, readings)}">'
        f"{escape(READING_WORDS.get(reading, reading) or 'ours')}</span>"
        for reading in mine
    )
    return f'<p><span class="key line">paper</span> {dots}</p>'


def _colour(reading: str, readings: Sequence[str]) -> int:
    return readings.index(reading) % 3


def _place_row(
    same: Sequence[Row], mine: Sequence[str], readings: Sequence[str], scale: Scale
) -> str:
    by_reading = {row.reading: row for row in same}
    first = same[0]
    setting = f"<small>{escape(first.setting)}</small>" if first.setting else ""
    paper = _cell("paper", published(first), _small_f1(number(first.published_f1)))
    cells = "".join(
        _ours(by_reading[reading]) if reading in by_reading else '<td class="num"></td>'
        for reading in mine
    )
    words = [f"paper {published(first) or 'none'}"]
    words += [f"{row.reading or 'ours'} {with_spread(row)}" for row in same]
    drawn = [(_colour(row.reading, readings), row) for row in same]
    picture = scale.picture(drawn, escape("; ".join(words)))
    name = f'<td class="place">{escape(label(first))}{setting}</td>'
    return f'<tr>{name}{paper}{cells}<td class="plot">{picture}</td></tr>\n'


def _ours(row: Row) -> str:
    scores = f1(row) if row.published_f1 is not None else ""
    return _cell(row.reading or "ours", with_spread(row), difference(row), _small_f1(scores))


def _small_f1(scores: str) -> str:
    return f"F1 {scores}" if scores else ""


def _cell(name: str, value: str, *small: str) -> str:
    below = "".join(f"<small>{escape(text)}</small>" for text in small if text)
    return f'<td class="num" data-is="{escape(name)}">{escape(value)}{below}</td>'


def _missing(places: Sequence[tuple[Row, str]]) -> str:
    lines = "".join(
        f'<tr><td class="place">{escape(label(row))}<small>{escape(row.setting)}</small></td>'
        + _cell(f"paper, {METRICS.get(row.metric, row.metric)}", published(row))
        + f'<td class="wide">{escape(row.note)}<small>{escape(where)}</small></td></tr>\n'
        for row, where in places
    )
    heads = '<thead><tr><th>method</th><th class="num">paper</th><th>why</th></tr></thead>'
    return f"<h3>Not measured</h3>\n<table>{heads}<tbody>{lines}</tbody></table>" if places else ""


def _claims(claims: Sequence[dict[str, Any]], readings: Sequence[str]) -> str:
    if not claims:
        return ""
    heads = "".join(f'<th class="num">{name}</th>' for name in ("stated", "paper's own figures"))
    lines = "".join(_claim(each, readings) for each in claims)
    return (
        "<details open><summary>Claims, computed again</summary>\n<table><thead><tr><th>claim</th>"
        f"{heads}<th>ours</th></tr></thead><tbody>{lines}</tbody></table></details>"
    )


def _claim(claim: dict[str, Any], readings: Sequence[str]) -> str:
    mark = "" if claim["agrees"] else '<small class="no">not as stated</small>'
    compared = f"line {claim['line']}: {claim['from']} → {claim['to']}"
    ours = "".join(
        f"<div>{_by_reading(values, readings)} <span class='soft'>{escape(protocol)}</span></div>"
        for protocol, values in (claim["ours"] or {}).items()
    )
    return (
        f'<tr><td class="wide">{escape(claim["says"])}<small>{escape(compared)}</small></td>'
        f"{_cell('stated', claim['stated'])}"
        f'<td class="num" data-is="paper\'s own figures">{claim["published"]:.1f} '
        f'<span class="soft">{escape(claim["measure"])}</span>{mark}</td>'
        f'<td class="ours" data-is="ours">{ours or "not measured"}</td></tr>\n'
    )


def _by_reading(values: dict[str, float], readings: Sequence[str]) -> str:
    """Return figures in the colours of their readings."""
    return " ".join(
        f'<span class="c{_colour(reading, readings)}">{value:.1f}</span>'
        for reading, value in values.items()
    )


def _remarks(remarks: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(remark)}</li>\n" for remark in remarks)
    summary = "<summary>Where the paper contradicts itself, and what else to know</summary>"
    return f"<details open>{summary}<ul>{items}</ul></details>" if remarks else ""


def _details(rows: Sequence[Row]) -> str:
    lines = "".join(
        f'<tr><td class="place">{escape(label(row))}<small>{escape(row.setting)}</small></td>'
        f'<td data-is="run">{escape(" ".join((row.reading, row.protocol)))}</td>'
        f"{_cell('seeds x folds', runs(row))}{_cell('F1, both readings', f1(row))}"
        f'<td class="wide">{escape("; ".join(part for part in (row.method, row.note) if part))}'
        "</td></tr>\n"
        for row in rows
    )
    heads = "".join(f"<th>{name}</th>" for name in ("method", "run", "seeds x folds", "F1"))
    return (
        "<details><summary>Settings, repetitions and F1 of every line</summary>\n"
        f'<table class="how"><thead><tr>{heads}<th>settings used</th></tr></thead>'
        f"<tbody>{lines}</tbody></table></details>"
    )
