"""Runs searches of another package, as a job file says, and tells times and answers as JSON lines.

    python3 runner.py FOLDER

FOLDER holds job.json and the graph in compressed sparse rows: offsets (uint64), targets (uint32), weights (uint32).
What is timed is the call of the package's own function, from a graph that the package has prepared, to its answer; the
answer is turned into reached vertices and their sum of distances outside the clock. The answer of a measure is a score for
each vertex, as a file of floats of 64 bits in FOLDER.
"""

import array
import importlib
import json
import os
import sys
import time


def say(**record):
    print(json.dumps(record), flush=True)


def load(folder, job):
    def read(name, kind):
        values = array.array(kind)
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            values.frombytes(file.read())
        return values

    offsets, targets = read("offsets", "Q"), read("targets", "I")
    weights = read("weights", "I") if job["weighted"] else None
    return offsets, targets, weights


def facts(distances):
    """Of an iterable of finite distances."""
    reached, total, greatest = 0, 0, 0
    for distance in distances:
        reached, total, greatest = reached + 1, total + int(distance), max(greatest, int(distance))
    return reached, total, greatest


def facts_of_array(values):
    """Of a NumPy array where what is not reached is infinite, negative or the type's greatest."""
    import numpy

    values = numpy.asarray(values).ravel()
    if values.dtype.kind == "f":
        there = values[numpy.isfinite(values) & (values < 1e300)]
        if values.dtype == numpy.float32:
            there = there[there < numpy.finfo(numpy.float32).max]
    else:
        there = values[(values >= 0) & (values < numpy.iinfo(values.dtype).max)]
    there = there.astype(numpy.int64)
    return int(there.size), int(there.sum()), int(there.max()) if there.size else 0


def levels_of(order, predecessors, source):
    """Levels from the order of a breadth-first search and its tree."""
    levels = {int(source): 0}
    for vertex in order[1:]:
        levels[int(vertex)] = levels[int(predecessors[vertex])] + 1
    return levels.values()


def arcs(offsets, targets):
    for tail in range(len(offsets) - 1):
        for index in range(offsets[tail], offsets[tail + 1]):
            yield tail, targets[index], index


# Each function prepares a graph and returns the version and a search: from a source to (an answer, how to digest it).


def scipy_matrix(job, offsets, targets, weights):
    import numpy
    from scipy.sparse import csr_matrix

    count = job["vertices"]
    data = numpy.frombuffer(weights, numpy.uint32).astype(float) if weights else numpy.ones(len(targets))
    indices = numpy.frombuffer(targets, numpy.uint32).astype(numpy.int32)
    return csr_matrix((data, indices, numpy.frombuffer(offsets, numpy.uint64).astype(numpy.int64)), (count, count))


def scipy_(job, offsets, targets, weights):
    import scipy
    from scipy.sparse.csgraph import breadth_first_order, dijkstra

    matrix = scipy_matrix(job, offsets, targets, weights)
    if job["problem"] == "bfs":
        def search(source):
            found = breadth_first_order(matrix, source, directed=True)
            return found, lambda found: facts(levels_of(found[0], found[1], source))
    else:
        def search(source):
            return dijkstra(matrix, directed=True, indices=source), facts_of_array
    return scipy.__version__, search


def networkx_graph(job, offsets, targets, weights):
    import networkx

    graph = networkx.DiGraph() if job["directed"] else networkx.Graph()
    graph.add_nodes_from(range(job["vertices"]))
    if weights:
        graph.add_weighted_edges_from((u, v, weights[i]) for u, v, i in arcs(offsets, targets))
    else:
        graph.add_edges_from((u, v) for u, v, _ in arcs(offsets, targets))
    return graph


def networkx_(job, offsets, targets, weights):
    import networkx

    graph = networkx_graph(job, offsets, targets, weights)
    if job["problem"] == "bfs":
        function = networkx.single_source_shortest_path_length
    else:
        function = networkx.single_source_dijkstra_path_length
    return networkx.__version__, lambda source: (function(graph, source), lambda found: facts(found.values()))


def igraph_graph(job, offsets, targets, weights):
    import igraph

    every = arcs(offsets, targets) if job["directed"] else ((u, v, i) for u, v, i in arcs(offsets, targets) if u <= v)
    every = list(every)
    graph = igraph.Graph(n=job["vertices"], edges=[(u, v) for u, v, _ in every], directed=job["directed"])
    lengths = [weights[i] for _, _, i in every] if weights and job["problem"] != "bfs" else None
    return graph, lengths


