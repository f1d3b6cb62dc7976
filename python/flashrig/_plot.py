"""The chart of a result, drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._chart import chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .results import Result


def draw(result: Result, ax: Axes | None = None) -> Axes:
    """Draws into the axes that are given, or into new ones."""
    drawn = chart(result)
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(layout="constrained")[1]
    for name, line in drawn.series.items():
        ax.plot([x for x, _ in line], [y for _, y in line], marker="o", label=name)
    ax.set_title(drawn.title, fontsize="small", wrap=True)
    ax.set_xlabel(drawn.x)
    ax.set_ylabel(drawn.y)
    ax.set_ylim(bottom=0)
    if len(drawn.series) > 1:
        ax.legend(fontsize="small")
    return ax
