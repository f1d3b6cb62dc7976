"""A run in the words of fio's JSON: of json+ where the run kept its histograms, else of json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._records.run import Io, Run

#: The version of fio whose keys these are.
VERSION = "fio-3.33"
RW = {
    "seqrd": "read",
    "seqwr": "write",
    "seqrewr": "write",
    "seqrw": "rw",
    "rndrd": "randread",
    "rndwr": "randwrite",
    "rndrw": "randrw",
}
#: The buckets of fio's distribution: each counts what is below its bound, and not below the one before.
BOUNDS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
#: In milliseconds two more: below 2,000, and the rest.
SECONDS = 2000


def output(run: Run, jobname: str) -> str:
    """One job of fio, as its `--output-format=json` has it."""
    load = run.load.to_dict()
    seconds = run.sim.virtual_seconds if run.sim else sum(row.t_s for row in run.series[-1:])
    options = {
        "name": jobname,
        "rw": RW.get(str(load.get("mode")), "randrw"),
        "bs": str(load.get("block_bytes", 4096)),
        "iodepth": str(load.get("queue_depth", 1)),
        "numjobs": str(load.get("threads", 1)),
    }
    job: dict[str, Any] = {
        "jobname": jobname,
        "groupid": 0,
        "error": 0,
        "elapsed": max(1, round(seconds)),
        "job options": options,
        "read": _io(run.read, seconds),
        "write": _io(run.write, seconds),
        "trim": _none(),
        "sync": {"total_ios": run.sync.total_ios, "lat_ns": _latency(run.sync)},
        "job_runtime": round(seconds * 1e3),
        # A model's host computes on cores of its own, which the result does not count.
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        **_distribution(run.read, run.write),
    }
    whole = {
        "fio version": VERSION,
        "timestamp": 0,
        "timestamp_ms": 0,
        "time": "Thu Jan  1 00:00:00 1970",
        "global options": {"ioengine": "flashrig", "direct": "1"},
        "jobs": [job],
    }
    return json.dumps(whole, indent=2) + "\n"


def _io(io: Io, seconds: float) -> dict[str, Any]:
    latency = _latency(io)
    nothing = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    rate = {"min": io.bw_bytes / 1024, "max": io.bw_bytes / 1024, "mean": io.bw_bytes / 1024}
    return {
        "io_bytes": io.io_bytes,
        "io_kbytes": io.io_bytes // 1024,
        "bw_bytes": round(io.bw_bytes),
        "bw": round(io.bw_bytes / 1024),
        "iops": io.iops,
        "runtime": round(seconds * 1e3) if io.total_ios else 0,
        "total_ios": io.total_ios,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": nothing,
        "clat_ns": latency,
        "lat_ns": {key: value for key, value in latency.items() if key != "percentile"},
        "bw_min": round(rate["min"]),
        "bw_max": round(rate["max"]),
        "bw_agg": 100.0 if io.total_ios else 0.0,
        "bw_mean": rate["mean"],
        "bw_dev": 0.0,
        "bw_samples": 1 if io.total_ios else 0,
        "iops_min": round(io.iops),
        "iops_max": round(io.iops),
        "iops_mean": io.iops,
        "iops_stddev": 0.0,
        "iops_samples": 1 if io.total_ios else 0,
    }


def _latency(io: Io) -> dict[str, Any]:
    of = io.lat_ns
    figures: dict[str, Any] = {"min": of.min, "max": of.max, "mean": of.mean, "stddev": of.stddev, "N": of.N}
    if of.percentile:
        figures["percentile"] = dict(of.percentile)
    if io.histogram is not None:
        figures["bins"] = {str(ns): count for ns, count in zip(io.histogram.upper_ns, io.histogram.counts)}
    return figures


def _distribution(*classes: Io) -> dict[str, dict[str, float]]:
    """Shares of requests in percent by latency; without buckets where no histogram was kept."""
    units = (("latency_ns", 1), ("latency_us", 1_000), ("latency_ms", 1_000_000))
    if all(io.histogram is None for io in classes):
        return {name: {} for name, _ in units}
    shares = {name: {str(bound): 0.0 for bound in BOUNDS} for name, _ in units}
    shares["latency_ms"].update({str(SECONDS): 0.0, f">={SECONDS}": 0.0})
    total = sum(io.total_ios for io in classes)
    for io in classes:
        for ns, count in zip(io.histogram.upper_ns, io.histogram.counts) if io.histogram else ():
            name, unit = next(((name, unit) for name, unit in units if ns < 1000 * unit), units[-1])
            bound = next((str(bound) for bound in (*BOUNDS, SECONDS) if ns < bound * unit), f">={SECONDS}")
            shares[name][bound] += 100 * count / total
    return shares


def _none() -> dict[str, Any]:
    return {"io_bytes": 0, "io_kbytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}
