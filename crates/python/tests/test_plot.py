"""Maps: what is drawn is counted, and colours are held against distances found otherwise."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import warpath

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402

from warpath import plot  # noqa: E402


@pytest.fixture(autouse=True)
def no_figures_stay() -> Iterator[None]:
    yield
    pyplot.close("all")


def lines(axes: Any) -> tuple[LineCollection, LineCollection]:
    """The grey edges and the coloured ones."""
    grey, coloured = (collection for collection in axes.collections if isinstance(collection, LineCollection))
    return grey, coloured


def ends(collection: LineCollection) -> set[frozenset[tuple[float, float]]]:
    """The edges of a collection, each as its two places."""
    return {frozenset(map(tuple, segment.tolist())) for segment in collection.get_segments()}


def lattice(rows: int = 12, columns: int = 17, seed: int = 1) -> tuple[warpath.Graph, np.ndarray, dict[tuple[int, int], int]]:
    """An undirected lattice with gaps, places of its vertices, and its edges with weights, each once."""
    random = np.random.default_rng(seed)
    number = np.arange(rows * columns).reshape(rows, columns)
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    tails, heads = (np.concatenate([pair[side].ravel() for pair in pairs]) for side in (0, 1))
    stay = random.random(len(tails)) < 0.75
    tails, heads = tails[stay], heads[stay]
    weights = random.integers(1, 20, len(tails))
    graph = warpath.Graph((tails, heads, weights), vertices=rows * columns, directed=False)
    places = np.column_stack([number.ravel() % columns, number.ravel() // columns]) + random.random((rows * columns, 2)) / 4
    return graph, places, dict(zip(zip(tails.tolist(), heads.tolist()), weights.tolist()))


def expected_distances(edges: dict[tuple[int, int], int], vertices: int, source: int) -> np.ndarray:
    tails, heads = np.array(list(edges)).T
    return dijkstra(csr_array((list(edges.values()), (tails, heads)), shape=(vertices, vertices)), directed=False, indices=source)


def test_edges_have_the_colour_of_their_distance() -> None:
    graph, places, edges = lattice()
    distances = expected_distances(edges, graph.vertices, 30)
    assert np.isinf(distances).any(), "some vertices are not reached"
    levels = [10, 25, 50, 60]
    axes = plot.isochrones(graph, graph.sssp(30), places, levels=levels, cmap="plasma")
    grey, coloured = lines(axes)
    mean = {edge: (distances[edge[0]] + distances[edge[1]]) / 2 for edge in edges}
    within = {edge for edge in edges if mean[edge] <= 60}
    assert 0 < len(within) < len(edges)
    assert len(coloured.get_segments()) == len(within) and len(grey.get_segments()) == len(edges) - len(within)
    place = [tuple(point) for point in places.tolist()]
    assert ends(grey) == {frozenset((place[u], place[v])) for u, v in set(edges) - within}

    colours = {to_hex(colour): band for band, colour in enumerate(matplotlib.colormaps["plasma"](np.linspace(0, 1, 4)))}
    axes.figure.canvas.draw()
    drawn = {
        frozenset(map(tuple, segment.tolist())): colours[to_hex(colour)]
        for segment, colour in zip(coloured.get_segments(), coloured.get_colors())
    }
    for u, v in within:
        band = next(band for band, level in enumerate(levels) if mean[u, v] <= level)
        assert drawn[frozenset((place[u], place[v]))] == band, (u, v, mean[u, v])
    assert set(drawn.values()) == {0, 1, 2, 3}
    # The nearest are drawn last.
    assert (np.diff(coloured.get_array()) <= 0).all()


def test_a_limit_belongs_to_the_band_below() -> None:
    graph = warpath.Graph([(0, 1, 10), (1, 2, 10), (2, 3, 10)])
    axes = plot.isochrones(graph, graph.sssp(0), [(v, 0) for v in range(4)], levels=[5, 15, 24])
    grey, coloured = lines(axes)
    assert coloured.get_array().tolist() == [15, 5] and coloured.norm([15.0, 5.0]).tolist() == [1, 0]
    assert ends(grey) == {frozenset({(2.0, 0.0), (3.0, 0.0)})}


@pytest.mark.parametrize("count", [1, 2, 5, 8, 20])
def test_a_number_of_levels_covers_everything(count: int) -> None:
    graph, places, edges = lattice()
    tree = graph.sssp(30)
    axes = plot.isochrones(graph, tree, places, levels=count)
    grey, coloured = lines(axes)
    reached = [edge for edge in edges if tree.distances[edge[0]] >= 0]
    assert len(coloured.get_segments()) == len(reached)
    assert len(grey.get_segments()) == len(edges) - len(reached) > 0
    assert 1 <= coloured.cmap.N <= count
    assert coloured.norm.boundaries[0] == 0 and coloured.norm.boundaries[-1] >= tree.distances.max()


def test_the_first_limit_may_say_where_the_first_band_begins() -> None:
    graph, places, _ = lattice()
    tree = graph.sssp(30)
    _, without = lines(plot.isochrones(graph, tree, places, levels=[9, 30]))
    _, with_it = lines(plot.isochrones(graph, tree, places, levels=[0, 9, 30]))
    assert without.norm.boundaries[0] == with_it.norm.boundaries[0] == 0
    np.testing.assert_array_equal(without.norm.boundaries, with_it.norm.boundaries)
    np.testing.assert_array_equal(without.get_array(), with_it.get_array())
    grey, coloured = lines(plot.isochrones(graph, tree, places, levels=[0]))
    assert not coloured.get_segments() and len(grey.get_segments()) == graph.arcs // 2


def test_distances_are_scaled() -> None:
    graph, places, _ = lattice()
    tree = graph.sssp(30)
    plain = lines(plot.isochrones(graph, tree, places, levels=[30, 60]))
    scaled = lines(plot.isochrones(graph, tree, places, levels=[0.5, 1], scale=1 / 60))
    for one, other in zip(plain, scaled):
        assert ends(one) == ends(other)
    np.testing.assert_allclose(scaled[1].get_array() * 60, plain[1].get_array())
    # Bands may be less than 1 wide.
    assert lines(plot.isochrones(graph, tree, places, scale=1 / 60))[1].norm.boundaries[1] < 1


def test_sources_are_marked_and_the_bar_has_a_unit() -> None:
    graph, places, _ = lattice()
    axes = plot.isochrones(graph, graph.sssp([30, 77]), places, levels=[10, 2500], label="minutes")
    np.testing.assert_array_equal(axes.collections[-1].get_offsets(), places[[30, 77]])
    _, bar = axes.figure.axes
    assert bar.get_ylabel() == "minutes"
    assert [text.get_text() for text in bar.get_yticklabels()] == ["0", "10", "2,500"]
    without = plot.isochrones(graph, graph.sssp(30), places, colorbar=False)
    assert without.figure.axes == [without]


def test_arrays_are_drawn_as_trees_are() -> None:
    graph, places, _ = lattice()
    tree = graph.sssp(30)
    first = lines(plot.isochrones(graph, tree, places, levels=[20, 40]))
    as_floats = np.where(tree.distances < 0, np.inf, tree.distances)
    for array in (tree.distances, graph.apsp(sources=[30]).distances[0], as_floats, as_floats.astype(np.float32)):
        axes = plot.isochrones(graph, array, places, levels=[20, 40])
        for found, expected in zip(lines(axes), first):
            assert ends(found) == ends(expected)
        np.testing.assert_array_equal(lines(axes)[1].get_array(), first[1].get_array())


def test_weights_below_zero() -> None:
    graph = warpath.Graph.from_edges([0, 1, 3], [1, 2, 4], [-3, 2, 1], vertices=5)
    axes = plot.isochrones(graph, graph.sssp(0), [(v, v) for v in range(5)])
    grey, coloured = lines(axes)
    assert coloured.get_array().tolist() == [-1.5, -2.0] and ends(grey) == {frozenset({(3.0, 3.0), (4.0, 4.0)})}
    assert coloured.norm.boundaries[0] <= -3


def test_breadth_first_search_and_a_single_vertex() -> None:
    graph = warpath.Graph([(0, 1), (1, 2)])
    grey, coloured = lines(plot.isochrones(graph, graph.bfs(0), [(0, 0), (1, 0), (2, 0)]))
    assert coloured.get_array().tolist() == [1.5, 0.5] and not grey.get_segments()
    grey, coloured = lines(plot.isochrones(graph, graph.bfs(2), [(0, 0), (1, 0), (2, 0)]))
    assert len(grey.get_segments()) == 2 and not coloured.get_segments()
    empty = warpath.Graph.from_edges([], [], vertices=1)
    axes = plot.isochrones(empty, empty.bfs(0), [(3, 4)])
    axes.figure.canvas.draw()
    assert not lines(axes)[1].get_segments()


def test_edges_without_places_are_left_out() -> None:
    graph = warpath.Graph([("a", "b", 1), ("b", "c", 1), ("c", "b", 1), ("c", "d", 1), ("c", "c", 1)])
    expected = {frozenset({(0.0, 0.0), (1.0, 0.0)}), frozenset({(1.0, 0.0), (2.0, 0.0)})}
    for places in (
        {"a": (0, 0), "b": (1, 0), "c": (2, 0)},
        [(0, 0), (1, 0), (2, 0), (np.nan, 1)],
        [(0, 0), (1, 0), (2, 0), (np.inf, 1)],
    ):
        (collection,) = plot.network(graph, places).collections
        assert isinstance(collection, LineCollection)
        assert ends(collection) == expected and len(collection.get_segments()) == 2


def test_a_path_is_drawn_over_the_map_or_over_the_network() -> None:
    graph, places, edges = lattice()
    tree = graph.sssp(30)
    target = int(tree.distances.argmax())
    way = tree.path_to(target)
    assert way is not None and len(way) > 2
    axes = plot.isochrones(graph, tree, places)
    assert plot.path(graph, way, places, ax=axes, label="a way") is axes
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), places[way])
    np.testing.assert_array_equal(axes.collections[-1].get_offsets(), places[[30, target]])
    assert axes.get_legend_handles_labels()[1] == ["source", "a way"]
    alone = plot.path(graph, graph.path(30, target), places)
    assert isinstance(alone.collections[0], LineCollection) and len(alone.collections[0].get_segments()) == len(edges)


def test_axes_are_those_given_and_have_the_scale_of_the_map() -> None:
    graph = warpath.Graph([(0, 1, 1), (1, 2, 1)])
    places = [(8.0, 59.0), (9.0, 60.0), (10.0, 61.0)]
    _, both = pyplot.subplots(1, 2)
    axes = plot.isochrones(graph, graph.sssp(0), places, ax=both[1])
    assert axes is both[1] and axes.get_aspect() == 1
    low, high = axes.get_xlim()
    assert low <= 8 and 10 <= high and high - low < 3
    assert plot.network(graph, places, ax=both[0], geographic=True).get_aspect() == pytest.approx(2)


def test_a_large_network_is_one_image_in_an_svg() -> None:
    graph = warpath.generate("grid:500x520,weights=1..100")
    places = np.column_stack([np.arange(260_000) % 520, np.arange(260_000) // 520])
    axes = plot.isochrones(graph, graph.sssp(130_260), places)
    axes.figure.canvas.draw()
    assert len(lines(axes)[1].get_paths()) == graph.arcs // 2
    assert lines(axes)[1].get_rasterized()


@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"coordinates": np.zeros((3, 3))}, ValueError, r"the shape \(3, 2\), .* not \(3, 3\)"),
        ({"coordinates": np.zeros((2, 2))}, ValueError, r"not \(2, 2\)"),
        ({"coordinates": np.zeros(6)}, ValueError, r"not \(6,\)"),
        ({"tree": [0, 1]}, ValueError, r"the shape \(3,\), .* not \(2,\)"),
        ({"tree": [[0, 1, 2]]}, ValueError, r"not \(1, 3\)"),
        ({"tree": ["a", "b", "c"]}, TypeError, "distances are numbers"),
        ({"tree": [0, 0.5, -0.5]}, ValueError, "below 0 and no weights are"),
        ({"scale": 0}, ValueError, "above 0, not 0"),
        ({"scale": np.inf}, ValueError, "above 0, not inf"),
        ({"levels": []}, ValueError, "finite and ascending"),
        ({"levels": [2, 1]}, ValueError, "finite and ascending"),
        ({"levels": [1, 1]}, ValueError, "finite and ascending"),
        ({"levels": [1, np.inf]}, ValueError, "finite and ascending"),
        ({"levels": 0}, ValueError, "at least one band, not 0"),
        ({"levels": 2.5}, TypeError, "integer"),
    ],
)
def test_bad_arguments_are_errors(change: dict[str, Any], error: type[Exception], message: str) -> None:
    graph = warpath.Graph([(0, 1), (1, 2)])
    arguments: dict[str, Any] = {"graph": graph, "tree": graph.bfs(0), "coordinates": np.zeros((3, 2)), **change}
    with pytest.raises(error, match=message):
        plot.isochrones(**arguments)


@pytest.mark.parametrize(
    "vertices, error, message",
    [
        (None, TypeError, "no path to draw"),
        ([], ValueError, "one dimension"),
        ([0.5], ValueError, "numbers of its vertices"),
        ([[0, 1]], ValueError, "one dimension"),
        ([0, 3], ValueError, "not one of the 3"),
        ([-1], ValueError, "not one of the 3"),
        ([0, 1, 2], ValueError, "vertex 2 are not known"),
    ],
)
def test_bad_paths_are_errors(vertices: Any, error: type[Exception], message: str) -> None:
    graph = warpath.Graph([(0, 1), (1, 2)])
    with pytest.raises(error, match=message):
        plot.path(graph, vertices, {0: (0, 0), 1: (1, 0)})


def test_without_matplotlib_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = warpath.Graph([(0, 1)])
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    places = [(0, 0), (1, 0)]
    calls = [
        lambda: plot.isochrones(graph, graph.bfs(0), places),
        lambda: plot.network(graph, places),
        lambda: plot.path(graph, [0, 1], places),
    ]
    for call in calls:
        with pytest.raises(ImportError, match=r"pip install 'warpath\[plot\]'"):
            call()


def test_coordinates_of_the_library_are_taken(tmp_path: Path) -> None:
    graph = warpath.generate("roads:500")
    places = warpath.generated_coordinates("roads:500")
    assert places is not None
    file = tmp_path / "places.csv"
    # The file does not have the last vertex.
    file.write_text("".join(f"{v},{x},{y}\n" for v, (x, y) in enumerate(places[:-1].tolist())), encoding="utf-8")
    tails, heads = graph.edges()
    lost = np.count_nonzero((tails == 499) | (heads == 499)) // 2
    assert lost > 0
    whole, part = (plot.network(graph, found) for found in (places, graph.read_coordinates(file)))
    assert len(whole.collections[0].get_paths()) == graph.arcs // 2
    assert len(part.collections[0].get_paths()) == graph.arcs // 2 - lost
