"""Shortest paths and reachability in large graphs."""

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, Literal, Self, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    "_command",
    "_edges_of_stream",
    "_sparse_rows",
    "_WholeWeights",
    "_survey",
    "generated_coordinates",
]

__version__: str

def _command(arguments: Sequence[str]) -> int: ...
def _edges_of_stream(
    table: Any, choose: Callable[[list[str]], tuple[int, int, int | None]]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[Any] | None, list[str] | None]: ...
def _sparse_rows(
    matrix: NDArray[np.float64],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]: ...
@final
class _WholeWeights: ...

def _survey(data: NDArray[np.float64]) -> tuple[float, float, bool, bool, _WholeWeights | None]: ...
def generated_coordinates(description: str) -> NDArray[np.float64] | None:
    """Where the vertices of ``generate(description)`` lie: x and y in a row for each; ``None`` if they lie nowhere."""

class NegativeCycleError(Exception):
    """There is no shortest path: a cycle of negative length can be reached."""

class VerificationError(Exception):
    """A result that its certificate does not confirm."""

@final
class Graph:
    """A graph, prepared once and asked many times."""

    def __new__(
        cls,
        data: Any,
        *,
        source: Any = None,
        target: Any = None,
        weight: Any = None,
        directed: bool | None = None,
        vertices: int | None = None,
        engine: str = "auto",
        threads: int = 0,
        memory: int | None = None,
    ) -> Self:
        """A graph of what another package has: a matrix, a graph, a table, arrays, or a list of edges."""

    @staticmethod
    def from_csr(
        indptr: ArrayLike,
        indices: ArrayLike,
        data: ArrayLike | None = None,
        *,
        directed: bool = True,
        engine: str = "auto",
        threads: int = 0,
        memory: int | None = None,
    ) -> Graph:
        """A graph from the three arrays of a sparse matrix; without ``data`` all edges have the length 1."""

    @staticmethod
    def from_edges(
        tails: ArrayLike,
        heads: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        vertices: int | None = None,
        directed: bool = True,
        engine: str = "auto",
        threads: int = 0,
        memory: int | None = None,
    ) -> Graph:
        """A graph from arrays of tails, heads and weights; without weights all edges have the length 1."""

    @staticmethod
    def read(
        path: str | PathLike[str],
        *,
        format: str | None = None,
        weights: str | int | None = None,
        source: str | int | None = None,
        target: str | int | None = None,
        directed: bool | None = None,
        first_line: str | None = None,
        engine: str = "auto",
        threads: int = 0,
        memory: int | None = None,
    ) -> Graph:
        """The graph in a file."""

    @staticmethod
    def generate(
        description: str, *, engine: str = "auto", threads: int = 0, memory: int | None = None
    ) -> Graph:
        """A graph of a family, such as ``grid:100x100,weights=1..100``."""

    @staticmethod
    def _of_arrays(
        tails: ArrayLike,
        heads: ArrayLike,
        weights: ArrayLike | None,
        vertices: int,
        directed: bool,
        labels: Any,
        engine: str,
        threads: int,
        memory: int | None,
    ) -> Graph: ...
    def read_coordinates(self, path: str | PathLike[str]) -> NDArray[np.float64]:
        """Where the vertices lie, from a ``.co`` or ``.csv`` file: x and y in a row for each vertex, NaN where unknown."""

    def write(self, path: str | PathLike[str]) -> None:
        """Writes the graph to a file, in the format that its extension names."""

    @property
    def labels(self) -> Any:
        """The names of the vertices in order; ``None`` if these are the numbers from 0 on."""

    def vertex(self, label: Any) -> int:
        """The vertex with this label; ``KeyError`` if there is none."""

    @property
    def prepared(self) -> bool:
        """Whether a hierarchy is there."""

    def prepare(self, order: ArrayLike | None = None, *, progress: bool = False) -> Graph:
        """Makes a hierarchy, unless one is there, and returns the graph itself."""

    def set_weights(self, weights: ArrayLike) -> None:
        """Gives the arcs other weights, in the order of ``weights``."""

    def edges(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """The tails and heads of all arcs, in the order of ``weights``."""

    @property
    def weights(self) -> NDArray[Any] | None:
        """The weights of all arcs, a copy; ``None`` if all are 1."""

    @property
    def vertices(self) -> int:
        """The number of vertices."""

    @property
    def arcs(self) -> int:
        """The number of arcs; an undirected edge is two."""

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""

    @property
    def weight_type(self) -> str:
        """The type of the weights: ``unit``, ``u32``, ``i32``, ``f32`` or ``f64``."""

    @overload
    def sssp(
        self,
        source: ArrayLike,
        *,
        targets: ArrayLike | None = None,
        cutoff: float | None = None,
        predecessors: bool = True,
        algorithm: str | None = None,
        on_device: Literal[False] = False,
    ) -> ShortestPathTree:
        """Shortest paths from a source, or from the nearest of several."""

    @overload
    def sssp(
        self,
        source: ArrayLike,
        *,
        predecessors: bool = True,
        on_device: Literal[True],
    ) -> DeviceTree:
        """The same, with an answer that stays in the memory of a GPU."""

    @overload
    def bfs(
        self,
        source: ArrayLike,
        *,
        targets: ArrayLike | None = None,
        cutoff: int | None = None,
        predecessors: bool = True,
        algorithm: str | None = None,
        on_device: Literal[False] = False,
    ) -> ShortestPathTree:
        """Breadth-first search from a source, or from the nearest of several."""

    @overload
    def bfs(
        self,
        source: ArrayLike,
        *,
        predecessors: bool = True,
        on_device: Literal[True],
    ) -> DeviceTree:
        """The same, with an answer that stays in the memory of a GPU."""

    @overload
    def apsp(
        self,
        *,
        sources: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        successors: bool = False,
        algorithm: str | None = None,
        progress: bool = False,
        on_device: Literal[False] = False,
    ) -> DistanceMatrix:
        """The distances between all pairs of vertices, or from some sources, or to some targets."""

    @overload
    def apsp(
        self,
        *,
        sources: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        on_device: Literal[True],
    ) -> DeviceArray:
        """The same, as a table that stays in the memory of a GPU."""

    @overload
    def table(
        self,
        sources: ArrayLike,
        targets: ArrayLike,
        *,
        algorithm: str | None = None,
        progress: bool = False,
        on_device: Literal[False] = False,
    ) -> DistanceMatrix:
        """The distances from each of the sources to each of the targets."""

    @overload
    def table(self, sources: ArrayLike, targets: ArrayLike, *, on_device: Literal[True]) -> DeviceArray:
        """The same, as a table that stays in the memory of a GPU."""

    def apsp_to_npy(
        self,
        path: str | PathLike[str],
        *,
        sources: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        algorithm: str | None = None,
        resume: bool = False,
        progress: bool = False,
    ) -> NDArray[Any]:
        """Writes the distances that ``apsp`` finds into a ``.npy`` file as they are found, and maps it."""

    def apsp_blocks(
        self,
        *,
        sources: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        rows: int | None = None,
        algorithm: str | None = None,
        progress: bool = False,
    ) -> Iterator[tuple[NDArray[np.uint32], NDArray[Any]]]:
        """The distances that ``apsp`` finds, a block of rows after another: the sources of each, and a row for each source."""

    def reductions(
        self,
        *,
        sources: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        algorithm: str | None = None,
        progress: bool = False,
    ) -> RowReductions:
        """What the rows of ``apsp`` say together, without keeping them."""

    def path(self, source: int, target: int) -> Path | None:
        """A shortest path; ``None`` if there is none."""

    def paths(self, pairs: ArrayLike, *, algorithm: str | None = None, progress: bool = False) -> PathsOfPairs:
        """A shortest path for each pair of source and target."""

    def k_shortest_paths(self, source: int, target: int, count: int) -> list[Path]:
        """The shortest paths without repeated vertices, shortest first."""

    def betweenness(
        self,
        *,
        sources: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        sample: int | None = None,
        seed: int = 1,
        endpoints: bool = False,
        edges: bool = False,
        progress: bool = False,
    ) -> Betweenness:
        """How many shortest paths lead through each vertex, and with ``edges`` over each edge. Weights have to be above 0.

        Counts only paths from ``sources`` and to ``targets``, if these are given, or estimates by as many sources as ``sample``
        says, drawn at random by a ``seed``. With ``endpoints`` a path also counts for the vertices at its ends. It takes a
        search from every source: O(V E), or O(V E + V^2 log V) by weights.

        >>> square = Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 4])
        >>> square.betweenness().scores
        array([0., 1., 1., 2., 0.])
        """

    def neighborhood_sizes(
        self, within: float, *, sources: ArrayLike | None = None, progress: bool = False
    ) -> NDArray[np.uint64]:
        """How many vertices each vertex, or each of ``sources``, reaches within a distance, itself included.

        The distance is a number of edges, or a length if the graph has weights, which have to be 0 or more. Distances count from the
        vertex, as in igraph's ``neighborhood_size(order, mode="out")``. Searches end at the distance, so that small neighborhoods take
        little time.

        >>> Graph.from_edges([0, 1, 2], [1, 2, 3]).neighborhood_sizes(2)
        array([3, 4, 4, 3], dtype=uint64)
        """

    def transitive_closure(
        self, *, reflexive: bool = True, algorithm: str | None = None, progress: bool = False
    ) -> Reachability:
        """Which vertices reach which."""

    def _distance_rows(self, sources: ArrayLike) -> NDArray[np.float64]: ...

    def _rows(
        self, sources: ArrayLike, *, cutoff: float | None = None, unweighted: bool = False, predecessors: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.int32] | None]: ...
    def _nearest(
        self, sources: ArrayLike, *, cutoff: float | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]: ...

