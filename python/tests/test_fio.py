"""What reads fio's JSON reads ours: fio's own converter, and fio-plot."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import flashrig

CONVERTER = "/usr/bin/fio_jsonplus_clat2csv"
JOB = ["--name=flashrig", "--rw=randrw", "--bs=4k", "--iodepth=1", "--numjobs=4", "--group_reporting", "--size=16M"]


def ours() -> Path:
    run = flashrig.run("tachion-400", "rndrw", block="4k", threads=4, requests=20_000, scale="1/1024", histograms=True)
    Path("ours.json").write_text(run.to_fio_json())
    return Path("ours.json")


def fios() -> Path:
    """A file that fio wrote itself, of the same job: what a tool makes of it is the measure."""
    subprocess.run(
        ["fio", "--ioengine=null", "--output-format=json+", "--output=fios.json", *JOB], check=True, capture_output=True
    )
    return Path("fios.json")


def converted(source: Path) -> dict[str, list[tuple[int, int]]]:
    """Latencies and counts of each class, as fio's converter understood them."""
    tool = [sys.executable, CONVERTER, str(source), f"{source.stem}.csv"]
    for options in ([], ["--validate"]):
        subprocess.run([*tool, *options], check=True, capture_output=True, text=True)
    with open(f"{source.stem}_job0.csv", newline="") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    columns = {"read": "read_clat_ns_count", "write": "write_clat_ns_count"}
    return {name: [(int(row["nsec"]), int(row[column])) for row in rows if row[column]] for name, column in columns.items()}


@pytest.mark.parametrize("written", [ours, fios])
def test_fios_converter_finds_every_request(written: Any) -> None:
    source = written()
    job = json.loads(source.read_text())["jobs"][0]
    for name, counts in converted(source).items():
        figures = job[name]["clat_ns"]
        assert sum(count for _, count in counts) == figures["N"] == job[name]["total_ios"] > 0
        mean = sum(ns * count for ns, count in counts) / figures["N"]
        # A bucket is known by its largest latency (fio: by its middle), at most a thirty-second above the least.
        assert figures["mean"] * 0.98 <= mean <= figures["mean"] * 1.04
    shares = [share for unit in ("latency_ns", "latency_us", "latency_ms") for share in job[unit].values()]
    assert sum(shares) == pytest.approx(100, abs=0.2)


def test_our_job_has_the_keys_of_fios() -> None:
    here, there = (json.loads(path.read_text())["jobs"][0] for path in (ours(), fios()))
    # These count the process that asks, which a model is not, and what was asked to be held.
    own = {"eta", "ctx", "majf", "minf", "iodepth_level", "iodepth_submit", "iodepth_complete"}
    own |= {"latency_depth", "latency_target", "latency_percentile", "latency_window"}
    assert set(there) - set(here) == own
    for name in ("read", "write", "sync"):
        assert set(there[name]) <= set(here[name]), name
    for unit in ("latency_ns", "latency_us", "latency_ms"):
        assert list(there[unit]) == list(here[unit])


def test_without_histograms_nothing_is_said_of_the_distribution() -> None:
    job = json.loads(flashrig.run("tachion-400", "rndrd", requests=500, scale="1/1024").to_fio_json())["jobs"][0]
    assert job["latency_us"] == {} and "bins" not in job["read"]["clat_ns"] and job["read"]["clat_ns"]["percentile"]


@pytest.mark.proof
@pytest.mark.parametrize("chart", ["-l", "-N", "-H", "-L -t iops"])
@pytest.mark.parametrize("written", [ours, fios])
def test_fio_plot_draws(written: Any, chart: str, own_folder: Path) -> None:
    (own_folder / "results").mkdir()
    shutil.move(written(), own_folder / "results" / "result.json")
    plotter = str(Path(sys.executable).parent / "fio-plot")
    words = ["-i", "results", "-T", "a title", "-o", "chart.png", "-d", "1", "-n", "4", "-r", "randrw", "-f", "read"]
    drawn = subprocess.run([plotter, *words, *chart.split()], capture_output=True, text=True, check=False)
    assert drawn.returncode == 0, drawn.stdout + drawn.stderr
    assert Path("chart.png").read_bytes().startswith(b"\x89PNG"), drawn.stdout
