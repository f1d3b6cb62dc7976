"""Fields of docs/review-result.schema.json. Written by tools/records.py; do not edit."""

from __future__ import annotations

from typing import Any, Literal

from .._record import Record


class Fact(Record):
    """One thing that is known about a device or a host."""

    key: str
    """Key for programs: `model`, `serial`, `firmware`, `logical_sector_bytes`, `scheduler`."""
    label: str
    """For people: `Firmware`."""
    value: str
    """As text, with its unit."""


class ReviewTarget(Record):
    """The reviewed device."""

    kind: Literal["model", "file", "block_device", "directory", "served", "imported"]
    """A modelled card in virtual time, a file on a mounted file system, a block device, a directory in which a database
    ran, a card that was served by the clock, or results of another tool.
    """
    name: str
    """As it was named: `tachion-400`, `/dev/nvme0n1`, `./somefile`."""
    title: str
    """For people: `Virident tachIOn 400 GB SLC`."""
    capacity_bytes: int
    """Bytes that were under test: the device, the file, the scaled model. 0: not known."""
    sold_bytes: int | None
    """Bytes that a buyer gets: of the card at full scale, of the device. Prices are divided by this."""
    facts: list[Fact]
    """Facts that identify it, in the order in which people want to read them."""
    power_loss_protection: bool | None
    """Acknowledged writes survive a power cut without a flush: known for models, seldom for drives."""
    volatile_write_cache: bool | None
    """The device has a cache that a flush must empty (`write back`); null when nobody says."""
    profile: Any
    """A model's profile, with what was changed; null for everything else."""

    _nested = {"facts": Fact}


class ReviewHost(Record):
    """The host: the modelled one, or the machine that measured."""

    name: str
    """Name of the modelled host, or of this machine."""
    cores: int
    """Processors that could be used; 0: not known."""
    facts: list[Fact]
    """Further known facts: kernel, processor, memory."""

    _nested = {"facts": Fact}


class ReviewOptions(Record):
    """Options of the review."""

    seed: int
    """Root seed."""
    scale: float
    """Share of the device's size that was modelled; 1 for real ones."""
    fill: float
    """Share of the device in use in all phases but the fill sweep; 0 where a tool that was imported doesn't say."""
    quick: bool
    """Fewer and shorter points."""
    budget_s: float | None
    """Time that the review was to take, seconds; null: as long as it takes."""
    only: list[str]
    """Phases that were asked for; empty: all."""
    point_s: float | None
    """Measured seconds of a point; null: until the rule says steady (models)."""


class Price(Record):
    """Price of the device."""

    amount: float
    """Amount."""
    currency: str
    """`USD`."""
    source: str
    """Source of the figure."""


class ReviewPhases(Record):
    """A phase of the review."""

    name: str
    """Key, as --only takes it: `threads`, `fill`."""
    title: str
    """For people."""
    status: Literal["done", "partial", "not_begun", "skipped"]
    """All its points are there, some are, nothing was measured, or not asked for or not possible on this target."""
    points: int
    """Points that it was to have."""
    expected_s: float
    """Wall-clock seconds that it was expected to take."""
    took_s: float
    """Wall-clock seconds that it took."""
    note: str
    """Reason why it was skipped, or a remark for the reader; may be empty."""


class Purge(Record):
    """The purge that emptied a device before the review."""

    what: str
    """The purge in words: `discarded 480 GB`, `holes punched in the file`, `not supported: ...`."""
    discarded_bytes: int
    """Bytes discarded."""
    took_s: float
    """Seconds."""


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
    """Each round's throughput, bytes a second, or what else `metric` says."""
    range: float
    """(max - min) / mean of the last five rounds; steady at 0.20 and below."""
    slope: float
    """Rise of the line through the last five rounds over their mean; steady at 0.10 and below."""
    attained: bool
    """Both within bounds, and `overwriting` attained where it is there."""
    overwriting: SteadyStateOverwriting | None
    """Overwriting of a modelled card before the rounds, in a skewed pattern; absent where the pattern is not skewed."""

    _nested = {"overwriting": SteadyStateOverwriting}


