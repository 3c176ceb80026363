"""The work behind ``warpath.csgraph``: SciPy's forms of graphs on the way in, its arrays on the way out."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import NegativeCycleError

# Private, and older than any other way in: nothing else keeps the forms of graphs, the entries that are no edges, and the errors those
# of the SciPy that is installed.
from scipy.sparse.csgraph._validation import validate_graph

from . import _warpath

#: Sums of fewer edges than this, each below 2**32, are exact in ``float64``.
_EXACT_EDGES = 2**21
#: Whole numbers up to this one are exact in ``float64``.
_EXACT_WHOLE = 2**53
#: What SciPy forgives a cycle per edge, as rounding.
_ROUNDING = 1e-15
#: Cells of ``float64`` that are narrowed at a time, and the fewest rows of them, so that all threads have work.
_BLOCK_CELLS, _BLOCK_ROWS = 2**22, 16

_DTYPES = ("float64", "float32", "int64", "int32")


class BeyondWarpath(Exception):
    """A request for SciPy's own function: Warpath refuses it, or has another idea of its answer."""


class Sources(NamedTuple):
    """Where searches start."""

    #: The vertices in a row, ``int32``.
    vertices: NDArray[np.int32]
    #: The shape that they were given in.
    shape: tuple[int, ...]
    #: Whether they are all vertices because none were named.
    are_all: bool


def read_dtype(dtype: DTypeLike | None) -> np.dtype[Any]:
    """The type of distances that is meant; ``TypeError`` unless it is one of the four."""
    wanted = np.dtype(dtype)
    if wanted.name not in _DTYPES:
        raise TypeError(f"dtype has to be one of {', '.join(_DTYPES)}, not {wanted}")
    return wanted


def read_graph(csgraph: Any, directed: bool) -> Any:
    """The graph as SciPy's sparse matrix of rows, as its own functions see it; ``ValueError`` unless it is one.

    Integers stay integers, which saves a copy. Everything else becomes ``float64``.
    """
    if np.ma.isMaskedArray(csgraph) and csgraph.mask is np.ma.nomask:
        # SciPy's conversion wants a mask of each entry.
        csgraph = np.ma.array(csgraph, mask=np.zeros(csgraph.shape, dtype=bool))
    if _is_plain_square(csgraph):
        indptr, indices, data = _warpath._sparse_rows(np.ascontiguousarray(csgraph, dtype=np.float64))
        return csr_array((data, indices, indptr), shape=csgraph.shape)
    keep = issparse(csgraph) and csgraph.dtype.kind in "biu"
    matrix = cast(Any, validate_graph)(
        csgraph,
        directed,
        dtype=csgraph.dtype if keep else np.float64,
        dense_output=False,
        # Zeros that fill blocks up are taken out, which must not happen to the caller's.
        copy_if_sparse=issparse(csgraph) and cast(Any, csgraph).format == "bsr",
    )
    if keep and not matrix.has_canonical_format:
        # SciPy's conversion of numbers adds entries for the same place up.
        matrix = matrix.astype(np.float64)
    return matrix


def _is_plain_square(csgraph: Any) -> bool:
    """Whether it is a square array of real numbers, whose entries Warpath finds on all cores as SciPy does on one."""
    is_plain = type(csgraph) is np.ndarray and csgraph.ndim == 2 and csgraph.dtype.kind in "biuf"
    return is_plain and csgraph.shape[0] == csgraph.shape[1] and 0 < csgraph.size < 2**31


def read_floyd_warshall(csgraph: Any, matrix: Any) -> Any:
    """The entries of a graph that ``read_graph`` has read which SciPy's Floyd-Warshall has for edges: no infinities, even in counts of
    edges, no zeros of a masked array, and no loops, so that a loop below 0 is no cycle. Of entries for the same place, the least."""
    if issparse(csgraph) and csgraph.format in ("csr", "csc") and csgraph.dtype != np.float64:
        # They are not added up before.
        rows = csgraph.tocsr()
        matrix = csr_array((rows.data.astype(np.float64), rows.indices, rows.indptr), shape=rows.shape)
    if np.isneginf(matrix.data).any():
        raise BeyondWarpath
    chosen = np.isfinite(matrix.data)
    if not issparse(csgraph):
        chosen &= matrix.data != 0
    if has_negative(matrix):
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        chosen &= rows != matrix.indices
    return select(matrix, chosen)


