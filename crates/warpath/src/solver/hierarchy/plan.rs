//! What answers from a hierarchy take of the memory, beside their results.

use super::Solver;
use crate::Plan;
use crate::graph::WeightKind;
use crate::hierarchy::{Hierarchy, ROWS_FOR_LABELS};

/// The item of labels in a plan.
const LABELS: &str = "labels of vertices";

/// Bytes that a plan has for labels; 0 if they are not to be made.
pub(in crate::solver) fn room_for_labels(plan: &Plan) -> u64 {
    plan.memory_items().iter().filter(|item| item.what == LABELS).map(|item| item.bytes).sum()
}

impl Solver {
    /// Adds what the hierarchy takes and does not have yet, with the graph's weights or with a length of 1 for every arc.
    pub(in crate::solver) fn plan_hierarchy(&self, unweighted: bool, plan: &mut Plan) {
        /// The ends of a shortcut and its place among the earlier neighbours; its lengths in both directions.
        const SHORTCUT: u64 = 16;
        const LENGTHS: u64 = 16;
        let unweighted = unweighted && self.graph.weight_kind() != WeightKind::Unit;
        let kept = if unweighted { &self.hierarchy.unweighted } else { &self.hierarchy.metric };
        if kept.get().is_some() {
            return;
        }
        let shortcuts = self.expected_shortcuts();
        match self.prepared_hierarchy() {
            Some(_) => plan.memory("the lengths of shortcuts", shortcuts.saturating_mul(LENGTHS)),
            None => {
                let what = format!("the hierarchy, of about {shortcuts} shortcuts");
                plan.memory(what, shortcuts.saturating_mul(SHORTCUT + LENGTHS));
            }
        }
    }

    /// Adds what this many rows of all vertices take on the CPU beside the hierarchy and the rows: the labels that they come from, if there
    /// are so many that these pay, and room for them beside everything else in the plan. [`room_for_labels`] tells.
    pub(in crate::solver) fn plan_labels(&self, rows: usize, unweighted: bool, plan: &mut Plan) {
        /// About so many bytes for a vertex and for a shortcut; and for a vertex for each thread, which has distances of fronts.
        const VERTEX: u64 = 32;
        const SHORTCUT: u64 = 32;
        const THREAD: u64 = 16;
        /// A small part of the memory, since rows come without labels, too.
        const PART: u64 = 8;
        let are_floats = matches!(self.graph.weight_kind(), WeightKind::F32 | WeightKind::F64) && !unweighted;
        if are_floats || rows < ROWS_FOR_LABELS {
            return;
        }
        let threads = THREAD.saturating_mul(self.threads() as u64);
        let of_vertices = VERTEX.saturating_add(threads).saturating_mul(self.graph.vertices() as u64);
        let of_shortcuts = SHORTCUT.saturating_mul(self.expected_shortcuts());
        let labels = of_vertices.saturating_add(of_shortcuts);
        if labels <= self.memory / PART && labels.saturating_add(plan.memory_bytes()) <= self.memory {
            plan.memory(LABELS, labels);
        }
    }

    /// How many shortcuts the hierarchy has, or is expected to have.
    fn expected_shortcuts(&self) -> u64 {
        /// As many shortcuts as this for an arc are expected, as on roads, unless somebody has estimated them.
        const EXPECTED: u64 = 4;
        if let Some(there) = self.prepared_hierarchy() {
            return there.shortcuts();
        }
        let estimate = self.hierarchy.estimate.get().copied().flatten().or_else(|| self.like_roads());
        estimate.map_or(EXPECTED.saturating_mul(self.graph.arcs() as u64), |estimate| estimate.shortcuts)
    }

    /// Adds what paths over the hierarchy take beside it: a list of the earlier neighbours of each vertex.
    pub(in crate::solver) fn plan_paths(&self, plan: &mut Plan) {
        const NEIGHBOR: u64 = 8;
        let shortcuts = self.prepared_hierarchy().map_or(0, Hierarchy::shortcuts);
        let vertices = self.graph.vertices() as u64;
        plan.memory(
            "the earlier neighbours of vertices",
            shortcuts.saturating_add(2 * vertices).saturating_mul(NEIGHBOR),
        );
    }
}
