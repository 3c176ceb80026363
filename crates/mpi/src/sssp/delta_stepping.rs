//! Delta-stepping: vertices are settled bucket by bucket, all ranks in the same bucket.
//!
//! A bucket holds the vertices whose tentative distances lie in an interval of width delta. Each rank relaxes the light arcs, those
//! of weight up to delta, of its vertices in the bucket, and goes on with what falls into the bucket until its own part is empty.
//! Then it sends the ghosts that came nearer to their owners: one word and the distance each, however often a ghost came nearer.
//! When no rank has a vertex in the bucket any more, every rank relaxes the heavy arcs of the vertices that it settled there.
//!
//! A rank remembers the least distance that it knows of each ghost, and sends nothing that is not less. Hubs have state on all
//! ranks, and each rank relaxes those of their arcs that it has; after a round in which a hub came nearer anywhere, the ranks reduce
//! the distances of hubs.
//!
//! Distances are the least over walks of lengths rounded from left to right, as on one machine, bit by bit: see `ARCHITECTURE.md`.
//!
//! Work O(V + E) if delta is small beside the weights, and more where distances in a bucket are corrected; two or three meetings a
//! round.
//!
//! Sources: U. Meyer, P. Sanders, Delta-stepping: a parallelizable shortest path algorithm, J. Algorithms 49, 2003; V. Chakaravarthy
//! et al., Scalable single source shortest path algorithms for massively parallel systems, IPDPS 2014.

use mpi::datatype::Equivalence;
use warpath::Result;
use warpath::graph::{DistanceValue, MinPlus, Weight, WeightKind};

use super::buckets::Buckets;
use crate::allocation::{filled, with_capacity};
use crate::bfs::RankAlgorithm;
use crate::graph::{PartOfGraph, pull, push, words_of};
use crate::world::{Outcome, Reduction, World};

pub(super) const INFO: RankAlgorithm = RankAlgorithm {
    name: "delta-stepping",
    source: "Meyer and Sanders 2003; Chakaravarthy et al. 2014, with hubs as in Pearce et al. 2014",
    undirected_only: false,
};

/// Distances of all vertices with state but ghosts, from the sources on. The rows are reordered: light arcs first.
pub(crate) fn search<L: MinPlus>(
    world: &World,
    graph: &mut PartOfGraph<L::Weight>,
    sources: &[u64],
) -> Outcome<Vec<L::Distance>>
where
    <L::Distance as DistanceValue>::Key: Equivalence,
{
    let delta = choose_delta(graph);
    let heavy = world.agree(put_light_arcs_first(graph, delta))?;
    let mut search = world.agree(Search::<L>::new(graph, &heavy, delta, sources))?;
    loop {
        let bucket = world.reduce(Reduction::Least, search.buckets.lowest());
        if bucket == u64::MAX {
            break;
        }
        while world.any(search.buckets.lowest() == bucket) {
            search.relax_light(bucket);
            search.meet(world)?;
        }
        search.relax_heavy();
        search.meet(world)?;
    }
    let mut distances = search.distances;
    distances.truncate(graph.rows());
    Ok(distances)
}

/// A width of buckets as on one machine: about 1 % of a weight at 30 arcs a vertex, a few weights at 2 or 3.
fn choose_delta<W: Weight>(graph: &PartOfGraph<W>) -> f64 {
    let (least, greatest) = graph.weight_range();
    let degree = (graph.arcs() as f64 / graph.vertices().max(1) as f64).max(1.0);
    // The middle of the range, since no rank knows the median.
    let delta = (least + greatest) / 2.0 * 40.0 / degree.powf(2.5);
    let whole_numbers = !matches!(W::KIND, WeightKind::F32 | WeightKind::F64);
    if whole_numbers { delta.max(1.0) } else { delta.max(f64::MIN_POSITIVE) }
}

/// Moves arcs of weight up to delta to the front of each row; returns where the heavy ones begin.
fn put_light_arcs_first<W: Weight>(graph: &mut PartOfGraph<W>, delta: f64) -> Result<Vec<u64>> {
    let mut heavy = with_capacity("where heavy arcs begin", graph.rows())?;
    let (offsets, heads, weights) = graph.rows_mut();
    for row in offsets.windows(2) {
        let mut light = row[0] as usize;
        for arc in row[0] as usize..row[1] as usize {
            if weights[arc].to_f64() <= delta {
                heads.swap(light, arc);
                weights.swap(light, arc);
                light += 1;
            }
        }
        heavy.push(light as u64);
    }
    Ok(heavy)
}

/// The state of a search.
struct Search<'g, L: MinPlus> {
    graph: &'g PartOfGraph<L::Weight>,
    /// Where the heavy arcs of each row begin.
    heavy: &'g [u64],
    /// Tentative distances of owned vertices and hubs; of ghosts the least that this rank found.
    distances: Vec<L::Distance>,
    /// The distance with which the light arcs of a vertex were relaxed last.
    relaxed: Vec<L::Distance>,
    buckets: Buckets,
    /// The vertices whose light arcs were relaxed in this bucket.
    settled: Vec<u32>,
    /// The ghosts that came nearer since they were last sent, each once, and a mark for each ghost that is among them.
    nearer_ghosts: Vec<u32>,
    is_nearer: Vec<bool>,
    hubs_came_nearer: bool,
}

