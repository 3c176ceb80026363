"""Arrays in the memory of a GPU, on the way in and on the way out."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import warpath

EDGES = [(0, 1, 5), (1, 2, 7), (0, 2, 20), (2, 0, 1), (3, 3, 2)]
TAILS, HEADS, WEIGHTS = (np.array(column) for column in zip(*EDGES))
EXPECTED = [0, 5, 12, -1]


class Pretended:
    """An array of the host that says that it is on a GPU, and can be fetched."""

    def __init__(self, array: Any) -> None:
        self.array = np.ascontiguousarray(array)
        self.fetched = 0

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        interface = self.array.__array_interface__
        return {**{key: interface[key] for key in ("shape", "typestr", "data", "strides")}, "version": 3, "stream": None}

    def get(self) -> Any:
        self.fetched += 1
        return self.array


def gpu(package: str) -> Any:
    """CuPy or PyTorch, with a GPU."""
    module = pytest.importorskip(package, reason=f"{package} is not installed")
    there = module.cuda.is_available()
    if not there:
        pytest.skip("there is no GPU")
    return module


def random_graph(seed: int, weights: str) -> Any:
    random = np.random.default_rng(seed)
    matrix = sparse.random_array((300, 300), density=0.01, rng=random, format="csr")
    matrix.data = random.integers(1, 100, matrix.nnz).astype(weights)
    return matrix


def same(tree: Any, expected: Any, on_host: Any) -> None:
    distances, predecessors = on_host(tree.distances), on_host(tree.predecessors)
    np.testing.assert_array_equal(distances, expected.distances)
    assert distances.dtype == expected.distances.dtype == tree.distances.dtype
    np.testing.assert_array_equal(predecessors, expected.predecessors.astype(np.int64).astype(np.int32))


def test_arrays_that_a_device_does_not_have_are_fetched() -> None:
    arrays = [Pretended(TAILS), Pretended(HEADS.astype(np.int32)), Pretended(WEIGHTS)]
    graph = warpath.Graph(tuple(arrays))
    assert graph.sssp(0).distances.tolist() == EXPECTED
    assert [array.fetched for array in arrays] == [1, 1, 1]
    assert "on cuda" not in repr(graph)


def test_what_is_wrong_with_arrays_is_said_as_of_the_hosts() -> None:
    for tails, heads, weights in [([0, -1], [1, 1], [1, 1]), ([0, 1], [1, 2], [1.0, np.nan]), ([0.5], [1], [1])]:
        arrays = [np.array(tails), np.array(heads), np.array(weights)]
        with pytest.raises((ValueError, TypeError)) as of_host:
            warpath.Graph(tuple(arrays))
        with pytest.raises(of_host.type) as of_device:
            warpath.Graph(tuple(Pretended(array) for array in arrays))
        assert str(of_device.value) == str(of_host.value)


def test_answers_on_a_device_have_all_distances() -> None:
    graph = warpath.Graph(EDGES)
    for more in [{"targets": [1]}, {"cutoff": 3}, {"algorithm": "near-far"}]:
        with pytest.raises(ValueError, match="on_device"):
            graph.sssp(0, on_device=True, **more)  # type: ignore[call-overload]
        with pytest.raises(ValueError, match="on_device"):
            graph.bfs(0, on_device=True, **more)  # type: ignore[call-overload]


def test_tables_on_a_device_are_distances_alone() -> None:
    graph = warpath.Graph(EDGES)
    for more in [{"successors": True}, {"algorithm": "batched"}, {"progress": True}]:
        with pytest.raises(ValueError, match="on_device"):
            graph.apsp(on_device=True, **more)  # type: ignore[call-overload]


def test_limits_that_a_device_would_not_keep() -> None:
    for options in [{"memory": 10**9}, {"engine": "cpu"}]:
        with pytest.raises(ValueError, match="limit"):
            warpath.Graph(EDGES, **options).sssp(0, on_device=True)  # type: ignore[arg-type]


def test_without_a_device_there_are_no_answers_on_it() -> None:
    try:
        tree = warpath.Graph(EDGES).sssp(0, on_device=True)
    except RuntimeError as error:
        assert "CUDA" in str(error) or "GPU" in str(error)
    else:
        assert tree.distances.numpy().tolist() == EXPECTED


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("weights", ["float32", "float64"])
@pytest.mark.parametrize("directed", [True, False])
def test_cupy_matrices(form: str, weights: str, directed: bool) -> None:
    cupy = gpu("cupy")
    import cupyx.scipy.sparse as on_gpu

    matrix = random_graph(1, weights)
    expected = warpath.Graph(matrix, directed=directed, engine="cpu")
    graph = warpath.Graph(on_gpu.csr_matrix(sparse.csr_matrix(matrix)).asformat(form), directed=directed)
    assert "on cuda:" in repr(graph)
    for source in (0, 17, [3, 200]):
        same(graph.sssp(source, on_device=True), expected.sssp(source), lambda array: cupy.asarray(array).get())
        same(graph.bfs(source, on_device=True), expected.bfs(source), lambda array: cupy.from_dlpack(array).get())
    assert "on cuda:" in repr(graph)
    np.testing.assert_array_equal(graph.apsp().distances, expected.apsp().distances)
    assert "on cuda:" not in repr(graph)
    same(graph.sssp(9, on_device=True), expected.sssp(9), lambda array: array.numpy())


@pytest.mark.parametrize("ids", ["int32", "int64", "uint32", "uint64", "int16", "uint8"])
@pytest.mark.parametrize("weights", [None, "bool", "int8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"])
def test_cupy_arrays(ids: str, weights: str | None) -> None:
    cupy = gpu("cupy")
    of_host = [TAILS.astype(ids), HEADS.astype(ids)] + ([] if weights is None else [WEIGHTS.astype(weights)])
    graph = warpath.Graph(tuple(cupy.asarray(array) for array in of_host), vertices=5)
    assert "on cuda:" in repr(graph)
    found = graph.sssp(0, on_device=True).distances.numpy()
    wide = [array.astype("float32") if array.dtype == "float16" else array for array in of_host]
    np.testing.assert_array_equal(found, warpath.Graph(tuple(wide), vertices=5).sssp(0).distances)


def test_cupy_arrays_with_gaps() -> None:
    cupy = gpu("cupy")
    edges = cupy.asarray(np.array(EDGES))
    graph = warpath.Graph((edges[:, 0], edges[:, 1], edges[:, 2]))
    assert "on cuda:" in repr(graph)
    assert graph.sssp(0, on_device=True).distances.numpy().tolist() == EXPECTED


def test_arrays_that_lie_across_numbers() -> None:
    cupy = gpu("cupy")
    zeros = [cupy.zeros(4 * 3 + 1, dtype="uint8")[1:].view("int32") for _ in range(3)]
    assert all(array.data.ptr % 4 == 1 for array in zeros)
    graph = warpath.Graph(tuple(zeros), vertices=2)
    assert graph.sssp(0, on_device=True).distances.numpy().tolist() == [0, -1]


def test_complex_weights_are_refused() -> None:
    cupy = gpu("cupy")
    arrays = cupy.asarray(TAILS), cupy.asarray(HEADS), cupy.asarray(WEIGHTS.astype("complex64"))
    with pytest.raises(TypeError):
        warpath.Graph(arrays)


def test_weights_below_0_go_to_the_host() -> None:
    cupy = gpu("cupy")
    graph = warpath.Graph((cupy.asarray([0, 1]), cupy.asarray([1, 2]), cupy.asarray([5, -2])))
    assert "on cuda" not in repr(graph)
    assert graph.sssp(0).distances.tolist() == [0, 5, 3]


def test_other_weights() -> None:
    cupy = gpu("cupy")
    graph = warpath.Graph((cupy.asarray(TAILS), cupy.asarray(HEADS), cupy.asarray(WEIGHTS)))
    assert graph.sssp(0, on_device=True).distances.numpy().tolist() == EXPECTED
    graph.set_weights(2 * graph.weights)
    assert graph.sssp(0, on_device=True).distances.numpy().tolist() == [0, 10, 24, -1]


@pytest.mark.parametrize("weights", [None, "float32", "float64", "int32"])
def test_tables(weights: str | None) -> None:
    cupy = gpu("cupy")
    matrix = random_graph(4, weights or "float32")
    lists = (*matrix.nonzero(), *([] if weights is None else [matrix.data]))
    expected = warpath.Graph(lists, vertices=300, engine="cpu").apsp().distances
    graph = warpath.Graph(tuple(cupy.asarray(array) for array in lists), vertices=300)
    table = graph.apsp(on_device=True)
    assert (table.shape, len(table)) == ((300, 300), 300)
    assert "300 x 300" in repr(table)
    for found in (table.numpy(), cupy.asarray(table).get(), cupy.from_dlpack(table).get()):
        np.testing.assert_array_equal(found, expected)
    some = graph.table([7, 7, 299], [3, 0], on_device=True)
    np.testing.assert_array_equal(cupy.asarray(some).get(), expected[[7, 7, 299]][:, [3, 0]])
    assert graph.table([], [1], on_device=True).shape == (0, 1)
    with pytest.raises(ValueError, match="300"):
        graph.table([300], [1], on_device=True)
    assert "on cuda:" in repr(graph)


def test_torch() -> None:
    torch = gpu("torch")
    matrix = random_graph(2, "float32")
    expected = warpath.Graph(matrix, engine="cpu")
    rows = [torch.as_tensor(array).cuda() for array in (matrix.indptr, matrix.indices, matrix.data)]
    by_rows = torch.sparse_csr_tensor(*rows, size=matrix.shape)
    for tensor in (by_rows, by_rows.to_sparse_coo()):
        graph = warpath.Graph(tensor)
        assert "on cuda:" in repr(graph)
        same(graph.sssp(5, on_device=True), expected.sssp(5), lambda array: torch.from_dlpack(array).cpu().numpy())
        same(graph.bfs(5, on_device=True), expected.bfs(5), lambda array: torch.as_tensor(array, device="cuda").cpu().numpy())
        assert warpath.Graph(tensor, engine="cpu").sssp(5).distances.tolist() == expected.sssp(5).distances.tolist()
        assert warpath.Graph(tensor.cpu()).sssp(5).distances.tolist() == expected.sssp(5).distances.tolist()
    edges = torch.as_tensor(np.array([TAILS, HEADS])).cuda()
    weights = torch.as_tensor(WEIGHTS, dtype=torch.float32).cuda().requires_grad_()
    graph = warpath.Graph((edges[0], edges[1], weights))
    assert "on cuda:" in repr(graph)
    assert graph.sssp(0, on_device=True).distances.numpy().tolist() == [0, 5, 12, np.inf]


def test_arrays_outlive_their_trees() -> None:
    cupy = gpu("cupy")
    array = cupy.from_dlpack(warpath.generate("grid:50x50,weights=1..9").sssp(0, on_device=True).distances)
    gc.collect()
    rest = [warpath.generate("grid:60x60,weights=1..9").sssp(0, on_device=True) for _ in range(20)]
    expected = warpath.generate("grid:50x50,weights=1..9", engine="cpu").sssp(0).distances
    np.testing.assert_array_equal(array.get(), expected)
    assert len(rest) == 20
    # A capsule that nobody takes frees what it holds.
    for tree in rest:
        tree.distances.__dlpack__()


def test_memory_is_freed() -> None:
    cupy = gpu("cupy")
    graph = warpath.generate("grid:400x400,weights=1..9")

    def searched() -> int:
        for source in range(50):
            cupy.from_dlpack(graph.sssp(source, on_device=True).distances)
            graph.bfs(source, on_device=True).distances.__dlpack__()
        gc.collect()
        free: int = cupy.cuda.runtime.memGetInfo()[0]
        return free

    before = searched()
    assert before - searched() < 1 << 20


def test_threads() -> None:
    cupy = gpu("cupy")
    matrix = random_graph(3, "float32")
    expected = warpath.Graph(matrix, engine="cpu")
    graph = warpath.Graph(tuple(cupy.asarray(array) for array in (*matrix.nonzero(), matrix.data)), vertices=300)
    found: dict[int, Any] = {}

    def search(source: int) -> None:
        found[source] = graph.sssp(source, on_device=True).distances.numpy()

    threads = [threading.Thread(target=search, args=(source,)) for source in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for source in range(16):
        np.testing.assert_array_equal(found[source], expected.sssp(source).distances)
