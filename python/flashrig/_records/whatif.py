"""Fields of docs/whatif-result.schema.json. Written by tools/records.py; do not edit."""

from __future__ import annotations

from typing import Any, Literal

from .._record import Record


class Axis(Record):
    """The object `Axis` of the schema."""

    key: str
    """fill, reserve, load, read_percent, block, threads, or a key of the card's or the host's file (ftl.victim)."""
    label: str
    unit: Literal["percent", "count", "bytes", "name"]
    values: list[float | str]


class Latency(Record):
    """Nanoseconds."""

    mean: float
    p50: int
    p99: int
    p99_9: int

    _keys = {"p99_9": "p99.9"}


class Answer(Record):
    """The object `Answer` of the schema."""

    bw_bytes: float
    """Reads and writes together, bytes a second."""
    iops: float
    """Reads and writes together, a second."""
    lat_ns: Latency
    """Latencies of reads and writes together; percentiles of a mix are at most 3.2 % too high."""
    read_lat_ns: Latency | None
    """Latencies of reads alone; absent where there were none."""
    write_lat_ns: Latency | None
    """Latencies of writes alone; absent where there were none."""
    waf: float | None
    """Pages programmed for data over pages that the host wrote, below 1 where compression saves more than relocation
    costs; absent where nothing was written, and for disks.
    """
    hit_rate: float | None
    """Reads and writes that found all of their blocks in the cache over all of them; absent without one."""
    years_at_rating: float | None
    """Years until the flash of the cache has its rated cycles; absent without one, and where nothing was programmed."""
    effective_spare_factor: float | None
    """Absent for disks."""
    steady: bool
    """The rule for steady state was satisfied."""
    virtual_seconds: float

    _nested = {"lat_ns": Latency, "read_lat_ns": Latency, "write_lat_ns": Latency}


class Point(Record):
    """The object `Point` of the schema."""

    at: dict[str, float | str]
    """The value on each axis, by its key."""
    user_bytes: int
    """Bytes that the host can address, as modelled."""
    used_bytes: int
    """Bytes of it that are in use."""
    answer: Answer | None
    failed: str | None
    """Reason why the card could not do it."""

    _nested = {"answer": Answer}


class SearchFoundTried(Record):
    """The object `SearchFoundTried` of the schema."""

    value: float
    holds: bool


class SearchFound(Record):
    """The object `SearchFound` of the schema."""

    at: dict[str, float | str]
    """The value on each axis, by its key."""
    outcome: Literal["found", "every", "none", "not_monotone", "stopped"]
    """found: `holds` holds and `breaks` breaks; every, none: all or none of the values that were tried hold;
    not_monotone: values hold beyond one that breaks; stopped: by a person.
    """
    holds: float | None
    breaks: float | None
    tried: list[SearchFoundTried]

    _nested = {"tried": SearchFoundTried}


class Search(Record):
    """The object `Search` of the schema."""

    axis: Literal["fill", "reserve", "threads"]
    wanted: Literal["most", "least"]
    """The value that is wanted of those that hold: the fullest fill, the most threads; the smallest reserve, the fewest
    threads.
    """
    target_p99_ns: int | None
    min_bw_bytes: float | None
    found: list[SearchFound]
    """For each combination of the other axes."""

    _nested = {"found": SearchFound}


class Whatif(Record):
    """Times are virtual. Units are the last word of a key. Nothing depends on the machine: the same command with the
    same seed gives the same bytes.
    """

    kind: str
    schema: int
    """Version of this schema."""
    generator: str
    target: dict[str, Any]
    """The card before any axis changes it: `flashrig show CARD --json` without the sources, with the scale."""
    host: dict[str, Any]
    """The machine in front of it."""
    load: dict[str, Any]
    """The load where no axis says otherwise, as in a run's result; its file is the part in use."""
    scale: float
    seed: int
    axes: list[Axis]
    """Quantities that vary, and those that were fixed (one value). A search's axis has the smallest and the largest
    value.
    """
    points: list[Point]
    """The product of the axes, the last one fastest; of a search the points that were tried. Points that were not
    finished are left out.
    """
    search: Search | None
    partial: str | None
    """Reason why points are missing."""

    _nested = {"axes": Axis, "points": Point, "search": Search}
