//! The memory that each rank will take, before the work starts.

use warpath::graph::{WeightKind, with_min_plus};
use warpath::parts::{BfsPart, PartExtent, SsspPart};
use warpath::{Error, Plan, Result, available_memory};

use crate::device::{RankDevices, RankGpu};
use crate::graph::{Parts, block_for, vertices_per_hub};
use crate::grid::{PIVOT, shape};
use crate::search::{Problem, Search};
use crate::source::Source;
use crate::world::{Outcome, Reduction, World};

/// What the ranks will take: an upper bound for arcs that a generator draws, since it may draw an edge twice.
#[derive(Debug, Clone)]
pub struct RankPlan {
    /// Of this rank.
    pub plan: Plan,
    /// The memory that this rank may take: its share of what its host has, or the limit that was set.
    pub available: u64,
    /// The bytes of the rank that needs most.
    pub greatest_bytes: u64,
    /// How many times the average the rank with most arcs has.
    pub imbalance: f64,
    /// The GPU that this rank will search on; `None` if the ranks search on their cores.
    pub gpu: Option<RankGpu>,
}

impl RankPlan {
    /// Plans the memory of each rank, where `plan` does it for so many vertices and arcs, on a GPU or not.
    fn of(
        world: &World,
        source: &Source<'_>,
        memory: Option<u64>,
        devices: RankDevices,
        plan: impl Fn(u64, u64, bool) -> Plan,
    ) -> Outcome<Self> {
        let partition = source.partition(world)?;
        let owned = partition.range(world.rank());
        let arcs = world.agree(source.arcs_between(owned.clone(), world.ranks()))?;
        let most_arcs = world.reduce(Reduction::Greatest, arcs);
        let all_arcs = world.reduce(Reduction::Sum, arcs);
        let count = owned.end - owned.start;
        let gpu = world.gpu(devices, memory, || plan(count, arcs, true).device_bytes())?;
        let plan = plan(count, arcs, gpu.is_some());
        let greatest_bytes = world.reduce(Reduction::Greatest, plan.memory_bytes());
        // A list that is read already has its memory, and so have its names.
        let has_already = source.bytes_of_list().saturating_add(source.bytes_of_names());
        let share = || (available_memory() / world.ranks_on_host()).saturating_add(has_already);
        let available = memory.unwrap_or_else(share);
        let average = all_arcs as f64 / world.ranks() as f64;
        let imbalance = if all_arcs > 0 { most_arcs as f64 / average } else { 1.0 };
        Ok(RankPlan { plan, available, greatest_bytes, imbalance, gpu })
    }

