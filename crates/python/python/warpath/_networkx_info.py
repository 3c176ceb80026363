"""What NetworkX shows about the backend before anything of it is loaded: this module imports nothing heavy."""

from __future__ import annotations

from typing import Any

__all__ = ["SERVED", "get_info"]

_LAZY = "Paths are made when they are asked for; ties between shortest paths may be broken in another way."
_PATH = "Ties between shortest paths may be broken in another way."
_NOT_NEGATIVE = "Weights below 0 are left to NetworkX."
_POSITIVE = "Weights that are not above 0 are left to NetworkX."
_FLOATS = "Sums of floats may differ from those of NetworkX in their last digits."

#: The functions of NetworkX that the backend has, and what is different about them.
SERVED: dict[str, str] = {
    "all_pairs_bellman_ford_path": _LAZY,
    "all_pairs_bellman_ford_path_length": "",
    "all_pairs_dijkstra": f"{_LAZY} {_NOT_NEGATIVE}",
    "all_pairs_dijkstra_path": f"{_LAZY} {_NOT_NEGATIVE}",
    "all_pairs_dijkstra_path_length": _NOT_NEGATIVE,
    "all_pairs_shortest_path": _LAZY,
    "all_pairs_shortest_path_length": "",
    "ancestors": "",
    "astar_path": f"Without a heuristic. {_PATH} {_NOT_NEGATIVE}",
    "astar_path_length": f"Without a heuristic. {_NOT_NEGATIVE} {_FLOATS}",
    "average_shortest_path_length": "",
    "bellman_ford_path": _PATH,
    "bellman_ford_path_length": "",
    "betweenness_centrality": f"{_POSITIVE} {_FLOATS}",
    "betweenness_centrality_subset": f"{_POSITIVE} {_FLOATS}",
    "bidirectional_dijkstra": f"{_PATH} {_NOT_NEGATIVE} {_FLOATS}",
    "bidirectional_shortest_path": _PATH,
    "center": "Without known eccentricities or bounds, and not for trees.",
    "closeness_centrality": f"Without known shortest paths. {_NOT_NEGATIVE}",
    "descendants": "",
    "descendants_at_distance": "",
    "diameter": f"Without known eccentricities or bounds. {_NOT_NEGATIVE}",
    "dijkstra_path": f"{_PATH} {_NOT_NEGATIVE}",
    "dijkstra_path_length": _NOT_NEGATIVE,
    "eccentricity": f"Without known shortest paths. {_NOT_NEGATIVE}",
    "edge_betweenness_centrality": f"{_POSITIVE} {_FLOATS} Multigraphs are left to NetworkX.",
    "floyd_warshall": f"Distances are made when they are asked for. {_FLOATS}",
    "floyd_warshall_numpy": _FLOATS,
    "floyd_warshall_predecessor_and_distance": f"Distances are made when they are asked for. {_PATH} {_FLOATS}",
    "goldberg_radzik": _PATH,
    "harmonic_centrality": _NOT_NEGATIVE,
    "has_path": "",
    "johnson": _LAZY,
    "multi_source_dijkstra": f"{_LAZY} {_NOT_NEGATIVE}",
    "multi_source_dijkstra_path": f"{_LAZY} {_NOT_NEGATIVE}",
    "multi_source_dijkstra_path_length": _NOT_NEGATIVE,
    "negative_edge_cycle": "",
    "periphery": f"Without known eccentricities or bounds. {_NOT_NEGATIVE}",
    "radius": f"Without known eccentricities or bounds. {_NOT_NEGATIVE}",
    "shortest_path": f"{_LAZY} {_NOT_NEGATIVE}",
    "shortest_path_length": _NOT_NEGATIVE,
    "single_source_bellman_ford": _LAZY,
    "single_source_bellman_ford_path": _LAZY,
    "single_source_bellman_ford_path_length": "",
    "single_source_dijkstra": f"{_LAZY} {_NOT_NEGATIVE}",
    "single_source_dijkstra_path": f"{_LAZY} {_NOT_NEGATIVE}",
    "single_source_dijkstra_path_length": _NOT_NEGATIVE,
    "single_source_shortest_path": _LAZY,
    "single_source_shortest_path_length": "",
    "single_target_shortest_path": _LAZY,
    "single_target_shortest_path_length": "",
    "wiener_index": _NOT_NEGATIVE,
}


def get_info() -> dict[str, Any]:
    """The entry of the group ``networkx.backend_info``: the backend's name and its functions."""
    return {
        "backend_name": "warpath",
        "project": "warpath",
        "package": "warpath",
        "short_summary": "Shortest paths on all cores of the CPU and on NVIDIA GPUs where there are any.",
        "functions": {name: {"additional_docs": docs} if docs else {} for name, docs in SERVED.items()},
    }
