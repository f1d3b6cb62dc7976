"""Fields of docs/review-result.schema.json. Written by tools/records.py; do not edit."""

from __future__ import annotations

from typing import Literal

from .._record import Record
from .review_parts import Fact as Fact
from .review_parts import ReviewTarget as ReviewTarget
from .review_parts import ReviewHost as ReviewHost
from .review_parts import ReviewOptions as ReviewOptions
from .review_parts import Price as Price
from .review_parts import ReviewPhases as ReviewPhases
from .review_parts import Purge as Purge
from .review_parts import SteadyStateOverwriting as SteadyStateOverwriting
from .review_parts import SteadyState as SteadyState
from .review_parts import ReviewPreconditioning as ReviewPreconditioning
from .review_parts import PointLoad as PointLoad
from .review_parts import LatNs as LatNs
from .review_parts import Histogram as Histogram
from .review_parts import Io as Io
from .review_parts import SeriesRow as SeriesRow
from .review_parts import Generator as Generator
from .review_parts import Thermal as Thermal
from .review_parts import Point as Point
from .review_parts import ReviewSweeps as ReviewSweeps
from .review_parts import TimelineStalls as TimelineStalls
from .review_parts import Timeline as Timeline
from .review_parts import BurstReportLoad as BurstReportLoad
from .review_parts import BurstRow as BurstRow
from .review_parts import Cliff as Cliff
from .review_parts import Burst as Burst
from .review_parts import BurstReport as BurstReport
from .review_parts import DriveSmart as DriveSmart
from .review_parts import HealthReportTemperatures as HealthReportTemperatures
from .review_parts import HealthReport as HealthReport
from .review_parts import SyncVerdict as SyncVerdict
from .review_parts import DatabaseMixPointTransactions as DatabaseMixPointTransactions


class DeviceActivity(Record):
    """The device below a database, as the kernel counted it."""

    reads: int
    """Read requests."""
    read_bytes: int
    """Bytes read."""
    writes: int
    """Write requests."""
    written_bytes: int
    """Bytes written."""
    flushes: int
    """Flush requests."""


class DatabaseActivity(Record):
    """Activity of database and device during a point."""

    seconds: float
    """Seconds."""
    blocks_hit: int
    """Blocks found in the buffer cache."""
    blocks_read: int
    """Blocks that the database had to ask the kernel for."""
    buffer_hit_ratio: float
    """Share of block reads that the buffer cache answered."""
    block_read_ns: float | None
    """Mean time of a block read; absent when nothing was read."""
    blocks_written: int
    """Blocks written, by whomever."""
    checkpoints: int
    """Checkpoints, timed and requested."""
    wal_bytes: int
    """Bytes of write-ahead log."""
    wal_syncs: int | None
    """Syncs of the log."""
    wal_sync_ns: float | None
    """Mean time of a sync of the log."""
    cpu_s: float | None
    """CPU time of the sessions' processes of the database, from their beginning to their end."""
    device: DeviceActivity | None
    """The device below."""
    device_read_share: float | None
    """Bytes that the device read over bytes that the database asked the kernel for: well below 1, the page cache
    answered; above 1, the kernel read ahead.
    """

    _nested = {"device": DeviceActivity}


class DatabaseMixPoint(Record):
    """The mix with a number of sessions."""

    sessions: int
    """Sessions."""
    tps: float
    """Transactions a second, all kinds."""
    modelled_tps: float | None
    """Transactions a second that the device's model makes of it in virtual time; absent where it has none."""
    failed: int
    """Transactions that failed."""
    transactions: dict[str, DatabaseMixPointTransactions]
    """By kind (`select`, `insert`, `update`)."""
    activity: DatabaseActivity
    """Activity of database and device."""

    _nested = {"transactions": DatabaseMixPointTransactions, "activity": DatabaseActivity}


