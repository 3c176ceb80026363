"""``warpath.csgraph`` against SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph as theirs

from warpath import csgraph as ours


def matrices():
    rng = np.random.default_rng(5)
    for dtype in (np.int32, np.int64, np.float32, np.float64, bool):
        for n, density in ((1, 0.0), (2, 1.0), (30, 0.05), (60, 0.1), (40, 0.0)):
            matrix = sp.random_array((n, n), density=density, rng=rng, data_sampler=lambda size: rng.integers(1, 9, size))
            yield matrix.tocsr().astype(dtype)
    halves = sp.random_array((50, 50), density=0.1, rng=rng).tocsr()
    yield halves
    zeros = halves.copy()
    zeros.data[::3] = 0
    yield zeros
    yield halves.toarray()
    yield halves.tocoo()
    yield halves.tocsc()


def check_predecessors(distances, predecessors, matrix, sources, directed, unweighted):
    dense = theirs.csgraph_to_dense(sp.csr_array(matrix).astype(float), null_value=np.inf)
    if unweighted:
        dense = np.where(np.isfinite(dense), 1.0, np.inf)
    if not directed:
        dense = np.minimum(dense, dense.T)
    for row, source in enumerate(sources):
        for v, before in enumerate(predecessors[row]):
            if v == source or not np.isfinite(distances[row, v]):
                assert before == -9999
            else:
                assert np.isclose(distances[row, before] + dense[before, v], distances[row, v])


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("unweighted", [True, False])
def test_distances_are_those_of_scipy(directed, unweighted):
    for matrix in matrices():
        n = matrix.shape[0]
        options = {"directed": directed, "unweighted": unweighted}
        expected = theirs.shortest_path(matrix, method="D", **options)
        for function in (ours.shortest_path, ours.dijkstra, ours.bellman_ford, ours.johnson, ours.floyd_warshall):
            found, predecessors = function(matrix, return_predecessors=True, **options)
            assert found.dtype == np.float64 and predecessors.dtype == np.int32
            np.testing.assert_allclose(found, expected)
            check_predecessors(found, predecessors, matrix, range(n), directed, unweighted)
        for indices in (0, [0], [n - 1, 0, 0], -1):
            found = ours.dijkstra(matrix, indices=indices, **options)
            wanted = theirs.dijkstra(matrix, indices=indices, **options)
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted)
        for limit in (0, 1, 2.5):
            found = ours.dijkstra(matrix, limit=limit, **options)
            np.testing.assert_allclose(found, theirs.dijkstra(matrix, limit=limit, **options))


def test_nearest_of_several():
    rng = np.random.default_rng(6)
    matrix = sp.random_array((80, 80), density=0.03, rng=rng).tocsr()
    found = ours.dijkstra(matrix, indices=[3, 7, 70], min_only=True, return_predecessors=True)
    wanted = theirs.dijkstra(matrix, indices=[3, 7, 70], min_only=True, return_predecessors=True)
    np.testing.assert_allclose(found[0], wanted[0])
    np.testing.assert_array_equal(found[2], wanted[2])


def test_errors_are_those_of_scipy():
    cycle = sp.csr_array([[0, -1.0], [-1.0, 0]])
    for name in ("bellman_ford", "johnson"):
        with pytest.raises(theirs.NegativeCycleError):
            getattr(ours, name)(cycle)
    for arguments in ({"indices": 9}, {"limit": -1}):
        for module in (ours, theirs):
            with pytest.raises(ValueError):
                module.dijkstra(sp.csr_array((3, 3)), **arguments)
    for module in (ours, theirs):
        with pytest.raises(ValueError):
            module.dijkstra(sp.csr_array((3, 4)))
        with pytest.raises(ValueError):
            module.shortest_path(sp.csr_array((3, 3)), method="X")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("unweighted", [True, False])
def test_entries_with_gaps_between_them(dtype, unweighted):
    data = np.array([5, -1, 7, -1, 2, -1], dtype=dtype)[::2]
    matrix = sp.csr_array((data, np.array([1, 2, 0]), np.array([0, 1, 2, 3])), shape=(3, 3))
    found = ours.dijkstra(matrix, indices=0, unweighted=unweighted)
    np.testing.assert_array_equal(found, theirs.dijkstra(matrix, indices=0, unweighted=unweighted))


def test_loops_below_0_beside_no_number():
    data = np.array([np.nan, -1.0, 2.0])
    matrix = sp.csr_array((data, np.array([1, 1, 2]), np.array([0, 1, 3, 3])), shape=(3, 3))
    np.testing.assert_array_equal(ours.floyd_warshall(matrix), theirs.floyd_warshall(matrix))


def test_an_arc_and_its_reverse_are_one_edge():
    matrix = sp.csr_array(np.array([[0.0, 5.0], [9.0, 0.0]]))
    for source in (0, 1):
        found = ours.dijkstra(matrix, directed=False, indices=source)
        np.testing.assert_array_equal(found, theirs.dijkstra(matrix, directed=False, indices=source))
