"""Bad calls raise ValueError with the line that the command prints; nothing panics, and nothing ends the process."""

from __future__ import annotations

import random
from typing import Any

import pytest

import flashrig
from flashrig import _flashrig
from flashrig._words import words
from conftest import command

ALIKE: list[tuple[list[str], Any]] = [
    (["run", "nope", "-l", "rndwr", "--json", "-"], lambda: flashrig.run("nope", "rndwr")),
    (["run", "tachion-400", "--json", "-"], lambda: flashrig.run("tachion-400")),
    (["run", "tachion-400", "-l", "rndwrr", "--json", "-"], lambda: flashrig.run("tachion-400", "rndwrr")),
    (["run", "tachion-400", "-l", "rndwr", "--fill=2", "--json", "-"], lambda: flashrig.run("tachion-400", "rndwr", fill=2)),
    (
        ["run", "tachion-400", "-l", "rndwr", "--set", "ftl.victm=fifo", "--json", "-"],
        lambda: flashrig.run("tachion-400", "rndwr", set={"ftl.victm": "fifo"}),
    ),
    (
        ["run", "tachion-400", "-l", "slob", "--block=8k", "--json", "-"],
        lambda: flashrig.run("tachion-400", "slob", block="8k"),
    ),
    (["run", "tachion-400", "--trace", "none.csv", "--json", "-"], lambda: flashrig.replay("tachion-400", "none.csv")),
    (["whatif", "tachion-400", "--fill", "50,50", "--json", "-"], lambda: flashrig.whatif("tachion-400", fill=[50, 50])),
    (["whatif", "tachion-400", "--fill", "20..90", "--json", "-"], lambda: flashrig.whatif("tachion-400", fill=range(20, 91))),
    (["lifetime", "tachion-400", "-l", "rndrd", "--json", "-"], lambda: flashrig.lifetime("tachion-400", load="rndrd")),
    (["lifetime", "sas-raid10-6", "--json", "-"], lambda: flashrig.lifetime("sas-raid10-6")),
    (["fit", "none.json", "--json"], lambda: flashrig.fit("none.json")),
    (["validate", "--table", "none", "--json", "-"], lambda: flashrig.validate(table="none")),
    (["compare", "none.json", "--json"], lambda: flashrig.compare("none.json")),
    (["review", "tachion-400", "--only", "nothing", "--json"], lambda: flashrig.review("tachion-400", only="nothing")),
    (["review", "/dev/none", "--json"], lambda: flashrig.review("/dev/none")),
    (["show", "none"], lambda: flashrig.Card("none")),
    (["torture", "--lives", "0", "--json"], lambda: flashrig.torture(lives=0)),
]


@pytest.mark.parametrize("words,call", ALIKE, ids=lambda of: " ".join(of) if isinstance(of, list) else "")
def test_the_message_is_the_line_of_the_command(words: list[str], call: Any) -> None:
    typed = command(*words)
    assert typed.returncode == 2
    with pytest.raises(ValueError) as raised:
        call()
    assert typed.stderr == f"flashrig: error: {raised.value}\n"
    assert "\n" not in str(raised.value)


def bad_values(seed: int) -> list[Any]:
    """Values that no option takes, and some that many do."""
    wild = random.Random(seed)
    texts = ["", "-1", "nan", "inf", "1e400", "--help", "-h", "\x00", "\udcff", "é" * 300, "1/0", "0", "..", "5..1", ","]
    return [*texts, -1, 1 << 70, float("nan"), float("-inf"), wild.random() * 1e30, [], {}, range(0), object()]


def test_two_hundred_bad_calls_raise_and_change_nothing() -> None:
    verbs = ["run", "whatif", "lifetime", "review", "fit", "validate", "compare", "torture", "fsck", "show"]
    called = 0
    for verb in verbs:
        for name, takes_value, _, _ in _flashrig.options(verb):
            for value in random.Random(f"{verb} {name}").sample(bad_values(called), 3):
                given = {name or "stray": value if takes_value else "x"}
                called += 1
                # No card, no file: even where the value is taken, there is nothing to work on.
                given_words = [*words(given), "--", "no-such-card"] if verb not in ("validate", "torture") else words(given)
                if verb in ("validate", "torture"):
                    given_words += ["--no-such-option"]
                with pytest.raises(ValueError) as raised:
                    _flashrig.call(["flashrig", verb, *given_words])
                assert "\n" not in str(raised.value), raised.value
    assert called >= 200


@pytest.mark.parametrize("words", [["serve", "memory-16", "--memory"], ["top"], ["man"], ["--help"], ["run", "--help"], []])
def test_what_runs_as_a_program_is_no_call(words: list[str]) -> None:
    with pytest.raises(ValueError):
        _flashrig.call(["flashrig", *words])


def test_a_mistyped_option_of_a_load_names_the_nearest() -> None:
    with pytest.raises(ValueError, match="--threads"):
        flashrig.run("tachion-400", "rndwr", thread=8)  # type: ignore[call-arg]


def test_standard_input_is_the_interpreters() -> None:
    with pytest.raises(ValueError, match="standard input"):
        flashrig.replay("tachion-400", "-")


def test_results_that_are_none_are_refused() -> None:
    for texts in ([], ["{}"], ["["], ['{"kind": "flashrig-whatif"}'], ['{"kind": "flashrig-review"}'], ["1", "2"]):
        with pytest.raises(ValueError):
            _flashrig.page(texts)