class DatabaseMix(Record):
    """The 80/20 mix: index range scans, inserts and updates."""

    select_percent: int
    """Transactions that select, percent."""
    insert_percent: int
    """Transactions that insert, percent; the rest updates."""
    scans_per_select: int
    """Range scans of a selecting transaction."""
    rows_per_scan: int
    """Rows that a scan returns."""
    think_ns: int
    """Sleep of a session after each transaction."""
    rows: int
    """Rows at the beginning."""
    differs: list[str]
    """Differences from the modelled load of the same name."""
    points: list[DatabaseMixPoint]
    """By rising sessions."""
    peak_tps: float | None
    """Most transactions a second."""
    peak_sessions: int | None
    """Sessions at the peak."""
    bend_sessions: float | None
    """Sessions at which 98 % of the peak are first reached: more bring nothing. Absent when the last point was still
    the fastest: then it did not bend.
    """
    tps_per_price: float | None
    """Transactions a second at the peak for each unit of the price's currency."""
    tps_per_watt: float | None
    """Transactions a second at the peak for each watt of the device; absent where its power is not known."""
    tps_per_rack_unit: float | None
    """Transactions a second at the peak for each rack unit of the device; absent where its size is not known."""
    modelled: str | None
    """Origin of the points' `modelled_tps`; absent where there is no model."""

    _nested = {"points": DatabaseMixPoint}


class DatabaseOltpPoint(Record):
    """`oltp_read_write` with a number of sessions."""

    sessions: int
    """Number of sessions at the point."""
    tps: float
    """Transactions a second."""
    queries_s: float
    """Statements a second."""
    retried: int
    """Transactions that met another one's lock and were begun again."""
    seconds: float
    """Length of the measured time in seconds."""
    mean_ns: int
    """Mean time of a transaction."""
    p99_ns: int
    """99 of 100 transactions took no longer."""
    longest_ns: int
    """Time of the longest transaction."""
    device: DeviceActivity | None
    """The device below; null where the kernel counts none."""

    _nested = {"device": DeviceActivity}


class DatabaseOltp(Record):
    """sysbench's `oltp_read_write`: ten point reads, four range reads, two updates, a delete and an insert a
    transaction.
    """

    program: str
    """The program and its test."""
    tables: int
    """Number of tables."""
    rows_per_table: int
    """Rows of each table at the beginning."""
    points: list[DatabaseOltpPoint]
    """By rising sessions."""
    peak_tps: float | None
    """Most transactions a second."""
    peak_sessions: int | None
    """Sessions at the peak."""

    _nested = {"points": DatabaseOltpPoint}


class Awr(Record):
    """SLOB, in the columns that database engineers know from AWR summaries."""

    readers: int
    """Reading sessions."""
    writers: int
    """Updating sessions."""
    elapsed_s: float
    """Seconds."""
    executes: int
    """SQL executions."""
    logical_reads_s: float
    """Logical reads a second (blocks)."""
    physical_reads_s: float
    """Physical reads a second (blocks)."""
    physical_writes_s: float
    """Physical writes a second (blocks)."""
    read_requests_s: float
    """Read requests a second."""
    write_requests_s: float
    """Write requests a second, data and redo."""
    redo_bytes_s: float
    """Redo bytes a second."""
    read_bytes_s: float
    """Bytes read a second."""
    written_bytes_s: float
    """Bytes written a second, data and redo."""
    single_block_read_ns: float
    """Mean wait of a single-block read, nanoseconds (`db file sequential read`)."""
    single_block_read_waits: int
    """Waits of single-block reads."""
    log_file_sync_ns: float
    """Mean wait for redo at commit, nanoseconds (`log file sync`)."""
    log_file_sync_waits: int
    """Waits for redo."""
    top_wait: str
    """The event with the most time (`CPU`, `db file sequential read`, `log file sync`, `free buffer waits`)."""


class WaitShare(Record):
    """One wait event."""

    event: str
    """`IO:DataFileRead`, `IO:WALSync`; `CPU` for a session that waits for nothing."""
    share: float
    """Share of the samples of active sessions."""


