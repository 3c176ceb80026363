//! The Graph500 benchmark by its own rules: a Kronecker graph with permuted vertices, searches from 64 random roots, each once, every answer
//! validated, and the harmonic mean of traversed edges a second.
//!
//! *Kernel 1* makes a graph of the list of edges, opens the engine and brings the graph there; one untimed search ends it, which loads
//! what searches need. *Kernel 2* is breadth-first search with a parent for each vertex, *kernel 3* shortest paths by weights in [0, 1) of
//! 32-bit floats. A search is timed by the host's clock, from the request to the tree in the host's memory. Validation is
//! `Tree::verify`, which shows that each tree is one of the graph and has the least distances; it is not timed as part of a search.
//!
//! The *edges of a search* are those of the list with an end in the component of the root: self-loops and repeated edges count, each edge
//! once.
//!
//! Source: Graph500 Benchmark Specification, version 2 with kernel 3 of version 3, <https://graph500.org/?page_id=12>; the deviation
//! of a harmonic mean as in its reference programs, after N. Norris, The standard errors of the geometric and harmonic means, Annals of
//! Mathematical Statistics 11 (1940).

use std::fmt::Write;
use std::time::Instant;

use warpath::generate::{DEFAULT_SEED, EdgeFractions, Recipe, sample_of_vertices};
use warpath::graph::{Direction, GraphBuilder, VertexId, weakly_connected_components};
use warpath::{Bfs, Control, Engine, Error, Graph, Result, Solver, Sssp};

use crate::spread::quantile;

/// Its name among the suites.
pub const NAME: &str = "graph500";

/// Its headline.
pub const TITLE: &str = "Graph500: breadth-first search and shortest paths by the benchmark's rules";

/// Edges for each vertex.
pub const EDGE_FACTOR: u64 = 16;

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The binary logarithm of the number of vertices.
    pub scale: u32,
    /// Roots of searches; the rules say 64.
    pub roots: usize,
    /// The engine of all searches.
    pub engine: Engine,
}

/// The searches of one kernel.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// `bfs` or `sssp`.
    pub name: &'static str,
    /// The engine and the algorithm of the last search.
    pub by: String,
    /// The seconds of each search.
    pub seconds: Vec<f64>,
    /// The seconds of each validation.
    pub validation: Vec<f64>,
}

/// What a run found. Every answer was validated.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The binary logarithm of the number of vertices.
    pub scale: u32,
    /// Seconds of making the list of edges.
    pub generation: f64,
    /// Seconds of kernel 1.
    pub construction: f64,
    /// The edges of each search.
    pub edges: Vec<u64>,
    /// Kernels 2 and 3.
    pub kernels: [Kernel; 2],
}

/// Runs the benchmark; `said` gets a line for each part that is done.
///
/// ```
/// use warpath::{Control, Engine};
/// use warpath_bench::graph500::{Options, run};
///
/// let options = Options { scale: 8, roots: 4, engine: Engine::Cpu };
/// let outcome = run(&options, &Control::new(), &mut |_| ())?;
/// assert_eq!(outcome.kernels[0].seconds.len(), 4);
/// assert!(outcome.text().contains("bfs  harmonic_mean_TEPS:"));
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// # Errors
///
/// If an answer is wrong, if there is too little memory, or if the engine can't run.
pub fn run(options: &Options, control: &Control, said: &mut dyn FnMut(&str)) -> Result<Outcome> {
    let begin = Instant::now();
    let recipe: Recipe = format!("kron:{},edges-per-vertex={EDGE_FACTOR}", options.scale).parse()?;
    let list = draw(&recipe, control)?;
    let generation = begin.elapsed().as_secs_f64();
    said(&format!("{} edges drawn", list.len()));

    let begin = Instant::now();
    let weights = EdgeFractions::new(DEFAULT_SEED);
    let weighted = list.iter().enumerate().map(|(number, &(u, v))| (u, v, weights.of(number as u64)));
    let builder = GraphBuilder::new().direction(Direction::Undirected).vertices(recipe.vertices());
    let graph = builder.build_from(weighted)?;
    let solver = Solver::builder(graph.clone()).engine(options.engine.clone()).control(control.clone()).open()?;
    let roots = roots_of(&graph, options.roots);
    let Some(&first) = roots.first() else { return Err(Error::invalid("the graph has no vertex with an edge")) };
    solver.solve(Bfs::from(first))?;
    solver.solve(Sssp::from(first))?;
    let construction = begin.elapsed().as_secs_f64();
    said("graph made and brought to the engine");

    let edges = edges_of(&graph, &list, &roots)?;
    drop(list);
    let kernels = [
        searches("bfs", &graph, &roots, |root| solver.solve(Bfs::from(root)))?,
        searches("sssp", &graph, &roots, |root| solver.solve(Sssp::from(root)))?,
    ];
    Ok(Outcome { scale: options.scale, generation, construction, edges, kernels })
}

