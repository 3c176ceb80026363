"""The object that NetworkX dispatches to."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import networkx as nx
import numpy as np

from . import betweenness, dense, generic, measures, unweighted, weighted
from .convert import Graph, convert_from_nx, convert_to_nx

__all__ = ["NOT_SERVED", "Backend", "backend"]

_NUMBERS = (int, float, np.integer, np.floating)

_MODULES: tuple[ModuleType, ...] = (generic, unweighted, weighted, dense, measures, betweenness)

_ORDER = "its answers come in the order of a queue over the neighbours, which a search by levels on all cores does not have"
_TIES = "it lists all predecessors, those at the same distance in the order of a search on one core"
_EVERY = "it lists every shortest path, and the library finds one"

#: Functions on shortest paths that NetworkX keeps, and why.
NOT_SERVED: dict[str, str] = {
    "all_pairs_all_shortest_paths": _EVERY,
    "all_shortest_paths": _EVERY,
    "bellman_ford_predecessor_and_distance": _TIES,
    "bfs_edges": _ORDER,
    "bfs_labeled_edges": _ORDER,
    "bfs_layers": _ORDER,
    "bfs_predecessors": _ORDER,
    "bfs_successors": _ORDER,
    "bfs_tree": _ORDER,
    "dijkstra_predecessor_and_distance": _TIES,
    "edge_betweenness_centrality_subset": "it shares paths among the predecessors of a node equally, not by the number of paths over each",
    "find_negative_cycle": "the library says that there is a negative cycle, but has no array of its vertices",
    "floyd_warshall_tree": "it leaves out the distances of some pairs without a path, and which ones depends on its steps",
    "generic_bfs_edges": _ORDER,
    "predecessor": _TIES,
    "reconstruct_path": "it has no graph",
    "single_source_all_shortest_paths": _EVERY,
    "transitive_closure": "its answer is a graph of NetworkX with all attributes",
}

#: From this number of nodes on, the first search takes about as long with the conversion as NetworkX's, and later ones a part of it.
_SEARCH = 2_000

#: From this number of nodes on, the same holds for searches between two nodes, which NetworkX ends early.
_PAIR = 50_000

#: From this number of nodes on, searches from every node and the conversion are quicker than NetworkX.
_ALL_PAIRS = 25

_FROM_EVERY_NODE = frozenset(
    {
        "all_pairs_bellman_ford_path",
        "all_pairs_bellman_ford_path_length",
        "all_pairs_dijkstra",
        "all_pairs_dijkstra_path",
        "all_pairs_dijkstra_path_length",
        "all_pairs_shortest_path",
        "all_pairs_shortest_path_length",
        "average_shortest_path_length",
        "betweenness_centrality",
        "betweenness_centrality_subset",
        "center",
        "closeness_centrality",
        "diameter",
        "eccentricity",
        "edge_betweenness_centrality",
        "floyd_warshall",
        "floyd_warshall_numpy",
        "floyd_warshall_predecessor_and_distance",
        "harmonic_centrality",
        "johnson",
        "periphery",
        "radius",
        "shortest_path",
        "shortest_path_length",
        "wiener_index",
    }
)


def _bind(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by their names, with defaults. Raises ``TypeError`` if they do not fit."""
    function = _FUNCTIONS[name]
    bound = _SIGNATURES[function].bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def _functions() -> dict[str, Callable[..., Any]]:
    return {name: getattr(module, name) for module in _MODULES for name in module.__all__}


_FUNCTIONS = _functions()
_SIGNATURES = {function: inspect.signature(function) for function in _FUNCTIONS.values()}


class Backend:
    """The backend: the functions that are served, by their names in NetworkX, conversions, and what it can run."""

    def __init__(self) -> None:
        vars(self).update(_FUNCTIONS)

    convert_from_nx = staticmethod(convert_from_nx)
    convert_to_nx = staticmethod(convert_to_nx)

    @staticmethod
    def can_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
        """``True`` if the function can be answered for these arguments, or why not.

        What depends on the weights themselves is said later, by a ``NotImplementedError``.
        """
        try:
            arguments = _bind(name, args, kwargs)
        except TypeError as error:
            return str(error)
        graph = arguments["G"]
        if not isinstance(graph, nx.Graph | Graph):
            return f"no graph of NetworkX but {type(graph).__name__}"
        for weight in ("weight", "distance"):
            if name != "descendants_at_distance" and callable(arguments.get(weight)):
                return f"{weight} is a function"
        if name.startswith("astar") and arguments["heuristic"] is not None:
            return "there is a heuristic"
        for known in ("sp", "e"):
            if arguments.get(known) is not None:
                return f"{known} is known, and nothing is left to search"
        if arguments.get("usebounds"):
            return "bounds save most of the searches"
        for limit in ("cutoff", "distance") if name == "descendants_at_distance" else ("cutoff",):
            value = arguments.get(limit)
            if value is not None and (not isinstance(value, _NUMBERS) or math.isnan(value)):
                return f"{limit} is no number"
        return True

    @staticmethod
    def should_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
        """``True`` if that is likely to be quicker than NetworkX, with a conversion if there is none in the graph's cache, or why not."""
        arguments = _bind(name, args, kwargs)
        graph = arguments["G"]
        cache = getattr(graph, "__networkx_cache__", None)
        if cache is None or not cache.get("backends", {}).get("warpath"):
            one = any(arguments.get(end) is not None for end in ("u", "v", "source", "target"))
            if name in _FROM_EVERY_NODE and not one:
                least = _ALL_PAIRS
            elif arguments.get("source") is not None and arguments.get("target") is not None:
                least = _PAIR
            else:
                least = _SEARCH
            # Counting the edges of NetworkX's graphs can take longer than a search.
            if len(graph) < least:
                return "the graph is small and not converted yet"
        return True


#: The entry of the group ``networkx.backends``.
backend = Backend()
