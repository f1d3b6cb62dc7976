"""Results as objects with named fields.

Each has the JSON of the command line, byte for byte (`to_json`), its fields as attributes (`run.write.lat_ns.mean`), tables
for pandas and pyarrow (`to_pandas`, `to_arrow`), a page (`page`) and a chart (`plot`).
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from . import _flashrig
from ._call import ask
from ._record import Record
from ._records import fit as _fit
from ._records import lifetime as _lifetime
from ._records import review as _review
from ._records import run as _run
from ._records import whatif as _whatif
from ._rows import cases, curves, fitted, io_rows, points, sweeps, tails

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from matplotlib.axes import Axes

    from .card import Card

Rows = list[dict[str, Any]]
R = TypeVar("R", bound="Result")


class Result(Record):
    """What all results have in common."""

    tables: ClassVar[tuple[str, ...]] = ()
    """Names of the tables that `rows`, `to_pandas` and `to_arrow` give; the first is the usual one."""
    def __init__(self, text: str, code: int = 0, notes: str = "") -> None:
        data = json.loads(text)
        super().__init__(data if isinstance(data, dict) else {self._whole: data})
        self._text, self._code, self._notes = text, code, notes

    _whole: ClassVar[str] = ""

    def to_json(self) -> str:
        """The JSON that the command line prints, byte for byte."""
        return self._text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the JSON to a file; `read_result` and the command line read it."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text)

    @property
    def ok(self) -> bool:
        """The command's exit code was 0: every bound holds, the fit is good, the card is sound."""
        return self._code == 0

    @property
    def said(self) -> str:
        """What the command would have said on standard error."""
        return self._notes

    def rows(self, table: str | None = None) -> Rows:
        """A table as a list of rows. Units are the last word of a column: `_ns`, `_s`, `_bytes`."""
        table = self.tables[0] if table is None else table
        if table not in self.tables:
            raise ValueError(f"no table {table!r}; there are {', '.join(self.tables)}")
        return self._rows(table)

    def _rows(self, table: str) -> Rows:
        raise NotImplementedError

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """A table as a DataFrame (`pip install flashrig[pandas]`); `tables` names them."""
        import pandas

        return pandas.DataFrame(self.rows(table))

    def to_arrow(self, table: str | None = None) -> pyarrow.Table:
        """A table for pyarrow (`pip install flashrig[arrow]`)."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.rows(table))

    def page(self, path: str | os.PathLike[str]) -> None:
        """Writes the page of the result: one HTML file that needs no network."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._page())

    def _page(self) -> str:
        from ._html import document

        return document(type(self).__name__, self._repr_html_())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the result's chart with matplotlib (`pip install flashrig[plot]`)."""
        from ._plot import draw

        return draw(self, ax)

    def _repr_html_(self) -> str:
        from ._html import shown

        return shown(self)


class RunResult(_run.Run, Result):
    """The result of `run` and `replay`. Times are virtual, but for `sim.wall_seconds`."""

    tables = ("series", "latencies", "tail")

    def _rows(self, table: str) -> Rows:
        if table == "series":
            return [row.to_dict() for row in self.series]
        return io_rows(self) if table == "latencies" else tails(self)

    def _page(self) -> str:
        return _flashrig.page([self._text])

    def to_fio_json(self, jobname: str = "flashrig") -> str:
        """The result in the words of fio's JSON, for programs that read fio's.

        A run with `histograms=True` gives json+: with buckets of latency, and the distribution over them.
        """
        from ._fio import output

        return output(self, jobname)


class WhatifResult(_whatif.Whatif, Result):
    """The answers of `whatif`: a row for each point, and what a search found."""

    tables = ("points",)

    def _rows(self, table: str) -> Rows:
        return points(self)

    def _page(self) -> str:
        return _flashrig.page([self._text])


class LifetimeResult(_lifetime.Lifetime, Result):
    """The lives of `lifetime`, one for each reserve."""

    tables = ("cases", "curve")

    def _rows(self, table: str) -> Rows:
        return cases(self) if table == "cases" else curves(self)


class ReviewResult(_review.Review, Result):
    """A review, or another tool's result in its words."""

    tables = ("points", "series", "verdict")

    def _rows(self, table: str) -> Rows:
        if table == "points":
            return sweeps(self)
        if table == "series":
            return [row.to_dict() for row in self.timeline.point.series] if self.timeline else []
        return [sentence.to_dict() for sentence in self.verdict]

    def _page(self) -> str:
        return _flashrig.page([self._text])


class FitResult(_fit.Fit, Result):
    """A fitted card: its parameters, and measured against fitted. `ok` is False where the fit is not good."""

    tables = ("points", "parameters")

    def __init__(self, text: str, code: int = 0, notes: str = "") -> None:
        super().__init__(text, code, notes)
        self._card_toml: str | None = None

    @property
    def card_toml(self) -> str | None:
        """The card's file; None for a result that was read from its JSON, which does not have it."""
        return self._card_toml

    @property
    def card(self) -> Card:
        """The fitted card, to be asked."""
        from .card import Card

        if self._card_toml is None:
            raise ValueError("the JSON of a fit does not have the card; fit(…).card has it, and the file that -o wrote")
        return Card.from_toml(self._card_toml, "fitted")

    def _rows(self, table: str) -> Rows:
        return fitted(self) if table == "points" else [one.to_dict() for one in self.parameters]


