"""``warpath.csgraph`` against SciPy, on graphs of all forms, types of numbers and signs of weights that Hypothesis thinks up."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph as theirs

from warpath import csgraph as ours

pytestmark = pytest.mark.skipif(
    tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 18),
    reason="results are those of SciPy 1.18: older ones have other edges where entries are zeros, and other errors",
)

# The same graphs in each run, on machines of any speed.
SETTINGS = settings(
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)

FUNCTIONS = ["shortest_path", "dijkstra", "bellman_ford", "johnson", "floyd_warshall"]
FORMS = ["array", "masked", "list", "csr", "csr_matrix", "csr64", "repeated", "csc", "coo", "lil", "dok", "bsr", "dia"]
#: Types of numbers, and the kinds of weights that they have.
DTYPES = {
    "bool": ["whole"],
    "int8": ["whole", "negative"],
    "uint8": ["whole"],
    "int16": ["whole", "negative"],
    "int32": ["whole", "negative"],
    "uint32": ["whole", "large"],
    "int64": ["whole", "large", "huge", "negative"],
    "uint64": ["whole", "large", "huge"],
    "float16": ["whole", "eighths"],
    "float32": ["whole", "eighths", "negative"],
    "float64": ["whole", "large", "huge", "eighths", "negative"],
    "longdouble": ["whole", "huge", "eighths", "negative"],
}
WEIGHTS = {
    "whole": st.integers(0, 9),
    # Near the greatest ones that are added up as integers.
    "large": st.integers(2**32 - 3, 2**32 - 1) | st.integers(0, 2**32 - 1),
    "huge": st.integers(2**32 - 2, 2**32 + 2) | st.integers(0, 2**53),
    "eighths": st.integers(0, 40).map(lambda value: value / 8),
    "negative": st.integers(-2, 20),
}


@dataclass
class Case:
    """A graph in some form, and whether its edges have a direction."""

    graph: Any
    form: str
    directed: bool

    def edges(self) -> dict[tuple[int, int], float]:
        """The least weight of each edge, as SciPy reads the graph."""
        if sp.issparse(self.graph):
            matrix = self.graph.tocsr(copy=True)
            if self.form == "bsr":
                matrix.eliminate_zeros()
        elif np.ma.isMaskedArray(self.graph):
            matrix = theirs.csgraph_from_masked(self.graph)
        else:
            matrix = theirs.csgraph_from_dense(self.graph)
        coo = matrix.tocoo()
        least: dict[tuple[int, int], float] = {}
        for i, j, weight in zip(coo.row.tolist(), coo.col.tolist(), coo.data.astype(float).tolist()):
            for edge in [(i, j)] if self.directed else [(i, j), (j, i)]:
                least[edge] = min(weight, least.get(edge, np.inf))
        return least


def in_form(form: str, places: list[tuple[int, int]], weights: np.ndarray, count: int) -> Any:
    """A graph of these entries; those for a place that has one already are left out unless the form repeats them."""
    if form == "repeated":
        order = np.argsort([i for i, _ in places], kind="stable")
        indptr = np.searchsorted(np.sort([i for i, _ in places]), np.arange(count + 1))
        indices = np.array([j for _, j in places], dtype=np.int32)[order]
        return sp.csr_array((weights[order], indices, indptr.astype(np.int32)), shape=(count, count))
    first = {place: number for number, place in reversed(list(enumerate(places)))}
    chosen = list(first.values())
    rows = np.array([places[number][0] for number in chosen], dtype=np.int64)
    columns = np.array([places[number][1] for number in chosen], dtype=np.int64)
    weights = weights[chosen]
    if form in ("array", "list", "masked"):
        dense = np.zeros((count, count), dtype=weights.dtype)
        dense[rows, columns] = weights
        if form == "masked":
            mask = np.ones((count, count), dtype=bool)
            mask[rows, columns] = False
            return np.ma.array(dense, mask=mask)
        return dense.tolist() if form == "list" else dense
    coo = sp.coo_array((weights, (rows, columns)), shape=(count, count))
    if form == "csr_matrix":
        return sp.csr_matrix(coo)
    if form == "csr64":
        csr = coo.tocsr()
        csr.indptr, csr.indices = csr.indptr.astype(np.int64), csr.indices.astype(np.int64)
        return csr
    return coo.asformat(form)


@st.composite
def cases(draw: st.DrawFn, kinds: tuple[str, ...] = tuple(WEIGHTS)) -> Case:
    count = draw(st.integers(0, 9))
    dtype = draw(st.sampled_from([name for name, has in DTYPES.items() if set(has) & set(kinds)]))
    kind = draw(st.sampled_from([kind for kind in DTYPES[dtype] if kind in kinds]))
    form = draw(st.sampled_from(FORMS))
    if form in ("csr_matrix", "csr64", "repeated", "csr", "csc", "coo", "lil", "dok", "bsr", "dia") and dtype == "float16":
        # No sparse array has them.
        dtype = "float32"
    if form == "repeated":
        # Entries of other types are added up by some of SciPy's functions.
        dtype = "float64"
    if form == "list" and count == 0:
        # No array of two dimensions.
        form = "array"
    vertex = st.integers(0, max(0, count - 1))
    entries = draw(st.lists(st.tuples(vertex, vertex, WEIGHTS[kind]), max_size=3 * count if count else 0))
    weights = np.array([weight for _, _, weight in entries], dtype=dtype)
    graph = in_form(form, [(i, j) for i, j, _ in entries], weights, count)
    return Case(graph, form, draw(st.booleans()))


def asked(module: Any, function: str, case: Case, **options: Any) -> Any:
    """The answer, or the exception."""
    graph = case.graph
    if module is theirs and function in ("shortest_path", "floyd_warshall"):
        # SciPy's Floyd-Warshall takes three sparse formats only, and `shortest_path` no lists.
        if case.form in ("bsr", "coo", "dok", "dia"):
            graph = graph.tocsr(copy=True)
            if case.form == "bsr":
                graph.eliminate_zeros()
        elif case.form == "list":
            graph = np.asarray(graph)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Graph has negative weights")
        try:
            return getattr(module, function)(graph, directed=case.directed, **options)
        except Exception as error:  # noqa: BLE001 - its type is compared
            return error


def compare(case: Case, found: Any, wanted: Any) -> None:
    """Distances are equal, or exceptions of one type."""
    if isinstance(found, Exception) or isinstance(wanted, Exception):
        assert type(found) is type(wanted), (found, wanted)
        return
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def walk(case: Case, distances: np.ndarray, before: np.ndarray, sources: np.ndarray, unweighted: bool) -> None:
    """Each row of predecessors leads back to its source, along edges that add up to the distances."""
    edges = case.edges()
    assert before.dtype == np.int32 and before.shape == distances.shape
    count = distances.shape[-1]
    shape = (sources.size, count)
    for source, row, tree in zip(sources, distances.reshape(shape), before.reshape(shape)):
        assert tree[source] == -9999
        for vertex in range(count):
            if not np.isfinite(row[vertex]):
                assert tree[vertex] == -9999
                continue
            length, at, steps = 0.0, vertex, 0
            while tree[at] != -9999:
                edge = (int(tree[at]), int(at))
                length += 1.0 if unweighted else edges[edge]
                at, steps = tree[at], steps + 1
                assert steps < count
            assert at == source
            np.testing.assert_allclose(length, row[vertex], rtol=1e-12, atol=1e-12)


def sources_of(indices: Any, count: int) -> np.ndarray:
    vertices = np.arange(count) if indices is None else np.atleast_1d(np.array(indices, dtype=int)).reshape(-1)
    return np.where(vertices < 0, vertices + count, vertices)


def draw_indices(data: st.DataObject, count: int) -> Any:
    if count == 0:
        return None
    vertex = st.integers(-count, count - 1)
    return data.draw(
        st.none()
        | vertex
        | st.lists(vertex, max_size=4)
        | st.lists(vertex, min_size=4, max_size=4).map(lambda four: np.array(four).reshape(2, 2))
    )


def size(case: Case) -> int:
    return len(case.graph) if case.form == "list" else case.graph.shape[0]


@pytest.mark.parametrize("function", FUNCTIONS)
@settings(SETTINGS, max_examples=150)
@given(cases(), st.booleans(), st.data())
def test_distances_and_trees(function: str, case: Case, unweighted: bool, data: st.DataObject) -> None:
    if function == "dijkstra":
        # SciPy's does not end in a negative cycle; see below.
        unweighted = unweighted or any(weight < 0 for weight in case.edges().values())
    options: dict[str, Any] = {"unweighted": unweighted}
    if function == "shortest_path":
        options["method"] = data.draw(st.sampled_from(["auto", "BF", "J", "FW"]))
    if function != "floyd_warshall" and options.get("method") != "FW":
        options["indices"] = draw_indices(data, size(case))
    wanted = asked(theirs, function, case, **options)
    found = asked(ours, function, case, **options)
    compare(case, found, wanted)
    trees = asked(ours, function, case, return_predecessors=True, **options)
    if isinstance(wanted, Exception):
        assert type(trees) is type(wanted)
        return
    np.testing.assert_array_equal(trees[0], found)
    walk(case, *trees, sources_of(options.get("indices"), size(case)), unweighted)


@settings(SETTINGS, max_examples=200)
@given(cases(("whole", "large", "huge", "eighths")), st.booleans(), st.data())
def test_limits(case: Case, unweighted: bool, data: st.DataObject) -> None:
    options = {"unweighted": unweighted, "indices": draw_indices(data, size(case))}
    limits = st.sampled_from([0, 1, 2.5, 7, 2.0**32, 2.0**33 - 1, 1e300, np.inf, np.nan])
    limit = data.draw(limits)
    found = asked(ours, "dijkstra", case, limit=limit, return_predecessors=True, **options)
    compare(case, found[0], asked(theirs, "dijkstra", case, limit=limit, **options))
    walk(case, *found, sources_of(options["indices"], size(case)), unweighted)


@settings(SETTINGS, max_examples=200)
@given(cases(("whole", "large", "huge", "eighths")), st.booleans(), st.data())
def test_nearest_of_several(case: Case, unweighted: bool, data: st.DataObject) -> None:
    indices = draw_indices(data, size(case))
    limit = data.draw(st.sampled_from([0, 2.5, 2.0**33, np.inf, np.nan]))
    options = {"unweighted": unweighted, "indices": indices, "limit": limit, "min_only": True}
    distances, before, nearest = asked(ours, "dijkstra", case, return_predecessors=True, **options)
    compare(case, distances, asked(theirs, "dijkstra", case, **options))
    compare(case, asked(ours, "dijkstra", case, **options), distances)
    edges, sources = case.edges(), set(sources_of(indices, size(case)).tolist())
    assert before.dtype == nearest.dtype == np.int32
    for vertex in range(size(case)):
        if not np.isfinite(distances[vertex]):
            assert before[vertex] == nearest[vertex] == -9999
        elif before[vertex] == -9999:
            assert nearest[vertex] == vertex and vertex in sources
        else:
            length = 1.0 if unweighted else edges[int(before[vertex]), vertex]
            assert distances[before[vertex]] + length == pytest.approx(distances[vertex])
            assert nearest[before[vertex]] == nearest[vertex]


@settings(SETTINGS, max_examples=150)
@given(cases(("negative",)), st.data())
def test_dijkstra_is_right_below_zero(case: Case, data: st.DataObject) -> None:
    indices = draw_indices(data, size(case))
    right = asked(theirs, "bellman_ford", case, indices=indices)
    compare(case, asked(ours, "dijkstra", case, indices=indices), right)
    for options in ({"limit": 3}, {"min_only": True}, {"limit": 3, "min_only": True}):
        found = asked(ours, "dijkstra", case, indices=indices, **options)
        cycle = isinstance(right, theirs.NegativeCycleError)
        compare(case, found, right if cycle else asked(theirs, "dijkstra", case, indices=indices, **options))


@pytest.mark.parametrize("function", FUNCTIONS)
@settings(SETTINGS, max_examples=80)
@given(cases(("whole", "large", "huge", "eighths")), st.booleans(), st.data())
def test_narrow_distances(function: str, case: Case, unweighted: bool, data: st.DataObject) -> None:
    dtype = np.dtype(data.draw(st.sampled_from(["int32", "int64", "float32"])))
    options: dict[str, Any] = {"unweighted": unweighted}
    if function != "floyd_warshall":
        options["indices"] = draw_indices(data, size(case))
    if function == "dijkstra":
        options["limit"] = data.draw(st.sampled_from([0, 3, np.inf]))
        options["min_only"] = data.draw(st.booleans())
    wide = asked(ours, function, case, **options)
    found = asked(ours, function, case, dtype=dtype, **options)
    trees = asked(ours, function, case, dtype=dtype, return_predecessors=True, **options)
    whole = unweighted or all(weight == int(weight) for weight in case.edges().values())
    reached = wide[np.isfinite(wide)]
    if dtype.kind == "i" and not whole:
        assert isinstance(found, ValueError) and isinstance(trees, ValueError)
    elif dtype.kind == "i" and (reached > min(np.iinfo(dtype).max, 2**53)).any():
        assert isinstance(found, OverflowError) and isinstance(trees, OverflowError)
    else:
        expected = wide.astype(dtype) if dtype.kind == "f" else np.where(np.isfinite(wide), wide, -1).astype(dtype)
        assert found.dtype == trees[0].dtype == dtype
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(trees[0], expected)
        if not options.get("min_only"):
            walk(case, wide, trees[1], sources_of(options.get("indices"), size(case)), unweighted)


def simple_paths(edges: dict[tuple[int, int], float], source: int, sink: int) -> list[tuple[float, list[int]]]:
    """All paths without repeated vertices, the shortest first, by going everywhere."""
    found: list[tuple[float, list[int]]] = []

    def go(path: list[int], length: float) -> None:
        if path[-1] == sink:
            found.append((length, path))
            return
        for (tail, head), weight in edges.items():
            if tail == path[-1] and head not in path:
                go([*path, head], length + weight)

    go([source], 0.0)
    return sorted(found)


@settings(SETTINGS, max_examples=200)
@given(cases(("whole", "large", "eighths")), st.booleans(), st.data())
def test_k_shortest_paths(case: Case, unweighted: bool, data: st.DataObject) -> None:
    assume(2 <= size(case) <= 6)
    source, sink = data.draw(st.permutations(range(size(case))))[:2]
    count = data.draw(st.integers(1, 12))
    edges = case.edges()
    if unweighted:
        edges = dict.fromkeys(edges, 1.0)
    wanted = [length for length, _ in simple_paths(edges, source, sink)][:count]
    options: dict[str, Any] = {"directed": case.directed, "unweighted": unweighted}
    lengths, before = ours.yen(case.graph, source, sink, count, return_predecessors=True, **options)
    np.testing.assert_array_equal(lengths, wanted)
    np.testing.assert_array_equal(ours.yen(case.graph, source, sink, count, **options), lengths)
    assert lengths.dtype == np.float64 and before.dtype == np.int32 and before.shape == (len(wanted), size(case))
    paths = set()
    for length, row in zip(lengths, before):
        path = [sink]
        while path[-1] != source:
            path.append(int(row[path[-1]]))
        assert len(set(path)) == len(path) == np.count_nonzero(row >= 0) + 1
        assert sum(edges[edge] for edge in zip(path[:0:-1], path[-2::-1])) == length
        paths.add(tuple(path))
    assert len(paths) == len(wanted)
