//! The Graph500 benchmark on ranks, by the rules that `warpath bench` follows on one machine: the same list of edges, of which each rank
//! draws a part, the same roots, and every answer verified by all ranks together.
//!
//! *Kernel 1* makes the parts of the graph, with weights and without, of the list; one untimed search of each kind ends it. *Kernels 2
//! and 3* search from each root. A search takes as long as its slowest rank, from the request to the distances and parents of the
//! vertices that each rank owns.
//!
//! The *edges of a search* are those of the list with an end in the component of the root: self-loops and repeated edges count, each edge
//! once.
//!
//! Source: Graph500 Benchmark Specification, version 2 with kernel 3 of version 3, <https://graph500.org/?page_id=12>.

use std::collections::BTreeMap;
use std::time::Instant;

use warpath::generate::{DEFAULT_SEED, EdgeFractions, Recipe, sample_of_many_vertices};
use warpath::graph::{DistanceValue, Unit, Weights};
use warpath::{Error, Result};

use crate::allocation::make_room;
use crate::components::components;
use crate::device::{OnDevice, RankDevices};
use crate::graph::{PartOfGraph, Parts};
use crate::listed_edges::{ListedEdges, VertexNames};
use crate::plan::RankPlan;
use crate::search::{Found, Problem, Search};
use crate::source::{Source, Weighting};
use crate::words::{pull, push};
use crate::world::{Outcome, Reduction, World};

/// What a run found. Every answer was verified. All ranks have the same.
#[derive(Debug, Clone)]
pub struct Graph500 {
    /// Seconds of drawing the list of edges.
    pub generation: f64,
    /// Seconds of kernel 1.
    pub construction: f64,
    /// The roots.
    pub roots: Vec<u64>,
    /// The edges of each search.
    pub edges: Vec<u64>,
    /// Whether the ranks searched on GPUs.
    pub on_gpus: bool,
    /// Kernel 2, breadth-first search, and kernel 3, shortest paths.
    pub kernels: [RankKernel; 2],
}

/// The searches of one kernel.
#[derive(Debug, Clone, Default)]
pub struct RankKernel {
    /// The algorithm.
    pub algorithm: String,
    /// The seconds of each search, of the slowest rank.
    pub seconds: Vec<f64>,
    /// The seconds of each verification, of the slowest rank.
    pub validation: Vec<f64>,
}

/// Runs the benchmark on a Kronecker graph of 2^`scale` vertices and so many edges for each, from so many roots. All ranks call it together.
///
/// ```no_run
/// let world = warpath_mpi::World::start(warpath_mpi::DEFAULT_TIMEOUT, &warpath::Control::new()).unwrap();
/// let found = warpath_mpi::graph500(&world, 20, 16, 64, None, Default::default(), &mut |_| ()).unwrap();
/// println!("{} edges in {} s", found.edges[0], found.kernels[0].seconds[0]);
/// ```
///
/// # Errors
///
/// As of [`Search::run`], and [`Error::InvalidRequest`] if the graph has no edge.
pub fn graph500(
    world: &World,
    scale: u32,
    edges_per_vertex: u64,
    roots: usize,
    memory: Option<u64>,
    devices: RankDevices,
    said: &mut dyn FnMut(&str),
) -> Outcome<Graph500> {
    let slowest = |seconds: f64| f64::from_key(world.reduce(Reduction::Greatest, seconds.key()));
    let recipe =
        world.agree(Recipe::beyond_one_machine(&format!("kron:{scale},edges-per-vertex={edges_per_vertex}")))?;
    let weighted = format!("kron:{scale},edges-per-vertex={edges_per_vertex},weights=0..1");
    let weighted = world.agree(Source::open(weighted.as_ref(), Weighting::AsStored))?;
    let request = |problem, root: u64| Search {
        predecessors: true,
        memory,
        devices,
        parts: Parts::Consecutive,
        ..Search::new(problem, vec![root])
    };
    let edges = recipe.vertices().saturating_mul(edges_per_vertex);
    let planned = RankPlan::of_graph500(world, &weighted, edges, &request(Problem::Sssp, 0).verified())?;
    world.agree(planned.check())?;
    let start = Instant::now();
    let list = draw(world, &recipe)?;
    let generation = slowest(start.elapsed().as_secs_f64());
    said(&format!("{} edges drawn", list.count));

    let start = Instant::now();
    let [without, with] = [false, true].map(|weighted| Source::listed(&list, weighted));
    let graph = PartOfGraph::<Unit>::load(world, &without, Parts::Consecutive)?;
    let mut weighted = PartOfGraph::<f32>::load(world, &with, Parts::Consecutive)?;
    let roots = roots_of(world, &graph, roots);
    let first = roots.first().copied().ok_or_else(|| Error::invalid("the graph has no vertex with an edge"));
    let first = world.agree(first)?;
    let (gpu, is_asked) = (planned.gpu, devices == RankDevices::Cuda);
    let mut levels = OnDevice::prepare(world, gpu, is_asked, &graph, roots.len())?;
    let mut lengths = OnDevice::prepare(world, gpu, is_asked, &weighted, roots.len())?;
    request(Problem::Bfs, first).levels_in(world, &graph, &mut levels, &without)?;
    request(Problem::Sssp, first).lengths_in(world, &mut weighted, &mut lengths, &with)?;
    let construction = slowest(start.elapsed().as_secs_f64());
    said("parts made");

    let edges = edges_of(world, &graph, &list, &roots)?;
    let mut kernels = [RankKernel::default(), RankKernel::default()];
    for (kernel, problem) in kernels.iter_mut().zip([Problem::Bfs, Problem::Sssp]) {
        for &root in &roots {
            let search = request(problem, root).verified();
            let found: Found = match problem {
                Problem::Bfs => search.levels_in(world, &graph, &mut levels, &without)?,
                Problem::Sssp => search.lengths_in(world, &mut weighted, &mut lengths, &with)?,
            };
            kernel.seconds.push(slowest(found.seconds.solve + found.seconds.predecessors));
            kernel.validation.push(slowest(found.seconds.verify));
            kernel.algorithm = found.algorithm;
        }
    }
    Ok(Graph500 {
        generation,
        construction,
        roots,
        edges,
        on_gpus: levels.gpu.is_some() && lengths.gpu.is_some(),
        kernels,
    })
}

