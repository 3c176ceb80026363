"""SciPy's own tests of ``scipy.sparse.csgraph``, run on ``warpath.csgraph``.

The installed test modules are copied to a temporary folder with the names of the package replaced, and run by pytest there::

    python tests/scipy_own.py [arguments of pytest]

Exit status 0 says that nothing failed but what is expected to; where the installed SciPy has no tests, or is older than 1.18, a message says so.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import scipy

#: The modules that test what ``warpath.csgraph`` answers by itself, or passes on with a changed module behind it.
MODULES = [
    "test_shortest_path.py",
    "test_traversal.py",
    "test_conversions.py",
    "test_index_arrays_dtype.py",
    "test_pydata_sparse.py",
]

#: Tests that are expected to fail, with reasons; a name without parameters stands for all of them.
EXPECTED: dict[str, str] = {
    "test_predecessors": (
        "it wants one of two shortest paths: from 4 to 1 the edge of length 4, not the way over 3 of length 2 + 2; SciPy itself promises "
        "neither"
    ),
}

#: Run before the tests: expected failures are marked, and have to happen.
CONFTEST = """
import pytest

EXPECTED = {expected!r}


def pytest_collection_modifyitems(items):
    for item in items:
        name = item.nodeid.split("::", 1)[1]
        reason = EXPECTED.get(name) or EXPECTED.get(name.split("[")[0])
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
"""


def on_warpath(source: str) -> str:
    """The source of a test module with ``warpath.csgraph`` for ``scipy.sparse.csgraph``."""
    source = re.sub(r"\bscipy\.sparse\.csgraph\b(?!\.)", "warpath.csgraph", source)
    # The modules beside the tests are SciPy's.
    return re.sub(r"\bfrom \.\.(\w+) import\b", r"from scipy.sparse.csgraph.\1 import", source)


def main(arguments: list[str]) -> int:
    """Runs the tests; the exit status of pytest."""
    if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 18):
        print(f"skipped: results are those of SciPy 1.18, and {scipy.__version__} is installed")
        return 0
    package = importlib.util.find_spec("scipy.sparse.csgraph")
    assert package is not None and package.origin is not None
    folder = Path(package.origin).parent / "tests"
    found = [folder / name for name in MODULES if (folder / name).is_file()]
    if not found:
        print(f"skipped: SciPy {scipy.__version__} is installed without its tests")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        for path in found:
            source = on_warpath(path.read_text(encoding="utf-8"))
            assert "warpath.csgraph" in source, f"{path.name} does not import what it tests"
            (Path(temporary) / path.name).write_text(source, encoding="utf-8")
        (Path(temporary) / "conftest.py").write_text(CONFTEST.format(expected=EXPECTED), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-rxX", "-p", "no:cacheprovider", "--rootdir", temporary]
        return subprocess.run([*command, *arguments, temporary], cwd=temporary, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
