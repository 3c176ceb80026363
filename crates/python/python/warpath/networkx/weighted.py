"""Shortest paths by weights, as ``networkx.algorithms.shortest_paths.weighted`` and ``astar`` have them.

The functions on Dijkstra's algorithm raise ``NotImplementedError`` for weights below 0, which makes NetworkX answer.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from typing import Any

import networkx as nx

from .convert import Graph
from .mappings import Distances, Paths
from .searches import Search, connecting, not_negative, search, search_each

__all__ = [
    "all_pairs_bellman_ford_path",
    "all_pairs_bellman_ford_path_length",
    "all_pairs_dijkstra",
    "all_pairs_dijkstra_path",
    "all_pairs_dijkstra_path_length",
    "astar_path",
    "astar_path_length",
    "bellman_ford_path",
    "bellman_ford_path_length",
    "bidirectional_dijkstra",
    "dijkstra_path",
    "dijkstra_path_length",
    "goldberg_radzik",
    "johnson",
    "multi_source_dijkstra",
    "multi_source_dijkstra_path",
    "multi_source_dijkstra_path_length",
    "negative_edge_cycle",
    "single_source_bellman_ford",
    "single_source_bellman_ford_path",
    "single_source_bellman_ford_path_length",
    "single_source_dijkstra",
    "single_source_dijkstra_path",
    "single_source_dijkstra_path_length",
]

_Weight = Hashable | None


def dijkstra_search(
    G: Graph,
    sources: Collection[Any],
    cutoff: float | None,
    weight: _Weight,
    *,
    reverse: bool = False,
    predecessors: bool = True,
) -> Search:
    """A search by the rules of NetworkX's Dijkstra: from one source at least, by weights of at least 0, within a length."""
    if not sources:
        raise ValueError("sources must not be empty")
    sources = list(sources)
    for source in sources:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} not found in graph")
    not_negative(G, weight)
    numbers = [G.index[source] for source in sources]
    return search(G, numbers, weight, cutoff=_length(cutoff, weight), reverse=reverse, predecessors=predecessors)


def _length(cutoff: float | None, weight: _Weight) -> float | None:
    """A cutoff that is a length; of edges of length 1 it is the greatest whole number that does not exceed it."""
    if cutoff is None or weight is not None or cutoff in (float("inf"), float("-inf")):
        return cutoff
    return cutoff // 1


def _pair(G: Graph, source: Any, target: Any, weight: _Weight) -> tuple[int | float, list[Any]] | None:
    """The distance of a target and a shortest path; ``None`` if there is no path, or no such target."""
    return connecting(G, G.index[source], G.index[target], weight) if target in G else None


def multi_source_dijkstra(
    G: Graph,
    sources: Collection[Any],
    target: Any = None,
    cutoff: float | None = None,
    weight: _Weight = "weight",
) -> tuple[Any, Any]:
    """As ``networkx.multi_source_dijkstra``, with a :class:`~warpath.networkx.Paths`."""
    if target is not None and sources and all(source in G for source in sources):
        if target in sources:
            return 0, [target]
        not_negative(G, weight)
        if len(sources) == 1 and cutoff is None:
            (source,) = sources
            found = _pair(G, source, target, weight)
            if found is None:
                raise nx.NetworkXNoPath(f"No path to {target}.")
            return found
    found_all = dijkstra_search(G, sources, cutoff, weight)
    if target is None:
        return Distances(found_all), Paths(found_all)
    number = G.index[target] if target in G else None
    if number is None or not found_all.found[number]:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return found_all.distance(number), found_all.path(number)


def multi_source_dijkstra_path(
    G: Graph, sources: Collection[Any], cutoff: float | None = None, weight: _Weight = "weight"
) -> Paths:
    """As ``networkx.multi_source_dijkstra_path``, with a :class:`~warpath.networkx.Paths`."""
    return Paths(dijkstra_search(G, sources, cutoff, weight))


def multi_source_dijkstra_path_length(
    G: Graph, sources: Collection[Any], cutoff: float | None = None, weight: _Weight = "weight"
) -> Distances:
    """As ``networkx.multi_source_dijkstra_path_length``, with a :class:`~warpath.networkx.Distances`."""
    return Distances(dijkstra_search(G, sources, cutoff, weight, predecessors=False))


def single_source_dijkstra(
    G: Graph, source: Any, target: Any = None, cutoff: float | None = None, weight: _Weight = "weight"
) -> tuple[Any, Any]:
    """As ``networkx.single_source_dijkstra``, with a :class:`~warpath.networkx.Paths`."""
    return multi_source_dijkstra(G, {source}, cutoff=cutoff, target=target, weight=weight)


