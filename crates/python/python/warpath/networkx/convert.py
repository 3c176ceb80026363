"""Graphs of NetworkX as arrays, and back."""

from __future__ import annotations

import threading
from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

import networkx as nx
import numpy as np

from .. import _warpath

__all__ = ["Graph", "Weights", "convert_from_nx", "convert_to_nx"]

#: Whole numbers below this are exact in ``float64``.
_EXACT = 2**53

#: The types of numbers whose sums are those of NetworkX. Of NumPy's, the narrow ones round or overflow in ways of their own.
_WHOLE = frozenset({int, bool, np.int64})
_NUMBERS = _WHOLE | {float, np.float64}


@dataclass(frozen=True)
class Weights:
    """The weights of the edges of a graph under one attribute.

    ``values`` is an array with a number for each edge, in the order of the graph's arrays. ``whole`` says that they are integers
    in NetworkX, so that distances are integers too; ``negative``, that at least one is below 0.
    """

    values: np.ndarray
    whole: bool
    negative: bool


class Graph:
    """A graph of NetworkX as Warpath solves it: its nodes, numbered in their order, and arrays of its edges.

    ``convert_from_nx`` makes it; it is never changed. ``nodes`` is the list of nodes, ``index`` the number of each one. ``tails`` and
    ``heads`` are arrays of node numbers with an entry for each pair of neighbours (undirected: once, in either direction), ``weights``
    the :class:`Weights` for each attribute that was converted: of parallel edges the least counts. Graphs can be pickled, and asked
    from several threads.
    """

    __networkx_backend__ = "warpath"

    def __init__(
        self,
        nodes: list[Any],
        tails: np.ndarray,
        heads: np.ndarray,
        weights: dict[Hashable, Weights],
        *,
        directed: bool,
        multigraph: bool,
    ) -> None:
        self.nodes = nodes
        self.index: dict[Any, int] = dict(zip(nodes, range(len(nodes))))
        self.tails = tails
        self.heads = heads
        self.weights = weights
        self._directed = directed
        self._multigraph = multigraph
        self._natives: dict[tuple[Hashable, bool], _warpath.Graph] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        """The nodes, in their order."""
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        """Whether there is such a node; ``False`` for what cannot be one."""
        try:
            return node in self.index
        except TypeError:
            return False

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether the graph of NetworkX can have parallel edges."""
        return self._multigraph

    def weights_of(self, weight: Hashable | None) -> Weights | None:
        """The weights under an attribute, or ``None`` if all edges have the length 1.

        Raises ``NotImplementedError`` if the graph was converted without the attribute.
        """
        if weight is None:
            return None
        found = self.weights.get(weight)
        if found is None:
            raise NotImplementedError(f"the graph was converted without the attribute {weight!r} of edges")
        return found

    def native(self, weight: Hashable | None, *, reverse: bool = False) -> _warpath.Graph:
        """The graph of the library, with the weights of an attribute or without, prepared when first asked for."""
        reverse = reverse and self._directed
        key = (weight, reverse)
        with self._lock:
            native = self._natives.get(key)
            if native is None:
                weights = self.weights_of(weight)
                tails, heads = (self.heads, self.tails) if reverse else (self.tails, self.heads)
                native = _warpath.Graph.from_edges(
                    tails,
                    heads,
                    None if weights is None else weights.values,
                    vertices=len(self.nodes),
                    directed=self._directed,
                )
                self._natives[key] = native
        return native

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        # They are made again when they are asked for.
        del state["_natives"], state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._natives = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        kind = "directed" if self._directed else "undirected"
        return f"<warpath.networkx.Graph: {kind}, {len(self.nodes)} nodes, {len(self.tails)} pairs of neighbours>"


def _numbers(values: list[Any], edges: np.ndarray | None, nodes: int, name: Hashable) -> Weights:
    """The values of an attribute as weights, those of some edges if not of all."""
    types = set(map(type, values))
    if not types <= _NUMBERS:
        names = ", ".join(sorted(kind.__name__ for kind in types - _NUMBERS))
        raise NotImplementedError(f"values of the attribute {name!r} are no ints or floats: {names}")
    whole = types <= _WHOLE
    try:
        array = np.array(values, dtype=np.int64 if whole else np.float64)
    except OverflowError:
        raise NotImplementedError(f"values of the attribute {name!r} have more than 64 bits") from None
    if edges is not None:
        array = array[edges]
    if not len(array):
        return Weights(array, whole, negative=False)
    least, most = array.min().item(), array.max().item()
    longest = max(abs(least), abs(most)) * max(nodes, 1)
    if not longest < 2**1023:
        raise NotImplementedError(f"values of the attribute {name!r} are not finite, or their sums may not be")
    # Python's integers have no end; where some are among floats, only these bounds keep them what they are.
    if types & _WHOLE and longest >= _EXACT:
        raise NotImplementedError(f"sums of the attribute {name!r} may exceed 2**53")
    if whole and (most >= 2**32 or (least < 0 and (most >= 2**31 or least < -(2**31)))):
        array = array.astype(np.float64)
    return Weights(array, whole, negative=least < 0)


def convert_from_nx(
    graph: nx.Graph | Graph,
    edge_attrs: dict[Hashable, Any] | None = None,
    node_attrs: dict[Hashable, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> Graph:
    """A graph of NetworkX as one of Warpath, with the attributes of edges that ``edge_attrs`` has, with their defaults, as weights.

    The other arguments are those that NetworkX passes to every backend: attributes of nodes and graphs are not converted, and
    ``preserve_edge_attrs`` is refused. Raises ``NotImplementedError`` for weights whose sums could differ from NetworkX's: other
    things than ints and floats, numbers that are not finite, integers whose sums may exceed 2**53.
    """
    if isinstance(graph, Graph):
        return graph
    if preserve_edge_attrs:
        raise NotImplementedError("only attributes of edges that are named are converted")
    adjacency = dict(graph.adjacency())
    nodes = list(adjacency)
    directed, multigraph = graph.is_directed(), graph.is_multigraph()
    index = dict(zip(nodes, range(len(nodes))))
    neighbours = cast("Collection[Any]", adjacency.values())
    degrees = np.fromiter(map(len, neighbours), dtype=np.int64, count=len(nodes))
    arcs = int(degrees.sum())
    tails = np.repeat(np.arange(len(nodes), dtype=np.uint32), degrees)
    heads = np.fromiter(map(index.__getitem__, chain.from_iterable(neighbours)), dtype=np.uint32, count=arcs)
    edges = None
    if not directed:
        # Each edge is in two rows.
        edges = tails <= heads
        tails, heads = tails[edges], heads[edges]
    weights: dict[Hashable, Weights] = {}
    for attribute, default in (edge_attrs or {}).items():
        if multigraph:
            values = [
                _least([data.get(attribute, default) for data in parallel.values()], attribute)
                for row in neighbours
                for parallel in row.values()
            ]
        else:
            values = [data.get(attribute, default) for row in neighbours for data in row.values()]
        weights[attribute] = _numbers(values, edges, len(nodes), attribute)
    return Graph(nodes, tails, heads, weights, directed=directed, multigraph=multigraph)


def _least(values: list[Any], name: Hashable) -> Any:
    """The least of the weights of parallel edges."""
    if len(values) == 1:
        return values[0]
    if not set(map(type, values)) <= _NUMBERS or any(value != value for value in values):
        raise NotImplementedError(f"values of the attribute {name!r} of parallel edges are no numbers")
    return min(values)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """A graph of Warpath as one of NetworkX, with the attributes of edges that it was converted with; other results as they are.

    Raises ``NotImplementedError`` for a multigraph, of whose parallel edges only the least weights were kept.
    """
    if not isinstance(result, Graph):
        return result
    if result.is_multigraph():
        raise NotImplementedError("parallel edges were not kept")
    graph = cast(Any, nx.DiGraph() if result.is_directed() else nx.Graph())
    nodes = result.nodes
    graph.add_nodes_from(nodes)
    columns = [
        (attribute, (weights.values.astype(np.int64) if weights.whole else weights.values).tolist())
        for attribute, weights in result.weights.items()
    ]
    for place, (tail, head) in enumerate(zip(result.tails.tolist(), result.heads.tolist())):
        graph.add_edge(nodes[tail], nodes[head])
        graph[nodes[tail]][nodes[head]].update((attribute, values[place]) for attribute, values in columns)
    return graph
