"""Six degrees of separation: by how many acquaintances two people of a social network know each other.

    python six_degrees.py

It needs the package `warpath` alone.
"""

import numpy as np

import warpath


def degrees_of_separation(graph: warpath.Graph, people: np.ndarray) -> np.ndarray:
    """How many pairs are 0, 1, 2, .. acquaintances apart, from some people to all."""
    # The distances themselves would be an array of 64 times 300,000; their histogram is all that is kept of them.
    found = graph.reductions(sources=people).histogram
    counts = np.zeros(int(found[-1, 0]) + 1)
    counts[found[:, 0].astype(int)] = found[:, 1]
    return counts


def show(counts: np.ndarray) -> None:
    for degree, count in enumerate(counts):
        share = count / counts.sum()
        print(f"  {degree:2} {share:7.2%} {'#' * round(60 * share)}")
    mean, within = np.average(np.arange(len(counts)), weights=counts), counts[:7].sum() / counts.sum()
    print(f"  on average {mean:.2f}, {within:.2%} of all pairs are within six")


# A generated network: one person in a thousand knows hundreds of others, the average is 6.
graph = warpath.generate("scale-free:300000")
people = np.random.default_rng(1).choice(graph.vertices, 64, replace=False)
print(f"{graph.vertices:,} people, {graph.arcs // 2:,} acquaintances: degrees of separation")
counts = degrees_of_separation(graph, people)
show(counts)

tree = graph.bfs(int(people[0]))
stranger = int(tree.distances.argmax())
print(f"\nthe farthest from {people[0]} is {stranger}, by the chain", " - ".join(map(str, tree.path_to(stranger))))

# Is it the few with many acquaintances who make the world small? Without them:
tails, heads = graph.edges()
degree = np.bincount(tails, minlength=graph.vertices)
is_hub = degree >= 100
others = ~is_hub[tails] & ~is_hub[heads]
without = warpath.Graph((tails[others], heads[others]), vertices=graph.vertices)
print(f"\nwithout the {is_hub.sum()} people who know at least 100 others:")
show(degrees_of_separation(without, people[~is_hub[people]]))