class DatabaseSlobPoint(Record):
    """SLOB with a number of sessions."""

    sessions: int
    """Sessions."""
    awr: Awr
    """The columns of an AWR summary. `log_file_sync_ns` is the mean time of a sync of the write-ahead log."""
    select_ns: LatNs
    """Execution times of selects."""
    update_ns: LatNs
    """Execution times of updates, commit included."""
    waits: list[WaitShare]
    """Events for which sessions were seen waiting, the most frequent first."""
    activity: DatabaseActivity
    """Activity of database and device."""

    _nested = {"awr": Awr, "select_ns": LatNs, "update_ns": LatNs, "waits": WaitShare, "activity": DatabaseActivity}


class DatabaseSlob(Record):
    """The SLOB method on a real database."""

    parameters: dict[str, int]
    """Parameters under their known names."""
    points: list[DatabaseSlobPoint]
    """By rising sessions."""

    _nested = {"points": DatabaseSlobPoint}


class CommitPoint(Record):
    """Commits in one situation."""

    beside: str
    """`alone`, `random reads`, `checkpoint`."""
    sessions: int
    """Committing sessions."""
    commits_s: float
    """Commits a second."""
    commit_ns: LatNs
    """Commit times, from asking to the answer."""
    commits_per_sync: float | None
    """Commits for each sync of the log: above 1, commits share syncs."""
    activity: DatabaseActivity
    """Activity of database and device."""

    _nested = {"commit_ns": LatNs, "activity": DatabaseActivity}


class DatabaseCommit(Record):
    """The commit path."""

    device_sync: LatNs
    """An 8 KiB write and a sync of a file on the device, without a database."""
    beside: list[CommitPoint]
    """Commits of one session: alone, beside random reads, beside a checkpoint."""
    group: list[CommitPoint]
    """Commits against sessions that do nothing else."""
    verdict: SyncVerdict
    """Verdict on durability from the sync latency."""

    _nested = {"device_sync": LatNs, "beside": CommitPoint, "group": CommitPoint, "verdict": SyncVerdict}


class CrashCycle(Record):
    """One power cut, the recovery after it and what was found."""

    fault: str
    """The fault: `power cut`, `module 2 pulled, power cut`."""
    load_s: float
    """Seconds of load before it."""
    acknowledged: int
    """Transactions that were acknowledged in this cycle."""
    in_flight: int
    """Transactions whose answer had not come when power went."""
    in_flight_kept: int
    """Transactions of these that were found committed."""
    lost: int
    """Acknowledged transactions that are not there."""
    torn: int
    """Transactions that are there in part."""
    stale_rows: int
    """Rows that hold an older version than was acknowledged, though the log knows the newer."""
    recovery_s: float | None
    """Seconds from the start of the database to its first answer, recovery included; absent when it did not start."""
    complaints: list[str]
    """Complaints of the checkers; empty: clean."""


class DatabaseCrash(Record):
    """Power cuts under load."""

    how: str
    """Method of the power cuts."""
    sessions: int
    """Sessions that committed."""
    cycles: list[CrashCycle]
    """One for each power cut."""
    verdict: str
    """In words."""
    passed: bool
    """Nothing that was acknowledged was lost or torn, and all checks were clean."""

    _nested = {"cycles": CrashCycle}