@final
class DeviceArray:
    """An array in the memory of a GPU: of one dimension, or a table row by row."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> np.dtype[Any]:
        """Its type, as NumPy has it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its length, or the numbers of its rows and columns, as a tuple."""

    @property
    def device(self) -> int:
        """The number of the device that has it."""

    def numpy(self) -> NDArray[Any]:
        """A copy as a NumPy array."""

    def __len__(self) -> int: ...

@final
class DeviceTree:
    """The distances from a source, or from the nearest of several, and predecessors, in the memory of a GPU."""

    @property
    def distances(self) -> DeviceArray:
        """The distance of each vertex: integers, -1 for what is unreachable, or floats, and infinity."""

    @property
    def predecessors(self) -> DeviceArray | None:
        """The vertex before each on its path, -1 for sources and for what is unreachable; ``None`` if they were left out."""

@final
class ShortestPathTree:
    """The distances from a source, or from the nearest of several, and shortest paths."""

    @property
    def distances(self) -> NDArray[Any]:
        """The distance of each vertex, ``int32``, ``int64``, ``float32`` or ``float64``; -1, for weights below 0 the greatest integer,
        or infinity where nothing arrives."""

    @property
    def predecessors(self) -> NDArray[np.int32] | None:
        """The vertex before each one on a shortest path, and -1 where there is none."""

    @property
    def sources(self) -> NDArray[np.uint32]:
        """The vertices where the search starts."""

    def nearest_sources(self) -> NDArray[np.int32] | None:
        """The source that each vertex is nearest to, and -1 where nothing arrives."""

    @property
    def reached(self) -> int:
        """How many vertices were reached."""

    @property
    def algorithm(self) -> str:
        """The algorithm that answered."""

    @property
    def engine(self) -> str:
        """Where: ``cpu``, or ``cuda:0``."""

    def path_to(self, target: int) -> NDArray[np.uint32] | None:
        """The vertices of a shortest path to ``target``; ``None`` if it was not reached."""

    def distance(self, target: int) -> int | float | None:
        """The distance of ``target``; ``None`` if it was not reached."""

    def verify(self) -> None:
        """Holds the answer against the graph."""

    def _repr_html_(self) -> str: ...

@final
class DistanceMatrix:
    """The distances between sources and targets."""

    @property
    def distances(self) -> NDArray[Any]:
        """The distances, a row for each source, a column for each target, as ``ShortestPathTree.distances``."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""

    @property
    def algorithm(self) -> str:
        """The algorithm that answered."""

    @property
    def engine(self) -> str:
        """Where: ``cpu``, or ``cuda:0``."""

    def verify(self) -> None:
        """Holds the answer against the graph."""

    @property
    def sources(self) -> NDArray[np.uint32]:
        """The vertex of each row."""

    @property
    def targets(self) -> NDArray[np.uint32] | None:
        """The vertex of each column; ``None`` if column ``v`` is that of vertex ``v``."""

    def path(self, row: int, target: int) -> NDArray[np.uint32] | None:
        """The vertices of a shortest path from the source of a row to a vertex; ``None`` if there is none."""

    @property
    def successors(self) -> NDArray[np.int32] | None:
        """The first vertex after each source on a shortest path to each target, and -1 where there is none."""

    def _repr_html_(self) -> str: ...

