"""Tables of results: lists of rows with plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

if TYPE_CHECKING:
    from ._records import fit, lifetime, review, run, whatif

Rows = list[dict[str, Any]]


def io_rows(result: run.Run) -> Rows:
    """A row for each percentile of reads, writes and syncs."""
    return [
        {"class": name, "percentile": float(percent), "lat_ns": ns}
        for name, io in (("read", result.read), ("write", result.write), ("sync", result.sync))
        for percent, ns in io.lat_ns.percentile.items()
    ]


def tails(result: run.Run) -> Rows:
    """A row for each band of latency and for each of the slowest requests; a column for each cause, in nanoseconds."""
    if result.tail is None:
        return []
    rows = [band.to_dict() for band in [*result.tail.bands, *result.tail.slowest]]
    causes = sorted({cause for row in rows for cause in row["parts_ns"]})
    for row in rows:
        parts = row.pop("parts_ns")
        row.update({f"{cause}_ns": parts.get(cause, 0.0) for cause in causes})
    return rows


def points(result: whatif.Whatif) -> Rows:
    """A row for each point, with the columns of `flashrig whatif --csv`."""
    rows = []
    for point in result.points:
        row: dict[str, Any] = {axis.key: point.at.get(axis.key) for axis in result.axes}
        row.update(user_bytes=point.user_bytes, used_bytes=point.used_bytes)
        answer = point.answer
        row.update(bw_bytes=answer and answer.bw_bytes, iops=answer and answer.iops)
        of = (("", "lat_ns"), ("read_", "read_lat_ns"), ("write_", "write_lat_ns"))
        for prefix, name in of:
            latency = (answer.to_dict().get(name) if answer else None) or {}
            row.update({f"{prefix}{key}_ns": latency.get(key) for key in ("mean", "p50", "p99", "p99.9")})
        row.update(waf=answer and answer.waf, effective_spare_factor=answer and answer.effective_spare_factor)
        row.update(steady=answer and answer.steady, failed=point.failed)
        rows.append(row)
    return rows


def cases(result: lifetime.Lifetime) -> Rows:
    """A row for each reserve."""
    return [
        {key: value for key, value in case.to_dict().items() if not isinstance(value, (dict, list))}
        for case in result.cases
    ]


def curves(result: lifetime.Lifetime) -> Rows:
    """A row for each moment of each life."""
    return [
        {"reserve_percent": case.reserve_percent, **flat(moment.to_dict())}
        for case in result.cases
        for moment in case.curve
    ]


def sweeps(result: review.Review) -> Rows:
    """A row for each point of each sweep."""
    rows = []
    for sweep in result.sweeps:
        for point in sweep.points:
            row: dict[str, Any] = {"phase": sweep.phase, "sweep": sweep.title, "axis": sweep.axis, "x": point.x}
            row.update(fill=point.fill, waf=point.waf, steady=point.steady and point.steady.attained)
            row["limited_by_host"] = point.limited_by_host
            for name, io in (("read", point.read), ("write", point.write), ("sync", point.sync)):
                # Published tables have rates and no counts.
                some = io.total_ios > 0 or io.bw_bytes > 0 or io.iops > 0
                row[f"{name}_iops"] = io.iops if some else None
                row[f"{name}_bw_bytes"] = io.bw_bytes if some else None
                row[f"{name}_mean_ns"] = io.lat_ns.mean if some else None
                for percent, key in PERCENTILES:
                    row[f"{name}_{key}_ns"] = io.lat_ns.percentile.get(percent) if some else None
            rows.append(row)
    return rows


PERCENTILES = (("50.000000", "p50"), ("99.000000", "p99"), ("99.900000", "p99.9"))


def fitted(result: fit.Fit) -> Rows:
    """A row for each figure of each point: measured, fitted, predicted."""
    return [
        {"file": point.file, "sweep": point.sweep, "condition": point.condition, "held_out": point.held_out}
        | figure.to_dict()
        for point in result.points
        for figure in point.figures
    ]


def flat(row: dict[str, Any], inside: str = "") -> dict[str, Any]:
    """Objects within a row as columns of their own."""
    out: dict[str, Any] = {}
    for key, value in row.items():
        out.update(flat(value, f"{inside}{key}_") if isinstance(value, dict) else {inside + key: value})
    return out


def columns(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The columns of all rows, in the order in which they first stand."""
    return list(dict.fromkeys(key for row in rows for key in row))
