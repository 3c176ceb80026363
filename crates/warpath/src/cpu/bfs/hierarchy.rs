//! Breadth-first search over a hierarchy: one sweep over its shortcuts, from the roots down, without a queue.
//!
//! A level is the length of a shortest path whose arcs all have the length 1, so this is [the search by
//! weights](crate::cpu::sssp::hierarchy) with these lengths: work O(shortcuts), whatever the number of levels, and targets and
//! cutoffs save nothing. One search alone is slower than a queue. It pays for many sources on graphs of thousands of short
//! levels, as roads are, since sixteen sources share a sweep. One search uses all threads.
//!
//! Source: Delling, Goldberg, Nowatzyk, Werneck, "PHAST", 2013; Dibbelt, Strasser, Wagner, "Customizable contraction
//! hierarchies", 2016.

use super::{BfsAlgorithm, BfsTask};
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::cpu::sssp::hierarchy::{self as by_weights, in_type_of};
use crate::graph::{UnitToU32, VertexId};
use crate::problems::Problem;
use crate::{Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        summary: "one sweep over shortcuts that are made once for all sources; on graphs with small separators",
        ..by_weights::ALGORITHM.info
    },
    needs_transpose: false,
    needs_metric: true,
    uses_team: true,
    finds_predecessors: false,
    search,
};

fn search(task: &BfsTask<'_>, levels: &mut [u32], _: Option<&mut [VertexId]>) -> Result<Statistics> {
    let metric = task.metric.ok_or_else(|| Error::invalid("a search over a hierarchy needs one"))?;
    task.control.check()?;
    let found = task.team.install(|| metric.distances_from_nearest_on(task.team.threads(), task.sources))?;
    levels.copy_from_slice(&in_type_of::<UnitToU32>(found)?);
    Ok(vec![("shortcuts", metric.hierarchy().shortcuts())])
}
