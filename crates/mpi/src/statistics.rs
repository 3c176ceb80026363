//! Statistics of a graph that no rank has as a whole: degrees, components, diameter, weights, as one machine's `Graph::statistics` has them.
//!
//! The diameter is estimated from below by sweeps, as there: a breadth-first search from the vertex of the highest degree in the largest
//! component ends at a far vertex, where the next one starts, until a search ends no farther. Of several farthest vertices of least degree the
//! least is taken, and on one machine the first that was met, so the two estimates may differ a little.
//!
//! Work O(V + E) for all ranks, as often as there are sweeps; ranks send what loading, finding components and each search send.
//!
//! Source: C. Magnien, M. Latapy, M. Habib, Fast computation of empirically tight bounds for the diameter of massive graphs, ACM JEA 2009
//! (double sweep).

use std::time::Instant;

use warpath::graph::{MinPlus, Unit, Weight, WeightKind, with_min_plus};

use crate::bfs;
use crate::components::{RankComponents, components};
use crate::graph::{PartOfGraph, Parts};
use crate::plan::RankPlan;
use crate::source::Source;
use crate::world::{Outcome, Reduction, World};

/// What all ranks find of a graph. All have the same numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct RankStatistics {
    /// The number of vertices.
    pub vertices: u64,
    /// The number of arcs; parallel arcs are merged, and an undirected edge is two.
    pub arcs: u64,
    /// The least and the greatest weight; `None` without weights or arcs.
    pub weight_range: Option<(f64, f64)>,
    /// The least number of arcs that leave a vertex; 0 without vertices.
    pub least_degree: u64,
    /// The greatest.
    pub greatest_degree: u64,
    /// How many vertices no arc leaves or enters.
    pub isolated: u64,
    /// How many vertices have degree 0, 1, 2..3, 4..7 and so on: entry `k` is for 2^(k-1) to 2^k - 1.
    pub histogram: Vec<u64>,
    /// The number of connected components, directions ignored.
    pub components: u64,
    /// How many vertices the largest of them has.
    pub largest_component: u64,
    /// A lower bound on the greatest number of edges of a shortest path in the largest component, directions ignored, and usually close to it.
    pub estimated_diameter: u64,
    /// Seconds of loading the graph, once or twice, and of all else.
    pub seconds: [f64; 2],
}

/// Finds the statistics of a graph, with so many bytes on each rank or its share of what its host has. All ranks call it together.
///
/// ```no_run
/// let world = warpath_mpi::World::start(warpath_mpi::DEFAULT_TIMEOUT, &warpath::Control::new()).unwrap();
/// let source = warpath_mpi::Source::open("kron:20".as_ref(), Default::default()).unwrap();
/// println!("{} components", warpath_mpi::statistics(&world, source, None).unwrap().components);
/// ```
///
/// # Errors
///
/// [`Error::OutOfMemory`](warpath::Error::OutOfMemory) if the plan of a rank does not fit, and the errors of [`PartOfGraph::load`].
pub fn statistics(world: &World, source: Source<'_>, memory: Option<u64>) -> Outcome<RankStatistics> {
    with_min_plus!(source.weight_kind(), false, L => of_kind::<<L as MinPlus>::Weight>(world, source, memory))
}

fn of_kind<W: Weight>(world: &World, source: Source<'_>, memory: Option<u64>) -> Outcome<RankStatistics> {
    let is_directed = source.is_directed();
    check_plan(world, &source, memory)?;
    let start = Instant::now();
    let graph = PartOfGraph::<W>::load(world, &source, Parts::Consecutive)?;
    let mut load = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let degrees = graph.degrees(world)?;
    let (vertices, arcs) = (graph.vertices(), graph.arcs());
    let weight_range = (W::KIND != WeightKind::Unit && arcs > 0).then(|| graph.weight_range());
    let mut graph = graph.without_weights();
    let mut solve = start.elapsed().as_secs_f64();
    if is_directed {
        drop(graph);
        let source = source.without_directions();
        check_plan(world, &source, memory)?;
        let start = Instant::now();
        graph = PartOfGraph::<Unit>::load(world, &source, Parts::Consecutive)?;
        load += start.elapsed().as_secs_f64();
    }
    let start = Instant::now();
    let found = components(world, &graph)?;
    let estimated_diameter = estimate_diameter(world, &graph, &found, &degrees)?;
    solve += start.elapsed().as_secs_f64();
    let is_isolated = |&&(vertex, size): &&(u64, u64)| size == 1 && degrees[(vertex - found.owned.start) as usize] == 0;
    let isolated = world.total(found.begun.iter().filter(is_isolated).count() as u64);
    let least = world.reduce(Reduction::Least, degrees.iter().copied().min().unwrap_or(u64::MAX));
    Ok(RankStatistics {
        vertices,
        arcs,
        weight_range,
        least_degree: if vertices > 0 { least } else { 0 },
        greatest_degree: world.reduce(Reduction::Greatest, degrees.iter().copied().max().unwrap_or(0)),
        isolated,
        histogram: histogram(world, &degrees),
        components: found.count,
        largest_component: found.sizes.last().map_or(0, |&(size, _)| size),
        estimated_diameter,
        seconds: [load, solve],
    })
}

