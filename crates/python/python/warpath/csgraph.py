"""The shortest paths of ``scipy.sparse.csgraph``, by Warpath: the same names, arguments, results and errors.

>>> from scipy.sparse import csr_array
>>> from warpath.csgraph import dijkstra
>>> dijkstra(csr_array([[0, 1, 2], [0, 0, 1], [0, 0, 0]]), indices=0)
array([0., 1., 2.])

``shortest_path``, ``dijkstra``, ``bellman_ford``, ``johnson``, ``floyd_warshall`` and ``yen`` are Warpath's; it chooses the algorithm by
itself. All other functions are SciPy's own. SciPy 1.14 or later is needed.

Graphs are what SciPy takes: arrays, masked arrays, sparse arrays and matrices of any format and type of number. Zeros, infinities and
NaN of an array are no edges; in a sparse array each stored entry is one, zeros included, but for infinity and NaN where there are weights.
Of an undirected graph's entries ``[i, j]`` and ``[j, i]`` the lesser counts. Of several stored entries for the same place in a CSR or CSC
array of ``float64`` the least counts; in one of another type, and in a COO array, SciPy's conversion adds them up first. In
``floyd_warshall``, and in ``shortest_path`` where that is the method, the least counts in CSR and CSC arrays of any type.

Distances are ``float64``, infinity where nothing arrives, and predecessors ``int32``, -9999 where there is none. Weights that are whole
numbers below 2**32 are added up as integers, which is quicker and gives the same sums. Where several shortest paths exist, predecessors may
be those of another one than SciPy's.

The functions of Warpath but ``yen`` take one argument more, ``dtype``, for distances in less memory. ``"float32"`` rounds the sums of ``float64``
once. ``"int32"`` and ``"int64"`` want weights that are whole numbers of 0 or more, or ``unweighted``, and have -1 where nothing arrives.
A distance that does not fit, or a whole one above 2**53, is an ``OverflowError``. No matrix of ``float64`` is made on the way. ``int32``
distances without predecessors and limit are the library's own memory, unless it adds up in 64 bits: an array that nobody may write.

Where answers differ from SciPy's:

* ``dijkstra`` raises ``NegativeCycleError`` for a cycle below 0 that a source reaches. SciPy's has inaccurate answers, or does not end.
* ``bellman_ford`` of an undirected graph has no false alarms: SciPy's takes rounding of positive sums for negative cycles.
* Of paths of the same length, ``yen`` may return others, in another order.
* ``floyd_warshall`` takes all sparse formats, and ``shortest_path`` lists.

-infinity as a weight, distances beyond ``float64``, cycles that are below 0 by no more than rounding, and limits with weights below 0 are
left to SciPy's functions.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.sparse import csgraph as _scipy
from scipy.sparse import issparse

# Orders of visits are SciPy's own: Warpath searches the vertices of a level in any order, on all cores, and an order afterwards costs more
# than SciPy's search.
from scipy.sparse.csgraph import (
    NegativeCycleError,
    breadth_first_order,
    breadth_first_tree,
    connected_components,
    construct_dist_matrix,
    csgraph_from_dense,
    csgraph_from_masked,
    csgraph_masked_from_dense,
    csgraph_to_dense,
    csgraph_to_masked,
    depth_first_order,
    depth_first_tree,
    laplacian,
    maximum_bipartite_matching,
    maximum_flow,
    min_weight_full_bipartite_matching,
    minimum_spanning_tree,
    reconstruct_path,
    reverse_cuthill_mckee,
    structural_rank,
)

from ._csgraph import (
    BeyondWarpath,
    Request,
    WeightFacts,
    has_negative,
    narrowed,
    read_dtype,
    read_floyd_warshall,
    read_graph,
    read_sources,
    select,
)

__all__ = [
    "NegativeCycleError",
    "bellman_ford",
    "breadth_first_order",
    "breadth_first_tree",
    "connected_components",
    "construct_dist_matrix",
    "csgraph_from_dense",
    "csgraph_from_masked",
    "csgraph_masked_from_dense",
    "csgraph_to_dense",
    "csgraph_to_masked",
    "depth_first_order",
    "depth_first_tree",
    "dijkstra",
    "floyd_warshall",
    "johnson",
    "laplacian",
    "maximum_bipartite_matching",
    "maximum_flow",
    "min_weight_full_bipartite_matching",
    "minimum_spanning_tree",
    "reconstruct_path",
    "reverse_cuthill_mckee",
    "shortest_path",
    "structural_rank",
    "yen",
]


def __dir__() -> list[str]:
    """The names that are SciPy's, without what this module imports for itself."""
    return sorted(__all__)


