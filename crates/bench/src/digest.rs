//! Digests of answers: a few numbers that let two programs' answers be compared without keeping both.
//!
//! A digest depends on every distance and its place, not on the type that holds it, nor on the order of the rows: each
//! row is hashed on its own with its number, and the hashes are added up.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use warpath::graph::{Distance, Distances};
use warpath::problems::{DistanceMatrix, DistanceSum, Reachability, RowBlock, RowSink, TableShape};
use warpath::{Plan, Result, ShortestPathTree};

/// An answer in a few numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// Vertices or pairs reached.
    pub reached: u64,
    /// The sum of all finite distances, as text: exact for integers.
    pub sum: String,
    /// The greatest distance.
    pub greatest: Option<String>,
    /// A hash of all distances in hexadecimal; `None` for a program that only reports the sum.
    pub hash: Option<String>,
}

impl Digest {
    /// The digest of a search.
    pub fn of_tree(tree: &ShortestPathTree) -> Self {
        let distances = tree.distances();
        Digest {
            reached: tree.reached(),
            sum: tree.distance_sum().to_string(),
            greatest: tree.max_distance().map(|distance| distance.to_string()),
            hash: Some(hexadecimal(hash_table(distances, distances.len(), 0))),
        }
    }

    /// The digest of a search by another program.
    pub fn of_distances(distances: &Distances) -> Self {
        let found: Vec<Distance> = (0..distances.len()).filter_map(|index| distances.get(index)).collect();
        let float = found.iter().any(|distance| matches!(distance, Distance::Single(_) | Distance::Double(_)));
        let sum = if float {
            DistanceSum::Float(found.iter().map(|distance| distance.to_f64()).sum())
        } else {
            DistanceSum::Integer(found.iter().map(|distance| integer(*distance)).sum())
        };
        let greatest = found.iter().copied().max_by(|a, b| a.to_f64().total_cmp(&b.to_f64()));
        Digest {
            reached: found.len() as u64,
            sum: sum.to_string(),
            greatest: greatest.map(|distance| distance.to_string()),
            hash: Some(hexadecimal(hash_table(distances, distances.len(), 0))),
        }
    }

    /// The digest of a table of distances.
    pub fn of_matrix(matrix: &DistanceMatrix) -> Self {
        Digest {
            reached: matrix.finite_pairs(),
            sum: matrix.distance_sum().to_string(),
            greatest: matrix.max_distance().map(|distance| distance.to_string()),
            hash: Some(hexadecimal(hash_table(matrix.distances(), matrix.columns(), 0))),
        }
    }

    /// The digest of a closure: of every pair on graphs of a few thousand vertices; on larger ones, of how many
    /// vertices each vertex reaches.
    ///
    /// # Errors
    ///
    /// If there is no memory for these numbers.
    pub fn of_closure(closure: &Reachability) -> warpath::Result<Self> {
        const EVERY_PAIR: usize = 1 << 12;
        let vertices = closure.vertices();
        let hash = if vertices <= EVERY_PAIR {
            let row = |v: usize| closure.row(v as u32).fold(v as u64, |hash, to| mix(hash, to.into()));
            (0..vertices).into_par_iter().map(|v| mix(row(v), v as u64)).reduce(|| 0, u64::wrapping_add)
        } else {
            closure.reachable_counts()?.into_iter().fold(0, mix)
        };
        let pairs = closure.reachable_pairs();
        Ok(Digest { reached: pairs, sum: pairs.to_string(), greatest: None, hash: Some(hexadecimal(hash)) })
    }

    /// Whether both describe the same answer, as far as both have the numbers.
    pub fn agrees_with(&self, other: &Digest) -> bool {
        let hashes = self.hash.is_none() || other.hash.is_none() || self.hash == other.hash;
        hashes && self.reached == other.reached && self.sum == other.sum
    }

    /// How two answers differ, for people.
    pub fn difference(&self, expected: &Digest) -> String {
        if self.reached != expected.reached {
            format!("{} reached instead of {}", self.reached, expected.reached)
        } else if self.sum != expected.sum {
            format!("the sum is {} instead of {}", self.sum, expected.sum)
        } else {
            "reached and sum are right, single distances are not".to_owned()
        }
    }
}

fn integer(distance: Distance) -> i128 {
    match distance {
        Distance::Unsigned(value) => value.into(),
        Distance::Signed(value) => value.into(),
        Distance::Single(value) => value as i128,
        Distance::Double(value) => value as i128,
    }
}

pub(crate) fn hexadecimal(hash: u64) -> String {
    format!("{hash:016x}")
}

