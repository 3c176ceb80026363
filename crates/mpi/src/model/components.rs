//! Predicts what ranks send to find connected components.
//!
//! In the first round every set tells its label: of each ghost to its owner, and of each owned vertex to the ranks that have it as a ghost. After that a set
//! tells it again when it fell. Nearly all vertices of a rank are in one set, the *giant*, as long as a vertex leads to others from which more than one way leads on. A
//! rank that does not know the least vertex of the component hears its number in the first round, and tells its giant again in the second; where there are hubs, which
//! are in the giant of every rank, the reduction of their labels has told it before. A vertex that is in no giant although the component
//! has it is in a small set, hears its label in the first round from another rank, and tells it in the second.
//!
//! A vertex is outside the giant if all its arcs on this rank lead to vertices that are: probabilities that depend on each other, by class
//! (`classes.rs`), found by repeating until they stay.
//!
//! On grids in consecutive rows a rank is one set, which knows the row before its own. A label goes to the next rank in each round.
//!
//! Work O(classes^2), and for grids O(1).

use warpath::generate::Recipe;
use warpath::{Error, Result};

use super::classes::{Class, Divided};

/// Bytes of a label with the number of its vertex, and of the count of those that go to owners.
const LABEL: f64 = 12.0;
const COUNT: f64 = 4.0;

/// Bytes of a component's size, and how many have it.
const SIZE: f64 = 16.0;

/// Bytes that a rank sends on average to number one component that all ranks have: the question of each and the answer, and the size.
fn to_number(ranks: f64) -> f64 {
    const QUESTION: f64 = 12.0;
    const ANSWER: f64 = 8.0;
    (ranks - 1.0) / ranks * (QUESTION + ANSWER + SIZE)
}

/// What one rank is predicted to send to find components, on average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedComponents {
    /// Ghosts of a rank.
    pub ghosts: f64,
    /// Hubs of all ranks.
    pub hubs: f64,
    /// Bytes that a rank sends while the graph is loaded.
    pub load_bytes: f64,
    /// Bytes that a rank sends in exchanges.
    pub bytes: f64,
    /// How often the ranks tell each other labels.
    pub rounds: f64,
}