/// The edges that this rank draws, with the lengths that their numbers in the whole list give them.
fn draw(world: &World, recipe: &Recipe) -> Outcome<ListedEdges> {
    let parts = world.agree(recipe.in_parts())?;
    let mine = || (world.rank()..parts.count()).step_by(world.ranks());
    let (mut edges, mut counts) = (Vec::new(), Vec::new());
    let drawn = mine().try_for_each(|part| {
        let drawn = parts.draw(part)?.edges;
        make_room("the list of edges", &mut edges, drawn.len())?;
        push(&mut counts, drawn.len() as u64);
        edges.extend(drawn);
        Ok(())
    });
    world.agree(drawn)?;
    let all = world.agree(world.gather(&counts))?;
    let count_of = |part: usize| pull::<u64>(&all.of(part % world.ranks())[2 * (part / world.ranks())..]);
    let weights = EdgeFractions::new(DEFAULT_SEED);
    let (mut lengths, mut count) = (Vec::new(), 0);
    world.agree(make_room("the lengths of edges", &mut lengths, edges.len()))?;
    for part in 0..parts.count() {
        if part % world.ranks() == world.rank() {
            lengths.extend((count..count + count_of(part)).map(|number| weights.of(number)));
        }
        count += count_of(part);
    }
    Ok(ListedEdges {
        vertices: recipe.vertices(),
        count,
        directed: false,
        keeps_loops: false,
        edges,
        weights: Weights::F32(lengths),
        names: VertexNames::From(0),
    })
}

/// Random vertices with an edge that is no self-loop, each once: so many, or all.
fn roots_of(world: &World, graph: &PartOfGraph<Unit>, count: usize) -> Vec<u64> {
    const AT_ONCE: usize = 256;
    let mut drawn = sample_of_many_vertices(graph.vertices(), graph.vertices(), DEFAULT_SEED);
    let mut roots = Vec::new();
    while roots.len() < count {
        let some: Vec<u64> = drawn.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            break;
        }
        let has_edge = |&vertex: &u64| graph.number_of(vertex).is_some_and(|number| !graph.heads(number).is_empty());
        // The arcs of a hub lie with the owners of their heads.
        let mut marks: Vec<u64> = some.iter().map(|vertex| has_edge(vertex).into()).collect();
        world.reduce_all(Reduction::Greatest, &mut marks);
        roots.extend(some.iter().zip(&marks).filter(|(_, mark)| **mark > 0).map(|(vertex, _)| *vertex));
    }
    roots.truncate(count);
    roots
}

/// How many edges of the list have an end in the component of each root.
fn edges_of(world: &World, graph: &PartOfGraph<Unit>, list: &ListedEdges, roots: &[u64]) -> Outcome<Vec<u64>> {
    const AT_ONCE: usize = 1 << 20;
    let found = components(world, graph)?;
    let of = |vertex: u64| found.of[(vertex - found.owned.start) as usize];
    // The owner of a root knows its component.
    let mut of_root: Vec<u64> =
        roots.iter().map(|root| if found.owned.contains(root) { of(*root) } else { 0 }).collect();
    world.reduce_all(Reduction::Greatest, &mut of_root);
    let mut edges: BTreeMap<u64, u64> = of_root.iter().map(|&component| (component, 0)).collect();
    let mut rest = &list.edges[..];
    while world.any(!rest.is_empty()) {
        let (some, later) = rest.split_at(rest.len().min(AT_ONCE));
        rest = later;
        let mut outgoing: Vec<Vec<u32>> = vec![Vec::new(); world.ranks()];
        for &(tail, _) in some {
            let owner = graph.home().owner(tail);
            outgoing[owner].push((tail - graph.home().starts()[owner]) as u32);
        }
        let incoming: Result<_> = world.exchange(Ok(outgoing));
        for &tail in world.agree(incoming)?.words() {
            if let Some(count) = edges.get_mut(&found.of[tail as usize]) {
                *count += 1;
            }
        }
    }
    let mut counts: Vec<u64> = edges.values().copied().collect();
    world.reduce_all(Reduction::Sum, &mut counts);
    edges.values_mut().zip(counts).for_each(|(count, all)| *count = all);
    Ok(of_root.iter().map(|component| edges[component]).collect())
}
