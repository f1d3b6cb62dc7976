"""Fields of docs/control-api.openapi.json. Written by tools/records.py; do not edit."""

from __future__ import annotations

from typing import Literal

from .._record import Record


class StatusPace(Record):
    """The machine's lag behind the card"""

    most_behind_ns: int
    """The latest of the events of the last minute"""
    late_share: float
    """Share of them that came more than a millisecond late"""


class Latency(Record):
    """Latencies of one kind of request, from being asked to being answered"""

    count: int
    """Requests that were answered without an error"""
    bytes: int
    """Their bytes"""
    p50_ns: int
    """Half were faster"""
    p95_ns: int
    """95 % were faster"""
    p99_ns: int
    """99 % were faster"""
    p999_ns: int
    """99.9 % were faster"""
    max_ns: int
    """The slowest"""


class StatusStats(Record):
    """Requests since the server started"""

    reads: Latency
    """Latencies of one kind of request, from being asked to being answered"""
    writes: Latency
    """Latencies of one kind of request, from being asked to being answered"""
    flushes: Latency
    """Latencies of one kind of request, from being asked to being answered"""
    trims: Latency
    """Latencies of one kind of request, from being asked to being answered"""
    errors: int
    """Requests that did not work"""

    _nested = {"reads": Latency, "writes": Latency, "flushes": Latency, "trims": Latency}


class StartPart(Record):
    """The object `StartPart` of the schema."""

    name: Literal["headers", "checkpoint", "spare areas", "log", "map"]
    """The part"""
    seconds: float
    """Its time"""
    read_bytes: int
    """Bytes that were read"""
    reads: int
    """Requests for them"""


class Start(Record):
    """The object `Start` of the schema."""

    seconds: float
    """From the opening of the modules until the card was found; shards start side by side"""
    read_bytes: int
    """Bytes that were read of files or drives"""
    reads: int
    """Requests for them"""
    parts: list[StartPart]
    """The parts, in their order"""

    _nested = {"parts": StartPart}


class Log(Record):
    """The write-ahead log since the start"""

    records: int
    """Records that were written"""
    sectors: int
    """Sectors in them"""
    bytes: int
    """Bytes of the records, on one of their two modules"""
    flushes: int
    """Flushes and FUA writes that were answered by them"""
    flushes_without_room: int
    """Flushes and FUA writes that padded a stripe, for the log had no room for them"""
    replayed_sectors: int
    """Sectors that the start found in the log only"""


class Settings(Record):
    """Settings in force"""

    rebuild_bytes_per_s: int | None
    """Bytes that a rebuild may program in a second; null: as fast as it can"""
    gc: Literal["paced", "stop-the-world"]
    """Garbage collection: paced or stop-the-world"""
    target_free_bands: int
    """Free bands, above the reserve, that it works towards"""


class Status(Record):
    """Status of a card"""

    name: str
    """The card's name"""
    card: str
    """The profile it was made from"""
    version: str
    """Version of the server"""
    clients_turned_away: int
    """Clients that were turned away since the server's start, because there were too many"""
    powered: bool
    """It has power"""
    stopped: bool
    """More is gone than parity stands for: it answers nothing but errors"""
    read_only: bool
    """It takes no writes any more"""
    degraded: bool
    """A module is missing or being rebuilt"""
    size_bytes: int
    """Bytes that can be asked for"""
    shards: int
    """Shards that the card is divided over, by address"""
    timing: Literal["none", "model"]
    """Time that requests take: as long as the medium takes, or as long as on the card's own flash"""
    pace: StatusPace
    """The machine's lag behind the card"""
    stats: StatusStats
    """Requests since the server started"""
    host_sectors: int
    """Written by the host since the card's last start, in 4 KiB sectors"""
    relocated_sectors: int
    """Moved by garbage collection since the card's last start, in 4 KiB sectors"""
    parity_sectors: int
    """Parity since the card's last start, in 4 KiB sectors"""
    padding_sectors: int
    """Padding since the card's last start, in 4 KiB sectors"""
    metadata_sectors: int
    """Summaries and checkpoints since the card's last start, in 4 KiB sectors"""
    write_amplification: float
    """Sectors of the host and moved ones, over sectors of the host; 1 before there are any"""
    free_bands: int
    """Bands that are erased"""
    reserve_bands: int
    """Free bands that only garbage collection may open"""
    bands: int
    """All bands"""
    fill: float
    """Share of the user capacity that holds something; the card's own lists count"""
    collects: bool
    """Garbage collection is at work"""
    scrub: float | None
    """Share of the scrub that is done; null: there is none"""
    rebuild: float | None
    """Share of the rebuild that is done; null: there is none"""
    recovery_ns: int | None
    """Time that the last start would have taken on the card's own flash; null: it was made new"""
    start: Start | None
    """What the last start has read; null: the card was made new, or lies in memory"""
    power_cuts: int
    """Times the power was cut since the server started"""
    mismatched_sectors: int
    """Sectors since the start that a drive read otherwise than they were last written"""
    rebuilt_sectors: int
    """Sectors since the start that were rebuilt from their stripes for a read"""
    lost_sectors: int
    """Sectors since the start that could be neither read nor rebuilt"""
    hedged_reads: int
    """Reads since the start that took ten times the median, so that the rest of the stripe was read as well"""
    log: Log | None
    """The write-ahead log; null: the modules have none"""
    settings: Settings
    """Settings in force"""

    _nested = {"pace": StatusPace, "stats": StatusStats, "start": Start, "log": Log, "settings": Settings}


