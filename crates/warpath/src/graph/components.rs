//! Connected components: which vertices reach each other.
//!
//! *Strongly* connected components (paths both ways) are found by Tarjan's depth-first search in the form that Pearce
//! gave it: one array of integers serves as visiting index, as low link and, in the end, as component number, so that
//! a vertex costs 4 bytes beside the stacks. It is sequential, O(V + E), and keeps its own stack: a path of a billion
//! vertices is no deeper than any other graph. Components come out in reverse topological order, which is what
//! transitive closure over the condensation wants.
//!
//! *Weakly* connected components (directions ignored) are found by a parallel union-find without locks: a root is
//! hooked under a smaller root by compare-and-swap, so that each tree ends up rooted in its least vertex and the
//! answer is the same whatever the threads do. On undirected graphs it first links only the first two neighbours of
//! each vertex; by then nearly all of a large component is one tree, and its vertices need not look at their other
//! arcs, since each such arc is seen from its other end too (Afforest). Work is O(V + E) times a small factor.
//!
//! Sources: R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1972; D. Pearce, A
//! space-efficient algorithm for finding strongly connected components, Inf. Process. Lett. 2016; M. Sutton,
//! T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity computation via subgraph sampling, IPDPS 2018.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rayon::prelude::*;

use super::{Csr, Graph, VertexId};
use crate::{Control, Plan, Result, memory};

/// A partition of the vertices into components.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// The component of each vertex, from 0.
    pub of: Vec<u32>,
    /// Number of components.
    pub count: usize,
}

impl Components {
    /// [`strongly_connected_components`], with a control handle that hears of progress and may cancel the search.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) or [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn strong(graph: &Graph, control: &Control) -> Result<Self> {
        find_strong(graph.csr(), control)
    }

    /// [`weakly_connected_components`], with a control handle that hears of progress and may cancel the search.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) or [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn weak(graph: &Graph, control: &Control) -> Result<Self> {
        find_weak(graph, control)
    }

    /// Plans the memory for the components of a graph and their sizes, strong or weak: as much as the worst graph takes. One without long paths takes 16 bytes a vertex for
    /// strong components.
    pub fn plan(graph: &Graph, strong: bool) -> Plan {
        let vertices = graph.vertices() as u64;
        let mut plan = Plan::new();
        plan.memory("components of vertices", 4 * vertices);
        if strong {
            plan.memory("the stack of vertices", 4 * vertices);
            // A path of all vertices, whose memory is copied to twice as much as it grows.
            plan.memory("the path of the search", 3 * size_of::<Visit>() as u64 * vertices);
        }
        plan.memory("sizes of components", 8 * vertices);
        plan
    }

    /// The number of vertices of each component, in O(V).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn sizes(&self) -> Result<Vec<u64>> {
        let mut sizes = memory::zeroed("the sizes of components", self.count)?;
        for &component in &self.of {
            sizes[component as usize] += 1;
        }
        Ok(sizes)
    }

    /// The component with most vertices, the first if several are largest; `None` without vertices.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn largest(&self) -> Result<Option<u32>> {
        let sizes = self.sizes()?;
        let largest = (0..self.count).max_by_key(|&component| (sizes[component], std::cmp::Reverse(component)));
        Ok(largest.map(|component| component as u32))
    }
}

/// The strongly connected components, numbered in reverse topological order: an arc from component `a` to another
/// component `b` has `a > b`, so component 0 has no way out. In an undirected graph they are the connected components.
///
/// Sequential, O(V + E) time; beside the answer 4 bytes a vertex, and 24 to 72 for each on the longest path of the depth-first search.
///
/// ```
/// use warpath::graph::{Graph, strongly_connected_components};
/// let graph = Graph::from_edges([(0, 1), (1, 0), (1, 2), (2, 3), (3, 2)])?;
/// assert_eq!(strongly_connected_components(&graph)?.of, [1, 1, 0, 0]);
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn strongly_connected_components(graph: &Graph) -> Result<Components> {
    Components::strong(graph, &Control::default())
}

/// The stage that a control handle hears of.
const STAGE: &str = "components";