def read_sources(indices: Any, vertices: int) -> Sources:
    """The sources that ``indices`` stand for; negative ones count from the end. ``ValueError`` if there are not as many vertices."""
    if indices is None:
        return Sources(np.arange(vertices, dtype=np.int32), (vertices,), True)
    given = np.array(indices, order="C", dtype=np.int32, copy=True)
    sources = np.atleast_1d(given).reshape(-1)
    sources[sources < 0] += vertices
    if ((sources < 0) | (sources >= vertices)).any():
        raise ValueError(f"indices out of range 0...{vertices}")
    return Sources(sources, given.shape, False)


def select(matrix: Any, chosen: NDArray[np.bool_]) -> Any:
    """The matrix of some of the entries."""
    if chosen.all():
        return matrix
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[chosen]
    indptr = np.zeros(matrix.shape[0] + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=matrix.shape[0]), out=indptr[1:])
    return csr_array((matrix.data[chosen], matrix.indices[chosen], indptr), shape=matrix.shape)


def has_negative(matrix: Any) -> bool:
    """Whether a weight is below 0."""
    return matrix.data.dtype.kind in "if" and bool((matrix.data < 0).any())


class WeightFacts:
    """What the weights of a matrix are like, found in one look at them."""

    def __init__(self, matrix: Any) -> None:
        data = matrix.data
        #: All of them as integers, if they are floats that are whole, 0 or more, and fit.
        self.integers: _warpath._WholeWeights | None = None
        self.finite, self.whole = True, True
        if data.dtype.kind == "f":
            self.least, self.greatest, self.finite, self.whole, self.integers = _warpath._survey(
                np.require(data, requirements=["C", "A"])
            )
        else:
            self.least, self.greatest = data.min(initial=0), data.max(initial=0)
        #: Whether one is below 0, be it infinite.
        self.below_0 = bool(self.least < 0) or (not self.finite and bool(np.isneginf(data).any()))


