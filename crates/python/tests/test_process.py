"""Threads, forks, signals, copies and memory of a process that uses graphs."""

from __future__ import annotations

import copy
import os
import pickle
import shutil
import signal
import subprocess
import sys
import sysconfig
import textwrap
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

import warpath

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def random_graph(vertices: int, arcs: int, seed: int = 4) -> warpath.Graph:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, vertices, (2, arcs))
    return warpath.Graph.from_edges(ends[0], ends[1], rng.integers(1, 100, arcs), vertices=vertices)


def test_threads_ask_for_everything_at_once() -> None:
    graph = random_graph(400, 3000)
    requests: list[Callable[[], np.ndarray]] = [
        lambda: graph.sssp(3).distances,
        lambda: graph.bfs(5).distances,
        lambda: graph.apsp(sources=[1, 2, 3]).distances,
        lambda: graph._rows([7, 8], cutoff=150.0)[0],
        lambda: graph._nearest([7, 8])[0],
        lambda: random_graph(50, 200).apsp().distances,
    ]
    expected = [request() for request in requests]
    failed: list[object] = []
    start = threading.Barrier(2 * len(requests))

    def ask(number: int) -> None:
        start.wait()
        try:
            for _ in range(20):
                np.testing.assert_array_equal(requests[number](), expected[number])
        except BaseException as error:  # noqa: BLE001 - it is looked at on the main thread
            failed.append(error)

    threads = [threading.Thread(target=ask, args=(number % len(requests),)) for number in range(2 * len(requests))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_threads_take_the_arrays_of_one_answer_at_once() -> None:
    # Without the interpreter's lock, all of them make arrays on the same memory.
    graph = random_graph(400, 3000)
    tree, matrix = graph.sssp(3), graph.apsp(sources=[1, 2, 3])
    start = threading.Barrier(8)
    failed: list[object] = []

    def take() -> None:
        start.wait()
        try:
            for _ in range(500):
                for array in (tree.distances, tree.predecessors, matrix.distances):
                    assert array is not None and not array.flags.writeable
                graph.table(tree.sources, tree.sources)
        except BaseException as error:  # noqa: BLE001 - it is looked at on the main thread
            failed.append(error)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_threads_make_graphs_and_change_weights() -> None:
    rng = np.random.default_rng(6)
    ends = rng.integers(0, 300, (2, 2000))
    names = [f"v{number}" for number in range(300)]
    shared = warpath.Graph([(names[tail], names[head], 1) for tail, head in ends.T])
    ones = shared.sssp(0).distances
    start = threading.Barrier(6)
    failed: list[object] = []

    def make(seed: int) -> None:
        start.wait()
        try:
            for turn in range(10):
                graph = random_graph(200, 1000, seed=seed)
                graph.prepare()
                if turn % 2:
                    graph.set_weights(np.full(graph.arcs, 3, np.int32))
                    distances, hops = graph.sssp(0).distances, graph.bfs(0).distances
                    np.testing.assert_array_equal(distances, np.where(hops < 0, -1, 3 * hops))
                assert graph.sssp(0).verify() is None
        except BaseException as error:  # noqa: BLE001 - it is looked at on the main thread
            failed.append(error)

    def change(weight: int) -> None:
        start.wait()
        try:
            for _ in range(40):
                shared.set_weights(np.full(shared.arcs, weight, np.int32))
                # Each answer is by one thread's weights or by another's, not by some of both.
                found = shared.sssp(shared.vertex(shared.labels[0])).distances
                assert any(np.array_equal(found, np.where(ones < 0, -1, factor * ones)) for factor in (1, 2, 3, 4))
        except BaseException as error:  # noqa: BLE001 - it is looked at on the main thread
            failed.append(error)

    threads = [threading.Thread(target=make, args=(seed,)) for seed in range(3)]
    threads += [threading.Thread(target=change, args=(weight,)) for weight in (2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter always has its lock")
def test_the_lock_stays_off() -> None:
    source = """
    import sys
    import warpath, warpath.csgraph, warpath.networkx
    assert not sys._is_gil_enabled()
    """
    # Where the variable says 0, modules that ask for the lock do not get it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    done = run_program(source, timeout=300, environment=environment)
    assert done.returncode == 0 and not done.stderr, done.stderr


#: A program that forks and searches on both sides. Arguments: what the parent does first (`nothing`, `small` or `large`: a graph and
#: searches in it), and what the child searches in (the `same` graph, or a `new` one).
FORK = """
import os, sys, warnings
import numpy as np
import warpath
# Python warns of the threads that the library keeps for searches.
warnings.simplefilter("ignore", DeprecationWarning)
first, then = sys.argv[1:]

def graph():
    vertices, arcs = (60_000, 200_000) if first == "large" else (100, 400)
    rng = np.random.default_rng(4)
    ends = rng.integers(0, vertices, (2, arcs))
    return warpath.Graph.from_edges(ends[0], ends[1], rng.integers(1, 100, arcs), vertices=vertices)

def answers(of):
    return repr([int(of.sssp(0).distances.sum()), int(of.apsp(sources=range(6)).distances.sum()), of._rows([1])[0][0, :5].tolist()])

made = None if first == "nothing" else graph()
if made is not None:
    answers(made)
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    os.write(writing, answers(made if then == "same" else graph()).encode())
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert os.read(reading, 65536).decode() == answers(made or graph())
"""


def run_program(
    source: str, *arguments: str, timeout: float = 60, environment: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(source), *arguments]
    environment = {**environment, "PYTHONPATH": os.pathsep.join([str(Path(warpath.__file__).parents[1]), *sys.path])}
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment, check=False)


@needs_fork
@pytest.mark.parametrize(
    "first, then",
    [
        ("nothing", "new"),
        ("small", "new"),
        ("small", "same"),
        ("large", "same"),
        ("large", "new"),
    ],
)
def test_fork(first: str, then: str) -> None:
    """A child of ``fork`` searches, in the graph of its parent or in its own."""
    done = run_program(FORK, first, then)
    assert done.returncode == 0, done.stderr


@needs_fork
def test_pool_of_forks() -> None:
    source = """
    import multiprocessing
    import numpy as np
    import warpath

    def ask(source):
        graph = warpath.Graph.from_edges(np.arange(999), np.arange(1, 1000))
        return int(graph.sssp(source).distances[source:].sum())

    with multiprocessing.get_context("fork").Pool(4) as pool:
        found = pool.map(ask, range(16))
    assert found == [ask(source) for source in range(16)]
    """
    done = run_program(source)
    assert done.returncode == 0, done.stderr


def test_arrays_of_results_are_pickled() -> None:
    tree = random_graph(100, 400).sssp(0)
    for array in (tree.distances, tree.predecessors, tree.sources):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(array)), array)


