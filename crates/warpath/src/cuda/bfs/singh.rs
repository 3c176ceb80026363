//! Breadth-first search with one thread a vertex, as Singh prints it: a record for each vertex, flags for the frontier
//! and for the visited vertices, a barrier in the kernel, and one launch a level.
//!
//! It differs from `vertex-parallel` in the launches: one a level instead of two, since the next level goes to a
//! frontier of its own. Every launch looks at every vertex: work O(V x levels + E), span O(levels x greatest degree). A
//! level costs two copies of one flag besides its launch.
//!
//! With `order=true` each expanded vertex takes a place by an atomic counter. That is what his kernel prints with
//! `printf`: levels come one after another, and the vertices of one level in any order.
//!
//! As printed, the kernel writes the frontier that it reads. Within one block its barrier keeps the two apart, and the
//! levels are right, as they are on his graphs of up to 64 vertices. From 513 vertices on there are several blocks,
//! which no barrier keeps apart, and costs can be too high: with the feature `lab` that is here too, and counts the
//! vertices that come out wrong.
//!
//! Source: Singh 2017, fig. 6 (arrays and kernel) and fig. 7 (host loop). `kernels/bfs/singh.cu` lists the repairs of
//! the kernel. Those of the host:
//!
//! - The number of blocks is compared with the most threads of a block before it is set; it is the number of vertices
//!   that has to be compared.
//! - The array of the edges is as long as there are edges, and not as there are vertices.
//! - Costs begin as infinite, as sect. 4.3 says; the figures do not show it.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::predecessors::DeviceLevels;
use super::vertex_parallel::{flags, seconds};
use super::{BfsAlgorithm, BfsTask, PreparedBfs, each_level, start};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Unset, Values};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Arcs, DeviceGraph};
use crate::cuda::kernel_header::{DeviceMutPtr, kernel_header};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "singh-bfs",
        summary: "one thread a vertex, flags for the frontier, one launch a level",
        source: "Singh 2017, fig. 6-7",
        parameters: &[ORDER],
        negative_weights: true,
        seconds,
    },
    plan,
    prepare: |device, graph, parameters| Ok(Box::new(prepare(device, graph, parameters, |_| ())?.0)),
    prepare_on_several: None,
};

/// The parameter that asks for the order.
const ORDER: Parameter = Parameter {
    name: "order",
    summary: "whether the report gets the order in which vertices are expanded: true or false",
    values: Values::Or(&Values::OneOf(&["true", "false"]), Unset::InWords(|| "false".into())),
};

kernel_header! {
    path: "bfs/singh";
    namespace: singh;
    constants {
        /// The most threads of a block.
        const MAX_THREADS_PER_BLOCK: u32 = 512;
    }

    /// A vertex.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    struct Node {
        /// The index of its first neighbor in the array of the edges.
        f_index: u32,
        /// The number of its neighbors.
        tnodes: u32,
    }
}

/// The arrays of a search.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    vertices: DeviceSlice<Node>,
    /// That of the level, and that of the next one.
    frontiers: [DeviceSlice<u8>; 2],
    visited: DeviceSlice<u8>,
    cost: DeviceSlice<u32>,
    update: DeviceSlice<u8>,
    predecessors: DeviceSlice<VertexId>,
    order: Option<Order>,
}

/// The order in which vertices are expanded.
#[derive(Debug, Clone, Copy)]
struct Order {
    vertices: DeviceSlice<VertexId>,
    /// How many there are so far.
    count: DeviceSlice<u32>,
}

fn layout(arena: &mut Arena<'_>, graph: &Graph, parameters: &Parameters) -> Arrays {
    let vertices = graph.vertices() as u64;
    Arrays {
        vertices: arena.take("records of the vertices", vertices),
        frontiers: arena.take_two(["frontier", "next frontier"], flags(vertices)),
        visited: arena.take("visited", flags(vertices)),
        cost: arena.take("costs", vertices),
        update: arena.take("flag", 1),
        predecessors: arena.take("predecessors", vertices),
        order: (parameters.word(ORDER.name) == Some("true")).then(|| Order {
            vertices: arena.take("order of the vertices", vertices),
            count: arena.take("number of the ordered", 1),
        }),
    }
}

fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
    DeviceGraph::plan(graph, |arena| layout(arena, graph, parameters))
}

