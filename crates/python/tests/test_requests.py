"""What a graph is asked for, beside searches: held against SciPy and NetworkX, and against each other."""

import pickle

import numpy as np
import pytest
import scipy.sparse.csgraph as scipy_csgraph
from scipy.sparse import csr_array

import warpath


def some_graph(seed=1, vertices=60, arcs=240, directed=True):
    random = np.random.default_rng(seed)
    tails, heads = random.integers(0, vertices, (2, arcs))
    weights = random.integers(1, 50, arcs)
    return warpath.Graph((tails, heads, weights), vertices=vertices, directed=directed)


def as_scipy(graph):
    tails, heads = graph.edges()
    matrix = csr_array((graph.weights, (tails, heads)), shape=(graph.vertices, graph.vertices))
    return scipy_csgraph.dijkstra(matrix)


def as_floats(distances):
    return np.where(distances < 0, np.inf, distances)


def length_of(graph, vertices):
    tails, heads = graph.edges()
    weight = {edge[:2]: edge[2] for edge in zip(tails.tolist(), heads.tolist(), graph.weights.tolist())}
    return sum(weight[edge] for edge in zip(vertices.tolist(), vertices.tolist()[1:]))


@pytest.mark.parametrize("directed", [True, False])
def test_tables_agree_with_scipy(directed):
    graph = some_graph(directed=directed)
    expected = as_scipy(graph)
    table = graph.table([3, 1, 4], [1, 5, 9, 2])
    assert table.shape == (3, 4)
    assert table.sources.tolist() == [3, 1, 4] and table.targets.tolist() == [1, 5, 9, 2]
    np.testing.assert_array_equal(as_floats(table.distances), expected[np.ix_([3, 1, 4], [1, 5, 9, 2])])
    whole = graph.apsp()
    assert whole.targets is None
    np.testing.assert_array_equal(as_floats(whole.distances), expected)
    whole.verify()


def test_paths_have_the_lengths_of_distances():
    graph = some_graph()
    expected = as_scipy(graph)
    pairs = [(0, 7), (7, 0), (3, 3), (12, 59)]
    found = graph.paths(pairs)
    assert len(found) == len(pairs)
    for place, (source, target) in enumerate(pairs):
        for path in (found[place], graph.path(source, target)):
            if np.isinf(expected[source, target]):
                assert path is None
                continue
            assert path.length == expected[source, target]
            assert path.vertices[0] == source and path.vertices[-1] == target
            assert length_of(graph, path.vertices) == path.length
            assert len(path) == len(path.vertices) - 1
    assert found.distances == [None if np.isinf(expected[p]) else expected[p] for p in pairs]
    with pytest.raises(IndexError):
        found[4]
    assert len(graph.paths([])) == 0
    with pytest.raises(ValueError, match="two columns"):
        graph.paths([(1, 2, 3)])


def test_rows_have_paths_and_successors():
    graph = some_graph(directed=False)
    found = graph.apsp(sources=[2, 5], successors=True)
    for row, source in enumerate((2, 5)):
        for target in range(graph.vertices):
            path = found.path(row, target)
            if found.distances[row, target] < 0:
                assert path is None
                continue
            assert length_of(graph, path) == found.distances[row, target]
            if target != source:
                hop = found.successors[row, target]
                assert length_of(graph, np.array([source, hop])) + graph.path(int(hop), target).length == (
                    found.distances[row, target]
                )
    with pytest.raises(IndexError):
        found.path(2, 0)
    with pytest.raises(IndexError):
        found.path(0, 60)
    assert graph.apsp().successors is None


def test_k_shortest_paths_are_those_of_scipy():
    graph = some_graph()
    tails, heads = graph.edges()
    # Some versions of SciPy take indices of 32 bits alone.
    ends = tails.astype(np.int32), heads.astype(np.int32)
    matrix = csr_array((graph.weights.astype(float), ends), shape=(60, 60))
    expected = scipy_csgraph.yen(matrix, 0, 7, 5)
    found = graph.k_shortest_paths(0, 7, 5)
    assert [path.length for path in found] == expected.tolist()
    for path in found:
        assert len(set(path.vertices.tolist())) == len(path) + 1