impl<'g, L: MinPlus> Search<'g, L> {
    fn new(graph: &'g PartOfGraph<L::Weight>, heavy: &'g [u64], delta: f64, sources: &[u64]) -> Result<Self> {
        let unreachable = L::Distance::UNREACHABLE;
        let mut search = Search {
            graph,
            heavy,
            distances: filled("tentative distances", graph.states(), unreachable)?,
            relaxed: filled("distances relaxed", graph.rows(), unreachable)?,
            buckets: Buckets::new(delta),
            settled: Vec::new(),
            nearer_ghosts: Vec::new(),
            is_nearer: filled("marks of ghosts", graph.ghosts(), false)?,
            hubs_came_nearer: false,
        };
        for source in sources.iter().filter_map(|&source| graph.number_of(source)) {
            search.distances[source] = L::Distance::ZERO;
            search.buckets.put(search.buckets.of(L::Distance::ZERO), source as u32);
        }
        Ok(search)
    }

    /// Empties this rank's part of a bucket, along light arcs.
    fn relax_light(&mut self, bucket: u64) {
        while self.buckets.lowest() == bucket {
            for vertex in self.buckets.take(bucket) {
                let v = vertex as usize;
                let distance = self.distances[v];
                // It was relaxed with this distance, or has moved on to a lower bucket.
                if self.relaxed[v] == distance || self.buckets.of(distance) != bucket {
                    continue;
                }
                let is_first =
                    self.relaxed[v] == L::Distance::UNREACHABLE || self.buckets.of(self.relaxed[v]) != bucket;
                if is_first {
                    self.settled.push(vertex);
                }
                self.relaxed[v] = distance;
                let light = self.graph.row(v).start..self.heavy[v] as usize;
                self.relax(distance, light);
            }
        }
    }

    /// Relaxes the heavy arcs of the vertices that were settled.
    fn relax_heavy(&mut self) {
        let settled = std::mem::take(&mut self.settled);
        for &vertex in &settled {
            let v = vertex as usize;
            let heavy = self.heavy[v] as usize..self.graph.row(v).end;
            self.relax(self.distances[v], heavy);
        }
        self.settled = settled;
        self.settled.clear();
    }

    fn relax(&mut self, distance: L::Distance, arcs: std::ops::Range<usize>) {
        let graph = self.graph;
        for (head, weight) in graph.arcs_at(arcs) {
            let through = L::extend(distance, weight);
            if through < self.distances[head] {
                self.come_nearer(head, through);
            }
        }
    }

    #[inline]
    fn come_nearer(&mut self, head: usize, distance: L::Distance) {
        self.distances[head] = distance;
        match head.checked_sub(self.graph.rows()) {
            Some(ghost) => {
                if !std::mem::replace(&mut self.is_nearer[ghost], true) {
                    self.nearer_ghosts.push(head as u32);
                }
            }
            None => {
                self.hubs_came_nearer |= head >= self.graph.owned_count();
                self.buckets.put(self.buckets.of(distance), head as u32);
            }
        }
    }

    /// Sends what came nearer to its owners, and reduces the distances of hubs if any came nearer.
    fn meet(&mut self, world: &World) -> Outcome<()>
    where
        <L::Distance as DistanceValue>::Key: Equivalence,
    {
        let exchanged = self.exchange(world);
        world.agree(exchanged)?;
        if self.graph.hubs() == 0 || !world.any(self.hubs_came_nearer) {
            return Ok(());
        }
        self.hubs_came_nearer = false;
        let hubs = self.graph.owned_count()..self.graph.rows();
        let mut keys = world.agree(crate::allocation::listed(
            "distances of hubs",
            self.distances[hubs.clone()].iter().map(|distance| distance.key()),
        ))?;
        world.reduce_all(Reduction::Least, &mut keys);
        for (hub, key) in hubs.zip(keys) {
            let distance = L::Distance::from_key(key);
            if distance < self.distances[hub] {
                self.distances[hub] = distance;
                self.buckets.put(self.buckets.of(distance), hub as u32);
            }
        }
        Ok(())
    }

    fn exchange(&mut self, world: &World) -> Result<()> {
        let words = 1 + words_of::<L::Distance>();
        let mut outgoing: Vec<Vec<u32>> = with_capacity("messages to other ranks", world.ranks())?;
        outgoing.resize(world.ranks(), Vec::new());
        for ghost in self.nearer_ghosts.drain(..) {
            let ghost = ghost as usize;
            self.is_nearer[ghost - self.graph.rows()] = false;
            let (owner, number) = self.graph.home_of(ghost);
            outgoing[owner].push(number);
            push(&mut outgoing[owner], self.distances[ghost]);
        }
        for message in world.exchange(&outgoing)?.words.chunks_exact(words) {
            let (vertex, distance) = (message[0] as usize, pull::<L::Distance>(&message[1..]));
            if distance < self.distances[vertex] {
                self.come_nearer(vertex, distance);
            }
        }
        Ok(())
    }
}
