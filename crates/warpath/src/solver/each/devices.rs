//! Several devices share the sources of many searches.
//!
//! The sources are cut into shares, which the devices take in turn: with two devices the first one gets every other share. So each
//! is known to have the next tree, and the trees are handed over in order from short queues, one for each device. A device
//! searches its next share while the trees of the other devices are handed over.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::{AHEAD, Each};
use crate::cuda::peers::company::parts_of;
use crate::graph::VertexId;
use crate::problems::ShortestPathTree;
use crate::solver::costs::HANDING_OVER;
use crate::solver::decision::{Decision, Manner};
use crate::solver::{Search, Solver};
use crate::{Error, Result, memory};

/// Fewer sources than these are no share: searches of a batch share their work.
const LEAST_SHARE: usize = 64;
/// Shares of a device. With one, its trees would wait until those of the devices before it are handed over, and with many,
/// batches would be small.
const SHARES: usize = 4;

/// How many sources a share has.
fn share_of(manner: Manner, sources: usize, devices: usize) -> usize {
    match manner {
        Manner::InBatches => sources.div_ceil(devices * SHARES).next_multiple_of(LEAST_SHARE),
        Manner::InTurn | Manner::SideBySide => 1,
    }
}

impl Solver {
    /// How many devices share so many searches.
    pub(super) fn devices_for<C>(&self, decision: &Decision<C>, sources: usize) -> usize {
        // A search that takes several devices goes in turn.
        if !decision.placed.is_on_cuda() || parts_of(&decision.parameters) > 1 {
            return 1;
        }
        let devices = decision.devices;
        devices.min(sources.div_ceil(share_of(decision.manner, sources, devices))).max(1)
    }

    /// How many devices share so many searches, which are predicted to keep one busy for so many seconds. Trees are handed over one after
    /// another, however many devices find them.
    pub(in crate::solver) fn devices_for_searches(&self, searches: Option<usize>, busy: f64) -> usize {
        let Some(searches) = searches else { return 1 };
        let handing_over = searches as f64 * self.graph.vertices() as f64 / HANDING_OVER;
        self.devices_worth(|devices| (busy / devices as f64).max(handing_over))
    }

    /// The decision with the memory that several devices take together.
    pub(super) fn with_memory_for_all<C>(&self, mut decision: Decision<C>, sources: usize) -> Decision<C> {
        /// Bytes of a distance and a predecessor.
        const OF_VERTEX: u64 = 12;
        let devices = self.devices_for(&decision, sources) as u64;
        if devices > 1 {
            let others = (devices - 1).saturating_mul(decision.plan.memory_bytes());
            let tree = OF_VERTEX.saturating_mul(self.graph.vertices() as u64);
            let waiting = devices.saturating_mul(AHEAD as u64 + 1).saturating_mul(tree);
            decision.plan.memory(format!("the same for each of {devices} devices"), others);
            decision.plan.memory("trees that wait for their turn", waiting);
            decision.plan.on_each_of(devices as usize);
        }
        decision
    }

    /// Searches on so many devices at once.
    pub(super) fn run_on_devices<S: Search>(
        &self,
        search: &S,
        decision: &Decision<S::Choice>,
        sources: &[VertexId],
        devices: usize,
        hand_over: Each<'_>,
    ) -> Result<()> {
        let others = self.others()?;
        others.iter().try_for_each(|other| other.check_plan(&decision.plan))?;
        let solvers: Vec<&Solver> = std::iter::once(self).chain(others.iter().map(Arc::as_ref)).take(devices).collect();
        // Where devices were not asked for, some may have gone.
        let devices = solvers.len();
        let share = share_of(decision.manner, sources.len(), devices);
        thread::scope(|scope| {
            let mut found = Vec::new();
            for (place, solver) in solvers.iter().enumerate() {
                let (put, take) = sync_channel(AHEAD);
                let shares = sources.chunks(share).skip(place).step_by(devices);
                let work = move || {
                    let _answering = self.answering();
                    solver.search_shares(search, decision, shares, &put);
                };
                let started = thread::Builder::new().spawn_scoped(scope, work);
                started.map_err(|error| memory::no_threads(1, error))?;
                found.push(take);
            }
            hand_over_in_turn(&found, sources.chunks(share), hand_over)
        })
    }

    /// Searches from these sources, and puts the trees; ends when nobody takes them any more.
    fn search_shares<'s, S: Search>(
        &self,
        search: &S,
        decision: &Decision<S::Choice>,
        mut shares: impl Iterator<Item = &'s [VertexId]>,
        put: &SyncSender<Result<ShortestPathTree>>,
    ) {
        let mut give = |tree| put.send(Ok(tree)).map_err(|_| Error::Interrupted);
        let result = shares.try_for_each(|share| match decision.manner {
            Manner::InBatches => search.run_batches(self, decision, share, &mut give),
            Manner::InTurn | Manner::SideBySide => {
                share.iter().try_for_each(|&source| give(search.starting_at(source).run(self, &self.team, decision)?))
            }
        });
        if let Err(error) = result {
            // Whoever does not listen any more has had an error before.
            let _ = put.send(Err(error));
        }
    }
}

