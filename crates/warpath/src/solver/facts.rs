//! Facts about a graph, found once, when a decision first needs them. Each takes a pass over the graph, or a sample of
//! it.

use std::collections::HashMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use super::Solver;
use super::costs::{in_words, several_pay};
use crate::algorithms::{GraphFacts, Parameters, Workload};
use crate::cuda::bfs::BfsAlgorithm;
use crate::cuda::peers::company::Company;
use crate::cuda::regions::LAYOUTS;
use crate::cuda::sssp::SsspAlgorithm;
use crate::graph::{Graph, VertexId, Weights};
use crate::{Bytes, Plan, Result, memory};

/// The facts that are known.
#[derive(Debug, Default)]
pub(super) struct Facts {
    narrow_is_certain: OnceLock<bool>,
    graph: OnceLock<GraphFacts>,
    reached: OnceLock<f64>,
    symmetric: OnceLock<bool>,
    /// Breadth-first searches that did without the arcs by head, which would have served them.
    pub(super) without_arcs_by_head: AtomicU32,
    /// Algorithms for breadth-first searches on a device.
    pub(super) bfs: Known<BfsAlgorithm>,
    /// Algorithms for shortest-path searches on a device.
    pub(super) sssp: Known<SsspAlgorithm>,
}

/// An algorithm of the CUDA engine for one graph.
#[derive(Debug)]
pub(super) struct OnDevice<A: 'static> {
    /// The algorithm, with parameters, as text.
    pub(super) name: String,
    /// Why this algorithm.
    pub(super) reason: String,
    pub(super) algorithm: &'static A,
    pub(super) parameters: Parameters,
    /// The memory that it takes.
    pub(super) plan: Plan,
}

/// Algorithms of the CUDA engine for one graph, by the text that was asked for; `None` stands for the algorithm
/// predicted fastest.
#[derive(Debug)]
pub(super) struct Known<A: 'static>(Mutex<HashMap<Option<String>, Arc<OnDevice<A>>>>);

impl<A> Default for Known<A> {
    fn default() -> Self {
        Known(Mutex::default())
    }
}

impl<A> Known<A> {
    /// The algorithm that was asked for, found by `find` if it is not known.
    pub(super) fn get(
        &self,
        asked: Option<&str>,
        find: impl FnOnce() -> Result<OnDevice<A>>,
    ) -> Result<Arc<OnDevice<A>>> {
        let asked = asked.map(str::to_owned);
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&asked) {
            return Ok(found.clone());
        }
        // No lock is held while this samples the graph; at worst two threads do it.
        let found = Arc::new(find()?);
        known().insert(asked, found.clone());
        Ok(found)
    }
}

impl Facts {
    /// Those that do not depend on weights.
    pub(super) fn without_weights(&self) -> Self {
        Facts { graph: self.graph.clone(), reached: self.reached.clone(), ..Default::default() }
    }
}

impl Solver {
    /// Whether no distance can leave the narrow semiring: a path leaves each vertex once at most, by its heaviest arc
    /// at worst.
    pub(super) fn narrow_is_certain(&self) -> bool {
        let Weights::U32(weights) = self.graph.weights() else { return false };
        let limit = u64::from(u32::MAX);
        once(&self.facts.narrow_is_certain, || {
            // Mostly all weights together are few enough, which is sooner seen.
            const CHUNK: usize = 1 << 16;
            let mut sums = weights.chunks(CHUNK).map(|some| some.iter().copied().map(u64::from).sum::<u64>());
            if sums.try_fold(0_u64, |all, sum| Some(all + sum).filter(|&all| all < limit)).is_some() {
                return true;
            }
            let heaviest = |v: VertexId| weights[self.graph.csr().row(v)].iter().max().copied().map_or(0, u64::from);
            let vertices = 0..self.graph.vertices() as VertexId;
            let bound: u64 = self.team.install(|| vertices.into_par_iter().with_min_len(4096).map(heaviest).sum());
            bound < limit
        })
    }

    /// Whether every arc has its reverse of the same weight, so that distances to a vertex are those from it. Looks at each arc once at most.
    pub(super) fn is_symmetric(&self) -> bool {
        !self.graph.is_directed() || once(&self.facts.symmetric, || self.graph.csr().is_symmetric())
    }

