"""The programs in the folder ``examples`` run and find what they should, and so does the notebook."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "examples"


def run(program: str, folder: Path, *arguments: str) -> str:
    """Runs a program in another folder, and returns its output."""
    command = [sys.executable, "-W", "error", str(FOLDER / program), *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def colours(picture: Path) -> int:
    """How many colours a picture has."""
    pixels = pytest.importorskip("matplotlib.image").imread(picture)
    return len(np.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0))


def test_every_program_is_tested() -> None:
    tested = Path(__file__).read_text(encoding="utf-8")
    programs = sorted(program.name for program in FOLDER.glob("*.py"))
    assert len(programs) == 5
    for program in programs:
        assert f'run("{program}"' in tested, program


def test_isochrones(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    output = run("isochrones.py", tmp_path)
    shares = [float(share) for share in re.findall(r"within +\d+ minutes: +(\d+\.\d)%", output)]
    assert len(shares) == 7 and shares == sorted(shares) and shares[0] < 5 and 95 < shares[-1] < 100
    assert colours(tmp_path / "isochrones.png") > 100
    run("isochrones.py", tmp_path, "map.svg")
    assert (tmp_path / "map.svg").read_text(encoding="utf-8").count("<path") > 2000


def test_depots(tmp_path: Path) -> None:
    output = run("depots.py", tmp_path)
    rows = [[float(number) for number in row.split()] for row in re.findall(r"^  depot +\d+((?: +\d+\.\d){8})$", output, re.M)]
    nearest = [float(number) for number in re.findall(r"^ +\d+ +\d+ +(\d+\.\d) km$", output, re.M)]
    assert len(rows) == 3 and [min(column) for column in zip(*rows)] == nearest
    assert re.search(rf"to customer \d+: {max(nearest)} km over \d+ streets", output)


def test_six_degrees(tmp_path: Path) -> None:
    output = run("six_degrees.py", tmp_path)
    (with_hubs, within), (without, fewer) = (
        map(float, found) for found in re.findall(r"on average (\d+\.\d+), (\d+\.\d+)% of all pairs are within six", output)
    )
    assert with_hubs < without and within > fewer
    (chain,) = re.findall(r"by the chain (.*)", output)
    assert 7 < len(chain.split(" - ")) < 14


def test_gene_network(tmp_path: Path) -> None:
    output = run("gene_network.py", tmp_path)
    counts = [int(count.replace(",", "")) for count in re.findall(r"^  \d\.\d\d +([\d,]+) #*$", output, re.M)]
    assert 1_900_000 < sum(counts) <= 2000 * 1999 // 2
    inside, across = re.findall(r"is (\d\.\d+) within a module and (\d\.\d+) across", output)[0]
    assert float(inside) < float(across)
    credible = [float(found) for found in re.findall(r"^  (0\.\d{4}) G\d{4} - ", output, re.M)]
    assert len(credible) == 3 and credible == sorted(credible, reverse=True)


def test_migrating(tmp_path: Path) -> None:
    # The program compares the answers itself.
    output = run("migrating.py", tmp_path)
    assert output.count("  the same: ") == 10 and "cugraph.sssp(G, source=0)" in output


def test_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("matplotlib", "ipykernel"):
        pytest.importorskip(package)
    nbclient, nbformat = (pytest.importorskip(package) for package in ("nbclient", "nbformat"))
    notebook = nbformat.read(FOLDER / "tour.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells), "the notebook is stored without outputs"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()

    def output(word: str, kind: str = "text/plain") -> str:
        """What the cell with this word shows."""
        (cell,) = (cell for cell in cells if word in cell.source)
        (shown,) = (item.data[kind] for item in cell.outputs if kind in item.get("data", {}))
        return str(shown)

    assert "[ 0,  7,  4, 12, 14]" in output("warpath.Graph(matrix") and "[ 0.,  7.,  4., 12., 14.]" in output("dijkstra(matrix")
    assert output("tree.path_to(4)").startswith("(array([0, 1, 3, 4]")
    assert output("places.shape") == "(4000, 2)"
    assert "<table>" in output("roads.table", "text/html")
    picture = tmp_path / "map.png"
    picture.write_bytes(base64.b64decode(output("isochrones(", "image/png")))
    assert colours(picture) > 100
