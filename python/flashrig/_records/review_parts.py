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
    thermal: Thermal | None
    """Heat of a modelled card that has a temperature; absent for others."""
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
        "thermal": Thermal,
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
