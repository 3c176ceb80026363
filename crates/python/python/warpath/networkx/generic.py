"""Shortest paths by any method, as ``networkx.algorithms.shortest_paths.generic`` has them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import networkx as nx

from . import unweighted, weighted
from .convert import Graph
from .dense import floyd_warshall_numpy
from .mappings import Distances, Paths
from .searches import is_strongly_connected, not_negative, search, search_each, total_of

__all__ = ["average_shortest_path_length", "has_path", "shortest_path", "shortest_path_length"]


def has_path(G: Graph, source: Any, target: Any) -> bool:
    """As ``networkx.has_path``."""
    try:
        unweighted.bidirectional_shortest_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


def _method(weight: Hashable | None, method: str) -> str:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    return "unweighted" if weight is None else method


def shortest_path(
    G: Graph,
    source: Any = None,
    target: Any = None,
    weight: Hashable | None = None,
    method: str = "dijkstra",
) -> Any:
    """As ``networkx.shortest_path``, with a :class:`~warpath.networkx.Paths` where there are several."""
    method = _method(weight, method)
    if source is None and target is None:
        if method == "unweighted":
            return unweighted.all_pairs_shortest_path(G)
        if method == "dijkstra":
            return weighted.all_pairs_dijkstra_path(G, weight=weight)
        return weighted.all_pairs_bellman_ford_path(G, weight=weight)
    if source is None:
        if method == "unweighted":
            if target not in G:
                raise nx.NodeNotFound(f"Source {target} not in G")
            found = search(G, [G.index[target]], reverse=True)
        elif method == "dijkstra":
            found = weighted.dijkstra_search(G, {target}, None, weight, reverse=True)
        else:
            found = weighted.bellman_ford_search(G, target, weight, reverse=True)
        return Paths(found, towards=True)
    if target is None:
        if method == "unweighted":
            return unweighted.single_source_shortest_path(G, source)
        if method == "dijkstra":
            return weighted.single_source_dijkstra_path(G, source, weight=weight)
        return weighted.single_source_bellman_ford_path(G, source, weight=weight)
    if method == "unweighted":
        return unweighted.bidirectional_shortest_path(G, source, target)
    if method == "dijkstra":
        return weighted.bidirectional_dijkstra(G, source, target, weight)[1]
    return weighted.bellman_ford_path(G, source, target, weight)


def shortest_path_length(
    G: Graph,
    source: Any = None,
    target: Any = None,
    weight: Hashable | None = None,
    method: str = "dijkstra",
) -> Any:
    """As ``networkx.shortest_path_length``, with a :class:`~warpath.networkx.Distances` where there are several, and one for each node of all pairs."""
    method = _method(weight, method)
    if source is None and target is None:
        if method == "unweighted":
            return unweighted.all_pairs_shortest_path_length(G)
        if method == "dijkstra":
            return weighted.all_pairs_dijkstra_path_length(G, weight=weight)
        return weighted.all_pairs_bellman_ford_path_length(G, weight=weight)
    if source is None or target is None:
        node, reverse = (target, True) if source is None else (source, False)
        if method == "unweighted":
            if node not in G:
                raise nx.NodeNotFound(f"Source {node} is not in G")
            found = search(G, [G.index[node]], reverse=reverse, predecessors=False)
        elif method == "dijkstra":
            found = weighted.dijkstra_search(G, {node}, None, weight, reverse=reverse, predecessors=False)
        else:
            found = weighted.bellman_ford_search(G, node, weight, reverse=reverse, predecessors=False)
        return Distances(found)
    if method == "unweighted":
        return len(unweighted.bidirectional_shortest_path(G, source, target)) - 1
    if method == "dijkstra":
        return weighted.dijkstra_path_length(G, source, target, weight)
    return weighted.bellman_ford_path_length(G, source, target, weight)


def average_shortest_path_length(
    G: Graph, weight: Hashable | None = None, method: str | None = None
) -> int | float:
    """As ``networkx.average_shortest_path_length``."""
    if method is None:
        method = "unweighted" if weight is None else "dijkstra"
    if method not in ("unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy"):
        raise ValueError(f"method not supported: {method}")
    count = len(G)
    if count == 0:
        message = "the null graph has no paths, thus there is no average shortest path length"
        raise nx.NetworkXPointlessConcept(message)
    if count == 1:
        return 0
    if not is_strongly_connected(G):
        kind = "strongly connected" if G.is_directed() else "connected"
        raise nx.NetworkXError(f"Graph is not {kind}.")
    if method == "unweighted":
        weight = None
    elif method == "dijkstra":
        not_negative(G, weight)
    total: int | float
    if method == "floyd-warshall-numpy":
        total = float(floyd_warshall_numpy(G, weight=weight).sum())
    else:
        total = total_of(search_each(G, weight=weight))
    return total / (count * (count - 1))
