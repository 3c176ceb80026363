"""Graphs of other packages as arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from . import _device
from ._warpath import _edges_of_stream

#: Kind, two arrays, weights, number of vertices, whether edges have a direction, names of the vertices. The kind is ``"rows"``, whose
#: arrays are offsets and heads, or ``"edges"``, whose arrays are tails and heads; ``"device rows"`` or ``"device edges"`` if the arrays
#: are in the memory of a GPU, each as `_device.foreign` has it.
Arrays = tuple[str, Any, Any, Any, "int | None", bool, Any]

_TAILS = ("source", "from", "tail", "src", "u")
_HEADS = ("target", "to", "head", "dst", "v")
_WEIGHTS = ("weight", "length", "distance", "cost")


def arrays_of(
    data: Any,
    source: Any,
    target: Any,
    weight: Any,
    directed: bool | None,
    vertices: int | None,
    may_stay: bool,
) -> Arrays:
    """The arrays of a graph.

    ``source``, ``target`` and ``weight`` name columns of a table, or ``weight`` an attribute of edges. ``directed`` is by default as the
    data has it, and true where it does not say. Arrays on a GPU are left there if they ``may_stay``.
    """
    if may_stay:
        on_device = _on_device(data, directed, vertices)
        if on_device is not None:
            return on_device
    if _is_torch_sparse(data):
        return _of_torch(data, directed, vertices)
    if _is_sparse(data):
        return _of_sparse(data, directed, vertices)
    if hasattr(data, "adj") and hasattr(data, "is_multigraph"):
        return _of_networkx(data, weight, directed)
    if hasattr(data, "get_edgelist") and hasattr(data, "vcount"):
        return _of_igraph(data, weight, directed)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "columns"):
        return _of_table(data, source, target, weight, directed, vertices)
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.shape[1:] not in ((2,), (3,)):
        raise ValueError(
            f"an array of shape {data.shape} is no list of edges; for a matrix of distances, "
            "pass scipy.sparse.csr_array(matrix)"
        )
    if isinstance(data, tuple) and 2 <= len(data) <= 3 and not np.isscalar(data[0]):
        weights = None if len(data) == 2 else host(data[2])
        return ("edges", host(data[0]), host(data[1]), weights, vertices, directed is not False, None)
    return _of_list(data, directed, vertices)


def restored(
    tails: Any, heads: Any, weights: Any, vertices: int, directed: bool, labels: Any, options: Any
) -> Any:
    """A graph that was pickled."""
    from ._warpath import Graph

    engine, threads, memory = options
    if not directed:
        once = tails <= heads
        tails, heads = tails[once], heads[once]
        weights = None if weights is None else weights[once]
    graph = Graph._of_arrays(tails, heads, weights, vertices, directed, labels, engine, threads, memory)
    return graph


def host(array: Any) -> Any:
    """An array in the memory of this machine's CPUs: arrays of other packages through DLPack, those of a GPU copied."""
    if hasattr(array, "detach"):
        array = array.detach()
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__"):
        if hasattr(array, "__cuda_array_interface__"):
            on_device = cast(Any, array)
            return on_device.get() if hasattr(on_device, "get") else np.asarray(on_device.copy_to_host())
        return array
    kind, _ = array.__dlpack_device__()
    if int(kind) == 1:
        return np.from_dlpack(array)
    if hasattr(array, "get"):
        return array.get()
    return array.cpu().numpy()


def _on_device(data: Any, directed: bool | None, vertices: int | None) -> Arrays | None:
    """The arrays of a graph that are on a GPU, left there; ``None`` if they are not, or can't stay."""
    kind, first, second, weights = "", None, None, None
    if _is_torch_sparse(data):
        kind, first, second, weights = _parts_of_torch(data)
        vertices = data.shape[0] if vertices is None else vertices
    elif _is_sparse(data) and _device.is_on_device(getattr(data, "data", None)):
        if data.format == "coo":
            kind, first, second, weights = "edges", data.row, data.col, data.data
            vertices = data.shape[0] if vertices is None else vertices
        else:
            rows = data.tocsr()
            kind, first, second, weights = "rows", rows.indptr, rows.indices, rows.data
    elif isinstance(data, tuple) and 2 <= len(data) <= 3:
        kind, first, second = "edges", data[0], data[1]
        weights = data[2] if len(data) == 3 else None
    arrays = [array for array in (first, second, weights) if array is not None]
    if not kind or not all(_device.is_on_device(array) for array in arrays):
        return None
    shape: Any = getattr(data, "shape", None)
    if shape is not None and (len(shape) != 2 or shape[0] != shape[1] or vertices not in (None, shape[0])):
        return None  # where the host says what is wrong
    found = [_device.foreign(first, integers=True), _device.foreign(second, integers=True)]
    found.append(None if weights is None else _device.foreign(weights, integers=False))
    if found[0] is None or found[1] is None or (weights is not None and found[2] is None):
        return None
    return (f"device {kind}", found[0], found[1], found[2], vertices, directed is not False, None)


