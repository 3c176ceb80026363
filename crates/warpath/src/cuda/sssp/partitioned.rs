//! Shortest paths on several devices at once: each has some of the vertices and the arcs that leave them.
//!
//! A threshold moves as in `near_far.rs`, and vertices that are to be expanded are bits, as in `zero_copy.rs`, whose code this is.
//! Each device has a distance for every vertex: that of its own vertices counts, and of the others it is the least that it has found
//! itself. So an arc takes random accesses to this device's memory alone, and most arcs end there: they lead to heads that were
//! told a distance as near. A round ends with one meeting (`peers.rs`), at which the devices tell each other how many vertices are
//! marked and what the least far distance is. So all decide the same about the threshold. At the beginning of the next round each device
//! reads, in order, the bits that the others have set for its vertices, and for those the distances that they have found. What is nearer
//! counts, and is expanded or put off. Bits of groups of 128 vertices say where some bit is set.
//!
//! A device takes 4 bytes for each of its vertices (8 where it has more than 2^32 arcs), 8 for each of its arcs (16 with weights of 64
//! bits), and 4 and a half for each vertex of the graph (8 and a half with distances of 64 bits).
//!
//! Work O(V + E + repeated relaxations + rounds * V / 4096) on all devices together, span O(rounds) meetings.
//!
//! Source: Davidson, Baxter, Garland and Owens 2014, "Work-efficient parallel GPU methods for single-source shortest paths"; the
//! partition in one dimension after Yoo et al. 2005, as in `bfs/partitioned.rs`. That kernels exchange dense bits by themselves is
//! this project's own.
//!
//! *Invariants.* As in `bfs/partitioned.rs`.

use std::ops::Range;
use std::sync::Arc;

use super::pairs::Pairs;
use super::zero_copy::{BATCH_OF_ARCS, DELTA, KernelArgument, MOST_VERTICES, Turn};
use super::{
    DeviceDistances, DeviceSemiring, OfSemiring, PreparedSssp, SsspAlgorithm, SsspOutcome, SsspTask, distance_words,
    start,
};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Unset, Values};
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, images};
use crate::cuda::graph::{Offsets, are_wide};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr};
use crate::cuda::launch::{AS_MANY_AS_RUN_AT_ONCE, WATCHED, Waiting, threads_up_to, whole_device};
use crate::cuda::peers::company::{EXCHANGE, PARTS, plan_exchange};
use crate::cuda::peers::{self, Mailbox, Parts, Seen, Together, arcs_of, check_company};
use crate::cuda::zero_copy::{Windows, mark, piece_count, upload_pieces, words_of_frontier};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "partitioned",
        summary: "on several GPUs at once, each with a part of the vertices and their arcs",
        source: "Davidson et al. 2014; Yoo et al. 2005",
        parameters: &[
            PARTS,
            EXCHANGE,
            DELTA,
            Parameter {
                values: Values::Or(
                    &Values::AtLeast(0.0),
                    Unset::InWords(|| format!("a {SHARE}th of all arcs, at least {FEWEST}")),
                ),
                ..BATCH_OF_ARCS
            },
            threads_up_to::<MOST_THREADS>(),
            Parameter {
                name: "blocks",
                summary: "blocks on each device",
                values: Values::Or(&Values::AtLeast(1.0), AS_MANY_AS_RUN_AT_ONCE),
            },
        ],
        negative_weights: false,
        seconds: |work| {
            /// A narrow round with its meeting.
            const ROUND: f64 = 26e-6;
            let parts = work.parameters.get(PARTS.name).unwrap_or(1.0);
            let rounds = if work.graph.has_short_levels() { ROUND * work.levels() } else { 0.0 };
            work.in_turn(8e-3 + (work.arcs() / 25e9 / parts).max(rounds))
        },
    },
    semirings: &[DeviceSemiring::Narrow, DeviceSemiring::Wide, DeviceSemiring::Single, DeviceSemiring::Double],
    needs_transpose: |_| false,
    plan,
    prepare: |device, graph, parameters| prepare(std::slice::from_ref(device), graph, parameters),
    prepare_on_several: Some(prepare),
};