/// Predicts what each of so many ranks sends to find the components of a generated graph.
///
/// ```
/// use warpath_mpi::predict_components;
/// let predicted = predict_components("kron:38", 1024)?;
/// assert!((24.0..27.0).contains(&(predicted.bytes / predicted.ghosts)));
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidRequest`] if the specification is wrong, or not one of `kron`, `uniform` and `grid`; or if ranks have so few arcs each that
/// their vertices are in many sets, or a grid has fewer rows than there are ranks.
pub fn predict_components(specification: &str, ranks: usize) -> Result<PredictedComponents> {
    /// Of the ghosts; beyond, small sets tell more than their label once.
    const MOST_IN_SMALL_SETS: f64 = 0.2;
    let recipe = Recipe::beyond_one_machine(specification)?;
    let (name, size) = specification.split_once(':').unwrap_or((specification, ""));
    if name == "grid" {
        let columns = size.split(['x', ',']).nth(1).and_then(|columns| columns.parse().ok()).unwrap_or(1.0);
        let [vertices, arcs] = [recipe.vertices(), recipe.arcs()].map(|count| count as f64);
        if vertices / columns < ranks as f64 {
            return Err(Error::invalid("what ranks send is predicted for a grid with a row for each of them"));
        }
        return Ok(grid(vertices, columns, arcs, ranks.max(1)));
    }
    let graph = Divided::of(&recipe, name, ranks)?;
    let ghosts = graph.ghosts();
    let others = graph.ranks - 1.0;
    let outside = graph.outside_the_giant();
    let small = graph.in_small_sets(&outside);
    if small > MOST_IN_SMALL_SETS * ghosts {
        return Err(Error::invalid(
            "the vertices of so many ranks are in small sets, whose messages are not predicted",
        ));
    }
    let told_again = if graph.hubs >= 1.0 { 0.0 } else { graph.ranks_without_the_least() };
    let again = 2.0 * small + 2.0 * ghosts * told_again;
    let is_told_again = graph.ranks * small >= 0.5 || graph.ranks * told_again >= 0.5;
    let exchanges = if is_told_again { 2.0 } else { 1.0 };
    let alone = graph.classes.iter().map(|class| class.vertices * (-class.degree).exp()).sum::<f64>();
    // Each rank tells how many of its vertices are alone.
    let of_alone = if alone >= graph.ranks { SIZE * others } else { 0.0 };
    Ok(PredictedComponents {
        ghosts,
        hubs: graph.hubs,
        load_bytes: graph.drawn_for_others() * 12.0,
        bytes: LABEL * (2.0 * ghosts + again) + COUNT * others * exchanges + to_number(graph.ranks) + of_alone,
        rounds: exchanges,
    })
}

/// With which probability vertices of each class are outside the giant of a rank.
struct Outside {
    owned: Vec<f64>,
    /// Vertices of other ranks, those that are no ghosts counted.
    ghosts: Vec<f64>,
}

impl Divided {
    fn outside_the_giant(&self) -> Outside {
        const ENOUGH: usize = 200;
        let mut outside = Outside { owned: vec![0.0; self.classes.len()], ghosts: vec![0.0; self.classes.len()] };
        for _ in 0..ENOUGH {
            let inside_from = |class: &Class| {
                let arcs = class.arcs_to.iter().zip(&self.classes).zip(outside.owned.iter().zip(&outside.ghosts));
                let inside = arcs.map(|((arcs, head), (owned, ghost))| {
                    let of_head = (owned + (self.ranks - 1.0) * ghost) / self.ranks;
                    arcs * (head.hubs + (1.0 - head.hubs) * (1.0 - of_head))
                });
                inside.sum::<f64>()
            };
            let inside_to = |class: &Class| {
                self.arcs_from(class).zip(&outside.owned).map(|(arcs, owned)| arcs * (1.0 - owned)).sum::<f64>()
            };
            let owned = self.classes.iter().map(|class| (-inside_from(class)).exp()).collect();
            let ghosts = self.classes.iter().map(|class| (-inside_to(class)).exp()).collect();
            outside = Outside { owned, ghosts };
        }
        outside
    }

    /// How many ghosts of a rank are in small sets.
    fn in_small_sets(&self, outside: &Outside) -> f64 {
        let of_class = |(class, outside): (&Class, &f64)| self.pairs(class) * (outside - (-self.arcs_to(class)).exp());
        self.classes.iter().zip(&outside.ghosts).map(of_class).sum()
    }

    /// The share of the ranks that neither own the least vertex nor have it as a ghost: it is any vertex that has an arc.
    fn ranks_without_the_least(&self) -> f64 {
        let (mut vertices, mut without) = (0.0, 0.0);
        for class in &self.classes {
            let joined = class.vertices * -(-class.degree).exp_m1();
            // Of those with an arc, none of whose arcs is from the rank.
            let none_here = ((-self.arcs_to(class)).exp() - (-class.degree).exp()).max(0.0) * class.vertices;
            vertices += joined;
            without += none_here;
        }
        without / vertices.max(1.0) * (self.ranks - 1.0) / self.ranks
    }
}

/// A grid in consecutive rows, as many for each rank, at least one.
fn grid(vertices: f64, columns: f64, arcs: f64, ranks: usize) -> PredictedComponents {
    let (count, borders) = (ranks as f64, ranks as f64 - 1.0);
    // Each rank knows the last row before its own, and hears of an earlier one in each round, until it has heard of the first. The second rank knows
    // that from the beginning if there is one row for each rank.
    let known = if (vertices / columns / count).floor() < 2.0 { 1.0 } else { 0.0 };
    let most = (borders - known).max(0.0);
    // What each rank tells: once, and whenever it has heard of another row; to two neighbors, but for the first and the last rank.
    let all = count + most * (most + 1.0) / 2.0;
    let of_ends = 2.0 + most;
    let told = if ranks > 1 { 2.0 * all - of_ends } else { 0.0 };
    PredictedComponents {
        ghosts: 2.0 * columns * borders / count,
        hubs: 0.0,
        load_bytes: arcs / count * borders / count * 12.0,
        // A row of the teller's and a row of the neighbor's.
        bytes: told * (2.0 * columns * LABEL + COUNT) / count + to_number(count),
        rounds: 1.0 + most,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_go_from_rank_to_rank_of_a_grid() {
        // By hand: of three ranks the first tells once, the second twice, the third three times; to 1, 2 and 1 neighbors.
        let three = predict_components("grid:6x10", 3).unwrap();
        assert_eq!((three.ghosts, three.rounds), (40.0 / 3.0, 3.0));
        assert_eq!(three.bytes, 8.0 * (20.0 * LABEL + COUNT) / 3.0 + to_number(3.0));
        let one = predict_components("grid:6x10", 1).unwrap();
        assert_eq!((one.ghosts, one.bytes, one.rounds), (0.0, 0.0, 1.0));
        // With a row each the second rank knows the first one's.
        assert_eq!(predict_components("grid:3x10", 3).unwrap().rounds, 2.0);
        assert!(predict_components("grid:3x10", 4).is_err());
        assert!(predict_components("grid:4000000000x2", u32::MAX as usize).is_err());
        assert!(predict_components("grid:4294967296x2", u32::MAX as usize).unwrap().bytes > 0.0);
        assert!(predict_components("uniform:20", 100_000).is_err());
        assert!(predict_components("roads:100", 2).is_err());
    }
}
