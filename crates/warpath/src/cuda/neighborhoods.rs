//! What the searches by neighborhoods, `multi-hop` in [`bfs`](super::bfs) and [`sssp`](super::sssp), have in common.

use super::kernel_header::kernel_header;
use crate::graph::{Graph, VertexId};

kernel_header! {
    path: "multi_hop";
    namespace: multi_hop;
    constants {
        /// Neighborhoods begin at multiples of so many entries, and are filled up with `none`.
        pub(super) const UNIT: u32 = 8;
        /// The most vertices that a neighborhood can have, the one in the middle included.
        pub(super) const MOST: u32 = 512;
        /// The most blocks, each of which has a part of every queue.
        pub(super) const PARTS: u32 = 128;
        /// An entry of a neighborhood without weights: the vertex below, and above how many arcs away it is, less one.
        const VERTEX_BITS: u32 = 28;
        /// The binary logarithm of the size of a table.
        const TABLE_BITS: u32 = 10;
        /// Slots of the table of a neighborhood: twice as many as there can be vertices.
        pub(super) const TABLE_SIZE: u32 = 1 << TABLE_BITS;
    }
}

/// The greatest distance that an entry holds.
pub(super) const GREATEST_RADIUS: usize = 1 << (32 - VERTEX_BITS);
/// Vertices of this number and above do not fit an entry.
pub(super) const MOST_VERTICES: usize = 1 << VERTEX_BITS;

/// How neighborhoods grow with their radius, on a sample of the vertices.
#[derive(Debug)]
pub(super) struct Growth {
    /// Mean sizes, for radius 1 and more, as long as none in the sample is too large.
    means: Vec<f64>,
    /// The standard deviations of the sizes, for the same radii.
    deviations: Vec<f64>,
}

impl Growth {
    /// Mean size up to which a greater radius pays.
    const LARGE: f64 = 116.0;
    /// The greatest neighborhoods are assumed to be this many standard deviations above the mean, and to have room up
    /// to this size: the sample does not have the greatest.
    const GREATEST: (f64, f64) = (6.0, 320.0);

    /// Takes a sample, up to this radius or the first that is too large to pay, whichever is greater.
    pub(super) fn sample(graph: &Graph, least_radius: usize) -> Self {
        const SAMPLES: usize = 64;
        /// Multiples of it are spread over the vertices evenly, and fall in no step with the rows of a grid.
        const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
        struct Neighborhood {
            found: Vec<VertexId>,
            /// Where the last layer begins, and the one before.
            layer: usize,
            layer_before: usize,
        }
        let vertices = graph.vertices() as u128;
        let mut sample: Vec<Neighborhood> = (0..SAMPLES.min(graph.vertices()) as u64)
            .map(|index| {
                let middle = (u128::from(index.wrapping_mul(GOLDEN_RATIO)) * vertices) >> 64;
                Neighborhood { found: vec![middle as VertexId], layer: 0, layer_before: 0 }
            })
            .collect();
        let (mut means, mut deviations) = (Vec::new(), Vec::new());
        while means.len() < GREATEST_RADIUS {
            if means.len() >= least_radius && means.last().is_some_and(|&mean: &f64| mean > Self::LARGE) {
                break;
            }
            let (mut sizes, mut squares) = (0.0, 0.0);
            for Neighborhood { found, layer, layer_before } in &mut sample {
                let end = found.len();
                for i in *layer..end {
                    for &head in graph.neighbors(found[i]) {
                        // A vertex found before these layers is found again only on a cycle of a directed graph.
                        if !found[*layer_before..].contains(&head) {
                            if found.len() >= MOST as usize {
                                return Growth { means, deviations };
                            }
                            found.push(head);
                        }
                    }
                }
                (*layer_before, *layer) = (*layer, end);
                let size = (found.len() - 1) as f64;
                (sizes, squares) = (sizes + size, squares + size * size);
            }
            let mean = sizes / sample.len().max(1) as f64;
            means.push(mean);
            deviations.push(f64::sqrt((squares / sample.len().max(1) as f64 - mean * mean).max(0.0)));
        }
        Growth { means, deviations }
    }

    /// The mean size for a radius, if all are small enough.
    pub(super) fn mean(&self, radius: u32) -> Option<f64> {
        self.means.get(radius as usize - 1).copied()
    }

    /// The greatest radius that pays.
    pub(super) fn suitable_radius(&self) -> u32 {
        let (far, room) = Self::GREATEST;
        let pays = |(mean, deviation): &(&f64, &f64)| **mean <= Self::LARGE && *mean + far * *deviation <= room;
        self.means.iter().zip(&self.deviations).take_while(pays).count().max(1) as u32
    }
}

/// Why these searches are right for a graph, if it is: neighborhoods of twice the radius are four times as large on a
/// plane, and far larger on graphs of few levels.
pub(super) fn suits(graph: &Graph) -> Option<String> {
    const PLANAR: f64 = 5.0;
    /// Below, there are too few levels to matter.
    const SMALL: usize = 4096;
    if graph.vertices() < SMALL || graph.vertices() >= MOST_VERTICES || graph.arcs() > u32::MAX as usize {
        return None;
    }
    let most_arcs = graph.csr().offsets().windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let growth = Growth::sample(graph, 4);
    let (near, far) = (growth.mean(2)?, growth.mean(4)?);
    (most_arcs <= 64 && far <= PLANAR * near)
        .then(|| format!("{near:.1} vertices within two arcs and {far:.1} within four mean many short levels"))
}
