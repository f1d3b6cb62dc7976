"""Fields of docs/lifetime-result.schema.json. Written by tools/records.py; do not edit."""

from __future__ import annotations

from typing import Any

from .._record import Record


class Spread(Record):
    """Cycles of the blocks that can still be used."""

    min: float
    p1: float
    mean: float
    p99: float
    max: float


class Moment(Record):
    """The object `Moment` of the schema."""

    years: float
    written_bytes: float
    wear: Spread
    """Cycles of the blocks that can still be used."""
    retired_share: float
    spare_factor: float
    """Share of the data capacity that collection can still use; below 0 when it is used up."""
    waf: float

    _nested = {"wear": Spread}


class CaseModel(Record):
    """The small card that was worn out in the large one's place."""

    cycles: int
    bands: int
    band_sectors: int
    static_wear_spread_cycles: int


class Case(Record):
    """The object `Case` of the schema."""

    reserve_percent: float
    """Percent of the capacity sold that is given up at format."""
    user_bytes: int
    """Bytes that remain for the user."""
    used_bytes: int
    """Bytes of it that are in use and written over."""
    effective_spare_factor: float
    """Share of the data capacity that collection can use."""
    waf: float
    """Pages programmed for data over pages that the host wrote, while the card is young; below 1 where compression
    saves more than relocation costs.
    """
    total_amplification: float
    """The same with parity, summaries and the padding of flushes."""
    rated_cycles: int
    """Cycles that a block is rated for."""
    closed_endurance_bytes: float
    """rated cycles * data capacity / (waf + padding of flushes for each page of the host)."""
    closed_years: float
    """The same in years."""
    rated_years: float | None
    """Simulated years until the first block has its rated cycles; null where the spare ends before."""
    spare_years: float | None
    """Simulated years until the card takes no more writes; null where that is beyond three times the rated cycles."""
    closed_spare_years: float | None
    """Years until as many blocks are retired as there is spare, if all wear alike: the closed form. null where no block
    is ever retired.
    """
    endurance_bytes: float
    """Bytes that the host can write until the first of the two (TBW)."""
    years: float
    """The same in years."""
    drive_writes_per_day: float
    """The same in user capacities a day over the warranty (DWPD)."""
    retired_share: float
    """Share of the blocks that were retired by then."""
    retired_share_closed: float
    """The same by the closed form, if all blocks had the mean wear."""
    usd_per_gb: float | None
    """Dollars for 10^9 bytes of user capacity; null where no price is known."""
    usd_per_tb_written: float | None
    """Dollars for 10^12 bytes written."""
    iops: float | None
    """Requests a second in steady state, from a run of the modelled card."""
    usd_per_iops: float | None
    """Dollars for each."""
    power_watts: float | None
    """Power, if known."""
    wear: Spread
    """When the first of the two happened."""
    curve: list[Moment]
    """The life, rising in time."""
    model: CaseModel
    """The small card that was worn out in the large one's place."""

    _nested = {"wear": Spread, "curve": Moment, "model": CaseModel}


class Lifetime(Record):
    """Years are at the writes a day that were asked for, of 365 days. Nothing depends on the machine: the same command
    with the same seed gives the same bytes.
    """

    kind: str
    schema: int
    """Version of this schema."""
    generator: str
    target: dict[str, Any]
    """The card before a reserve changes it: `flashrig show CARD --json` without the sources."""
    load: dict[str, Any]
    """Load that is written, as in a run's result."""
    fill: float
    bytes_per_day: float
    warranty_years: float
    seed: int
    cases: list[Case]
    """One for each reserve."""
    partial: str | None
    """Reason why cases are missing."""

    _nested = {"cases": Case}
