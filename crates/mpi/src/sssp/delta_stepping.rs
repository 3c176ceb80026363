//! Delta-stepping: vertices are settled bucket by bucket, all ranks in the same bucket.
//!
//! A bucket holds the vertices whose tentative distances lie in an interval of width delta. Each rank relaxes the light arcs, those
//! of weight up to delta, of its vertices in the bucket, and goes on with what falls into the bucket until its own part is empty.
//! Then it sends the ghosts that came nearer to their owners: one word and the distance each, however often a ghost came nearer.
//! When no rank has a vertex in the bucket any more, every rank relaxes the heavy arcs of the vertices that it settled there. A GPU relaxes all
//! arcs of a vertex at once, and leaves none.
//!
//! A rank remembers the least distance that it knows of each ghost, and sends nothing that is not less. Most of what it would send is of no use all the same: the
//! ghost is settled, by a path that another rank found. So after the light arcs of a bucket in which many vertices were settled, on cores, their owners tell the ranks that have
//! them as ghosts, by a bit for each or by their places; no path that ends beyond the bucket is sent to these any more. Chakaravarthy et al. *prune* such messages in another way: vertices that are not
//! settled ask their neighbors.
//!
//! Hubs have state on all
//! ranks, and each rank relaxes those of their arcs that it has; after a round in which a hub came nearer anywhere, the ranks reduce
//! the distances of hubs.
//!
//! Distances are the least over walks of lengths rounded from left to right, as on one machine, bit by bit: see `ARCHITECTURE.md`.
//!
//! Work O(V + E) if delta is small beside the weights, and more where distances in a bucket are corrected; one meeting a round on cores,
//! two on GPUs, one more if a hub came nearer, another one if that was after heavy arcs, and one if ghosts are told that they are settled.
//!
//! Sources: U. Meyer, P. Sanders, Delta-stepping: a parallelizable shortest path algorithm, J. Algorithms 49, 2003; V. Chakaravarthy
//! et al., Scalable single source shortest path algorithms for massively parallel systems, IPDPS 2014.

use warpath::graph::{DistanceValue, MinPlus, Weight, WeightKind};
use warpath::parts::{PartMail, SsspPart};
use warpath::{Error, Result};

use super::buckets::{NOTHING, Width};
use super::{Local, cores, device};
use crate::algorithm::RankAlgorithm;
use crate::device::Placed;
use crate::graph::{PartOfGraph, subset};
use crate::reduced::Reduced;
use crate::world::{NEWS, Outcome, Reduction, World};

pub(super) const INFO: RankAlgorithm = RankAlgorithm {
    name: "delta-stepping",
    source: "Meyer and Sanders 2003; Chakaravarthy et al. 2014, with hubs as in Pearce et al. 2014",
    undirected_only: false,
};

/// Distances of all vertices with rows, from the sources on. `part` has the part on a device, if the search is to be there; on cores the rows
/// are reordered. `delta` is above 0; a width that fits the graph if there is none. Also returns the width.
pub(crate) fn search<L: MinPlus>(
    world: &World,
    graph: &mut PartOfGraph<L::Weight>,
    part: Option<Placed<'_, SsspPart<L>>>,
    sources: &[u64],
    delta: Option<f64>,
) -> Outcome<(Vec<L::Distance>, f64)>
where
    <L::Distance as DistanceValue>::Key: Reduced,
{
    let delta = delta.unwrap_or_else(|| width_for(graph, wider(world.ranks(), part.is_some())));
    let width = Width::new(delta);
    let (hubs, ghosts) = (graph.hubs(), graph.ghosts());
    let local = match part {
        Some(part) => device::start(part, graph, width, width_for(graph, 1.0).min(delta), sources),
        None => cores::start(graph, width, sources),
    };
    let ghosts = world.total(ghosts as u64);
    let mut search = Search::<L> { local: world.agree(local)?, mail: Mail::default(), failure: None, hubs };
    let leaves_heavy = search.local.leaves_heavy();
    let mut bucket = search.lowest(world)?;
    while bucket != NOTHING {
        let relaxed = search.local.relax_light(bucket);
        let mut met = search.meet(world, relaxed)?;
        if met.hubs_came_nearer || met.lowest == bucket {
            continue;
        }
        if met.newly_settled > 0 && met.newly_settled >= ghosts / PRUNING_SHARE {
            search.tell_settled(world, bucket);
        }
        let left = search.local.leave_bucket();
        if leaves_heavy {
            met = search.meet(world, left)?;
        } else {
            search.noted(left);
        }
        // A hub may have come into a lower bucket after the ranks met.
        bucket = if met.hubs_came_nearer { search.lowest(world)? } else { met.lowest };
    }
    Ok((world.agree(search.local.distances())?, delta))
}