class ValidateResult(Result):
    """The models against published tables. `ok` is False where a bound is missed."""

    tables = ("points",)
    _whole = "comparisons"
    comparisons: list[_review.Comparison]
    _nested = {"comparisons": _review.Comparison}

    def _rows(self, table: str) -> Rows:
        return [
            {"table": one.name, "card": one.card, **{**point.to_dict(), "published": _published(point["published"])}}
            for one in self.comparisons
            for point in one.points
        ]


def _published(of: Any) -> Any:
    return of.get("value") if isinstance(of, dict) else of


class CompareRow(Record):
    """A figure of each device."""

    group: str
    label: str
    unit: str
    better: str
    values: list[float | None]
    limited_by_host: list[bool]
    """The machine that asked was the limit: nothing is won or lost with such a value."""
    advantage_percent: list[float | None]
    """Over the first device."""
    interval_percent: list[list[float] | None]


class CompareResult(Result):
    """Results side by side. `ok` is False where a condition of `fail_if` is met."""

    tables = ("rows",)
    devices: list[str]
    repeats: list[int]
    wins: list[dict[str, Any]]
    """Who wins at what, by how many times: `winner` and `second` are places in `devices`, None where nobody is ahead."""
    rows_: list[CompareRow]
    conditions: list[dict[str, Any]]
    _nested = {"rows_": CompareRow}
    _keys = {"rows_": "rows"}

    def _rows(self, table: str) -> Rows:
        return [
            {"group": row.group, "label": row.label, "unit": row.unit, "better": row.better}
            | dict(zip(self.devices, row["values"]))
            for row in self.rows_
        ]


class HistoryFigure(Record):
    """A figure of a device, for each review in order; None where a review does not have it."""

    group: str
    label: str
    better: str
    values: list[float | None]
    times_as_good: float | None
    """The last over the first; above 1 the device has become better."""


class DeviceHistory(Record):
    """The reviews of one device, in the order of time."""

    device: str
    when: list[str]
    partial: list[bool]
    sentence: str
    figures: list[HistoryFigure]
    _nested = {"figures": HistoryFigure}


class HistoryResult(Result):
    """What became of devices."""

    tables = ("figures",)
    devices: list[DeviceHistory]
    _nested = {"devices": DeviceHistory}

    def _rows(self, table: str) -> Rows:
        return [
            {"device": device.device, "group": figure.group, "label": figure.label, "when": when, "value": value}
            for device in self.devices
            for figure in device.figures
            for when, value in zip(device.when, figure["values"])
        ]


class TakeoversResult(Result):
    """Simulated lives of controllers that share an array. `ok` is False where a promise was broken."""

    tables = ("met",)
    seed: int
    lives: int
    faults: int
    steps: int
    met: list[dict[str, Any]]
    rare: list[str]
    violation: dict[str, Any] | None
    partial: bool

    def _rows(self, table: str) -> Rows:
        return [dict(row) for row in self["met"]]


class TortureResult(Result):
    """Simulated lives with faults. `ok` is False where a card broke its promise."""

    tables = ("faults",)
    seed: int
    lives: int
    operations: int
    power_cuts: int
    sectors_checked: int
    faults: int
    violation: dict[str, Any] | None
    partial: bool
    trace: str

    def _rows(self, table: str) -> Rows:
        return [
            {"fault": row["name"], **{cell["activity"]: cell["count"] for cell in row["cells"]}}
            for row in self["faults_by_activity"]
        ]

    @property
    def replay(self) -> str | None:
        """The line that lives the failed life again; None where all held."""
        return f"flashrig torture --replay {self.violation['smallest']['file']}" if self.violation else None


#: Class of a result by its `kind`; a run's result has none.
KINDS: dict[str, type[Result]] = {
    "flashrig-whatif": WhatifResult,
    "flashrig-lifetime": LifetimeResult,
    "flashrig-fit": FitResult,
    "flashrig-review": ReviewResult,
}


def read_result(what: str | os.PathLike[str]) -> Result:
    """Reads a result: one that Flashrig wrote, fio's JSON, sysbench's output, pgbench's logs (joined by commas), or
    `published:NAME`. Other tools' results, and those of `review`, are a ReviewResult.

    Raises ValueError where it is none, with the line that the command prints.
    """
    name = os.fspath(what)
    own = _own(name)
    return own if own is not None else ReviewResult(_flashrig.read(name))


def _own(name: str) -> Result | None:
    """A result that Flashrig wrote, but for reviews, which the command's own reader checks."""
    try:
        with open(name, encoding="utf-8") as file:
            text = file.read()
        data = json.loads(text)
    except (OSError, ValueError):
        return None
    if not isinstance(data, dict):
        return None
    kind = data.get("kind")
    if kind is None and {"schema", "target", "load", "read", "write", "series"} <= data.keys():
        return RunResult(text)
    of = KINDS.get(str(kind))
    return of(text) if of is not None and of is not ReviewResult else None


def made(of: type[R], words: list[str], progress: Any = None) -> R:
    """Carries out a command and makes its result of what it prints."""
    from ._call import Interrupted

    answer = ask(words, progress)
    result = of(answer.text, answer.code, answer.notes)
    if answer.interrupted or answer.code == 130:
        raise Interrupted("stopped by Ctrl-C; the exception's `result` has what was done", result)
    return result