fn mix(hash: u64, value: u64) -> u64 {
    let mixed = (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

fn word(distance: Option<Distance>) -> u64 {
    match distance {
        None => u64::MAX,
        Some(Distance::Unsigned(value)) => value,
        Some(Distance::Signed(value)) => value as u64,
        // An integer hashes the same in every type.
        Some(distance) => {
            let value = distance.to_f64();
            if value.fract() == 0.0 && value.abs() < 9e15 { value as i64 as u64 } else { value.to_bits() }
        }
    }
}

/// The hash of a table whose first row has this number.
fn hash_table(distances: &Distances, columns: usize, first: usize) -> u64 {
    if columns == 0 {
        return 0;
    }
    (0..distances.len() / columns)
        .into_par_iter()
        .map(|row| hash_row(distances, row * columns, columns, first + row))
        .reduce(|| 0, u64::wrapping_add)
}

pub(crate) fn hash_row(distances: &Distances, start: usize, columns: usize, number: usize) -> u64 {
    const PIECE: usize = 1 << 14;
    let piece = |index: usize| {
        let range = start + index * PIECE..start + columns.min((index + 1) * PIECE);
        range.fold(mix(number as u64, index as u64), |hash, at| mix(hash, word(distances.get(at))))
    };
    (0..columns.div_ceil(PIECE)).into_par_iter().map(piece).reduce(|| 0, u64::wrapping_add)
}

/// Digests rows without keeping them.
#[derive(Debug, Default)]
pub(crate) struct DigestSink {
    pub(crate) hash: u64,
}

impl RowSink for DigestSink {
    fn plan(&self, _rows: u64, _columns: u64, _distance_bytes: u64, _plan: &mut Plan) {}

    fn begin(
        &mut self,
        _table: &TableShape<'_>,
        _replay: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>,
    ) -> Result<usize> {
        *self = DigestSink::default();
        Ok(0)
    }

    fn rows(&mut self, block: &RowBlock<'_>) -> Result<()> {
        let hash = |(index, &row)| hash_row(block.values, index * block.columns, block.columns, row);
        let hash = block.rows.par_iter().enumerate().map(hash).reduce(|| 0, u64::wrapping_add);
        self.hash = self.hash.wrapping_add(hash);
        Ok(())
    }
}

impl DigestSink {
    /// The digest, completed from the table's summary.
    pub(crate) fn digest(&self, summary: &warpath::problems::ApspSummary) -> Digest {
        Digest {
            reached: summary.finite_pairs(),
            sum: summary.distance_sum().to_string(),
            greatest: summary.max_distance().map(|distance| distance.to_string()),
            hash: Some(hexadecimal(self.hash)),
        }
    }
}

#[cfg(test)]
mod tests {
    use warpath::{Apsp, Solver, Sssp};

    use super::*;

    #[test]
    fn a_digest_is_of_the_numbers_not_of_their_type() {
        let narrow = Distances::U32(vec![0, 7, u32::MAX, 3]);
        let digest = Digest::of_distances(&narrow);
        for other in [
            Distances::U64(vec![0, 7, u64::MAX, 3]),
            Distances::I64(vec![0, 7, i64::MAX, 3]),
            Distances::F64(vec![0.0, 7.0, f64::INFINITY, 3.0]),
        ] {
            assert!(digest.agrees_with(&Digest::of_distances(&other)), "{other:?}");
        }
        assert_eq!((digest.reached, digest.sum.as_str(), digest.greatest.as_deref()), (3, "10", Some("7")));
    }

    #[test]
    fn swapped_distances_have_another_digest() {
        let digest = Digest::of_distances(&Distances::U32(vec![0, 7, 3]));
        let swapped = Digest::of_distances(&Distances::U32(vec![0, 3, 7]));
        assert!(!digest.agrees_with(&swapped));
        assert!(digest.difference(&swapped).contains("single distances"));
        assert!(digest.agrees_with(&Digest { hash: None, ..swapped }), "a program that tells the sum alone");
    }

    #[test]
    fn a_table_has_the_same_digest_in_rows_of_any_order() {
        let graph = warpath::generate("kron:7,weights=1..9,edges-per-vertex=3").unwrap();
        let solver = Solver::builder(graph.clone()).engine(warpath::Engine::Cpu).open().unwrap();
        let matrix = Digest::of_matrix(&solver.solve(Apsp::all()).unwrap());
        let mut sink = DigestSink::default();
        let summary = solver.solve(Apsp::all().into_sink(&mut sink)).unwrap();
        assert_eq!(sink.digest(&summary), matrix);
        let tree = solver.solve(Sssp::from(0)).unwrap();
        assert_eq!(Digest::of_tree(&tree), Digest::of_distances(tree.distances()));
    }
}
