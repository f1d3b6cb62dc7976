"""Lives of simulated cards on a cluster."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Mapping

from .._call import Interrupted, Progress, ask
from .._words import words
from ..results import TortureResult
from ._cluster import cluster, each, one_thread

#: Lives of a task: some seconds of work.
LIVES = 100
#: Figures that say of all lives what they say of each share, when they are added up.
SUMS = ("lives", "lived_twice", "operations", "power_cuts", "nested_power_cuts", "redundancy_restored", "sectors_checked")
MORE_SUMS = ("faults", "rested", "clients", "halted")


def torture(
    *,
    lives: int = 2000,
    seed: int = 1,
    card: str | None = None,
    operations: int | None = None,
    beyond: bool = False,
    progress: Progress = None,
) -> TortureResult:
    """`flashrig.torture` on a cluster: the same lives, a hundred to a task.

    A life that fails is written to torture-SEED.json here, made small, and `result.replay` is the line that lives it again; of
    several the first by number. `trace` is a hash of the tasks' hashes. Raises Interrupted at Ctrl-C.
    """
    given = {"seed": seed, "card": card, "operations": operations, "beyond": beyond}
    calls = [(given, first, min(LIVES, lives - first)) for first in range(0, lives, LIVES)]
    ray = cluster()
    shares: dict[int, tuple[str, str | None]] = {}
    try:
        for place, share in each(ray, "lives", lived, calls, progress):
            shares[place] = share
            failed = min((place for place, (_, life) in shares.items() if life is not None), default=None)
            if failed is not None and all(before in shares for before in range(failed)):
                # Lives after the first one that failed do not count.
                shares = {place: shares[place] for place in range(failed + 1)}
                break
    except KeyboardInterrupt:
        whole = [shares[place] for place in range(len(shares)) if all(before in shares for before in range(place + 1))]
        partial = _sum(whole, seed, True) if whole else None
        raise Interrupted(f"stopped by Ctrl-C after {len(shares)} of {len(calls)} shares", partial) from None
    return _sum([shares[place] for place in range(len(shares))], seed, False)


def lived(given: Mapping[str, Any], first: int, lives: int) -> tuple[str, str | None]:
    """The report of some lives and, where one failed, the life made small: the task of a worker."""
    one_thread()
    here = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="flashrig-") as folder:
        os.chdir(folder)
        try:
            options = {**given, "first": first, "lives": lives, "threads": 1, "json": True}
            report = ask(["torture", *words(options)]).text
            path = f"torture-{given['seed']}.json"
            if not os.path.exists(path):
                return report, None
            with open(path, encoding="utf-8") as file:
                return report, file.read()
        finally:
            os.chdir(here)


def _sum(shares: list[tuple[str, str | None]], seed: int, partial: bool) -> TortureResult:
    import hashlib

    reports = [json.loads(report) for report, _ in shares]
    whole: dict[str, Any] = reports[-1]
    for key in (*SUMS, *MORE_SUMS):
        whole[key] = _added([report[key] for report in reports])
    for i, row in enumerate(whole["faults_by_activity"]):
        for j, cell in enumerate(row["cells"]):
            cell["count"] = sum(report["faults_by_activity"][i]["cells"][j]["count"] for report in reports)
    whole["longest_rest_ns"] = max(report["longest_rest_ns"] for report in reports)
    whole["trace"] = hashlib.sha256("".join(report["trace"] for report in reports).encode()).hexdigest()[:16]
    whole["partial"] = partial
    # Each machine has its own clock, and no two runs the same.
    whole.pop("wall_seconds", None)
    life = shares[-1][1]
    if life is not None:
        path = f"torture-{seed}.json"
        with open(path, "w", encoding="utf-8") as file:
            file.write(life)
    return TortureResult(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", 1 if life is not None else 0)


def _added(values: list[Any]) -> Any:
    """Sums; of objects, by key."""
    if not isinstance(values[0], dict):
        return sum(values)
    names = dict.fromkeys(key for value in values for key in value)
    return {name: sum(value.get(name, 0) for value in values) for name in names}