    /// The facts about the graph, without its weights.
    pub(super) fn graph_facts(&self) -> GraphFacts {
        once(&self.facts.graph, || GraphFacts::without_weights(&self.graph))
    }

    /// The facts about the graph and its weights.
    pub(super) fn weighted_facts(&self) -> GraphFacts {
        self.graph_facts().with_weights_of(&self.graph)
    }

    /// The share of the vertices that a search from a random vertex reaches: 1 in an undirected graph, and the mean of a sample in
    /// a directed one. Looks at each vertex and arc some three times at most.
    pub(super) fn reached_share(&self) -> f64 {
        once(&self.facts.reached, || {
            if self.graph.is_directed() { sample_reached(&self.graph).unwrap_or(1.0) } else { 1.0 }
        })
    }

    /// Whether [`Solver::reached_share`] needs no look.
    pub(super) fn knows_reached_share(&self) -> bool {
        !self.graph.is_directed() || self.facts.reached.get().is_some()
    }

    /// The work of an algorithm on a graph with these facts: this many searches, on the solver's threads.
    pub(super) fn workload<'a>(&self, graph: GraphFacts, parameters: &'a Parameters, searches: usize) -> Workload<'a> {
        Workload { graph, parameters, searches, threads: self.team.threads() }
    }
}

impl Solver {
    /// Why several devices that share the graph pay, if they are predicted to need fewer seconds than one and have the memory.
    pub(super) fn pays_together<A>(
        &self,
        (alone, seconds_alone): (&OnDevice<A>, f64),
        (together, seconds_together): (&OnDevice<A>, f64),
        devices: usize,
    ) -> Option<String> {
        let fits = self.has_room_for(&together.plan) && self.has_room_for(&alone.plan);
        (fits && several_pay(seconds_alone, seconds_together, 0)).then(|| {
            let (alone, together) = (in_words(seconds_alone), in_words(seconds_together));
            format!("{together} are predicted on {devices} GPUs together, {alone} on one")
        })
    }

    /// The algorithm, if the device has the memory for it, else the first of these layouts of another one that fits, or the last; and
    /// why.
    pub(super) fn that_fits<A>(
        &self,
        chosen: Arc<OnDevice<A>>,
        layouts: &[&str],
        find: impl Fn(&str) -> Result<Arc<OnDevice<A>>>,
    ) -> Result<(Arc<OnDevice<A>>, String)> {
        let (needed, devices) = (chosen.plan.device_bytes(), chosen.plan.devices());
        let (mut reason, mut fitting) = (chosen.reason.clone(), chosen.clone());
        for layout in layouts {
            if self.has_room_for(&fitting.plan) {
                break;
            }
            let available = self.allowed_on_each_of(devices)?;
            reason =
                format!("`{}` takes {} on the device, which gives {}", chosen.name, Bytes(needed), Bytes(available));
            fitting = find(layout)?;
        }
        Ok((fitting, reason))
    }
}

/// Whether the text names the search region by region.
pub(super) fn is_by_regions(algorithm: &str) -> bool {
    algorithm.split(':').next() == Some(LAYOUTS[0])
}

/// The layouts of a search region by region, for one device or for so many that share the regions: with all records on one, on all, with ever fewer on
/// one, and on all.
pub(super) fn layouts_of_regions(company: Company) -> Vec<String> {
    let (all, fewer) = LAYOUTS.split_at(1);
    let alone = |layouts: &[&str]| layouts.iter().map(|&layout| layout.to_owned()).collect::<Vec<_>>();
    let shared = |layouts: &[&str]| {
        let layouts = layouts.iter().filter(|_| company.devices > 1);
        layouts.map(|layout| company.text(layout)).collect::<Vec<_>>()
    };
    [alone(all), shared(all), alone(fewer), shared(fewer)].concat()
}

