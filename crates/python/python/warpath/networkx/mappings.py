"""Results that are made when they are asked for: they behave like the dictionaries of NetworkX."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, MutableMapping, ValuesView
from typing import Any

import numpy as np

from .searches import Search

__all__ = ["Distances", "Paths", "Predecessors"]


class _OfNodes(MutableMapping[Any, Any]):
    """A mapping from nodes to values that a search has for them, each made when it is asked for.

    It equals a dictionary with the same values, prints like one, and can be copied and pickled. Once changed it holds a
    dictionary.
    """

    def __init__(self, search: Search, found: np.ndarray) -> None:
        self._search = search
        self._found = found
        self._made: dict[Any, Any] | None = None

    def _value(self, number: int) -> Any:
        """The value of a node that has one, by its number."""
        raise NotImplementedError

    def _all(self) -> dict[Any, Any]:
        """The dictionary, made now if it was not before."""
        if self._made is None:
            self._made = {self._search.nodes[number]: self._value(number) for number in self._numbers()}
        return self._made

    def _numbers(self) -> list[int]:
        """The numbers of the nodes that have values, in the order of the search."""
        order = self._search.order
        numbers: list[int] = order[self._found[order]].tolist()
        return numbers

    def __getitem__(self, key: Any) -> Any:
        if self._made is not None:
            return self._made[key]
        number = self._search.index[key]
        if not self._found[number]:
            raise KeyError(key)
        return self._value(number)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._all()[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._all()[key]

    def __contains__(self, key: object) -> bool:
        if self._made is not None:
            return key in self._made
        number = self._search.index.get(key)
        return number is not None and bool(self._found[number])

    def __iter__(self) -> Iterator[Any]:
        if self._made is not None:
            return iter(self._made)
        return map(self._search.nodes.__getitem__, self._numbers())

    def __len__(self) -> int:
        return int(np.count_nonzero(self._found)) if self._made is None else len(self._made)

    def __or__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        return {**self, **other} if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        return {**other, **self} if isinstance(other, Mapping) else NotImplemented

    def __repr__(self) -> str:
        return repr(dict(self.items()))

    def copy(self) -> dict[Any, Any]:
        """A dictionary with the same values."""
        return dict(self.items())


class Distances(_OfNodes):
    """The distance of each node that a search reached, in ascending order.

    Looking some up makes only these; who goes through all makes the dictionary.
    """

    def __init__(self, search: Search) -> None:
        super().__init__(search, search.found)

    def _value(self, number: int) -> int | float:
        return self._search.distance(number)

    def _all(self) -> dict[Any, Any]:
        if self._made is None:
            self._made = self._search.as_dict()
        return self._made

    def __iter__(self) -> Iterator[Any]:
        return iter(self._all())

    def items(self) -> ItemsView[Any, Any]:
        """The nodes with their distances."""
        return self._all().items()

    def values(self) -> ValuesView[Any]:
        """The distances."""
        return self._all().values()


class Paths(_OfNodes):
    """A shortest path, a new list of nodes, for each node that a search reached, in ascending order of the distances.

    Paths start at the source; with ``towards`` they are those of a search against the direction of edges, and end there.
    """

    def __init__(self, search: Search, *, towards: bool = False) -> None:
        super().__init__(search, search.found)
        self._towards = towards

    def _value(self, number: int) -> list[Any]:
        return self._search.path(number, towards=self._towards)


class Predecessors(_OfNodes):
    """The node before each node on a shortest path, for those that have one."""

    def __init__(self, search: Search) -> None:
        assert search.before is not None, "predecessors were wanted"
        super().__init__(search, search.before >= 0)

    def _value(self, number: int) -> Any:
        return self._search.nodes[self._search.predecessor(number)]