def igraph_(job, offsets, targets, weights):
    import igraph

    graph, lengths = igraph_graph(job, offsets, targets, weights)

    def search(source):
        found = graph.distances(source=[source], weights=lengths, mode="out")[0]
        return found, lambda found: facts(d for d in found if d != float("inf"))

    return igraph.__version__, search


def networkit_graph(job, offsets, targets, weights):
    import networkit

    weighted = bool(weights) and job["problem"] != "bfs"
    graph = networkit.Graph(job["vertices"], weighted=weighted, directed=job["directed"])
    for u, v, i in arcs(offsets, targets):
        if job["directed"] or u <= v:
            graph.addEdge(u, v, weights[i]) if weighted else graph.addEdge(u, v)
    return graph


def networkit_(job, offsets, targets, weights):
    import networkit

    graph = networkit_graph(job, offsets, targets, weights)
    kind = networkit.distance.BFS if job["problem"] == "bfs" else networkit.distance.Dijkstra

    def search(source):
        search = kind(graph, source, False)
        search.run()
        return search, lambda search: facts(d for d in search.getDistances() if d < 1e300)

    return networkit.__version__, search


def rustworkx_(job, offsets, targets, weights):
    import rustworkx

    graph = rustworkx.PyDiGraph() if job["directed"] else rustworkx.PyGraph()
    graph.add_nodes_from(range(job["vertices"]))
    weight = (lambda i: float(weights[i])) if weights and job["problem"] != "bfs" else (lambda i: 1.0)
    graph.add_edges_from([(u, v, weight(i)) for u, v, i in arcs(offsets, targets) if job["directed"] or u <= v])
    module = rustworkx.digraph_dijkstra_shortest_path_lengths if job["directed"] else \
        rustworkx.graph_dijkstra_shortest_path_lengths

    def search(source):
        # The answer does not include the source itself.
        found = module(graph, source, float)
        return found, lambda found: facts([0, *(d for v, d in found.items() if v != source)])

    how = ", Dijkstra with weights of 1" if job["problem"] == "bfs" else ""
    return rustworkx.__version__ + how, search


def graphblas_(job, offsets, targets, weights):
    import graphblas
    import numpy
    from graphblas import Matrix, Vector, dtypes
    from graphblas.semiring import any_pair, min_plus

    count = job["vertices"]
    rows = numpy.frombuffer(offsets, numpy.uint64)
    columns = numpy.frombuffer(targets, numpy.uint32).astype(numpy.uint64)
    weighted = bool(weights) and job["problem"] != "bfs"
    values = numpy.frombuffer(weights, numpy.uint32).astype(numpy.int64) if weighted else numpy.ones(len(columns), bool)
    matrix = Matrix.from_csr(rows, columns, values, ncols=count)

    def bfs(source):
        levels = Vector(dtypes.INT64, count)
        frontier = Vector(dtypes.BOOL, count)
        frontier[source] = True
        level = 0
        while frontier.nvals:
            levels(frontier.S)[:] = level
            frontier(~levels.S, replace=True) << any_pair(frontier @ matrix)
            level += 1
        return levels, lambda levels: facts(levels.to_coo()[1])

    def sssp(source):
        distances = Vector(dtypes.INT64, count)
        distances[source] = 0
        while True:
            before = distances.dup()
            distances(graphblas.binary.min) << min_plus(distances @ matrix)
            if distances.isequal(before):
                return distances, lambda distances: facts(distances.to_coo()[1])

    return graphblas.__version__, bfs if job["problem"] == "bfs" else sssp


