"""A backend for NetworkX: its functions on shortest paths, answered by Warpath.

>>> import networkx as nx
>>> graph = nx.path_graph(4)
>>> nx.single_source_dijkstra_path_length(graph, 0, backend="warpath")
{0: 0, 1: 1, 2: 2, 3: 3}

``networkx.config.backend_priority = ["warpath"]`` makes Warpath answer whatever it can, without changes to a program, and NetworkX
the rest. A graph is converted once and kept in its ``__networkx_cache__``, until it is changed by its methods.

Distances and errors are those of NetworkX. Where several shortest paths exist, a path may be another one. Mappings of paths, and of
the distances of all pairs, are made of arrays when they are asked for: :class:`Paths`, :class:`Distances`, :class:`Predecessors`.
"""

from .convert import Graph, Weights, convert_from_nx, convert_to_nx
from .interface import NOT_SERVED, Backend, backend
from .mappings import Distances, Paths, Predecessors

__all__ = [
    "NOT_SERVED",
    "Backend",
    "Distances",
    "Graph",
    "Paths",
    "Predecessors",
    "Weights",
    "backend",
    "convert_from_nx",
    "convert_to_nx",
]
