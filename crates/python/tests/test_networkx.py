"""The backend for NetworkX against NetworkX itself."""

import copy
import importlib.metadata
import itertools
import math
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
import pytest

import warpath

nx = pytest.importorskip("networkx")
#: Distances of empty graphs, last digits of sums and exceptions have changed since.
as_networkx_is_now = pytest.mark.skipif(
    tuple(map(int, nx.__version__.split(".")[:2])) < (3, 7), reason="results are those of NetworkX 3.7"
)

from warpath._networkx_info import SERVED, get_info  # noqa: E402
from warpath.networkx import NOT_SERVED, Graph, Paths, backend, convert_from_nx, convert_to_nx  # noqa: E402


@pytest.fixture(autouse=True)
def no_warnings_about_caches():
    with nx.config(warnings_to_ignore={"cache"}):
        yield


def shapes():
    """Names and graphs, weights under `weight`."""
    rng = random.Random(7)
    yield "empty", nx.Graph()
    yield "empty directed", nx.DiGraph()
    for kind in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph):
        name = kind.__name__
        one = kind()
        one.add_node("only")
        yield f"{name} of one", one
        loop = kind()
        loop.add_edge(0, 0, weight=4)
        yield f"{name} of a loop", loop
        alone = kind()
        alone.add_nodes_from("abc")
        yield f"{name} without edges", alone
        for number, (nodes, edges) in enumerate([(5, 8), (30, 60), (60, 70)]):
            for weights in ("ints", "floats", "zeros", "huge", "mixed", "none", "bools", "numpy"):
                graph = kind()
                labels = [("node", v) if v % 3 else f"n{v}" for v in range(nodes)]
                rng.shuffle(labels)
                graph.add_nodes_from(labels)
                for _ in range(edges):
                    u, v = rng.choice(labels), rng.choice(labels)
                    weight = {
                        "ints": lambda: rng.randint(1, 9),
                        "floats": lambda: rng.random(),
                        "zeros": lambda: rng.choice([0, 0, 1, 5]),
                        "huge": lambda: rng.choice([2**32 - 1, 2**40, 7]),
                        "mixed": lambda: rng.choice([1, 0.25, 3]),
                        "bools": lambda: rng.choice([True, False]),
                        "numpy": lambda: np.float64(rng.random()),
                    }.get(weights)
                    if weight is None:
                        graph.add_edge(u, v)
                    else:
                        graph.add_edge(u, v, weight=weight())
                yield f"{name} {weights} {number}", graph
    yield "path", nx.path_graph(3000)
    yield "directed cycle", nx.cycle_graph(200, create_using=nx.DiGraph)
    yield "star", nx.star_graph(500)
    yield "part", nx.subgraph_view(nx.grid_2d_graph(6, 6), filter_node=lambda node: node != (2, 2))
    yield "reversed", nx.gnp_random_graph(40, 0.08, seed=3, directed=True).reverse(copy=False)


SHAPES = dict(shapes())
SMALL = {name: graph for name, graph in SHAPES.items() if len(graph) <= 60}


def outcome(function, *args, backend, **kwargs):
    """What a call returns, or the exception it raises."""
    try:
        result = function(*args, backend=backend, **kwargs)
        return list(result) if isinstance(result, Iterator) else result
    except (nx.NetworkXException, ValueError) as error:
        return type(error), str(error)


def alike(ours, theirs, exact=True):
    """Whether two results are equal, in the types of their numbers, too; without `exact`, floats in all but their last digits."""
    if isinstance(theirs, Mapping):
        if exact:
            assert ours == theirs and theirs == ours
        assert len(ours) == len(theirs) and set(ours) == set(theirs)
        for key in theirs:
            alike(ours[key], theirs[key], exact)
    elif isinstance(theirs, (list, tuple)):
        assert type(ours) is type(theirs) and len(ours) == len(theirs)
        for pair in zip(ours, theirs):
            alike(*pair, exact)
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs)
    elif isinstance(theirs, (int, float)):
        # NetworkX passes bools and NumPy's numbers through.
        assert isinstance(ours, (int, float)) and not isinstance(ours, np.generic)
        assert ours == theirs if exact else math.isclose(ours, theirs, rel_tol=1e-12)
    else:
        assert ours == theirs


