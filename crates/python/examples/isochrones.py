"""How far can one drive from here? A map of a town whose streets have the colour of the minutes that it takes to get there.

    python isochrones.py [FILE]

draws the map into FILE, a .png, .svg or .pdf, by default isochrones.png. It needs `pip install 'warpath[plot]'`.
"""

import sys

import matplotlib

matplotlib.use("Agg")  # draws into files and needs no screen

import numpy as np

import warpath
import warpath.plot

KILOMETRES_PER_UNIT = 0.1
STREET, MOTORWAY = 30, 100  # km/h
MIDDLE, RADII = np.array([30.0, 30.0]), np.array([30.0, 19.0])


def streets() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The tails and heads of streets, and where junctions lie: x and y in a row for each."""
    # For real streets: graph = warpath.read("roads.gr.gz"), and places = graph.read_coordinates("roads.co.gz").
    graph, places = warpath.generate("roads:4600"), warpath.generated_coordinates("roads:4600")
    # The town is an ellipse of them.
    is_inside = (((places - MIDDLE) / RADII) ** 2).sum(axis=1) < 1
    number = np.cumsum(is_inside) - 1
    tails, heads = graph.edges()
    stay = is_inside[tails] & is_inside[heads]
    return number[tails[stay]], number[heads[stay]], places[is_inside]


def river(x: np.ndarray) -> np.ndarray:
    """The y of the river."""
    return 36 + 3 * np.sin(x / 7)


def motorways(places: np.ndarray) -> list[np.ndarray]:
    """The junctions along two motorways, one to three streets apart."""
    east, north = np.linspace(2, 58, 21), np.linspace(12, 48, 15)
    lines = [np.column_stack([east, 24 + 0.004 * (east - 30) ** 2]), np.column_stack([40 + 0.2 * (north - 30), north])]
    return [np.array([nearest(places, point) for point in line]) for line in lines]


def nearest(places: np.ndarray, point: np.ndarray) -> int:
    return int(((places - point) ** 2).sum(axis=1).argmin())


def main(file: str) -> None:
    tails, heads, places = streets()
    # Two bridges cross the river; the other streets end there.
    is_north = places[:, 1] > river(places[:, 0])
    is_bridge = np.isin(np.round(places[tails, 0]), [12, 25])
    stay = (is_north[tails] == is_north[heads]) | is_bridge
    tails, heads = tails[stay], heads[stay]
    ways = motorways(places)
    fast_tails, fast_heads = np.concatenate([way[:-1] for way in ways]), np.concatenate([way[1:] for way in ways])

    speeds = np.repeat([STREET, MOTORWAY], [len(tails), len(fast_tails)])
    tails, heads = np.concatenate([tails, fast_tails]), np.concatenate([heads, fast_heads])
    kilometres = KILOMETRES_PER_UNIT * np.linalg.norm(places[tails] - places[heads], axis=1)
    graph = warpath.Graph((tails, heads, 60 * kilometres / speeds), vertices=len(places), directed=False)

    tree = graph.sssp(nearest(places, np.array([22.0, 30.0])))
    limits = [1, 2, 3, 4, 6, 8, 10]
    for limit in limits:
        print(f"within {limit:2} minutes: {np.mean(tree.distances <= limit):6.1%} of {graph.vertices:,} junctions")
    farthest = np.where(np.isfinite(tree.distances), tree.distances, -1).argmax()
    print(f"the farthest junction is {tree.distances[farthest]:.1f} minutes away")

    axes = warpath.plot.isochrones(graph, tree, places, levels=limits, label="minutes by car")
    warpath.plot.path(graph, tree.path_to(farthest), places, ax=axes, label="to the farthest junction")
    for way, label in zip(ways, ["motorway", None]):
        axes.plot(*places[way].T, color="black", linewidth=4, label=label, zorder=1.5)
    x = np.linspace(1, 59, 200)
    axes.plot(x, river(x), color="#a6cee3", linewidth=9, solid_capstyle="round", label="river", zorder=0)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=4, frameon=False)
    axes.figure.savefig(file, dpi=100)
    print(f"the map is in {file}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "isochrones.png")