def single_source_dijkstra_path(
    G: Graph, source: Any, cutoff: float | None = None, weight: _Weight = "weight"
) -> Paths:
    """As ``networkx.single_source_dijkstra_path``, with a :class:`~warpath.networkx.Paths`."""
    return multi_source_dijkstra_path(G, {source}, cutoff=cutoff, weight=weight)


def single_source_dijkstra_path_length(
    G: Graph, source: Any, cutoff: float | None = None, weight: _Weight = "weight"
) -> Distances:
    """As ``networkx.single_source_dijkstra_path_length``, with a :class:`~warpath.networkx.Distances`."""
    return multi_source_dijkstra_path_length(G, {source}, cutoff=cutoff, weight=weight)


def dijkstra_path(G: Graph, source: Any, target: Any, weight: _Weight = "weight") -> Any:
    """As ``networkx.dijkstra_path``."""
    return single_source_dijkstra(G, source, target=target, weight=weight)[1]


def dijkstra_path_length(G: Graph, source: Any, target: Any, weight: _Weight = "weight") -> int | float:
    """As ``networkx.dijkstra_path_length``."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if source == target:
        return 0
    not_negative(G, weight)
    found = _pair(G, source, target, weight)
    if found is None:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return found[0]


def bidirectional_dijkstra(
    G: Graph, source: Any, target: Any, weight: _Weight = "weight"
) -> tuple[int | float, list[Any]]:
    """As ``networkx.bidirectional_dijkstra``."""
    for node, end in ((source, "Source"), (target, "Target")):
        if node not in G:
            raise nx.NodeNotFound(f"{end} {node} is not in G")
    not_negative(G, weight)
    found = _pair(G, source, target, weight)
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return found


def all_pairs_dijkstra(
    G: Graph, cutoff: float | None = None, weight: _Weight = "weight"
) -> Iterator[tuple[Any, tuple[Distances, Paths]]]:
    """As ``networkx.all_pairs_dijkstra``, with lazy mappings for each node."""
    not_negative(G, weight)
    found = search_each(G, weight=weight, cutoff=_length(cutoff, weight), predecessors=True)
    return zip(G.nodes, ((Distances(each), Paths(each)) for each in found))


def all_pairs_dijkstra_path_length(
    G: Graph, cutoff: float | None = None, weight: _Weight = "weight"
) -> Iterator[tuple[Any, Distances]]:
    """As ``networkx.all_pairs_dijkstra_path_length``, with a :class:`~warpath.networkx.Distances` for each node."""
    not_negative(G, weight)
    return zip(G.nodes, map(Distances, search_each(G, weight=weight, cutoff=_length(cutoff, weight))))


def all_pairs_dijkstra_path(
    G: Graph, cutoff: float | None = None, weight: _Weight = "weight"
) -> Iterator[tuple[Any, Paths]]:
    """As ``networkx.all_pairs_dijkstra_path``, with a :class:`~warpath.networkx.Paths` for each node."""
    not_negative(G, weight)
    found = search_each(G, weight=weight, cutoff=_length(cutoff, weight), predecessors=True)
    return zip(G.nodes, map(Paths, found))


def astar_path(
    G: Graph,
    source: Any,
    target: Any,
    heuristic: None = None,
    weight: _Weight = "weight",
    *,
    cutoff: float | None = None,
) -> list[Any]:
    """As ``networkx.astar_path`` without a heuristic."""
    for node, end in ((source, "Source"), (target, "Target")):
        if node not in G:
            raise nx.NodeNotFound(f"{end} {node} is not in G")
    return _astar(G, source, target, weight, cutoff)[1]


def astar_path_length(
    G: Graph,
    source: Any,
    target: Any,
    heuristic: None = None,
    weight: _Weight = "weight",
    *,
    cutoff: float | None = None,
) -> int | float:
    """As ``networkx.astar_path_length`` without a heuristic."""
    if source not in G or target not in G:
        raise nx.NodeNotFound(f"Either source {source} or target {target} is not in G")
    return _astar(G, source, target, weight, cutoff)[0]


def _astar(
    G: Graph, source: Any, target: Any, weight: _Weight, cutoff: float | None
) -> tuple[int | float, list[Any]]:
    not_negative(G, weight)
    found = _pair(G, source, target, weight)
    # For NetworkX 0 is no cutoff, and the source is never beyond one.
    if found is None or (cutoff and found[0] > cutoff and source != target):
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return found


def bellman_ford_search(
    G: Graph, source: Any, weight: _Weight, *, reverse: bool = False, predecessors: bool = True
) -> Search:
    """A search by the rules of NetworkX's Bellman-Ford: by any weights, unless a negative cycle can be reached."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    return search(G, [G.index[source]], weight, reverse=reverse, predecessors=predecessors)