/// Ghosts are told that they are settled after a bucket in which this part of them was.
pub(crate) const PRUNING_SHARE: u64 = 16;

/// What the ranks know after they met.
struct Met {
    /// The lowest bucket that holds anything on any rank, or [`NOTHING`].
    lowest: u64,
    hubs_came_nearer: bool,
    /// How many ghosts were settled in this bucket, if the ranks met after its light arcs on cores.
    newly_settled: u64,
}

/// So many times a width as on one machine.
fn width_for<W: Weight>(graph: &PartOfGraph<W>, wider: f64) -> f64 {
    let degree = graph.arcs() as f64 / graph.vertices().max(1) as f64;
    let whole_numbers = !matches!(W::KIND, WeightKind::F32 | WeightKind::F64);
    width(graph.weight_range(), degree, whole_numbers, wider)
}

/// The width of so many ranks for a graph with such weights and such an average degree.
pub(crate) fn width_of(weights: (f64, f64), degree: f64, whole_numbers: bool, ranks: usize, on_gpus: bool) -> f64 {
    width(weights, degree, whole_numbers, wider(ranks, on_gpus))
}

/// So many times a width as on one machine: about 1 % of a weight at 30 arcs a vertex, a few weights at 2 or 3.
fn width((least, greatest): (f64, f64), degree: f64, whole_numbers: bool, wider: f64) -> f64 {
    // The middle of the range, since no rank knows the median.
    let width = ((least / 2.0 + greatest / 2.0) * 40.0 / degree.max(1.0).powf(2.5) * wider).min(f64::MAX);
    if whole_numbers { width.max(1.0) } else { width.max(f64::MIN_POSITIVE) }
}

/// How many times wider buckets are than those of one machine. Several ranks meet at least once a bucket, so they take wider ones. A GPU goes through a bucket in steps of
/// its own; alone, it needs hardly more than one.
fn wider(ranks: usize, on_gpus: bool) -> f64 {
    match (ranks, on_gpus) {
        (1, false) => 1.0,
        (_, false) => 8.0,
        (1, true) => 4096.0,
        (_, true) => 64.0,
    }
}

/// What was sent and what came: memory that serves one round after another.
#[derive(Debug, Default)]
struct Mail {
    bits: PartMail,
    outgoing: PartMail,
    incoming: PartMail,
}

/// The states of a rank: it can't go on, a hub came nearer, or neither. The least of all ranks counts.
const HAS_FAILED: u64 = 0;
const HAS_HUBS: u64 = 1;
const HAS_NONE: u64 = 2;

/// A search of all ranks.
struct Search<'g, L: MinPlus> {
    local: Box<dyn Local<L> + 'g>,
    mail: Mail,
    /// Why this rank can't go on, until the ranks agree on it.
    failure: Option<Error>,
    hubs: usize,
}

