"""Each function gives the JSON of the command line, byte for byte, but for the wall clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import pytest

import flashrig
from conftest import command, timeless

SMALL = "--scale=1/1024"
CALLS: dict[str, tuple[list[str], Callable[[], Any]]] = {
    "run": (
        ["run", "tachion-400", "--load", "rndrw", "--block", "8k", "--writes-none", SMALL],
        lambda: flashrig.run("tachion-400", "rndrw", block="8k", requests=5000, scale=1 / 1024, explain_tail=True),
    ),
    "a load as an object": (
        ["run", "tachion-400", "-l", "redo", "--redo-readers", "2", "--requests", "2000", SMALL, "--json", "-"],
        lambda: flashrig.run("tachion-400", flashrig.Redo(readers=2), requests=2000, scale="1/1024"),
    ),
    "a card with settings": (
        ["run", "tachion-400", "-l", "rndwr", "--set", "ftl.victim=fifo", "--set", "host.cores=2", "--writes", "3000"]
        + [SMALL, "--json", "-"],
        lambda: flashrig.run(
            flashrig.Card("tachion-400").with_(**{"ftl.victim": "fifo"}),
            flashrig.Fileio("randwrite"),
            set={"host.cores": 2},
            writes=3000,
            scale="1/1024",
        ),
    ),
    "whatif": (
        ["whatif", "tachion-400", "--fill", "50,90", "--threads", "1,8", "--vary", "ftl.victim=greedy,fifo", SMALL]
        + ["--seconds", "0.05", "--json", "-"],
        lambda: flashrig.whatif(
            "tachion-400",
            fill=[50, 90],
            threads=(1, 8),
            vary={"ftl.victim": ["greedy", "fifo"]},
            scale="1/1024",
            seconds=0.05,
        ),
    ),
    "a search": (
        ["whatif", "tachion-400", "--fill", "60..100", "--target-p99", "2ms", SMALL, "--seconds", "0.05", "--json", "-"],
        lambda: flashrig.whatif("tachion-400", fill=range(60, 101), target_p99="2ms", scale="1/1024", seconds=0.05),
    ),
    "lifetime": (
        ["lifetime", "tachion-400", "--reserve", "0,25", "--cycles", "20", SMALL, "--json", "-"],
        lambda: flashrig.lifetime("tachion-400", reserve=[0, 25], cycles=20, scale="1/1024"),
    ),
    "review": (
        ["review", "tachion-400", "--quick", "--only", "fill", SMALL, "--json"],
        lambda: flashrig.review("tachion-400", quick=True, only=["fill"], scale="1/1024"),
    ),
    "takeovers": (
        ["torture", "--takeovers", "--lives", "20", "--seed", "3", "--json"],
        lambda: flashrig.takeovers(lives=20, seed=3),
    ),
    "compare": (
        ["compare", "published:tachion-400-fill", "published:duo-320-fill", "--fail-if", "iops<-5%", "--json"],
        lambda: flashrig.compare("published:tachion-400-fill", "published:duo-320-fill", fail_if=["iops<-5%"]),
    ),
    "validate": (
        ["validate", "--table", "tachion-400-threads", SMALL, "--json", "-"],
        lambda: flashrig.validate(table="tachion-400-threads", scale="1/1024"),
    ),
    "torture": (
        ["torture", "--lives", "20", "--operations", "300", "--seed", "7", "--json"],
        lambda: flashrig.torture(lives=20, operations=300, seed=7),
    ),
}
CALLS["run"] = (
    ["run", "tachion-400", "-l", "rndrw", "--block", "8k", "--requests", "5000", SMALL, "--explain-tail", "--json", "-"],
    CALLS["run"][1],
)


@pytest.mark.parametrize("name", CALLS)
def test_a_function_gives_the_json_of_the_command(name: str) -> None:
    words, call = CALLS[name]
    typed = command(*words)
    assert typed.returncode in (0, 1), typed.stderr
    result = call()
    assert timeless(result.to_json()) == timeless(typed.stdout)
    assert result.ok == (typed.returncode == 0)


def test_a_review_called_without_out_writes_no_file(own_folder: Path) -> None:
    flashrig.review("tachion-400", quick=True, only="fill", scale="1/1024")
    assert list(own_folder.iterdir()) == []


def test_a_trace_is_replayed_as_by_the_command(own_folder: Path) -> None:
    lines = [f"{128166372003061629 + i * 10**4},host,0,{'Read' if i % 3 else 'Write'},{i * 8192},4096,0" for i in range(500)]
    (own_folder / "t.csv").write_text("\n".join(lines) + "\n")
    words = ["run", "tachion-400", "--trace", "t.csv", "--speed", "max", "--scale", "1/1024", "--json", "-"]
    typed = command(*words, cwd=own_folder)
    assert typed.returncode == 0, typed.stderr
    called = flashrig.replay("tachion-400", "t.csv", speed="max", scale="1/1024")
    assert timeless(called.to_json()) == timeless(typed.stdout)
    assert called.trace is not None and called.trace.requests == 500


def test_a_fit_gives_the_json_of_the_command(own_folder: Path) -> None:
    words = ["fit", "published:violin-3205", "--json"]
    typed = command(*words)
    called = flashrig.fit("published:violin-3205")
    assert called.to_json() == typed.stdout
    assert called.ok == (typed.returncode == 0)
    assert called.card.user_bytes > 0
