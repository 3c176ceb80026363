"""NetworkX's own tests, with Warpath as their backend.

    python networkx_own.py                      the tests of the functions that are served
    python networkx_own.py --without-fallback   the same, where a test ends at the first function that is not served
    python networkx_own.py --all                every test of NetworkX

A test that is expected to fail is listed in ``EXPECTED_FAILURES``, with the reason. Afterwards a table shows how many calls of each
function were answered by Warpath and how many were left to NetworkX, and why. It is an error if a function that is served was never
answered, or was left to NetworkX for a reason that is not listed in ``EXPECTED_REASONS``: a fallback would hide both. Without
fallback most tests end at a function that only prepares their graphs.
"""

from __future__ import annotations

import argparse
import collections
import importlib.metadata
import os
import sys
from collections.abc import Callable
from typing import Any

#: The modules with the tests of functions that are served.
MODULES = [
    "networkx.algorithms.shortest_paths",
    "networkx.algorithms.traversal",
    "networkx.algorithms.tests.test_dag",
    "networkx.algorithms.tests.test_distance_measures",
    "networkx.algorithms.tests.test_wiener",
    "networkx.algorithms.centrality.tests.test_betweenness_centrality",
    "networkx.algorithms.centrality.tests.test_betweenness_centrality_subset",
    "networkx.algorithms.centrality.tests.test_closeness_centrality",
    "networkx.algorithms.centrality.tests.test_harmonic_centrality",
]

_ANOTHER_PATH = "the cycles are made of one of several shortest paths, and Warpath finds another one"

#: Tests that fail, by the end of their names, and why.
EXPECTED_FAILURES: dict[str, str] = {
    "test_cycles.py::TestMinimumCycleBasis::test_unweighted_diamond": _ANOTHER_PATH,
    "test_cycles.py::TestMinimumCycleBasis::test_weighted_diamond": _ANOTHER_PATH,
    "test_cycles.py::TestMinimumCycleBasis::test_petersen_graph": _ANOTHER_PATH,
    "test_cycles.py::TestMinimumCycleBasis::test_gh6787_and_edge_attribute_names": _ANOTHER_PATH,
    "::test_equivalence_non_subset": "it wants the same last digits of two functions, of which one is NetworkX's own",
}

#: Functions that are served and that none of these tests calls, and why.
NEVER_CALLED = {"floyd_warshall": "NetworkX tests it by floyd_warshall_predecessor_and_distance, of which it is a part"}

#: Why calls of functions that are served are left to NetworkX.
EXPECTED_REASONS = {
    "weight is a function",
    "there is a heuristic",
    "sp is known, and nothing is left to search",
    "bounds save most of the searches",
    "the center of a tree is found without distances",
    "parallel edges were not kept",
    "the attribute 'weight' of edges has values below 0",
    "values of the attribute 'weight' are not finite, or their sums may not be",
}


def mark_expected(items: list[Any]) -> None:
    """Marks the tests that are expected to fail: the hook ``on_start_tests`` that NetworkX has for backends."""
    import pytest

    for item in items:
        for name, reason in EXPECTED_FAILURES.items():
            if item.nodeid.endswith(name):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


class Recorder:
    """Counts the calls of every function that is served."""

    def __init__(self) -> None:
        self.answered: collections.Counter[str] = collections.Counter()
        self.left: collections.defaultdict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)

    def watch(self, backend: Any, served: list[str]) -> None:
        """Puts a count around every function of the backend, and around what it says about calls."""
        for name in served:
            vars(backend)[name] = self._counted(name, getattr(backend, name))
        can_run, convert = backend.can_run, backend.convert_from_nx

        def asked(name: str, args: Any, kwargs: Any) -> bool | str:
            answer: bool | str = can_run(name, args, kwargs)
            if answer is not True:
                self.left[name][str(answer)] += 1
            return answer

        def converted(*args: Any, **kwargs: Any) -> Any:
            try:
                return convert(*args, **kwargs)
            except NotImplementedError as error:
                self.left[kwargs["name"]][str(error)] += 1
                raise

        vars(backend).update(can_run=asked, convert_from_nx=converted)

    def _counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            try:
                result = function(*args, **kwargs)
            except NotImplementedError as error:
                self.left[name][str(error)] += 1
                raise
            except Exception:
                self.answered[name] += 1
                raise
            self.answered[name] += 1
            return result

        return counted

    def table(self, served: list[str]) -> str:
        """The counts as text."""
        lines = [f"{'function':<44} answered  left to NetworkX"]
        for name in served:
            reasons = ", ".join(f"{count} x {reason}" for reason, count in self.left[name].most_common())
            lines.append(f"{name:<44} {self.answered[name]:>8}  {sum(self.left[name].values()):>6}  {reasons}")
        return "\n".join(lines)

    def hidden(self, served: list[str], *, all_called: bool) -> list[str]:
        """What a fallback hid: functions without an answer, if all of them are called, and reasons that nobody expects."""
        never = [name for name in served if all_called and not self.answered[name] and name not in NEVER_CALLED]
        reasons = {reason for each in self.left.values() for reason in each} - EXPECTED_REASONS
        return [f"never answered: {name}" for name in never] + [f"left to NetworkX: {reason}" for reason in sorted(reasons)]


def main(arguments: list[str]) -> int:
    """Runs the tests; the exit status is 0 if all passed that should."""
    parser = argparse.ArgumentParser(description="NetworkX's own tests, with Warpath as their backend")
    parser.add_argument("--all", action="store_true", help="every test of NetworkX")
    parser.add_argument("--without-fallback", action="store_true", help="do not let NetworkX answer what is not served")
    parser.add_argument("pytest", nargs="*", help="other arguments for pytest, after --")
    options = parser.parse_args(arguments)

    version = importlib.metadata.version("networkx")
    if tuple(map(int, version.split(".")[:2])) < (3, 7):
        print(f"skipped: results are those of NetworkX 3.7, and {version} is installed")
        return 0
    # NetworkX reads them when it is imported, and when pytest starts.
    os.environ["NETWORKX_TEST_BACKEND"] = "warpath"
    if options.without_fallback:
        os.environ.pop("NETWORKX_FALLBACK_TO_NX", None)
    else:
        os.environ["NETWORKX_FALLBACK_TO_NX"] = "true"

    import pytest

    from warpath._networkx_info import SERVED
    from warpath.networkx import backend

    recorder, served = Recorder(), list(SERVED)
    recorder.watch(backend, served)
    vars(backend)["on_start_tests"] = mark_expected
    modules = ["networkx"] if options.all else MODULES
    status = pytest.main(["-q", "-p", "no:cacheprovider", *options.pytest, "--pyargs", *modules])
    print(recorder.table(served))
    hidden = recorder.hidden(served, all_called=not options.without_fallback)
    if hidden:
        print("\n".join(hidden))
        return 1
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
