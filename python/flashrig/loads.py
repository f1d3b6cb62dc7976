"""Loads as objects: what a host asks of a card.

Sizes are numbers of bytes or texts ("16k", "8g", binary); times are texts ("50us", "2ms") or timedelta; patterns are
"uniform", "zipf:THETA" or "hot-cold:SPACE/ACCESSES". None is the command's own default, which `flashrig run --help` tells.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, ClassVar, Union

Size = Union[int, str]
Time = Union[str, timedelta]


@dataclass(frozen=True)
class Load:
    """What all loads have in common."""

    _prefix: ClassVar[str] = ""

    def options(self) -> dict[str, Any]:
        """The load as keyword arguments of `run`."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "mode"}
        return {self._prefix + name: value for name, value in given.items() if value is not None}

    @property
    def word(self) -> str:
        """The load's name on the command line."""
        return self._prefix.rstrip("_")


@dataclass(frozen=True)
class Fileio(Load):
    """A mode of sysbench's fileio: seqwr, seqrewr, seqrd, seqrw, rndrd, rndwr, rndrw; fio's words do as well."""

    mode: str
    block: Size | None = None
    """Size of a request, bytes."""
    threads: int | None = None
    depth: int | None = None
    """Requests that each thread keeps outstanding."""
    file_size: Size | None = None
    rw_ratio: float | None = None
    """Reads for each write, in rndrw and seqrw."""
    own_regions: bool | None = None
    fsync_freq: int | None = None
    """Flush after so many requests of all threads; 0: never."""
    fsync_all: bool | None = None
    offset_shift: Size | None = None
    access: str | None = None
    think: Time | None = None
    rate: float | None = None
    """Requests a second of all threads together."""

    @property
    def word(self) -> str:
        """The mode."""
        return self.mode


@dataclass(frozen=True)
class Redo(Load):
    """A redo log, a flush after each write, beside random reads."""

    _prefix: ClassVar[str] = "redo_"
    readers: int | None = None
    writers: int | None = None
    block: Size | None = None
    log: Size | None = None
    rate: float | None = None
    no_sync: bool | None = None
    read_block: Size | None = None
    data: Size | None = None


@dataclass(frozen=True)
class Slob(Load):
    """SLOB: readers and updaters of database blocks through a buffer cache."""

    _prefix: ClassVar[str] = "slob_"
    readers: int | None = None
    writers: int | None = None
    update_pct: float | None = None
    blocks: int | None = None
    block: Size | None = None
    work_unit: int | None = None
    access: str | None = None
    cache: Size | None = None
    hit_ratio: float | None = None
    db_writers: int | None = None
    redo: Size | None = None
    commit_every: int | None = None
    log: Size | None = None
    cpu_read: Time | None = None
    cpu_update: Time | None = None


@dataclass(frozen=True)
class Oltp(Load):
    """Transactions of a PostgreSQL-like database, 80 % reads."""

    _prefix: ClassVar[str] = "oltp_"
    sessions: int | None = None
    select_pct: float | None = None
    insert_pct: float | None = None
    db: Size | None = None
    cache: Size | None = None
    pages_select: float | None = None
    pages_write: float | None = None
    access: str | None = None
    wal: Size | None = None
    cpu_select: Time | None = None
    cpu_write: Time | None = None
    cpu_session: Time | None = None
    think: Time | None = None


@dataclass(frozen=True)
class Tpcc(Load):
    """Order entry in the shape of TPC-C, without thinking; no TPC result."""

    _prefix: ClassVar[str] = "tpcc_"
    sessions: int | None = None
    warehouses: int | None = None
    cache: Size | None = None
    cpu: Time | None = None
    cpu_page: Time | None = None


@dataclass(frozen=True)
class Replica(Load):
    """A replica that applies the log of a master that runs `Tpcc`."""

    _prefix: ClassVar[str] = "replica_"
    sessions: int | None = None
    tps: float | None = None
    workers: int | None = None
    warehouses: int | None = None
    cache: Size | None = None
    cpu: Time | None = None
    cpu_page: Time | None = None
