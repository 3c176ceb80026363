"""Measures that are made of distances: eccentricities, centralities, the Wiener index, and what a node can reach."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import networkx as nx
import numpy as np

from .convert import Graph
from .searches import is_strongly_connected, not_negative, search, search_each, total_of

__all__ = [
    "ancestors",
    "center",
    "closeness_centrality",
    "descendants",
    "descendants_at_distance",
    "diameter",
    "eccentricity",
    "harmonic_centrality",
    "periphery",
    "radius",
    "wiener_index",
]


def _among(G: Graph, nbunch: Any) -> Iterable[Any]:
    """The nodes of the graph that NetworkX means by a node, by some, or by ``None``."""
    if nbunch is None:
        return G.nodes
    if nbunch in G:
        return [nbunch]
    try:
        return [node for node in nbunch if node in G.index]
    except TypeError:
        raise nx.NetworkXError("nbunch is not a node or a sequence of nodes.") from None


def eccentricity(G: Graph, v: Any = None, sp: None = None, weight: Hashable | None = None) -> Any:
    """As ``networkx.eccentricity`` without known shortest paths."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Cannot compute eccentricity of a null graph.")
    not_negative(G, weight)
    nodes = list(_among(G, v))
    # Two searches tell whether those from all nodes are worth making.
    connected = len(nodes) < len(G) or is_strongly_connected(G)
    found = {}
    for node, each in zip(nodes, search_each(G, [G.index[node] for node in nodes], weight) if connected else ()):
        connected = bool(each.found.all())
        if not connected:
            break
        found[node] = each.distance(int(each.distances.argmax()))
    if not connected:
        why = "the digraph is not strongly connected" if G.is_directed() else "the graph is not connected"
        raise nx.NetworkXError(f"Found infinite path length because {why}")
    return found[v] if v in G else found


def diameter(G: Graph, e: None = None, usebounds: bool = False, weight: Hashable | None = None) -> int | float:
    """As ``networkx.diameter`` without known eccentricities or bounds."""
    most: int | float = max(eccentricity(G, weight=weight).values())
    return most


def radius(G: Graph, e: None = None, usebounds: bool = False, weight: Hashable | None = None) -> int | float:
    """As ``networkx.radius`` without known eccentricities or bounds."""
    least: int | float = min(eccentricity(G, weight=weight).values())
    return least


def periphery(G: Graph, e: None = None, usebounds: bool = False, weight: Hashable | None = None) -> list[Any]:
    """As ``networkx.periphery`` without known eccentricities or bounds."""
    found = eccentricity(G, weight=weight)
    most = max(found.values())
    return [node for node in found if found[node] == most]


def center(G: Graph, e: None = None, usebounds: bool = False, weight: Hashable | None = None) -> list[Any]:
    """As ``networkx.center`` without known eccentricities or bounds.

    Raises ``NotImplementedError`` for a tree, whose center NetworkX finds without distances.
    """
    if weight is None and not G.is_directed():
        if len(G) == 0:
            raise nx.NetworkXPointlessConcept("G has no nodes.")
        if len(G.tails) == len(G) - 1 and is_strongly_connected(G):
            raise NotImplementedError("the center of a tree is found without distances")
    found = eccentricity(G, weight=weight)
    least = min(found.values())
    return [node for node in found if found[node] == least]


def closeness_centrality(
    G: Graph, u: Any = None, distance: Hashable | None = None, wf_improved: bool = True, *, sp: None = None
) -> Any:
    """As ``networkx.closeness_centrality`` without known shortest paths."""
    not_negative(G, distance)
    if u is not None and u not in G:
        message = f"Source {u} is not in G" if distance is None else f"Node {u} not found in graph"
        raise nx.NodeNotFound(message)
    nodes = G.nodes if u is None else [u]
    closeness = {}
    for node, each in zip(nodes, search_each(G, [G.index[node] for node in nodes], distance, reverse=True)):
        total = each.total()
        others = float(each.found.sum()) - 1.0
        value = 0.0
        if total > 0.0 and len(G) > 1:
            value = others / total
            if wf_improved:
                value *= others / (len(G) - 1)
        closeness[node] = value
    return closeness if u is None else closeness[u]


def harmonic_centrality(
    G: Graph, nbunch: Any = None, distance: Hashable | None = None, sources: Any = None
) -> dict[Any, int | float]:
    """As ``networkx.harmonic_centrality``."""
    not_negative(G, distance)
    # Sums of floats depend on the order of these sets, which is also that of NetworkX.
    wanted = set(_among(G, nbunch))
    origins = set(_among(G, sources))
    columns = [G.index[node] for node in wanted]
    if len(wanted) < len(origins):
        among = np.array([G.index[node] for node in origins], dtype=np.int64)
        found: dict[Any, int | float] = {}
        for node, each in zip(wanted, search_each(G, columns, distance, reverse=True)):
            chosen = np.zeros(len(G), dtype=bool)
            chosen[among] = True
            order = each.order[chosen[each.order]]
            lengths = each.distances[order]
            # Added up one after the other, which a sum by NumPy or Python would not do.
            sums = np.cumsum(1 / lengths[lengths != 0])
            found[node] = sums[-1].item() if len(sums) else 0
        return found
    sums = np.zeros(len(columns))
    reached = np.zeros(len(columns), dtype=bool)
    for each in search_each(G, [G.index[node] for node in origins], distance):
        lengths = each.distances[columns]
        counts = (lengths != 0) & (lengths != np.inf)
        sums[counts] += 1 / lengths[counts]
        reached |= counts
    return {node: value if some else 0 for node, value, some in zip(wanted, sums.tolist(), reached.tolist())}


def wiener_index(G: Graph, weight: Hashable | None = None) -> int | float:
    """As ``networkx.wiener_index``."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if not is_strongly_connected(G):
        return float("inf")
    not_negative(G, weight)
    total = total_of(search_each(G, weight=weight))
    return total if G.is_directed() else total / 2


def _reached(G: Graph, source: Any, *, reverse: bool) -> set[Any]:
    if source not in G:
        kind = "digraph" if G.is_directed() else "graph"
        raise nx.NetworkXError(f"The node {source} is not in the {kind}.")
    found = search(G, [G.index[source]], reverse=reverse, predecessors=False)
    reached = set(map(G.nodes.__getitem__, np.flatnonzero(found.found).tolist()))
    reached.remove(source)
    return reached


def descendants(G: Graph, source: Any) -> set[Any]:
    """As ``networkx.descendants``."""
    return _reached(G, source, reverse=False)


def ancestors(G: Graph, source: Any) -> set[Any]:
    """As ``networkx.ancestors``."""
    return _reached(G, source, reverse=True)


def descendants_at_distance(G: Graph, source: Any, distance: float) -> set[Any]:
    """As ``networkx.descendants_at_distance``."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    found = search(G, [G.index[source]], cutoff=distance, predecessors=False)
    return set(map(G.nodes.__getitem__, np.flatnonzero(found.found & (found.distances == distance)).tolist()))
