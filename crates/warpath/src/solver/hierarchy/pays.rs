//! When a hierarchy pays: what making one and answering from it are predicted to take.

use super::{ALGORITHM, Solver, on_device};
use crate::Engine;
use crate::algorithms::Parameters;
use crate::control::Control;
use crate::cpu::sssp::hierarchy::seconds_of_sweeps;
use crate::cuda::customization;
use crate::hierarchy::{Estimate, Hierarchy, nested_dissection};

/// Why sweeps are quicker, which take so many times as long.
pub(in crate::solver) fn times_as_long(times: f64) -> String {
    format!("sweeps over the hierarchy are predicted to take {times:.2} times as long")
}

impl Solver {
    /// The seconds that searches from this many sources are predicted to take by sweeps, with all that has to be made before;
    /// `None` if `auto` should not think of it. With targets, sweeps go over their ancestors alone. `facts` says whether facts about
    /// rows are wanted alone, and `otherwise` how long the quickest other algorithm takes.
    pub(in crate::solver) fn seconds_of_sweeps(
        &self,
        searches: usize,
        targets: Option<usize>,
        facts: bool,
        otherwise: f64,
    ) -> Option<f64> {
        let prospect = self.prospect(otherwise).filter(|_| !matches!(self.engine, Engine::Cuda(_)))?;
        let of_a_chain = prospect.height * prospect.width / 2.0;
        let all = prospect.shortcuts;
        let shortcuts = targets.map_or(all, |targets| all.min((targets as f64 + 1.0) * of_a_chain));
        let parameters = Parameters::default();
        let work = self.workload(self.weighted_facts(), &parameters, searches);
        let columns = targets.map_or(work.vertices(), |targets| targets as f64);
        Some(prospect.making + seconds_of_sweeps(shortcuts, prospect.height, columns, facts, &work))
    }

    /// The same of sweeps on a GPU: the seconds until they begin, and theirs.
    pub(in crate::solver) fn seconds_of_sweeps_on_device(
        &self,
        searches: usize,
        targets: Option<usize>,
        facts: bool,
        otherwise: f64,
    ) -> Option<[f64; 2]> {
        /// The pieces of the tree, the kernels, and what a shortcut takes on its way.
        const PIECES: f64 = 0.035;
        const SHORTCUT: f64 = 10e-9;
        let prospect = self.prospect(otherwise).filter(|_| self.suits_a_device())?;
        let parameters = Parameters::default();
        let work = self.workload(self.weighted_facts(), &parameters, searches);
        let Prospect { shortcuts, height, width, making, customizing, triangles } = prospect;
        let there = customization::seconds(work.vertices(), shortcuts, height, triangles, self.hierarchy.is_reweighted);
        let making = making - customizing + customizing.min(there) + PIECES + shortcuts * SHORTCUT;
        let columns = targets.map_or(work.vertices(), |targets| targets as f64);
        Some([making, on_device::seconds_of_sweeps(shortcuts, [height, width], columns, facts, &work)])
    }

    /// Why this many searches pay by sweeps, in comparison with the same number by another algorithm that takes this long;
    /// `None` if they don't.
    pub(in crate::solver) fn sweeps_pay(&self, searches: usize, otherwise: f64) -> Option<String> {
        let seconds = self.seconds_of_sweeps(searches, None, false, otherwise)?;
        (seconds < otherwise).then(|| times_as_long(seconds / otherwise))
    }

    /// Why this many pairs pay over the hierarchy, as [`Solver::sweeps_pay`].
    pub(in crate::solver) fn pairs_pay(&self, pairs: usize, otherwise: f64) -> Option<String> {
        /// A shortcut of an ancestor, and the least a pair takes.
        const SHORTCUT: f64 = 2e-9;
        const LEAST: f64 = 5e-6;
        let prospect = self.prospect(otherwise).filter(|_| !matches!(self.engine, Engine::Cuda(_)))?;
        let walk = LEAST + 2.0 * prospect.height * prospect.width * SHORTCUT;
        let seconds = prospect.making + walk * pairs.div_ceil(self.threads().min(pairs).max(1)) as f64;
        (seconds < otherwise)
            .then(|| format!("walks up the hierarchy are predicted to take {:.2} times as long", seconds / otherwise))
    }

