"""Every example of docs/python.md gives what the page shows."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

pytest.importorskip("pandas")
PAGE = Path(__file__).parent.parent.parent / "docs" / "python.md"


def test_examples_are_as_shown() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 20 and failed == 0