@pytest.mark.parametrize("reflexive", [True, False])
def test_closures_are_those_of_searches(reflexive):
    graph = some_graph(arcs=80)
    found = graph.transitive_closure(reflexive=reflexive)
    cells = found.to_numpy()
    reached = np.isfinite(as_scipy(graph))
    if not reflexive:
        tails, heads = graph.edges()
        step = np.zeros_like(reached)
        step[tails, heads] = True
        reached = (step.astype(int) @ reached.astype(int)) > 0
    np.testing.assert_array_equal(cells, reached)
    np.testing.assert_array_equal(found.counts(), cells.sum(axis=1))
    assert found.pairs == cells.sum()
    np.testing.assert_array_equal(found.reachable_from(3), np.flatnonzero(cells[3]))
    assert found.reaches(3, int(np.flatnonzero(cells[3])[-1]))
    found.verify()
    with pytest.raises(IndexError):
        found.reaches(0, 60)


def test_reductions_are_those_of_the_matrix():
    graph = some_graph(directed=False)
    distances = as_floats(graph.apsp().distances)
    found = graph.reductions()
    finite = np.where(np.isinf(distances), -1, distances)
    np.testing.assert_array_equal(found.eccentricities, finite.max(axis=1))
    assert found.distance_sum == distances[np.isfinite(distances)].sum()
    assert found.finite_pairs == np.isfinite(distances).sum()
    assert found.max_distance == finite.max()
    assert found.histogram[:, 1].sum() == found.finite_pairs
    with np.errstate(divide="ignore"):
        inverse = np.where(distances > 0, 1 / distances, 0)
    np.testing.assert_allclose(found.harmonic, inverse.sum(axis=0))


def test_a_prepared_graph_answers_alike_and_takes_other_weights():
    graph = warpath.generate("roads:3000")
    sources = list(range(0, 3000, 100))
    expected = graph.apsp(sources=sources).distances.copy()
    assert not graph.prepared
    assert graph.prepare() is graph and graph.prepared
    found = graph.apsp(sources=sources, algorithm="hierarchy")
    assert found.algorithm == "hierarchy"
    np.testing.assert_array_equal(found.distances, expected)
    before = graph.sssp(0)
    graph.set_weights(graph.weights * 2)
    assert graph.prepared
    np.testing.assert_array_equal(graph.apsp(sources=sources, algorithm="hierarchy").distances, expected * 2)
    # The answer from before belongs to the weights from before.
    before.verify()
    assert before.distance(2999) * 2 == graph.sssp(0).distance(2999)
    with pytest.raises(ValueError, match="weights for"):
        graph.set_weights([1, 2, 3])
    order = np.random.default_rng(1).permutation(200)
    shuffled = warpath.generate("roads:200").prepare(order)
    np.testing.assert_array_equal(
        shuffled.apsp(algorithm="hierarchy").distances, warpath.generate("roads:200").apsp().distances
    )
    with pytest.raises(ValueError):
        warpath.generate("roads:200").prepare([1, 1, 2])


def test_files_keep_graph_and_hierarchy(tmp_path):
    graph = warpath.generate("roads:500").prepare()
    graph.write(tmp_path / "roads.wpg")
    back = warpath.read(tmp_path / "roads.wpg")
    assert back.prepared and back.vertices == 500 and back.arcs == graph.arcs
    np.testing.assert_array_equal(back.apsp().distances, graph.apsp().distances)
    graph.write(tmp_path / "roads.gr")
    assert not warpath.read(tmp_path / "roads.gr").prepared
    (tmp_path / "of.wpg").mkdir()
    graph.write(tmp_path / "of.wpg" / "roads.gr")
    graph.write(tmp_path / "roads.wpg.zst")
    assert warpath.read(tmp_path / "roads.wpg.zst").prepared
    with pytest.raises(OSError):
        graph.write(tmp_path / "there is no such folder" / "roads.wpg")


def test_tables_go_to_files(tmp_path):
    graph = some_graph()
    mapped = graph.apsp_to_npy(tmp_path / "rows.npy", sources=[1, 2])
    assert isinstance(mapped, np.memmap)
    expected = graph.apsp(sources=[1, 2]).distances
    nothing = np.iinfo(mapped.dtype).max
    np.testing.assert_array_equal(np.where(mapped == nothing, -1, mapped.astype(np.int64)), expected)
    np.testing.assert_array_equal(graph.apsp_to_npy(tmp_path / "rows.npy", sources=[1, 2], resume=True), mapped)