    /// What a hierarchy is or would be like, if `auto` may use one: not with weights below 0, because a negative cycle that no
    /// source reaches would be an error. Estimates it if there is none, and if other algorithms take far longer than that.
    fn prospect(&self, otherwise: f64) -> Option<Prospect> {
        /// Seconds of order and elimination on all threads of a large machine: for each edge and each shortcut, where searches have
        /// many short levels, and elsewhere. Fewer threads take longer, by this power.
        const EDGE: [f64; 2] = [0.7e-6, 3.5e-6];
        const SHORTCUT: [f64; 2] = [0.12e-6, 0.05e-6];
        const MANY: f64 = 16.0;
        const FEWER: f64 = 1.0 / 3.0;
        /// Seconds of an estimate for each edge: where searches have many short levels, and elsewhere.
        const ESTIMATE: [f64; 2] = [0.5e-6, 1.2e-6];
        /// Another algorithm has to take so many times as long: no more than a fifth is lost if the hierarchy does not pay.
        const WORTH_IT: f64 = 5.0;
        /// Sweeps go everywhere: they do not pay where searches reach so small a share of a directed graph.
        const LITTLE: f64 = 0.1;
        /// Graphs of so many arcs a vertex have no small separators, but for a few.
        const DENSE: usize = 24;
        /// Bytes of a shortcut, with its lengths.
        const BYTES: f64 = 32.0;
        if self.check_hierarchy(&ALGORITHM.info).is_err() || self.graph.has_negative_weights() {
            return None;
        }
        if let Some(there) = self.prepared_hierarchy() {
            let (shortcuts, triangles) = (there.shortcuts() as f64, there.triangles());
            let is_customized = self.hierarchy.metric.get().is_some();
            let customizing = if is_customized { 0.0 } else { self.seconds_of_customizing(shortcuts, triangles) };
            let (height, width) = (there.height() as f64, there.width() as f64);
            return Some(Prospect { shortcuts, height, width, making: customizing, customizing, triangles });
        }
        let kind = usize::from(!self.weighted_facts().has_short_levels());
        let edges = self.graph.arcs() as f64 / 2.0;
        let guess = self.like_roads();
        let each = if guess.is_some() { 0.0 } else { ESTIMATE[kind] };
        let is_dense = self.graph.arcs() >= DENSE * self.graph.vertices();
        let is_long = otherwise >= WORTH_AN_ESTIMATE && otherwise >= WORTH_IT * each * edges;
        let is_worth_it = is_long && !is_dense && self.reached_share() >= LITTLE;
        if !is_worth_it && self.hierarchy.estimate.get().is_none() {
            return None;
        }
        let estimate = match (self.hierarchy.estimate.get(), guess) {
            (None, Some(guess)) => guess,
            _ => {
                let look = || self.team.install(|| self.look());
                (*self.hierarchy.estimate.get_or_init(look))?
            }
        };
        let (shortcuts, height) = (estimate.shortcuts as f64, estimate.height as f64);
        if shortcuts * BYTES > self.memory as f64 / 2.0 {
            return None;
        }
        let triangles = estimate.triangles as f64;
        let customizing = self.seconds_of_customizing(shortcuts, triangles);
        let slower = (MANY / self.threads() as f64).max(1.0).powf(FEWER);
        let making = (estimate.edges as f64 * EDGE[kind] + shortcuts * SHORTCUT[kind]) * slower + customizing;
        // The most later neighbours are about half of the ancestors, on roads and elsewhere.
        Some(Prospect { shortcuts, height, width: height / 2.0, making, customizing, triangles })
    }

