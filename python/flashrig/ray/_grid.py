"""Grids and searches on a cluster."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Mapping

from .._call import Interrupted, Progress, ask
from ..card import CardLike, HostLike
from ..results import WhatifResult, made
from ..verbs import Settings, modelled
from ._cluster import cluster, each, one_thread


def whatif(
    card: CardLike,
    *,
    each_unit: Callable[[int, list[dict[str, Any]]], object] | None = None,
    set: Settings = None,
    host: HostLike = None,
    progress: Progress = None,
    **question: Any,
) -> WhatifResult:
    """`flashrig.whatif` on a cluster, with its arguments; the same result, byte for byte.

    `each_unit` is called with the number of a unit and its points as soon as it is answered. Raises ValueError where the question
    can't be, before anything is run; Interrupted at Ctrl-C, with the points that were answered.
    """
    plan = ask(modelled("whatif", card, set, host, {**question, "plan": "-"})).text
    units = _units(plan)
    ray = cluster()
    shared = ray.put(plan)
    parts: dict[int, str] = {}
    try:
        for unit, part in each(ray, "units", answer, [(shared, unit) for unit in range(units)], progress):
            parts[unit] = part
            if each_unit is not None:
                each_unit(unit, _points(part))
    except KeyboardInterrupt:
        partial = _merged(parts, ["--partial"]) if parts else None
        raise Interrupted(f"stopped by Ctrl-C after {len(parts)} of {units} units", partial) from None
    return _merged(parts, [])


def answer(plan: str, unit: int) -> str:
    """The part with one unit of a plan: the task of a worker."""
    one_thread()
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(plan)
        file.flush()
        return ask(["work", file.name, f"--unit={unit}", "--threads=1", "-o", "-"]).text


def _merged(parts: Mapping[int, str], options: list[str]) -> WhatifResult:
    with tempfile.TemporaryDirectory(prefix="flashrig-") as folder:
        paths = []
        for unit, part in sorted(parts.items()):
            paths.append(os.path.join(folder, f"{unit}.jsonl"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(part)
        return made(WhatifResult, ["merge", *paths, "--json=-", *options])


def _units(plan: str) -> int:
    import json

    return len(json.loads(plan)["units"])


def _points(part: str) -> list[dict[str, Any]]:
    import json

    points: list[dict[str, Any]] = json.loads(part.splitlines()[1])["points"]
    return points