/// Delta doubles while a round has fewer arcs than all arcs divided by this: a round costs more than on one device, so there are to be
/// fewer.
const SHARE: f64 = 256.0;
/// On small graphs it doubles while a round has fewer arcs than these.
const FEWEST: f64 = 131_072.0;
/// The most threads of a block: more would have too few registers.
const MOST_THREADS: u32 = 448;

/// The arrays of a part on its device.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    offsets: Offsets,
    pairs: Pairs,
    /// Of all vertices.
    distances: DeviceSlice<u32>,
    near: [DeviceSlice<u32>; 3],
    far: DeviceSlice<u32>,
    pieces: DeviceSlice<[u32; 2]>,
    windows: DeviceSlice<[u32; 2]>,
    targets_wanted: DeviceSlice<VertexId>,
    turns: DeviceSlice<Turn>,
    report: DeviceSlice<u64>,
    out_of_range: DeviceSlice<u32>,
    mailbox: Mailbox,
}

fn layout(arena: &mut Arena<'_>, graph: &Graph, part: &Range<usize>, pieces: u64, windows: &Windows) -> Arrays {
    let (all, mine, arcs) = (graph.vertices() as u64, part.len() as u64, arcs_of(graph, part).len());
    let mut bits = |what: &str| arena.take(what, words_of_frontier(all));
    let near = ["vertices to expand", "vertices to expand next", "vertices just expanded"].map(&mut bits);
    let far = bits("vertices that wait");
    Arrays {
        offsets: Offsets::layout(arena, "offsets of the vertices", mine + 1, are_wide(arcs)),
        pairs: Pairs::layout_some(arena, "heads and weights of the arcs", graph, arcs as u64),
        distances: arena.take("distances of all vertices", distance_words(graph)),
        near,
        far,
        pieces: arena.take("pieces of long rows", pieces),
        windows: windows.layout(arena),
        targets_wanted: arena.take("targets", mine.min(WATCHED)),
        turns: arena.take("counters", 3),
        report: arena.take("report", 4),
        out_of_range: arena.take("flag", 1),
        mailbox: Mailbox::layout(arena),
    }
}

/// The plan of the part that takes most.
fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
    let parts = Parts::planned(graph, parameters);
    let plans = (0..parts.count()).map(|part| {
        let vertices = parts.vertices(part);
        let pieces = piece_count(graph, vertices.clone());
        plan_of(|arena| layout(arena, graph, &vertices, pieces, &Windows::one(vertices.clone(), pieces)))
    });
    let mut plan = plans.max_by_key(Plan::device_bytes).unwrap_or_default();
    let words = 3 * words_of_frontier(graph.vertices() as u64) + distance_words(graph);
    plan_exchange(&mut plan, parameters, parts.count(), 4 * words);
    plan
}

/// A part on its device.
#[derive(Debug)]
struct Member {
    vertices: Range<usize>,
    kernels: OfSemiring<(Function, LaunchShape)>,
    argument: KernelArgument,
    arrays: Arrays,
    waiting: Waiting,
    pool: Pool,
}

