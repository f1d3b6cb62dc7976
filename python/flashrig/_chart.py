"""The chart of a result, whatever draws it: which lines, against what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .results import Result

Line = list[tuple[float, float]]


@dataclass
class Chart:
    """Lines with a name each, over one axis."""

    title: str
    x: str = ""
    y: str = ""
    series: dict[str, Line] = field(default_factory=dict)

    def add(self, name: str, x: Any, y: Any) -> None:
        """A point of a line; points without a figure are left out."""
        if isinstance(x, (int, float)) and isinstance(y, (int, float)):
            self.series.setdefault(name, []).append((float(x), float(y)))


def chart(result: Result) -> Chart:
    """The chart that says most of a result."""
    from . import results

    made = Chart(type(result).__name__)
    if isinstance(result, results.RunResult):
        _run(made, result)
    elif isinstance(result, results.WhatifResult):
        _whatif(made, result)
    elif isinstance(result, results.LifetimeResult):
        made.title, made.x, made.y = f"{result.target['title']}: spare left", "years", "spare %"
        for case in result.cases:
            for moment in case.curve:
                made.add(f"reserve {case.reserve_percent:g} %", moment.years, moment.spare_factor * 100)
    elif isinstance(result, results.ReviewResult):
        _review(made, result)
    elif isinstance(result, results.FitResult):
        made.title, made.x, made.y = f"fitted to {', '.join(result.files)}", "measured MB/s", "fitted"
        for point in result.points:
            for figure in point.figures:
                if figure.figure == "bytes_per_s":
                    made.add(point.sweep or point.file, figure.measured / 1e6, figure.fitted / 1e6)
        for name in made.series:
            made.series[name].sort()
    return made


def _run(made: Chart, result: Any) -> None:
    of = result.target
    io = {"reads": result.read, "writes": result.write, "syncs": result.sync}
    figures = [f"{name} {one.iops:,.0f}/s, mean {one.lat_ns.mean / 1e3:,.0f} µs" for name, one in io.items() if one.total_ios]
    made.title, made.x, made.y = f"{of.title}: {'; '.join(figures)}", "percentile (nines)", "µs"
    for name, one in io.items():
        for percent, ns in one.lat_ns.percentile.items():
            made.add(name, _nines(float(percent)), ns / 1e3)


def _nines(percent: float) -> float:
    """99 % is 2, 99.9 % is 3: tails need room."""
    from math import log10

    return -log10(1 - min(percent, 99.9999) / 100)


def _whatif(made: Chart, result: Any) -> None:
    varying = [axis for axis in result.axes if len(axis.values) > 1] or result.axes[-1:]
    numbers = [axis for axis in varying if all(isinstance(value, (int, float)) for value in axis.values)]
    along = max(numbers, key=lambda axis: len(axis.values), default=None)
    made.title = f"{result.target['title']}, {len(result.points)} points"
    if along is None:
        return
    made.x, made.y = along.label, "MB/s"
    for point in result.points:
        others = [f"{axis.key.split('.')[-1]} {point.at[axis.key]}" for axis in varying if axis is not along]
        if point.answer is not None:
            made.add(", ".join(others) or "all", point.at[along.key], point.answer.bw_bytes / 1e6)
    for line in made.series.values():
        line.sort()


def _review(made: Chart, result: Any) -> None:
    made.title = result.answer["text"] if result.answer and "text" in result.answer else result.target.title
    if not result.sweeps:
        return
    sweep = next((one for one in result.sweeps if one.axis == "fill_percent"), result.sweeps[0])
    made.x, made.y = sweep.axis.replace("_", " "), "MB/s"
    for other in result.sweeps:
        if other.axis == sweep.axis:
            for point in other.points:
                made.add(other.title, point.x, (point.read.bw_bytes + point.write.bw_bytes) / 1e6)
