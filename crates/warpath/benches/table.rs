//! A table of some sources by some targets on the CPU, timed against the searches that a caller's own loop would make.
//!
//! ```sh
//! cargo bench -p warpath --bench table -- roads.gr grid:1000x1000     # every number of sources and targets
//! cargo bench -p warpath --bench table -- roads.gr --sizes 10,all     # some
//! cargo bench -p warpath --bench table -- roads.gr --algorithm batched  # the table by this algorithm
//! ```
//!
//! A graph without weights gets random ones from 1 to 100. Sources and targets are *scattered* over the graph or all
//! *near* one vertex. The loop is the quicker of two: `Solver::solve` for one source after another, each search on all
//! threads, and `Solver::solve_each`, whose searches run side by side. Both end early at the targets, and keep what the
//! table keeps: the distances to the targets, or whole trees where all vertices are targets. Table and loops take turns;
//! each figure is the least of three. All answers are compared.

use std::sync::Arc;
use std::time::Instant;

use warpath::generate::{DEFAULT_SEED, Recipe};
use warpath::graph::{Distance, Distances, WeightKind};
use warpath::{Apsp, Bfs, Engine, Graph, ShortestPathTree, Solver, Sssp, VertexId};

const RUNS: usize = 3;
const SIZES: [usize; 5] = [1, 3, 10, 100, 300];

/// The vertices of a table; no targets stand for all vertices.
struct Table {
    sources: Vec<VertexId>,
    targets: Option<Vec<VertexId>>,
}

impl Table {
    fn search(&self) -> Sssp {
        let search = Sssp::from(0).distances_only();
        self.targets.iter().fold(search, |search, targets| search.to(targets.clone()))
    }

    /// What a caller keeps of a search.
    fn kept(&self, tree: ShortestPathTree) -> Row {
        match &self.targets {
            None => Row::Whole(Box::new(tree)),
            Some(targets) => Row::Some(targets.iter().map(|&target| tree.distance(target)).collect()),
        }
    }
}

/// The distances from a source.
enum Row {
    Whole(Box<ShortestPathTree>),
    Some(Vec<Option<Distance>>),
}

fn main() {
    let (mut names, mut sizes, mut algorithm) = (Vec::new(), SIZES.map(Some).to_vec(), None);
    sizes.push(None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bench" => {}
            "--algorithm" => algorithm = arguments.next(),
            "--sizes" => {
                let list = arguments.next().expect("--sizes takes numbers");
                sizes = list.split(',').map(|size| size.parse().ok()).collect();
            }
            _ => names.push(argument),
        }
    }
    println!(
        "{:<22} {:>7} {:>7} {:<9} {:>10} {:>10} {:>10} {:>6}  algorithm",
        "graph", "sources", "targets", "shape", "in turn", "each", "table", "ratio"
    );
    for name in &names {
        let solver = Solver::builder(graph(name)).engine(Engine::Cpu).open().expect("threads can be started");
        let near = nearest(&solver, solver.graph().vertices() as VertexId / 2);
        let short = name.rsplit('/').next().unwrap_or(name);
        for count in sizes.iter().filter_map(|size| *size) {
            for to in &sizes {
                time(&solver, short, "scattered", &scattered(solver.graph(), count, *to), algorithm.as_deref());
                time(&solver, short, "near", &neighboring(&near, count, *to), algorithm.as_deref());
            }
        }
    }
}

fn graph(name: &str) -> Arc<Graph> {
    let graph = if Recipe::looks_like(name) { warpath::generate(name) } else { warpath::read(name) };
    let weighted = graph.and_then(|graph| match graph.weight_kind() {
        WeightKind::Unit => graph.with_random_weights(1, 100, DEFAULT_SEED),
        _ => Ok(graph),
    });
    Arc::new(weighted.unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// Vertices by the number of edges from this one.
fn nearest(solver: &Solver, from: VertexId) -> Vec<VertexId> {
    let tree = solver.solve(Bfs::from(from).distances_only()).expect("the search works");
    let Distances::U32(levels) = tree.distances() else { panic!("levels are integers") };
    let mut vertices: Vec<VertexId> = (0..levels.len() as VertexId).collect();
    vertices.sort_by_key(|&v| levels[v as usize]);
    vertices
}

fn scattered(graph: &Graph, sources: usize, targets: Option<usize>) -> Table {
    let vertices = graph.vertices();
    let spread =
        |count: usize, shift: usize| (0..count).map(move |i| ((i * vertices / count + shift) % vertices) as VertexId);
    Table { sources: spread(sources, 0).collect(), targets: targets.map(|count| spread(count, vertices / 7).collect()) }
}

fn neighboring(near: &[VertexId], sources: usize, targets: Option<usize>) -> Table {
    // Every other one, so that a source is no target.
    let some = |count: usize, first: usize| near[first..].iter().step_by(2).take(count).copied().collect();
    Table { sources: some(sources, 0), targets: targets.map(|count| some(count, 1)) }
}

/// Times the table and the loops, and prints a line.
fn time(solver: &Solver, name: &str, shape: &str, table: &Table, algorithm: Option<&str>) {
    let request = Apsp::all().from(table.sources.clone());
    let request = table.targets.iter().fold(request, |request, targets| request.to(targets.clone()));
    let request = algorithm.iter().fold(request, |request, algorithm| request.algorithm(*algorithm));
    let (mut in_turn, mut each, mut whole) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    let mut chosen = String::new();
    for run in 0..RUNS {
        let start = Instant::now();
        let matrix = solver.solve(request.clone()).expect("the table is found");
        whole = whole.min(start.elapsed().as_secs_f64());
        chosen.clone_from(&matrix.report().algorithm);

        let start = Instant::now();
        let mut rows = Vec::new();
        let search = table.search();
        let keep = |tree| {
            rows.push(table.kept(tree));
            Ok(())
        };
        solver.solve_each(search.clone(), &table.sources, keep).expect("the searches work");
        each = each.min(start.elapsed().as_secs_f64());
        if run == 0 {
            compare(&matrix, &rows);
        }
        drop((matrix, rows));

        let start = Instant::now();
        let rows: Vec<Row> = table
            .sources
            .iter()
            .map(|&source| {
                let search = Sssp::from(source).distances_only();
                let search = table.targets.iter().fold(search, |search, targets| search.to(targets.clone()));
                table.kept(solver.solve(search).expect("the search works"))
            })
            .collect();
        in_turn = in_turn.min(start.elapsed().as_secs_f64());
        drop(rows);
    }
    let targets = table.targets.as_ref().map_or("all".to_owned(), |targets| targets.len().to_string());
    println!(
        "{name:<22} {:>7} {targets:>7} {shape:<9} {:>10.3} {:>10.3} {:>10.3} {:>6.3}  {chosen}",
        table.sources.len(),
        in_turn * 1e3,
        each * 1e3,
        whole * 1e3,
        whole / in_turn.min(each)
    );
}

/// Panics unless the rows are those of the matrix.
fn compare(matrix: &warpath::DistanceMatrix, rows: &[Row]) {
    assert_eq!(matrix.rows(), rows.len());
    for (i, row) in rows.iter().enumerate() {
        let same = match row {
            Row::Whole(tree) => (0..matrix.columns()).all(|j| matrix.distance(i, j) == tree.distance(j as VertexId)),
            Row::Some(distances) => (0..matrix.columns()).all(|j| matrix.distance(i, j) == distances[j]),
        };
        assert!(same, "row {i} of the table differs from the search");
    }
}
