"""The files of a report: one page that needs no network, and its numbers as JSON and CSV."""

import base64
import csv
import hashlib
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.files import replace_file
from mvdfq._utils.short import csv_cell

SHELL = "shell.js"
# In the order of use: later scripts call functions of earlier scripts.
SCRIPTS = [
    "base.js", "charts.js", "tables.js", "verdict.js", "confusions.js", "map.js", "sequence.js",
    "canvas.js", "sound.js", "matters.js", "classes.js", "trust.js", "health.js",
    "main.js",
]  # fmt: skip
# Text of the data that could end the element or the line it stands in.
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
# How the files of a report begin; other files of these names belong to the user.
OURS = {".json": '{"schema":"mvdfq report', ".csv": "name,truth,predicted,"}


def page(data: dict[str, Any], clips: dict[str, Any] | None = None) -> str:
    """Return the page of a report as HTML. Names from files are data: scripts set them as text."""
    numbers = embedded({**packed(data), "clips": clips or {}})
    element = f'<script type="application/json" id="data">{numbers}</script>\n'
    main = asset("noscript.html").rstrip()
    return document("mvdfq report", main, scripts=SCRIPTS, data=element)


def document(
    title: str, main: str, *, links="", foot="", data="", scripts: Sequence[str] = (), style=""
) -> str:
    """Return a whole page in the look of the report; the caller has escaped all text."""
    style = asset("page.css") + style
    script = "\n".join(asset(name) for name in (SHELL, *scripts))
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
    policy += "img-src data:; media-src data:; base-uri 'none'; form-action 'none'"
    parts = {"policy": policy, "title": title, "style": style, "links": links, "main": main,
             "foot": foot, "data": data, "script": script}  # fmt: skip
    # one pass: what a part holds is not read as the name of another part
    pieces = re.split(r"\{(\w+)\}", asset("page.html"))
    return "".join(parts[piece] if k % 2 else piece for k, piece in enumerate(pieces))


def embedded(value: Any) -> str:
    """Return JSON that can stand inside an HTML element: no tag, no comment, no entity."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escaped in UNSAFE.items():
        text = text.replace(character, escaped)
    return text


def packed(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data with curves and evidence of details as bytes, a fifth of the text."""
    small: dict[str, Any] = {"details": []}
    for detail in data["details"]:
        curves = [curve if isinstance(curve, str) else _bytes(curve) for curve in detail["curves"]]
        rows, evidence = detail["evidence"], None
        largest = max((abs(v) for row in rows or [] for v in row), default=0.0)
        if rows is not None:  # 128 is 0, 1 and 255 are the largest evidence against and for
            levels = [np.round(np.array(row) / (largest or 1.0) * 127) + 128 for row in rows]
            evidence = [_base64(row.astype(np.uint8)) for row in levels]
        arrays = {"curves": curves, "evidence": evidence, "largest": largest}
        small["details"].append({**detail, **arrays})
    if "map" in data:
        kernel = data["map"]["kernel"]
        cells = _bytes([value for row in kernel["values"] for value in row])
        kernel = {**kernel, "values": cells, "n": len(kernel["values"])}
        small["map"] = {**data["map"], "kernel": kernel}
    return {**data, **small}


def _bytes(values: list[float | None]) -> dict[str, Any]:
    """Return values as 255 levels between their extremes; the byte 255 is a missing value."""
    row = np.array([np.nan if v is None else v for v in values], dtype=float)
    known = row[~np.isnan(row)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    levels = np.round((row - low) / ((high - low) or 1.0) * 254)
    codes = np.where(np.isnan(levels), 255, np.nan_to_num(levels)).astype(np.uint8)
    return {"low": low, "high": high, "codes": _base64(codes)}


def _base64(content: Any) -> str:
    return base64.b64encode(content).decode("ascii")


def asset(name: str) -> str:
    """Return a script or a style of the pages."""
    return (files("mvdfq.pages") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash by which a security policy allows an inline script or style."""
    return f"sha256-{_base64(hashlib.sha256(text.encode()).digest())}"


def foreign_files(page: Path) -> list[Path]:
    """Return the files beside a page that writing its numbers would destroy."""
    foreign = []
    for suffix, start in OURS.items():
        path, beginning = page.with_suffix(suffix), b""
        if path.is_file():
            with open(path, "rb") as file:
                beginning = file.read(len(start))
        if path.exists() and (not path.is_file() or beginning not in (b"", start.encode())):
            foreign.append(path)
    return foreign


def write_json(data: dict[str, Any], path: Path) -> None:
    """Write all numbers of a report."""
    replace_file(path, json.dumps(data, allow_nan=False, separators=(",", ":")) + "\n")


def write_csv(data: dict[str, Any], path: Path) -> None:
    """Write one line per judged sequence."""
    columns, classes = data["sequences"], data["classes"]
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    named = columns | {key: [classes[c] for c in columns[key]] for key in ("truth", "predicted")}
    answers = zip(columns["truth"], columns["predicted"], strict=True)
    named["correct"] = [int(true == answer) for true, answer in answers]
    writer.writerow(named)
    writer.writerows(map(csv_cell, line) for line in zip(*named.values(), strict=True))
    replace_file(path, file.getvalue().encode("utf-8", "backslashreplace"))