    /// An error if more is planned than is available, in memory or on the device.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn check(&self) -> Result<()> {
        self.plan.check(self.available)?;
        self.gpu.map_or(Ok(()), |gpu| self.plan.check_device(gpu.available))
    }

    /// Plans the memory of each rank that runs the Graph500 benchmark on a graph of so many edges for each vertex: the list, the graph with
    /// weights and without, and the components.
    ///
    /// # Errors
    ///
    /// None but those of other ranks.
    pub(crate) fn of_graph500(world: &World, source: &Source<'_>, edges: u64, search: &Search) -> Outcome<Self> {
        RankPlan::of(world, source, search.memory, search.devices, |owned, arcs, on_gpu| {
            let mut plan = search.plan_of(source, world.ranks(), owned, arcs, on_gpu);
            if on_gpu {
                let levels = search.extent(source, world.ranks(), owned, arcs);
                plan.device("the graph without weights", BfsPart::plan(levels).device_bytes());
            }
            let ghosts = arcs.min(source.vertices().saturating_sub(owned));
            plan.memory("the list of edges", edges.div_ceil(world.ranks() as u64).saturating_mul(20));
            plan.memory("the graph without weights", arcs.saturating_mul(4).saturating_add(owned.saturating_mul(8)));
            plan.memory("its vertices of other ranks", ghosts.saturating_mul(20));
            plan.memory(
                "components",
                owned.saturating_add(ghosts).saturating_mul(13).saturating_add(owned.saturating_mul(56)),
            );
            plan
        })
    }

    /// Plans the memory of each rank that has a block of a matrix of all pairs, checked if that is asked for, with a limit in bytes or its share of what
    /// its host has.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](warpath::Error::Io) if the file of the graph can't be read.
    pub fn of_matrix(world: &World, source: &Source<'_>, memory: Option<u64>, verify: bool) -> Outcome<Self> {
        RankPlan::of(world, source, memory, RankDevices::Cpu, |owned, arcs, _| {
            matrix_in(source, world.ranks(), (owned, arcs), verify)
        })
    }

    /// The plan of one of so many ranks that share a matrix, none of which has to be there.
    pub fn matrix_for(source: &Source<'_>, ranks: u64, verify: bool) -> Plan {
        matrix_in(source, ranks.max(1) as usize, share_of(source, ranks), verify)
    }

    /// Plans the memory of each rank that finds statistics: the graph with its weights, components, degrees and levels.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](warpath::Error::Io) if the file of the graph can't be read.
    pub fn of_statistics(world: &World, source: &Source<'_>, memory: Option<u64>) -> Outcome<Self> {
        RankPlan::of(world, source, memory, RankDevices::Cpu, |owned, arcs, on_gpu| {
            let mut plan = components_in(source, world.ranks(), (owned, arcs), on_gpu, Problem::Sssp);
            plan.memory("degrees and levels", owned.saturating_mul(8 + 4 + 4 + 8));
            plan
        })
    }

    /// Plans the memory of each rank that finds components, with a limit in bytes or its share of what its host has.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](warpath::Error::Io) if the file of the graph can't be read.
    pub fn of_components(world: &World, source: &Source<'_>, memory: Option<u64>) -> Outcome<Self> {
        RankPlan::of(world, source, memory, RankDevices::Cpu, |owned, arcs, on_gpu| {
            components_in(source, world.ranks(), (owned, arcs), on_gpu, Problem::Bfs)
        })
    }

    /// The plan of one of so many ranks that find components, none of which has to be there.
    pub fn components_for(source: &Source<'_>, ranks: u64) -> Plan {
        components_in(source, ranks.max(1) as usize, share_of(source, ranks), false, Problem::Bfs)
    }
}

/// The vertices and arcs of one of so many ranks, on average.
fn share_of(source: &Source<'_>, ranks: u64) -> (u64, u64) {
    (source.vertices().div_ceil(ranks.max(1)), source.arcs().div_ceil(ranks.max(1)))
}

/// The plan of a rank that has a block of a matrix of all pairs.
fn matrix_in(source: &Source<'_>, ranks: usize, (owned, arcs): (u64, u64), verify: bool) -> Plan {
    let [height, width] = shape(ranks).map(|parts| source.vertices().div_ceil(parts as u64));
    // Cells of 16 bits become distances of 32, and wide cells may follow narrow ones.
    let cell = if source.weight_kind() == WeightKind::Unit { 6 } else { 8 };
    let mut plan = Plan::new();
    let search = Search { parts: Parts::Consecutive, ..Search::new(Problem::Sssp, Vec::new()) };
    let search = search.plan_of(source, ranks, owned, arcs, false);
    for item in search.memory_items().iter().filter(|item| item.what != SEARCH) {
        plan.memory(item.what.clone(), item.bytes);
    }
    let block = height.saturating_mul(width).saturating_mul(cell);
    plan.memory("its block of the matrix", block);
    if verify {
        plan.memory("the weights of the block, and sums", block.saturating_mul(2));
    }
    plan.memory("panels", height.saturating_add(width).saturating_mul(4 * PIVOT as u64 * cell));
    plan
}

