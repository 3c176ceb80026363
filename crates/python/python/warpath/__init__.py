"""Shortest paths and reachability in large graphs, on all cores of the CPU and on NVIDIA GPUs where there are any.

>>> import warpath
>>> graph = warpath.Graph.from_edges([0, 1, 0], [1, 2, 2], [5, 7, 20])
>>> tree = graph.sssp(0)
>>> tree.distances
array([ 0,  5, 12], dtype=int32)
>>> tree.path_to(2)
array([0, 1, 2], dtype=uint32)
"""

from ._warpath import (
    Betweenness,
    DeviceArray,
    DeviceTree,
    DistanceMatrix,
    Graph,
    NegativeCycleError,
    Path,
    PathsOfPairs,
    Reachability,
    RowReductions,
    ShortestPathTree,
    VerificationError,
    __version__,
    generated_coordinates,
)

generate = Graph.generate
read = Graph.read

__all__ = [
    "Betweenness",
    "DeviceArray",
    "DeviceTree",
    "DistanceMatrix",
    "Graph",
    "NegativeCycleError",
    "Path",
    "PathsOfPairs",
    "Reachability",
    "RowReductions",
    "ShortestPathTree",
    "VerificationError",
    "__version__",
    "generate",
    "generated_coordinates",
    "read",
]
