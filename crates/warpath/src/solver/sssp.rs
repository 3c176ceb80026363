//! Single-source shortest paths: choosing lane and algorithm, running it, making the result.

use std::time::Instant;

use super::{Request, Search, Solver, attach_distances, plan_search, trim_to_ball};
use crate::algorithms::parse_algorithm;
use crate::cpu::sssp::{ALGORITHMS, SsspLane, SsspTask};
use crate::graph::{
    Adjacency, DistanceValue, Distances, F32Lane, F64Lane, Graph, I32Lane, Lane, U32Narrow, U32Wide, UnitLane,
    VertexId, WeightKind,
};
use crate::plan::Plan;
use crate::problems::{Bfs, Problem, Report, Seconds, ShortestPathTree, Sssp};
use crate::{Error, Result};

impl Search for Sssp {
    fn starting_at(&self, source: VertexId) -> Self {
        Sssp { sources: vec![source], ..self.clone() }
    }
}

impl Request for Sssp {
    type Answer = ShortestPathTree;

    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        solver.only_on_cpu(Problem::Sssp)?;
        Ok(plan_search(solver, 8, self.distances_only))
    }

    fn solve_on(self, solver: &Solver<'_>) -> Result<ShortestPathTree> {
        match solver.graph.weight_kind() {
            WeightKind::Unit if self.algorithm.is_none() => solve_by_bfs(solver, self),
            WeightKind::Unit => solve_sssp::<UnitLane>(solver, &self),
            WeightKind::U32 => match solve_sssp::<U32Narrow>(solver, &self) {
                Err(Error::DistanceOverflow { .. }) => {
                    let mut tree = solve_sssp::<U32Wide>(solver, &self)?;
                    tree.report.repeated_wide = true;
                    Ok(tree)
                }
                other => other,
            },
            WeightKind::I32 => solve_sssp::<I32Lane>(solver, &self),
            WeightKind::F32 => solve_sssp::<F32Lane>(solver, &self),
            WeightKind::F64 => solve_sssp::<F64Lane>(solver, &self),
        }
    }
}

/// Without weights, distances count edges.
fn solve_by_bfs(solver: &Solver<'_>, request: Sssp) -> Result<ShortestPathTree> {
    let cutoff = request.cutoff.map(|cutoff| cutoff.in_lane::<u32>()).transpose()?;
    let mut tree = Bfs {
        sources: request.sources,
        targets: request.targets,
        cutoff,
        distances_only: request.distances_only,
        ..Bfs::default()
    }
    .solve_on(solver)?;
    tree.problem = Problem::Sssp;
    tree.report.reason = format!("breadth-first search, since every edge counts 1; {}", tree.report.reason)
        .trim_end_matches("; ")
        .to_owned();
    Ok(tree)
}

/// The algorithm predicted fastest, and why.
fn choose(graph: &Graph) -> (&'static str, &'static str) {
    const SMALL: usize = 1 << 12;
    if graph.has_negative_weights() {
        ("bellman-ford", "some weights are negative")
    } else if graph.vertices() + graph.arcs() <= SMALL {
        ("dijkstra", "the graph is small")
    } else {
        ("delta-stepping", "weights are 0 or more and there is work to share")
    }
}

fn solve_sssp<L: SsspLane>(solver: &Solver<'_>, request: &Sssp) -> Result<ShortestPathTree> {
    let graph = solver.graph;
    let Some(adjacency) = graph.csr().adjacency::<L::Weight>() else {
        return Err(Error::invalid("the graph has weights of another type"));
    };
    let sources = solver.checked_sources(&request.sources)?;
    let mut targets = solver.checked(&request.targets, "target")?;
    let negative = graph.has_negative_weights();
    if negative {
        if request.cutoff.is_some() {
            return Err(Error::invalid("a cutoff needs weights of 0 or more: paths could come back from beyond it"));
        }
        targets.clear();
    }
    let cutoff = request.cutoff.map_or(Ok(L::Distance::UNREACHABLE), |cutoff| cutoff.in_lane())?;
    let (name, reason) = match &request.algorithm {
        Some(name) => (name.as_str(), "asked for"),
        None => choose(graph),
    };
    let (algorithm, parameters) = parse_algorithm(ALGORITHMS, |entry| &entry.info, name)?;
    if negative && !algorithm.info.negative_weights {
        return Err(Error::invalid(format!("`{}` needs weights of 0 or more", algorithm.info.name)));
    }
    let mut seconds = Seconds::default();
    let start = Instant::now();
    graph.weight_range();
    seconds.prepare = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let outcome = L::pick(&algorithm.solve)(&SsspTask {
        adjacency,
        graph,
        sources: &sources,
        targets: &targets,
        cutoff,
        parameters: &parameters,
        team: &solver.team,
        control: &solver.control,
    })?;
    seconds.solve = start.elapsed().as_secs_f64();
    let mut distances = outcome.distances;
    let bound = trim_to_ball(&mut distances, &targets, cutoff);
    if !narrow_suffices::<L>(graph, adjacency, &distances, bound.is_some()) {
        return Err(Error::DistanceOverflow { lane: L::NAME });
    }
    let report = Report {
        engine: "cpu".into(),
        engine_reason: solver.only_on_cpu(Problem::Sssp)?,
        algorithm: name.into(),
        reason: reason.into(),
        lane: L::NAME,
        seconds,
        statistics: outcome.statistics,
        ..Default::default()
    };
    let mut tree = ShortestPathTree {
        problem: Problem::Sssp,
        sources,
        distances: Distances::U32(Vec::new()),
        predecessors: None,
        path_counts: None,
        bound,
        report,
    };
    attach_distances::<L>(solver, adjacency, &mut tree, distances, request.distances_only);
    Ok(tree)
}

/// Whether saturated relaxations can't have changed the result: nearly always because the greatest distance plus the
/// greatest weight is in range, else because every head of an arc from a reached vertex is itself reached.
fn narrow_suffices<L: Lane>(
    graph: &Graph,
    adjacency: Adjacency<'_, L::Weight>,
    distances: &[L::Distance],
    bounded: bool,
) -> bool {
    let unreachable = L::Distance::UNREACHABLE;
    let greatest = distances
        .iter()
        .copied()
        .filter(|d| *d != unreachable)
        .fold(L::Distance::ZERO, |a, b| if a < b { b } else { a });
    if distances.iter().any(|distance| distance.to_f64() == f64::NEG_INFINITY) {
        return false;
    }
    if bounded || greatest.to_f64() + graph.weight_range().1 < L::Distance::LIMIT {
        return true;
    }
    (0..graph.vertices() as VertexId).all(|u| {
        let from = distances[u as usize];
        from == unreachable
            || adjacency
                .edges(u)
                .all(|(v, weight)| distances[v as usize] != unreachable || L::extend(from, weight) != unreachable)
    })
}
