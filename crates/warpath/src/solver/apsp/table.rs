//! The table of distances that a request asks for.

use std::sync::OnceLock;

use crate::cpu::apsp::ApspAlgorithm;
use crate::graph::{VertexId, WeightKind};
use crate::problems::Apsp;
use crate::solver::Solver;
use crate::{Plan, Result, memory};

/// The rows and columns, checked, and what the caller wants of them.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) sources: Vec<VertexId>,
    pub(super) targets: Option<Vec<VertexId>>,
    pub(super) columns: u64,
    /// Whether only facts about rows are wanted, and these are the same wherever they are gathered, as sums of integers
    /// are.
    pub(super) facts: bool,
    /// Whether successors are wanted, too.
    successors: bool,
    /// Bytes of a distance, in the widest semiring that may become necessary.
    pub(super) distance_bytes: u64,
    /// The share of the vertices that searches are taken to reach, once a prediction has asked.
    pub(super) reached: OnceLock<f64>,
    /// How many devices share the work, once an algorithm was chosen.
    pub(super) devices: OnceLock<usize>,
}

impl Table {
    /// `facts` says that facts about rows do in place of these.
    pub(super) fn new(request: &Apsp, solver: &Solver, facts: bool) -> Result<Self> {
        let graph = &*solver.graph;
        for (vertices, role) in [(&request.sources, "source"), (&request.targets, "target")] {
            if let Some(vertices) = vertices {
                solver.checked(vertices, role)?;
            }
        }
        let sources = match &request.sources {
            Some(sources) => memory::copied("the list of sources", sources)?,
            None => memory::listed("the list of sources", 0..graph.vertices() as VertexId)?,
        };
        let distance_bytes = match graph.weight_kind() {
            WeightKind::Unit | WeightKind::F32 => 4,
            WeightKind::U32 if solver.narrow_is_certain() => 4,
            _ => 8,
        };
        Ok(Table {
            sources,
            targets: request.targets.clone(),
            columns: request.targets.as_ref().map_or(graph.vertices(), Vec::len) as u64,
            successors: request.successors,
            facts: facts && !request.verified && !matches!(graph.weight_kind(), WeightKind::F32 | WeightKind::F64),
            distance_bytes,
            reached: OnceLock::new(),
            devices: OnceLock::new(),
        })
    }

    /// How many devices share the work.
    pub(super) fn devices(&self) -> usize {
        self.devices.get().copied().unwrap_or(1)
    }

    /// Whether facts about whole rows are wanted, and no rows.
    pub(super) fn facts_of_whole_rows(&self) -> bool {
        self.facts && self.targets.is_none()
    }

    pub(super) fn cells(&self) -> u64 {
        (self.sources.len() as u64).saturating_mul(self.columns)
    }

    /// The number of sources whose successors are wanted; `None` if no successors are.
    pub(super) fn successors_of(&self) -> Option<u64> {
        self.successors.then_some(self.sources.len() as u64)
    }

    /// Adds the memory of the matrix that is handed back.
    pub(super) fn plan_result(&self, request: &Apsp, solver: &Solver, plan: &mut Plan) {
        plan.memory("matrix of distances", self.cells().saturating_mul(self.distance_bytes));
        if request.successors {
            let hops = (self.sources.len() as u64).saturating_mul(solver.graph.vertices() as u64);
            plan.memory("successors", hops.saturating_mul(size_of::<VertexId>() as u64));
        }
        if request.intermediates {
            let pairs = (solver.graph.vertices() as u64).saturating_mul(solver.graph.vertices() as u64);
            plan.memory("intermediate vertices", pairs.saturating_mul(size_of::<VertexId>() as u64));
        }
    }

    /// Adds the memory that an algorithm of the CPU takes beyond the result. `in_place` says whether the result is a
    /// matrix.
    pub(super) fn plan_on_cpu(
        &self,
        algorithm: &ApspAlgorithm,
        request: &Apsp,
        solver: &Solver,
        plan: &mut Plan,
        in_place: bool,
    ) {
        let square = in_place && request.sources.is_none() && request.targets.is_none();
        if algorithm.needs_matrix && !square {
            plan.memory("square matrix", self.matrix_bytes(solver));
        }
        plan.memory(format!("workspace of `{}`", algorithm.info.name), self.workspace_bytes(algorithm, solver));
    }

    /// The memory that an algorithm of the CPU takes, its matrix included.
    pub(super) fn bytes_on_cpu(&self, algorithm: &ApspAlgorithm, solver: &Solver) -> u64 {
        let matrix = if algorithm.needs_matrix { self.matrix_bytes(solver) } else { 0 };
        matrix.saturating_add(self.workspace_bytes(algorithm, solver))
    }

    /// Bytes of the square matrix of all vertices.
    fn matrix_bytes(&self, solver: &Solver) -> u64 {
        let vertices = solver.graph.vertices() as u64;
        vertices.saturating_mul(vertices).saturating_mul(self.distance_bytes)
    }

    /// Bytes of the memory that an algorithm of the CPU works in.
    fn workspace_bytes(&self, algorithm: &ApspAlgorithm, solver: &Solver) -> u64 {
        let (vertices, arcs) = (solver.graph.vertices() as u64, solver.graph.arcs() as u64);
        (algorithm.workspace_bytes)(vertices, arcs, solver.team.threads() as u64, self.distance_bytes)
    }
}

/// How many bytes a block of rows takes at most, unless more rows share work.
const BLOCK_BYTES: u64 = 64 << 20;

/// How many bytes a block of rows takes at most: an eighth of the memory, and no more than 64 MiB or the rows of all threads that
/// share work, so many on each thread.
pub(super) fn block_bytes(solver: &Solver, table: &Table, rows_together: usize) -> u64 {
    let rows = rows_together.saturating_mul(solver.team.threads()) as u64;
    let row_bytes = table.columns.saturating_mul(table.distance_bytes);
    BLOCK_BYTES.max(row_bytes.saturating_mul(rows)).min(solver.memory / 8)
}
