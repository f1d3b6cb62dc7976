"""Fields of docs/run-result.schema.json. Written by tools/records.py; do not edit."""

from __future__ import annotations

from typing import Literal

from .._record import Record
from .run_parts import RunTarget as RunTarget
from .run_parts import RunLoad as RunLoad
from .run_parts import RunHost as RunHost
from .run_parts import LatNs as LatNs
from .run_parts import Histogram as Histogram
from .run_parts import Io as Io
from .run_parts import SeriesRow as SeriesRow
from .run_parts import FlashCompression as FlashCompression
from .run_parts import FlashHandles as FlashHandles
from .run_parts import FlashZones as FlashZones
from .run_parts import FlashWear as FlashWear
from .run_parts import FlashMap as FlashMap
from .run_parts import Flash as Flash
from .run_parts import SteadyStateOverwriting as SteadyStateOverwriting
from .run_parts import SteadyState as SteadyState
from .run_parts import DbTimeEvent as DbTimeEvent
from .run_parts import SlobDbTime as SlobDbTime
from .run_parts import Slob as Slob
from .run_parts import OltpTransactions as OltpTransactions
from .run_parts import Oltp as Oltp
from .run_parts import TpccTransactions as TpccTransactions
from .run_parts import Tpcc as Tpcc
from .run_parts import ReplicaLag as ReplicaLag
from .run_parts import Replica as Replica
from .run_parts import RunTransactionsPer as RunTransactionsPer
from .run_parts import Thermal as Thermal


class CacheWarmUp(Record):
    """The object `CacheWarmUp` of the schema."""

    requests: int
    """Reads and writes."""
    hit_rate: float
    """Hits of the last of them over their number."""
    attained: bool
    """The hit rate no longer changed, and the flash was written over twice."""


class Cache(Record):
    """The object `Cache` of the schema."""

    mode: Literal["writeback", "writethrough", "writearound", "passthrough"]
    """Way of writes."""
    policy: Literal["lru", "fifo", "clock", "s3-fifo"]
    """Choice of the block that leaves."""
    block_bytes: int
    """Bytes of a block."""
    blocks: int
    """Blocks that fit, at the scale of the model."""
    used_blocks: int
    """Blocks that were in use at the end."""
    hits: int
    """Reads and writes that found all of their blocks on the flash."""
    misses: int
    """Reads and writes that did not."""
    hit_rate: float
    """Hits over both."""
    block_hit_rate: float
    """Blocks found over blocks asked for."""
    passed_by: int
    """Requests of long sequential streams, which bring nothing in."""
    delayed: int
    """Blocks of reads that waited for the fetch of another request."""
    promoted: int
    """Blocks that came in."""
    evicted: int
    """Blocks that left for others."""
    dirty_share: float
    """Dirty blocks over all, at the end."""
    written_back: int
    """Blocks that were written back."""
    write_backs: int
    """Requests in which they were."""
    write_back_bw_bytes: float
    """Bytes written back a second."""
    flash_bytes: int
    """Bytes that the cache wrote to the flash: data and map."""
    programmed_bytes: int
    """Bytes that the flash programmed, relocations and parity included."""
    programmed_per_host_byte: float | None
    """Those over the bytes that the host wrote; null when it wrote none."""
    years_at_rating: float | None
    """Years until the flash at full size has its rated cycles, at this rate; null when nothing was programmed."""
    read_hit_lat_ns: LatNs | None
    """Reads that hit; null when there were none."""
    read_miss_lat_ns: LatNs | None
    """Reads that missed."""
    write_hit_lat_ns: LatNs | None
    """Writes that hit."""
    write_miss_lat_ns: LatNs | None
    """Writes that missed."""
    warm_up: CacheWarmUp | None
    """The way to the state in which the load found the cache; null when it was empty."""

    _nested = {
        "read_hit_lat_ns": LatNs,
        "read_miss_lat_ns": LatNs,
        "write_hit_lat_ns": LatNs,
        "write_miss_lat_ns": LatNs,
        "warm_up": CacheWarmUp,
    }


class TailBand(Record):
    """A group of requests, or one, by where the time went."""

    class_: Literal["read", "write", "sync"]
    label: str
    """`p50-p90`, or `#1`."""
    requests: int
    """Requests in the group."""
    t_s: float | None
    """When it was submitted, seconds since measurement began; single requests only."""
    lat_ns: float
    """Mean latency."""
    parts_ns: dict[str, float]
    """Mean nanoseconds by cause; they add up to lat_ns."""

    _keys = {"class_": "class"}


class Tail(Record):
    """Causes of requests' latency."""

    bands: list[TailBand]
    """Means over the requests between two percentiles of latency."""
    slowest: list[TailBand]
    """The slowest requests, slowest first."""

    _nested = {"bands": TailBand, "slowest": TailBand}


class Sim(Record):
    """The simulation itself."""

    virtual_seconds: float
    """Virtual seconds measured."""
    wall_seconds: float
    """Wall-clock seconds, preconditioning included. Differs from run to run."""
    precondition_wall_seconds: float
    """Wall-clock seconds of preconditioning. Differs from run to run."""
    media_operations: int
    """Reads, programs and erases in the measured time."""
    requests_generated: int
    """Requests since the start: finished + in flight."""
    requests_finished: int
    """Finished since the start."""
    requests_in_flight: int
    """In flight at the end."""