/// The plan of a rank that finds components in a graph with the weights of a problem.
fn components_in(source: &Source<'_>, ranks: usize, (owned, arcs): (u64, u64), on_gpu: bool, problem: Problem) -> Plan {
    let mut plan = Plan::new();
    let search = Search { parts: Parts::Consecutive, ..Search::new(problem, Vec::new()) };
    let search = search.plan_of(source, ranks, owned, arcs, on_gpu);
    for item in search.memory_items().iter().filter(|item| item.what != SEARCH) {
        plan.memory(item.what.clone(), item.bytes);
    }
    let ghosts = arcs.min(source.vertices().saturating_sub(owned));
    let states = owned.saturating_add(ghosts).saturating_add(source.vertices() / vertices_per_hub(ranks) + 1);
    // The set of each state, its label and a mark; of owned vertices the component, and its number.
    plan.memory("sets of vertices", states.saturating_mul(4 + 8 + 1).saturating_add(owned.saturating_mul(8 + 48)));
    plan
}

/// What a search takes beside the graph.
const SEARCH: &str = "the search";

impl Search {
    /// Plans the memory of each rank.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](warpath::Error::Io) if the file of the graph can't be read.
    pub fn plan(&self, world: &World, source: &Source<'_>) -> Outcome<RankPlan> {
        RankPlan::of(world, source, self.memory, self.devices, |owned, arcs, on_gpu| {
            self.plan_of(source, world.ranks(), owned, arcs, on_gpu)
        })
    }

    /// The plan of one of so many ranks, none of which has to be there: of a rank with its share of the vertices and arcs, on a GPU if they are
    /// asked for.
    pub fn plan_for(&self, source: &Source<'_>, ranks: u64) -> Plan {
        let (owned, arcs) = share_of(source, ranks);
        self.plan_of(source, ranks.max(1) as usize, owned, arcs, self.devices == RankDevices::Cuda)
    }

    /// The part of a rank with so many vertices and arcs, if all of these lead to vertices of other ranks.
    fn extent(&self, source: &Source<'_>, ranks: usize, owned: u64, arcs: u64) -> PartExtent {
        let ghosts = if ranks > 1 { arcs.min(source.vertices().saturating_sub(owned)) } else { 0 };
        PartExtent {
            parts: ranks as u64,
            owned,
            hubs: if ranks > 1 { source.vertices() / vertices_per_hub(ranks) + 1 } else { 0 },
            ghosts,
            arcs,
            // In an undirected graph each of them has an arc here; in a directed one nobody asks.
            subscriptions: if source.is_directed() { 0 } else { arcs.min(owned.saturating_mul(ranks as u64 - 1)) },
        }
    }

    /// The vertices of a block, if the graph may be searched in blocks.
    fn may_be_in_blocks_of(&self, source: &Source<'_>, ranks: usize, on_gpu: bool) -> Option<u64> {
        match self.parts {
            Parts::Consecutive => None,
            Parts::Blocks(block) => Some(block),
            Parts::Auto => block_for(source.vertices(), ranks as u64).filter(|_| !on_gpu),
        }
    }