def joined(blocks):
    """The sources and rows of all blocks, which have one type."""
    blocks = list(blocks)
    assert len({distances.dtype for _, distances in blocks}) == 1
    assert all(len(sources) == len(distances) for sources, distances in blocks)
    return np.concatenate([sources for sources, _ in blocks]), np.concatenate([distances for _, distances in blocks])


@pytest.mark.parametrize("weights", ["unit", "int32", "negative", "float32", "float64"])
def test_blocks_are_rows_of_the_matrix(weights):
    graph = some_graph(arcs=120)
    if weights == "unit":
        graph = warpath.Graph(graph.edges(), vertices=60)
    elif weights == "negative":
        tails, heads = graph.edges()
        forward = tails < heads
        graph = warpath.Graph((tails[forward], heads[forward], graph.weights[forward].astype(int) - 25), vertices=60)
    else:
        graph.set_weights(graph.weights.astype(weights))
    assert graph.weight_type == {"unit": "unit", "int32": "u32", "negative": "i32", "float32": "f32", "float64": "f64"}[weights]
    expected = graph.apsp().distances
    for rows, lengths in (1, [1] * 60), (7, [7] * 8 + [4]), (60, [60]), (61, [60]), (2**62, [60]), (None, [60]):
        blocks = list(graph.apsp_blocks(rows=rows))
        assert [len(distances) for _, distances in blocks] == lengths
        assert all(distances.dtype == expected.dtype for _, distances in blocks)
        sources, distances = joined(blocks)
        assert sources.tolist() == list(range(60)) and sources.dtype == np.uint32
        np.testing.assert_array_equal(distances, expected)
    # Rows are in the order of sources, and as often as these.
    chosen, targets = [5, 3, 5, 0, 59], [1, 1, 30]
    sources, distances = joined(graph.apsp_blocks(sources=chosen, targets=targets, rows=2))
    assert sources.tolist() == chosen
    np.testing.assert_array_equal(distances, expected[np.ix_(chosen, targets)])
    assert [block[1].shape for block in graph.apsp_blocks(targets=[], rows=40)] == [(40, 0), (20, 0)]
    distances[:] = 0  # They are the caller's own.


def test_blocks_are_checked_before_the_first():
    graph = some_graph()
    for options in {"sources": [0, 60]}, {"targets": [60]}:
        for request in graph.apsp, graph.apsp_blocks:
            with pytest.raises(ValueError, match="60 is not a vertex"):
                request(**options)
    with pytest.raises(ValueError, match="one row or more"):
        graph.apsp_blocks(rows=0)
    with pytest.raises(OverflowError):
        graph.apsp_blocks(rows=-1)
    with pytest.raises(ValueError, match="no such"):
        graph.apsp_blocks(algorithm="no such")
    with pytest.raises(ValueError, match="-1 is out of range"):
        graph.apsp_blocks(sources=[-1])


def test_blocks_of_no_rows():
    assert list(warpath.Graph([], vertices=0).apsp_blocks()) == []
    assert list(some_graph().apsp_blocks(sources=[])) == []
    blocks = iter(some_graph().apsp_blocks(rows=59))
    assert [len(sources) for sources, _ in blocks] == [59, 1]
    assert next(blocks, None) is None


def test_all_blocks_have_the_type_that_one_of_them_needs():
    # From 0 on there are distances beyond 31 bits, and from 1 on some beyond 32; those from 4 on are small.
    heavy = 2**32 - 2
    graph = warpath.Graph([(0, 1, 2**31), (1, 2, heavy), (2, 3, heavy), (4, 5, 1)])
    blocks = list(graph.apsp_blocks(rows=1))
    assert [distances.dtype for _, distances in blocks] == [np.int64] * 6
    np.testing.assert_array_equal(joined(blocks)[1], graph.apsp().distances)
    assert blocks[0][1].max() > 2**32 and blocks[4][1].tolist() == [[-1, -1, -1, -1, 0, 1]]
    # One that is just short enough for all.
    short = warpath.Graph([(0, 1, 2**31 - 2), (1, 2, 1)])
    sources, distances = joined(short.apsp_blocks(rows=2))
    assert distances.dtype == np.int32 and distances.tolist() == [[0, 2**31 - 2, 2**31 - 1], [-1, 0, 1], [-1, -1, 0]]