class Generator(Record):
    """Cost of the load to the machine that issued it."""

    os_threads: int
    """Threads of the operating system that asked."""
    busiest_thread: float
    """CPU time of the busiest of them over elapsed time; 1 is all of it."""
    cpu: float
    """CPU time of the process, user and system, over elapsed time: 2.0 is two processors."""
    machine_busy: float
    """Time that all processors of the machine were not idle, the process included, over elapsed time x processors."""
    run_queue_mean: float
    """Mean of processes that were runnable, sampled."""
    run_queue_max: int
    """Most processes that were runnable, sampled."""
    limit: str
    """Reason for taking the point to be limited by the host; empty when it isn't."""


class TraceRequests(Record):
    """Requests of one kind, and the bytes that the trace asks for."""

    requests: int
    """Number of requests."""
    bytes: int
    """Their lengths together."""


class RunTrace(Record):
    """The trace that was replayed, as far as it was; absent for other loads."""

    requests: int
    """Requests of all kinds."""
    reads: TraceRequests
    """Requests of one kind, and the bytes that the trace asks for."""
    writes: TraceRequests
    """Requests of one kind, and the bytes that the trace asks for."""
    trims: TraceRequests
    """Requests of one kind, and the bytes that the trace asks for."""
    flushes: TraceRequests
    """Requests of one kind, and the bytes that the trace asks for."""
    span_ns: int
    """From the first request to the last, as recorded."""
    lines: int
    """Lines that were read; some more than were replayed when the replay was stopped before its end."""
    other_lines: int
    """Lines that ask nothing: headers, events of other kinds, files that are opened."""
    bad_lines: int
    """Broken lines that were skipped (--skip-bad)."""
    backwards: int
    """Requests whose time ran backwards and was taken as that of the request before (--skip-bad)."""
    other_volumes: int
    """Requests of volumes that were not asked for (--trace-volume)."""
    volumes: int
    """Volumes that were laid over each other; at most 65,536 are told apart."""
    folded: int
    """Requests that lay beyond the device's size, at least in part: offsets count modulo that size."""
    split: int
    """Requests that were cut: at the device's end, or because they are longer than 64 MiB."""
    widened: int
    """Requests that were widened to boundaries of 512 bytes."""
    pieces: int
    """Requests that the device was asked, after cutting."""
    behind: int
    """Requests that were asked later than they were due, because as many as may be were outstanding."""
    behind_max_ns: int
    """Delay of the latest of them."""
    deepest: int
    """Most requests outstanding at once."""
    series_row_s: int
    """Virtual seconds of a row of the series: 1, doubled whenever there would be more than 3,600 rows."""

    _nested = {"reads": TraceRequests, "writes": TraceRequests, "trims": TraceRequests, "flushes": TraceRequests}


class Run(Record):
    """Times are virtual unless they say wall. Units are the last word of a key; keys of read, write and sync are fio's.
    """

    schema: int
    """Version of this schema."""
    target: RunTarget
    """The device: `flashrig show CARD --json` without the sources, and what this run made of it."""
    load: RunLoad
    """The load: every parameter under its own name."""
    seed: int
    """Root seed."""
    host: RunHost
    """The host."""
    read: Io
    """One kind of request, with fio's keys."""
    write: Io
    """One kind of request, with fio's keys."""
    sync: Io
    """Flushes."""
    series: list[SeriesRow]
    """A row a virtual second."""
    flash: Flash | None
    """Null for disks."""
    steady_state: SteadyState | None
    """Null with --fresh."""
    application: Slob | Oltp | Tpcc | Replica | None
    """The application's view; null for fileio."""
    transactions_per: RunTransactionsPer | None
    """Transactions a second of the device alone for each unit of what it takes; absent without transactions."""
    thermal: Thermal | None
    """Heat of a modelled card that has a temperature (`[thermal]` in its file); absent for others."""
    cache: Cache | None
    """Of a card that is a cache (`--cache-of`); absent for other devices."""
    tail: Tail | None
    """Null without --explain-tail."""
    sim: Sim | None
    """The simulation itself; absent for a real device."""
    generator: Generator | None
    """Cost of the load to this machine; absent for a model."""
    partial: bool | None
    """There only when Ctrl-C stopped the run before its end."""
    trace: RunTrace | None
    """The trace that was replayed, as far as it was; absent for other loads."""

    _nested = {
        "target": RunTarget,
        "load": RunLoad,
        "host": RunHost,
        "read": Io,
        "write": Io,
        "sync": Io,
        "series": SeriesRow,
        "flash": Flash,
        "steady_state": SteadyState,
        "application": (Slob, Oltp, Tpcc, Replica,),
        "transactions_per": RunTransactionsPer,
        "thermal": Thermal,
        "cache": Cache,
        "tail": Tail,
        "sim": Sim,
        "generator": Generator,
        "trace": RunTrace,
    }