def check(function, *args, exact=True, **kwargs):
    ours = outcome(function, *args, backend="warpath", **kwargs)
    theirs = outcome(function, *args, backend="networkx", **kwargs)
    alike(ours, theirs, exact)
    return ours


def length_of(graph, path, weight):
    total = 0
    for u, v in itertools.pairwise(path):
        data = graph[u][v]
        total += min(d.get(weight, 1) for d in data.values()) if graph.is_multigraph() else data.get(weight, 1)
    return total


def check_paths(graph, ours, theirs, weight):
    """Shortest paths of the same ends and lengths, whichever they are."""
    assert set(ours) == set(theirs) and len(ours) == len(theirs)
    for node, path in theirs.items():
        assert type(ours[node]) is list
        assert (ours[node][0], ours[node][-1]) == (path[0], path[-1])
        assert math.isclose(length_of(graph, ours[node], weight), length_of(graph, path, weight))


def some_nodes(graph):
    nodes = list(graph)
    return nodes[:: max(1, len(nodes) // 3)]


CUTOFFS = (None, 0, 1, 2, 2.5, -1, math.inf)


@pytest.mark.parametrize("name", SHAPES)
def test_distances_from_a_node(name):
    graph = SHAPES[name]
    for node in [*some_nodes(graph), "absent"]:
        for cutoff in CUTOFFS:
            check(nx.single_source_shortest_path_length, graph, node, cutoff=cutoff)
            check(nx.single_target_shortest_path_length, graph, node, cutoff=cutoff)
            for weight in ("weight", None):
                found = check(nx.single_source_dijkstra_path_length, graph, node, cutoff=cutoff, weight=weight)
                if isinstance(found, dict):
                    assert list(found.values()) == sorted(found.values()) and next(iter(found)) == node
        for weight in ("weight", None, "colour"):
            for method in ("dijkstra", "bellman-ford"):
                check(nx.shortest_path_length, graph, source=node, weight=weight, method=method)
                check(nx.shortest_path_length, graph, target=node, weight=weight, method=method)
            check(nx.single_source_bellman_ford_path_length, graph, node, weight=weight)


@pytest.mark.parametrize("name", SMALL)
def test_distances_of_all_pairs(name):
    graph = SMALL[name]
    for cutoff in CUTOFFS:
        check(nx.all_pairs_shortest_path_length, graph, cutoff=cutoff)
        check(nx.all_pairs_dijkstra_path_length, graph, cutoff=cutoff)
    check(nx.all_pairs_bellman_ford_path_length, graph)
    check(nx.shortest_path_length, graph)
    check(nx.shortest_path_length, graph, weight="weight")
    # Theirs adds up the edges of a path in another order.
    check(nx.floyd_warshall, graph, exact=False)
    if len(graph):
        check(nx.floyd_warshall_numpy, graph)
        check(nx.floyd_warshall_numpy, graph, nodelist=list(graph)[::-1])
        check(nx.floyd_warshall_numpy, graph, nodelist=list(graph)[1:])


@pytest.mark.parametrize("name", SMALL)
def test_distances_of_pairs(name):
    graph = SMALL[name]
    for source, target in itertools.product([*some_nodes(graph), "absent"], repeat=2):
        check(nx.has_path, graph, source, target)
        check(nx.shortest_path_length, graph, source, target)
        check(nx.dijkstra_path_length, graph, source, target)
        check(nx.bellman_ford_path_length, graph, source, target)
        for cutoff in (None, 0, 3):
            # Python's sum of the weights has other last digits than sums on the way.
            check(nx.astar_path_length, graph, source, target, cutoff=cutoff, exact=False)
        for function, weight in [
            (nx.bidirectional_shortest_path, None),
            (nx.bidirectional_dijkstra, "weight"),
            (nx.dijkstra_path, "weight"),
            (nx.bellman_ford_path, "weight"),
            (nx.astar_path, "weight"),
            (nx.shortest_path, None),
            (nx.single_source_dijkstra, "weight"),
            (nx.single_source_bellman_ford, "weight"),
        ]:
            ours = outcome(function, graph, source, target, backend="warpath")
            theirs = outcome(function, graph, source, target, backend="networkx")
            if isinstance(theirs, tuple) and isinstance(theirs[0], type):
                assert ours == theirs
                continue
            if isinstance(theirs, tuple):
                assert math.isclose(ours[0], theirs[0])
                ours, theirs = ours[1], theirs[1]
            check_paths(graph, {target: ours}, {target: theirs}, weight)


@pytest.mark.parametrize("name", SMALL)
def test_paths(name):
    graph = SMALL[name]
    for node in some_nodes(graph):
        for cutoff in (None, 1, 2):
            for function, weight in [
                (nx.single_source_shortest_path, None),
                (nx.single_target_shortest_path, None),
                (nx.single_source_dijkstra_path, "weight"),
            ]:
                ours = function(graph, node, cutoff=cutoff, backend="warpath")
                check_paths(graph, ours, function(graph, node, cutoff=cutoff, backend="networkx"), weight)
        for arguments in ({"source": node}, {"target": node}):
            for weight, method in ((None, "dijkstra"), ("weight", "dijkstra"), ("weight", "bellman-ford")):
                options = {**arguments, "weight": weight, "method": method}
                ours = nx.shortest_path(graph, backend="warpath", **options)
                check_paths(graph, ours, nx.shortest_path(graph, backend="networkx", **options), weight)
        before, lengths = nx.goldberg_radzik(graph, node, backend="warpath")
        assert set(before) == set(lengths) and before[node] is None
        alike(lengths, nx.goldberg_radzik(graph, node, backend="networkx")[1])
        for v, u in before.items():
            if u is not None:
                assert math.isclose(lengths[u] + length_of(graph, [u, v], "weight"), lengths[v])
    for function, weight in [
        (nx.all_pairs_shortest_path, None),
        (nx.all_pairs_dijkstra_path, "weight"),
        (nx.all_pairs_bellman_ford_path, "weight"),
        (nx.johnson, "weight"),
    ]:
        ours, theirs = dict(function(graph, backend="warpath")), dict(function(graph, backend="networkx"))
        assert list(ours) == list(theirs)
        for node in theirs:
            check_paths(graph, ours[node], theirs[node], weight)
    ours, theirs = nx.all_pairs_dijkstra(graph, backend="warpath"), nx.all_pairs_dijkstra(graph, backend="networkx")
    for (u, (distances, paths)), (v, (lengths, their_paths)) in zip(ours, theirs, strict=True):
        assert u == v
        alike(distances, lengths)
        check_paths(graph, paths, their_paths, "weight")


@pytest.mark.parametrize("name", SMALL)
def test_predecessors_of_all_pairs(name):
    graph = SMALL[name]
    before, distances = nx.floyd_warshall_predecessor_and_distance(graph, backend="warpath")
    theirs, lengths = nx.floyd_warshall_predecessor_and_distance(graph, backend="networkx")
    alike(distances, lengths, exact=False)
    assert set(before) == set(theirs)
    for u in theirs:
        assert set(before[u]) == set(theirs[u]) and len(before[u]) == len(theirs[u])
        for v in theirs[u]:
            if u == v:
                assert before[u][u] == u
            else:
                path = nx.reconstruct_path(u, v, before)
                assert math.isclose(length_of(graph, path, "weight"), lengths[u][v])


@pytest.mark.parametrize("name", SMALL)
def test_several_sources(name):
    graph = SMALL[name]
    nodes = list(graph)
    for sources in ([], nodes[:1], nodes[:3], set(nodes[:4]), ["absent"], nodes[:2] * 2):
        for cutoff in CUTOFFS:
            check(nx.multi_source_dijkstra_path_length, graph, sources, cutoff=cutoff)
        if not sources or "absent" in sources:
            for function in (nx.multi_source_dijkstra, nx.multi_source_dijkstra_path):
                check(function, graph, sources)
            continue
        distances, paths = nx.multi_source_dijkstra(graph, sources, backend="warpath")
        for node, path in paths.items():
            assert path[0] in sources and path[-1] == node
            assert math.isclose(length_of(graph, path, "weight"), distances[node])
        assert set(nx.multi_source_dijkstra_path(graph, sources, backend="warpath")) == set(distances)
        for target in [*nodes[:5], "absent"]:
            ours = outcome(nx.multi_source_dijkstra, graph, sources, target, backend="warpath")
            theirs = outcome(nx.multi_source_dijkstra, graph, sources, target, backend="networkx")
            assert ours[0] == theirs[0]


@as_networkx_is_now
@pytest.mark.parametrize("name", SMALL)
def test_measures(name):
    graph = SMALL[name]
    # Python adds up NumPy's floats without the care that its own get.
    exact = "numpy" not in name
    connected = graph
    if len(graph) and not graph.is_directed():
        connected = graph.subgraph(max(nx.connected_components(graph), key=len)).copy()
    elif len(graph):
        connected = graph.subgraph(max(nx.strongly_connected_components(graph), key=len)).copy()
    for graph in (graph, connected):
        for weight in (None, "weight"):
            for function in (nx.eccentricity, nx.diameter, nx.radius, nx.periphery, nx.wiener_index):
                check(function, graph, weight=weight, exact=exact)
            for method in ("dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy"):
                same = exact and not method.startswith("floyd")
                check(nx.average_shortest_path_length, graph, weight=weight, method=method, exact=same)
            check(nx.average_shortest_path_length, graph, weight=weight, exact=exact)
            check(nx.harmonic_centrality, graph, distance=weight, exact=exact)
            check(nx.closeness_centrality, graph, distance=weight, exact=exact)
            check(nx.closeness_centrality, graph, distance=weight, wf_improved=False, exact=exact)
            nodes = list(graph)
            for chosen in (nodes[:2], nodes[1:], ["absent"], nodes[:1]):
                check(nx.eccentricity, graph, v=chosen, weight=weight)
                check(nx.harmonic_centrality, graph, nbunch=chosen, distance=weight, exact=exact)
                check(nx.harmonic_centrality, graph, sources=chosen, distance=weight, exact=exact)
            for node in [*nodes[:2], "absent"]:
                check(nx.closeness_centrality, graph, u=node, distance=weight, exact=exact)
            if not (weight is None and len(graph) and not graph.is_directed() and nx.is_tree(graph)):
                check(nx.center, graph, weight=weight)
        for node in [*some_nodes(graph), "absent"]:
            check(nx.descendants, graph, node)
            check(nx.ancestors, graph, node)
            for distance in (-1, 0, 1, 2, 2.5, math.inf):
                check(nx.descendants_at_distance, graph, node, distance)


def negative(directed=True, cycle=False):
    rng = random.Random(11)
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(40))
    for _ in range(120):
        u, v = sorted(rng.sample(range(40), 2))
        graph.add_edge(u, v, weight=rng.randint(-5, 9))
    if cycle:
        graph.add_edge(39, 38, weight=-50)
        graph.add_edge(38, 39, weight=1)
    return graph


def test_weights_below_0():
    graph = negative()
    for node in graph:
        check(nx.single_source_bellman_ford_path_length, graph, node)
        check(nx.shortest_path_length, graph, target=node, weight="weight", method="bellman-ford")
        alike(
            nx.goldberg_radzik(graph, node, backend="warpath")[1], nx.goldberg_radzik(graph, node, backend="networkx")[1]
        )
    check(nx.all_pairs_bellman_ford_path_length, graph)
    check(nx.floyd_warshall, graph)
    check(nx.negative_edge_cycle, graph)
    # What Dijkstra's algorithm does with them, NetworkX does.
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(graph, 0, backend="warpath")
    with pytest.raises(NotImplementedError, match="'weight' of edges has values below 0"):
        backend.single_source_dijkstra_path_length(convert_from_nx(graph, edge_attrs={"weight": 1}), 0)
    with nx.config(backend_priority=["warpath"]):
        square = nx.DiGraph([(0, 1, {"weight": 1}), (0, 2, {"weight": 2}), (2, 1, {"weight": -9}), (1, 3, {"weight": 5})])
        with pytest.raises(ValueError, match="Contradictory paths"):
            nx.single_source_dijkstra_path_length(square, 0)


@as_networkx_is_now
@pytest.mark.parametrize("directed", [True, False])
def test_negative_cycles(directed):
    graph = negative(directed, cycle=True)
    for function in (nx.single_source_bellman_ford_path_length, nx.single_source_bellman_ford, nx.goldberg_radzik):
        found = check(function, graph, 0)
        assert found == (nx.NetworkXUnbounded, "Negative cycle detected.")
    for function in (nx.johnson, nx.floyd_warshall, nx.floyd_warshall_numpy, nx.negative_edge_cycle):
        check(function, graph)
    # A cycle that cannot be reached harms nobody.
    graph.add_edge("apart", "too", weight=3)
    check(nx.single_source_bellman_ford_path_length, graph, "apart")
    check(nx.bellman_ford_path_length, graph, "apart", 0)
    # Sources before the first that reaches the cycle have answers.
    order = nx.DiGraph()
    order.add_edges_from([("a", "b", {"weight": 2}), ("c", "c", {"weight": -1})])
    pairs = nx.all_pairs_bellman_ford_path_length(order, backend="warpath")
    assert [next(pairs), next(pairs)] == [("a", {"a": 0, "b": 2}), ("b", {"b": 0})]
    with pytest.raises(nx.NetworkXUnbounded):
        next(pairs)


@pytest.mark.parametrize(
    "weight",
    ["text", None, Fraction(1, 3), math.nan, math.inf, 2**60, 2**70, np.float32(0.1), 1 + 2j, 1e308],
)
def test_weights_with_other_sums_are_left_to_networkx(weight):
    graph = nx.path_graph(30)
    graph.add_edge(3, 4, weight=weight)
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(graph, 0, backend="warpath")
    parallel = nx.MultiGraph(graph)
    parallel.add_edge(3, 4, weight=weight)
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(parallel, 0, backend="warpath")
    # The graph without weights is converted all the same.
    assert nx.has_path(graph, 0, 29, backend="warpath")


def test_reasons():
    graph = nx.path_graph(4)
    cases = [
        ("single_source_dijkstra", (graph, 0), {"weight": lambda u, v, d: 1}, "weight is a function"),
        ("closeness_centrality", (graph,), {"distance": len}, "distance is a function"),
        ("astar_path", (graph, 0, 1, lambda u, v: 0), {}, "there is a heuristic"),
        ("eccentricity", (graph,), {"sp": {}}, "sp is known, and nothing is left to search"),
        ("diameter", (graph,), {"e": {}}, "e is known, and nothing is left to search"),
        ("diameter", (graph,), {"usebounds": True}, "bounds save most of the searches"),
        ("single_source_shortest_path", (graph, 0), {"cutoff": "1"}, "cutoff is no number"),
        ("single_source_shortest_path", (graph, 0), {"cutoff": math.nan}, "cutoff is no number"),
        ("single_source_shortest_path", (graph,), {}, "missing a required argument: 'source'"),
        ("has_path", ("graph", 0, 1), {}, "no graph of NetworkX but str"),
    ]
    for name, args, kwargs, reason in cases:
        assert backend.can_run(name, args, kwargs) == reason
    for name in ("descendants_at_distance", "single_source_shortest_path"):
        assert backend.can_run(name, (graph, 0, 2), {}) is True


def test_small_graphs_are_converted_only_for_those_who_ask():
    graph = nx.path_graph(4)
    assert "small" in backend.should_run("single_source_dijkstra", (graph, 0), {})
    assert "small" in backend.should_run("closeness_centrality", (graph,), {})
    assert backend.should_run("closeness_centrality", (nx.path_graph(100),), {}) is True
    assert backend.should_run("shortest_path", (nx.path_graph(100),), {}) is True
    assert "small" in backend.should_run("closeness_centrality", (nx.path_graph(100), 3), {})
    assert "small" in backend.should_run("shortest_path", (nx.path_graph(100),), {"target": 3})
    nx.has_path(graph, 0, 3, backend="warpath")
    assert backend.should_run("single_source_dijkstra", (graph, 0), {}) is True


def test_a_graph_is_converted_once(monkeypatch):
    calls = []
    convert = backend.convert_from_nx
    monkeypatch.setitem(vars(backend), "convert_from_nx", lambda *args, **kwargs: calls.append(1) or convert(*args, **kwargs))
    graph = nx.path_graph(10)
    nx.set_edge_attributes(graph, 2, "weight")
    for node in graph:
        assert nx.single_source_dijkstra_path_length(graph, node, backend="warpath")[node] == 0
    # The same conversion serves a search without weights.
    assert nx.has_path(graph, 0, 9, backend="warpath")
    assert len(calls) == 1
    graph.add_edge(0, 9, weight=1)
    assert nx.dijkstra_path_length(graph, 0, 9, backend="warpath") == 1
    assert len(calls) == 2


def test_priority_is_enough():
    graph = nx.gnp_random_graph(80, 0.1, seed=1)
    nx.set_edge_attributes(graph, {edge: 1 + sum(edge) % 7 for edge in graph.edges}, "weight")
    expected = nx.closeness_centrality(graph, distance="weight")
    with nx.config(backend_priority=["warpath"]):
        assert nx.closeness_centrality(graph, distance="weight") == expected
        # Not served, and made of functions that are.
        assert nx.barycenter(graph) and nx.global_efficiency(graph)
        assert list(nx.all_shortest_paths(graph, 0, 1))
    assert graph.__networkx_cache__["backends"]["warpath"]


def test_paths_are_like_a_dictionary():
    graph = nx.path_graph(5)
    paths = nx.single_source_shortest_path(graph, 0, cutoff=2, backend="warpath")
    expected = {0: [0], 1: [0, 1], 2: [0, 1, 2]}
    assert isinstance(paths, Paths) and isinstance(paths, Mapping)
    assert paths == expected and expected == paths and dict(paths) == expected and not paths != expected
    assert repr(paths) == repr(expected) and str(paths) == str(expected)
    assert list(paths) == [0, 1, 2] and len(paths) == 3 and 1 in paths and 4 not in paths and "x" not in paths
    assert paths.get(4) is None and paths.keys() == expected.keys() and list(paths.values()) == list(expected.values())
    for key in (4, "x"):
        with pytest.raises(KeyError):
            paths[key]
    with pytest.raises(TypeError):
        paths[[]]
    assert paths.copy() == expected and type(paths.copy()) is dict
    assert paths | {9: [9]} == expected | {9: [9]} and {9: [9]} | paths == {9: [9]} | expected
    for other in (pickle.loads(pickle.dumps(paths)), copy.copy(paths), copy.deepcopy(paths)):
        assert type(other) is Paths and other == expected
    with pytest.raises(TypeError):
        hash(paths)
    # Changes stay.
    paths[4] = [4]
    del paths[0]
    assert paths == {1: [0, 1], 2: [0, 1, 2], 4: [4]} and len(paths) == 3 and 0 not in paths and list(paths) == [1, 2, 4]
    assert pickle.loads(pickle.dumps(paths)) == paths
    nothing = nx.single_source_shortest_path(graph, 0, backend="warpath")
    nothing.clear()
    assert nothing == {} and {} == nothing and not nothing


def test_distances_and_predecessors_are_like_dictionaries():
    graph = nx.DiGraph([("a", "b", {"weight": 1.5}), ("b", "c", {"weight": 2.0})])
    before, distances = nx.floyd_warshall_predecessor_and_distance(graph, backend="warpath")
    assert repr(distances["a"]) == "{'a': 0, 'b': 1.5, 'c': 3.5}"
    assert repr(distances["b"]) == "{'b': 0, 'c': 2.0, 'a': inf}"
    assert repr(before) == "{'a': {'b': 'a', 'c': 'b'}, 'b': {'c': 'b'}}" and len(before["a"]) == 2
    assert pickle.loads(pickle.dumps((before, distances))) == (before, distances)
    before["a"]["b"] = "z"
    assert before["a"] == {"b": "z", "c": "b"} and len(before["a"]) == 2 and "a" not in before["a"]
    [(_, first), *_] = nx.all_pairs_dijkstra_path_length(graph, backend="warpath")
    assert max(first, key=first.get) == "c" and sum(first.values()) == 5.0


def test_nothing_is_made_before_it_is_asked_for():
    graph = nx.path_graph(20_000)
    paths = nx.single_source_shortest_path(graph, 0, backend="warpath")
    # All paths together would have 200 million nodes.
    assert len(paths) == 20_000 and paths[19_999] == list(range(20_000))


def test_graphs_there_and_back():
    graph = nx.DiGraph()
    graph.add_node("alone")
    graph.add_edge("a", "b", weight=3, colour="red")
    graph.add_edge("b", "b")
    there = convert_from_nx(graph, edge_attrs={"weight": 1})
    assert isinstance(there, Graph) and len(there) == 3 and "a" in there and [] not in there and list(there) == list(graph)
    back = convert_to_nx(there)
    assert list(back) == list(graph) and back.is_directed()
    assert dict(back.edges) == {("a", "b"): {"weight": 3}, ("b", "b"): {"weight": 1}}
    assert convert_from_nx(there) is there and convert_to_nx({}) == {}
    for other in (there, pickle.loads(pickle.dumps(there))):
        assert nx.dijkstra_path_length(other, "a", "b") == 3
        with pytest.raises(NotImplementedError, match="colour"):
            backend.dijkstra_path_length(other, "a", "b", weight="colour")
    with pytest.raises(NotImplementedError):
        convert_from_nx(graph, preserve_edge_attrs=True)
    with pytest.raises(NotImplementedError):
        convert_to_nx(convert_from_nx(nx.MultiGraph(graph)))
    assert "directed, 3 nodes" in repr(there)


def test_threads_ask_at_once():
    graph = nx.gnm_random_graph(2000, 6000, seed=4)
    expected = {node: nx.single_source_shortest_path_length(graph, node) for node in range(8)}
    shared, failed = convert_from_nx(graph), []

    def ask(node):
        for _ in range(5):
            if nx.single_source_shortest_path_length(shared, node) != expected[node]:
                failed.append(node)

    threads = [threading.Thread(target=ask, args=(node,)) for node in expected]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failed


def test_the_tables_of_functions():
    registered = nx.utils.backends._registered_algorithms
    assert set(SERVED) == {name for name in registered if hasattr(backend, name)}
    assert not set(SERVED) & set(NOT_SERVED)
    families = ("shortest_path", "dijkstra", "bellman_ford", "floyd_warshall", "bfs_", "astar_path")
    for name, function in registered.items():
        inside = function.__module__.startswith("networkx.algorithms.shortest_paths")
        if inside or (name.startswith(families) and "beam" not in name):
            assert name in SERVED or name in NOT_SERVED, name
    info = get_info()
    assert info["backend_name"] == "warpath" and set(info["functions"]) == set(SERVED)
    assert "Warpath" not in nx.has_path.__doc__ and "warpath : Shortest paths" in nx.has_path.__doc__


def test_the_information_is_light():
    code = (
        "import sys, importlib.util\n"
        "spec = importlib.util.spec_from_file_location('info', sys.argv[1])\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "module.get_info()\n"
        "assert not {'numpy', 'networkx', 'warpath'} & set(sys.modules)\n"
    )
    import warpath._networkx_info as info

    subprocess.run([sys.executable, "-S", "-c", code, info.__file__], check=True)


def test_the_entry_points():
    for group in ("networkx.backends", "networkx.backend_info"):
        [entry] = importlib.metadata.entry_points(group=group, name="warpath")
        assert entry.load() is {"networkx.backends": backend, "networkx.backend_info": get_info}[group]
    assert warpath.__version__