def test_blocks_use_a_hierarchy_and_as_much_memory_as_there_is():
    graph = warpath.generate("roads:3000", memory=4_000_000, engine="cpu")
    with pytest.raises(MemoryError):
        graph.apsp()
    blocks = list(graph.apsp_blocks())
    # A quarter of the memory.
    assert [len(sources) for sources, _ in blocks] == [83] * 36 + [12]
    expected = graph.apsp(sources=range(20)).distances
    np.testing.assert_array_equal(joined(blocks)[1][:20], expected)
    again = warpath.generate("roads:3000", engine="cpu")
    assert not again.prepared
    np.testing.assert_array_equal(joined(again.apsp_blocks(rows=1000, algorithm="hierarchy"))[1][:20], expected)
    assert again.prepared


def test_a_hierarchy_is_made_if_it_pays_for_all_blocks():
    graph = warpath.generate("roads:50000", engine="cpu")
    graph.apsp(sources=[0, 1])
    assert not graph.prepared
    sources, distances = next(graph.apsp_blocks(rows=2))
    assert graph.prepared
    np.testing.assert_array_equal(distances, graph.apsp(sources=[0, 1], algorithm="repeated-searches").distances)
    # What was asked for is done.
    graph = warpath.generate("roads:50000", engine="cpu")
    next(graph.apsp_blocks(rows=2, algorithm="repeated-searches"))
    assert not graph.prepared


def test_blocks_have_the_weights_that_the_first_one_had():
    graph = some_graph()
    expected = graph.apsp().distances.copy()
    blocks = graph.apsp_blocks(rows=30)
    np.testing.assert_array_equal(next(blocks)[1], expected[:30])
    graph.prepare()
    others = graph.apsp_blocks(rows=30)
    graph.set_weights(graph.weights * 2)
    for begun in blocks, others:
        with pytest.raises(RuntimeError, match="other weights"):
            next(begun)
    np.testing.assert_array_equal(joined(graph.apsp_blocks())[1][expected > 0], 2 * expected[expected > 0])


def test_progress_of_blocks(monkeypatch):
    from warpath import _progress

    shown = []

    class Bar:
        def show(self, stage, done, total):
            shown.append((stage, done, total))

        def close(self):
            shown.append("closed")

    monkeypatch.setattr(_progress, "bar", Bar)
    list(some_graph().apsp_blocks(rows=40, progress=True))
    assert shown == [("solve", 0, 60), ("solve", 40, 60), ("solve", 60, 60), "closed"]


def test_searches_have_cutoffs_and_nearest_sources():
    graph = some_graph(directed=False)
    whole = graph.sssp(0).distances
    near = graph.sssp(0, cutoff=20).distances
    np.testing.assert_array_equal(near, np.where(whole > 20, -1, whole))
    found = graph.sssp([0, 30])
    nearest = found.nearest_sources()
    for vertex in range(graph.vertices):
        distances = {source: graph.sssp(source).distances[vertex] for source in (0, 30)}
        if found.distances[vertex] >= 0:
            assert distances[int(nearest[vertex])] == found.distances[vertex]


def test_graphs_are_pickled():
    for graph in (some_graph(), some_graph(directed=False), warpath.Graph([("a", "b"), ("b", "c")])):
        back = pickle.loads(pickle.dumps(graph))
        assert repr(back) == repr(graph)
        assert back.labels == graph.labels if graph.labels is not None else back.labels is None
        np.testing.assert_array_equal(back.apsp().distances, graph.apsp().distances)


