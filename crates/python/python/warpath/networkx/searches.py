"""Searches on converted graphs: what every function is made of."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np

from .. import _warpath
from .convert import Graph

__all__ = [
    "Search",
    "connecting",
    "is_strongly_connected",
    "not_negative",
    "search",
    "search_each",
    "total_of",
]

#: About as many distances are found at once where there is a search from each node.
_CELLS = 1 << 22


def _ascending(values: np.ndarray) -> np.ndarray:
    """The places of the values in ascending order, equal values as they come: quicker than a stable sort by NumPy."""
    order: np.ndarray = np.argsort(values)
    ordered = values[order]
    steps = ordered[1:] != ordered[:-1]
    if steps.all():
        return order
    ranks = np.concatenate([[0], np.cumsum(steps)])
    places: np.ndarray = np.sort(ranks * len(values) + order) % len(values)
    return places


class Search:
    """What a search on a graph found.

    ``distances`` is an array with a number for each node, which counts only where ``found``, an array of booleans, is true.
    ``before`` is an array of the number of the node before each one on a shortest path, below 0 where there is none; ``None``
    if predecessors were not wanted. ``sources`` are the numbers of the nodes that the search starts from; ``whole`` says that
    distances are integers.
    """

    def __init__(
        self,
        graph: Graph,
        sources: Sequence[int],
        distances: np.ndarray,
        found: np.ndarray,
        before: np.ndarray | None,
        *,
        whole: bool,
    ) -> None:
        self.nodes = graph.nodes
        self.index = graph.index
        self.sources = sources
        self.distances = distances
        self.found = found
        self.before = before
        self.whole = whole

    @cached_property
    def order(self) -> np.ndarray:
        """The numbers of the nodes that were reached: the sources, then the others by ascending distance."""
        reached = np.flatnonzero(self.found)
        order: np.ndarray = reached[_ascending(self.distances[reached])]
        # Others can have the distance 0, too.
        count = len(self.sources)
        if sorted(order[:count].tolist()) != sorted(self.sources):
            order = np.concatenate([np.array(self.sources, dtype=order.dtype), order[~np.isin(order, self.sources)]])
        return order

    def distance(self, number: int) -> int | float:
        """The distance of a node that was reached: an integer if distances are integers, and for sources."""
        value: int | float = self.distances.item(number)
        if value == 0 and number in self.sources:
            return 0
        return int(value) if self.whole and value != math.inf else value

    def distances_in_order(self) -> list[Any]:
        """The distances of the nodes in ``order``, as Python's numbers."""
        values = self.distances[self.order]
        if self.whole and values.dtype.kind == "f" and np.isfinite(values).all():
            values = values.astype(np.int64)
        found: list[Any] = values.tolist()
        if self.whole and values.dtype.kind == "f":
            found = [int(value) if value != math.inf else value for value in found]
        # The source of a path has no sum of weights yet.
        found[: len(self.sources)] = [0] * len(self.sources)
        return found

    def total(self) -> int | float:
        """The sum of all distances: an exact integer if they are integers, else added up in ``order``."""
        if self.whole:
            values = self.distances[self.found].astype(np.float64)
            # Such sums are exact, and those of its parts.
            if np.abs(values).sum() < 2**53:
                return int(values.sum())
        total: int | float = sum(self.distances_in_order())
        return total

    def as_dict(self) -> dict[Any, int | float]:
        """A dictionary with the distance of each node that was reached, in ``order``."""
        return dict(zip(map(self.nodes.__getitem__, self.order.tolist()), self.distances_in_order()))

    def with_all_nodes(self) -> Search:
        """The same distances, with those of nodes that were not reached: infinity."""
        everywhere = copy.copy(self)
        everywhere.__dict__.pop("order", None)
        everywhere.found = np.ones_like(self.found)
        return everywhere

    def precede(self, before: int, number: int) -> None:
        """Makes one node the predecessor of another one."""
        assert self.before is not None, "predecessors were wanted"
        self.before[number] = before

    def predecessor(self, number: int) -> int:
        """The number of the node before this one, below 0 if there is none."""
        assert self.before is not None, "predecessors were wanted"
        before: int = self.before.item(number)
        return before

    def path(self, number: int, *, towards: bool = False) -> list[Any]:
        """The nodes from a source to a node that was reached, or the other way round with ``towards``."""
        assert self.before is not None, "predecessors were wanted"
        # Much quicker to index than the array.
        before = self.before.data
        nodes = self.nodes
        path = []
        while number >= 0:
            path.append(nodes[number])
            number = before[number]
        if not towards:
            path.reverse()
        return path


def not_negative(graph: Graph, weight: Hashable | None) -> None:
    """Raises ``NotImplementedError`` for weights below 0, with which functions on Dijkstra's algorithm have answers of their own."""
    weights = graph.weights_of(weight)
    if weights is not None and weights.negative:
        raise NotImplementedError(f"the attribute {weight!r} of edges has values below 0")


def _levels(cutoff: float | None) -> int | None:
    """The number of levels of a breadth-first search that NetworkX allows for a cutoff."""
    if cutoff is None or cutoff == math.inf:
        return None
    # Levels are counted while they are less than the cutoff.
    return max(0, min(math.ceil(cutoff), 2**32 - 2)) if cutoff != -math.inf else 0