@final
class Path:
    """A path from a source to a target; its ``len`` is the number of its edges."""

    @property
    def length(self) -> int | float:
        """The sum of its weights."""

    @property
    def vertices(self) -> NDArray[np.uint32]:
        """Its vertices, source and target included."""

    def __len__(self) -> int: ...

@final
class PathsOfPairs:
    """A path for each of several pairs of source and target."""

    def __getitem__(self, pair: int, /) -> Path | None: ...
    def __len__(self) -> int: ...
    @property
    def distances(self) -> list[int | float | None]:
        """The distances of the pairs; ``None`` where the target was not reached."""

    @property
    def algorithm(self) -> str:
        """The algorithm that answered."""

@final
class Betweenness:
    """How many shortest paths lead through each vertex."""

    @property
    def scores(self) -> NDArray[np.float64]:
        """The betweenness of each vertex; in an undirected graph each pair of source and target counts once. Estimates, if the sources
        are a sample."""

    @property
    def normalized(self) -> NDArray[np.float64]:
        """The share of all pairs of other vertices whose shortest paths lead through each vertex, from 0 to 1."""

    @property
    def dependencies(self) -> NDArray[np.float64]:
        """The sum over the pairs that were counted: in an undirected graph both ways; a sample is not scaled up."""

    @property
    def edges(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]] | None:
        """Tails, heads and scores of the edges, an undirected one once; ``None`` unless asked for."""

    @property
    def sources(self) -> NDArray[np.uint32]:
        """The vertices where the counted paths start."""

    @property
    def error(self) -> float:
        """How far ``normalized`` is from the exact betweenness of any vertex at most, with a probability of 95 %; 0 unless the sources
        are a sample."""

