"""Which depot serves which customer? A table of driving distances, the nearest depot of each customer, and a route.

    python depots.py

It needs the package `warpath` alone.
"""

import numpy as np

import warpath

METRES = 0.1  # A unit of the generated lengths.

# The junctions of a generated road network; `warpath.read("roads.gr.gz")` reads a real one.
graph = warpath.generate("roads:50000")
random = np.random.default_rng(2)
depots = random.choice(graph.vertices, 3, replace=False)
customers = random.choice(graph.vertices, 8, replace=False)

# With a hierarchy, which `graph.write("roads.wpg")` would keep, the table takes far less time than searches.
graph.prepare()
table = graph.table(depots, customers)
kilometres = table.distances * METRES / 1000

print("kilometres".rjust(14) + "".join(f"{customer:>9}" for customer in customers))
for depot, row in zip(depots, kilometres):
    print(f"  depot {depot:>6}" + "".join(f"{distance:9.1f}" for distance in row))

nearest = kilometres.argmin(axis=0)
print("\nthe nearest depot of each customer:")
for customer, row, distance in zip(customers, nearest, kilometres.min(axis=0)):
    print(f"  {customer:>6}  {depots[row]:>6}  {distance:5.1f} km")
print(f"all customers together: {kilometres.min(axis=0).sum():.1f} km, from one depot {kilometres.sum(axis=1).min():.1f} km at best")

# One search from all depots at once tells the nearest one of every junction.
tree = graph.sssp(depots)
areas = tree.nearest_sources()
assert (areas[customers] == depots[nearest]).all()
for depot in depots:
    print(f"depot {depot:>6} is the nearest of {np.mean(areas == depot):.0%} of all junctions")

# The route to the customer who is farthest from a depot.
farthest = int(kilometres.min(axis=0).argmax())
route = graph.path(int(depots[nearest[farthest]]), int(customers[farthest]))
print(f"\nthe route to customer {customers[farthest]}: {route.length * METRES / 1000:.1f} km over {len(route)} streets")
print("  begins at", " ".join(map(str, route.vertices[:6])), "..")