/// The mean share of the vertices that is reached from vertices spread over the graph: from at most 256 of them, until twice as much
/// as the graph has was looked at.
fn sample_reached(graph: &Graph) -> Result<f64> {
    const SAMPLES: u16 = 256;
    /// Its multiples are spread evenly.
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    let vertices = graph.vertices();
    let enough = 2 * (vertices + graph.arcs());
    let mut seen_by = memory::filled("marks of vertices", vertices, u16::MAX)?;
    let mut queue: Vec<VertexId> = memory::with_capacity("a queue of vertices", vertices)?;
    let (mut work, mut reached, mut samples) = (0, 0, 0_u32);
    for sample in (0..SAMPLES).take(vertices) {
        if work >= enough {
            break;
        }
        let source =
            ((u128::from((u64::from(sample) + 1).wrapping_mul(GOLDEN_RATIO)) * vertices as u128) >> 64) as VertexId;
        queue.clear();
        queue.push(source);
        seen_by[source as usize] = sample;
        let mut next = 0;
        while let Some(&u) = queue.get(next) {
            next += 1;
            work += 1 + graph.neighbors(u).len();
            for &v in graph.neighbors(u) {
                if std::mem::replace(&mut seen_by[v as usize], sample) != sample {
                    queue.push(v);
                }
            }
        }
        reached += queue.len();
        samples += 1;
    }
    Ok(if samples == 0 { 1.0 } else { reached as f64 / f64::from(samples) / vertices as f64 })
}

