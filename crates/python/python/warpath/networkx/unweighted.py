"""Shortest paths by numbers of edges, as ``networkx.algorithms.shortest_paths.unweighted`` has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from .convert import Graph
from .mappings import Distances, Paths
from .searches import connecting, search, search_each

__all__ = [
    "all_pairs_shortest_path",
    "all_pairs_shortest_path_length",
    "bidirectional_shortest_path",
    "single_source_shortest_path",
    "single_source_shortest_path_length",
    "single_target_shortest_path",
    "single_target_shortest_path_length",
]


def single_source_shortest_path_length(G: Graph, source: Any, cutoff: float | None = None) -> Distances:
    """As ``networkx.single_source_shortest_path_length``, with a :class:`~warpath.networkx.Distances`."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return Distances(search(G, [G.index[source]], cutoff=cutoff, predecessors=False))


def single_target_shortest_path_length(G: Graph, target: Any, cutoff: float | None = None) -> Distances:
    """As ``networkx.single_target_shortest_path_length``, with a :class:`~warpath.networkx.Distances`."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return Distances(search(G, [G.index[target]], cutoff=cutoff, reverse=True, predecessors=False))


def all_pairs_shortest_path_length(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Any, Distances]]:
    """As ``networkx.all_pairs_shortest_path_length``, with a :class:`~warpath.networkx.Distances` for each node."""
    return zip(G.nodes, map(Distances, search_each(G, cutoff=cutoff)))


def bidirectional_shortest_path(G: Graph, source: Any, target: Any) -> list[Any]:
    """As ``networkx.bidirectional_shortest_path``."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    found = connecting(G, G.index[source], G.index[target])
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return found[1]


def single_source_shortest_path(G: Graph, source: Any, cutoff: float | None = None) -> Paths:
    """As ``networkx.single_source_shortest_path``, with a :class:`~warpath.networkx.Paths`."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    return Paths(search(G, [G.index[source]], cutoff=cutoff))


def single_target_shortest_path(G: Graph, target: Any, cutoff: float | None = None) -> Paths:
    """As ``networkx.single_target_shortest_path``, with a :class:`~warpath.networkx.Paths`."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} not in G")
    return Paths(search(G, [G.index[target]], cutoff=cutoff, reverse=True), towards=True)


def all_pairs_shortest_path(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Any, Paths]]:
    """As ``networkx.all_pairs_shortest_path``, with a :class:`~warpath.networkx.Paths` for each node."""
    return zip(G.nodes, map(Paths, search_each(G, cutoff=cutoff, predecessors=True)))