class ReviewPreconditioning(Record):
    """The preconditioning that brought a device to a state."""

    fill: float
    """Share of the device in use."""
    pattern: str
    """Pattern of the writes: `random 16 KiB`."""
    sequential_bytes: int
    """Bytes written front to back."""
    overwritten_bytes: int
    """Bytes overwritten in the pattern."""
    metric: str
    """Metric that steady.rounds counts: `bytes a second` or `write amplification`."""
    steady: SteadyState
    """The rounds, and whether the rule was attained."""
    took_s: float
    """Seconds by the target's own clock; 0 for models, which are preconditioned without time."""

    _nested = {"steady": SteadyState}


class PointLoad(Record):
    """Parameters of the load, each under its own name; keys depend on kind."""

    kind: str
    """`fileio`, `slob`, `oltp`, `bursts`; of what was imported `fio`, `sysbench fileio`, `pgbench`, `published`."""


class LatNs(Record):
    """Latencies in nanoseconds, with fio's keys. All 0 when N is 0; of figures that were imported, what the tool
    doesn't say is 0.
    """

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
    """By percent, as fio writes them: '95.000000'. Empty when there are no values. A tool that was imported may have
    others than Flashrig, or none.
    """


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
    """Latencies in nanoseconds, with fio's keys. All 0 when N is 0; of figures that were imported, what the tool
    doesn't say is 0.
    """
    histogram: Histogram | None
    """Absent where a tool that was imported doesn't say."""

    _nested = {"lat_ns": LatNs, "histogram": Histogram}


class SeriesRow(Record):
    """One second."""

    t_s: float
    """Seconds since measurement began, at the row's end."""
    read_bw_bytes: float
    """Bytes read a second."""
    write_bw_bytes: float
    """Bytes written a second."""
    iops: float
    """Requests a second, all kinds."""
    lat_max_ns: int
    """Longest response of the second. 0 where a tool that was imported doesn't say."""


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


class Point(Record):
    """One measured point."""

    x: float
    """On the sweep's axis."""
    load: PointLoad
    """Parameters of the load, each under its own name; keys depend on kind."""
    fill: float
    """Share of the device in use; 0 where a tool that was imported doesn't say."""
    seconds: float
    """Seconds measured, by the target's own clock; 0 where it isn't known."""
    read: Io
    """Reads."""
    write: Io
    """Writes; of pgbench transactions, which move no bytes that it knows of."""
    sync: Io
    """Flushes."""
    series: list[SeriesRow]
    """A row a second; empty where there is none."""
    steady: SteadyState | None
    """Steadiness of the measured time."""
    waf: float | None
    """Write amplification, where it is known; 0 where nothing was written."""
    generator: Generator | None
    """Cost of the load to this machine; null for models, whose host is part of the model."""
    limited_by_host: bool
    """The host and not the device set the figure."""
    published_bw_bytes: float | None
    """Measured by others on the real device at this point, bytes a second (models of published devices)."""

    _nested = {
        "load": PointLoad,
        "read": Io,
        "write": Io,
        "sync": Io,
        "series": SeriesRow,
        "steady": SteadyState,
        "generator": Generator,
    }


class ReviewSweeps(Record):
    """One sweep."""

    name: str
    """Key: `fill`, `threads-rndrd`, `blocks-rndwr`, `rate`, `sync`, `mix`, `redo`; of what was imported also `depth-
    rndrd`, `transactions`.
    """
    phase: str
    """Phase that it belongs to."""
    title: str
    """For people."""
    note: str
    """Remark without which a reader can't compare it; may be empty."""
    axis: Literal["fill_percent", "threads", "block_bytes", "read_percent", "rate_percent", "queue_depth"]
    """The quantity that varies: percent of the user capacity in use, threads with one request each, bytes of a request,
    percent of requests that read, offered load in percent of the most that the device took, requests in flight.
    """
    points: list[Point]
    """Its points, by rising x."""

    _nested = {"points": Point}


class TimelineStalls(Record):
    """A second that stands out."""

    t_s: float
    """End of the second, from the beginning of the timeline."""
    share_of_mean: float
    """Throughput of that second over the mean."""
    lat_max_ns: int
    """Longest response in it."""


class Timeline(Record):
    """Random writes over time."""

    title: str
    """Title of the phase."""
    point: Point
    """The point, with a row a second."""
    slowest_second: float
    """Slowest second over the mean of all."""
    stalls: list[TimelineStalls]
    """Seconds below half of the mean, or with a response of a hundred times the median that is also twice that of the
    median second.
    """

    _nested = {"point": Point, "stalls": TimelineStalls}


