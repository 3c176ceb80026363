"""What ``warpath.csgraph`` refuses, with the exceptions of SciPy; its signatures; and answers at the edges of what it takes."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph as theirs

from warpath import csgraph as ours

FUNCTIONS = ["shortest_path", "dijkstra", "bellman_ford", "johnson", "floyd_warshall"]
WITH_INDICES = [name for name in FUNCTIONS if name != "floyd_warshall"]
SQUARE = np.array([[0.0, 1.0, 4.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
CYCLE = np.array([[0.0, -1.0], [-1.0, 0.0]])


class NoNumber:
    """An object that is no number. Its name in the list of tests is the same in every process, as running in parallel needs."""

    def __repr__(self) -> str:
        return "NoNumber()"


def outcome(module: Any, function: str, *arguments: Any, **options: Any) -> Any:
    """The type of the exception, or the answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return getattr(module, function)(*arguments, **options)
        except Exception as error:  # noqa: BLE001 - its type is compared
            return type(error)


def compare(function: str, *arguments: Any, **options: Any) -> Any:
    """The outcome, which is that of SciPy."""
    found = outcome(ours, function, *arguments, **options)
    wanted = outcome(theirs, function, *arguments, **options)
    if isinstance(wanted, type):
        assert found is wanted, (found, wanted)
    else:
        np.testing.assert_allclose(found, wanted)
    return found


@pytest.mark.parametrize("name", ours.__all__)
def test_signatures_are_those_of_scipy(name: str) -> None:
    found, wanted = (inspect.signature(getattr(module, name)).parameters for module in (ours, theirs))
    extra = {"dtype"} if name in FUNCTIONS else set()
    assert [*found] == [*wanted, *extra]
    for parameter in wanted:
        assert found[parameter].kind == wanted[parameter].kind
        assert found[parameter].default == wanted[parameter].default or parameter == "limit"
    for parameter in extra:
        assert found[parameter].kind == inspect.Parameter.KEYWORD_ONLY and found[parameter].default is None


def test_names_are_those_of_scipy() -> None:
    assert set(theirs.__all__) <= set(ours.__all__) == set(dir(ours))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "graph",
    [
        np.zeros((2, 3)),
        np.zeros(3),
        np.zeros((2, 2, 2)),
        np.float64(1),
        np.array([["a", "b"], ["c", "d"]]),
        np.array([[NoNumber(), 1], [1, 1]]),
        np.ma.zeros((2, 3)),
        sp.csr_array((2, 3)),
        sp.csc_array((3, 2)),
        sp.coo_array(np.zeros(3)),
    ],
    ids=repr,
)
def test_graphs_that_are_none(function: str, graph: Any) -> None:
    assert issubclass(compare(function, graph), Exception)


@pytest.mark.parametrize("function", ["dijkstra", "bellman_ford", "johnson", "floyd_warshall"])
@pytest.mark.parametrize("graph", [None, "graph", [], [1, 2], [[1, 2], [3]], {}, 3], ids=repr)
def test_objects_that_are_no_graphs(function: str, graph: Any) -> None:
    assert issubclass(compare(function, graph), Exception)


@pytest.mark.parametrize("function", WITH_INDICES)
@pytest.mark.parametrize(
    "indices", [3, -4, [0, 3], [[0], [-4]], 2**40, "a", [None], [[0], [0, 1]], NoNumber(), np.nan, [1j]], ids=repr
)
def test_sources_that_are_none(function: str, indices: Any) -> None:
    assert issubclass(compare(function, SQUARE, indices=indices), Exception)


@pytest.mark.parametrize("function", WITH_INDICES)
@pytest.mark.parametrize("indices", [[], -1, "1", 1.7, [True, False], np.uint8(2), np.array([[0, 1], [2, 2]])], ids=repr)
def test_sources_that_numpy_converts(function: str, indices: Any) -> None:
    assert not isinstance(compare(function, SQUARE, indices=indices), type)


@pytest.mark.parametrize("limit", [-1, -1e-300, -np.inf, "1", None, [1, 2], 1j], ids=repr)
def test_limits_that_are_none(limit: Any) -> None:
    assert issubclass(compare("dijkstra", SQUARE, limit=limit), Exception)


