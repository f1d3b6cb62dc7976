"""Options of the loads of `run`, for type checkers. A test holds them against the command line's."""

from __future__ import annotations

from typing import TypedDict

from .loads import Size, Time


class LoadOptions(TypedDict, total=False):
    """Each belongs to the loads that `flashrig run --help` names; with another load it is an error."""

    block: Size
    threads: int
    depth: int
    file_size: Size
    rw_ratio: float
    own_regions: bool
    fsync_freq: int
    fsync_all: bool
    offset_shift: Size
    access: str
    think: Time
    rate: float
    redo_readers: int
    redo_writers: int
    redo_block: Size
    redo_log: Size
    redo_rate: float
    redo_no_sync: bool
    redo_read_block: Size
    redo_data: Size
    slob_readers: int
    slob_writers: int
    slob_update_pct: float
    slob_blocks: int
    slob_block: Size
    slob_work_unit: int
    slob_access: str
    slob_cache: Size
    slob_hit_ratio: float
    slob_db_writers: int
    slob_redo: Size
    slob_commit_every: int
    slob_log: Size
    slob_cpu_read: Time
    slob_cpu_update: Time
    oltp_sessions: int
    oltp_select_pct: float
    oltp_insert_pct: float
    oltp_db: Size
    oltp_cache: Size
    oltp_pages_select: float
    oltp_pages_write: float
    oltp_access: str
    oltp_wal: Size
    oltp_cpu_select: Time
    oltp_cpu_write: Time
    oltp_cpu_session: Time
    oltp_think: Time
    tpcc_sessions: int
    tpcc_warehouses: int
    tpcc_cache: Size
    tpcc_cpu: Time
    tpcc_cpu_page: Time
    replica_sessions: int
    replica_tps: float
    replica_workers: int
    replica_warehouses: int
    replica_cache: Size
    replica_cpu: Time
    replica_cpu_page: Time