def test_names_survive_pickles_and_files(tmp_path):
    file = tmp_path / "named.csv"
    file.write_text("from,to,km,hours\nBern,Basel,95,1.5\nBasel,Zug,120,1.25\n")
    read = warpath.read(file, weights="km")
    assert read.labels == ["Bern", "Basel", "Zug"] and read.weights.tolist() == [95, 120]
    assert pickle.loads(pickle.dumps(read)).labels == read.labels
    assert pickle.loads(pickle.dumps(read)).vertex("Zug") == 2
    graph = warpath.Graph([("a", "b", 2), ("b", "c", 3)], directed=False)
    for prepared in (False, True):
        if prepared:
            graph.prepare()
        graph.write(tmp_path / "own.wpg")
        back = warpath.read(tmp_path / "own.wpg")
        assert back.labels == ["a", "b", "c"]
        np.testing.assert_array_equal(back.apsp().distances, graph.apsp().distances)
    graph.write(tmp_path / "own.csv")
    assert "a,b,2" in (tmp_path / "own.csv").read_text()
    numbers = warpath.Graph(nx_path_of([10, 30, 20]))
    numbers.write(tmp_path / "numbers.wpg")
    assert list(map(str, warpath.read(tmp_path / "numbers.wpg").labels)) == ["10", "30", "20"]
    pairs = warpath.Graph([((0, 1), "(0, 1)")])
    with pytest.raises(ValueError, match="two vertices would have the name"):
        pairs.write(tmp_path / "pairs.wpg")
    assert not (tmp_path / "pairs.wpg").exists()


def nx_path_of(nodes):
    import networkx as nx

    graph = nx.Graph()
    nx.add_path(graph, nodes)
    return graph


def test_reading_takes_what_a_file_does_not_say(tmp_path):
    file = tmp_path / "table.txt"
    file.write_text("u,v,hours,km\n7,8,1,50\n8,9,2,70\n")
    read = warpath.read(file, format="edge-list", source="u", target=2, weights=4, directed=False, first_line="header")
    assert (read.vertices, read.arcs, read.directed) == (3, 4, False)
    assert sorted(read.weights.tolist()) == [50, 50, 70, 70]
    assert warpath.read(file, format="edge-list", weights="unit", first_line="header").weights is None
    file.write_text("3 2\n0 1\n1 2\n")
    assert warpath.read(file, format="edge-list", first_line="counts").vertices == 3
    for options, message in [
        ({"format": "scroll"}, "scroll"),
        ({"format": "edge-list", "source": 1}, "together"),
        ({"format": "edge-list", "weights": 0}, "counted from 1"),
        ({"format": "edge-list", "first_line": "last"}, "last"),
    ]:
        with pytest.raises(ValueError, match=message):
            warpath.read(file, **options)


def test_progress_is_shown_without_and_with_a_bar(capsys, monkeypatch):
    from warpath import _progress

    line = _progress._Line()
    line.show("solve", 0, 10)
    line.show("solve", 5, 10)
    assert capsys.readouterr().err == "warpath: solve ...\n"
    shown = []

    class Bar:
        n = 0

        def __init__(self, total, desc, unit_scale):
            shown.append((desc, total))

        def update(self, more):
            self.n += more
            shown.append(self.n)

        def close(self):
            shown.append("closed")

    bar = _progress._Bar(Bar)
    for done in (2, 6):
        bar.show("solve", done, 10)
    bar.show("write", 1, 0)
    bar.close()
    assert shown == [("solve", 10), 2, 6, "closed", ("write", None), 1, "closed"]
    some_graph().apsp(progress=True)


def test_answers_have_a_face_in_notebooks():
    graph = some_graph()
    tree = graph.sssp(0)._repr_html_()
    assert "<table>" in tree and "<svg" in tree and "and 52 more rows" in tree
    table = graph.table([0, 1], [2, 3])._repr_html_()
    assert table.count("<tr>") == 3
    assert "<table>" in warpath.Graph([], vertices=1).sssp(0)._repr_html_()
    # A distance of -1 is one where weights may be below 0.
    below = warpath.Graph([(0, 1, -3), (1, 2, 2)], vertices=4).sssp(0)._repr_html_()
    assert "<td>-1</td>" in below and below.count("not reached") == 1


def test_the_command_is_there():
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "warpath", "sssp", "grid:10x10", "--source", "0", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"command": "sssp"' in done.stdout.replace('":"', '": "')
    wrong = subprocess.run([sys.executable, "-m", "warpath", "sssp"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "Usage" in wrong.stderr
