//! Predicts what ranks send in a breadth-first search.
//!
//! A generated graph is taken as random arcs between classes of vertices of equal expected degree (`classes.rs`). Then every level is an expectation.
//! An arc of a vertex that is not reached leads to the frontier with a probability `x`: the share of the frontier's free arcs among all
//! free ones, those that lead back not counted. A vertex with `d` expected free arcs is reached with probability `1 - exp(-d x)`, and
//! has `d (1 - x)` free arcs afterwards, reached or not. The arcs of the source lead to different vertices. Each rank has a share of the arcs of every vertex, so a vertex is its ghost
//! with probability `1 - exp(-d / ranks)`, and is first reported by it in a level that has a share of the arcs likewise.
//!
//! The directions and the forms of messages follow from these numbers by the rules of [`crate::bfs`]. For grids all ghosts are known:
//! those on the rows beside the rank's own, or beside its blocks.
//!
//! Work O(classes^2 + levels * classes).

use warpath::Result;
use warpath::generate::Recipe;

use super::classes::Divided;
use crate::bfs::{ARCS_SHARE, TIMES_MORE_ARCS, VERTICES_SHARE};
use crate::graph::block_for;

/// How often ranks meet beside their levels, and the bytes that each then gives to reductions.
const BEFORE: f64 = 2.0;
const BEFORE_BYTES: f64 = 16.0;