class Request:
    """A graph, prepared for searches whose answers are SciPy's."""

    def __init__(
        self, matrix: Any, directed: bool, unweighted: bool, dtype: np.dtype[Any], facts: WeightFacts | None = None
    ) -> None:
        self._vertices: int = matrix.shape[0]
        self._unweighted = unweighted
        self._directed = bool(directed)
        self._dtype = dtype
        #: The weights, unless they are integers of 0 or more.
        self._weights: NDArray[Any] | None = None
        weights: Any = None
        if not unweighted:
            facts = WeightFacts(matrix) if facts is None else facts
            if not facts.finite:
                if np.isneginf(matrix.data).any():
                    raise BeyondWarpath
                matrix = select(matrix, np.isfinite(matrix.data))
            weights = matrix.data
            if matrix.data.dtype.kind != "b":
                exact = facts.whole and 0 <= facts.least and facts.greatest < 2**32 and self._vertices < _EXACT_EDGES
                # Integers, where those have the same sums as ``float64``.
                if exact and facts.integers is not None:
                    weights = facts.integers
                else:
                    weights = matrix.data.astype(np.uint32 if exact else np.float64, copy=False)
                    if not exact:
                        self._check_whole(weights)
                        self._weights = weights
        self._rows = matrix.indptr, matrix.indices
        self._graph = self._open(weights)

    def _open(self, weights: Any) -> _warpath.Graph:
        return _warpath.Graph.from_csr(*self._rows, weights, directed=self._directed)

    def _check_whole(self, weights: NDArray[Any]) -> None:
        if self._dtype.kind == "i" and weights.dtype.kind == "f" and weights.size:
            if weights.min() < 0:
                raise ValueError(f"distances of dtype {self._dtype} need weights of 0 or more: -1 stands for unreachable")
            if not (weights == np.floor(weights)).all():
                raise ValueError(f"distances of dtype {self._dtype} need weights that are whole numbers")

    def rows(
        self,
        sources: Sources,
        *,
        limit: float = np.inf,
        predecessors: bool = False,
        any_cycle: bool = False,
        any_order: bool = False,
    ) -> Any:
        """A search from each source: distances, and predecessors if they are wanted. With ``any_order``, distances may be sums of weights
        in another order than that of a path from its source on.

        A negative cycle that a source reaches is an error; with ``any_cycle``, one anywhere in the graph.
        """
        try:
            if any_cycle and not sources.are_all and self._has_negative():
                self._graph._nearest(np.arange(self._vertices))
            distances, before = self._distances(sources, limit, predecessors, any_order)
        except _warpath.NegativeCycleError as error:
            raise self._judged(error) from None
        except OverflowError as error:
            raise self._overflowed(error) from None
        shape = (*sources.shape, self._vertices)
        distances = distances.reshape(shape)
        return distances if before is None else (distances, before.reshape(shape))

    def nearest(self, sources: Sources, *, limit: float = np.inf, predecessors: bool = False) -> Any:
        """One search from the nearest source: distances, and, if predecessors are wanted, those and the sources."""
        if sources.vertices.size == 0:
            nothing = np.full(self._vertices, -9999, dtype=np.int32)
            found = np.full(self._vertices, np.inf), nothing, nothing.copy()
        else:
            try:
                found = self._graph._nearest(sources.vertices, cutoff=_cutoff(limit))
            except _warpath.NegativeCycleError as error:
                cycle: Exception = NegativeCycleError(str(error))
                raise cycle from None
            except OverflowError as error:
                raise self._overflowed(error) from None
        distances = narrowed(found[0], self._dtype)
        return (distances, *found[1:]) if predecessors else distances

    def shortest_paths(self, source: int, target: int, count: int, predecessors: bool) -> Any:
        """The lengths of the shortest paths without repeated vertices and, if they are wanted, the predecessors along each."""
        try:
            paths = self._graph.k_shortest_paths(int(source), int(target), int(count))
        except OverflowError as error:
            raise self._overflowed(error) from None
        lengths = np.array([path.length for path in paths], dtype=np.float64)
        if not predecessors:
            return lengths
        before = np.full((len(paths), self._vertices), -9999, dtype=np.int32)
        for row, path in zip(before, paths):
            row[path.vertices[1:]] = path.vertices[:-1]
        return lengths, before

    def _has_negative(self) -> bool:
        return self._weights is not None and bool((self._weights < 0).any())

    def _overflowed(self, error: OverflowError) -> Exception:
        """The exception for a distance beyond ``float64``: SciPy has infinity for it."""
        return BeyondWarpath() if self._dtype == np.float64 else error

    def _judged(self, error: _warpath.NegativeCycleError) -> Exception:
        """The exception for a negative cycle, unless SciPy takes it for one of length 0 with errors of rounding."""
        assert self._weights is not None, "a graph without weights below 0 has no negative cycle"
        try:
            self._open(self._weights + _ROUNDING)._nearest(np.arange(self._vertices))
        except _warpath.NegativeCycleError:
            cycle: Exception = NegativeCycleError(str(error))
            return cycle
        return BeyondWarpath()

    def _distances(
        self, sources: Sources, limit: float, predecessors: bool, any_order: bool
    ) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
        if self._dtype == np.float64:
            may_share = self._is_whole() or (any_order and not self._unweighted and not self._has_negative())
            if limit == np.inf and not predecessors and may_share:
                return self._graph._distance_rows(sources.vertices), None
            return self._block(sources.vertices, limit, predecessors)
        if self._dtype == np.int32 and limit == np.inf and not predecessors and self._is_whole():
            # The library's own memory, without a copy, unless distances were added up in 64 bits.
            found = self._graph.apsp(sources=None if sources.are_all else sources.vertices).distances
            return found if found.dtype == np.int32 else narrowed(found, self._dtype), None
        shape = (sources.vertices.size, self._vertices)
        distances = np.empty(shape, dtype=self._dtype)
        before: NDArray[np.int32] | None = np.empty(shape, dtype=np.int32) if predecessors else None
        step = max(_BLOCK_ROWS, _BLOCK_CELLS // max(1, self._vertices))
        for first in range(0, shape[0], step):
            block = slice(first, first + step)
            wide, of_block = self._block(sources.vertices[block], limit, predecessors)
            distances[block] = narrowed(wide, self._dtype)
            if before is not None and of_block is not None:
                before[block] = of_block
        return distances, before

    def _block(
        self, sources: NDArray[np.int32], limit: float, predecessors: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.int32] | None]:
        return self._graph._rows(
            sources, cutoff=_cutoff(limit), unweighted=self._unweighted, predecessors=predecessors
        )

    def _is_whole(self) -> bool:
        """Whether distances are sums of integers of 0 or more, the same whatever adds them up."""
        return not self._unweighted and self._weights is None


def _cutoff(limit: float) -> float | None:
    return None if limit == np.inf else limit


def narrowed(distances: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Distances in another type; -1 for infinity in integers. ``OverflowError`` for what does not fit."""
    if dtype == np.float64:
        return distances
    reached = np.isfinite(distances)
    greatest = np.max(distances, initial=0.0, where=reached)
    most = np.finfo(dtype).max if dtype.kind == "f" else min(np.iinfo(dtype).max, _EXACT_WHOLE)
    if greatest > most:
        raise OverflowError(f"the distance {greatest} does not fit the dtype {dtype}")
    if dtype.kind == "f":
        return distances.astype(dtype)
    return np.where(reached, distances, -1).astype(dtype)