    /// Estimates what a hierarchy would be like. An estimate takes one thread. If the graph is so small that an order takes little longer, other
    /// threads begin with that at once; it is kept for the hierarchy, unless the estimate tells that this would not pay.
    fn look(&self) -> Option<Estimate> {
        const SMALL: usize = 200_000;
        /// Sweeps over so many shortcuts an edge are no quicker than searches.
        const MANY_SHORTCUTS: u64 = 16;
        let estimate = || Hierarchy::estimate(&self.graph, &self.control).ok();
        if self.threads() == 1 || self.graph.arcs() > SMALL {
            return estimate();
        }
        let ordering = Control::new();
        let estimate_first = || {
            let found = estimate();
            if found.is_none_or(|found| found.shortcuts > MANY_SHORTCUTS * found.edges) {
                ordering.cancel();
            }
            found
        };
        let (estimate, order) = rayon::join(estimate_first, || nested_dissection(&self.graph, &ordering).ok());
        if let Some(order) = order {
            self.hierarchy.order.get_or_init(|| order);
        }
        estimate
    }

    /// What the hierarchy of a graph like a network of roads is like: one whose searches have many short levels, with few arcs a vertex.
    /// Those of real networks and of `roads:` are so alike that an estimate says nothing more.
    pub(super) fn like_roads(&self) -> Option<Estimate> {
        /// Most vertices of roads are bends and crossings of three; those of grids and triangulations have more arcs.
        const FEW_ARCS: f64 = 3.0;
        const SHORTCUTS_AN_EDGE: f64 = 3.3;
        const TRIANGLES_A_SHORTCUT: f64 = 10.0;
        /// By the square root of the number of vertices.
        const HEIGHT: f64 = 0.6;
        let (vertices, arcs) = (self.graph.vertices() as f64, self.graph.arcs() as f64);
        if arcs >= FEW_ARCS * vertices || !self.weighted_facts().has_short_levels() {
            return None;
        }
        let edges = arcs / 2.0;
        let shortcuts = edges * SHORTCUTS_AN_EDGE;
        Some(Estimate {
            edges: edges as u64,
            shortcuts: shortcuts as u64,
            height: (HEIGHT * vertices.sqrt()) as u64,
            triangles: (shortcuts * TRIANGLES_A_SHORTCUT) as u64,
        })
    }

    /// The seconds that the lengths of shortcuts take.
    pub(super) fn seconds_of_customizing(&self, shortcuts: f64, triangles: f64) -> f64 {
        /// A shortcut and a triangle on one thread, and how many times longer with lengths of two directions; and the share of the
        /// work that waits for itself near the roots, however many threads there are.
        const DIRECTED: f64 = 1.7;
        const SHORTCUT: f64 = 25e-9;
        const TRIANGLE: f64 = 0.07e-9;
        const SERIAL: f64 = 0.25;
        let directions = if self.graph.is_directed() { DIRECTED } else { 1.0 };
        let share = SERIAL + (1.0 - SERIAL) / self.threads() as f64;
        directions * (shortcuts * SHORTCUT + triangles * TRIANGLE) * share
    }
}

/// What a hierarchy is or would be like.
struct Prospect {
    shortcuts: f64,
    height: f64,
    width: f64,
    /// The seconds until it can answer, and those of them that the CPU takes for lengths.
    making: f64,
    customizing: f64,
    triangles: f64,
}

/// Nobody thinks of a hierarchy for less than so many seconds, unless it is there.
const WORTH_AN_ESTIMATE: f64 = 0.15;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Apsp, generate};

    #[test]
    fn an_order_made_beside_the_estimate_is_that_of_the_hierarchy() {
        let graph = generate("grid:60x60,weights=1..9").unwrap();
        for (threads, begins) in [(1, false), (3, true)] {
            let solver = Solver::builder(graph.clone()).threads(threads).engine(Engine::Cpu).open().unwrap();
            let estimate = solver.team.install(|| solver.look());
            assert_eq!(estimate, Hierarchy::estimate(&graph, &Control::new()).ok());
            assert_eq!(solver.hierarchy.order.get().is_some(), begins);
            solver.solve(Apsp::all().from([0, 5]).algorithm("hierarchy")).unwrap();
            let right = Hierarchy::new(graph.clone()).unwrap();
            assert!(solver.prepared_hierarchy().unwrap().order() == right.order());
        }
    }
}
