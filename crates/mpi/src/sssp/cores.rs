//! A rank's part of a search by delta-stepping, on one core.

use std::cell::Cell;

use warpath::Result;
use warpath::graph::{DistanceValue, MinPlus, Weight};
use warpath::parts::PartMail;

use super::Local;
use super::buckets::{Buckets, NOTHING, Width};
use crate::allocation::{filled, with_capacity};
use crate::bits::Bits;
use crate::graph::{GhostsToTell, PartOfGraph, subset};
use crate::words::{pull, words_of};

/// The state of a search.
struct OnCores<'g, L: MinPlus> {
    graph: &'g PartOfGraph<L::Weight>,
    /// Where the heavy arcs of each row begin.
    heavy: Vec<u64>,
    has_heavy: bool,
    /// Tentative distances of owned vertices and hubs; of ghosts the least that this rank found.
    distances: Vec<L::Distance>,
    /// The distance with which the light arcs of a vertex were relaxed last.
    relaxed: Vec<L::Distance>,
    buckets: Buckets,
    /// The vertices whose light arcs were relaxed in this bucket, and a mark for each vertex that is among them.
    settled: Vec<u32>,
    is_settled: Vec<bool>,
    /// How many other ranks have each owned vertex as a ghost; empty if few vertices are ghosts.
    subscribers: Vec<u32>,
    /// The sum of these numbers over the vertices that were settled in this bucket.
    newly_settled: u64,
    /// The owned vertices that were settled since ghosts were told that they are.
    untold: Bits,
    /// The ghosts that came nearer since they were last sent.
    nearer_ghosts: GhostsToTell,
    /// The lowest bucket that ghosts were sent with last.
    lowest_sent: u64,
    hub_came_nearer: bool,
}

/// Begins a search. The rows are reordered: light arcs first.
pub(super) fn start<'g, L: MinPlus>(
    graph: &'g mut PartOfGraph<L::Weight>,
    width: Width,
    sources: &[u64],
) -> Result<Box<dyn Local<L> + 'g>> {
    let has_heavy = graph.weight_range().1 > width.delta();
    let heavy = put_light_arcs_first(graph, width.delta())?;
    let graph = &*graph;
    let unreachable = L::Distance::UNREACHABLE;
    let mut search = OnCores::<L> {
        graph,
        heavy,
        has_heavy,
        distances: filled("tentative distances", graph.states(), unreachable)?,
        relaxed: filled("distances relaxed", graph.rows(), unreachable)?,
        buckets: Buckets::new(width),
        settled: Vec::new(),
        is_settled: filled("marks of vertices", graph.rows(), false)?,
        subscribers: subscribers_of(graph)?,
        newly_settled: 0,
        untold: Bits::new("settled vertices", graph.owned_count())?,
        nearer_ghosts: GhostsToTell::new(graph.ghosts())?,
        lowest_sent: NOTHING,
        hub_came_nearer: false,
    };
    for source in graph.rows_of(sources) {
        search.distances[source as usize] = L::Distance::ZERO;
        search.buckets.put(L::Distance::ZERO, source);
    }
    Ok(Box::new(search))
}

/// How many other ranks have each owned vertex as a ghost; empty if few vertices are ghosts, so that few messages lead to these.
fn subscribers_of<W: Weight>(graph: &PartOfGraph<W>) -> Result<Vec<u32>> {
    /// There is a ghost for each so many vertices.
    const FEW: usize = 4;
    let ghosts: usize = (0..graph.ranks()).map(|rank| graph.subscribed_by(rank).len()).sum();
    if ghosts.saturating_mul(FEW) < graph.owned_count() {
        return Ok(Vec::new());
    }
    let mut subscribers = filled("ranks that know a vertex", graph.owned_count(), 0)?;
    (0..graph.ranks()).for_each(|rank| {
        graph.subscribed_by(rank).iter().for_each(|&vertex| subscribers[vertex as usize] += 1);
    });
    Ok(subscribers)
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

impl<L: MinPlus> OnCores<'_, L> {
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
            Some(ghost) => self.nearer_ghosts.insert(ghost),
            None => {
                self.hub_came_nearer |= head >= self.graph.owned_count();
                self.buckets.put(distance, head as u32);
            }
        }
    }
}

