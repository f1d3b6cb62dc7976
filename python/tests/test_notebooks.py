"""The notebooks run from the first cell to the last, and draw."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("matplotlib")

pytestmark = pytest.mark.proof

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


def test_there_are_three_without_outputs() -> None:
    assert len(NOTEBOOKS) == 3
    for notebook in NOTEBOOKS:
        cells = nbformat.read(notebook, as_version=4).cells
        assert all(not cell.get("outputs") for cell in cells), f"{notebook.name}: what it shows is made when it runs"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_draws(notebook: Path, own_folder: Path) -> None:
    read = nbformat.read(notebook, as_version=4)
    nbclient.NotebookClient(read, timeout=300, kernel_name="python3", resources={"metadata": {"path": own_folder}}).execute()
    if kept := os.environ.get("KEEP_NOTEBOOKS"):
        nbformat.write(read, Path(kept, notebook.name))
    shown = [output.data for cell in read.cells for output in cell.get("outputs", []) if "data" in output]
    drawn = [len(data["image/png"]) for data in shown if "image/png" in data]
    assert len(drawn) >= 1 and min(drawn) > 10_000
    assert any("<svg" in data.get("text/html", "") or "<table" in data.get("text/html", "") for data in shown)
