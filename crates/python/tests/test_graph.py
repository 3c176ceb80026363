"""Answers against SciPy, and what arrays look like."""

import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

import warpath


def random_matrix(rng, n, arcs, dtype):
    rows, columns = rng.integers(0, n, arcs), rng.integers(0, n, arcs)
    data = rng.integers(1, 100, arcs).astype(dtype)
    matrix = sp.coo_matrix((data, (rows, columns)), shape=(n, n))
    # SciPy adds parallel entries up; keep one of each.
    keys = rows.astype(np.int64) * n + columns
    _, first = np.unique(keys, return_index=True)
    return sp.coo_matrix((data[first], (rows[first], columns[first])), shape=(n, n)).tocsr(), matrix


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("directed", [True, False])
def test_distances_are_those_of_scipy(dtype, index, directed):
    rng = np.random.default_rng(1)
    matrix, _ = random_matrix(rng, 200, 900, dtype)
    graph = warpath.Graph.from_csr(
        matrix.indptr.astype(index), matrix.indices.astype(index), matrix.data, directed=directed
    )
    expected = dijkstra(matrix, directed=directed)
    found = graph.apsp()
    found.verify()
    distances = found.distances.astype(np.float64)
    if found.distances.dtype.kind == "i":
        distances[found.distances == -1] = np.inf
    np.testing.assert_allclose(distances, expected)
    for source in range(0, 200, 17):
        tree = graph.sssp(source)
        tree.verify()
        np.testing.assert_array_equal(tree.distances, found.distances[source])
        for target in range(0, 200, 31):
            path = tree.path_to(target)
            assert (path is None) == np.isinf(expected[source, target])
            if path is not None:
                assert path[0] == source and path[-1] == target


def test_unsorted_rows_and_parallel_entries_take_the_least():
    graph = warpath.Graph.from_csr([0, 3, 3, 3], [2, 1, 2], [9, 4, 3])
    assert graph.arcs == 2
    np.testing.assert_array_equal(graph.sssp(0).distances, [0, 4, 3])


def test_arrays_are_views_that_nobody_writes():
    graph = warpath.Graph.from_edges([0, 1], [1, 2], vertices=4)
    tree = graph.bfs(0)
    first, second = tree.distances, tree.distances
    assert first.dtype == np.int32 and np.shares_memory(first, second)
    np.testing.assert_array_equal(first, [0, 1, 2, -1])
    np.testing.assert_array_equal(tree.predecessors, [-1, 0, 1, -1])
    with pytest.raises(ValueError):
        first[0] = 1
    del tree, graph, second
    np.testing.assert_array_equal(first, [0, 1, 2, -1])


def test_distances_beyond_31_bits_are_wider():
    graph = warpath.Graph.from_edges([0, 1], [1, 2], [2**31, 2**32 - 5], vertices=4)
    distances = graph.sssp(0).distances
    assert distances.dtype == np.int64
    np.testing.assert_array_equal(distances, [0, 2**31, 2**31 + 2**32 - 5, -1])
    near = warpath.Graph.from_edges([0], [1], [2**31], vertices=3).sssp(0).distances
    np.testing.assert_array_equal(near, [0, 2**31, -1])


def test_negative_weights():
    graph = warpath.Graph.from_edges([0, 1], [1, 2], [-3, 2], vertices=4)
    distances = graph.sssp(0).distances
    assert distances.dtype == np.int64
    np.testing.assert_array_equal(distances, [0, -3, -1, np.iinfo(np.int64).max])
    cycle = warpath.Graph.from_edges([0, 1], [1, 0], [-3, 2])
    with pytest.raises(warpath.NegativeCycleError):
        cycle.sssp(0)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (([0], [1, 2]), ValueError, "1 tails and 2 heads"),
        (([0], [-1]), ValueError, "heads: -1 is out of range"),
        (([0.5], [1]), TypeError, "integers are wanted"),
        (([0], [1], [np.nan]), ValueError, "not a number to add up"),
        (([0], [1], [1, 2]), ValueError, "2 weights for 1 edges"),
        (([0], [1], [2**40]), ValueError, "32 bits"),
        (([0], [1], ["a"]), TypeError, "numbers are wanted"),
        (([[0]], [1]), ValueError, "one dimension"),
    ],
)
def test_bad_edges_are_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        warpath.Graph.from_edges(*arguments)


def test_bad_rows_are_errors():
    for indptr, indices in [([0, 2], [0]), ([1, 1], []), ([0, 1, 0], [0]), ([], []), ([0, 1], [7])]:
        for directed in (True, False):
            with pytest.raises(ValueError):
                warpath.Graph.from_csr(indptr, indices, directed=directed)


def test_bad_requests_are_errors():
    graph = warpath.Graph.from_edges([0], [1])
    with pytest.raises(ValueError):
        graph.sssp(2)
    with pytest.raises(IndexError):
        graph.sssp(0).path_to(2)
    with pytest.raises(ValueError, match="no algorithm"):
        graph.sssp(0, algorithm="guess")
    with pytest.raises(FileNotFoundError):
        warpath.Graph.read("/no/such/file.gr")


def test_threads_ask_at_once():
    rng = np.random.default_rng(2)
    matrix, _ = random_matrix(rng, 30_000, 120_000, np.int32)
    graph = warpath.Graph.from_csr(matrix.indptr, matrix.indices, matrix.data)
    expected = [graph.sssp(source).distances for source in range(8)]
    failed = []

    def ask(source):
        for _ in range(5):
            if not np.array_equal(graph.sssp(source).distances, expected[source]):
                failed.append(source)

    threads = [threading.Thread(target=ask, args=(source,)) for source in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failed


def test_coordinates_of_generated_graphs() -> None:
    places = warpath.generated_coordinates("roads:5000,seed=3")
    assert places is not None
    graph = warpath.generate("roads:5000,seed=3")
    assert places.shape == (graph.vertices, 2) and np.isfinite(places).all()
    # Roads lead to what is near: edges are short beside the extent of the network.
    tails, heads = graph.edges()
    lengths = np.hypot(*(places[tails] - places[heads]).T)
    extent = np.ptp(places, axis=0).max()
    assert 0 < lengths.max() < 0.2 * extent
    assert warpath.generated_coordinates("kron:5") is None
    with pytest.raises(ValueError, match="generator"):
        warpath.generated_coordinates("nothing:5")


def test_coordinates_of_files(tmp_path: Path) -> None:
    graph = warpath.Graph.from_edges([0, 1], [1, 2])
    file = tmp_path / "places.csv"
    file.write_text("0,8.5,47.4\n2,-1,2.25\n77,1,1\n")
    np.testing.assert_array_equal(graph.read_coordinates(file), [[8.5, 47.4], [np.nan, np.nan], [-1, 2.25]])
    file.write_text("0,8.5,north\n")
    with pytest.raises(ValueError, match="places.csv"):
        graph.read_coordinates(file)
    with pytest.raises(FileNotFoundError):
        graph.read_coordinates(tmp_path / "absent.co")
