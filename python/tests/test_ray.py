"""The same bytes with any number of workers, with one that is killed, and from four nodes of which one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Iterator

import pytest

import flashrig
from conftest import timeless

ray = pytest.importorskip("ray")
import flashrig.ray as on_ray  # noqa: E402

pytestmark = pytest.mark.proof

GRID: dict[str, Any] = {
    "fill": [50, 60, 70, 80, 90, 100],
    "threads": [1, 4, 16],
    "vary": {"ftl.victim": ["greedy", "fifo"]},
    "scale": "1/1024",
    "seconds": 0.05,
}


@pytest.fixture(scope="module")
def whole() -> str:
    return flashrig.whatif("tachion-400", **GRID).to_json()


@pytest.fixture
def workers(request: pytest.FixtureRequest) -> Iterator[int]:
    count = getattr(request, "param", 2)
    ray.init(num_cpus=count, log_to_driver=False, include_dashboard=False, configure_logging=False)
    yield count
    ray.shutdown()


@pytest.mark.parametrize("workers", [1, 4, 16], indirect=True)
def test_the_bytes_do_not_depend_on_the_number_of_workers(workers: int, whole: str) -> None:
    told: list[tuple[str, int, int]] = []
    units: list[int] = []
    found = on_ray.whatif(
        "tachion-400",
        **GRID,
        progress=lambda *of: told.append(of),
        each_unit=lambda unit, points: units.append(unit) if len(points) == 3 else None,
    )
    assert found.to_json() == whole
    assert sorted(units) == list(range(12)) and told[-1] == ("units", 12, 12)
    search: dict[str, Any] = {"fill": range(60, 101), "min_mb_s": 450, "threads": [4, 8], "scale": "1/1024", "seconds": 0.05}
    assert on_ray.whatif("tachion-400", **search).to_json() == flashrig.whatif("tachion-400", **search).to_json()


def test_a_worker_that_is_killed_is_missed_by_nobody(workers: int, whole: str) -> None:
    killed: list[int] = []

    def kill(unit: int, points: Any) -> None:
        if not killed:
            found = subprocess.run(["pgrep", "-f", "ray::answer"], capture_output=True, text=True, check=False).stdout.split()
            for pid in found[:1]:
                os.kill(int(pid), signal.SIGKILL)
                killed.append(int(pid))

    long = {**GRID, "seconds": 0.5}
    assert on_ray.whatif("tachion-400", **long, each_unit=kill).to_json() == flashrig.whatif("tachion-400", **long).to_json()
    assert killed


def test_four_nodes_of_which_one_dies() -> None:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(4)]
    ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    try:
        removed: list[int] = []

        def remove(unit: int, points: Any) -> None:
            if len(removed) == 0:
                removed.append(unit)
                cluster.remove_node(nodes[2], allow_graceful=False)

        long = {**GRID, "seconds": 0.3}
        found = on_ray.whatif("tachion-400", **long, each_unit=remove).to_json()
        assert removed and found == flashrig.whatif("tachion-400", **long).to_json()
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_a_refusal_is_the_same_here_and_there(workers: int) -> None:
    with pytest.raises(ValueError, match="no percentage"):
        on_ray.whatif("tachion-400", fill=[0])
    with pytest.raises(ValueError, match="unknown card"):
        on_ray.review_models(["nope"])
    with pytest.raises(ValueError, match="nothing"):
        on_ray.review_models(["tachion-400"], only="nothing")
    with pytest.raises(ValueError):
        on_ray.fit("published:none")


def test_reviews_of_many_models(workers: int) -> None:
    options: dict[str, Any] = {"quick": True, "only": ["fill"], "scale": "1/1024"}
    cards = ["tachion-400", flashrig.Card("tachion-400").with_({"ftl.victim": "fifo"}), "iodrive-160-slc"]
    found = on_ray.review_models(cards, **options)
    for card, review in zip(cards, found):
        assert timeless(review.to_json()) == timeless(flashrig.review(card, **options).to_json())


def test_lives_are_those_of_one_machine(workers: int) -> None:
    found = on_ray.torture(lives=250, operations=300, seed=5)
    here = flashrig.torture(lives=250, operations=300, seed=5)
    apart = {"trace", "wall_seconds"}
    assert {k: v for k, v in found.to_dict().items() if k not in apart} == {
        k: v for k, v in here.to_dict().items() if k not in apart
    }
    assert found.ok and found.replay is None and on_ray.torture(lives=250, operations=300, seed=5) == found


def test_a_fit_is_the_same_on_a_cluster(workers: int) -> None:
    here = flashrig.fit("published:violin-3205")
    found = on_ray.fit("published:violin-3205", workers=2)
    assert found.to_json() == here.to_json() and found.card_toml == here.card_toml


def test_ctrl_c_gives_what_was_answered(own_folder: Path) -> None:
    code = f"""
import flashrig, flashrig.ray, os, signal
grid = {GRID!r} | {{"seconds": 30.0}}
try:
    flashrig.ray.whatif("tachion-400", **grid, each_unit=lambda *_: os.kill(os.getpid(), signal.SIGINT))
except flashrig.Interrupted as stopped:
    print(len(stopped.result.points), stopped.result.partial)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    points, _, rest = out.strip().partition(" ")
    assert 0 < int(points) < 36 and rest.endswith("units are missing"), out


def test_four_hundred_points_on_two_workers_are_those_of_the_process(workers: int) -> None:
    grid: dict[str, Any] = {
        "fill": [50 + 2.5 * i for i in range(20)],
        "threads": list(range(1, 21)),
        "scale": "1/1024",
        "seconds": 0.1,
    }
    on_ray.whatif("tachion-400", fill=[50, 60], scale="1/1024", seconds=0.01)  # Workers are there.
    began = time.perf_counter()
    here = flashrig.whatif("tachion-400", **grid)
    middle = time.perf_counter()
    there = on_ray.whatif("tachion-400", **grid)
    ended = time.perf_counter()
    assert here.to_json() == there.to_json() and len(here.points) == 400
    # The speed is told and not judged: the machine may have other work (`pytest -m proof -s -k four_hundred`).
    speed = (middle - began) / (ended - middle)
    print(f"in the process {middle - began:.1f} s, two workers {ended - middle:.1f} s: {speed:.2f} of the speed")


def test_a_violation_comes_back_as_a_line_that_replays_here(own_folder: Path) -> None:
    package = os.environ.get("FLASHRIG_PLANTED")
    if package is None:
        pytest.skip("`make planted` builds the package whose cards can be made to break their promise")
    # The cluster's processes get the environment, and with it the bug.
    planted = {**os.environ, "PYTHONPATH": package, "FLASHRIG_CANARY": "flush skipped"}
    code = """
import flashrig.ray, ray
ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False, configure_logging=False)
found = flashrig.ray.torture(lives=300, operations=300, seed=9)
print(found.ok, found.violation["card"])
print(found.replay)
"""
    ran = subprocess.run([sys.executable, "-c", code], env=planted, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    verdict, line = ran.stdout.splitlines()
    assert verdict.startswith("False ") and line == "flashrig torture --replay torture-9.json"
    again = [sys.executable, "-m", *line.split()]
    here = subprocess.run(again, env=planted, capture_output=True, text=True, check=False)
    assert here.returncode == 1, here.stdout + here.stderr
    # It is the bug that fails, and not the life.
    sound = subprocess.run([sys.executable, "-m", *line.split()], capture_output=True, text=True, check=False)
    assert sound.returncode == 0, sound.stdout + sound.stderr