class BurstReportLoad(Record):
    """Parameters of the load, each under its own name; keys depend on kind."""

    kind: str
    """`fileio`, `slob`, `oltp`, `bursts`; of what was imported `fio`, `sysbench fileio`, `pgbench`, `published`."""


class BurstRow(Record):
    """A part of a burst."""

    bytes: int
    """Bytes written since the burst began, at the row's end; they rise from row to row."""
    bw_bytes: float
    """Bytes a second in the row."""


class Cliff(Record):
    """The point at which throughput fell."""

    bytes: int
    """Bytes written until then."""
    before_bw_bytes: float
    """Bytes a second before."""
    after_bw_bytes: float
    """Bytes a second after."""


class Burst(Record):
    """One burst."""

    idle_s: float
    """Seconds before it in which nothing was asked; 0: the device had been emptied."""
    bytes: int
    """Bytes written."""
    seconds: float
    """Seconds that it took."""
    rows: list[BurstRow]
    """Throughput against bytes written."""
    cliff: Cliff | None
    """Point at which throughput fell and stayed low; null where it did not."""

    _nested = {"rows": BurstRow, "cliff": Cliff}


class BurstReport(Record):
    """Bursts of sequential writes, the first into an emptied device. Amounts and times are those of a whole device: a
    smaller model's are multiplied by what the device is larger.
    """

    title: str
    """Title of the phase."""
    load: BurstReportLoad
    """Parameters of the load, each under its own name; keys depend on kind."""
    bursts: list[Burst]
    """In the order in which they were written."""

    _nested = {"load": BurstReportLoad, "bursts": Burst}


class DriveSmart(Record):
    """SMART data of a drive; what it does not say is absent."""

    passed: bool | None
    """false: the drive says that it is failing."""
    temperature_c: int | None
    """Its temperature in degrees Celsius."""
    used_percent: int | None
    """Share of its rated endurance that is used, in percent; it may exceed 100."""
    spare_percent: int | None
    """Share of its spare blocks that is left, in percent."""
    media_errors: int | None
    """Times that it could not give back what it held."""
    power_on_hours: int | None
    """Hours that it had power."""
    written_bytes: int | None
    """Bytes that hosts have written to it in its life."""
    warm_minutes: int | None
    """Minutes of its life above the temperature from which it warns."""
    hot_minutes: int | None
    """Minutes of its life above its critical temperature."""


class HealthReportTemperatures(Record):
    """The object `HealthReportTemperatures` of the schema."""

    t_s: float
    """Seconds since the review began, or since it went on."""
    celsius: int
    """Degrees Celsius."""


class HealthReport(Record):
    """A drive before and after a review, and its temperature meanwhile."""

    before: DriveSmart | None
    """Its SMART data before anything was written."""
    after: DriveSmart | None
    """Its SMART data when the review ended."""
    temperatures: list[HealthReportTemperatures]
    """Temperatures during the review."""
    warning_c: int | None
    """Degrees Celsius from which the drive itself warns."""

    _nested = {"before": DriveSmart, "after": DriveSmart, "temperatures": HealthReportTemperatures}


class SyncVerdict(Record):
    """Verdict on flushes: whether they are what they claim to be."""

    judgement: Literal["plausible", "nothing_to_flush", "too_fast", "unknown"]
    """As slow as a flush to this medium must be; nothing to flush, as writes are durable when they are acknowledged;
    faster than the medium, by a device that says its cache is volatile; can't be told.
    """
    text: str
    """In words, with the figures that led to it."""


class DatabaseMixPointTransactions(Record):
    """One kind of transaction."""

    tps: float
    """Finished a second."""
    lat_ns: LatNs
    """Latencies, nanoseconds."""

    _nested = {"lat_ns": LatNs}


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
    modelled: str | None
    """Origin of the points' `modelled_tps`; absent where there is no model."""

    _nested = {"points": DatabaseMixPoint}


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
    """`PostgreSQL 15.14`."""
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
    slob: DatabaseSlob | None
    """The SLOB method."""
    commit: DatabaseCommit | None
    """The commit path."""
    crash: DatabaseCrash | None
    """Power cuts."""

    _nested = {
        "settings": Fact,
        "mix": DatabaseMix,
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