fn find_strong(csr: &Csr, control: &Control) -> Result<Components> {
    /// Vertices that are entered between two looks at the control handle.
    const SOME: u64 = 1 << 16;
    let vertices = csr.vertices();
    let mut entered = 0_u64;
    // 0 is unvisited. A vertex on the path or waiting for its component has the least index it is known to reach,
    // counted from 1 upwards; a finished one has its component, counted from `vertices` downwards. Indices are taken
    // back as components finish, so those below are always less than those from above.
    const UNVISITED: u32 = 0;
    let mut state: Vec<u32> = memory::zeroed("the components of vertices", vertices)?;
    let mut index = 1;
    let mut component = vertices as u32;
    // The path of the search, each vertex with its next arc and whether it may still be the root of its component.
    let mut path: Vec<Visit> = Vec::new();
    // Vertices left by the search whose component is not finished.
    let mut waiting: Vec<VertexId> = memory::with_capacity("the stack of vertices", vertices)?;
    for start in 0..vertices as VertexId {
        if state[start as usize] != UNVISITED {
            continue;
        }
        let mut enter = Some(start);
        loop {
            if let Some(vertex) = enter.take() {
                state[vertex as usize] = index;
                index += 1;
                entered += 1;
                if entered.is_multiple_of(SOME) {
                    control.progress(STAGE, entered, vertices as u64)?;
                }
                memory::grow("the path of the search", &mut path, 1)?;
                path.push(Visit { vertex, next: csr.row(vertex).start, is_root: true });
            }
            let Some(visit) = path.last_mut() else { break };
            let end = csr.row(visit.vertex).end;
            let mut low = state[visit.vertex as usize];
            while visit.next < end {
                let head = csr.targets()[visit.next];
                match state[head as usize] {
                    UNVISITED => {
                        // The arc is visited again when the search returns from its head.
                        enter = Some(head);
                        break;
                    }
                    reached if reached < low => {
                        low = reached;
                        visit.is_root = false;
                    }
                    _ => {}
                }
                visit.next += 1;
            }
            let (vertex, is_root) = (visit.vertex, visit.is_root);
            state[vertex as usize] = low;
            if enter.is_some() {
                continue;
            }
            path.pop();
            if !is_root {
                waiting.push(vertex);
                continue;
            }
            index -= 1;
            while let Some(&member) = waiting.last().filter(|&&member| state[member as usize] >= low) {
                waiting.pop();
                state[member as usize] = component;
                index -= 1;
            }
            state[vertex as usize] = component;
            component -= 1;
        }
    }
    let first = vertices as u32;
    state.par_iter_mut().for_each(|component| *component = first - *component);
    Ok(Components { of: state, count: (first - component) as usize })
}

/// A vertex on the path of a depth-first search.
struct Visit {
    vertex: VertexId,
    next: usize,
    is_root: bool,
}

/// The weakly connected components (the connected components, if the graph is undirected), numbered by their least
/// vertices: component 0 is the one of vertex 0.
///
/// Parallel; nearly O(V + E) work, 4 bytes a vertex.
///
/// ```
/// use warpath::graph::{Graph, weakly_connected_components};
/// let graph = Graph::from_edges([(0, 2), (1, 3), (2, 4)])?;
/// assert_eq!(weakly_connected_components(&graph)?.of, [0, 1, 0, 1, 0]);
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn weakly_connected_components(graph: &Graph) -> Result<Components> {
    Components::weak(graph, &Control::default())
}