@pytest.mark.parametrize("min_only", [False, True])
@pytest.mark.parametrize("limit", [np.nan, -0.0, 1, True, np.float32(1), 10**400 // 10**390], ids=repr)
def test_limits_that_are_numbers(limit: Any, min_only: bool) -> None:
    zero = sp.csr_array(([0.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    assert not isinstance(compare("dijkstra", zero, indices=[0], limit=limit, min_only=min_only), type)


@pytest.mark.parametrize("method", ["", "d", "X", None, 1, []], ids=repr)
def test_methods_that_are_none(method: Any) -> None:
    assert compare("shortest_path", SQUARE, method=method) is ValueError


def test_floyd_warshall_has_no_sources() -> None:
    assert compare("shortest_path", SQUARE, method="FW", indices=0) is ValueError
    assert compare("floyd_warshall", SQUARE, indices=0) is TypeError


@pytest.mark.parametrize("function", ["bellman_ford", "johnson", "floyd_warshall"])
@pytest.mark.parametrize("directed", [True, False])
def test_negative_cycles(function: str, directed: bool) -> None:
    assert compare(function, CYCLE, directed=directed) is theirs.NegativeCycleError
    assert not isinstance(compare(function, CYCLE, directed=directed, unweighted=True), type)
    # SciPy's dijkstra may not end.
    with pytest.raises(theirs.NegativeCycleError):
        ours.dijkstra(CYCLE, directed=directed)


def test_negative_cycles_that_no_source_reaches() -> None:
    graph = sp.csr_array(([1.0, -1.0, -1.0], ([0, 2, 3], [1, 3, 2])), shape=(4, 4))
    for method, error in [("BF", False), ("J", True), ("auto", True)]:
        found = compare("shortest_path", graph, method=method, indices=[0, 1])
        assert (found is theirs.NegativeCycleError) == error
    np.testing.assert_array_equal(outcome(ours, "dijkstra", graph, indices=0, min_only=True), [0, 1, np.inf, np.inf])


@pytest.mark.parametrize("function", ["bellman_ford", "johnson", "floyd_warshall"])
@pytest.mark.parametrize("directed", [True, False])
def test_loops_below_zero(function: str, directed: bool) -> None:
    compare(function, np.array([[-1.0, 2.0], [0.0, 0.0]]), directed=directed)


def test_cycles_of_rounding() -> None:
    graph = sp.csr_array(([0.3, -0.1, -0.2], ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
    assert compare("floyd_warshall", graph) is theirs.NegativeCycleError
    expected = theirs.johnson(graph)
    for function in ("dijkstra", "bellman_ford", "johnson"):
        np.testing.assert_allclose(outcome(ours, function, graph), expected, atol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("unweighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_stored_entries_that_are_no_numbers(function: str, unweighted: bool, directed: bool) -> None:
    for odd in (np.inf, np.nan, -np.inf, 1e308):
        graph = sp.csr_array(([odd, 2.0, odd, 3.0], ([0, 1, 2, 0], [1, 2, 3, 3])), shape=(5, 5))
        if odd == -np.inf and not directed and not unweighted and function == "dijkstra":
            # A negative cycle, of which SciPy's does not come to an end.
            continue
        compare(function, graph, unweighted=unweighted, directed=directed)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int32, np.float32, np.float64])
def test_entries_for_the_same_place(function: str, dtype: Any) -> None:
    for data in ([0, 1], [1, 0], [1, 1]):
        for form in (sp.csr_array, sp.csc_array):
            graph = form((np.array(data, dtype=dtype), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
            for directed in (True, False):
                compare(function, graph, directed=directed)
                assert graph.nnz == 2


@pytest.mark.parametrize("function", FUNCTIONS)
def test_zeros_of_masked_arrays(function: str) -> None:
    dense = np.array([[0.0, 0.0, 4.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for mask in (dense == 7, [[True, False, True], [True, True, False], [True, True, True]]):
        compare(function, np.ma.array(dense, mask=mask))
    # Some of SciPy's do not take it.
    whole = getattr(ours, function)(np.ma.array(dense))
    np.testing.assert_array_equal(whole, getattr(ours, function)(np.ma.array(dense, mask=dense == 7)))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_complex_weights_lose_their_second_half(function: str) -> None:
    for graph in (SQUARE + 1j, sp.csr_array(SQUARE + 0j)):
        with pytest.warns(np.exceptions.ComplexWarning):
            found = getattr(ours, function)(graph)
        compare(function, graph)
        assert found.dtype == np.float64


def test_warning_of_weights_below_zero() -> None:
    graph = np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 0.0], [0.0, -2.0, 0.0]])
    for options in ({}, {"unweighted": True}, {"min_only": True}, {"limit": 2}):
        with pytest.warns(UserWarning, match="Graph has negative weights") as caught:
            ours.dijkstra(graph, indices=0, **options)
        assert len(caught) == 1
    np.testing.assert_array_equal(outcome(ours, "dijkstra", graph, indices=0), [0, 1, 3])


def test_overwrite() -> None:
    for options in ({}, {"directed": False}, {"return_predecessors": True}):
        graph, same = SQUARE.copy(), SQUARE.copy()
        found = ours.floyd_warshall(graph, overwrite=True, **options)
        wanted = theirs.floyd_warshall(same, overwrite=True, **options)
        np.testing.assert_array_equal(graph, same)
        if options.get("return_predecessors"):
            found, wanted = found[0], wanted[0]
        assert np.shares_memory(found, graph) and np.shares_memory(wanted, same)
    for graph in (SQUARE.copy(), SQUARE.astype(int), np.asfortranarray(SQUARE), sp.csr_array(SQUARE)):
        before = graph.copy()
        ours.shortest_path(graph, method="D", overwrite=True)
        ours.floyd_warshall(graph)
        assert (graph != before).sum() == 0


def test_arguments_are_left_as_they_are() -> None:
    for form in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok"):
        graph = sp.csr_array(SQUARE).asformat(form)
        before, indices = graph.toarray().copy(), np.array([-1, 0])
        for function in FUNCTIONS:
            getattr(ours, function)(graph)
            getattr(ours, function)(graph, directed=False)
        ours.dijkstra(graph, indices=indices)
        np.testing.assert_array_equal(graph.toarray(), before)
        np.testing.assert_array_equal(indices, [-1, 0])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_types_of_distances(function: str) -> None:
    answer = getattr(ours, function)
    for dtype in (None, float, "float64", np.float64, np.dtype("float64")):
        assert answer(SQUARE, dtype=dtype).dtype == np.float64
    for dtype in ("int16", "uint32", bool, "complex128", object, "longdouble", "no type"):
        with pytest.raises(TypeError):
            answer(SQUARE, dtype=dtype)
    for graph in (SQUARE / 3, -SQUARE):
        with pytest.raises(ValueError, match="distances of dtype int32"), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            answer(graph, dtype="int32")
    with pytest.raises(OverflowError):
        answer(SQUARE * 2.0**31, dtype="int32")
    with pytest.raises(OverflowError):
        answer(SQUARE * 2.0**60, dtype="int64")
    with pytest.raises(OverflowError):
        answer(SQUARE * 2.0**200, dtype="float32")


def test_narrow_distances_of_many_blocks() -> None:
    rng = np.random.default_rng(3)
    graph = sp.random_array((3000, 3000), density=0.002, rng=rng, data_sampler=lambda size: rng.integers(1, 99, size))
    wide, trees = ours.dijkstra(graph, return_predecessors=True)
    for dtype in ("int32", "int64", "float32"):
        expected = wide if dtype == "float32" else np.where(np.isinf(wide), -1, wide)
        np.testing.assert_array_equal(ours.dijkstra(graph, dtype=dtype), expected.astype(dtype))
        found = ours.dijkstra(graph, return_predecessors=True, dtype=dtype)
        np.testing.assert_array_equal(found[0], expected.astype(dtype))
        assert ((found[1] == -9999) == (trees == -9999)).all()


def test_sums_of_integers_are_those_of_floats() -> None:
    count = 2000
    path = sp.csr_array((np.full(count - 1, 2**32 - 1, dtype=np.uint32), (np.arange(count - 1), np.arange(1, count))), shape=(count, count))
    for graph in (path, path.astype(np.int64), path.astype(np.float64)):
        found = ours.dijkstra(graph, indices=0)
        assert (found == theirs.dijkstra(graph, indices=0)).all() and found[-1] == (count - 1) * (2**32 - 1)
        assert (ours.dijkstra(graph, indices=0, dtype="int64") == found).all()
        limit = 2.0**40 + 0.5
        np.testing.assert_array_equal(
            ours.dijkstra(graph, indices=0, limit=limit), theirs.dijkstra(graph, indices=0, limit=limit)
        )


def test_rounding_of_undirected_sums_is_no_cycle() -> None:
    rng = np.random.default_rng(1)
    graph = sp.random_array((40, 40), density=0.05, rng=rng, data_sampler=lambda size: rng.uniform(1, 100, size))
    # SciPy's own bellman_ford takes it for one.
    found = ours.bellman_ford(graph, directed=False)
    np.testing.assert_allclose(found, theirs.dijkstra(graph, directed=False))
