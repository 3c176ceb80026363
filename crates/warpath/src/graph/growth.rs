//! How fast neighborhoods grow with their radius, on a sample of the vertices.

use hashbrown::HashMap;

use super::VertexId;
use super::sampling::{Rows, spread_over};

/// How neighborhoods grow with their radius, on a sample of the vertices.
#[derive(Debug)]
pub(crate) struct Growth {
    /// Mean sizes, for radius 1 and more, as long as none in the sample is too large.
    means: Vec<f64>,
    /// The standard deviations of the sizes.
    deviations: Vec<f64>,
}

impl Growth {
    /// Vertices of a sample.
    pub(crate) const SAMPLES: usize = 64;
    /// The greatest radius that is sampled.
    pub(crate) const GREATEST_RADIUS: usize = 16;
    /// A neighborhood of more vertices, the one in the middle included, is too large.
    pub(crate) const LARGEST: usize = 512;
    /// Mean size up to which a greater radius pays.
    const LARGE: f64 = 116.0;
    /// The greatest neighborhoods are assumed to lie this many standard deviations above the mean, because the sample
    /// misses them; they may have up to this size.
    const GREATEST: (f64, f64) = (6.0, 320.0);
    /// A neighborhood of twice the radius has four times as many vertices on a plane, and far more where levels are few.
    const PLANAR: f64 = 5.0;

    /// The mean numbers of vertices within two and within four arcs of so many vertices, if neighborhoods grow as they do on a plane.
    pub(crate) fn on_a_plane(graph: &impl Rows, samples: usize) -> Option<[f64; 2]> {
        let growth = Self::sample_of(graph, samples, 4, 4);
        let means = [growth.mean(2)?, growth.mean(4)?];
        (means[1] <= Self::PLANAR * means[0]).then_some(means)
    }

    /// Takes a sample, up to the second radius, or to the first of these or the first that is too large to pay, whichever is greater.
    pub(crate) fn sample(graph: &impl Rows, least_radius: usize, most_radius: usize) -> Self {
        Self::sample_of(graph, Self::SAMPLES, least_radius, most_radius)
    }

    /// The same of so many vertices.
    fn sample_of(graph: &impl Rows, samples: usize, least_radius: usize, most_radius: usize) -> Self {
        struct Neighborhood {
            found: Vec<VertexId>,
            /// The last place of each of these.
            places: HashMap<VertexId, usize>,
            /// Where the last layer begins, and the one before.
            layer: usize,
            layer_before: usize,
        }
        let middles = spread_over(graph.vertices(), samples);
        let of =
            |&middle| Neighborhood { found: vec![middle], places: [(middle, 0)].into(), layer: 0, layer_before: 0 };
        let mut sample: Vec<Neighborhood> = middles.iter().map(of).collect();
        let (mut means, mut deviations) = (Vec::new(), Vec::new());
        while means.len() < most_radius {
            if means.len() >= least_radius && means.last().is_some_and(|&mean: &f64| mean > Self::LARGE) {
                break;
            }
            let (mut sizes, mut squares) = (0.0, 0.0);
            graph.expect(&mut sample.iter().flat_map(|of| of.found[of.layer..].iter().copied()));
            for Neighborhood { found, places, layer, layer_before } in &mut sample {
                let end = found.len();
                for i in *layer..end {
                    graph.for_arcs(found[i], |head, _| {
                        // What was found before these layers is not found again, but on a cycle of a directed graph.
                        if found.len() <= Self::LARGEST && places.get(&head).is_none_or(|&place| place < *layer_before)
                        {
                            places.insert(head, found.len());
                            found.push(head);
                        }
                    });
                    if found.len() > Self::LARGEST {
                        return Growth { means, deviations };
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
    pub(crate) fn mean(&self, radius: u32) -> Option<f64> {
        self.means.get(radius as usize - 1).copied()
    }

    /// The greatest radius that pays.
    pub(crate) fn suitable_radius(&self) -> u32 {
        let (far, room) = Self::GREATEST;
        let pays = |(mean, deviation): &(&f64, &f64)| **mean <= Self::LARGE && *mean + far * *deviation <= room;
        self.means.iter().zip(&self.deviations).take_while(pays).count().max(1) as u32
    }
}