/// Makes everything ready, with what another layout takes beyond.
fn prepare<A>(
    device: &Arc<dyn Device>,
    graph: &Graph,
    parameters: &Parameters,
    beyond: impl Fn(&mut Arena<'_>) -> A,
) -> Result<(Singh, A)> {
    let kernel = device.function(&images::BFS_SINGH, "bfs_singh")?;
    let offsets = graph.csr().offsets();
    let (graph, (arrays, more)) =
        DeviceGraph::upload(device, graph, |arena| (layout(arena, graph, parameters), beyond(arena)))?;
    // There are fewer than 2^32 arcs, or the upload was refused.
    graph.pool.upload_with(arrays.vertices, graph.vertices as usize, |range, nodes| {
        for (node, arcs) in nodes.iter_mut().zip(offsets[range.start..=range.end].windows(2)) {
            *node = Node { f_index: arcs[0] as u32, tnodes: (arcs[1] - arcs[0]) as u32 };
        }
    })?;
    Ok((Singh { graph, kernel, arrays }, more))
}

#[derive(Debug)]
struct Singh {
    graph: DeviceGraph,
    kernel: Function,
    arrays: Arrays,
}

impl Singh {
    /// One block with a thread for each vertex, or as many blocks of the most threads as it takes.
    fn shape(&self) -> LaunchShape {
        let vertices = self.graph.vertices;
        LaunchShape::covering(vertices.into(), vertices.clamp(1, MAX_THREADS_PER_BLOCK))
    }

    /// The host loop: launches once a level, until a launch finds nothing. Returns how often.
    fn search(
        &self,
        task: &BfsTask<'_>,
        cost: DeviceSlice<u32>,
        mut launch: impl FnMut(&LaunchShape) -> Result<()>,
    ) -> Result<u32> {
        let Arrays { frontiers: [frontier, next], visited, update, .. } = self.arrays;
        let (pool, shape) = (&self.graph.pool, self.shape());
        start(pool, cost, task.sources)?;
        [frontier, next, visited].into_iter().try_for_each(|flags| pool.fill(flags, 0))?;
        task.sources.iter().try_for_each(|&source| pool.upload(frontier.part(u64::from(source), 1), &[1]))?;
        each_level(task, |_| {
            // The flag is upside down: it says that there is nothing to do, and a thread that finds a vertex clears it.
            pool.upload(update, &[1])?;
            launch(&shape)?;
            Ok(pool.read_array(update)? == [0])
        })
    }
}

impl PreparedBfs for Singh {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let Arrays { vertices, frontiers: [mut frontier, mut next], visited, cost, update, order, .. } = self.arrays;
        let DeviceGraph { pool, targets, vertices: number_of_nodes, .. } = &self.graph;
        let (mut order_of_vertices, mut ordered) = (DeviceMutPtr::NULL, DeviceMutPtr::NULL);
        if let Some(order) = order {
            (order_of_vertices, ordered) = (order.vertices.as_mut_ptr(), order.count.as_mut_ptr());
            pool.fill(order.count, 0)?;
        }
        let levels = self.search(task, cost, |shape| {
            let arguments = arguments![
                vertices,
                *targets,
                frontier,
                next,
                visited,
                cost,
                update,
                order_of_vertices,
                ordered,
                *number_of_nodes,
            ];
            // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects: no vertex is
            // expanded twice, so that the order has room for all.
            unsafe { pool.device().launch(self.kernel, shape, arguments)? };
            std::mem::swap(&mut frontier, &mut next);
            Ok(())
        })?;
        Ok(vec![("levels", levels.into()), ("kernel_launches", levels.into())])
    }

    fn device_levels(&self) -> DeviceLevels<'_> {
        DeviceLevels::with_arcs(
            &self.graph.pool,
            self.arrays.cost,
            (Arcs::narrow(self.graph.offsets, self.graph.targets), self.arrays.predecessors),
        )
    }

    fn order(&self) -> Result<Vec<VertexId>> {
        let Some(Order { vertices, count }) = self.arrays.order else { return Ok(Vec::new()) };
        let [count] = self.graph.pool.read_array(count)?;
        self.graph.pool.read(vertices.part(0, count.into()))
    }
}

#[cfg(feature = "lab")]
pub(crate) use as_printed::AS_PRINTED;

#[cfg(feature = "lab")]
mod as_printed {
    use super::*;

    /// The line in the table of the algorithm as it is printed.
    pub(crate) const AS_PRINTED: BfsAlgorithm = BfsAlgorithm {
        info: AlgorithmInfo {
            problem: Problem::Bfs,
            name: "singh-bfs-as-printed",
            summary: "singh-bfs with the races that its paper prints: for study, its levels may be wrong",
            source: "Singh 2017, fig. 6-7, races unrepaired",
            parameters: &[],
            negative_weights: true,
            seconds,
        },
        plan,
        prepare,
        prepare_on_several: None,
    };

    fn cost(arena: &mut Arena<'_>, graph: &Graph) -> DeviceSlice<u32> {
        arena.take("costs as printed", graph.vertices() as u64)
    }

    fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
        DeviceGraph::plan(graph, |arena| (layout(arena, graph, parameters), cost(arena, graph)))
    }

    fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedBfs>> {
        let kernel = device.function(&images::BFS_SINGH, "bfs_singh_as_printed")?;
        let (repaired, cost) = super::prepare(device, graph, parameters, |arena| cost(arena, graph))?;
        Ok(Box::new(AsPrinted { repaired, kernel, cost }))
    }

    /// The printed algorithm, and the repaired one to compare with.
    #[derive(Debug)]
    struct AsPrinted {
        repaired: Singh,
        kernel: Function,
        cost: DeviceSlice<u32>,
    }

    impl PreparedBfs for AsPrinted {
        fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
            let Arrays { vertices, frontiers: [frontier, _], visited, update, .. } = self.repaired.arrays;
            let DeviceGraph { pool, targets, vertices: number_of_nodes, .. } = &self.repaired.graph;
            let levels = self.repaired.search(task, self.cost, |shape| {
                let arguments = arguments![vertices, *targets, frontier, visited, self.cost, update, *number_of_nodes];
                // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
                unsafe { pool.device().launch(self.kernel, shape, arguments) }
            })?;
            self.repaired.solve(task)?;
            let right = self.repaired.device_levels().levels()?;
            let wrong =
                self.device_levels().levels()?.iter().zip(&right).filter(|(printed, right)| printed != right).count();
            Ok(vec![("wrong_vertices", wrong as u64), ("levels", levels.into()), ("kernel_launches", levels.into())])
        }

        fn device_levels(&self) -> DeviceLevels<'_> {
            DeviceLevels { levels: self.cost, ..self.repaired.device_levels() }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cuda::device::testing::devices;
    use crate::graph::{Graph, VertexId};
    use crate::testing::Random;
    use crate::{Bfs, Engine, Solver};

    /// The graph of fig. 1.
    const FIGURE_1: [(u32, u32); 5] = [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4)];

    /// A graph that takes several blocks, with parts that no search from one vertex reaches.
    fn larger(seed: u64) -> Graph {
        let mut random = Random(seed);
        let mut any = || random.below(2500) as u32;
        Graph::from_edges((0..4000).map(|_| (any(), any()))).unwrap()
    }

    /// A path of this many levels, and further vertices that hang on it.
    fn with_levels(vertices: u32, levels: u32) -> Graph {
        let path = (1..levels).map(|v| (v - 1, v));
        Graph::from_edges(path.chain((levels..vertices).map(|v| (v % (levels - 1), v)))).unwrap()
    }

    #[test]
    fn a_level_is_one_launch_as_in_figures_8_and_9() {
        let counted =
            [(10, 5), (22, 7), (64, 13)].map(|(vertices, levels)| (with_levels(vertices, levels), levels.into()));
        for (graph, launches) in counted.into_iter().chain([(Graph::from_edges(FIGURE_1).unwrap(), 3)]) {
            for device in devices(4) {
                let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                let tree = solver.solve(Bfs::from(0).algorithm("singh-bfs")).unwrap();
                assert!(tree.report().statistics.contains(&("kernel_launches", launches)), "{:?}", tree.report());
            }
        }
    }

    #[test]
    fn levels_are_expanded_one_after_another() {
        let graphs = [Graph::from_edges(FIGURE_1).unwrap(), larger(1), larger(2)];
        for (seed, graph) in graphs.into_iter().enumerate() {
            for device in devices(seed as u64) {
                let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                // The second search begins anew.
                for source in [1, 0] {
                    let tree = solver.solve(Bfs::from(source).algorithm("singh-bfs:order=true")).unwrap();
                    tree.verify(&graph).unwrap();
                    let order = &tree.report().order;
                    let level = |v: VertexId| tree.distance(v).unwrap().to_f64();
                    assert!(order.is_sorted_by(|&a, &b| level(a) <= level(b)), "{order:?}");
                    let mut vertices = order.clone();
                    vertices.sort_unstable();
                    let reached = (0..graph.vertices() as VertexId).filter(|&v| tree.distance(v).is_some());
                    assert!(vertices.into_iter().eq(reached), "{order:?}");
                }
                let unasked = solver.solve(Bfs::from(0).algorithm("singh-bfs")).unwrap();
                assert_eq!(unasked.report().order, []);
            }
        }
    }

    #[test]
    fn several_blocks_find_the_right_levels() {
        for seed in 1..4 {
            let graph = larger(seed);
            let right = Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap().bfs(3).unwrap();
            for device in devices(seed) {
                let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                let tree = solver.solve(Bfs::from(3).algorithm("singh-bfs")).unwrap();
                assert_eq!(tree.distances(), right.distances(), "seed {seed}");
                assert_eq!(tree.predecessors(), right.predecessors(), "seed {seed}");
            }
        }
    }

    /// With one block, the printed barrier keeps levels apart. With several, what it counts as wrong is what it has
    /// wrong.
    #[cfg(feature = "lab")]
    #[test]
    fn as_printed_one_block_is_right_and_several_count_their_errors() {
        let mut random = Random(8);
        let small = Graph::from_edges((0..1500).map(|_| (random.below(512) as u32, random.below(512) as u32))).unwrap();
        assert!(small.vertices() <= 512);
        for graph in [small, larger(5)] {
            let right = Solver::builder(graph.clone()).engine(Engine::Cpu).open().unwrap().bfs(1).unwrap();
            for device in devices(6) {
                let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                let printed = solver.solve(Bfs::from(1).algorithm("singh-bfs-as-printed")).unwrap();
                let is_wrong = |v: &VertexId| printed.distance(*v) != right.distance(*v);
                let wrong = (0..graph.vertices() as VertexId).filter(is_wrong).count() as u64;
                assert!(printed.report().statistics.contains(&("wrong_vertices", wrong)), "{:?}", printed.report());
                assert!(wrong == 0 || graph.vertices() > 512, "{wrong} of one block");
            }
        }
    }
}
