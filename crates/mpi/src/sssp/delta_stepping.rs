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
//! Work O(V + E) if delta is small beside the weights, and more where distances in a bucket are corrected; two meetings a round, three
//! if a hub came nearer.
//!
//! Sources: U. Meyer, P. Sanders, Delta-stepping: a parallelizable shortest path algorithm, J. Algorithms 49, 2003; V. Chakaravarthy
//! et al., Scalable single source shortest path algorithms for massively parallel systems, IPDPS 2014.

use mpi::datatype::Equivalence;
use warpath::Result;
use warpath::graph::{DistanceValue, MinPlus, Weight, WeightKind};

use super::buckets::{Buckets, NOTHING};
use crate::algorithm::RankAlgorithm;
use crate::allocation::{filled, with_capacity};
use crate::graph::PartOfGraph;
use crate::words::{pull, push, words_of};
use crate::world::{Outcome, Reduction, World};

pub(super) const INFO: RankAlgorithm = RankAlgorithm {
    name: "delta-stepping",
    source: "Meyer and Sanders 2003; Chakaravarthy et al. 2014, with hubs as in Pearce et al. 2014",
    undirected_only: false,
};

/// Distances of all vertices with state but ghosts, from the sources on. The rows are reordered: light arcs first.
/// `delta` is above 0; a width that fits the graph if there is none. Also returns the width.
pub(crate) fn search<L: MinPlus>(
    world: &World,
    graph: &mut PartOfGraph<L::Weight>,
    sources: &[u64],
    delta: Option<f64>,
) -> Outcome<(Vec<L::Distance>, f64)>
where
    <L::Distance as DistanceValue>::Key: Equivalence,
{
    let delta = delta.unwrap_or_else(|| choose_delta(world, graph));
    let has_heavy = graph.weight_range().1 > delta;
    let heavy = world.agree(put_light_arcs_first(graph, delta))?;
    let mut search = world.agree(Search::<L>::new(graph, &heavy, delta, sources))?;
    let mut bucket = world.reduce(Reduction::Least, search.buckets.lowest());
    while bucket != NOTHING {
        search.relax_light(bucket);
        let mut met = search.meet(world)?;
        if met.hubs_came_nearer || met.lowest == bucket {
            continue;
        }
        if has_heavy {
            search.relax_heavy();
            met = search.meet(world)?;
        } else {
            search.leave_bucket();
        }
        // A hub may have come into a lower bucket after the ranks met.
        bucket =
            if met.hubs_came_nearer { world.reduce(Reduction::Least, search.buckets.lowest()) } else { met.lowest };
    }
    let mut distances = search.distances;
    distances.truncate(graph.rows());
    Ok((distances, delta))
}

/// What the ranks know after they met.
struct Met {
    /// The lowest bucket that holds anything on any rank, or [`NOTHING`].
    lowest: u64,
    hubs_came_nearer: bool,
}

/// On one rank a width as on one machine: about 1 % of a weight at 30 arcs a vertex, a few weights at 2 or 3. Several ranks meet at
/// least once a bucket, so they take wider ones.
fn choose_delta<W: Weight>(world: &World, graph: &PartOfGraph<W>) -> f64 {
    const WIDER: f64 = 8.0;
    let (least, greatest) = graph.weight_range();
    let degree = (graph.arcs() as f64 / graph.vertices().max(1) as f64).max(1.0);
    let wider = if world.ranks() > 1 { WIDER } else { 1.0 };
    // The middle of the range, since no rank knows the median.
    let delta = (least + greatest) / 2.0 * 40.0 / degree.powf(2.5) * wider;
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
    /// The vertices whose light arcs were relaxed in this bucket, and a mark for each vertex that is among them.
    settled: Vec<u32>,
    is_settled: Vec<bool>,
    /// The ghosts that came nearer since they were last sent, each once, and a mark for each ghost that is among them.
    nearer_ghosts: Vec<u32>,
    is_nearer: Vec<bool>,
    hubs_came_nearer: bool,
    /// Room for the keys of the distances of hubs.
    hub_keys: Vec<<L::Distance as DistanceValue>::Key>,
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
            is_settled: filled("marks of vertices", graph.rows(), false)?,
            nearer_ghosts: Vec::new(),
            is_nearer: filled("marks of ghosts", graph.ghosts(), false)?,
            hubs_came_nearer: false,
            hub_keys: with_capacity("distances of hubs", graph.hubs())?,
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
                if !std::mem::replace(&mut self.is_settled[v], true) {
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
        self.leave_bucket();
    }

    /// Forgets which vertices were settled.
    fn leave_bucket(&mut self) {
        for vertex in self.settled.drain(..) {
            self.is_settled[vertex as usize] = false;
        }
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
    fn meet(&mut self, world: &World) -> Outcome<Met>
    where
        <L::Distance as DistanceValue>::Key: Equivalence,
    {
        let exchanged = self.exchange(world);
        let mut least = [u64::from(exchanged.is_ok()), u64::from(!self.hubs_came_nearer), self.buckets.lowest()];
        world.reduce_all(Reduction::Least, &mut least);
        if least[0] == 0 {
            world.agree(exchanged)?;
        }
        let met = Met { lowest: least[2], hubs_came_nearer: least[1] == 0 };
        if met.hubs_came_nearer {
            self.hubs_came_nearer = false;
            self.reduce_hubs(world);
        }
        Ok(met)
    }

    /// Gives each hub the least distance that any rank found for it.
    fn reduce_hubs(&mut self, world: &World)
    where
        <L::Distance as DistanceValue>::Key: Equivalence,
    {
        let hubs = self.graph.owned_count()..self.graph.rows();
        self.hub_keys.clear();
        self.hub_keys.extend(self.distances[hubs.clone()].iter().map(|distance| distance.key()));
        world.reduce_all(Reduction::Least, &mut self.hub_keys);
        for (hub, index) in hubs.zip(0..) {
            let distance = L::Distance::from_key(self.hub_keys[index]);
            if distance < self.distances[hub] {
                self.distances[hub] = distance;
                self.buckets.put(self.buckets.of(distance), hub as u32);
            }
        }
    }

    fn exchange(&mut self, world: &World) -> Result<()> {
        let words = 1 + words_of::<L::Distance>();
        let mut outgoing: Vec<Vec<u32>> = vec![Vec::new(); world.ranks()];
        for ghost in self.nearer_ghosts.drain(..) {
            let ghost = ghost as usize;
            self.is_nearer[ghost - self.graph.rows()] = false;
            let (owner, number) = self.graph.home_of(ghost);
            outgoing[owner].push(number);
            push(&mut outgoing[owner], self.distances[ghost]);
        }
        for message in world.exchange(Ok(outgoing))?.words.chunks_exact(words) {
            let (vertex, distance) = (message[0] as usize, pull::<L::Distance>(&message[1..]));
            if distance < self.distances[vertex] {
                self.come_nearer(vertex, distance);
            }
        }
        Ok(())
    }
}