impl Member {
    fn new(device: &Arc<dyn Device>, graph: &Graph, part: Range<usize>, parameters: &Parameters) -> Result<Self> {
        let arcs = arcs_of(graph, &part);
        let kernels = OfSemiring::new(graph, |semiring| {
            let name = if are_wide(arcs.len()) { "sssp_partitioned_64" } else { "sssp_partitioned_32" };
            let kernel = semiring.function(&**device, &images::SSSP_PARTITIONED, name)?;
            Ok((kernel, whole_device(&**device, kernel, parameters, MOST_THREADS, u32::MAX)?))
        })?;
        let pieces = piece_count(graph, part.clone());
        let windows = Windows::one(part.clone(), pieces);
        let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, graph, &part, pieces, &windows))?;
        arrays.offsets.upload_some(&pool, graph.csr(), part.clone())?;
        arrays.pairs.upload_some(&pool, graph.csr(), arcs)?;
        upload_pieces(&pool, arrays.pieces, graph, part.clone())?;
        windows.upload(&pool, arrays.windows)?;
        arrays.mailbox.clear(&pool)?;
        let waiting = Waiting::new(device)?;
        // Offsets of a part are used as if they were those of all vertices.
        let offsets = arrays.offsets.address().wrapping_sub(part.start as u64 * arrays.offsets.bytes_of_one());
        let argument = KernelArgument {
            offsets: DevicePtr::new(offsets),
            arcs: arrays.pairs.as_ptr(),
            short_begins: DevicePtr::NULL,
            short_arcs: DevicePtr::NULL,
            distances: arrays.distances.as_mut_ptr().cast(),
            near: arrays.near.map(|bits| bits.as_mut_ptr()),
            far: arrays.far.as_mut_ptr(),
            pieces: arrays.pieces.as_ptr(),
            windows: arrays.windows.as_ptr(),
            turns: arrays.turns.as_mut_ptr(),
            report: arrays.report.as_mut_ptr(),
            out_of_range: arrays.out_of_range.as_mut_ptr(),
            targets_wanted: arrays.targets_wanted.as_ptr(),
            cancelled: waiting.cancelled(),
            statistics: DeviceMutPtr::NULL,
            limit: 0,
            delta: parameters.get("delta").unwrap_or_else(|| super::near_far::first_delta(graph)),
            degree: graph.arcs() as f64 / graph.vertices().max(1) as f64,
            target_count: 0,
            vertices: graph.vertices() as u32,
            window_count: windows.count(),
            least_of_window: windows.least,
            batch: parameters.get("batch").unwrap_or((graph.arcs() as f64 / SHARE).max(FEWEST)) as u32,
            most_short: 0,
        };
        device.synchronize()?;
        Ok(Member { vertices: part, kernels, argument, arrays, waiting, pool })
    }

    /// Has the device begin a search.
    fn begin(&self, task: &SsspTask<'_>, watched: &[VertexId], number: u64) -> Result<()> {
        let Arrays { distances, near, far, targets_wanted, turns, out_of_range, mailbox, .. } = self.arrays;
        let pool = &self.pool;
        start(pool, task.semiring.part(distances, self.argument.vertices), task.semiring, task.sources)?;
        mark(pool, near[0], self.argument.vertices.into(), task.sources)?;
        [near[1], near[2], far].into_iter().try_for_each(|bits| pool.fill(bits, 0))?;
        pool.upload(targets_wanted, watched)?;
        pool.upload(turns, &[Turn { least: u64::MAX, ..bytemuck::Zeroable::zeroed() }; 3])?;
        pool.fill(out_of_range, 0)?;
        mailbox.begin(pool, number, [0; 5], 0)
    }

    /// Where the distances of its own vertices are.
    fn distances(&self, semiring: DeviceSemiring) -> DeviceSlice<u32> {
        let words = semiring.words();
        self.arrays.distances.part(self.vertices.start as u64 * words, self.vertices.len() as u64 * words)
    }
}

