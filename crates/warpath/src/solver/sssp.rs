//! Single-source shortest paths: choosing lane and algorithm, running it, making the result.

use std::time::Instant;

use super::{Request, Search, Solver, attach_distances, plan_search, trim_to_ball};
use crate::cpu::parse_algorithm;
use crate::cpu::sssp::{ALGORITHMS, SsspLane, SsspTask};
use crate::graph::{
    Adjacency, DistanceValue, Distances, F32Lane, F64Lane, Graph, I32Lane, Lane, U32Narrow, U32Wide, UnitLane,
    VertexId, WeightKind,
};
use crate::plan::Plan;
use crate::problems::{Problem, Report, Seconds, ShortestPathTree, Sssp};
use crate::{Error, Result};

impl Search for Sssp {
    fn starting_at(&self, source: VertexId) -> Self {
        Sssp { sources: vec![source], ..self.clone() }
    }
}

impl Request for Sssp {
    type Answer = ShortestPathTree;

    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        Ok(plan_search(solver, 8, self.distances_only))
    }

    fn solve_on(self, solver: &Solver<'_>) -> Result<ShortestPathTree> {
        match solver.graph.weight_kind() {
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
    let name = request.algorithm.as_deref().unwrap_or("dijkstra");
    let (algorithm, parameters) = parse_algorithm(ALGORITHMS, |entry| &entry.info, name)?;
    if negative && !algorithm.info.negative_weights {
        return Err(Error::invalid(format!("`{}` needs weights of 0 or more", algorithm.info.name)));
    }
    let mut seconds = Seconds::default();
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
        algorithm: name.into(),
        reason: String::new(),
        lane: L::NAME,
        repeated_wide: false,
        seconds,
        statistics: outcome.statistics,
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
