"""One page about candidate kernels: the certified ones first, by their largest error, then the undecided, then the
refuted."""
from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; vertical-align: top }
tr + tr { border-top: 1px solid #8885 } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
code { overflow-wrap: anywhere } .wide { overflow-x: auto }
"""


def _number(value: Any) -> float:
    """A number of a report: a JSON number, or a text with a decimal or hex float."""
    if isinstance(value, str):
        return float.fromhex(value) if "0x" in value else float(value)
    return math.nan if value is None else float(value)


def _row(cells: Sequence[tuple[str, bool]], tag: str = "td") -> str:
    return "<tr>" + "".join(f'<{tag} class="n">{text}</{tag}>' if number else f"<{tag}>{text}</{tag}>"
                            for text, number in cells) + "</tr>"


def _table(heads: Sequence[tuple[str, bool]], rows: Sequence[Sequence[tuple[str, bool]]]) -> str:
    return '<div class="wide"><table>' + _row(heads, "th") + "".join(map(_row, rows)) + "</table></div>"


def _name(line: dict[str, Any]) -> tuple[str, bool]:
    return f"<code>{html.escape(line['kernel'])}</code>", False


def _finding(line: dict[str, Any]) -> tuple[str, bool]:
    sentence, again = html.escape(line.get("finding", line["sentence"])), html.escape(line.get("reproducer", ""))
    return f"{sentence}<br><code>{again}</code>", False


def _seconds(line: dict[str, Any]) -> tuple[str, bool]:
    return f"{line['seconds']:.2f}", True


def page_of(lines: Sequence[dict[str, Any]]) -> str:
    """The page of these lines, as HTML that needs nothing else."""
    of = {verdict: [line for line in lines if line["verdict"] == verdict]
          for verdict in ("certified", "undecided", "refuted")}
    of["certified"].sort(key=lambda line: (_number(line.get("max_error_in_bounds")), line["kernel"]))
    of["undecided"].sort(key=lambda line: line["kernel"])
    of["refuted"].sort(key=lambda line: (line.get("class", ""), line["kernel"]))
    parts = [f"<h2>{len(of['certified'])} certified</h2>", _table(
        [("kernel", False), ("largest error / bound", True), ("elements", True), ("seconds", True)],
        [[_name(line), (f"{_number(line.get('max_error_in_bounds')):.4f}", True),
          (f"{line.get('elements', 0):,}", True), _seconds(line)]
         for line in of["certified"]])] if of["certified"] else []
    if of["undecided"]:
        parts += [f"<h2>{len(of['undecided'])} undecided</h2>", _table(
            [("kernel", False), ("why", False), ("seconds", True)],
            [[_name(line), (html.escape(line["sentence"]), False), _seconds(line)] for line in of["undecided"]])]
    if of["refuted"]:
        parts += [f"<h2>{len(of['refuted'])} refuted</h2>", _table(
            [("kernel", False), ("class", False), ("first finding", False), ("seconds", True)],
            [[_name(line), (html.escape(line.get("class", "")), False), _finding(line), _seconds(line)]
             for line in of["refuted"]])]
    title = f"{len(lines)} candidate kernels"
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{title}</title><style>{_STYLE}</style><h1>{title}</h1>{''.join(parts)}</html>\n")