def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: ArrayLike | None = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
    *,
    dtype: DTypeLike | None = None,
) -> Any:
    """The shortest paths from some vertices, or from all, as ``scipy.sparse.csgraph.dijkstra``.

    Args:
        csgraph: the graph, N x N: an array, a masked array or a sparse array.
        directed: whether an entry ``[i, j]`` leads from i to j only; otherwise it leads both ways.
        indices: the sources, one integer or an array of any shape; all vertices if left out. Negative ones count from the end.
        return_predecessors: whether to return predecessors, too.
        unweighted: whether distances are numbers of edges.
        limit: the greatest distance to look for, 0 or more.
        min_only: whether to search from the nearest source instead of from each.
        dtype: the type of distances: ``float64`` if left out, ``"float32"``, ``"int32"`` or ``"int64"``; see the module.

    Returns:
        Distances of the shape of ``indices`` and (N,), infinity (integers: -1) where nothing arrives; with ``return_predecessors`` a tuple
        of them and the predecessors, ``int32`` and -9999 where there is none. With ``min_only`` all have the shape (N,), and a third array
        has the source of each vertex, -9999 where nothing arrives.

    Raises:
        NegativeCycleError: a source reaches a cycle whose length is below 0.
        ValueError: the graph is not square, a source is not in it, the limit is below 0, or weights are none for an integer ``dtype``.
        TypeError: a ``dtype`` that is none of the four.
        OverflowError: a distance that does not fit ``dtype``.

    >>> from warpath.csgraph import dijkstra
    >>> dijkstra([[0, 1, 5], [0, 0, 2], [0, 0, 0]], indices=0, return_predecessors=True)
    (array([0., 1., 3.]), array([-9999,     0,     1], dtype=int32))
    """
    return _dijkstra(read_graph(csgraph, directed), directed, indices, return_predecessors, unweighted, limit, min_only, dtype)


def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: ArrayLike | None = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    *,
    dtype: DTypeLike | None = None,
) -> Any:
    """The shortest paths from some vertices, or from all, with weights of any sign, as ``scipy.sparse.csgraph.bellman_ford``.

    Arguments and results are those of ``dijkstra``.

    Raises:
        NegativeCycleError: a source reaches a cycle whose length is below 0; in an undirected graph, any edge below 0.
        ValueError, TypeError, OverflowError: as ``dijkstra``.

    >>> from warpath.csgraph import bellman_ford
    >>> bellman_ford([[0, 4, 5], [0, 0, 0], [0, -2, 0]], indices=0)
    array([0., 3., 5.])
    """
    return _bellman_ford(read_graph(csgraph, directed), directed, indices, return_predecessors, unweighted, dtype)


def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: ArrayLike | None = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    *,
    dtype: DTypeLike | None = None,
) -> Any:
    """The shortest paths from some vertices, or from all, with weights of any sign, as ``scipy.sparse.csgraph.johnson``.

    Arguments and results are those of ``dijkstra``.

    Raises:
        NegativeCycleError: a cycle's length is below 0, whether a source reaches it or not; in an undirected graph, any edge below 0.
        ValueError, TypeError, OverflowError: as ``dijkstra``.

    >>> from warpath.csgraph import johnson
    >>> johnson([[0, 4, 5], [0, 0, 0], [0, -2, 0]])
    array([[ 0.,  3.,  5.],
           [inf,  0., inf],
           [inf, -2.,  0.]])
    """
    return _johnson(read_graph(csgraph, directed), directed, indices, return_predecessors, unweighted, dtype)