def _is_torch_sparse(data: Any) -> bool:
    return hasattr(data, "crow_indices") and str(data.layout) in ("torch.sparse_csr", "torch.sparse_coo")


def _parts_of_torch(data: Any) -> tuple[str, Any, Any, Any]:
    """A sparse tensor of PyTorch as rows or edges."""
    if str(data.layout) == "torch.sparse_csr":
        return "rows", data.crow_indices(), data.col_indices(), data.values()
    # The entries as they are: to coalesce would sum those for the same place, and the least counts.
    indices = data._indices()
    return "edges", indices[0], indices[1], data._values()


def _of_torch(data: Any, directed: bool | None, vertices: int | None) -> Arrays:
    if len(data.shape) != 2 or data.shape[0] != data.shape[1]:
        raise ValueError(f"the matrix of a graph is square, not of shape {tuple(data.shape)}")
    if vertices not in (None, data.shape[0]):
        raise ValueError(f"the matrix has {data.shape[0]} rows, not {vertices}")
    kind, first, second, weights = _parts_of_torch(data)
    count = data.shape[0] if kind == "edges" else None
    return (kind, host(first), host(second), host(weights), count, directed is not False, None)


def _is_sparse(data: Any) -> bool:
    return hasattr(data, "format") and hasattr(data, "tocsr") and hasattr(data, "nnz")


def _of_sparse(data: Any, directed: bool | None, vertices: int | None) -> Arrays:
    if len(data.shape) != 2 or data.shape[0] != data.shape[1]:
        raise ValueError(f"the matrix of a graph is square, not of shape {data.shape}")
    if vertices not in (None, data.shape[0]):
        raise ValueError(f"the matrix has {data.shape[0]} rows, not {vertices}")
    if data.format == "coo":
        return ("edges", host(data.row), host(data.col), host(data.data), data.shape[0], directed is not False, None)
    if data.format == "csc":
        # The rows of the transposed matrix are columns of this one; edges are turned back.
        offsets, tails = host(data.indptr), host(data.indices)
        heads = np.repeat(np.arange(data.shape[0], dtype=tails.dtype), np.diff(offsets))
        return ("edges", tails, heads, host(data.data), data.shape[0], directed is not False, None)
    rows = data.tocsr()
    return ("rows", host(rows.indptr), host(rows.indices), host(rows.data), None, directed is not False, None)


def _numbers(weights: list[Any]) -> Any:
    return None if all(weight is None for weight in weights) else np.asarray(weights)


def _of_networkx(data: Any, weight: Any, directed: bool | None) -> Arrays:
    names = list(data)
    number = {name: v for v, name in enumerate(names)}
    wanted = "weight" if weight is None else weight
    found = list(data.edges(data=wanted))
    given = [edge[2] for edge in found]
    if weight is not None and any(value is None for value in given):
        raise ValueError(f"some edges have no {weight!r}")
    # As NetworkX has it, an edge without a weight counts 1.
    weights = None if all(value is None for value in given) else np.asarray([1 if v is None else v for v in given])
    tails = np.fromiter((number[edge[0]] for edge in found), np.int64, len(found))
    heads = np.fromiter((number[edge[1]] for edge in found), np.int64, len(found))
    is_directed: bool = data.is_directed() if directed is None else directed
    labels = None if names == list(range(len(names))) else names
    return ("edges", tails, heads, weights, len(names), is_directed, labels)