class Database(Record):
    """All that was measured through a database."""

    engine: str
    """`PostgreSQL 15.14`, `MariaDB 10.11.14, InnoDB`."""
    directory: str
    """Directory of its cluster."""
    block_device: str | None
    """The block device below, as the kernel calls it; absent where there is none."""
    settings: list[Fact]
    """Settings that were made for this run."""
    shared_buffers_bytes: int
    """Buffer cache of the database."""
    data_bytes: int
    """Tables and indexes of the mix."""
    page_cache: str
    """Method by which the kernel's page cache was kept from answering reads."""
    notes: list[str]
    """Remarks without which a reader can't compare it."""
    mix: DatabaseMix | None
    """The 80/20 mix against sessions."""
    oltp: DatabaseOltp | None
    """sysbench's `oltp_read_write` against sessions, in place of the mix; null for PostgreSQL."""
    slob: DatabaseSlob | None
    """The SLOB method."""
    commit: DatabaseCommit | None
    """The commit path."""
    crash: DatabaseCrash | None
    """Power cuts."""

    _nested = {
        "settings": Fact,
        "mix": DatabaseMix,
        "oltp": DatabaseOltp,
        "slob": DatabaseSlob,
        "commit": DatabaseCommit,
        "crash": DatabaseCrash,
    }


class Published(Record):
    """A figure; the model must come within bound of it."""

    kind: str
    value: float
    """The figure."""
    bound: float
    """Largest absolute error, as a share of the figure."""


class Published1(Record):
    """At least this."""

    kind: str
    value: float
    """The bound."""


class Published2(Record):
    """At most this."""

    kind: str
    value: float
    """The bound."""


class Published3(Record):
    """Between both."""

    kind: str
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""


class ComparisonPoint(Record):
    """One point of a comparison."""

    label: str
    """Label of the point: `20 % in use`, `random read, 16 threads`."""
    unit: str
    """Unit of both figures."""
    published: Published | Published1 | Published2 | Published3
    """Published figure or statement about a point."""
    model: float
    """By the model."""
    error: float | None
    """model / published - 1, where a figure was published."""
    holds: bool
    """The bound on the point holds."""

    _nested = {"published": (Published, Published1, Published2, Published3,)}


class Comparison(Record):
    """Model against a published table."""

    name: str
    """The published file's name without its ending, with the device where a file has several."""
    title: str
    """For people."""
    card: str
    """The card's name."""
    points: list[ComparisonPoint]
    """Point by point."""
    mean_error: float | None
    """Mean of the absolute errors of the points that have one."""
    mean_error_bound: float | None
    """Bound on that mean."""
    holds: bool
    """Every bound holds."""
    note: str
    """A note for the reader."""

    _nested = {"points": ComparisonPoint}


class ReviewAnswerActionTwin(Record):
    """The modelled card that computed the gain, held against the sweep that it was asked to fill; null where the gain
    is one measured point over another.
    """

    fitted_points: int | None
    """Measured points of the sweep that it was fitted to; null where the device is a model, which is its own twin."""
    computed_points: int
    """Points that it did in their place."""
    error: float
    """Median distance of its throughput from that of the sweep's other measured points, as a share."""
    took_s: float | None
    """Seconds that fit and points took by the clock; null for models, whose results don't depend on the clock."""


class ReviewAnswerAction(Record):
    """The first thing to do about it."""

    text: str
    """The action in words, its gain included."""
    gain: float | None
    """Throughput with it over throughput without it, or time without it over time with it; null where nothing is
    measured against anything.
    """
    chart: str
    """The sweep that shows it, as in a claim."""
    ground: Literal["points", "twin"]
    """Ground of the gain: `points` were measured, `twin`: a modelled card did them, between those that were measured.
    """
    twin: ReviewAnswerActionTwin | None
    """The modelled card that computed the gain, held against the sweep that it was asked to fill; null where the gain
    is one measured point over another.
    """

    _nested = {"twin": ReviewAnswerActionTwin}


class ReviewAnswerFigures(Record):
    """A figure to plan with."""

    name: str
    """Key: `transactions_s`, `commits_s`, `full_write_bytes_s`, `read_p999_ns`, `reads_s`, `writes_s`, `write_bytes_s`,
    `burst_bytes_s`, `sync_ns`.
    """
    label: str
    """Name for people."""
    value: float
    """The number, in the unit that ends its key."""
    text: str
    """The number as it is written everywhere, with its unit."""
    detail: str
    """The circumstances."""
    chart: str
    """The sweep that shows it, as in a claim."""


