//! Predicts what ranks send in a breadth-first search.
//!
//! A generated graph is taken as random arcs between classes of vertices of equal expected degree (`classes.rs`). Then every level is an expectation.
//! An arc of a vertex that is not reached leads to the frontier with a probability `x`: the share of the frontier's free arcs among all
//! free ones, those that lead back not counted. A vertex with `d` expected free arcs is reached with probability `1 - exp(-d x)`, and
//! has `d (1 - x)` free arcs afterwards, reached or not. The arcs of the source lead to different vertices. Each rank has a share of the arcs of every vertex, so a vertex is its ghost
//! with probability `1 - exp(-d / ranks)`, and is first reported by it in a level that has a share of the arcs likewise.
//!
//! The directions and the forms of messages follow from these numbers by the rules of [`crate::bfs`]. For grids all ghosts are known:
//! those on the rows beside the rank's own.
//!
//! Work O(classes^2 + levels * classes).

use warpath::Result;
use warpath::generate::Recipe;

use super::classes::Divided;
use crate::bfs::{ARCS_SHARE, VERTICES_SHARE};

/// How often ranks meet beside their levels, and the bytes that each then gives to reductions.
const BEFORE: f64 = 3.0;
const BEFORE_BYTES: f64 = 40.0;

/// What one rank sends, and has, on average.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// Ghosts of a rank.
    pub ghosts: f64,
    /// Hubs of all ranks.
    pub hubs: f64,
    /// Bytes that a rank sends while the graph is loaded.
    pub load_bytes: f64,
    /// Bytes that a rank sends in exchanges during a search.
    pub bytes: f64,
    /// Bytes that a rank gives to reductions during a search.
    pub reduced_bytes: f64,
    /// How often all ranks meet during a search.
    pub meetings: f64,
    /// The levels of the search.
    pub levels: usize,
}

