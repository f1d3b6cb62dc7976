"""Fields of docs/run-result.schema.json. Written by tools/records.py; do not edit."""

from __future__ import annotations

from typing import Any, Literal

from .._record import Record


class RunTarget(Record):
    """The device: `flashrig show CARD --json` without the sources, and what this run made of it."""

    name: str
    title: str
    kind: Literal["flash", "disks"]
    user_bytes: int
    """User capacity at full size."""
    price_usd: float | None
    usd_per_gb: float | None
    power_watts: float | None
    rack_units: float | None
    """Rack units that it takes, or its share of a server's; null where it is not known."""
    changed: list[str]
    """Settings that were made with --set."""
    figures: dict[str, Any] | None
    """Figures that follow from the settings; null for disks."""
    settings: dict[str, Any]
    """Every value of the profile, by table and key."""
    scale: float
    """As asked."""
    scaled_user_bytes: int
    """User capacity of the model."""
    fill: float
    """Share of it that held data before the run."""


class RunLoad(Record):
    """The load: every parameter under its own name."""

    kind: Literal["fileio", "redo", "slob", "oltp", "tpcc", "replica", "trace"]


class RunHost(Record):
    """The host."""

    name: str
    title: str
    changed: list[str]
    settings: dict[str, Any]


class LatNs(Record):
    """Latencies in nanoseconds, with fio's keys."""

    min: int
    """Shortest."""
    max: int
    """Longest."""
    mean: float
    """Mean."""
    stddev: float
    """Standard deviation."""
    N: int
    """Values."""
    percentile: dict[str, int]
    """By percent, as fio writes them: '95.000000'. Empty when there are no values."""


class Histogram(Record):
    """All latencies, in buckets that are no wider than 1/32 of their lower end."""

    upper_ns: list[int]
    """Largest latency of each bucket that is not empty, rising, nanoseconds."""
    counts: list[int]
    """Values in it, one number for each of upper_ns."""


class Io(Record):
    """One kind of request, with fio's keys."""

    total_ios: int
    """Requests finished."""
    io_bytes: int
    """Bytes moved."""
    iops: float
    """Requests a second."""
    bw_bytes: float
    """Bytes a second."""
    lat_ns: LatNs
    """Latencies in nanoseconds, with fio's keys."""
    histogram: Histogram | None
    """There in reviews; single runs leave it out."""

    _nested = {"lat_ns": LatNs, "histogram": Histogram}


class SeriesRow(Record):
    """One virtual second."""

    t_s: float
    """Seconds since measurement began, at the row's end."""
    read_bw_bytes: float
    """Bytes read a second."""
    write_bw_bytes: float
    """Bytes written a second."""
    iops: float
    """Requests a second, all kinds."""
    lat_max_ns: int
    """Longest response of the second."""


class FlashCompression(Record):
    """The work of a card that compresses what the host writes (`[compression]` in its file); absent for other cards."""

    host_bytes: int
    """Bytes that the host wrote."""
    stored_bytes: int
    """Bytes that were stored for them: sizes on flash after compression, rounded up as the card does."""
    unused_bytes: int
    """Bytes at the end of stripes that the next sector did not fit into; part of the padding."""


class FlashHandles(Record):
    """The object `FlashHandles` of the schema."""

    waf: float
    """4 KiB pages programmed for its data / pages written with it; 0 when nothing was written."""
    host_pages: int
    """4 KiB pages written by the host."""
    relocated_pages: int
    """4 KiB pages relocated."""


class FlashZones(Record):
    """The use of its zones by the host, on a card that has some (`[zones]` in the card's file); absent for other cards.
    """

    count: int
    """Zones of the card."""
    capacity_pages: int
    """4 KiB pages that can be written to a zone."""
    opened: int
    """Zones that were opened, by a write or by the host."""
    closed_implicitly: int
    """Zones that were closed because another one took their open resource."""
    filled: int
    """Zones that were written to their end."""
    finished: int
    """Zones that the host finished before their end."""
    reset: int
    """Zones that held something and were reset."""
    offline: int
    """Zones that bad blocks have taken, at the end."""


class FlashWear(Record):
    """Program/erase cycles of usable blocks."""

    min: int
    """Least worn."""
    max: int
    """Most worn."""
    mean: float
    """Mean."""


class FlashMap(Record):
    """Use of the map, on a card whose memory holds a part of it: what of it was not there was read from flash. Missing
    for cards that hold all of it.
    """

    hits: int
    """Lookups that found their page of the map in memory, or on its way there. A request looks each page up once that
    it needs, and so does a run of changes to one page.
    """
    misses: int
    """Lookups that did not."""
    read_pages: int
    """Pages of the map read from flash. One that was never written, or is not on flash yet, need not be read."""
    programmed_pages: int
    """4 KiB pages of the map programmed: part of write amplification, beside pages of the host and relocated ones."""
    held_pages: int
    """Pages of the map that memory has room for."""
    all_pages: int
    """Pages of the whole map."""


