"""What the tests share: the command of the same wheel, and a folder of one's own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

#: What differs from run to run: the wall clock.
WALL = re.compile(r'^\s*"(wall_seconds|precondition_wall_seconds|took_s)": .*\n', re.MULTILINE)


# Whoever began the tests in the background may have had Ctrl-C ignored, by them and by all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def timeless(text: str) -> str:
    """JSON without the wall clock's figures."""
    return WALL.sub("", text)


def command(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command: FLASHRIG's program, where one is named, else that of the wheel."""
    program = [os.environ["FLASHRIG"]] if os.environ.get("FLASHRIG") else [sys.executable, "-m", "flashrig"]
    return subprocess.run([*program, *words], capture_output=True, text=True, cwd=cwd, check=False)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tests leave no files behind."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