def _of_igraph(data: Any, weight: Any, directed: bool | None) -> Arrays:
    pairs = np.asarray(data.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    attribute = weight if weight is not None else ("weight" if "weight" in data.es.attributes() else None)
    if attribute is not None and attribute not in data.es.attributes():
        raise ValueError(f"edges have no attribute {attribute!r}; there are {data.es.attributes()}")
    weights = None if attribute is None else np.asarray(data.es[attribute])
    labels = data.vs["name"] if "name" in data.vs.attributes() else None
    is_directed: bool = data.is_directed() if directed is None else directed
    return ("edges", pairs[:, 0], pairs[:, 1], weights, data.vcount(), is_directed, labels)


def _of_table(
    data: Any, source: Any, target: Any, weight: Any, directed: bool | None, vertices: int | None
) -> Arrays:
    def chosen(names: list[Any]) -> tuple[int, int, int | None]:
        return _places(names, source, target, weight)

    # The stream of pandas needs PyArrow, copies all columns, and has text for their names, whatever these are.
    is_stream = hasattr(data, "__arrow_c_stream__") and not hasattr(data, "iloc")
    tails, heads, weights, labels = _edges_of_stream(data, chosen) if is_stream else _edges_of_columns(data, chosen)
    count = vertices if labels is None else len(labels)
    return ("edges", tails, heads, weights, count, directed is not False, labels)


def _places(names: list[Any], source: Any, target: Any, weight: Any) -> tuple[int, int, int | None]:
    """Where among the columns of a table tails, heads and, if there are any, weights are."""

    def found(asked: Any, usual: tuple[str, ...], what: str) -> int | None:
        if asked is None:
            fit = [name for name in names if isinstance(name, str) and name.lower() in usual]
            if not fit and what == "weight":
                return None
            if not fit:
                raise KeyError(f"no column looks like the {what} of an edge, name it by {what}=; there are {names}")
            asked = fit[0]
        if asked not in names:
            raise KeyError(f"there is no column {asked!r}; there are {names}")
        if names.count(asked) > 1:
            raise KeyError(f"there are {names.count(asked)} columns {asked!r}")
        return names.index(asked)

    tails, heads = found(source, _TAILS, "source"), found(target, _HEADS, "target")
    return cast(int, tails), cast(int, heads), found(weight, _WEIGHTS, "weight")


def _edges_of_columns(
    data: Any, chosen: Callable[[list[Any]], tuple[int, int, int | None]]
) -> tuple[Any, Any, Any, list[str] | None]:
    """Tails, heads, weights and names of vertices, of a table whose columns become arrays of NumPy."""
    names = list(data.columns)
    tail, head, weight = chosen(names)
    tails, heads = _column(data, names[tail]), _column(data, names[head])
    weights = None if weight is None else _column(data, names[weight])
    for place, ends in ((tail, tails), (head, heads)):
        if len(ends) and ends.dtype.kind not in "iuOSTU":
            raise TypeError(f"column {names[place]!r}: vertices are integers or text, not {ends.dtype}")
    if tails.dtype.kind in "iu" and heads.dtype.kind in "iu":
        return tails, heads, weights, None
    labels, numbers = np.unique(np.concatenate([tails.astype(str), heads.astype(str)]), return_inverse=True)
    return numbers[: len(tails)], numbers[len(tails) :], weights, labels.tolist()


def _column(data: Any, name: Any) -> Any:
    column = data[name]
    if hasattr(column, "isna") and column.isna().any():
        raise ValueError(f"column {name!r} has missing values")
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)


def _of_list(data: Any, directed: bool | None, vertices: int | None) -> Arrays:
    if isinstance(data, (str, bytes)):
        raise TypeError("a graph is no text; to read a file, call warpath.read")
    edges = data if isinstance(data, np.ndarray) else list(data)
    if len(edges) == 0:
        empty = np.empty(0, dtype=np.int64)
        return ("edges", empty, empty, None, vertices or 0, directed is not False, None)
    sizes = {len(edge) for edge in edges}
    if not sizes <= {2, 3} or len(sizes) != 1:
        raise ValueError("an edge has a tail, a head and, if all have one, a weight")
    columns = list(edges.T) if isinstance(edges, np.ndarray) else list(zip(*edges))
    tails, heads = np.asarray(columns[0]), np.asarray(columns[1])
    weights = np.asarray(columns[2]) if len(columns) == 3 else None
    if isinstance(edges, np.ndarray) and tails.dtype.kind == "f":
        # One array of floats has numbers of vertices, too.
        whole = tails.astype(np.int64), heads.astype(np.int64)
        if not ((whole[0] == tails).all() and (whole[1] == heads).all()):
            raise ValueError("tails and heads are whole numbers")
        tails, heads = whole
    if tails.dtype.kind in "iu" and heads.dtype.kind in "iu":
        return ("edges", tails, heads, weights, vertices, directed is not False, None)
    # Names, numbered in the order of their first appearance.
    number: dict[Any, int] = {}
    ends = [[number.setdefault(name, len(number)) for name in edge[:2]] for edge in edges]
    pairs = np.asarray(ends, dtype=np.int64)
    return ("edges", pairs[:, 0], pairs[:, 1], weights, len(number), directed is not False, list(number))