fn find_weak(graph: &Graph, control: &Control) -> Result<Components> {
    const SAMPLED_NEIGHBORS: usize = 2;
    let csr = graph.csr();
    let passes = if graph.is_directed() { 1 } else { 2 };
    let (done, all) = (AtomicU64::new(0), passes * csr.vertices() as u64);
    // Calls `link` on all vertices, some of them between two looks at the control handle.
    let each_vertex = |link: &(dyn Fn(VertexId) + Sync)| {
        const SOME: usize = 1 << 14;
        (0..csr.vertices().div_ceil(SOME)).into_par_iter().try_for_each(|part| {
            let part = part * SOME..csr.vertices().min((part + 1) * SOME);
            let length = part.len() as u64;
            part.for_each(|v| link(v as VertexId));
            control.progress(STAGE, done.fetch_add(length, Ordering::Relaxed) + length, all)
        })
    };
    let numbers = (0..csr.vertices()).into_par_iter().with_min_len(1 << 16);
    let forest = Forest(memory::collected("the components of vertices", numbers.map(|v| AtomicU32::new(v as u32)))?);
    let link_rest = |skipped: Option<u32>, first: usize| {
        each_vertex(&|u| {
            if skipped.is_none_or(|root| forest.parent(u) != root) {
                csr.neighbors(u).iter().skip(first).for_each(|&v| forest.link(u, v));
            }
        })
    };
    if graph.is_directed() {
        link_rest(None, 0)?;
    } else {
        each_vertex(&|u| csr.neighbors(u).iter().take(SAMPLED_NEIGHBORS).for_each(|&v| forest.link(u, v)))?;
        forest.compress();
        link_rest(forest.most_frequent_root(), SAMPLED_NEIGHBORS)?;
    }
    forest.compress();
    let mut of: Vec<u32> = forest.0.into_iter().map(AtomicU32::into_inner).collect();
    // Roots are the least of their trees, so each root is renumbered before its tree asks.
    let mut count = 0;
    for v in 0..of.len() {
        of[v] = if of[v] == v as u32 { count } else { of[of[v] as usize] };
        count += u32::from(of[v] == count);
    }
    Ok(Components { of, count: count as usize })
}

/// Union-find: each vertex points to a vertex that is not greater, a root to itself.
struct Forest(Vec<AtomicU32>);

impl Forest {
    #[inline]
    fn parent(&self, v: u32) -> u32 {
        self.0[v as usize].load(Ordering::Relaxed)
    }

