"""Graphs of other packages."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import warpath

EDGES = [(0, 1, 5), (1, 2, 7), (0, 2, 20), (2, 0, 1)]
EXPECTED = [[0, 5, 12], [8, 0, 7], [1, 6, 0]]


def check(graph, expected=EXPECTED):
    np.testing.assert_array_equal(graph.apsp().distances, expected)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("make", [sparse.coo_array, sparse.coo_matrix])
def test_sparse_matrices(form, dtype, make):
    tails, heads, weights = (np.array(column) for column in zip(*EDGES))
    matrix = make((weights.astype(dtype), (tails, heads)), shape=(3, 3)).asformat(form)
    check(warpath.Graph(matrix))


def test_sparse_matrices_with_parallel_entries_have_the_least():
    twice = sparse.coo_array((np.array([5, 3]), (np.array([0, 0]), np.array([1, 1]))), shape=(2, 2))
    assert warpath.Graph(twice).sssp(0).distances.tolist() == [0, 3]
    rows = sparse.csr_array((np.array([5, 3]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
    assert warpath.Graph(rows).sssp(0).distances.tolist() == [0, 3]


def test_sparse_matrices_have_to_be_square():
    with pytest.raises(ValueError, match="square"):
        warpath.Graph(sparse.csr_array(np.ones((2, 3))))
    with pytest.raises(ValueError, match="rows"):
        warpath.Graph(sparse.csr_array(np.ones((2, 2))), vertices=3)


def test_undirected_matrices():
    matrix = sparse.csr_array(np.array([[0, 4, 0], [0, 0, 6], [0, 0, 0]]))
    check(warpath.Graph(matrix, directed=False), [[0, 4, 10], [4, 0, 6], [10, 6, 0]])


def test_lists_and_arrays_of_edges():
    check(warpath.Graph(EDGES))
    check(warpath.Graph(np.array(EDGES)))
    check(warpath.Graph(np.array(EDGES, dtype=float)))
    check(warpath.Graph(tuple(np.array(EDGES).T)))
    check(warpath.Graph(iter(EDGES)))
    assert warpath.Graph([edge[:2] for edge in EDGES]).weight_type == "unit"
    assert warpath.Graph([], vertices=4).vertices == 4
    assert warpath.Graph([]).vertices == 0


def test_names_are_kept():
    graph = warpath.Graph([("Bern", "Basel", 95), ("Basel", "Zug", 120)], directed=False)
    assert graph.labels == ["Bern", "Basel", "Zug"]
    assert graph.sssp(graph.vertex("Zug")).distance(graph.vertex("Bern")) == 215
    with pytest.raises(KeyError):
        graph.vertex("Ulm")


def test_networkx():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(EDGES)
    check(warpath.Graph(graph))
    graph = nx.Graph()
    graph.add_edge("a", "b", length=2.5)
    graph.add_edge("b", "c", length=1.0)
    found = warpath.Graph(graph, weight="length")
    assert found.labels == ["a", "b", "c"] and not found.directed
    assert found.sssp(0).distances.tolist() == [0, 2.5, 3.5]
    assert warpath.Graph(graph).weight_type == "unit"
    with pytest.raises(ValueError, match="no 'cost'"):
        warpath.Graph(graph, weight="cost")
    multi = nx.MultiDiGraph([(0, 1, {"weight": 5}), (0, 1, {"weight": 2})])
    assert warpath.Graph(multi).sssp(0).distances.tolist() == [0, 2]


def test_igraph():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.TupleList([(f"v{t}", f"v{h}", w) for t, h, w in EDGES], directed=True, weights=True)
    found = warpath.Graph(graph)
    assert found.labels == ["v0", "v1", "v2"]
    check(found)
    with pytest.raises(ValueError, match="no attribute"):
        warpath.Graph(graph, weight="cost")


class Table(dict):
    """A table as data frames have it: columns by name."""

    @property
    def columns(self):
        return list(self)


def columns():
    tails, heads, weights = (np.array(column) for column in zip(*EDGES))
    return {"source": tails, "target": heads, "weight": weights}


def test_tables():
    check(warpath.Graph(Table(columns())))
    other = {"a": columns()["source"], "b": columns()["target"], "c": columns()["weight"]}
    check(warpath.Graph(Table(other), source="a", target="b", weight="c"))
    with pytest.raises(KeyError, match="source="):
        warpath.Graph(Table(other))
    with pytest.raises(KeyError, match="no column 'z'"):
        warpath.Graph(Table(other), source="z", target="b")
    names = Table({"from": np.array(["x", "y"]), "to": np.array(["y", "z"])})
    graph = warpath.Graph(names)
    assert graph.labels == ["x", "y", "z"] and graph.arcs == 2


def test_columns_of_data_frames():
    pandas = pytest.importorskip("pandas")
    check(warpath.Graph(pandas.DataFrame(columns())))
    check(warpath.Graph(pandas.DataFrame(np.array(EDGES)), source=0, target=1, weight=2))
    names = warpath.Graph(pandas.DataFrame({"from": ["b", "a"], "to": ["a", "c"], "other": [1, "two"]}))
    assert names.labels == ["a", "b", "c"] and names.arcs == 2
    for missing in ({"source": ["a", None]}, {"source": [1, None]}, {"source": [0, 1], "cost": [1.0, None]}):
        column = list(missing)[-1]
        with pytest.raises(ValueError, match=f"column '{column}' has missing values"):
            warpath.Graph(pandas.DataFrame({**missing, "target": [1, 2]}))
    with pytest.raises(TypeError, match="column 'source': vertices are integers or text"):
        warpath.Graph(pandas.DataFrame({"source": [0.0, 1.0], "target": [1, 2]}))
    with pytest.raises(KeyError, match="2 columns 'to'"):
        warpath.Graph(pandas.DataFrame([(0, 1, 2)], columns=["from", "to", "to"]))


def test_arrays_by_dlpack():
    class Other:
        """An array of another package that speaks DLPack."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    check(warpath.Graph(tuple(Other(np.ascontiguousarray(column)) for column in np.array(EDGES).T)))


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ("roads.gr", TypeError),
        ([(0,)], ValueError),
        ([(0, 1), (1, 2, 3)], ValueError),
        (np.ones((3, 4)), ValueError),
        (np.array([[0.5, 1.0]]), ValueError),
        (([0], [1, 2]), ValueError),
        (([0.5], [1]), TypeError),
        ([(0, 1, -(2**40))], ValueError),
        ([(-1, 0)], ValueError),
        (([0], [1], ["five"]), TypeError),
        (([0], [1], [float("nan")]), ValueError),
        (5, TypeError),
    ],
)
def test_bad_data(data, error):
    with pytest.raises(error):
        warpath.Graph(data)