fn prepare(devices: &[Arc<dyn Device>], graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedSssp>> {
    if graph.vertices() > MOST_VERTICES {
        return Err(Error::invalid(format!("this algorithm takes graphs of up to {MOST_VERTICES} vertices")));
    }
    check_company(devices, parameters)?;
    let parts = Parts::of(graph, devices.len());
    let members =
        devices.iter().enumerate().map(|(part, device)| Member::new(device, graph, parts.vertices(part), parameters));
    let members = members.collect::<Result<Vec<_>>>()?;
    let seen: Vec<Seen> = members
        .iter()
        .map(|Member { arrays, .. }| {
            let [one, two, three] = arrays.near;
            Seen { mailbox: arrays.mailbox, arrays: vec![one, two, three, arrays.distances] }
        })
        .collect();
    let together = Together::new(devices, parts, &seen, parameters)?;
    Ok(Box::new(Partitioned { members, together, semiring: DeviceSemiring::Narrow }))
}

#[derive(Debug)]
struct Partitioned {
    members: Vec<Member>,
    together: Together,
    /// Of the last search.
    semiring: DeviceSemiring,
}

impl PreparedSssp for Partitioned {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        self.semiring = task.semiring;
        let watched = if task.targets.len() as u64 <= WATCHED { task.targets } else { &[] };
        let (mut arguments, mut members) = (Vec::new(), Vec::new());
        for (part, member) in self.members.iter().enumerate() {
            let targets = self.together.some_of(part, watched);
            member.begin(task, targets, self.together.number())?;
            let target_count = targets.len() as u32;
            arguments.push(KernelArgument { target_count, limit: task.cutoff, ..member.argument });
            let &(function, shape) = member.kernels.get(task.semiring)?;
            let Member { pool, waiting, arrays: Arrays { mailbox, .. }, .. } = member;
            members.push(peers::Member { function, shape, pool, mailbox, waiting });
        }
        let seconds = self.together.run(&members, &arguments, watched.len(), task.control)?;
        let first = &self.members[0];
        let [rounds, thresholds, marked, relaxations] = first.pool.read_array(first.arrays.report)?;
        // A meeting a round.
        self.together.have_met(rounds);
        let mut out_of_range = false;
        for member in &self.members {
            out_of_range |= member.pool.read_array(member.arrays.out_of_range)? != [0];
        }
        let statistics = vec![
            ("rounds", rounds),
            ("thresholds", thresholds),
            ("queued", marked),
            ("relaxations", relaxations),
            ("devices", self.members.len() as u64),
            ("kernel_launches", self.members.len() as u64),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ];
        Ok(SsspOutcome { statistics, frontiers: Vec::new(), out_of_range })
    }

    fn device_distances(&self) -> DeviceDistances<'_> {
        let first = &self.members[0];
        DeviceDistances {
            further: self.members[1..].iter().map(|member| (&member.pool, member.distances(self.semiring))).collect(),
            ..DeviceDistances::of(&first.pool, first.distances(self.semiring))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::peers::tests::devices_that_reach_each_other;
    use crate::testing::{Random, TestWeight, one_of_every_shape};
    use crate::{Control, Engine, Solver, Sssp, generate};

    fn on(devices: &[Arc<dyn Device>], graph: &Graph) -> Solver {
        Solver::builder(graph.clone()).threads(1).devices(devices.to_vec()).open().unwrap()
    }

    const UNDER_TEST: [&str; 6] = [
        "partitioned:threads=64,exchange=host",
        "partitioned:threads=32,blocks=2,delta=5,batch=2,exchange=host",
        "partitioned:threads=64",
        "partitioned:threads=32,blocks=3,delta=150,batch=0",
        "partitioned:threads=64,blocks=2,batch=40",
        "partitioned:threads=32,delta=5,batch=2",
    ];

    fn devices_agree_with_the_cpu<W: TestWeight>(seed: u64) {
        let mut random = Random(seed);
        for (turn, (name, graph)) in one_of_every_shape::<W>(seed).into_iter().enumerate() {
            let vertices = graph.vertices() as u64;
            if vertices == 0 || vertices > 200 || graph.arcs() > 2000 || graph.has_negative_weights() {
                continue;
            }
            let mut drawn: Vec<VertexId> = (0..3).map(|_| random.below(vertices) as VertexId).collect();
            drawn.sort_unstable();
            drawn.dedup();
            let target = random.below(vertices) as VertexId;
            let requests = [Sssp::from(drawn[0]), Sssp::from(drawn.as_slice()), Sssp::from(drawn[0]).to(target)];
            let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
            let count = 1 + turn % 4;
            for devices in devices_that_reach_each_other(count, seed) {
                let solver = on(&devices, &graph);
                for (index, algorithm) in UNDER_TEST.into_iter().enumerate() {
                    let request = &requests[(turn + index) % requests.len()];
                    let context = format!("{name}, {algorithm}, {request:?}, {count} devices, seed {seed}");
                    let expected = cpu.solve(request.clone()).unwrap();
                    let tree = solver.solve(request.clone().algorithm(algorithm));
                    let tree = tree.unwrap_or_else(|error| panic!("{context}: {error}"));
                    assert_eq!(tree.distances(), expected.distances(), "{context}");
                    assert_eq!(tree.predecessors(), expected.predecessors(), "{context}");
                    tree.verify(&graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                    assert_eq!(tree.report().engine.matches(|c: char| c.is_ascii_digit()).count(), count);
                }
            }
        }
    }

    #[test]
    fn devices_together_agree_by_integers() {
        devices_agree_with_the_cpu::<u32>(1);
    }

    #[test]
    fn devices_together_agree_by_floats() {
        devices_agree_with_the_cpu::<f32>(2);
    }

    #[test]
    fn devices_together_agree_by_doubles() {
        devices_agree_with_the_cpu::<f64>(3);
    }

    #[test]
    fn devices_together_agree_without_weights() {
        devices_agree_with_the_cpu::<crate::graph::Unit>(4);
    }

    /// Several parts with long rows, distances of 64 bits, and offsets of 64 bits.
    #[test]
    fn graphs_with_hubs_are_shared_out() {
        for (spec, wide) in [("kron:10,weights=1..255", false), ("kron:9,weights=1000000000..2000000000", true)] {
            let graph = generate(spec).unwrap();
            let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
            for devices in devices_that_reach_each_other(3, 5) {
                crate::cuda::graph::WIDE_OFFSETS.set(wide);
                let solver = on(&devices, &graph);
                for source in [5, 300] {
                    let expected = cpu.sssp(source).unwrap();
                    let tree = solver.solve(Sssp::from(source).algorithm("partitioned:threads=64")).unwrap();
                    assert_eq!(tree.distances(), expected.distances());
                    assert_eq!(tree.predecessors(), expected.predecessors());
                    if wide && expected.reached() > 100 {
                        assert!(tree.report().repeated_wide);
                    }
                }
                crate::cuda::graph::WIDE_OFFSETS.set(false);
            }
        }
    }

    /// A graph that one device has no room for is shared out, and what several have no room for keeps its arcs on the host.
    #[test]
    fn a_graph_too_large_for_one_device_is_shared_out() {
        let graph = generate("uniform:9,weights=1..100").unwrap();
        let expected = Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap().sssp(3).unwrap();
        for devices in devices_that_reach_each_other(2, 6) {
            let open = |memory| {
                Solver::builder(graph.clone()).threads(1).devices(devices.clone()).memory(memory).open().unwrap()
            };
            let all = open(u64::MAX);
            let alone = all.decide(&Sssp::from(3)).unwrap();
            let bytes = |algorithm| all.decide(&Sssp::from(3).algorithm(algorithm)).unwrap().plan().device_bytes();
            let (one, shared) = (alone.plan().device_bytes(), bytes("partitioned"));
            assert!(shared < one && alone.engine() == "cuda");
            for (memory, algorithm) in [
                (one, alone.algorithm()),
                (one - 1, "partitioned:parts=2"),
                (shared, "partitioned:parts=2"),
                (shared - 1, "zero-copy"),
            ] {
                let solver = open(memory);
                assert!(solver.decide(&Sssp::from(3)).unwrap().algorithm().starts_with(algorithm));
                let tree = solver.sssp(3).unwrap();
                assert_eq!(tree.distances(), expected.distances());
                assert_eq!(tree.predecessors(), expected.predecessors());
            }
        }
    }

    #[test]
    fn cancelled_searches_end_on_all_devices() {
        let graph = generate("roads:300,weights=1..9").unwrap();
        for devices in devices_that_reach_each_other(2, 7) {
            let control = Control::new();
            let builder = Solver::builder(graph.clone()).threads(1).devices(devices).control(control.clone());
            let solver = builder.open().unwrap();
            let solve = || solver.solve(Sssp::from(0).algorithm("partitioned"));
            assert_eq!(solve().unwrap().reached(), 300);
            control.cancel();
            assert!(matches!(solve(), Err(Error::Interrupted)));
        }
    }
}
