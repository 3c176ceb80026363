"""Betweenness: how many shortest paths lead through a node, or over an edge."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from networkx.utils import create_py_random_state

from .. import _warpath
from .convert import Graph

__all__ = [
    "betweenness_centrality",
    "betweenness_centrality_subset",
    "edge_betweenness_centrality",
]


def _found(
    G: Graph,
    weight: Hashable | None,
    sources: Iterable[Any] | None = None,
    targets: Iterable[Any] | None = None,
    **options: bool,
) -> _warpath.Betweenness:
    """What the library finds of paths from and to some nodes. What it has no answer to, or another one, is left to NetworkX."""
    weights = G.weights_of(weight)
    if weights is not None and (weights.values <= 0).any():
        raise NotImplementedError(f"the attribute {weight!r} of edges has values that are not above 0")
    origins = None if sources is None else list(sources)
    if origins is not None and not all(node in G for node in origins):
        raise NotImplementedError("a source is no node of the graph")
    ends = None if targets is None else [G.index[node] for node in targets if node in G]
    return G.native(weight).betweenness(
        sources=None if origins is None else np.array([G.index[node] for node in origins], dtype=np.uint32),
        targets=None if ends is None else np.array(ends, dtype=np.uint32),
        **options,
    )


def _drawn(G: Graph, k: int | None, seed: Any) -> list[Any] | None:
    """The sources that NetworkX draws; ``None`` for all nodes."""
    if k is None or k == len(G):
        return None
    drawn: list[Any] = create_py_random_state(seed).sample(G.nodes, k)
    return drawn


def _scaled(
    sums: np.ndarray, G: Graph, *, normalized: bool, endpoints: bool = True, drawn: list[Any] | None = None
) -> list[float]:
    """The sums over ordered pairs as NetworkX scales them: by the pairs that a node or an edge can be between, as if all sources were
    drawn. A source that was drawn is not between its own pairs, unless endpoints count."""
    pairs = len(G) if endpoints else len(G) - 1
    if pairs < 2:
        return [float(each) for each in sums]
    correction = 1 if normalized or G.is_directed() else 2
    total = 1 / (pairs - 1) if normalized else pairs / correction
    counted = pairs if drawn is None else len(drawn)
    factors = np.full(len(sums), total / counted)
    if drawn is not None and not endpoints:
        factors[[G.index[node] for node in drawn]] = total / (counted - 1) if counted > 1 else math.nan
    scaled: list[float] = (sums * factors).tolist()
    return scaled


def _by_edge(G: Graph, found: _warpath.Betweenness) -> np.ndarray:
    """The sums over ordered pairs for each edge, in the order of the graph's arrays."""
    assert found.edges is not None
    tails, heads, scores = found.edges
    keys = tails.astype(np.int64) * len(G) + heads
    wanted = G.tails.astype(np.int64) * len(G) + G.heads
    places = np.searchsorted(keys, wanted)
    # Loops are on no shortest path.
    there = (places < len(keys)) & (G.tails != G.heads)
    sums = np.zeros(len(wanted))
    sums[there] = scores[places[there]]
    return sums if G.is_directed() else 2 * sums


def _edges(G: Graph, values: list[float]) -> dict[Any, float]:
    name = G.nodes.__getitem__
    return dict(zip(zip(map(name, G.tails.tolist()), map(name, G.heads.tolist())), values))


def _check_edges(G: Graph) -> None:
    if G.is_multigraph():
        raise NotImplementedError("parallel edges were not kept")


def betweenness_centrality(
    G: Graph,
    k: int | None = None,
    normalized: bool = True,
    weight: Hashable | None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """As ``networkx.betweenness_centrality``, for weights above 0."""
    drawn = _drawn(G, k, seed)
    found = _found(G, weight, drawn, endpoints=endpoints)
    values = _scaled(found.dependencies, G, normalized=normalized, endpoints=endpoints, drawn=drawn)
    return dict(zip(G.nodes, values))


def betweenness_centrality_subset(
    G: Graph, sources: Iterable[Any], targets: Iterable[Any], normalized: bool = False, weight: Hashable | None = None
) -> dict[Any, float]:
    """As ``networkx.betweenness_centrality_subset``, for weights above 0."""
    found = _found(G, weight, sources, targets)
    return dict(zip(G.nodes, _scaled(found.dependencies, G, normalized=normalized, endpoints=False)))


def edge_betweenness_centrality(
    G: Graph, k: int | None = None, normalized: bool = True, weight: Hashable | None = None, seed: Any = None
) -> dict[Any, float]:
    """As ``networkx.edge_betweenness_centrality``, for weights above 0 and graphs without parallel edges."""
    _check_edges(G)
    drawn = None if k is None else list(create_py_random_state(seed).sample(G.nodes, k))
    found = _found(G, weight, drawn, edges=True)
    return _edges(G, _scaled(_by_edge(G, found), G, normalized=normalized, drawn=drawn))
