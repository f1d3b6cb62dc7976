"""Results as objects: fields, tables, pages, charts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import flashrig


@pytest.fixture(scope="module")
def run() -> flashrig.RunResult:
    return flashrig.run("tachion-400", "rndrw", threads=8, requests=5000, scale="1/1024", explain_tail=True)


@pytest.fixture(scope="module")
def grid() -> flashrig.WhatifResult:
    return flashrig.whatif("tachion-400", fill=[50, 100], threads=[1, 8], scale="1/1024", seconds=0.02)


@pytest.fixture(scope="module")
def review() -> flashrig.ReviewResult:
    return flashrig.review("tachion-400", quick=True, only=["fill"], scale="1/1024")


def test_fields_are_those_of_the_json(run: flashrig.RunResult) -> None:
    data = json.loads(run.to_json())
    assert run.to_dict() == data
    assert run.write.lat_ns.percentile["99.000000"] == data["write"]["lat_ns"]["percentile"]["99.000000"]
    assert run.flash is not None and run.flash.wear.mean == data["flash"]["wear"]["mean"]
    assert [row.t_s for row in run.series] == [row["t_s"] for row in data["series"]]
    assert run.generator is None and run.partial is None
    with pytest.raises(AttributeError, match="iops"):
        run.write.iopss  # type: ignore[attr-defined]


def test_tables_have_units_and_all_points(run: flashrig.RunResult, grid: flashrig.WhatifResult) -> None:
    assert [row["fill"] for row in grid.rows()] == [50, 50, 100, 100]
    assert grid.rows()[3]["bw_bytes"] == grid.points[3].answer.bw_bytes  # type: ignore[union-attr]
    tail = run.rows("tail")
    for row in tail:
        causes = sum(value for key, value in row.items() if key.endswith("_ns") and key != "lat_ns")
        assert causes == pytest.approx(row["lat_ns"], rel=1e-3)
    with pytest.raises(ValueError, match="series, latencies, tail"):
        run.rows("rows")


def test_what_is_saved_is_read(run: flashrig.RunResult, grid: flashrig.WhatifResult, review: flashrig.ReviewResult) -> None:
    for result in (run, grid, review):
        result.save("r.json")
        again = flashrig.read_result("r.json")
        assert type(again) is type(result) and again == result
    published = flashrig.read_result("published:tachion-400-fill")
    assert isinstance(published, flashrig.ReviewResult) and len(published.rows()) == 9


def test_a_history_has_every_review_of_a_folder(review: flashrig.ReviewResult, own_folder: Path) -> None:
    (own_folder / "reviews").mkdir()
    for seed in (1, 2):
        one = flashrig.review("tachion-400", quick=True, only=["fill"], scale="1/1024", seed=seed)
        one.save(own_folder / "reviews" / f"{seed}.json")
    found = flashrig.history("reviews", svg="picture.svg")
    device = found.devices[0]
    assert len(found.devices) == 1 and len(device.when) == 2 and device.sentence
    assert all(len(figure["values"]) == 2 for figure in device.figures) and len(device.figures) * 2 == len(found.rows())
    assert Path("picture.svg").read_text().startswith("<svg") and "<table" in found._repr_html_()
    with pytest.raises(ValueError, match="nothing"):
        flashrig.history("nothing")


def test_pages_need_no_network(run: flashrig.RunResult, grid: flashrig.WhatifResult, review: flashrig.ReviewResult) -> None:
    for result in (run, grid, review, flashrig.lifetime("tachion-400", reserve=[0], cycles=20, scale="1/1024")):
        result.page("p.html")
        page = Path("p.html").read_text()
        assert page.lower().startswith("<!doctype html>") and "src=\"http" not in page
        assert "<svg" in result._repr_html_() and "<table" in result._repr_html_()


def test_fio_finds_its_own_words(run: flashrig.RunResult) -> None:
    Path("fio.json").write_text(run.to_fio_json("mine"))
    again = flashrig.read_result("fio.json")
    assert isinstance(again, flashrig.ReviewResult)
    point = again.sweeps[0].points[0]
    assert point.write.iops == pytest.approx(run.write.iops)
    assert point.read.lat_ns.percentile["99.000000"] == run.read.lat_ns.percentile["99.000000"]


def test_a_card_says_where_its_numbers_are_from() -> None:
    card = flashrig.Card("tachion-400")
    number = card.numbers["timing.read_ns"]
    assert number.value == 25_000 and number.basis in ("datasheet", "assumed") and number.source
    fifo = card.with_({"ftl.victim": "fifo"})
    assert fifo.numbers["ftl.victim"].value == "fifo" and card.numbers["ftl.victim"].value == "greedy"
    assert any(row["name"] == "tachion-400" for row in flashrig.cards())


def test_a_card_from_a_dict_is_the_card_from_its_file() -> None:
    shown = flashrig.Card("tachion-400").to_dict()
    tables = {
        table: {
            key: {"value": value, "basis": of["basis"], "source": of["source"]} if of["basis"] != "-" else value
            for key, value in values.items()
            if (of := shown["sources"][table].get(key, {"basis": "-"}))
        }
        for table, values in shown["settings"].items()
    }
    for table in ("errors", "patrol"):
        tables.pop(table, None)
    tables["geometry"].pop("rows_sharing_cells", None)
    tables["ftl"].pop("reserve", None)
    made = flashrig.Card.from_dict(tables, "mine")
    assert made.name == "mine" and made.figures == flashrig.Card("tachion-400").figures
    with pytest.raises(ValueError, match="nearest: victim"):
        flashrig.Card.from_dict({**tables, "ftl": {**tables["ftl"], "victm": "fifo"}})


def test_types_of_python_become_words() -> None:
    from datetime import timedelta

    from flashrig._words import words

    given = {"a": None, "b": False, "c_d": True, "e": [1, 2.5], "f": range(20, 101), "for_": timedelta(milliseconds=2)}
    assert words(given) == ["--c-d", "--e=1,2.5", "--f=20..100", "--for=2000000ns"]
    assert words({"set": {"ftl.victim": "fifo", "x.y": True}}) == ["--set=ftl.victim=fifo", "--set=x.y=true"]
    assert words({"fail_if": ["a", "b"]}, ["fail_if"]) == ["--fail-if=a", "--fail-if=b"]