@final
class RowReductions:
    """Facts about all rows of a table of distances, which was not kept."""

    @property
    def eccentricities(self) -> NDArray[Any]:
        """The greatest distance of each source to what it reaches: ``int64`` and -1, or ``float64`` and NaN where there is none."""

    @property
    def closeness(self) -> NDArray[np.float64]:
        """The closeness of each target, after Wasserman and Faust."""

    @property
    def harmonic(self) -> NDArray[np.float64]:
        """The sum of the inverse distances to each target."""

    @property
    def histogram(self) -> NDArray[np.float64]:
        """How many pairs have which distance: where each bin begins, and its count."""

    @property
    def distance_sum(self) -> int | float:
        """The sum of all distances."""

    @property
    def finite_pairs(self) -> int:
        """How many pairs have a distance."""

    @property
    def max_distance(self) -> int | float | None:
        """The greatest distance."""

    @property
    def algorithm(self) -> str:
        """The algorithm that answered."""

    @property
    def engine(self) -> str:
        """Where: ``cpu``, or ``cuda:0``."""

@final
class Reachability:
    """Which vertices reach which."""

    def reaches(self, source: int, target: int) -> bool:
        """Whether a path leads from one vertex to another."""

    def reachable_from(self, source: int) -> NDArray[np.uint32]:
        """The vertices that one vertex reaches, ascending."""

    def counts(self) -> NDArray[np.uint64]:
        """How many vertices each vertex reaches."""

    @property
    def pairs(self) -> int:
        """How many pairs of vertices there are of which one reaches the other."""

    def to_numpy(self) -> NDArray[np.bool_]:
        """A square array: a byte for each pair of vertices."""

    @property
    def algorithm(self) -> str:
        """The algorithm that answered."""

    @property
    def engine(self) -> str:
        """Where: ``cpu``, or ``cuda:0``."""

    def verify(self) -> None:
        """Holds the answer against the graph."""
