"""All pairs of a network of genes: how far genes are from each other, and which are in the middle.

    python gene_network.py

It needs the package `warpath` alone.
"""

import numpy as np

import warpath

GENES, MODULES = 2000, 20

# A generated network: genes work together in modules, and some join modules. An interaction has a confidence between 0 and 1.
random = np.random.default_rng(5)
module = random.integers(0, MODULES, GENES)
first, second = random.integers(0, GENES, (2, 200_000))
is_kept = random.random(len(first)) < np.where(module[first] == module[second], 0.5, 0.008)
first, second = first[is_kept], second[is_kept]
confidence = random.beta(4, 2, len(first))

# Confidences along a path are multiplied: the most credible path is the shortest one by the sum of their negative logarithms.
graph = warpath.Graph((first, second, -np.log(confidence)), vertices=GENES, directed=False)
names = [f"G{number:04}" for number in range(GENES)]
print(f"{GENES:,} genes, {graph.arcs // 2:,} interactions")

found = graph.apsp()
found.verify()
distances = found.distances
pairs = distances[np.triu_indices(GENES, 1)]
connected = pairs[np.isfinite(pairs)]
share, median = len(connected) / len(pairs), np.exp(-np.median(connected))
print(f"{share:.1%} of the pairs are connected, by a path of confidence {median:.2f} in the median")

print("\nhow many pairs have which distance, -ln(confidence):")
counts, edges = np.histogram(connected, bins=np.arange(0, connected.max() + 0.25, 0.25))
for count, low in zip(counts, edges):
    print(f"  {low:4.2f} {count:>9,} {'#' * round(50 * count / counts.max())}")

# Centralities come without the table, also of networks whose table would not fit into memory.
centrality = graph.reductions()
tails, _ = graph.edges()
partners = np.bincount(tails, minlength=GENES)
assert np.isclose(centrality.harmonic[0], sum(1 / distances[1:, 0]))
print("\nthe genes that are nearest to all others:")
print("  gene   closeness  harmonic  partners")
for gene in np.argsort(-centrality.closeness)[:5]:
    print(f"  {names[gene]}  {centrality.closeness[gene]:9.3f}  {centrality.harmonic[gene]:8.0f}  {partners[gene]:8}")

inside = np.median(distances[(module[:, None] == module) & ~np.eye(GENES, dtype=bool)])
across = np.median(distances[module[:, None] != module])
print(f"\nthe median distance is {inside:.2f} within a module and {across:.2f} across modules")

source, target = np.unravel_index(np.where(np.isfinite(distances), distances, -1).argmax(), distances.shape)
print(f"\nthe three most credible paths between the farthest, {names[source]} and {names[target]}:")
for path in graph.k_shortest_paths(int(source), int(target), 3):
    print(f"  {np.exp(-path.length):.4f}", " - ".join(names[gene] for gene in path.vertices))
