//! Generated graphs as random arcs between classes of vertices of equal expected degree, divided among ranks.

use warpath::generate::Recipe;
use warpath::{Error, Result};

use crate::graph::{HUB_DEGREE, vertices_per_hub};

/// Vertices of one expected degree.
#[derive(Debug, Clone)]
pub(super) struct Class {
    pub(super) vertices: f64,
    pub(super) degree: f64,
    /// How many arcs a vertex has to one class after the other; repeated ones are merged.
    pub(super) arcs_to: Vec<f64>,
    /// Which part of them are hubs.
    pub(super) hubs: f64,
}

/// A graph, divided among ranks.
#[derive(Debug)]
pub(super) struct Divided {
    pub(super) classes: Vec<Class>,
    pub(super) ranks: f64,
    /// Drawn, before repeated ones are merged.
    pub(super) drawn_arcs: f64,
    pub(super) arcs: f64,
    pub(super) vertices: f64,
    pub(super) hubs: f64,
    /// Which part of the arcs leaves hubs.
    pub(super) hub_share: f64,
    /// The least degree of a hub.
    pub(super) hub_degree: f64,
}

impl Divided {
    /// A graph of a generator whose arcs are random.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if it is another one.
    pub(super) fn of(recipe: &Recipe, name: &str, ranks: usize) -> Result<Self> {
        let (vertices, drawn_arcs) = (recipe.vertices() as f64, recipe.arcs() as f64);
        let mut classes = match name {
            "kron" => kronecker(vertices.log2().round() as u32, drawn_arcs),
            "uniform" => {
                let degree = drawn_arcs / vertices;
                vec![Class { vertices, degree, arcs_to: vec![degree], hubs: 0.0 }]
            }
            _ => return Err(Error::invalid("what ranks send is predicted for kron, uniform and grid")),
        };
        let hub_degree = mark_hubs(&mut classes, ranks);
        let sum = |of: &dyn Fn(&Class) -> f64| classes.iter().map(of).sum::<f64>();
        let arcs = sum(&|class| class.vertices * class.degree);
        let hub_arcs = sum(&|class| class.vertices * class.hubs * class.degree);
        let (vertices, hubs) = (sum(&|class| class.vertices), sum(&|class| class.vertices * class.hubs));
        let hub_share = hub_arcs / arcs.max(1.0);
        Ok(Divided { classes, ranks: ranks as f64, drawn_arcs, arcs, vertices, hubs, hub_share, hub_degree })
    }

    /// How many arcs a rank has to a vertex that it does not own, and that is no hub, from each class: those of hubs lie with the owners of
    /// their heads.
    pub(super) fn arcs_from(&self, class: &Class) -> impl Iterator<Item = f64> {
        class.arcs_to.iter().zip(&self.classes).map(|(arcs, tails)| arcs * (1.0 - tails.hubs) / self.ranks)
    }

    /// The same from all classes.
    pub(super) fn arcs_to(&self, class: &Class) -> f64 {
        self.arcs_from(class).sum()
    }

    /// Of a class: how many pairs of a rank and a vertex of another rank that is no hub there are, for each rank.
    pub(super) fn pairs(&self, class: &Class) -> f64 {
        class.vertices * (1.0 - class.hubs) * (self.ranks - 1.0) / self.ranks
    }

    /// The ghosts of a rank in a class.
    pub(super) fn ghosts_in(&self, class: &Class) -> f64 {
        self.pairs(class) * -(-self.arcs_to(class)).exp_m1()
    }

    /// The ghosts of a rank.
    pub(super) fn ghosts(&self) -> f64 {
        self.classes.iter().map(|class| self.ghosts_in(class)).sum()
    }

    /// How many messages a rank sends that tells the others so much.
    pub(super) fn messages_with(&self, words: f64) -> f64 {
        let others = self.ranks - 1.0;
        if others > 0.0 { others * -(-words / others).exp_m1() } else { 0.0 }
    }

    /// How many arcs a rank draws for others.
    pub(super) fn drawn_for_others(&self) -> f64 {
        self.drawn_arcs / self.ranks * (self.ranks - 1.0) / self.ranks
    }
}

/// The classes of a Kronecker graph: vertices by the number of ones in their ids, before these are permuted. Repeated edges are merged,
/// so a class has fewer arcs than were drawn for it.
fn kronecker(scale: u32, arcs: f64) -> Vec<Class> {
    // Either end of an edge has a zero in a digit with probability A + B = A + C.
    const ZERO: f64 = 0.76;
    let share = |ones: u32| ZERO.powi((scale - ones) as i32) * (1.0 - ZERO).powi(ones as i32);
    let mut count = 1.0;
    let counts: Vec<f64> = (0..=scale)
        .map(|ones| {
            let vertices = count;
            count *= f64::from(scale - ones) / f64::from(ones + 1);
            vertices
        })
        .collect();
    let class = |ones: u32| {
        let to = |(&vertices, other): (&f64, u32)| vertices * -(-arcs * share(ones) * share(other)).exp_m1();
        let arcs_to: Vec<f64> = counts.iter().zip(0..).map(to).collect();
        Class { vertices: counts[ones as usize], degree: arcs_to.iter().sum(), arcs_to, hubs: 0.0 }
    };
    (0..=scale).map(class).collect()
}

/// Finds the hubs by the rule of the build: from a power of two of arcs on, which it returns.
fn mark_hubs(classes: &mut [Class], ranks: usize) -> f64 {
    let vertices: f64 = classes.iter().map(|class| class.vertices).sum();
    let arcs: f64 = classes.iter().map(|class| class.vertices * class.degree).sum();
    let above = |class: &Class, degree: f64| {
        // The normal distribution in place of Poisson's.
        let deviations = (class.degree - degree + 0.5) / class.degree.max(1e-9).sqrt();
        1.0 / (1.0 + (-1.702 * deviations).exp())
    };
    let mut least = f64::INFINITY;
    for bits in (1..64).rev() {
        let degree = 2_f64.powi(bits - 1);
        let hubs: f64 = classes.iter().map(|class| class.vertices * above(class, degree)).sum();
        if degree < HUB_DEGREE * arcs / vertices || hubs > vertices / vertices_per_hub(ranks) as f64 + 1.0 {
            break;
        }
        least = degree;
    }
    if ranks > 1 && least.is_finite() {
        classes.iter_mut().for_each(|class| class.hubs = above(class, least));
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_all_vertices_and_no_more_arcs_than_were_drawn() {
        for scale in [5, 20, 38] {
            let arcs = 32.0 * 2_f64.powi(scale as i32);
            let classes = kronecker(scale, arcs);
            let vertices: f64 = classes.iter().map(|class| class.vertices).sum();
            let distinct: f64 = classes.iter().map(|class| class.vertices * class.degree).sum();
            assert!((vertices / 2_f64.powi(scale as i32) - 1.0).abs() < 1e-9);
            assert!(distinct < arcs && distinct > 0.3 * arcs, "{scale}: {distinct} of {arcs}");
        }
    }
}