def pylibcugraph_(job, offsets, targets, weights):
    import cupy
    import numpy
    import pylibcugraph
    import rmm

    # Without a pool, every search would wait while the driver allocates memory.
    rmm.reinitialize(pool_allocator=True)
    handle = pylibcugraph.ResourceHandle()
    # Vertices and arcs are numbered in the same type.
    number = numpy.int32 if len(targets) < 1 << 31 else numpy.int64
    rows = cupy.asarray(numpy.frombuffer(offsets, numpy.uint64).astype(number))
    columns = cupy.asarray(numpy.frombuffer(targets, numpy.uint32).astype(number))
    values = numpy.frombuffer(weights, numpy.uint32).astype(numpy.float32) if weights else numpy.ones(len(targets), numpy.float32)
    is_symmetric = not job["directed"]
    graph = pylibcugraph.SGGraph(
        handle,
        pylibcugraph.GraphProperties(is_symmetric=is_symmetric, is_multigraph=False),
        rows, columns, weight_array=cupy.asarray(values), store_transposed=False, renumber=True, do_expensive_check=False,
        input_array_format="CSR",
    )

    def bfs(source):
        return pylibcugraph.bfs(handle, graph, cupy.asarray([source], number), is_symmetric, -1, False, False)[0]

    def sssp(source):
        # This function has no distances without predecessors.
        return pylibcugraph.sssp(handle, graph, source, float("inf"), True, False)[1]

    def search(source):
        found = bfs(source) if job["problem"] == "bfs" else sssp(source)
        cupy.cuda.Device().synchronize()
        return found, lambda found: facts_of_array(cupy.asnumpy(found))

    return pylibcugraph.__version__, search


# Each of these prepares a graph and returns the version and a function: from sources to (answers, how to digest each).


def scipy_many(job, offsets, targets, weights):
    import numpy
    import scipy
    from scipy.sparse.csgraph import dijkstra

    matrix = scipy_matrix(job, offsets, targets, weights)
    columns = slice(None) if job["columns"] is None else numpy.array(job["columns"])

    def rows(sources):
        return dijkstra(matrix, directed=True, indices=sources), lambda row: facts_of_array(row[columns])

    return scipy.__version__, rows


def igraph_many(job, offsets, targets, weights):
    import igraph

    graph, lengths = igraph_graph(job, offsets, targets, weights)
    columns = job["columns"]
    # A repeated target is an error there.
    chosen = columns and sorted(set(columns))
    place = {target: index for index, target in enumerate(chosen or [])}

    def digest(row):
        row = row if columns is None else [row[place[target]] for target in columns]
        return facts(d for d in row if d != float("inf"))

    def rows(sources):
        return graph.distances(source=sources, target=chosen, weights=lengths, mode="out"), digest

    return igraph.__version__, rows


# Each of these prepares a graph for a measure and returns the version, a call that finds it, and a function that makes a list of
# the scores of all vertices from what was found, outside the clock.


def igraph_measure(job, offsets, targets, weights):
    import igraph

    graph, lengths = igraph_graph(job, offsets, targets, weights)
    count, directed = job["vertices"], job["directed"]

    def numbers(found):
        # What has no value there, such as the closeness of a vertex that nobody reaches, is 0 here.
        return [0.0 if score != score else score for score in found]

    def closeness(found):
        # There, closeness leaves out vertices that do not reach this one. After Wasserman and Faust, their share lessens it.
        reach = graph.neighborhood_size(order=count, mode="in")
        return [score * (reached - 1) / max(count - 1, 1) for score, reached in zip(numbers(found), reach)]

    calls = {
        "closeness": lambda: graph.closeness(mode="in", weights=lengths, normalized=True),
        "harmonic": lambda: graph.harmonic_centrality(mode="in", weights=lengths, normalized=False),
        "eccentricity": lambda: graph.eccentricity(mode="out", weights=lengths),
        "betweenness": lambda: graph.betweenness(directed=directed, weights=lengths),
        "betweenness-from": lambda: graph.betweenness(directed=directed, weights=lengths, sources=job["sources"]),
        "neighborhoods": lambda: graph.neighborhood_size(order=job["steps"], mode="out"),
    }
    return igraph.__version__, calls[job["measure"]], closeness if job["measure"] == "closeness" else numbers


def networkit_measure(job, offsets, targets, weights):
    import networkit

    graph = networkit_graph(job, offsets, targets, weights)
    # There, closeness is by the distances away from a vertex.
    towards = networkit.graphtools.transpose(graph) if job["directed"] and job["measure"] != "betweenness" else graph
    variant = networkit.centrality.ClosenessVariant.GENERALIZED
    measures = {
        "closeness": lambda: networkit.centrality.Closeness(towards, True, variant),
        "harmonic": lambda: networkit.centrality.HarmonicCloseness(towards, False),
        "betweenness": lambda: networkit.centrality.Betweenness(graph, False),
    }
    measure = measures[job["measure"]]
    # There, betweenness counts each pair of an undirected graph both ways.
    share = 0.5 if job["measure"] == "betweenness" and not job["directed"] else 1.0
    return networkit.__version__, lambda: measure().run(), lambda found: [share * score for score in found.scores()]