impl<L: MinPlus> Local<L> for OnCores<'_, L> {
    fn leaves_heavy(&self) -> bool {
        self.has_heavy
    }

    fn relax_light(&mut self, bucket: u64) -> Result<()> {
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
                    if let Some(&subscribers) = self.subscribers.get(v) {
                        self.newly_settled += u64::from(subscribers);
                        self.untold.insert(v);
                    }
                }
                self.relaxed[v] = distance;
                let light = self.graph.row(v).start..self.heavy[v] as usize;
                self.relax(distance, light);
            }
        }
        Ok(())
    }

    fn newly_settled(&self) -> u64 {
        self.newly_settled
    }

    fn tell_settled(&mut self, bits: &mut PartMail) -> Result<()> {
        subset::of_subscribed(self.graph, bits, |vertex| self.untold.contains(vertex as usize))?;
        self.untold.clear();
        Ok(())
    }

    fn hear_settled(&mut self, bucket: u64, messages: &PartMail) -> Result<()> {
        // A heavy arc may lead into the same bucket by rounding, so only paths that end beyond it are known to be of no use.
        let end = self.buckets.end_of(bucket);
        let told = Bits::of_words(&subset::of_ghosts(self.graph, messages)?)?;
        for ghost in told.iter() {
            let known = &mut self.distances[self.graph.rows() + ghost];
            if end < *known {
                *known = end;
            }
        }
        Ok(())
    }

    fn leave_bucket(&mut self) -> Result<()> {
        self.newly_settled = 0;
        let mut settled = std::mem::take(&mut self.settled);
        for vertex in settled.drain(..) {
            let v = vertex as usize;
            self.is_settled[v] = false;
            let heavy = self.heavy[v] as usize..self.graph.row(v).end;
            self.relax(self.distances[v], heavy);
        }
        self.settled = settled;
        Ok(())
    }

    fn collect(&mut self, mail: &mut PartMail) -> Result<()> {
        let (graph, of_ghosts) = (self.graph, &self.distances[self.graph.rows()..]);
        let least = Cell::new(L::Distance::UNREACHABLE);
        self.nearer_ghosts.tell(graph, 1 + words_of::<L::Distance>(), mail, |ghost, words| {
            let distance = of_ghosts[ghost];
            if distance < least.get() {
                least.set(distance);
            }
            words.copy_from_slice(bytemuck::cast_slice(&[distance]));
        })?;
        let least = least.get();
        self.lowest_sent = if least == L::Distance::UNREACHABLE { NOTHING } else { self.buckets.of(least) };
        Ok(())
    }

    fn early_news(&mut self) -> Option<(u64, bool)> {
        let lowest = self.buckets.lowest().min(self.lowest_sent);
        Some((lowest, std::mem::take(&mut self.hub_came_nearer)))
    }

    fn receive(&mut self, messages: &[u32]) -> Result<()> {
        for message in messages.chunks_exact(1 + words_of::<L::Distance>()) {
            let (vertex, distance) = (message[0] as usize, pull::<L::Distance>(&message[1..]));
            if distance < self.distances[vertex] {
                self.come_nearer(vertex, distance);
            }
        }
        Ok(())
    }

    fn news(&mut self) -> Result<(u64, bool)> {
        Ok((self.buckets.lowest(), std::mem::take(&mut self.hub_came_nearer)))
    }

    fn hub_distances(&mut self) -> Result<Vec<L::Distance>> {
        Ok(self.distances[self.graph.owned_count()..self.graph.rows()].to_vec())
    }

    fn receive_hubs(&mut self, distances: &[L::Distance]) -> Result<()> {
        for (hub, &distance) in (self.graph.owned_count()..).zip(distances) {
            if distance < self.distances[hub] {
                self.distances[hub] = distance;
                self.buckets.put(distance, hub as u32);
            }
        }
        Ok(())
    }

    fn distances(&mut self) -> Result<Vec<L::Distance>> {
        self.distances.truncate(self.graph.rows());
        Ok(std::mem::take(&mut self.distances))
    }
}