def single_source_bellman_ford(
    G: Graph, source: Any, target: Any = None, weight: _Weight = "weight"
) -> tuple[Any, Any]:
    """As ``networkx.single_source_bellman_ford``, with a :class:`~warpath.networkx.Paths`."""
    if source == target:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} is not found in the graph")
        return 0, [source]
    found = bellman_ford_search(G, source, weight)
    if target is None:
        return Distances(found), Paths(found)
    number = G.index[target] if target in G else None
    if number is None or not found.found[number]:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    return found.distance(number), found.path(number)


def single_source_bellman_ford_path(G: Graph, source: Any, weight: _Weight = "weight") -> Paths:
    """As ``networkx.single_source_bellman_ford_path``, with a :class:`~warpath.networkx.Paths`."""
    return Paths(bellman_ford_search(G, source, weight))


def single_source_bellman_ford_path_length(
    G: Graph, source: Any, weight: _Weight = "weight"
) -> Distances:
    """As ``networkx.single_source_bellman_ford_path_length``, with a :class:`~warpath.networkx.Distances`."""
    return Distances(bellman_ford_search(G, source, weight, predecessors=False))


def bellman_ford_path(G: Graph, source: Any, target: Any, weight: _Weight = "weight") -> Any:
    """As ``networkx.bellman_ford_path``."""
    return single_source_bellman_ford(G, source, target=target, weight=weight)[1]


def bellman_ford_path_length(G: Graph, source: Any, target: Any, weight: _Weight = "weight") -> int | float:
    """As ``networkx.bellman_ford_path_length``."""
    if source == target:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} not found in graph")
        return 0
    found = bellman_ford_search(G, source, weight, predecessors=False)
    number = G.index[target] if target in G else None
    if number is None or not found.found[number]:
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}")
    return found.distance(number)


def all_pairs_bellman_ford_path_length(
    G: Graph, weight: _Weight = "weight"
) -> Iterator[tuple[Any, Distances]]:
    """As ``networkx.all_pairs_bellman_ford_path_length``, with a :class:`~warpath.networkx.Distances` for each node."""
    G.weights_of(weight)
    return zip(G.nodes, map(Distances, search_each(G, weight=weight)))


def all_pairs_bellman_ford_path(G: Graph, weight: _Weight = "weight") -> Iterator[tuple[Any, Paths]]:
    """As ``networkx.all_pairs_bellman_ford_path``, with a :class:`~warpath.networkx.Paths` for each node."""
    G.weights_of(weight)
    return zip(G.nodes, map(Paths, search_each(G, weight=weight, predecessors=True)))


def goldberg_radzik(
    G: Graph, source: Any, weight: _Weight = "weight"
) -> tuple[dict[Any, Any], dict[Any, int | float]]:
    """As ``networkx.goldberg_radzik``."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    if _has_negative_loop(G, weight):
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    found = bellman_ford_search(G, source, weight)
    predecessors = {
        G.nodes[number]: G.nodes[before] if (before := found.predecessor(number)) >= 0 else None
        for number in found.order.tolist()
    }
    return predecessors, found.as_dict()


def _has_negative_loop(G: Graph, weight: _Weight) -> bool:
    """Whether an edge of negative length joins a node, reachable or not, with itself."""
    weights = G.weights_of(weight)
    if weights is None or not weights.negative:
        return False
    return bool((weights.values[G.tails == G.heads] < 0).any())


def negative_edge_cycle(G: Graph, weight: _Weight = "weight", heuristic: bool = True) -> bool:
    """As ``networkx.negative_edge_cycle``; ``heuristic`` changes nothing about the answer."""
    weights = G.weights_of(weight)
    if weights is None or not weights.negative:
        return False
    try:
        search(G, range(len(G)), weight, predecessors=False)
    except nx.NetworkXUnbounded:
        return True
    return False


def johnson(G: Graph, weight: _Weight = "weight") -> dict[Any, Paths]:
    """As ``networkx.johnson``, with a :class:`~warpath.networkx.Paths` for each node."""
    return dict(zip(G.nodes, map(Paths, search_each(G, weight=weight, predecessors=True))))
