"""The distances of all pairs at once, as ``networkx.algorithms.shortest_paths.dense`` has them.

Sums of floats may differ from those of NetworkX in their last digits: a path's edges are added up from its source on.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import networkx as nx
import numpy as np

from .convert import Graph
from .mappings import Distances, Predecessors
from .searches import Search, search_each

__all__ = ["floyd_warshall", "floyd_warshall_numpy", "floyd_warshall_predecessor_and_distance"]


def _with_all_nodes(found: Search) -> Distances:
    """The distances of all nodes, infinity where nothing arrives."""
    return Distances(found.with_all_nodes())


def floyd_warshall(G: Graph, weight: Hashable | None = "weight") -> dict[Any, Distances]:
    """As ``networkx.floyd_warshall``, with a :class:`~warpath.networkx.Distances` for each node."""
    return dict(zip(G.nodes, map(_with_all_nodes, search_each(G, weight=weight))))


def floyd_warshall_predecessor_and_distance(
    G: Graph, weight: Hashable | None = "weight"
) -> tuple[dict[Any, Predecessors], dict[Any, Distances]]:
    """As ``networkx.floyd_warshall_predecessor_and_distance``, with lazy mappings for each node."""
    searches = list(search_each(G, weight=weight, predecessors=True))
    departs = np.zeros(len(G), dtype=bool)
    departs[G.tails] = True
    if not G.is_directed():
        departs[G.heads] = True
    for loop in np.unique(G.tails[G.tails == G.heads]).tolist():
        # To NetworkX such a node is its own predecessor.
        searches[loop].precede(loop, loop)
    predecessors = {
        node: Predecessors(found) for node, found, some in zip(G.nodes, searches, departs.tolist()) if some
    }
    return predecessors, dict(zip(G.nodes, map(_with_all_nodes, searches)))


def floyd_warshall_numpy(
    G: Graph, nodelist: Sequence[Any] | None = None, weight: Hashable | None = "weight"
) -> np.ndarray:
    """As ``networkx.floyd_warshall_numpy``: a square array of ``float64``, with infinity where there is no path."""
    if nodelist is not None and not len(nodelist) == len(G) == len(set(nodelist)):
        message = "nodelist must contain every node in G with no repeats.If you wanted a subgraph of G use G.subgraph(nodelist)"
        raise nx.NetworkXError(message)
    if nodelist is None:
        numbers = np.arange(len(G))
    else:
        missing = [node for node in nodelist if node not in G]
        if missing:
            raise nx.NetworkXError(f"Nodes {set(missing)} in nodelist is not in G")
        numbers = np.array([G.index[node] for node in nodelist], dtype=np.int64)
    table = np.empty((len(G), len(G)))
    for row, found in enumerate(search_each(G, numbers.tolist(), weight)):
        table[row] = found.distances[numbers]
    return table
