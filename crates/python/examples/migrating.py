"""From SciPy, NetworkX and cuGraph to Warpath: the calls side by side, and their answers compared.

    python migrating.py

It needs SciPy and NetworkX beside the package `warpath`.
"""

from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse.csgraph

import warpath
import warpath.csgraph

graph = warpath.generate("roads:3000")
tails, heads = graph.edges()
matrix = scipy.sparse.csr_array((graph.weights, (tails, heads)), shape=(graph.vertices, graph.vertices))
network = nx.Graph()
network.add_weighted_edges_from(zip(tails.tolist(), heads.tolist(), graph.weights.tolist()))


def compare(call: str, theirs: Any, ours: Any) -> None:
    """Asserts that both answers are the same."""
    if isinstance(theirs, np.ndarray):
        np.testing.assert_allclose(ours, theirs)
    else:
        assert ours == theirs, call
    print(f"  the same: {call}")


print("SciPy: import warpath.csgraph instead of scipy.sparse.csgraph")
for function, arguments in [
    ("dijkstra", {"indices": [0, 7, 42]}),
    ("shortest_path", {}),
    ("johnson", {"indices": 5}),
    ("bellman_ford", {"indices": 5}),
]:
    compare(
        f"{function}(matrix{''.join(f', {name}={value}' for name, value in arguments.items())})",
        getattr(scipy.sparse.csgraph, function)(matrix, **arguments),
        getattr(warpath.csgraph, function)(matrix, **arguments),
    )

# NetworkX tells that it keeps the converted graph until a method changes `network`.
nx.config.warnings_to_ignore.add("cache")
print("\nNetworkX: backend='warpath', or nx.config.backend_priority = ['warpath'] for a whole program")
for function, arguments in [
    ("single_source_dijkstra_path_length", {"source": 0}),
    ("dijkstra_path_length", {"source": 0, "target": 2500}),
    ("single_source_shortest_path_length", {"source": 0}),
    ("eccentricity", {"v": 17}),
]:
    compare(
        f"{function}(network{''.join(f', {name}={value}' for name, value in arguments.items())})",
        getattr(nx, function)(network, **arguments),
        getattr(nx, function)(network, **arguments, backend="warpath"),
    )

print("\nWarpath's own graph, converted once for all questions:")
own = warpath.Graph(matrix)
compare(
    "dijkstra(matrix, indices=0)  ->  warpath.Graph(matrix).sssp(0).distances",
    scipy.sparse.csgraph.dijkstra(matrix, indices=0),
    own.sssp(0).distances,
)
compare(
    "nx.dijkstra_path_length(network, 0, 2500)  ->  graph.path(0, 2500).length",
    nx.dijkstra_path_length(network, 0, 2500),
    own.path(0, 2500).length,
)

# cuGraph needs an NVIDIA GPU, so its calls are not run here.
print("""
cuGraph: the calls that correspond
  cugraph                                           warpath
  G = cugraph.Graph(directed=True)                  graph = warpath.Graph(table, source="src", target="dst", weight="km")
  G.from_cudf_edgelist(table, "src", "dst", "km")
  result = cugraph.sssp(G, source=0)                tree = graph.sssp(0)
  result = cugraph.bfs(G, start=0, depth_limit=3)   tree = graph.bfs(0, cutoff=3)
  result["distance"], result["predecessor"]         tree.distances, tree.predecessors; row v is that of vertex v
  cugraph.utils.get_traversed_path_list(result, 9)  tree.path_to(9), which begins at the source
  the greatest number of its type: not reached      -1 in integers, infinity in floats: not reached
  on a GPU                                          warpath.Graph(table, engine="cuda"), or "auto" for what is quicker""")
