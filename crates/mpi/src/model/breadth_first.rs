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

use warpath::generate::Recipe;
use warpath::{Error, Result};

use super::classes::Divided;
use crate::bfs::{ARCS_SHARE, TIMES_MORE_ARCS, VERTICES_SHARE};
use crate::device::RankDevices;
use crate::graph::{Parts, block_for};
use crate::search::Search;

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

/// Predicts a breadth-first search on a generated graph, from a source of this degree: on the devices and in the parts of a search, on cores unless it asks for
/// GPUs.
///
/// ```
/// use warpath_mpi::{Problem, Search, predict};
/// let predicted = predict("kron:38", 1024, 100.0, &Search::new(Problem::Bfs, vec![0]))?;
/// assert!(predicted.bytes < 4.0 * predicted.ghosts);
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidRequest`](warpath::Error::InvalidRequest) if the specification is wrong, or not one of `kron`, `uniform` and `grid`, or
/// a grid is to be searched in blocks of less than three rows.
pub fn predict(specification: &str, ranks: usize, source_degree: f64, search: &Search) -> Result<Predicted> {
    let on_gpus = search.devices == RankDevices::Cuda;
    let recipe = Recipe::beyond_one_machine(specification)?;
    let (name, size) = specification.split_once(':').unwrap_or((specification, ""));
    if name == "grid" {
        let columns = size.split(['x', ',']).nth(1).and_then(|columns| columns.parse().ok()).unwrap_or(1.0);
        let has_rows = |block: &u64| *block as f64 >= LEAST_ROWS * columns;
        let block = match search.parts {
            Parts::Auto if on_gpus => None,
            Parts::Auto => block_for(recipe.vertices(), ranks as u64).filter(has_rows),
            Parts::Consecutive => None,
            Parts::Blocks(block) if has_rows(&block) => Some(block),
            Parts::Blocks(_) => return Err(Error::invalid("a grid in such small blocks is not predicted")),
        };
        let [vertices, arcs] = [recipe.vertices(), recipe.arcs()].map(|count| count as f64);
        return Ok(grid((vertices, columns), arcs, ranks as f64, block, on_gpus));
    }
    Ok(Divided::of(&recipe, name, ranks)?.search(source_degree.max(1.0), on_gpus))
}

impl Divided {
    fn search(&self, source_degree: f64, on_gpus: bool) -> Predicted {
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
                || on_gpus
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
        if has_hubs || on_gpus || upward {
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

/// A grid in consecutive rows, or in blocks of so many vertices: a rank has the rows beside its own as ghosts, and the frontier stays small.
fn grid((vertices, columns): (f64, f64), arcs: f64, ranks: f64, block: Option<u64>, on_gpus: bool) -> Predicted {
    // Each border of two parts or blocks has a row of ghosts on either side.
    let borders = block.map_or(ranks, |block| (vertices / block as f64).ceil()) - 1.0;
    let ghosts = columns * 2.0 * borders / ranks;
    let rows = vertices / columns;
    let levels = rows + columns - 1.0;
    // From a corner the frontier is a diagonal, which grows, stays as long as the shorter side, and shrinks. The first one is counted, and those
    // that are not small. While the diagonal stays, all are counted or none: what is left falls only where it is counted.
    let shorter = rows.min(columns);
    let staying = (levels - 2.0 * (shorter - 1.0)).max(0.0) - if shorter > 1.0 { 0.0 } else { 1.0 };
    let growing = (2..shorter as u64).map(|diagonal| (diagonal as f64, 1.0));
    let shrinking = (1..shorter as u64).rev().map(|diagonal| (diagonal as f64, 1.0));
    let (mut counted, mut unexplored, mut passed) = (1.0, arcs - arcs / vertices.max(1.0), 0.0);
    for (diagonal, times) in growing.chain([(shorter, staying)]).chain(shrinking) {
        let leaving = diagonal * arcs / vertices.max(1.0);
        if !on_gpus && leaving * TIMES_MORE_ARCS < unexplored / ARCS_SHARE as f64 {
            passed += leaving * times;
        } else {
            unexplored = (unexplored - passed - leaving * times).max(0.0);
            (counted, passed) = (counted + times, 0.0);
        }
    }
    if on_gpus {
        // Nothing else tells that the last frontier is empty.
        counted += 1.0;
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
    use crate::search::Problem;

    #[test]
    fn grids_are_counted() {
        let search = Search::new(Problem::Bfs, vec![0]);
        let predicted = |specification: &str| predict(specification, 2, 4.0, &search);
        let small = predicted("grid:100x70").unwrap();
        assert_eq!((small.ghosts, small.bytes, small.levels), (70.0, 280.0, 169));
        // Eight blocks of 32,768 vertices, 32 rows each, or two.
        assert_eq!(predicted("grid:256x1024").unwrap().ghosts, 1024.0 * 7.0);
        assert_eq!(predicted("grid:16x16384").unwrap().ghosts, 16_384.0);
        assert!(predicted("roads:100").is_err());
        let consecutive = Search { parts: Parts::Consecutive, ..search.clone() };
        assert_eq!(predict("grid:256x1024", 2, 4.0, &consecutive).unwrap().ghosts, 1024.0);
        let blocks = Search { parts: Parts::Blocks(1 << 16), ..search.clone() };
        assert_eq!(predict("grid:256x1024", 2, 4.0, &blocks).unwrap().ghosts, 1024.0 * 3.0);
        let on_gpus = Search { devices: RankDevices::Cuda, ..search.clone() };
        let on_gpus = predict("grid:256x1024", 2, 4.0, &on_gpus).unwrap();
        assert_eq!((on_gpus.ghosts, on_gpus.meetings), (1024.0, BEFORE + 2.0 * 1279.0 + 1.0));
    }

    #[test]
    fn long_grids_are_not_walked_level_by_level() {
        let search = Search::new(Problem::Bfs, vec![0]);
        for specification in ["grid:1x281474976710656", "grid:281474976710656x1", "grid:2x100000000000", "grid:1x1"] {
            let predicted = predict(specification, 4, 2.0, &search).unwrap();
            assert!(predicted.meetings >= predicted.levels as f64, "{specification}");
        }
    }
}