    /// Makes `u` and `v` members of one tree.
    #[inline]
    fn link(&self, u: VertexId, v: VertexId) {
        let (mut a, mut b) = (self.parent(u), self.parent(v));
        while a != b {
            let (low, high) = (a.min(b), a.max(b));
            let above = self.parent(high);
            if above == low {
                return;
            }
            if above == high {
                let hooked = self.0[high as usize].compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed);
                if hooked.is_ok() {
                    return;
                }
            }
            (a, b) = (self.parent(self.parent(high)), low);
        }
    }

    /// Points every vertex to the root of its tree.
    fn compress(&self) {
        self.0.par_iter().with_min_len(1024).for_each(|slot| {
            let mut root = slot.load(Ordering::Relaxed);
            while self.parent(root) != root {
                root = self.parent(root);
            }
            slot.store(root, Ordering::Relaxed);
        });
    }

    /// The root that most vertices of an evenly spaced sample have, after [`Forest::compress`].
    fn most_frequent_root(&self) -> Option<u32> {
        const SAMPLES: usize = 1024;
        let step = (self.0.len() / SAMPLES).max(1);
        let mut roots: Vec<u32> = (0..self.0.len()).step_by(step).map(|v| self.parent(v as u32)).collect();
        roots.sort_unstable();
        roots.chunk_by(|a, b| a == b).max_by_key(|run| run.len()).map(|run| run[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Direction, GraphBuilder};
    use crate::testing::{Random, graphs_of_every_shape, size};

    /// The partition that petgraph finds, each class as its sorted members.
    fn classes(components: &Components) -> Vec<Vec<u32>> {
        let mut classes = vec![Vec::new(); components.count];
        for (v, &component) in components.of.iter().enumerate() {
            classes[component as usize].push(v as u32);
        }
        classes.sort_unstable();
        classes
    }

    fn oracle(graph: &Graph) -> petgraph::graph::DiGraph<(), ()> {
        let mut other = petgraph::graph::DiGraph::new();
        for _ in 0..graph.vertices() {
            other.add_node(());
        }
        for (u, v, _) in graph.edges() {
            other.add_edge(u.into(), v.into(), ());
        }
        other
    }

    fn random_digraphs() -> Vec<(String, Graph)> {
        let mut random = Random(7);
        (0..size(200, 3))
            .map(|round| {
                let vertices = 1 + random.below(60);
                let edges: Vec<(u32, u32)> = (0..random.below(2 * vertices))
                    .map(|_| (random.below(vertices) as u32, random.below(vertices) as u32))
                    .collect();
                (format!("random {round}"), GraphBuilder::new().vertices(vertices).build_from(edges).unwrap())
            })
            .collect()
    }

    #[test]
    fn strong_components_are_those_of_petgraph_in_reverse_topological_order() {
        for (name, graph) in graphs_of_every_shape::<u32>(1).into_iter().chain(random_digraphs()) {
            let found = strongly_connected_components(&graph).unwrap();
            let mut expected: Vec<Vec<u32>> = petgraph::algo::tarjan_scc(&oracle(&graph))
                .into_iter()
                .map(|class| {
                    let mut class: Vec<u32> = class.into_iter().map(|v| v.index() as u32).collect();
                    class.sort_unstable();
                    class
                })
                .collect();
            expected.sort_unstable();
            assert_eq!(classes(&found), expected, "{name}");
            assert!(graph.edges().all(|(u, v, _)| found.of[u as usize] >= found.of[v as usize]), "{name}");
        }
    }

    #[test]
    fn weak_components_are_those_of_petgraph_numbered_by_least_vertex() {
        for threads in size(1..4, 2..3) {
            let team = crate::team::Team::new(threads).unwrap();
            for (name, graph) in graphs_of_every_shape::<u32>(2).into_iter().chain(random_digraphs()) {
                let found = team.install(|| weakly_connected_components(&graph)).unwrap();
                assert_eq!(found.count, petgraph::algo::connected_components(&oracle(&graph)), "{name}");
                assert!(graph.edges().all(|(u, v, _)| found.of[u as usize] == found.of[v as usize]), "{name}");
                let firsts: Vec<u32> = (0..found.count as u32)
                    .map(|component| found.of.iter().position(|&c| c == component).expect("none is empty") as u32)
                    .collect();
                assert!(firsts.is_sorted(), "{name}");
            }
        }
    }

    #[test]
    fn a_path_of_a_million_vertices_needs_no_deep_stack() {
        let vertices = size(1_000_000, 200);
        let path: Vec<(u32, u32)> = (1..vertices).map(|v| (v - 1, v)).collect();
        let graph = Graph::from_edges(path.iter().copied()).unwrap();
        let strong = strongly_connected_components(&graph).unwrap();
        assert_eq!(strong.count, vertices as usize);
        assert!(strong.of.iter().rev().copied().eq(0..vertices));
        assert_eq!(weakly_connected_components(&graph).unwrap().count, 1);
        let cycle = Graph::from_edges(path.into_iter().chain([(vertices - 1, 0)])).unwrap();
        assert_eq!(strongly_connected_components(&cycle).unwrap().count, 1);
    }

    #[test]
    fn a_search_ends_soon_after_it_is_cancelled() {
        let vertices = size(300_000, 70_000);
        let path: Vec<(u32, u32)> = (1..vertices).map(|v| (v - 1, v)).collect();
        let directed = Graph::from_edges(path).unwrap();
        let undirected = directed.clone().with_direction(Direction::Undirected).unwrap();
        for graph in [directed, undirected] {
            for find in [Components::strong, Components::weak] {
                // The first news of progress comes while there is work left.
                let slot = std::sync::Arc::new(std::sync::OnceLock::<(u64, u64)>::new());
                let control = Control::new();
                let (cancelled, first) = (control.clone(), slot.clone());
                let control = control.watched_by(move |progress| {
                    first.get_or_init(|| (progress.done, progress.total));
                    cancelled.cancel();
                });
                assert!(matches!(find(&graph, &control), Err(crate::Error::Interrupted)));
                let (done, all) = *slot.get().expect("there was news");
                assert!(done > 0 && done < all, "{done} of {all}");
            }
        }
    }

    #[test]
    fn sizes_and_the_largest() {
        let graph =
            GraphBuilder::new().vertices(6).direction(Direction::Undirected).build_from([(1, 3), (2, 4)]).unwrap();
        let components = weakly_connected_components(&graph).unwrap();
        assert_eq!(components.sizes().unwrap(), [1, 2, 2, 1]);
        assert_eq!(components.largest().unwrap(), Some(1));
        assert_eq!(Components { of: Vec::new(), count: 0 }.largest().unwrap(), None);
    }
}
