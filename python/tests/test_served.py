"""A running card, asked and told by its control socket."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Iterator

import pytest

import flashrig


@pytest.fixture
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[flashrig.Served]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    words = ["serve", "memory-16", "--memory", "--size", "256m", "--nbd", f"unix:{tmp_path}/nbd.sock"]
    server = subprocess.Popen([sys.executable, "-m", "flashrig", *words], stderr=subprocess.DEVNULL)
    try:
        socket = tmp_path / "flashrig" / "memory-16.sock"
        for _ in range(200):
            if socket.exists():
                break
            time.sleep(0.05)
        yield flashrig.connect(socket)
    finally:
        server.terminate()
        server.wait(timeout=20)


def test_a_running_card_is_asked_and_told(card: flashrig.Served) -> None:
    assert card.status().powered and not card.status().degraded
    assert [module.slot for module in card.modules()] == list(range(16))
    pulled = card.pull(3)
    assert pulled.slot == 3 and not pulled.present and card.status().degraded
    with pytest.raises(ValueError, match="force"):
        card.pull(4)
    card.insert(3)
    assert card.set(gc="stop-the-world").gc == "stop-the-world"
    assert card.trim("0", "64k") == 65536
    card.power_cut()
    assert not card.status().powered
    card.power_on()
    assert card.status().powered
    assert card.smart().unsafe_shutdowns == 1
    assert [export.name for export in card.exports()] == ["memory-16"] and card.clients() == []
    assert card.ownership() is None
    with pytest.raises(ValueError, match="not shared"):
        card.take_over()


def test_events_are_what_changes(card: flashrig.Served) -> None:
    seen = card.events(interval=0.1)
    threading.Timer(0.3, lambda: card.pull(5)).start()
    events = [next(seen) for _ in range(2)]
    assert {(event.what, event.now) for event in events} == {("degraded", True), ("slot 5 state", "missing")}


def test_no_card_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no server answers"):
        flashrig.connect(tmp_path / "none.sock")