/// What each gives to a reduction that counts a frontier.
const BYTES_OF_SIZE: f64 = 32.0;

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
    /// Messages with words that a rank sends in exchanges during a search.
    pub messages: f64,
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
        let block = block_for(recipe.vertices(), ranks as u64);
        return Ok(grid(recipe.vertices() as f64, columns, recipe.arcs() as f64, ranks as f64, block));
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
        let has_hubs = self.hubs >= 1.0;
        let (mut unexplored, mut passed, mut before, mut upward) = (self.arcs, 0.0, 0.0, false);
        // The share of all arcs that leave no hubs that frontiers had which were expanded.
        let mut expanded = 0.0;
        let mut known = vec![0.0; self.classes.len()];
        let mut predicted = Predicted {
            ghosts,
            hubs: self.hubs,
            load_bytes: self.drawn_for_others() * 12.0,
            bytes: 0.0,
            messages: 0.0,
            reduced_bytes: BEFORE_BYTES,
            meetings: BEFORE,
            levels: 0,
        };
        while size >= 0.5 {
            let is_counted = has_hubs
                || upward
                || predicted.levels == 0
                || size * self.arcs / self.vertices * TIMES_MORE_ARCS >= unexplored / ARCS_SHARE as f64;
            if is_counted {
                unexplored = (unexplored - arcs - passed).max(0.0);
                passed = 0.0;
            } else {
                passed += arcs;
            }
            upward = if !is_counted {
                false
            } else if upward {
                size >= self.vertices / VERTICES_SHARE as f64 || size > before
            } else {
                arcs > unexplored / ARCS_SHARE as f64 && size > before
            };
            before = size;
            let sent = if upward {
                let (bytes, places) = self.told(&frontier, ghosts);
                predicted.messages += self.messages_with(places);
                known.iter_mut().zip(&frontier).for_each(|(known, part)| *known += part);
                bytes
            } else {
                let share = plain / (self.arcs * (1.0 - self.hub_share)).max(1.0);
                let bytes = self.reported(expanded, share, &known);
                predicted.messages += self.messages_with(bytes / 4.0);
                expanded += share;
                bytes
            };
            predicted.bytes += sent;
            predicted.levels += 1;
            // To exchange words, to count the frontier, and for hubs.
            predicted.meetings += 1.0;
            if is_counted {
                predicted.meetings += 1.0;
                predicted.reduced_bytes += BYTES_OF_SIZE;
            }
            if has_hubs {
                predicted.meetings += 1.0;
                predicted.reduced_bytes += (self.hubs / 64.0).ceil() * 8.0;
            }
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
        // Nothing else tells that the last frontier is empty.
        if has_hubs || upward {
            predicted.meetings += 1.0;
            predicted.reduced_bytes += BYTES_OF_SIZE;
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

    /// How many messages a rank sends that tells the others so much.
    fn messages_with(&self, words: f64) -> f64 {
        let others = self.ranks - 1.0;
        if others > 0.0 { others * -(-words / others).exp_m1() } else { 0.0 }
    }

    /// Bytes by which a rank tells the others which of their ghosts are in the frontier, and how many of these there are.
    fn told(&self, frontier: &[f64], ghosts: f64) -> (f64, f64) {
        let there = self
            .classes
            .iter()
            .zip(frontier)
            .map(|(class, part)| self.pairs(class) * -(-self.arcs_to(class)).exp_m1() * part);
        let (places, bits) = (there.sum::<f64>(), ghosts / 32.0);
        let bytes = if places < 0.5 { 0.0 } else { 4.0 * (places.min(bits) + self.ranks - 1.0) };
        (bytes, places)
    }
}

/// A grid in consecutive rows, or in blocks of so many vertices where that is what ranks take ([`crate::Parts::Auto`]): a rank has the rows beside
/// its own as ghosts, and the frontier stays small.
fn grid(vertices: f64, columns: f64, arcs: f64, ranks: f64, block: Option<u64>) -> Predicted {
    // Each border of two parts or blocks has a row of ghosts on either side. Rows as long as a block would leave most arcs between blocks.
    let blocks = block.map(|block| block as f64).filter(|&block| block >= LEAST_ROWS * columns);
    let borders = blocks.map_or(ranks, |block| (vertices / block).ceil()) - 1.0;
    let ghosts = columns * 2.0 * borders / ranks;
    let rows = vertices / columns;
    let levels = rows + columns - 1.0;
    // From a corner the frontier is a diagonal. The first one is counted, and those that are not small.
    let (mut counted, mut unexplored, mut passed) = (0.0, arcs, 0.0);
    for level in 0..levels as u64 {
        let before = level as f64;
        let diagonal = (before + 1.0).min(columns).min(rows).min(levels - before);
        let leaving = diagonal * arcs / vertices;
        if level > 0 && leaving * TIMES_MORE_ARCS < unexplored / ARCS_SHARE as f64 {
            passed += leaving;
        } else {
            unexplored = (unexplored - passed - leaving).max(0.0);
            (counted, passed) = (counted + 1.0, 0.0);
        }
    }
    Predicted {
        ghosts,
        hubs: 0.0,
        load_bytes: arcs / ranks * (ranks - 1.0) / ranks * 12.0,
        bytes: 4.0 * ghosts,
        messages: messages_over(borders, columns, rows / (borders + 1.0), ranks),
        reduced_bytes: BEFORE_BYTES + BYTES_OF_SIZE * counted,
        meetings: BEFORE + counted + levels,
        levels: levels as usize,
    }
}

/// Messages of a rank, on average, if a diagonal of a grid goes over so many borders of parts or blocks of so many rows. It crosses a border for as many
/// levels as there are columns, in each by one word; words that go to the same rank in the same level are one message.
fn messages_over(borders: f64, columns: f64, rows: f64, ranks: f64) -> f64 {
    if borders < 1.0 {
        return 0.0;
    }
    // How many levels pass until the diagonal reaches the next border between the same two ranks. Of two ranks, each sends over every border.
    let (pairs, of_pair) =
        if ranks > 2.0 { (2.0 * ranks.min(borders), borders / ranks.min(borders)) } else { (2.0, borders) };
    let apart = if ranks > 2.0 { rows * ranks } else { rows };
    pairs * ((of_pair - 1.0) * apart.min(columns) + columns) / ranks
}

/// With at least so many rows of a grid in a block, at most one arc in six leaves it: of the four arcs of a vertex two go to another row.
const LEAST_ROWS: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_counted() {
        let predicted = predict("grid:100x70", 2, 4.0).unwrap();
        assert_eq!((predicted.ghosts, predicted.bytes, predicted.levels), (70.0, 280.0, 169));
        // Eight blocks of 32,768 vertices, 32 rows each, or two.
        assert_eq!(predict("grid:256x1024", 2, 4.0).unwrap().ghosts, 1024.0 * 7.0);
        assert_eq!(predict("grid:16x16384", 2, 4.0).unwrap().ghosts, 16_384.0);
        assert!(predict("roads:100", 2, 4.0).is_err());
    }
}