@pytest.mark.parametrize("what", ["tree", "matrix"])
def test_no_pickles_and_no_copies(what: str) -> None:
    graph = random_graph(10, 30)
    found = {"tree": graph.sssp(0), "matrix": graph.apsp()}[what]
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle 'warpath."):
            attempt(found)


def resident() -> int:
    """Bytes of memory that this process has."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="this system does not say how much memory a process has")
def test_calls_give_their_memory_back() -> None:
    rng = np.random.default_rng(8)
    ends, weights = rng.integers(0, 500, (2, 3000)), rng.integers(1, 100, 3000)
    graph = warpath.Graph.from_edges(ends[0], ends[1], weights, vertices=500)
    # 2 kB an answer of a search, 10 kB one of all; kept ones would be more than 20 MB.
    calls: list[tuple[int, Callable[[], object]]] = [
        (5000, lambda: graph.sssp(1).path_to(2)),
        (2500, lambda: graph.bfs([1, 2]).distances),
        (1500, lambda: graph.apsp(sources=[1, 2, 3, 4, 5]).distances),
        (1000, lambda: graph._nearest([1, 2])),
    ]

    def fail() -> None:
        with pytest.raises(ValueError):
            graph.sssp(500)

    calls.append((1000, fail))
    for _, call in calls:
        for _ in range(100):
            call()
    before = resident()
    for times, call in calls:
        for _ in range(times):
            call()
    assert resident() - before < 8 << 20


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="this system does not say how much memory a process has")
def test_graphs_give_their_memory_back() -> None:
    rng = np.random.default_rng(8)
    ends, weights = rng.integers(0, 2000, (2, 20_000)), rng.integers(1, 100, 20_000)

    def make() -> None:
        warpath.Graph.from_edges(ends[0], ends[1], weights, vertices=2000).sssp(0)

    for _ in range(30):
        make()
    before = resident()
    # 160 kB each; kept ones would be more than 60 MB.
    for _ in range(400):
        make()
    assert resident() - before < 16 << 20


@pytest.mark.skipif(sys.platform == "win32", reason="signals of other systems")
def test_keyboard_interrupt_ends_a_long_search() -> None:
    graph = random_graph(20_000, 100_000)
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT))
    begun = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        # Far more work than is waited for.
        for _ in range(100):
            graph.apsp(targets=range(2000))
    assert time.monotonic() - begun < 20
    timer.join()
    # The graph answers as before.
    assert graph.sssp(0).reached > 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals of other systems")
def test_keyboard_interrupt_in_a_block() -> None:
    graph = random_graph(20_000, 100_000)
    main = threading.main_thread().ident
    assert main is not None
    # One block is far more work than is waited for.
    blocks = graph.apsp_blocks(sources=[*range(20_000)] * 20, targets=range(100), rows=400_000)
    timer = threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT))
    begun = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        next(blocks)
    assert time.monotonic() - begun < 20
    timer.join()
    # The graph answers as before.
    assert [len(sources) for sources, _ in graph.apsp_blocks(sources=range(100), rows=50)] == [50, 50]


@pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of other systems")
def test_keyboard_interrupt_while_a_file_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "endless.csv"
    os.mkfifo(pipe)
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    # Nobody writes into the pipe.
    with pytest.raises(KeyboardInterrupt):
        warpath.Graph.read(pipe)
    timer.join()
    # What still reads it comes to its end.
    pipe.write_text("0,1,5\n")
    assert warpath.Graph.generate("grid:3x3").vertices == 9


@pytest.mark.skipif(sys.platform == "win32", reason="signals of other systems")
def test_keyboard_interrupt_without_a_handler_of_python() -> None:
    source = """
    import os, signal, threading
    import numpy as np
    import warpath
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ends = np.random.default_rng(1).integers(0, 20_000, (2, 100_000))
    graph = warpath.Graph.from_edges(ends[0], ends[1], vertices=20_000)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    for _ in range(100):
        graph.apsp(targets=range(2000))
    """
    assert run_program(source).returncode == -signal.SIGINT


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the driver's library has another name")
def test_a_gpu_that_fails_is_told_once_and_the_cpu_answers(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler makes a driver that fails")
    source = tmp_path / "driver.c"
    source.write_text("int cuInit(unsigned flags) { return 999; }\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", source], check=True)
    code = """
        import warnings
        import numpy as np
        import warpath
        graph = warpath.generate("dense:3500", threads=1)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            tables = [graph.apsp() for _ in range(2)]
            graph = warpath.generate("dense:3500,seed=2", threads=1)
            graph.apsp()
        assert [(one.category, "the CPU answers" in str(one.message)) for one in told] == [(RuntimeWarning, True)], told
        assert all(table.engine == "cpu" for table in tables)
        np.testing.assert_array_equal(tables[0].distances, tables[1].distances)
        # Who asks for the GPU gets an error instead.
        try:
            warpath.generate("dense:20", engine="cuda").apsp()
        except RuntimeError as error:
            print("refused:", error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused:"), done.stdout