/// The fact, found now if it is not known. No thread waits for another one that is finding it.
fn once<T: Copy>(fact: &OnceLock<T>, find: impl FnOnce() -> T) -> T {
    match fact.get() {
        Some(&known) => known,
        None => {
            let found = find();
            *fact.get_or_init(|| found)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::device::testing::devices;
    use crate::graph::{Direction, GraphBuilder};
    use crate::solver::Search;
    use crate::{Bfs, Distance, Engine, Error, Sssp, cuda};

    #[test]
    fn a_sample_tells_what_searches_reach() {
        let share = |arcs: Vec<(VertexId, VertexId)>| sample_reached(&Graph::from_edges(arcs).unwrap()).unwrap();
        // From a line's middle half of it, from a leaf of a star nothing but itself, along a cycle all.
        assert!((0.2..0.8).contains(&share((0..999).map(|v| (v, v + 1)).collect())));
        assert!(share((1..1000).map(|leaf| (0, leaf)).collect()) < 0.01);
        assert_eq!(share((0..1000).map(|v| (v, (v + 1) % 1000)).collect()), 1.0);
        assert_eq!(share(Vec::new()), 1.0);
    }

    /// With ever less memory on the device searches keep ever less there, and find the same. With less than that they don't begin.
    fn searches_keep_what_fits<S: Search + Clone>(
        graph: &Graph,
        request: &S,
        with: impl Fn(&S, &str) -> S,
        layouts: &[&str],
    ) {
        let name = layouts[0].split(':').next().unwrap();
        let cpu = Solver::builder(graph.clone()).threads(1).engine(Engine::Cpu).open().unwrap();
        let expected = cpu.solve(request.clone()).unwrap();
        for device in devices(3) {
            let open = |memory: u64| {
                Solver::builder(graph.clone()).threads(1).device(device.clone()).memory(memory).open().unwrap()
            };
            let all = open(u64::MAX);
            let chosen = all.decide(request).unwrap();
            assert!(!chosen.algorithm().starts_with(name));
            let bytes_of = |layout: &str| all.decide(&with(request, layout)).unwrap().plan().device_bytes();
            assert!(layouts.is_sorted_by_key(|layout| std::cmp::Reverse(bytes_of(layout))));
            // The first of those that take as much is taken.
            let mut layouts = layouts.to_vec();
            layouts.dedup_by_key(|layout| bytes_of(layout));
            layouts.retain(|layout| bytes_of(layout) < chosen.plan().device_bytes());
            assert!(layouts.len() >= 3);
            for (index, layout) in layouts.iter().enumerate() {
                for request in [request.clone(), with(request, name)] {
                    let solver = open(bytes_of(layout));
                    let decision = solver.decide(&request).unwrap();
                    // Who asks for the algorithm gets it as it is by default, if that fits.
                    let asked = decision.reason() == "asked for";
                    assert_eq!(decision.algorithm(), if asked { name } else { layout });
                    let tree = solver.solve(request).unwrap();
                    assert_eq!(tree.report().algorithm, name);
                    assert_eq!(tree.report().device_bytes, bytes_of(decision.algorithm()));
                    assert_eq!(tree.distances(), expected.distances());
                    assert_eq!(tree.predecessors(), expected.predecessors());
                }
                if index == 0 {
                    let decision = open(bytes_of(layout)).decide(request).unwrap();
                    assert!(decision.reason().contains(" on the device, which gives "), "{}", decision.reason());
                }
            }
            let least = bytes_of(layouts[layouts.len() - 1]);
            match open(least - 1).solve(with(request, layouts[layouts.len() - 1])) {
                Err(Error::OutOfMemory { needed, available, .. }) => {
                    assert_eq!((needed, available), (least, least - 1))
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn searches_keep_on_the_device_what_it_has_room_for() {
        let edges = (0..4000_u32).map(|k| (k * 7919 % 1301, k * k % 997, 1 + k % 250));
        let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
        let by_weights = |request: &Sssp, layout: &str| request.clone().algorithm(layout);
        let breadth_first = |request: &Bfs, layout: &str| request.clone().algorithm(layout);
        searches_keep_what_fits(&graph, &Sssp::from(5), by_weights, &cuda::sssp::zero_copy::LAYOUTS);
        searches_keep_what_fits(&graph, &Bfs::from(5), breadth_first, &cuda::bfs::zero_copy::LAYOUTS);
        // What `multi-hop` prepares needs more than the graph.
        let roads = crate::generate("roads:4100,weights=1..100").unwrap();
        searches_keep_what_fits(&roads, &Sssp::from(5), by_weights, &cuda::regions::LAYOUTS);
        searches_keep_what_fits(&roads, &Bfs::from(5), breadth_first, &cuda::regions::LAYOUTS);
    }

    /// A search that another program leaves too little memory, once it is decided on, keeps less on the device.
    #[cfg(emulator)]
    #[test]
    fn less_memory_than_was_decided_on_takes_another_layout() {
        use crate::cuda::device::Device;
        use crate::cuda::device::emulator::Emulator;
        use crate::cuda::device::memory::Pool;
        use crate::solver::Request;

        let edges = (0..4000_u32).map(|k| (k * 7919 % 1301, k * k % 997, 1 + k % 250));
        let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
        let request = Bfs::from(5);
        let cpu = Solver::builder(graph.clone()).threads(1).engine(Engine::Cpu).open().unwrap();
        let expected = cpu.solve(request.clone()).unwrap();
        let device: Arc<dyn Device> = Arc::new(Emulator::new(3));
        let solver = Solver::builder(graph).threads(1).device(device.clone()).open().unwrap();
        let decision = request.decide(&solver, None).unwrap();
        let _taken = Pool::new(&device, device.free_bytes().unwrap() - decision.plan.device_bytes() + 1).unwrap();
        let error = solver.check_plan(&decision.plan).unwrap_err();
        let again = request.decide_again(&solver, None, &decision, error).unwrap();
        assert!(again.algorithm().starts_with("zero-copy"), "{}", again.algorithm());
        assert!(again.reason().contains(" on the device, which gives "), "{}", again.reason());
        let tree = request.clone().run(&solver, &solver.team, &again).unwrap();
        assert_eq!(tree.distances(), expected.distances());
        // Nothing takes less than the last layout, and no memory on the host is a matter of layouts.
        let smallest = Bfs::from(5).algorithm(*cuda::bfs::zero_copy::LAYOUTS.last().unwrap());
        let decision = smallest.decide(&solver, None).unwrap();
        let refused = || Error::OutOfMemory { what: "it".into(), needed: 2, available: 1 };
        assert!(matches!(
            smallest.decide_again(&solver, None, &decision, refused()),
            Err(Error::OutOfMemory { needed: 2, .. })
        ));
    }

    #[test]
    fn distances_that_the_device_has_no_room_for_are_an_error() {
        let graph = Graph::from_edges((0..4_u32).map(|v| (v, v + 1, 3_000_000_000_u32))).unwrap();
        for device in devices(4) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            let solve = |algorithm: &str| solver.solve(Sssp::from(0).algorithm(algorithm));
            assert_eq!(solve("zero-copy").unwrap().distance(4), Some(Distance::Unsigned(12_000_000_000)));
            match solve("zero-copy:distances=32") {
                Err(Error::OutOfMemory { what, needed, available }) => {
                    assert_eq!((&*what, needed, available), ("distances of 64 bits on the device", 40, 20));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
