"""Centralities of small graphs against igraph's.

Closeness counts distances towards a vertex and is that of Wasserman and Faust, so that a vertex that few others reach has a small one;
igraph's leaves those others out. A vertex that nobody reaches has 0 here and NaN there. Eccentricities of a graph that is not
connected are those within what a vertex reaches, as in igraph.
"""

import random

import numpy as np
import pytest

import warpath

igraph = pytest.importorskip("igraph")


def shapes():
    """Graphs of every kind without parallel edges, by name: directed and not, connected and not, with loops."""
    rng = random.Random(12)
    named = {
        "one vertex": (1, []),
        "no edges": (5, []),
        "path": (9, [(v, v + 1) for v in range(8)]),
        "cycle": (8, [(v, (v + 1) % 8) for v in range(8)]),
        "star": (9, [(0, v) for v in range(1, 9)]),
        "star towards its middle": (9, [(v, 0) for v in range(1, 9)]),
        "complete": (6, [(u, v) for u in range(6) for v in range(u + 1, 6)]),
        "two components and a vertex": (9, [(0, 1), (1, 2), (2, 0), (4, 5), (5, 6), (6, 7)]),
        "loops": (4, [(0, 0), (0, 1), (1, 2), (2, 2), (2, 3)]),
        "diamonds": (7, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)]),
    }
    for count, edges in [(12, 10), (20, 25), (30, 60), (40, 200), (25, 12)]:
        pairs = {(rng.randrange(count), rng.randrange(count)) for _ in range(edges)}
        named[f"random, {count} vertices and {len(pairs)} edges"] = (count, sorted(pairs))
    for name, (count, edges) in named.items():
        once = sorted({(min(u, v), max(u, v)) for u, v in edges})
        yield pytest.param(count, once, False, id=name)
        yield pytest.param(count, edges, True, id=f"{name}, directed")


def both(count, edges, directed, weights=None):
    theirs = igraph.Graph(n=count, edges=edges, directed=directed)
    if weights is not None:
        theirs.es["weight"] = weights
    return warpath.Graph(theirs), theirs


def compare(ours, theirs, weights=None):
    reductions = ours.reductions()
    count = theirs.vcount()
    distances = np.array(theirs.distances(weights=weights, mode="out"), dtype=float).reshape(count, count)
    reach = np.isfinite(distances).sum(axis=0) - 1
    closeness = np.nan_to_num(np.array(theirs.closeness(mode="in", weights=weights, normalized=True), dtype=float))
    np.testing.assert_allclose(reductions.closeness, closeness * reach / max(count - 1, 1), atol=1e-12)
    harmonic = theirs.harmonic_centrality(mode="in", weights=weights, normalized=False)
    np.testing.assert_allclose(reductions.harmonic, np.nan_to_num(np.array(harmonic, dtype=float)), atol=1e-12)
    for steps in () if weights else (0, 1, 2, 3, 100):
        sizes = theirs.neighborhood_size(order=steps, mode="out") if count else []
        np.testing.assert_array_equal(ours.neighborhood_sizes(steps), sizes)
    for length in (0, 2, 4.5, 7, 1e9):
        np.testing.assert_array_equal(ours.neighborhood_sizes(length), (distances <= length).sum(axis=1))
    betweenness = theirs.betweenness(directed=theirs.is_directed(), weights=weights)
    np.testing.assert_allclose(ours.betweenness().scores, betweenness, atol=1e-9)
    return reductions


@pytest.mark.parametrize(("count", "edges", "directed"), list(shapes()))
def test_without_weights(count, edges, directed):
    ours, theirs = both(count, edges, directed)
    reductions = compare(ours, theirs)
    np.testing.assert_array_equal(reductions.eccentricities, theirs.eccentricity(mode="out"))


@pytest.mark.parametrize(("count", "edges", "directed"), list(shapes()))
def test_by_weights(count, edges, directed):
    weights = [1 + (7 * k) % 5 for k in range(len(edges))]
    ours, theirs = both(count, edges, directed, weights)
    compare(ours, theirs, weights="weight")