class Module(Record):
    """A slot, and what is in it"""

    slot: int
    """The slot"""
    present: bool
    """There is a module in it"""
    state: Literal["active", "rebuilding", "missing", "no-power"]
    """State of the module in the card"""
    module: int | None
    """The module's number within the card"""
    bad_blocks: int
    """Blocks that are not used any more"""
    mean_cycles: int
    """Mean P/E cycles of its blocks"""
    max_cycles: int
    """P/E cycles of the most worn block"""


class PulledBeyondParity(Record):
    """The price, where more modules are missing now than parity stands for"""

    lacking: int
    """Modules that are missing or not wholly rebuilt"""
    parity: int
    """Modules that parity stands for"""
    lost_bytes: int
    """Bytes of the host that can't be read any more"""


class Pulled(Record):
    """A slot whose module was taken out"""

    slot: int
    """The slot"""
    present: bool
    """There is a module in it"""
    state: Literal["active", "rebuilding", "missing", "no-power"]
    """State of the module in the card"""
    module: int | None
    """The module's number within the card"""
    bad_blocks: int
    """Blocks that are not used any more"""
    mean_cycles: int
    """Mean P/E cycles of its blocks"""
    max_cycles: int
    """P/E cycles of the most worn block"""
    beyond_parity: PulledBeyondParity | None
    """The price, where more modules are missing now than parity stands for"""

    _nested = {"beyond_parity": PulledBeyondParity}


class SmartCriticalWarning(Record):
    """The object `SmartCriticalWarning` of the schema."""

    value: int
    """The byte of the log"""
    available_spare: bool
    """Bit 0"""
    reliability_degraded: bool
    """Bit 2"""
    read_only: bool
    """Bit 3"""


class Smart(Record):
    """Names and units of the SMART / Health Information log (page 02h) of the NVMe base specification"""

    critical_warning: SmartCriticalWarning
    available_spare: int
    """Percent"""
    available_spare_threshold: int
    """Percent"""
    percentage_used: int
    """Percent of the rated cycles"""
    data_units_read: int
    """Thousands of 512 bytes"""
    data_units_written: int
    """Thousands of 512 bytes"""
    host_read_commands: int
    """Commands"""
    host_write_commands: int
    """Commands"""
    controller_busy_time: int
    """Minutes"""
    power_cycles: int
    """Starts"""
    power_on_hours: int
    """Hours"""
    unsafe_shutdowns: int
    """Starts without having been shut down in order"""
    media_errors: int
    """Sectors that could not be read"""

    _nested = {"critical_warning": SmartCriticalWarning}


class Export(Record):
    """A name under which the card can be asked"""

    name: str
    """Its name; the default export has none"""
    size_bytes: int
    """Bytes that can be asked for"""
    read_only: bool
    """It takes no writes"""
    addresses: list[str]


class Client(Record):
    """Somebody who is connected"""

    number: int
    """Counts connections"""
    protocol: Literal["nbd", "nvme"]
    """Protocol that it speaks"""
    peer: str
    """Origin of the connection"""
    export: str | None
    """Export of the connection; null while it is being agreed on"""
    tls: bool
    """It came with TLS"""
    connected_seconds: float
    """Since it came"""
    requests: int
    """Requests that were answered"""
    in_flight: int
    """Requests under way"""
    read_bytes: int
    """Bytes that it read"""
    written_bytes: int
    """Bytes that it wrote"""


class Power(Record):
    """The object `Power` of the schema."""

    powered: bool
    """The card has power"""


class Scrub(Record):
    """The object `Scrub` of the schema."""

    scrub: float
    """Share that is done"""


class Trimmed(Record):
    """The object `Trimmed` of the schema."""

    trimmed_bytes: int
    """Bytes of whole 4 KiB sectors, which read as zeroes now"""


class Ownership(Record):
    """How a controller of a shared card stands"""

    controller: int
    """The number of this controller"""
    part: Literal["standby", "claiming", "opening", "owner", "releasing"]
    """Its part: it looks on, takes modules, opens the card or waits for the last owner's lease, answers hosts, or ends
    in order
    """
    generation: int
    """The generation of the highest claim that a module has; 0: nobody has ever claimed the card"""
    claimant: int | None
    """The controller that this claim is of; null before the first claim"""
    modules: int
    """Modules of the card"""
    reached: int
    """Those whose shelf answers this controller"""
    held: int
    """Those that this controller holds"""
    lease_left_ms: int
    """Milliseconds until its lease ends; 0 unless it is the owner"""
