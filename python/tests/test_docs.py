"""Every example of docs/python.md gives what the page shows."""

from __future__ import annotations

import doctest
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import flashrig

pytest.importorskip("pandas")
COMMAND = [sys.executable, "-m", "flashrig"]
PAGE = Path(__file__).parent.parent.parent / "docs" / "python.md"


def block(begins: str) -> str:
    """The code of the page's block that begins so."""
    blocks = PAGE.read_text().split("```python\n")[1:]
    return next(block.split("```")[0] for block in blocks if block.startswith(begins))


def test_the_running_card_of_the_page_is_asked(tmp_path: Path) -> None:
    subprocess.run([*COMMAND, "create", str(tmp_path / "card"), "--size", "64MiB"], check=True, capture_output=True)
    words = ["serve", str(tmp_path / "card"), "--nbd", f"unix:{tmp_path}/nbd.sock"]
    server = subprocess.Popen([*COMMAND, *words], stderr=subprocess.DEVNULL)
    try:
        while not (tmp_path / "card" / "control.sock").exists():
            time.sleep(0.05)
        insert = [*COMMAND, "ctl", str(tmp_path / "card"), "module", "insert", "3"]
        threading.Timer(2, lambda: subprocess.run(insert, check=False, capture_output=True)).start()
        exec(block("card = flashrig.connect"), {"flashrig": flashrig})
    finally:
        server.terminate()
        server.wait(timeout=20)


@pytest.mark.proof
def test_the_cluster_of_the_page_answers() -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False, configure_logging=False)
    try:
        names: dict[str, Any] = {}
        exec("import flashrig\n" + block("import flashrig.ray"), names)
        assert len(names["reviews"]) == 2 and names["lives"].ok and names["fit"].points and names["found"].search.found
    finally:
        ray.shutdown()


def test_examples_are_as_shown() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 20 and failed == 0
