"""Latency over time, as a chart of characters: from fio's histograms of each second."""

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Second:
    """A second of a long run: requests that ended in it, and their latencies in microseconds."""

    requests: int
    p50: float
    p99: float
    longest: float


# Places of fio's histograms: 64 for each power of two of nanoseconds.
PLACES = 1856


def middle_of(place):
    """The latency in microseconds that a place of fio's histograms stands for."""
    if place < 128:
        return place / 1e3
    shift = (place >> 6) - 1
    return ((1 << (shift + 6)) + (place % 64 + 0.5) * (1 << shift)) / 1e3


def seconds_of(log):
    """The seconds of a log that fio's --write_hist_log with --log_hist_msec=1000 has written."""
    # A time, a direction, a block size and sometimes more come before the counts.
    return [second_of([int(word) for word in line.split(",")[-PLACES:]]) for line in log.splitlines()]


def second_of(counts):
    requests = sum(counts)
    held = [place for place, count in enumerate(counts) if count]
    if not held:
        return Second(0, 0, 0, 0)

    def percentile(part):
        seen = 0
        for place in held:
            seen += counts[place]
            if seen >= part * requests:
                return middle_of(place)

    return Second(requests, percentile(0.5), percentile(0.99), middle_of(held[-1]))


CHART_WIDTH, CHART_STEPS = 60, [1e6, 3e5, 1e5, 3e4, 1e4, 3e3, 1e3, 3e2, 1e2]


def chart(seconds):
    """Latency over time on a logarithmic scale: the median, the 99th percentile and the longest of each column."""
    columns = [seconds[len(seconds) * c // CHART_WIDTH : len(seconds) * (c + 1) // CHART_WIDTH] for c in range(CHART_WIDTH)]
    columns = [column for column in columns if column]
    for above, step in zip([float("inf"), *CHART_STEPS], CHART_STEPS):
        marks = ""
        for column in columns:
            held = {
                "o": statistics.median(second.p50 for second in column),
                "+": statistics.median(second.p99 for second in column),
                "#": max(second.longest for second in column),
            }
            marks += next((mark for mark, value in held.items() if step <= value < above), " ")
        label = f"{step / 1e6:.0f} s" if step >= 1e6 else f"{step / 1e3:g} ms"
        yield f"{label:>8} |{marks}"
    yield f"{'':>8} +{'-' * len(columns)}"
    yield f"{'':>10}0{f'{len(seconds)} s':>{len(columns) - 1}}"
    yield f"{'':>10}o median   + 99th percentile   # longest"