impl<L: MinPlus> Search<'_, L>
where
    <L::Distance as DistanceValue>::Key: Reduced,
{
    /// The lowest bucket that holds anything on any rank.
    fn lowest(&mut self, world: &World) -> Outcome<u64> {
        Ok(self.news(world)?.lowest)
    }

    /// What the ranks know, if all could go on.
    fn news(&mut self, world: &World) -> Outcome<Met> {
        let news = self.local.news();
        let [state, lowest, _] = self.told(news);
        let mut least = [state, lowest];
        world.reduce_all(Reduction::Least, &mut least);
        self.heard(world, [least[0], least[1], 0])
    }

    /// What this rank tells: the least state and bucket of all ranks count, and the sum of what they settled.
    fn told(&mut self, news: Result<(u64, bool)>) -> [u64; NEWS] {
        let (lowest, hub_came_nearer) = self.noted(news).unwrap_or((NOTHING, false));
        let state = match (self.failure.is_some(), hub_came_nearer) {
            (true, _) => HAS_FAILED,
            (false, true) => HAS_HUBS,
            (false, false) => HAS_NONE,
        };
        [state, lowest, self.local.newly_settled()]
    }

    fn heard(&mut self, world: &World, [state, lowest, newly_settled]: [u64; NEWS]) -> Outcome<Met> {
        if state == HAS_FAILED {
            world.agree(self.failure.take().map_or(Ok(()), Err))?;
        }
        Ok(Met { lowest, hubs_came_nearer: state == HAS_HUBS, newly_settled })
    }

    /// Tells the ranks that have this rank's vertices as ghosts which of them are settled.
    fn tell_settled(&mut self, world: &World, bucket: u64) {
        let Mail { bits, outgoing, incoming } = &mut self.mail;
        let told = self.local.tell_settled(bits).and_then(|()| subset::as_messages(bits, outgoing));
        let exchanged = world.exchange_mail(told, outgoing, incoming);
        let heard = exchanged.and_then(|()| self.local.hear_settled(bucket, incoming));
        self.noted(heard);
    }

    /// Sends what came nearer to its owners, and reduces the distances of hubs if any came nearer.
    fn meet(&mut self, world: &World, relaxed: Result<()>) -> Outcome<Met> {
        let met = match self.local.linked() {
            Some(linked) => {
                let exchanged = linked.exchange(world, relaxed);
                self.noted(exchanged);
                self.news(world)?
            }
            None => self.exchange(world, relaxed)?,
        };
        if met.hubs_came_nearer {
            self.reduce_hubs(world);
        }
        Ok(met)
    }

    /// Sends what came nearer to its owners. Where a rank can tell at once what it leads to, that goes with the messages.
    fn exchange(&mut self, world: &World, relaxed: Result<()>) -> Outcome<Met> {
        let collected = relaxed.and_then(|()| self.local.collect(&mut self.mail.outgoing));
        let early = self.local.early_news();
        let is_early = early.is_some();
        let made = self.noted(collected).ok_or_else(|| Error::invalid("a rank can't go on"));
        let news = self.told(Ok(early.unwrap_or((NOTHING, false))));
        let Mail { outgoing, incoming, .. } = &mut self.mail;
        let (all, carried) = world.exchange_with_news(made, outgoing, incoming, news);
        let received = carried.and_then(|()| self.local.receive(self.mail.incoming.words()));
        self.noted(received);
        if !is_early {
            return self.news(world);
        }
        let all = all.into_iter().fold([HAS_NONE, NOTHING, 0], |all, news| {
            [all[0].min(news[0]), all[1].min(news[1]), all[2].saturating_add(news[2])]
        });
        self.heard(world, all)
    }

    /// Gives each hub the least distance that any rank found for it.
    fn reduce_hubs(&mut self, world: &World) {
        let hubs = self.hubs;
        if let Some(linked) = self.local.linked() {
            return linked.reduce_hubs(world, hubs);
        }
        let distances = self.local.hub_distances();
        let distances = self.noted(distances).unwrap_or_else(|| vec![L::Distance::UNREACHABLE; self.hubs]);
        let mut keys: Vec<_> = distances.iter().map(|distance| distance.key()).collect();
        world.reduce_all(Reduction::Least, &mut keys);
        let least: Vec<L::Distance> = keys.into_iter().map(L::Distance::from_key).collect();
        let received = self.local.receive_hubs(&least);
        self.noted(received);
    }

    /// The value, if there is one; the first error is kept.
    fn noted<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.failure.get_or_insert(error)).ok()
    }
}
