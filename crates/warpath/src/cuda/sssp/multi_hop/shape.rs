//! How large neighborhoods by weights are, from a sample of the vertices.
//!
//! Delta is what has [`INSIDE`] vertices within it, on average. It is less where the largest neighborhoods would have more vertices than fit one: a sample of some hundred misses
//! them, so they are assumed to lie six standard deviations above the mean.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use crate::cuda::neighborhoods::{MOST, UNIT};
use crate::graph::VertexId;
use crate::graph::sampling::{Rows, spread_over};

/// How many vertices are less than delta away, on average.
const INSIDE: usize = 72;
/// Distances from one bucket to another have to fit 32 bits many times over.
pub(super) const WIDEST: u32 = 1 << 27;

/// What neighborhoods there are in a graph, and what they take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::cuda) struct Shape {
    pub(super) delta: u32,
    /// Units of entries.
    pub(super) capacity: u64,
    /// Items of each part of the queues.
    pub(super) part: u64,
    /// About how many vertices all neighborhoods have but a few.
    most_have: u32,
}

impl Shape {
    /// That of a graph, for this delta or one that is chosen. Looks at some hundred thousand arcs.
    pub(in crate::cuda) fn of(graph: &impl Rows, delta: Option<u32>) -> Self {
        const SAMPLES: usize = 96;
        /// So many standard deviations above the mean lie the largest neighborhoods, which the sample misses.
        const LARGEST: f64 = 6.0;
        let vertices = graph.vertices() as u64;
        let sample = spread_over(graph.vertices(), SAMPLES);
        // Nearly all of the nearest by distance are among six times as many by arcs.
        graph.expect_around(&sample, 6 * INSIDE);
        let sample: Vec<Around> = sample.into_iter().map(|vertex| Around::of(graph, vertex)).collect();
        let delta = delta.unwrap_or_else(|| {
            // The distance within which all samples together have that many vertices.
            let mut distances: Vec<u64> = sample.iter().flat_map(|around| around.nearest(2 * INSIDE)).collect();
            distances.sort_unstable();
            let middle = distances.get(sample.len() * INSIDE).or(distances.last()).copied().unwrap_or(1);
            let mut delta = middle.clamp(1, WIDEST.into()) as u32;
            while delta > 1 && Sizes::of(&sample, delta).above_the_mean(LARGEST) > f64::from(MOST) {
                delta -= (delta / 8).max(1);
            }
            delta
        });
        let sizes = Sizes::of(&sample, delta);
        // A fifth more than the sample has, and a start for small graphs, of which it says little.
        let entries = (sizes.mean + f64::from(UNIT) / 2.0) * 1.2 * vertices as f64;
        let most = vertices * u64::from(MOST.div_ceil(UNIT));
        let least = vertices + graph.arcs() as u64 / u64::from(UNIT);
        let capacity = (entries as u64 / u64::from(UNIT) + 4096).min(most).max(least).min(u64::from(u32::MAX));
        // The queues are also the memory of the search by mask: some 16 bytes a vertex.
        let part = (vertices / 64).clamp(1024, 1 << 14).max(vertices.div_ceil(1024)).min(vertices);
        Shape { delta, capacity, part, most_have: sizes.above_the_mean(2.0) as u32 }
    }

    /// Whether all neighborhoods but a few fit the smaller table.
    pub(super) fn is_mostly_small(&self) -> bool {
        self.most_have <= MOST / 2
    }

    /// Distances that last arcs come from are rounded down to a multiple of this, and then fit a byte.
    pub(super) fn quantum(delta: u32) -> u32 {
        delta / 255 + 1
    }
}

/// The vertices around one, by Dijkstra's algorithm.
struct Around {
    /// For each of the nearest, in their order, how far away it is, and how many vertices are known before its arcs are looked at.
    steps: Vec<(u64, usize)>,
    /// How many are known in the end.
    known: usize,
}

impl Around {
    /// As many of the nearest as choose delta, and as tell whether a neighborhood has too many vertices.
    fn of(graph: &impl Rows, vertex: VertexId) -> Self {
        let mut distances: HashMap<VertexId, u64> = [(vertex, 0)].into_iter().collect();
        let mut heap = BinaryHeap::from([Reverse((0, vertex))]);
        let mut steps = Vec::new();
        while let Some(Reverse((distance, vertex))) = heap.pop() {
            if distances.get(&vertex) != Some(&distance) {
                continue;
            }
            if steps.len() >= 2 * INSIDE && distances.len() > MOST as usize {
                break;
            }
            steps.push((distance, distances.len()));
            graph.for_arcs(vertex, |head, weight| {
                let through = distance + u64::from(weight);
                if distances.get(&head).is_none_or(|&known| through < known) {
                    distances.insert(head, through);
                    heap.push(Reverse((through, head)));
                }
            });
        }
        Around { steps, known: distances.len() }
    }

    /// The distances of the nearest, at most so many.
    fn nearest(&self, count: usize) -> impl Iterator<Item = u64> {
        self.steps.iter().take(count).map(|&(distance, _)| distance)
    }

    /// How many vertices are less than delta away, or heads of their arcs.
    fn size(&self, delta: u32) -> usize {
        let beyond = self.steps.partition_point(|&(distance, _)| distance < delta.into());
        self.steps.get(beyond).map_or(self.known, |&(_, known)| known).min(2 * MOST as usize)
    }
}

/// How many vertices the neighborhoods of a sample have.
struct Sizes {
    mean: f64,
    deviation: f64,
}

impl Sizes {
    fn of(sample: &[Around], delta: u32) -> Self {
        let mean_of = |number: &dyn Fn(f64) -> f64| {
            let sum: f64 = sample.iter().map(|around| number(around.size(delta) as f64)).sum();
            sum / sample.len().max(1) as f64
        };
        let mean = mean_of(&|size| size);
        let variance = mean_of(&|size| (size - mean) * (size - mean));
        Sizes { mean, deviation: variance.sqrt() }
    }

    /// The size that lies so many standard deviations above the mean.
    fn above_the_mean(&self, deviations: f64) -> f64 {
        self.mean + deviations * self.deviation
    }
}