fn check_plan(world: &World, source: &Source<'_>, memory: Option<u64>) -> Outcome<()> {
    let planned = RankPlan::of_statistics(world, source, memory)?;
    world.agree(planned.check())
}

/// How many numbers of all ranks have how many bits.
fn histogram(world: &World, degrees: &[u64]) -> Vec<u64> {
    let mut counts = vec![0_u64; 1 + u64::BITS as usize];
    degrees.iter().for_each(|degree| counts[(u64::BITS - degree.leading_zeros()) as usize] += 1);
    world.reduce_all(Reduction::Sum, &mut counts);
    counts.truncate(counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1));
    counts
}

fn estimate_diameter(
    world: &World,
    graph: &PartOfGraph<Unit>,
    found: &RankComponents,
    degrees: &[u64],
) -> Outcome<u64> {
    const MOST_SWEEPS: u64 = 6;
    let Some(&(greatest, _)) = found.sizes.last() else { return Ok(0) };
    // The least vertex of the first of the largest components.
    let first = found.begun.iter().find(|&&(_, size)| size == greatest).map_or(u64::MAX, |&(vertex, _)| vertex);
    let first = world.reduce(Reduction::Least, first);
    let place = |vertex: u64| found.owned.contains(&vertex).then(|| (vertex - found.owned.start) as usize);
    let largest = world.reduce(Reduction::Least, place(first).map_or(u64::MAX, |place| found.of[place]));
    let members = (0..degrees.len()).filter(|&place| found.of[place] == largest);
    let best = members.map(|place| (degrees[place], place)).max();
    let most = world.reduce(Reduction::Greatest, best.map_or(0, |(degree, _)| degree));
    let best = best.filter(|&(degree, _)| degree == most);
    let mut start = world.reduce(Reduction::Greatest, best.map_or(0, |(_, place)| found.owned.start + place as u64));
    let mut diameter = 0;
    for sweep in 0..MOST_SWEEPS {
        let (far, eccentricity) = farthest(world, graph, found, degrees, start)?;
        if sweep > 0 && eccentricity <= diameter {
            break;
        }
        (start, diameter) = (far, eccentricity);
    }
    Ok(diameter)
}

/// The least of the vertices farthest from `start` that have the least degree, and its distance.
fn farthest(
    world: &World,
    graph: &PartOfGraph<Unit>,
    found: &RankComponents,
    degrees: &[u64],
    start: u64,
) -> Outcome<(u64, u64)> {
    const UNREACHED: u32 = u32::MAX;
    let levels = bfs::search(world, graph, None, &bfs::ALGORITHMS[0], &[start])?;
    let levels = graph.bring_home(world, "levels of vertices", levels)?;
    let reached = levels.iter().copied().filter(|&level| level != UNREACHED);
    let farthest = world.reduce(Reduction::Greatest, reached.max().unwrap_or(0).into());
    let at_end = (0..levels.len()).filter(|&place| u64::from(levels[place]) == farthest);
    let best = at_end.map(|place| (degrees[place], place)).min();
    let least = world.reduce(Reduction::Least, best.map_or(u64::MAX, |(degree, _)| degree));
    let best = best.filter(|&(degree, _)| degree == least);
    let far = best.map_or(u64::MAX, |(_, place)| found.owned.start + place as u64);
    Ok((world.reduce(Reduction::Least, far), farthest))
}