class Flash(Record):
    """Activity of the flash in the measured time."""

    waf: float
    """4 KiB pages programmed for data / pages written by the host; 0 when nothing was written."""
    host_pages: int
    """4 KiB pages written by the host."""
    relocated_pages: int
    """4 KiB pages relocated."""
    parity_pages: int
    """4 KiB pages of parity."""
    padding_pages: int
    """4 KiB pages of padding in stripes that were closed early."""
    metadata_pages: int | None
    """4 KiB pages of band summaries: what finds the data again after power went. Counted apart from write
    amplification. Missing in results of versions that had none.
    """
    erases: int
    """Erase blocks erased."""
    free_bands: int
    """Free bands at the end."""
    bad_blocks: int
    """Blocks bad from the factory or retired."""
    effective_spare_factor: float
    """Spare factor that garbage collection could use: open bands, reserve and bad blocks taken off."""
    compression: FlashCompression | None
    """The work of a card that compresses what the host writes (`[compression]` in its file); absent for other cards."""
    handles: list[FlashHandles] | None
    """The work for each handle by which the host places its writes (`[placement]` in the card's file); absent for a
    card without handles.
    """
    zones: FlashZones | None
    """The use of its zones by the host, on a card that has some (`[zones]` in the card's file); absent for other cards.
    """
    wear: FlashWear
    """Program/erase cycles of usable blocks."""
    map: FlashMap | None
    """Use of the map, on a card whose memory holds a part of it: what of it was not there was read from flash. Missing
    for cards that hold all of it.
    """

    _nested = {
        "compression": FlashCompression,
        "handles": FlashHandles,
        "zones": FlashZones,
        "wear": FlashWear,
        "map": FlashMap,
    }


class SteadyStateOverwriting(Record):
    """Overwriting of a modelled card before the rounds, in a skewed pattern; absent where the pattern is not skewed."""

    times: float
    """Times that the space in use was written over."""
    coldest_times: float
    """Times that the blocks written least often were written over in the last five rounds."""
    change: float
    """Change of write amplification from five rounds to the next five, over the latter; 1 where there were fewer."""
    attained: bool
    """The last five rounds write the coldest blocks over, and the change is at most 0.01."""


class SteadyState(Record):
    """The SNIA rule."""

    rounds: list[float]
    """Throughput of each round, bytes a second."""
    range: float
    """(max - min) / mean of the last five rounds; steady at 0.20 and below."""
    slope: float
    """Rise of the line through the last five rounds over their mean; steady at 0.10 and below."""
    attained: bool
    """Both within bounds, and `overwriting` attained where it is there."""
    overwriting: SteadyStateOverwriting | None
    """Overwriting of a modelled card before the rounds, in a skewed pattern; absent where the pattern is not skewed."""

    _nested = {"overwriting": SteadyStateOverwriting}


class DbTimeEvent(Record):
    """One line of DB time."""

    event: str
    """Name as in AWR."""
    waits: int
    """Number of waits; 0 for CPU time."""
    total_s: float
    """Seconds of all waits."""
    mean_ns: float
    """Mean of a wait; 0 for CPU time."""
    share: float
    """Part of DB time."""


class SlobDbTime(Record):
    """DB time as in AWR: where the sessions' time went; of a model alone."""

    total_s: float
    """Seconds of all sessions."""
    events: list[DbTimeEvent]
    """Its parts, the most time first; they add up to it."""
    background: list[DbTimeEvent]
    """Waits of background processes, which are no part of it."""

    _nested = {"events": DbTimeEvent, "background": DbTimeEvent}


class Slob(Record):
    """SLOB, in the columns of an AWR summary."""

    kind: str
    readers: int
    """Reading sessions."""
    writers: int
    """Updating sessions."""
    elapsed_s: float
    """Seconds."""
    executes: int
    """SQL executions."""
    logical_reads_s: float
    """Blocks read from the cache or the device, a second."""
    physical_reads_s: float
    """Blocks read from the device, a second."""
    physical_writes_s: float
    """Blocks written a second."""
    read_requests_s: float
    """Read requests a second."""
    write_requests_s: float
    """Write requests a second, data and redo."""
    redo_bytes_s: float
    """Redo a second."""
    read_bytes_s: float
    """Bytes read a second."""
    written_bytes_s: float
    """Bytes written a second, data and redo."""
    single_block_read_ns: float
    """Mean wait of `db file sequential read`."""
    single_block_read_waits: int
    """Its waits."""
    log_file_sync_ns: float
    """Mean wait of `log file sync`."""
    log_file_sync_waits: int
    """Its waits."""
    top_wait: str
    """The event with the most time."""
    db_time: SlobDbTime | None
    """DB time as in AWR: where the sessions' time went; of a model alone."""

    _nested = {"db_time": SlobDbTime}