def networkx_measure(job, offsets, targets, weights):
    import networkx

    graph = networkx_graph(job, offsets, targets, weights)
    length = "weight" if weights else None
    calls = {
        "closeness": lambda: networkx.closeness_centrality(graph, distance=length),
        "harmonic": lambda: networkx.harmonic_centrality(graph, distance=length),
        "betweenness": lambda: networkx.betweenness_centrality(graph, normalized=False, weight=length),
    }
    call = calls[job["measure"]]
    return networkx.__version__, call, lambda found: [found[vertex] for vertex in range(job["vertices"])]


# Each package's preparing function, and its imports, done before the clock starts.
PACKAGES = {
    "scipy": (scipy_, ["numpy", "scipy.sparse.csgraph"]),
    "networkx": (networkx_, ["networkx"]),
    "igraph": (igraph_, ["igraph"]),
    "networkit": (networkit_, ["networkit"]),
    "rustworkx": (rustworkx_, ["rustworkx"]),
    "python-graphblas": (graphblas_, ["numpy", "graphblas", "graphblas.semiring"]),
    "pylibcugraph": (pylibcugraph_, ["numpy", "cupy", "rmm", "pylibcugraph"]),
}

MANY = {"scipy": scipy_many, "igraph": igraph_many}

MEASURES = {"igraph": igraph_measure, "networkit": networkit_measure, "networkx": networkx_measure}


def answer_many(job, rows):
    at_once, sources, spent = job["at_once"], job["sources"], 0.0
    for index in range(job["repeats"]):
        for first in range(0, len(sources), at_once):
            if spent > job["budget"] and (first or index):
                return
            start = time.perf_counter()
            found, digest = rows(sources[first:first + at_once])
            took = time.perf_counter() - start
            spent += took
            say(**{"pass": index}, first=first, seconds=took, answers=[digest(row) for row in found])


def answer_measure(job, folder, find, scores_of):
    timed, spent, warm_ups = 0, 0.0, 1
    while timed < job["repeats"] and (spent <= job["budget"] or not timed):
        start = time.perf_counter()
        found = find()
        took = time.perf_counter() - start
        if warm_ups and took < job["budget"]:
            warm_ups = 0
            continue
        name = f"scores-{timed}"
        with open(os.path.join(folder, name), "wb") as file:
            array.array("d", scores_of(found)).tofile(file)
        say(scores=name, seconds=took)
        timed, spent = timed + 1, spent + took


def main():
    folder = sys.argv[1]
    with open(os.path.join(folder, "job.json")) as file:
        job = json.load(file)
    prepare, modules = PACKAGES[job["package"]]
    try:
        for module in modules:
            importlib.import_module(module)
    except ImportError as error:
        say(missing=str(error))
        return
    graph = load(folder, job)
    many = "at_once" in job
    if "measure" in job:
        start = time.perf_counter()
        version, find, scores_of = MEASURES[job["package"]](job, *graph)
        say(version=version, prepare=time.perf_counter() - start)
        answer_measure(job, folder, find, scores_of)
        return
    start = time.perf_counter()
    version, search = (MANY[job["package"]] if many else prepare)(job, *graph)
    say(version=version, prepare=time.perf_counter() - start)
    if many:
        answer_many(job, search)
        return
    begun = time.perf_counter()
    for index, source in enumerate(job["sources"]):
        seconds = []
        warm_ups = job["warm_ups"] if index == 0 else 0
        while len(seconds) < job["repeats"]:
            used = time.perf_counter() - begun
            if used > job["budget"] and (seconds or index):
                break
            start = time.perf_counter()
            answer, sum_up = search(source)
            took = time.perf_counter() - start
            if warm_ups and took < job["budget"]:
                warm_ups -= 1
                continue
            seconds.append(took)
            reached, total, greatest = sum_up(answer)
            say(source=index, seconds=took, reached=reached, sum=total, greatest=greatest)


main()