def floyd_warshall(
    csgraph: Any,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    *,
    dtype: DTypeLike | None = None,
) -> Any:
    """The shortest paths between all pairs of vertices, with weights of any sign, as ``scipy.sparse.csgraph.floyd_warshall``.

    Args:
        csgraph: the graph, as that of ``dijkstra``.
        directed, return_predecessors, unweighted, dtype: as those of ``dijkstra``.
        overwrite: whether to write the distances over the graph, if it is an array of ``float64`` in rows, and return it.

    Returns:
        Distances, N x N; with ``return_predecessors`` a tuple of them and the predecessors.

    Raises:
        NegativeCycleError: a cycle's length is below 0; loops do not count.
        ValueError, TypeError, OverflowError: as ``dijkstra``.

    >>> from warpath.csgraph import floyd_warshall
    >>> floyd_warshall([[0, 1, 5], [0, 0, 2], [0, 0, 0]], directed=False)
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    matrix = read_graph(csgraph, directed)
    return _floyd_warshall(csgraph, matrix, directed, return_predecessors, unweighted, overwrite, dtype)


def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: ArrayLike | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> Any:
    """The shortest paths from some vertices, or from all, as ``scipy.sparse.csgraph.shortest_path``.

    Args:
        csgraph: the graph, as that of ``dijkstra``.
        method: ``"D"``, ``"BF"``, ``"J"`` or ``"FW"``, for what ``dijkstra``, ``bellman_ford``, ``johnson`` or ``floyd_warshall`` have for
            edges and for errors; ``"auto"`` for the one that SciPy would choose. Which algorithm runs is Warpath's choice in any case.
        directed, return_predecessors, unweighted, dtype: as those of ``dijkstra``.
        indices: as that of ``dijkstra``; none with ``"FW"``.
        overwrite: as that of ``floyd_warshall``, where that is the method.

    Returns:
        What the function of the method does.

    Raises:
        ValueError: a method of another name, or ``indices`` with ``"FW"``; and as the function of the method.

    >>> from warpath.csgraph import shortest_path
    >>> shortest_path([[0, 1, 5], [0, 0, 2], [0, 0, 0]], unweighted=True, dtype="int32")
    array([[ 0,  1,  1],
           [-1,  0,  1],
           [-1, -1,  0]], dtype=int32)
    """
    matrix = read_graph(csgraph, directed)
    if method == "auto":
        entries = csgraph.nnz if issparse(csgraph) else matrix.nnz
        if indices is not None or entries < matrix.shape[0] ** 2 / 4:
            method = "J" if has_negative(matrix) else "D"
        else:
            method = "FW"
    if method == "FW":
        if indices is not None:
            raise ValueError("Cannot specify indices with method == 'FW'.")
        return _floyd_warshall(csgraph, matrix, directed, return_predecessors, unweighted, overwrite, dtype)
    if method == "D":
        return _dijkstra(matrix, directed, indices, return_predecessors, unweighted, np.inf, False, dtype)
    if method == "BF":
        return _bellman_ford(matrix, directed, indices, return_predecessors, unweighted, dtype)
    if method == "J":
        return _johnson(matrix, directed, indices, return_predecessors, unweighted, dtype)
    raise ValueError(f"unrecognized method '{method}'")


def yen(
    csgraph: Any,
    source: int,
    sink: int,
    K: int,
    *,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """The K shortest paths without repeated vertices between two vertices, as ``scipy.sparse.csgraph.yen``.

    Args:
        csgraph: the graph, N x N: an array, a masked array or a sparse array.
        source: where the paths start.
        sink: where they end.
        K: how many paths to find; if there are fewer, all are found.
        directed, return_predecessors, unweighted: as in ``dijkstra``.

    Returns:
        The lengths of the M paths that were found, ascending; with ``return_predecessors`` a tuple of them and a matrix, M x N and
        ``int32``, whose row has for each vertex of a path the one before it, and -9999 elsewhere.

    Raises:
        ValueError: the graph is not square, or a vertex is not in it.
        NegativeCycleError: a cycle's length is below 0.

    >>> from warpath.csgraph import yen
    >>> yen([[0, 1, 5], [0, 0, 2], [0, 0, 0]], 0, 2, 3, return_predecessors=True)
    (array([3., 5.]), array([[-9999,     0,     1],
           [-9999, -9999,     0]], dtype=int32))
    """
    matrix = read_graph(csgraph, directed)
    vertices = range(matrix.shape[0])
    is_usual = source in vertices and sink in vertices and source != sink and K > 0 and not has_negative(matrix)
    try:
        if not is_usual:
            raise BeyondWarpath
        return Request(matrix, directed, unweighted, np.dtype(np.float64)).shortest_paths(source, sink, K, return_predecessors)
    except BeyondWarpath:
        options = {"directed": directed, "return_predecessors": return_predecessors, "unweighted": unweighted}
        return _scipy.yen(csgraph, source, sink, K, **options)


def _dijkstra(
    matrix: Any,
    directed: bool,
    indices: ArrayLike | None,
    return_predecessors: bool,
    unweighted: bool,
    limit: float,
    min_only: bool,
    dtype: DTypeLike | None,
) -> Any:
    wanted = read_dtype(dtype)
    sources = read_sources(indices, matrix.shape[0])
    # `float` would take strings, which SciPy does not.
    within = math.fsum((limit,))
    if within < 0:
        raise ValueError("limit must be >= 0")
    # No sum is below NaN.
    searched = select(matrix, np.zeros(matrix.data.shape, dtype=bool)) if math.isnan(within) else matrix
    within = np.inf if math.isnan(within) else within
    # SciPy's own function warns by itself.
    facts = WeightFacts(matrix)
    warns = facts.below_0
    of_searched = facts if searched is matrix else WeightFacts(searched)
    below = of_searched.below_0 and not unweighted
    try:
        request = Request(searched, directed, unweighted, wanted, of_searched)
        if below and within != np.inf:
            # Warpath's searches have no limit here. SciPy's does not end in a negative cycle, so that none is let through.
            request.nearest(sources)
            found = _scipy.dijkstra(matrix, directed, indices, return_predecessors, unweighted, limit, min_only)
            found, warns = _narrowed(found, wanted), False
        elif min_only:
            found = request.nearest(sources, limit=within, predecessors=return_predecessors)
        else:
            found = request.rows(sources, limit=within, predecessors=return_predecessors)
    except BeyondWarpath:
        if not below:
            found = _scipy.dijkstra(matrix, directed, indices, return_predecessors, unweighted, limit, min_only)
        elif within == np.inf and not min_only:
            # It ends, and has the same answers.
            found = _scipy.bellman_ford(matrix, directed, indices, return_predecessors)
        else:
            raise ValueError("with a limit or min_only, weights and distances below 0 have to be finite") from None
        found = _narrowed(found, wanted)
    if warns:
        warnings.warn(
            "Graph has negative weights: dijkstra will give inaccurate results if the graph contains negative "
            "cycles. Consider johnson or bellman_ford.",
            stacklevel=3,
        )
    return found


def _bellman_ford(
    matrix: Any,
    directed: bool,
    indices: ArrayLike | None,
    return_predecessors: bool,
    unweighted: bool,
    dtype: DTypeLike | None,
) -> Any:
    wanted = read_dtype(dtype)
    sources = read_sources(indices, matrix.shape[0])
    try:
        return Request(matrix, directed, unweighted, wanted).rows(sources, predecessors=return_predecessors)
    except BeyondWarpath:
        return _narrowed(_scipy.bellman_ford(matrix, directed, indices, return_predecessors, unweighted), wanted)


def _johnson(
    matrix: Any,
    directed: bool,
    indices: ArrayLike | None,
    return_predecessors: bool,
    unweighted: bool,
    dtype: DTypeLike | None,
) -> Any:
    if unweighted:
        # As SciPy's, which warns of weights below 0 even then.
        return _dijkstra(matrix, directed, indices, return_predecessors, unweighted, np.inf, False, dtype)
    wanted = read_dtype(dtype)
    sources = read_sources(indices, matrix.shape[0])
    try:
        request = Request(matrix, directed, unweighted, wanted)
        return request.rows(sources, predecessors=return_predecessors, any_cycle=True)
    except BeyondWarpath:
        return _narrowed(_scipy.johnson(matrix, directed, indices, return_predecessors, unweighted), wanted)


def _floyd_warshall(
    csgraph: Any,
    matrix: Any,
    directed: bool,
    return_predecessors: bool,
    unweighted: bool,
    overwrite: bool,
    dtype: DTypeLike | None,
) -> Any:
    wanted = read_dtype(dtype)
    sources = read_sources(None, matrix.shape[0])
    try:
        edges = read_floyd_warshall(csgraph, matrix)
        request = Request(edges, directed, unweighted, wanted)
        found = request.rows(sources, predecessors=return_predecessors, any_order=True)
    except BeyondWarpath:
        # It takes few sparse formats.
        given = csgraph if not issparse(csgraph) or csgraph.format in ("csr", "csc") else matrix
        found = _narrowed(_scipy.floyd_warshall(given, directed, return_predecessors, unweighted), wanted)
    return _overwritten(csgraph, found) if overwrite else found


def _narrowed(found: Any, dtype: np.dtype[Any]) -> Any:
    """Answers of SciPy with distances of this type."""
    if isinstance(found, tuple):
        return (narrowed(found[0], dtype), *found[1:])
    return narrowed(found, dtype)


def _overwritten(csgraph: Any, found: Any) -> Any:
    """Answers whose distances have taken the place of the graph, if they can."""
    distances = found[0] if isinstance(found, tuple) else found
    if not (isinstance(csgraph, np.ndarray) and csgraph.flags.carray and csgraph.dtype == distances.dtype == np.float64):
        return found
    place = np.asarray(csgraph)
    place[...] = distances
    return (place, *found[1:]) if isinstance(found, tuple) else place