class OltpTransactions(Record):
    """The object `OltpTransactions` of the schema."""

    tps: float
    """Finished a second."""
    lat_ns: LatNs
    """Latencies in nanoseconds, with fio's keys."""

    _nested = {"lat_ns": LatNs}


class Oltp(Record):
    """OLTP 80/20."""

    kind: str
    sessions: int
    """Sessions."""
    tps: float
    """Transactions a second."""
    transactions: dict[str, OltpTransactions]
    """By kind."""
    buffer_hit_ratio: float
    """Share of page reads that the buffer cache answered."""
    physical_reads_s: float
    """Pages read a second."""
    physical_writes_s: float
    """Pages written a second."""
    wal_bytes_s: float
    """Write-ahead log a second."""

    _nested = {"transactions": OltpTransactions}


class TpccTransactions(Record):
    """The object `TpccTransactions` of the schema."""

    count: int
    """Number finished."""
    share: float
    """Part of all transactions."""
    tps: float
    """Finished a second."""
    lat_ns: LatNs
    """Latencies in nanoseconds, with fio's keys."""

    _nested = {"lat_ns": LatNs}


class Tpcc(Record):
    """Order entry in the shape of TPC-C; no TPC result."""

    kind: str
    sessions: int
    """Sessions, which do not think."""
    warehouses: int
    """Warehouses: the scale."""
    data_bytes: int
    """Size of tables and indexes."""
    elapsed_s: float
    """Seconds."""
    new_orders_per_minute: float
    """New-Order transactions a minute, those rolled back included."""
    tps: float
    """Transactions a second, of all kinds."""
    transactions: dict[str, TpccTransactions]
    """By kind."""
    rolled_back: int
    """New-Order transactions that were rolled back."""
    buffer_hit_ratio: float
    """Share of visits of pages that the buffer pool answered."""
    page_visits_per_transaction: float
    """Pages that a transaction visits, mean."""
    page_reads_per_transaction: float
    """Pages read for a transaction, mean."""
    page_writes_per_transaction: float
    """Changed pages written back for a transaction, mean."""
    log_writes_per_transaction: float
    """Writes of the log for a transaction, mean."""
    log_bytes_per_transaction: float
    """Bytes of log records of a transaction, mean."""
    time_ns: dict[str, float]
    """Mean nanoseconds of a transaction by what they went into; they add up to the mean response time."""

    _nested = {"transactions": TpccTransactions}


class ReplicaLag(Record):
    """The object `ReplicaLag` of the schema."""

    t_s: float
    """Seconds since measurement began."""
    lag_s: float
    """Lag of the transaction applied then, seconds."""


class Replica(Record):
    """A replica that applies the log of a master that runs order entry."""

    kind: str
    master_sessions: int
    """Sessions of the master."""
    master_tps: float
    """Transactions a second of the master, of all kinds."""
    workers: int
    """Processes that apply transactions."""
    warehouses: int
    """Warehouses: the scale."""
    data_bytes: int
    """Size of tables and indexes."""
    elapsed_s: float
    """Seconds."""
    applied_tps: float
    """The master's transactions that were applied, a second."""
    capacity_tps: float
    """The same without the time in which nothing was there to apply: a faster master is not kept up with."""
    busy: float
    """Part of the appliers' time in which there was something to apply."""
    lag_ns: LatNs
    """Latencies in nanoseconds, with fio's keys."""
    lag: list[ReplicaLag]
    """The lag over time, about a row a second."""
    buffer_hit_ratio: float
    """Pages to change that the buffer pool had, share."""
    pages_per_transaction: float
    """Pages that a transaction with changes changes, mean."""
    page_reads_per_transaction: float
    """Pages read for such a transaction, mean."""
    page_read_ns: float
    """Mean wait of a page's read."""
    time_share: dict[str, float]
    """Shares of the appliers' time; they add up to one."""

    _nested = {"lag_ns": LatNs, "lag": ReplicaLag}


class RunTransactionsPer(Record):
    """Transactions a second of the device alone for each unit of what it takes; absent without transactions."""

    usd: float | None
    """For each dollar of its price."""
    watt: float | None
    """For each watt of its power."""
    rack_unit: float | None
    """For each rack unit."""


class Thermal(Record):
    """Heat of a modelled card in the measured time; of several cards, that of the hottest."""

    highest_celsius: float
    """Highest temperature."""
    end_celsius: float
    """Temperature at the end."""
    mean_watts: float
    """Mean power."""
    light_s: float
    """Seconds of light throttling."""
    heavy_s: float
    """Seconds of heavy throttling."""
    critical_s: float
    """Seconds of critical throttling."""
    series: list[float]
    """Temperature at the end of each second."""