/// The list of edges, self-loops and repeated ones among them.
fn draw(recipe: &Recipe, control: &Control) -> Result<Vec<(VertexId, VertexId)>> {
    let parts = recipe.in_parts()?;
    let mut list = Vec::new();
    let count = (recipe.vertices() * EDGE_FACTOR) as usize;
    let refused = |_| Error::OutOfMemory {
        what: "the list of edges".into(),
        needed: 8 * count as u64,
        available: warpath::available_memory(),
    };
    list.try_reserve_exact(count).map_err(refused)?;
    for part in 0..parts.count() {
        control.check()?;
        list.extend(parts.draw(part)?.edges.iter().map(|&(u, v)| (u as VertexId, v as VertexId)));
    }
    Ok(list)
}

/// Random vertices with an edge that is no self-loop, each once: so many, or all.
fn roots_of(graph: &Graph, count: usize) -> Vec<VertexId> {
    let drawn = sample_of_vertices(graph.vertices(), graph.vertices(), DEFAULT_SEED);
    drawn.filter(|&v| graph.neighbors(v).iter().any(|&head| head != v)).take(count).collect()
}

/// How many edges of the list have an end in the component of each root.
fn edges_of(graph: &Graph, list: &[(VertexId, VertexId)], roots: &[VertexId]) -> Result<Vec<u64>> {
    let components = weakly_connected_components(graph)?;
    let mut edges = vec![0_u64; components.count];
    list.iter().for_each(|&(u, _)| edges[components.of[u as usize] as usize] += 1);
    Ok(roots.iter().map(|&root| edges[components.of[root as usize] as usize]).collect())
}

/// Searches from all roots, each once, and validates every answer.
fn searches(
    name: &'static str,
    graph: &Graph,
    roots: &[VertexId],
    search: impl Fn(VertexId) -> Result<warpath::ShortestPathTree>,
) -> Result<Kernel> {
    let mut kernel = Kernel { name, by: String::new(), seconds: Vec::new(), validation: Vec::new() };
    for &root in roots {
        let begin = Instant::now();
        let tree = search(root)?;
        kernel.seconds.push(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        tree.verify(graph)?;
        kernel.validation.push(begin.elapsed().as_secs_f64());
        kernel.by = format!("{} on {}", tree.report().algorithm, tree.report().engine);
    }
    Ok(kernel)
}

impl Outcome {
    /// The edges a second of each search of a kernel.
    pub fn teps(&self, kernel: &Kernel) -> Vec<f64> {
        self.edges.iter().zip(&kernel.seconds).map(|(&edges, seconds)| edges as f64 / seconds).collect()
    }

    /// The result as the reference programs print it, a name and a value in each line.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| _ = writeln!(text, "{:<32}{value}", format!("{name}:"));
        line("SCALE", &self.scale.to_string());
        line("edgefactor", &EDGE_FACTOR.to_string());
        line("NBFS", &self.edges.len().to_string());
        line("graph_generation", &number(self.generation));
        line("construction_time", &number(self.construction));
        for kernel in &self.kernels {
            let name = |what: &str| format!("{:<5}{what}", kernel.name);
            line(&name("algorithm"), &kernel.by);
            let mut statistics = |what: &str, values: &[f64], is_rate: bool| {
                for (which, share) in
                    [("min", 0.0), ("firstquartile", 0.25), ("median", 0.5), ("thirdquartile", 0.75), ("max", 1.0)]
                {
                    line(&name(&format!("{which}_{what}")), &number(quantile(values, share)));
                }
                let (mean, deviation) = if is_rate { harmonic(values) } else { arithmetic(values) };
                let kind = if is_rate { "harmonic_" } else { "" };
                line(&name(&format!("{kind}mean_{what}")), &number(mean));
                line(&name(&format!("{kind}stddev_{what}")), &number(deviation));
            };
            statistics("time", &kernel.seconds, false);
            statistics("TEPS", &self.teps(kernel), true);
            statistics("validate", &kernel.validation, false);
        }
        let edges: Vec<f64> = self.edges.iter().map(|&edges| edges as f64).collect();
        line("min_nedge", &number(quantile(&edges, 0.0)));
        line("median_nedge", &number(quantile(&edges, 0.5)));
        line("max_nedge", &number(quantile(&edges, 1.0)));
        text
    }
}