/// Predicts a breadth-first search on a generated graph, from a source of this degree.
///
/// ```
/// let predicted = warpath_mpi::predict("kron:38", 1024, 100.0)?;
/// assert!(predicted.bytes < 4.0 * predicted.ghosts);
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidRequest`](warpath::Error::InvalidRequest) if the specification is wrong, or not one of `kron`, `uniform` and `grid`.
pub fn predict(specification: &str, ranks: usize, source_degree: f64) -> Result<Predicted> {
    let recipe = Recipe::beyond_one_machine(specification)?;
    let (name, size) = specification.split_once(':').unwrap_or((specification, ""));
    if name == "grid" {
        let columns = size.split(['x', ',']).nth(1).and_then(|columns| columns.parse().ok()).unwrap_or(1.0);
        return Ok(grid(recipe.vertices() as f64, columns, recipe.arcs() as f64, ranks as f64));
    }
    Ok(Divided::of(&recipe, name, ranks)?.search(source_degree.max(1.0)))
}

impl Divided {
    fn search(&self, source_degree: f64) -> Predicted {
        let ghosts = self.ghosts();
        // Of each class: which part is not reached, and how many free arcs such a vertex has.
        let mut rest: Vec<(f64, f64)> = self.classes.iter().map(|class| (1.0, class.degree)).collect();
        let mut frontier = vec![0.0; self.classes.len()];
        let (mut free, mut size, mut arcs) = (source_degree, 1.0, source_degree);
        // The arcs of the frontier that leave no hubs: those of hubs lie with the owners of their heads.
        let mut plain = if source_degree < self.hub_degree { source_degree } else { 0.0 };
        let (mut unexplored, mut before, mut upward) = (self.arcs, 0.0, false);
        // The share of all arcs that leave no hubs that frontiers had which were expanded.
        let mut expanded = 0.0;
        let mut known = vec![0.0; self.classes.len()];
        let mut predicted = Predicted {
            ghosts,
            hubs: self.hubs,
            load_bytes: self.drawn_for_others() * 12.0,
            bytes: 0.0,
            reduced_bytes: BEFORE_BYTES,
            meetings: BEFORE,
            levels: 0,
        };
        while size >= 0.5 {
            unexplored = (unexplored - arcs).max(0.0);
            upward = if upward {
                size >= self.vertices / VERTICES_SHARE as f64 || size > before
            } else {
                arcs > unexplored / ARCS_SHARE as f64 && size > before
            };
            before = size;
            if upward {
                predicted.bytes += self.told(&frontier, ghosts);
                known.iter_mut().zip(&frontier).for_each(|(known, part)| *known += part);
            } else {
                let share = plain / (self.arcs * (1.0 - self.hub_share)).max(1.0);
                predicted.bytes += self.reported(expanded, share, &known);
                expanded += share;
            }
            predicted.levels += 1;
            predicted.meetings += if self.hubs >= 1.0 { 3.0 } else { 2.0 };
            predicted.reduced_bytes += 24.0 + if self.hubs >= 1.0 { (self.hubs / 64.0).ceil() * 8.0 } else { 0.0 };
            let unreached: f64 = self.classes.iter().zip(&rest).map(|(c, (part, free))| c.vertices * part * free).sum();
            let x = if predicted.levels == 1 {
                self.share_that_reaches(source_degree)
            } else {
                free / (free + unreached).max(1e-300)
            };
            (free, size, arcs, plain) = (0.0, 0.0, 0.0, 0.0);
            for ((class, (part, degree)), frontier) in self.classes.iter().zip(&mut rest).zip(&mut frontier) {
                let reached = *part * -(-*degree * x).exp_m1();
                *frontier = reached;
                size += class.vertices * reached;
                free += class.vertices * reached * *degree * (1.0 - x);
                let leaving = class.vertices * (reached * *degree * (1.0 - x) + *part * *degree * x);
                arcs += leaving;
                plain += leaving * (1.0 - class.hubs);
                *part -= reached;
                *degree *= 1.0 - x;
            }
        }
        predicted
    }

    /// The share of all arcs whose other ends are so many different vertices.
    fn share_that_reaches(&self, wanted: f64) -> f64 {
        const HALVINGS: usize = 60;
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let share = (low + high) / 2.0;
            let reached = self.classes.iter().map(|class| class.vertices * -(-class.degree * share).exp_m1());
            if reached.sum::<f64>() < wanted { low = share } else { high = share }
        }
        low
    }

    /// Bytes of the ghosts that a rank reports in a level whose frontier has a share of all arcs, after frontiers with other shares.
    fn reported(&self, expanded: f64, share: f64, known: &[f64]) -> f64 {
        let words = self.classes.iter().zip(known).map(|(class, known)| {
            let to = self.arcs_to(class);
            self.pairs(class) * (1.0 - known) * (-to * expanded).exp() * -(-to * share).exp_m1()
        });
        4.0 * words.sum::<f64>()
    }

    /// Bytes by which a rank tells the others which of their ghosts are in the frontier.
    fn told(&self, frontier: &[f64], ghosts: f64) -> f64 {
        let there = self
            .classes
            .iter()
            .zip(frontier)
            .map(|(class, part)| self.pairs(class) * -(-self.arcs_to(class)).exp_m1() * part);
        let (places, bits) = (there.sum::<f64>(), ghosts / 32.0);
        if places < 0.5 { 0.0 } else { 4.0 * (places.min(bits) + self.ranks - 1.0) }
    }
}

/// A grid in consecutive rows: a rank has the rows beside its own as ghosts, and the frontier stays small.
fn grid(vertices: f64, columns: f64, arcs: f64, ranks: f64) -> Predicted {
    // The first and the last rank have one neighbor.
    let ghosts = columns * 2.0 * (ranks - 1.0) / ranks;
    let levels = vertices / columns + columns - 1.0;
    Predicted {
        ghosts,
        hubs: 0.0,
        load_bytes: arcs / ranks * (ranks - 1.0) / ranks * 12.0,
        bytes: 4.0 * ghosts,
        reduced_bytes: BEFORE_BYTES + 24.0 * levels,
        meetings: BEFORE + 2.0 * levels,
        levels: levels as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_counted() {
        let predicted = predict("grid:100x70", 2, 4.0).unwrap();
        assert_eq!((predicted.ghosts, predicted.bytes, predicted.levels), (70.0, 280.0, 169));
        assert!(predict("roads:100", 2, 4.0).is_err());
    }
}