class ReviewAnswer(Record):
    """The answer for somebody who has to decide: what the device is good for, its limit, what to do first. Null where
    nothing was measured that gives one.
    """

    sentence: str
    """Uses of the device, in figures that a database administrator plans with."""
    limit: str
    """The limit that is met first, as the verdict says it; empty: none was measured."""
    action: ReviewAnswerAction
    """The first thing to do about it."""
    figures: list[ReviewAnswerFigures]
    """Figures to plan with."""

    _nested = {"action": ReviewAnswerAction, "figures": ReviewAnswerFigures}


class ReviewVerdict(Record):
    """A sentence of the verdict."""

    topic: str
    """Topic of the claim: `steady`, `full`, `burst`, `stall`, `sync`, `host`, `price`."""
    tone: Literal["good", "neutral", "warning", "bad"]
    """Tone of the claim: good, worth knowing, a reason to look twice, a reason not to buy."""
    text: str
    """The sentence, figures included."""
    chart: str
    """The sweep that shows it (`fill`, `threads-rndrd`, or `burst`, `timeline`, `sync`, `price`); empty: none."""


class Review(Record):
    """Real device or model, measured here or imported from another tool: the same structure. What a target can't say is
    null, never made up. Units are the last word of a key: _ns, _s, _bytes; keys of read, write and sync are fio's.
    """

    kind: str
    """Tells the file from other JSON."""
    schema: int
    """Version of this schema."""
    generator: str
    """Version of the program that wrote it, or the tool that was imported (`fio 3.33`)."""
    name: str
    """Name of the review in a comparison."""
    target: ReviewTarget
    """The reviewed device."""
    host: ReviewHost
    """The host: the modelled one, or the machine that measured."""
    options: ReviewOptions
    """Options of the review."""
    started: str | None
    """When it began, RFC 3339 in UTC; null for a model, which lives outside time."""
    price: Price | None
    """Price of the device."""
    phases: list[ReviewPhases]
    """Planned phases and their outcome, in order."""
    purge: Purge | None
    """The purge that emptied the device; null where there was none."""
    preconditioning: list[ReviewPreconditioning]
    """The preconditioning that brought it to the states in which it was measured."""
    sweeps: list[ReviewSweeps]
    """Measured points, each sweep against one thing that was varied."""
    timeline: Timeline | None
    """Random writes second by second."""
    burst: BurstReport | None
    """Sequential writes into an emptied device, and again after pauses."""
    health: HealthReport | None
    """The drive's own account of its health, before and after; absent where it gives none."""
    sync: SyncVerdict | None
    """Verdict on flushes: whether they are what they claim to be."""
    database: Database | None
    """Figures of a real database, where one was run."""
    comparisons: list[Comparison]
    """Against what others measured on the device, where anybody published."""
    answer: ReviewAnswer | None
    """The answer for somebody who has to decide: what the device is good for, its limit, what to do first. Null where
    nothing was measured that gives one.
    """
    verdict: list[ReviewVerdict]
    """The review in words, the most important first."""
    partial: str | None
    """Reason why it isn't complete: `stopped by Ctrl-C`, or the error that ended it. Null when it is."""
    wall_seconds: float
    """Wall-clock seconds."""

    _nested = {
        "target": ReviewTarget,
        "host": ReviewHost,
        "options": ReviewOptions,
        "price": Price,
        "phases": ReviewPhases,
        "purge": Purge,
        "preconditioning": ReviewPreconditioning,
        "sweeps": ReviewSweeps,
        "timeline": Timeline,
        "burst": BurstReport,
        "health": HealthReport,
        "sync": SyncVerdict,
        "database": Database,
        "comparisons": Comparison,
        "answer": ReviewAnswer,
        "verdict": ReviewVerdict,
    }