def _length(cutoff: float | None) -> float | None:
    """A cutoff as a length that distances, which are less than 2**1023, can exceed."""
    return None if cutoff is None or cutoff >= 2**1023 else float(cutoff)


def _is_whole(graph: Graph, weight: Hashable | None) -> bool:
    weights = graph.weights_of(weight)
    return weights is None or weights.whole


def _unbounded() -> nx.NetworkXUnbounded:
    return nx.NetworkXUnbounded("Negative cycle detected.")


def search(
    graph: Graph,
    sources: Iterable[int],
    weight: Hashable | None = None,
    *,
    cutoff: float | None = None,
    reverse: bool = False,
    predecessors: bool = True,
) -> Search:
    """A search from the nearest of some nodes, given by their numbers, by the weights of an attribute or by numbers of edges.

    ``cutoff`` is the greatest distance that counts, ``reverse`` searches against the direction of edges. Raises
    ``networkx.NetworkXUnbounded`` if a negative cycle can be reached.
    """
    sources = list(dict.fromkeys(sources))
    native = graph.native(weight, reverse=reverse)
    before: Any
    length = _length(cutoff)
    if weight is not None and length is not None:
        if length < 0:
            # Not even edges of length 0 are followed.
            distances, before = np.full(len(graph), np.inf), np.full(len(graph), -1, dtype=np.int32)
            distances[sources] = 0
        else:
            distances, before, _ = native._nearest(sources, cutoff=length)
        return Search(graph, sources, distances, distances != np.inf, before, whole=_is_whole(graph, weight))
    if weight is None:
        tree = native.bfs(sources, cutoff=_levels(cutoff), predecessors=predecessors)
    else:
        try:
            tree = native.sssp(sources, predecessors=predecessors)
        except _warpath.NegativeCycleError:
            raise _unbounded() from None
    distances = tree.distances
    if distances.dtype.kind == "f":
        found = distances != np.inf
    elif weight is not None and graph.weights[weight].negative:
        found = distances != np.iinfo(np.int64).max
    else:
        found = distances >= 0
    return Search(graph, sources, distances, found, tree.predecessors, whole=_is_whole(graph, weight))


def connecting(
    graph: Graph, source: int, target: int, weight: Hashable | None = None
) -> tuple[int | float, list[Any]] | None:
    """The distance between two nodes, given by their numbers, and a shortest path; ``None`` if there is no path.

    Raises ``networkx.NetworkXUnbounded`` if a negative cycle can be reached.
    """
    native = graph.native(weight)
    try:
        if weight is None:
            tree = native.bfs(source, targets=target)
        else:
            tree = native.sssp(source, targets=target)
    except _warpath.NegativeCycleError:
        raise _unbounded() from None
    path, distance = tree.path_to(target), tree.distance(target)
    if path is None or distance is None:
        return None
    whole = source == target or _is_whole(graph, weight)
    return int(distance) if whole else distance, [graph.nodes[number] for number in path.tolist()]


def search_each(
    graph: Graph,
    sources: Iterable[int] | None = None,
    weight: Hashable | None = None,
    *,
    cutoff: float | None = None,
    reverse: bool = False,
    predecessors: bool = False,
) -> Iterator[Search]:
    """A search from each of some nodes, given by their numbers, or from all: several at once, as they are asked for.

    The arguments and errors are those of :func:`search`.
    """
    numbers = list(range(len(graph)) if sources is None else sources)
    native = graph.native(weight, reverse=reverse)
    whole = _is_whole(graph, weight)
    if weight is not None and cutoff is not None and cutoff < 0:
        for number in numbers:
            yield search(graph, [number], weight, cutoff=cutoff, reverse=reverse)
        return
    limit = _levels(cutoff) if weight is None else _length(cutoff)
    rows = max(_CELLS // max(len(graph), 1), os.cpu_count() or 1)
    start = 0
    while start < len(numbers):
        chunk = numbers[start : start + rows]
        try:
            found = native._rows(chunk, cutoff=limit, unweighted=weight is None, predecessors=predecessors)
        except _warpath.NegativeCycleError:
            if len(chunk) == 1:
                raise _unbounded() from None
            # The searches before the one that fails have answers.
            rows = 1
            continue
        start += len(chunk)
        distances, before = found
        for row, number in enumerate(chunk):
            # Copies, so that who keeps one row does not keep all of them.
            line = distances[row].copy()
            yield Search(
                graph,
                [number],
                line,
                line != np.inf,
                None if before is None else before[row].copy(),
                whole=whole,
            )


def is_strongly_connected(graph: Graph) -> bool:
    """Whether every node of a graph with at least one can reach every other."""
    return all(
        bool(search(graph, [0], reverse=reverse, predecessors=False).found.all())
        for reverse in ((False, True) if graph.is_directed() else (False,))
    )


def total_of(searches: Iterable[Search]) -> int | float:
    """The sum of all distances of some searches: exact for integers, and one sum of all floats in their order, as NetworkX has it."""
    return sum(value for each in searches for value in ([each.total()] if each.whole else each.distances_in_order()))
