"""Examples run, and types are complete and those of the extension module."""

from __future__ import annotations

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import warpath
import warpath.csgraph

FOLDER = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["warpath", "warpath.csgraph", "warpath.plot"])
def test_examples(name: str) -> None:
    if name == "warpath.plot":
        pytest.importorskip("matplotlib").use("Agg")  # without a screen
    module = importlib.import_module(name)
    failed, attempted = doctest.testmod(module)
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
