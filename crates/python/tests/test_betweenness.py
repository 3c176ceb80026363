"""Betweenness: of the library, and of the backend for NetworkX, against NetworkX itself."""

import math
import random
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import warpath

nx = pytest.importorskip("networkx")
from test_networkx import (  # noqa: E402
    SHAPES,
    alike,
    as_networkx_is_now,
    no_warnings_about_caches,  # noqa: F401 - every test here uses it
    outcome,
)

pytestmark = as_networkx_is_now

ABOVE_ZERO = {
    name: graph
    for name, graph in SHAPES.items()
    if len(graph) <= 60 and all(data.get("weight", 1) > 0 for *_, data in graph.edges(data=True))
}


def check(function, graph, *args, **kwargs):
    ours = outcome(function, graph, *args, backend="warpath", **kwargs)
    theirs = outcome(function, graph, *args, backend="networkx", **kwargs)
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        np.testing.assert_allclose(list(ours.values()), list(theirs.values()), rtol=1e-9, atol=1e-12)
        assert all(type(value) is float for value in ours.values())
    else:
        alike(ours, theirs)


@pytest.mark.parametrize("name", ABOVE_ZERO)
def test_betweenness_is_that_of_networkx(name):
    graph = ABOVE_ZERO[name]
    nodes = list(graph)
    for weight in (None, "weight"):
        for normalized in (True, False):
            for endpoints in (True, False):
                check(nx.betweenness_centrality, graph, weight=weight, normalized=normalized, endpoints=endpoints)
            if nodes:
                k = max(1, len(nodes) // 3)
                check(nx.betweenness_centrality, graph, k=k, seed=5, weight=weight, normalized=normalized)
                check(nx.betweenness_centrality, graph, k=k, seed=5, endpoints=True, normalized=normalized)
            some, others = nodes[::3], nodes[1::2] * 2
            check(nx.betweenness_centrality_subset, graph, some, others, weight=weight, normalized=normalized)
            if not graph.is_multigraph():
                check(nx.edge_betweenness_centrality, graph, weight=weight, normalized=normalized)
                if nodes:
                    check(nx.edge_betweenness_centrality, graph, k=k, seed=2, normalized=normalized)


def test_what_networkx_refuses_is_refused():
    graph = nx.gnp_random_graph(20, 0.2, seed=2)
    check(nx.betweenness_centrality, graph, k=21, seed=1)
    with nx.config(backend_priority=["warpath"]):
        # What the library has no answer to is left to NetworkX.
        for u, v in graph.edges:
            graph[u][v]["weight"] = (u + v) % 3
        assert nx.betweenness_centrality(graph, weight="weight")
        assert nx.edge_betweenness_centrality(nx.MultiGraph(graph))
        with pytest.raises(KeyError):
            nx.betweenness_centrality_subset(graph, [99], [1])
        assert nx.betweenness_centrality_subset(graph, [1], [99]) == dict.fromkeys(graph, 0.0)
        assert nx.betweenness_centrality(graph)


def test_arrays():
    rng = np.random.default_rng(3)
    matrix = sp.random_array((70, 70), density=0.06, rng=rng, data_sampler=lambda size: rng.integers(1, 4, size)).tocsr()
    theirs = nx.DiGraph(matrix)
    graph = warpath.Graph(matrix)
    found = graph.betweenness(edges=True)
    expected = nx.betweenness_centrality(theirs, weight="weight", normalized=False)
    np.testing.assert_allclose(found.scores, [expected[v] for v in range(70)])
    np.testing.assert_allclose(found.dependencies, found.scores)
    np.testing.assert_allclose(found.normalized, found.scores / (69 * 68))
    assert found.scores.dtype == np.float64 and found.error == 0.0
    assert found.sources.tolist() == list(range(70))
    tails, heads, scores = found.edges
    expected = nx.edge_betweenness_centrality(theirs, weight="weight", normalized=False)
    assert {(u, v) for u, v in zip(tails.tolist(), heads.tolist())} >= {(u, v) for u, v in theirs.edges if u != v}
    for u, v, score in zip(tails.tolist(), heads.tolist(), scores.tolist()):
        assert math.isclose(score, expected.get((u, v), 0.0), abs_tol=1e-9)
    some = graph.betweenness(sources=[1, 2], targets=np.array([5, 6, 7]), endpoints=True)
    assert some.edges is None and some.sources.tolist() == [1, 2]
    assert "70 vertices, by paths from 2" in repr(some)


def test_samples_and_threads():
    graph = warpath.generate("scale-free:600")
    exact = graph.betweenness()
    found = graph.betweenness(sample=150, seed=4)
    assert len(set(found.sources.tolist())) == 150
    assert np.abs(found.normalized - exact.normalized).max() < found.error < 0.3
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(graph.betweenness().scores)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((answer == exact.scores).all() for answer in answers) and len(answers) == 3


def test_bad_requests():
    graph = warpath.Graph.from_edges([0, 1], [1, 2], [0, 3])
    with pytest.raises(ValueError, match="weights above 0"):
        graph.betweenness()
    graph = warpath.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(ValueError, match="not both"):
        graph.betweenness(sources=[1], sample=2)
    with pytest.raises((ValueError, IndexError), match="source"):
        graph.betweenness(sources=[3])


def test_random_graphs_of_many_paths():
    rng = random.Random(1)
    for _ in range(20):
        graph = nx.gnp_random_graph(rng.randint(1, 40), rng.choice([0.05, 0.2, 0.6]), seed=rng, directed=rng.random() < 0.5)
        check(nx.betweenness_centrality, graph)
        check(nx.edge_betweenness_centrality, graph)
