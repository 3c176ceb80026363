"""Examples run, and types are complete and those of the extension module."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest

import warpath
import warpath.csgraph
import warpath.plot

FOLDER = Path(__file__).parents[1]


@pytest.mark.parametrize("module", [warpath, warpath.csgraph, warpath.plot], ids=lambda module: module.__name__)
def test_examples(module: object) -> None:
    matplotlib.use("Agg")  # without a screen
    failed, attempted = doctest.testmod(module)  # type: ignore[arg-type]
    assert attempted and not failed


@pytest.mark.parametrize(
    "command",
    [
        ["mypy", "--strict", "python/warpath"],
        ["mypy.stubtest", "warpath._warpath", "--mypy-config-file", "pyproject.toml"],
        ["pyright", "--pythonpath", sys.executable, "python/warpath"],
    ],
    ids=lambda command: command[0],
)
def test_types(command: list[str], tmp_path: Path) -> None:
    pytest.importorskip(command[0].partition(".")[0])
    environment = {**os.environ, "MYPY_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=FOLDER, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