/// Hands over the trees of one share after another, from one device after another.
fn hand_over_in_turn<'s>(
    found: &[Receiver<Result<ShortestPathTree>>],
    shares: impl Iterator<Item = &'s [VertexId]>,
    hand_over: Each<'_>,
) -> Result<()> {
    for (number, share) in shares.enumerate() {
        for _ in share {
            // A worker that panicked puts nothing more: its panic surfaces when it is joined.
            let tree = found[number % found.len()].recv().map_err(|_| Error::Interrupted)?;
            hand_over(tree?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::cuda::device::Device;
    use crate::cuda::device::testing::several;
    use crate::testing::one_of_every_shape;
    use crate::{Bfs, Control, Engine, Graph, Sssp, generate};

    fn on(devices: &[Arc<dyn Device>], graph: &Graph) -> Solver {
        Solver::builder(graph.clone()).threads(2).devices(devices.to_vec()).open().unwrap()
    }

    fn trees<S: Search>(solver: &Solver, search: S, sources: &[VertexId]) -> Vec<ShortestPathTree> {
        let mut trees = Vec::new();
        let keep = |tree| {
            trees.push(tree);
            Ok(())
        };
        solver.solve_each(search, sources, keep).unwrap();
        trees
    }

    /// How many devices had trees.
    fn devices_of(trees: &[ShortestPathTree]) -> usize {
        trees.iter().map(|tree| &tree.report().engine).collect::<HashSet<_>>().len()
    }

    /// How many devices searched from so many sources.
    fn agree_with_the_cpu<S: Search>(
        devices: &[Arc<dyn Device>],
        graph: &Graph,
        search: &S,
        algorithm: impl FnOnce(S) -> S,
        many: usize,
    ) -> usize {
        let sources: Vec<VertexId> = (0..many).map(|k| (k * 7 % graph.vertices()) as VertexId).collect();
        let cpu = Solver::builder(graph.clone()).threads(1).engine(Engine::Cpu).open().unwrap();
        let solver = on(devices, graph);
        let found = trees(&solver, algorithm(search.clone()), &sources);
        assert_eq!(found.len(), many);
        for (&source, tree) in sources.iter().zip(&found) {
            let expected = cpu.solve(search.starting_at(source)).unwrap();
            assert_eq!(tree.sources(), [source]);
            assert_eq!(tree.distances(), expected.distances());
            assert_eq!(tree.predecessors(), expected.predecessors());
        }
        devices_of(&found)
    }

    #[test]
    fn trees_come_in_order_and_are_those_of_one_device() {
        for (turn, (_, graph)) in one_of_every_shape::<u32>(3).into_iter().enumerate() {
            if graph.vertices() == 0 || graph.vertices() > 100 {
                continue;
            }
            for devices in several(2 + turn % 2, turn as u64) {
                agree_with_the_cpu(&devices, &graph, &Sssp::from(0), |search| search, 5);
                agree_with_the_cpu(&devices, &graph, &Bfs::from(0).within(3), |search| search, 70);
            }
        }
    }

    /// Where the engine is left to choose, devices that are open share work of which each would have a part worth having.
    #[test]
    fn devices_that_nobody_asked_for_share_what_pays() {
        let graph = generate("roads:60,weights=1..9").unwrap();
        for devices in several(2, 6) {
            let open = |devices: &[Arc<dyn Device>]| {
                let builder = Solver::builder(graph.clone()).threads(2).devices(devices.to_vec());
                builder.engine(Engine::Auto).open().unwrap()
            };
            let solver = open(&devices);
            let sources: Vec<VertexId> = (0..200).map(|k| k % graph.vertices() as VertexId).collect();
            let search = Bfs::from(0).algorithm("many-sources");
            let plan = |solver: &Solver| format!("{:?}", solver.decide_each(&search, &sources).unwrap().plan());
            assert!(plan(&solver).contains("the same for each of 2 devices"));
            assert_eq!(trees(&solver, search.clone(), &sources).len(), sources.len());
            // Nothing is gained where trees are handed over more slowly than they are found.
            assert_eq!(solver.devices_worth(|devices| (0.1 / devices as f64).max(0.09)), 1);
            assert_eq!(solver.devices_worth(|devices| 0.1 / devices as f64), 2);
            // To open another one would take longer.
            assert_eq!(open(&devices[..1]).devices_worth(|devices| 0.1 / devices as f64), 1);
        }
    }

    #[test]
    fn all_devices_search() {
        let graph = generate("roads:60,weights=1..9").unwrap();
        for count in [1, 3] {
            for devices in several(count, 5) {
                // On one GPU several contexts have one number.
                let numbers: HashSet<u32> = devices.iter().map(|device| device.properties().ordinal).collect();
                let used = [
                    // Searches one by one, and batches of 64.
                    agree_with_the_cpu(&devices, &graph, &Sssp::from(0), |search| search.algorithm("near-far"), 5),
                    agree_with_the_cpu(
                        &devices,
                        &graph,
                        &Sssp::from(0),
                        |search| search.algorithm("many-sources"),
                        140,
                    ),
                    agree_with_the_cpu(&devices, &graph, &Bfs::from(0), |search| search, 140),
                ];
                assert_eq!(used, [numbers.len(); 3]);
            }
        }
    }

    /// With as many arcs as it takes for a device to derive predecessors.
    #[test]
    fn trees_of_many_arcs_are_those_of_the_cpu() {
        let graph = generate("uniform:10,edges-per-vertex=12,weights=0..9").unwrap();
        assert!(graph.arcs() > 1 << 14);
        for devices in several(2, 8) {
            let search = |search: Sssp| search.algorithm("many-sources:blocks=2,threads=32");
            agree_with_the_cpu(&devices, &graph, &Sssp::from(0), search, 9);
            agree_with_the_cpu(&devices, &graph, &Sssp::from(0).within(4_u64), search, 5);
        }
    }

    #[test]
    fn one_share_needs_one_device_and_all_count_in_the_plan() {
        let graph = generate("roads:150,weights=1..9").unwrap();
        for devices in several(2, 5) {
            let solver = on(&devices, &graph);
            assert_eq!(devices_of(&trees(&solver, Bfs::from(0), &[7; 20])), 1);
            let plan = |sources: usize| solver.decide_each(&Bfs::from(0), &vec![7; sources]).unwrap().plan().clone();
            let [one, two] = [20, 200].map(plan);
            assert!(two.memory_items().iter().any(|item| item.what == "the same for each of 2 devices"));
            assert!(two.memory_bytes() >= 2 * one.memory_bytes());
        }
    }

    #[test]
    fn whoever_takes_the_trees_may_end_it() {
        let graph = generate("roads:40,weights=1..9").unwrap();
        for devices in several(2, 6) {
            let control = Control::new();
            let builder = Solver::builder(graph.clone()).threads(2).devices(devices).control(control.clone());
            let solver = builder.open().unwrap();
            for (algorithm, sources, taken) in [("near-far", 13, 7), ("many-sources", 130, 70)] {
                let search = Sssp::from(0).algorithm(algorithm);
                let mut left = taken;
                let result = solver.solve_each(search.clone(), &vec![3; sources], |_| {
                    left -= 1;
                    if left == 0 { Err(Error::invalid("planted")) } else { Ok(()) }
                });
                assert!(result.is_err_and(|error| error.to_string().contains("planted")));
                assert_eq!(left, 0);
                assert_eq!(trees(&solver, search, &[3; 2]).len(), 2);
            }
            control.cancel();
            assert!(matches!(solver.solve_each(Sssp::from(0), &[3; 130], |_| Ok(())), Err(Error::Interrupted)));
        }
    }

    #[cfg(emulator)]
    #[test]
    fn trees_before_a_failure_are_right_and_nobody_waits() {
        use crate::cuda::device::emulator::Emulator;
        use crate::cuda::device::failing::{Failing, Fault};
        let graph = generate("roads:25,weights=1..9").unwrap();
        let cpu = Solver::builder(graph.clone()).threads(1).engine(Engine::Cpu).open().unwrap();
        let expected = cpu.sssp(3).unwrap();
        let mut failures = 0;
        for (algorithm, sources) in [("near-far", 10), ("many-sources", 130)] {
            for place in 0..2 {
                for fails_at in (1..100).step_by(23) {
                    let failing = Arc::new(Failing::new(4, Fault::Lost, fails_at));
                    let mut devices = [1, 1].map(|ordinal| Arc::new(Emulator::numbered(7, ordinal)) as Arc<dyn Device>);
                    devices[place] = failing.clone();
                    let solver = on(&devices, &graph);
                    let mut handed = 0;
                    let result = solver.solve_each(Sssp::from(0).algorithm(algorithm), &vec![3; sources], |tree| {
                        handed += 1;
                        assert_eq!(tree.distances(), expected.distances());
                        assert_eq!(tree.predecessors(), expected.predecessors());
                        Ok(())
                    });
                    assert_eq!(result.is_ok(), !failing.has_failed());
                    assert_eq!(result.is_ok(), handed == sources);
                    failures += usize::from(result.is_err());
                }
            }
        }
        assert!(failures > 5);
    }
}
