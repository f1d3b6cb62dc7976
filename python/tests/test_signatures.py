"""Every option of the command line is an argument of its function, and the records are what the schemas say."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Callable

import pytest

import flashrig
from flashrig import _flashrig, loads
from flashrig._options import LoadOptions

#: Options that say where the output goes, or what is only words.
OUTPUT = {"json", "csv", "tables", "plan", "image", "replay", "list_published", "help", "set"}
#: Paths that the command writes and that results write with `page`.
PAGES = {"whatif": {"out"}}


@pytest.mark.parametrize(
    "verb,functions",
    [
        ("run", [flashrig.run, flashrig.replay]),
        ("whatif", [flashrig.whatif]),
        ("lifetime", [flashrig.lifetime]),
        ("review", [flashrig.review]),
        ("fit", [flashrig.fit]),
        ("validate", [flashrig.validate]),
        ("compare", [flashrig.compare]),
        ("history", [flashrig.history]),
        ("torture", [flashrig.torture, flashrig.takeovers]),
    ],
)
def test_every_option_is_an_argument(verb: str, functions: list[Callable[..., Any]]) -> None:
    typed = {name.replace("-", "_") for name, *_ in _flashrig.options(verb) if name}
    taken = {name.rstrip("_") for function in functions for name in inspect.signature(function).parameters}
    # An option may be a function of its own.
    taken |= {function.__name__ for function in functions}
    if verb == "run":
        taken |= set(LoadOptions.__annotations__)
    missing = typed - taken - OUTPUT - PAGES.get(verb, set())
    assert not missing, f"{verb} lacks {missing}"


def test_every_argument_of_a_load_is_an_option() -> None:
    typed = {name.replace("-", "_") for name, *_ in _flashrig.options("run")}
    assert set(LoadOptions.__annotations__) <= typed
    for load in (loads.Fileio("rndwr"), loads.Redo(), loads.Slob(), loads.Oltp()):
        names = {load._prefix + name for name in vars(load) if name != "mode"}
        prefix = load._prefix or None
        of_load = {n for n in LoadOptions.__annotations__ if (n.startswith(prefix) if prefix else n in names)}
        assert names == of_load


def test_records_are_what_the_schemas_say() -> None:
    tool = Path(__file__).parent.parent / "tools" / "records.py"
    checked = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_types_hold_in_the_package_and_in_the_examples(own_folder: Path) -> None:
    mypy = pytest.importorskip("mypy.api")
    package = Path(__file__).parent.parent
    page = (package.parent / "docs" / "python.md").read_text()
    examples = [one.source for one in doctest.DocTestParser().get_examples(page) if one.exc_msg is None]
    assert len(examples) > 20
    blocks = [block.split("```")[0] for block in page.split("```python\n")[1:]]
    for i, block in enumerate(blocks):
        examples.append(f"def block{i}() -> None:\n" + textwrap.indent(block, "    "))
    (own_folder / "examples.py").write_text("".join(examples))
    settings = ["--strict", "--config-file", str(package / "pyproject.toml")]
    out, err, code = mypy.run([*settings, str(package / "flashrig"), str(own_folder / "examples.py")])
    assert code == 0, out + err
