"""Maps of distances and paths, by Matplotlib: ``pip install 'warpath[plot]'``.

>>> import warpath, warpath.plot
>>> graph, coordinates = warpath.generate("roads:2000"), warpath.generated_coordinates("roads:2000")
>>> axes = warpath.plot.isochrones(graph, graph.sssp(310), coordinates, scale=1 / 10_000, label="kilometres")
>>> axes.figure.savefig("map.png")  # doctest: +SKIP

``isochrones`` draws how far each edge is from the sources of a search, ``network`` draws the edges alone, and ``path`` draws a path over
either.

Coordinates are an array of the shape ``(V, 2)``: row ``v`` has the x and the y of vertex ``v``, in any unit, or NaN where its place is
not known. ``graph.read_coordinates`` and ``warpath.generated_coordinates`` make such arrays. A mapping from the labels of vertices to
pairs is taken, too, as NetworkX has it.

All functions return Matplotlib's ``Axes``, to which titles and legends can be added. Without ``ax`` they make a figure.
``geographic=True`` says that x and y are longitude and latitude in degrees, and gives both the same scale in the middle of the map.

Drawing takes O(V + E) time and memory: a network of 260,000 vertices is on the screen after a few seconds.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._warpath import Graph, Path, ShortestPathTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

__all__ = ["isochrones", "network", "path"]

# The colours of the pictures of the command `warpath`.
_PLAIN = "#cbcfd5"
_SOURCE = "#d62728"
_PATH = "#d55e00"
#: The part of viridis that can be seen on white.
_SEEN = 0.88
#: In an SVG or a PDF, more edges than this are an image.
_MOST_VECTORS = 50_000


def isochrones(
    graph: Graph,
    tree: ShortestPathTree | ArrayLike,
    coordinates: ArrayLike | Mapping[Any, Any],
    *,
    levels: int | Sequence[float] = 8,
    scale: float = 1,
    ax: Axes | None = None,
    cmap: str | Colormap | None = None,
    label: str = "distance",
    colorbar: bool = True,
    geographic: bool = False,
    linewidth: float | None = None,
) -> Axes:
    """Draws the edges of a graph, coloured by their distance from the sources of a search.

    ``tree`` is the answer of ``graph.sssp`` or ``graph.bfs``, or an array of V distances in the form that these have them: unreachable is
    infinite in floats and -1 in integers. The sources of a tree are marked. ``coordinates`` are described in the documentation of this
    module.

    Distances have the unit of the weights, multiplied by ``scale``: of seconds, ``scale=1 / 60`` makes minutes. ``levels`` are the upper
    limits of the bands of colour, in the same unit and ascending. A limit belongs to the band below it; the first band begins at 0. A
    number asks for at most so many bands, at round limits, that cover everything reached. The distance of an edge is the mean of those of
    its ends. Edges beyond the last limit are grey, as are edges with an end that was not reached.

    The coloured edges are the last ``LineCollection`` of the axes, the nearest on top; its ``get_array()`` has their distances. ``label``
    stands beside the colour bar and should name the unit. ``cmap`` is a colour map of Matplotlib, by default viridis without its brightest
    part, and ``linewidth`` is in points.

    Raises ``ImportError`` without Matplotlib, and ``ValueError`` if coordinates, distances or levels have the wrong shape or order, the
    scale is not above 0, or distances are below 0 though no weights are, as those are that a caller has scaled together with -1.

    >>> import warpath
    >>> graph = warpath.Graph([(0, 1, 4), (1, 2, 4), (3, 2, 1)])
    >>> axes = warpath.plot.isochrones(graph, graph.sssp(0), [(0, 0), (1, 0), (2, 0), (2, 1)], levels=[5, 10], label="minutes")
    >>> grey, coloured = axes.collections[:2]
    >>> len(grey.get_segments()), coloured.get_array().tolist()
    (1, [6.0, 2.0])
    """
    pyplot = _pyplot()
    from matplotlib.collections import LineCollection
    from matplotlib.colors import BoundaryNorm, ListedColormap

    places = _places(graph, coordinates)
    if not 0 < scale < math.inf:
        raise ValueError(f"a scale is a number above 0, not {scale}")
    whole = scale == 1 and graph.weight_type in ("unit", "u32", "i32")
    distances = _distances(graph, tree) * scale
    tails, heads = _edges(graph, places)
    of_edges = (distances[tails] + distances[heads]) / 2
    limits, lowest = _limits(levels, distances, whole)

    is_near = of_edges <= limits[-1]
    near = np.flatnonzero(is_near)
    near = near[np.argsort(-of_edges[near], kind="stable")]
    far = np.flatnonzero(~is_near)

    # The bands of a `BoundaryNorm` have their lower limits, not their upper ones; moved by the least step there is, it is the other way.
    boundaries = np.concatenate([[lowest], np.nextafter(limits, math.inf)])
    colours = pyplot.get_cmap("viridis" if cmap is None else cmap)
    shares = np.linspace(0, _SEEN if cmap is None else 1, len(limits))
    coloured = LineCollection(
        _segments(places, tails[near], heads[near]),
        array=of_edges[near],
        cmap=ListedColormap(colours(shares)),
        norm=BoundaryNorm(boundaries, len(limits)),
        linewidths=_width(len(tails)) if linewidth is None else linewidth,
        capstyle="round",
        rasterized=len(tails) > _MOST_VECTORS,
        zorder=2,
    )
    ax = _network(ax, places, tails, heads, far, geographic, linewidth)
    ax.add_collection(coloured, autolim=False)
    if isinstance(tree, ShortestPathTree):
        _mark(ax, places[tree.sources], _SOURCE, "source", 6)
    if colorbar:
        bar = ax.figure.colorbar(coloured, ax=ax, label=label, ticks=boundaries, shrink=0.7, fraction=0.04, pad=0.02, aspect=25)
        bar.ax.set_yticks(boundaries, [f"{boundary:,.10g}" for boundary in (lowest, *limits)])
        bar.ax.tick_params(length=0)
        bar.outline.set_visible(False)
    return ax


def network(
    graph: Graph,
    coordinates: ArrayLike | Mapping[Any, Any],
    *,
    ax: Axes | None = None,
    geographic: bool = False,
    linewidth: float | None = None,
) -> Axes:
    """Draws the edges of a graph in grey, as the ground for a path; one with an end whose place is not known is left out.

    Raises ``ImportError`` without Matplotlib, and ``ValueError`` if coordinates have the wrong shape.

    >>> import warpath
    >>> graph = warpath.Graph([(0, 1), (1, 0), (1, 2)])
    >>> axes = warpath.plot.network(graph, [(0, 0), (1, 0), (1, 1)])
    >>> len(axes.collections[0].get_segments())
    2
    """
    places = _places(graph, coordinates)
    tails, heads = _edges(graph, places)
    return _network(ax, places, tails, heads, np.arange(len(tails)), geographic, linewidth)


def path(
    graph: Graph,
    vertices: Path | ArrayLike,
    coordinates: ArrayLike | Mapping[Any, Any],
    *,
    ax: Axes | None = None,
    color: str = _PATH,
    label: str | None = None,
    linewidth: float = 2.5,
) -> Axes:
    """Draws a path, with marks at its first and its last vertex.

    ``vertices`` is a ``Path``, or an array of vertices, such as ``tree.path_to(target)``. ``ax`` are the axes of a map, by default those of
    the ``network``; ``label`` is for ``axes.legend()``.

    Raises ``ImportError`` without Matplotlib, ``TypeError`` for the ``None`` that stands for no path, and ``ValueError`` if the path has no
    vertices, or one that the graph does not have or whose place is not known.

    >>> import warpath
    >>> graph = warpath.Graph([(0, 1), (1, 2), (2, 3)])
    >>> coordinates = [(0, 0), (1, 0), (1, 1), (2, 1)]
    >>> axes = warpath.plot.path(graph, graph.path(0, 2), coordinates)
    >>> axes.lines[0].get_xydata().tolist()
    [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    """
    _pyplot()
    from matplotlib import patheffects

    if vertices is None:
        raise TypeError("there is no path to draw: None stands for a target that is not reached")
    places = _places(graph, coordinates)
    way = np.asarray(vertices.vertices if isinstance(vertices, Path) else vertices)
    if way.ndim != 1 or len(way) == 0 or way.dtype.kind not in "iu":
        raise ValueError("a path is an array of one dimension with the numbers of its vertices")
    if way.min() < 0 or way.max() >= graph.vertices:
        raise ValueError(f"the path has a vertex that is not one of the {graph.vertices} of the graph")
    points = places[way]
    if np.isnan(points).any():
        unknown = way[np.isnan(points).any(axis=1)][0]
        raise ValueError(f"the coordinates of vertex {unknown} are not known")
    if ax is None:
        ax = network(graph, places)
    # A line around the line, which sets it apart from edges of its colour.
    around = [patheffects.Stroke(linewidth=linewidth + 2.5, foreground="white"), patheffects.Normal()]
    ax.plot(
        points[:, 0],
        points[:, 1],
        color=color,
        linewidth=linewidth,
        label=label,
        path_effects=around,
        solid_capstyle="round",
        solid_joinstyle="round",
        zorder=4,
    )
    # Below the mark of a source, where the path may begin.
    _mark(ax, points[[0, -1]], color, None, 5)
    return ax


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("maps need Matplotlib: pip install 'warpath[plot]'") from error
    return pyplot


def _places(graph: Graph, coordinates: ArrayLike | Mapping[Any, Any]) -> NDArray[np.float64]:
    """Where vertices lie, as an array of the shape (V, 2)."""
    if isinstance(coordinates, Mapping):
        labels = range(graph.vertices) if graph.labels is None else graph.labels
        nowhere = (math.nan, math.nan)
        coordinates = [coordinates.get(label, nowhere) for label in labels]
    places = np.asarray(coordinates, dtype=np.float64)
    if places.shape != (graph.vertices, 2):
        raise ValueError(
            f"coordinates have the shape ({graph.vertices}, 2), an x and a y for each vertex of the graph, not {places.shape}"
        )
    # Where one of the two is not a number, nothing is known.
    return np.where(np.isfinite(places).all(axis=1, keepdims=True), places, math.nan)


def _distances(graph: Graph, tree: ShortestPathTree | ArrayLike) -> NDArray[np.float64]:
    """Distances as floats, infinite where nothing arrives."""
    found = np.asarray(tree.distances if isinstance(tree, ShortestPathTree) else tree)
    if found.shape != (graph.vertices,):
        raise ValueError(f"distances have the shape ({graph.vertices},), one for each vertex, not {found.shape}")
    if found.dtype.kind not in "iuf":
        raise TypeError(f"distances are numbers, not {found.dtype}")
    if found.dtype.kind == "f":
        reached = np.isfinite(found)
        if graph.weight_type in ("unit", "u32") and (found < 0).any():
            raise ValueError("distances are below 0 and no weights are; unreachable is infinite in floats, and -1 in integers alone")
    elif found.dtype == np.int64 and graph.weight_type == "i32":
        reached = found != np.iinfo(np.int64).max
    else:
        reached = found >= 0
    return np.where(reached, found, math.inf).astype(np.float64)


def _edges(graph: Graph, places: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ends of the edges between vertices whose places are known, each once, even if it has an arc in both directions."""
    tails, heads = (ends.astype(np.int64) for ends in graph.edges())
    known = ~np.isnan(places[:, 0])
    kept = known[tails] & known[heads] & (tails != heads)
    low, high = np.minimum(tails[kept], heads[kept]), np.maximum(tails[kept], heads[kept])
    low, high = np.divmod(np.unique(low * graph.vertices + high), max(graph.vertices, 1))
    return low, high


def _limits(levels: Any, distances: NDArray[np.float64], whole: bool) -> tuple[NDArray[np.float64], float]:
    """The upper limits of the bands, and the lower one of the first band."""
    reached = distances[np.isfinite(distances)]
    lowest = min(0.0, float(reached.min(initial=0.0)))
    if np.ndim(levels) > 0:
        limits = np.asarray(levels, dtype=np.float64)
        if limits.ndim != 1 or len(limits) == 0 or not (np.isfinite(limits).all() and (np.diff(limits) > 0).all()):
            raise ValueError(f"levels are a number of bands, or their limits, finite and ascending, not {levels}")
        if limits[0] > lowest:
            return limits, lowest
        # The first band begins where the caller says, or somewhere, if that is the only limit.
        return (limits[1:], float(limits[0])) if len(limits) > 1 else (limits, float(limits[0]) - 1)
    bands = operator.index(levels)
    if bands < 1:
        raise ValueError(f"there is at least one band, not {levels}")
    from matplotlib.ticker import MaxNLocator

    highest = float(reached.max(initial=0.0))
    if highest <= lowest:
        return np.array([lowest + 1]), lowest
    locator = MaxNLocator(bands, steps=[1, 2, 2.5, 5, 10], integer=whole, min_n_ticks=1)
    ticks = np.asarray(locator.tick_values(lowest, highest), dtype=np.float64)
    limits = ticks[ticks > lowest]
    # The locator covers the range but for a rounding error.
    limits[-1] = max(limits[-1], highest)
    return limits, min(lowest, float(ticks[0]))


def _network(
    ax: Axes | None,
    places: NDArray[np.float64],
    tails: NDArray[np.int64],
    heads: NDArray[np.int64],
    grey: NDArray[np.intp],
    geographic: bool,
    linewidth: float | None,
) -> Axes:
    """The axes of a map, with some of its edges in grey."""
    pyplot = _pyplot()
    from matplotlib.collections import LineCollection

    drawn = places[np.concatenate([tails, heads])]
    low, high = (drawn.min(axis=0), drawn.max(axis=0)) if len(drawn) else (np.zeros(2), np.ones(2))
    stretch = 1 / max(math.cos(math.radians((low[1] + high[1]) / 2)), 0.01) if geographic else 1.0
    axes: Axes
    if ax is None:
        width, height = high[0] - low[0], (high[1] - low[1]) * stretch
        share = min(max(height / width, 0.4), 1.6) if width > 0 else 1.0
        _, axes = pyplot.subplots(figsize=(8, 7 * share), layout="constrained")
    else:
        axes = ax
    segments = _segments(places, tails[grey], heads[grey])
    axes.add_collection(
        LineCollection(
            segments,
            colors=_PLAIN,
            linewidths=_width(len(tails)) * 0.7 if linewidth is None else linewidth,
            rasterized=len(tails) > _MOST_VECTORS,
            zorder=1,
        ),
        autolim=False,
    )
    axes.update_datalim([low, high])
    axes.autoscale_view()
    axes.set_aspect(stretch)
    axes.set_axis_off()
    return axes


def _segments(places: NDArray[np.float64], tails: NDArray[np.int64], heads: NDArray[np.int64]) -> Any:
    return np.stack([places[tails], places[heads]], axis=1)


def _width(edges: int) -> float:
    """How wide a line of so many is, in points."""
    return min(max(2.9 - 0.4 * math.log10(max(edges, 1)), 0.5), 2.4)


def _mark(ax: Axes, points: NDArray[np.float64], color: str, label: str | None, zorder: int) -> None:
    ax.scatter(
        points[:, 0], points[:, 1], s=70, color=color, edgecolors="white", linewidths=1.5, label=label, zorder=zorder
    )