fn number(value: f64) -> String {
    format!("{value:.6e}")
}

/// The mean and the deviation of a sample.
fn arithmetic(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

/// The harmonic mean, and the deviation of that mean.
fn harmonic(values: &[f64]) -> (f64, f64) {
    let inverses: Vec<f64> = values.iter().map(|value| 1.0 / value).collect();
    let (mean, _) = arithmetic(&inverses);
    let squares: f64 = inverses.iter().map(|inverse| (inverse - mean).powi(2)).sum();
    (1.0 / mean, squares.sqrt() / (values.len() as f64 - 1.0).max(1.0) / mean.powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_a_harmonic_mean() {
        let (mean, deviation) = harmonic(&[1.0, 2.0, 4.0]);
        assert!((mean - 12.0 / 7.0).abs() < 1e-12, "{mean}");
        // Of 1, 1/2 and 1/4: sqrt((5/12)^2 + (1/12)^2 + (4/12)^2) / 2, times the mean squared.
        let expected = (42.0_f64 / 144.0).sqrt() / 2.0 * (12.0_f64 / 7.0).powi(2);
        assert!((deviation - expected).abs() < 1e-12, "{deviation}");
        let (mean, deviation) = arithmetic(&[1.0, 2.0, 6.0]);
        assert_eq!((mean, deviation), (3.0, 7.0_f64.sqrt()));
    }

    #[test]
    fn all_edges_of_a_component_count() {
        let list = [(0, 1), (1, 0), (1, 1), (2, 3), (3, 4), (5, 5)];
        let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(list).unwrap();
        assert_eq!(edges_of(&graph, &list, &[0, 4, 5]).unwrap(), [3, 2, 1]);
        let mut roots = roots_of(&graph, 64);
        roots.sort_unstable();
        assert_eq!(roots, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_run_has_every_search() {
        let options = Options { scale: 7, roots: 8, engine: Engine::Cpu };
        let outcome = run(&options, &Control::new(), &mut |_| ()).unwrap();
        assert_eq!((outcome.edges.len(), outcome.kernels.len()), (8, 2));
        // Nearly all of 2,048 edges are in one component.
        assert!(outcome.edges.iter().all(|&edges| (1000..=2048).contains(&edges)), "{:?}", outcome.edges);
        for kernel in &outcome.kernels {
            assert_eq!((kernel.seconds.len(), kernel.validation.len()), (8, 8));
            assert!(outcome.teps(kernel).iter().all(|&rate| rate > 0.0));
        }
        let text = outcome.text();
        for line in ["SCALE:                          7\n", "bfs  harmonic_mean_TEPS:", "sssp harmonic_stddev_TEPS:"] {
            assert!(text.contains(line), "{text}");
        }
    }
}
