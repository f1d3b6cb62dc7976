"""Results in a notebook: a line of figures, a small chart, a short table."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Sequence

from ._chart import Chart, chart
from ._rows import columns

if TYPE_CHECKING:
    from .results import Result

MAX_ROWS = 12
WIDTH, HEIGHT = 560, 200
COLOURS = ("#2a6fbb", "#c8553d", "#4c9a5f", "#8c5fa8", "#b58a2b", "#5a6872")


def shown(result: Result) -> str:
    """A result as HTML."""
    drawn = chart(result)
    parts = [f"<b>{escape(drawn.title)}</b>"]
    if result._data.get("partial"):
        parts.append(f" <span style='color:#c8553d'>partial: {escape(str(result._data['partial']))}</span>")
    if drawn.series:
        parts.append(svg(drawn))
    parts.append(table(result.rows()))
    return "".join(parts)


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The first rows as a table."""
    names = columns(rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell(row.get(name)))}</td>" for name in names) + "</tr>" for row in rows[:MAX_ROWS]
    )
    more = f"<p>… {len(rows) - MAX_ROWS} more rows</p>" if len(rows) > MAX_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def cell(value: Any) -> str:
    """A value with four digits."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def svg(drawn: Chart) -> str:
    """A chart of lines, with its axes named."""
    left, top, right, bottom = 70, 10, 130, 34
    xs = [x for line in drawn.series.values() for x, _ in line]
    ys = [y for line in drawn.series.values() for _, y in line]
    low_x, high_x, high_y = min(xs), max(xs), max(ys) or 1.0
    wide, high = WIDTH - left - right, HEIGHT - top - bottom

    def at(x: float, y: float) -> str:
        along = (x - low_x) / (high_x - low_x) if high_x > low_x else 0.5
        return f"{left + along * wide:.1f},{top + high - y / high_y * high:.1f}"

    out = [f"<svg viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' style='display:block;font:11px sans-serif'>"]
    out.append(f"<path d='M{at(low_x, high_y)}L{at(low_x, 0)}L{at(high_x, 0)}' fill='none' stroke='#999'/>")
    base = top + high
    out.append(f"<text x='{left - 4}' y='{top + 9}' text-anchor='end'>{cell(float(high_y))}</text>")
    out.append(f"<text x='{left - 4}' y='{base}' text-anchor='end'>0</text>")
    out.append(f"<text x='{left}' y='{base + 14}'>{cell(float(low_x))}</text>")
    out.append(f"<text x='{left + wide}' y='{base + 14}' text-anchor='end'>{cell(float(high_x))}</text>")
    out.append(f"<text x='{left + wide / 2}' y='{base + 28}' text-anchor='middle'>{escape(drawn.x)}</text>")
    out.append(f"<text x='{left - 4}' y='{top + 24}' text-anchor='end' fill='#666'>{escape(drawn.y)}</text>")
    for i, (name, line) in enumerate(drawn.series.items()):
        colour = COLOURS[i % len(COLOURS)]
        out.append(f"<polyline points='{' '.join(at(x, y) for x, y in line)}' fill='none' stroke='{colour}'/>")
        out += [f"<circle cx='{at(x, y).replace(',', chr(39) + ' cy=' + chr(39))}' r='2' fill='{colour}'/>" for x, y in line]
        label = f"<text x='{left + wide + 8}' y='{top + 12 + 15 * i}' fill='{colour}'>{escape(name[:20])}</text>"
        out.append(label if i < 10 else "")
    return "".join(out) + "</svg>"


def document(title: str, body: str) -> str:
    """A page of its own."""
    style = "body{font:14px sans-serif;margin:2em}td,th{padding:2px 8px;text-align:right;white-space:nowrap}"
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{escape(title)} · Flashrig</title>"
        f"<style>{style}</style><body>{body}</body></html>\n"
    )
