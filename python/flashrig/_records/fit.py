"""Fields of docs/fit-result.schema.json. Written by tools/records.py; do not edit."""

from __future__ import annotations

from typing import Literal

from .._record import Record


class FitParameters(Record):
    """A parameter."""

    name: str
    """Key in the card's file, or what it is called where it is none."""
    value: str
    """Three digits, or a name."""
    number: float | None
    """The value, where it is a number."""
    low: float | None
    """Two standard deviations below; null where undetermined."""
    high: float | None
    """Two standard deviations above; null where undetermined."""
    status: Literal["determined", "at_least", "at_most", "together", "undetermined"]
    """Determination by the results."""


class FitPointsFigures(Record):
    """A figure."""

    figure: Literal["bytes_per_s", "read_mean_ns", "read_p05_ns", "read_p25_ns", "read_p50_ns", "read_p75_ns", "read_p90_ns", "read_p95_ns", "read_p99_ns", "read_p999_ns", "write_mean_ns", "write_p05_ns", "write_p25_ns", "write_p50_ns", "write_p75_ns", "write_p90_ns", "write_p95_ns", "write_p99_ns", "write_p999_ns", "write_longest_ns"]
    """Name of the figure."""
    measured: float
    """As measured."""
    fitted: float
    """As the fitted card has it."""
    error: float
    """fitted / measured - 1."""
    predicted: float | None
    """As a card has it that was fitted without this point; null where there was none."""


class FitPoints(Record):
    """A point."""

    file: str
    """Name of the file that it is from."""
    sweep: str
    """Sweep of the file."""
    condition: str
    """Load of the point: mode, block, threads, depth, share of reads, fill."""
    held_out: bool
    """No fit saw it (--hold-out)."""
    figures: list[FitPointsFigures]
    """Its figures."""

    _nested = {"figures": FitPointsFigures}


class FitLeftOutThroughput(Record):
    """Errors of throughput at points that were left out."""

    figures: int
    """Figures that were predicted."""
    median: float
    """Half of the errors are smaller; shares of what was measured, without sign."""
    p95: float
    """Nineteen of twenty are smaller."""
    most: float
    """The largest."""


class FitLeftOutLatency(Record):
    """Errors of latencies there."""

    figures: int
    """Figures that were predicted."""
    median: float
    """Half of the errors are smaller; shares of what was measured, without sign."""
    p95: float
    """Nineteen of twenty are smaller."""
    most: float
    """The largest."""


class Fit(Record):
    """The card that would have measured like this: its parameters with how well they are determined, and measured
    against fitted, point by point. Units are the last word of a name: _ns, bytes_per_s.
    """

    kind: str
    """Tells it from other JSON."""
    schema: int
    """Version of this schema."""
    files: list[str]
    """Results that the card was fitted to."""
    base: str
    """The card that the fit began with."""
    host: str
    """The host in front of it."""
    seed: int
    """Root seed."""
    parameters: list[FitParameters]
    """Numbers first, then choices."""
    points: list[FitPoints]
    """Measured against fitted."""
    left_out_throughput: FitLeftOutThroughput
    """Errors of throughput at points that were left out."""
    left_out_latency: FitLeftOutLatency
    """Errors of latencies there."""
    bound: float
    """Median error of throughput above which a fit is none (--bound)."""
    good: bool
    """The predictions keep to it."""
    notes: list[str]
    """Remarks on points that were left out or assumed."""
    simulated_points: int
    """Points that were simulated."""

    _nested = {
        "parameters": FitParameters,
        "points": FitPoints,
        "left_out_throughput": FitLeftOutThroughput,
        "left_out_latency": FitLeftOutLatency,
    }