    /// The plan of a rank with the results of so many vertices, and so many arcs.
    fn plan_of(&self, source: &Source<'_>, ranks: usize, owned: u64, arcs: u64, on_gpu: bool) -> Plan {
        let kind = match self.problem {
            Problem::Bfs => WeightKind::Unit,
            Problem::Sssp => source.weight_kind(),
        };
        let weight = kind.bytes();
        let (at_home, block) = (owned, self.may_be_in_blocks_of(source, ranks, on_gpu));
        // A rank has at most one block more than another.
        let in_blocks = block.map_or(0, |block| (source.vertices() / ranks as u64).saturating_add(block));
        let owned = owned.max(in_blocks.min(source.vertices()));
        // Of blocks nobody knows the arcs yet, so a rank has its share.
        let share = u128::from(source.arcs()) * u128::from(owned) / u128::from(source.vertices().max(1));
        let arcs = if block.is_some() { arcs.max(u64::try_from(share).unwrap_or(u64::MAX)) } else { arcs };
        // Bytes of an arc in a message, in a row with its head's vertex, and in a row with its head's number.
        let (sent, wide, kept) = (12 + weight, 8 + weight, 4 + weight);
        let hubs = source.vertices() / vertices_per_hub(ranks) + 1;
        let ghosts = arcs.min(source.vertices().saturating_sub(owned));
        let distance = match kind {
            WeightKind::Unit | WeightKind::F32 => 4,
            // Narrow distances, and the wide ones that may follow.
            WeightKind::U32 => 12,
            WeightKind::I32 | WeightKind::F64 => 8,
        };
        let states = owned.saturating_add(ghosts).saturating_add(hubs);
        let mut plan = Plan::new();
        let mut item = |what: &str, of: [(u64, u64); 2]| {
            let bytes = of.map(|(count, bytes)| count.saturating_mul(bytes));
            let bytes = bytes[0].saturating_add(bytes[1]);
            if bytes > 0 {
                plan.memory(what, bytes);
            }
        };
        item("rows", [(arcs, kept), (owned + 1, 8)]);
        item("arcs before they have their place", [(arcs, sent + wide - kept), (0, 0)]);
        // A ghost's vertex, its place in the index, and its number in the list of its owner.
        item("vertices of other ranks", [(ghosts, 8 + 8 + 4), (hubs, 8 + 8)]);
        item("the list of edges, read already", [(source.bytes_of_list(), 1), (0, 0)]);
        // What was read, and a copy for results.
        item("names of vertices", [(source.bytes_of_names(), 2), (0, 0)]);
        item("what a generator prepares", [(source.bytes_to_generate(ranks), 1), (0, 0)]);
        match self.problem {
            _ if on_gpu && self.devices == RankDevices::Cuda => {
                item("numbers for the device, and distances", [(states, 4 + distance), (0, 0)])
            }
            // Of a ghost its place in a list, and bits in a few sets.
            Problem::Bfs => item(SEARCH, [(owned, 4 + 8), (states, 4 + 1)]),
            Problem::Sssp => item(SEARCH, [(states, 2 * distance + 4 + 1), (owned, 8 + 4 + 1)]),
        }
        if block.is_some() {
            // What is sent, what comes, and the results.
            let bytes = if self.predecessors { 8 } else { distance.min(8) };
            item("results on their way home", [(owned, bytes), (at_home, 2 * bytes)]);
        }
        if self.predecessors {
            item("predecessors", [(states, 8 + distance), (0, 0)]);
        }
        if self.verify {
            item("the certificate", [(states, distance + if self.predecessors { 8 } else { 0 }), (owned, 8)]);
        }
        if on_gpu {
            let extent = self.extent(source, ranks, owned, arcs);
            let on_device = match self.problem {
                Problem::Bfs => BfsPart::plan(extent),
                // Wide distances, if there are any, take the place of narrow ones.
                Problem::Sssp => with_min_plus!(source.weight_kind(), true, L => SsspPart::<L>::plan(extent)),
            };
            on_device.device_items().iter().for_each(|item| plan.device(item.what.clone(), item.bytes));
        }
        plan
    }
}

impl Source<'_> {
    /// How many arcs leave some vertices, as far as that is known before the arcs are.
    fn arcs_between(&self, vertices: std::ops::Range<u64>, ranks: usize) -> Result<u64> {
        match self.stored() {
            // Damage shows when the rows are read; until then, no file has more arcs than it says.
            Some(file) => {
                let before = |vertex: u64| Ok::<u64, Error>(file.arcs_before(vertex)?.min(file.arcs()));
                let leaving = before(vertices.end)?.saturating_sub(before(vertices.start)?);
                // Where arcs go both ways, as many come as leave, on average.
                let is_turned = self.arcs() > file.arcs();
                Ok(if is_turned { leaving.saturating_mul(2).max(self.arcs().div_ceil(ranks as u64)) } else { leaving })
            }
            None => Ok(self.arcs().div_ceil(ranks as u64)),
        }
    }
}
