use std::fmt::Debug;

use super::*;

/// Around the sizes of register tiles, strips and blocks. Unoptimised builds are some hundred
/// times slower and get the small ones only.
const SIZES: &[usize] =
    if cfg!(debug_assertions) { &[0, 1, 2, 3, 63, 64, 65, 100] } else { &[0, 1, 2, 3, 63, 64, 65, 100, 191, 257, 385] };

/// A cell that a test can make from and turn into a wide number; `None` is infinity.
trait TestCell: Cell + Debug {
    fn from_wide(value: Option<i64>) -> Self;
    fn to_wide(self) -> Option<i64>;
}

macro_rules! test_cells {
    ($($cell:ty),*) => {$(
        impl TestCell for $cell {
            fn from_wide(value: Option<i64>) -> Self {
                value.map_or(Self::INFINITY, |value| value as $cell)
            }
            fn to_wide(self) -> Option<i64> {
                (self != Self::INFINITY).then_some(self as i64)
            }
        }
    )*};
}
test_cells!(u16, i16, u32, i32, u64, i64, f32, f64);

struct Random(u64);

impl Random {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as i64) % bound
    }
}

/// About `degree` edges per vertex. Potentials make weights negative but not cycles: every
/// cycle keeps its length.
fn random_graph(n: usize, degree: i64, weight: i64, potential: i64) -> Vec<Option<i64>> {
    let mut random = Random(n as u64 * 31 + degree as u64);
    let potentials: Vec<i64> = (0..n).map(|_| random.below(potential + 1)).collect();
    let mut matrix = vec![None; n * n];
    for from in 0..n {
        for to in 0..n {
            if from == to {
                matrix[from * n + to] = Some(0);
            } else if random.below(n as i64) < degree {
                let weight = random.below(weight) + 1;
                matrix[from * n + to] = Some(weight + potentials[from] - potentials[to]);
            }
        }
    }
    matrix
}

fn naive(matrix: &[Option<i64>], n: usize) -> Vec<Option<i64>> {
    let mut distances = matrix.to_vec();
    for k in 0..n {
        for i in 0..n {
            let Some(left) = distances[i * n + k] else {
                continue;
            };
            for j in 0..n {
                if let Some(above) = distances[k * n + j] {
                    let cell = &mut distances[i * n + j];
                    *cell = Some(cell.map_or(left + above, |cell| cell.min(left + above)));
                }
            }
        }
    }
    distances
}

fn run<T: TestCell>(instruction_set: InstructionSet, matrix: &[Option<i64>], n: usize) -> (Outcome, Vec<Option<i64>>) {
    let mut cells: Vec<T> = matrix.iter().map(|&value| T::from_wide(value)).collect();
    let outcome = close_with(instruction_set, &mut cells, n, &mut |_, _| true).unwrap();
    (outcome, cells.into_iter().map(T::to_wide).collect())
}

fn check<T: TestCell>(matrix: &[Option<i64>], n: usize, expected: &[Option<i64>]) {
    for instruction_set in InstructionSet::available() {
        let (outcome, distances) = run::<T>(instruction_set, matrix, n);
        let context = format!("{} {instruction_set:?} n = {n}", std::any::type_name::<T>());
        assert_eq!(outcome, Outcome::Complete, "{context}");
        assert!(distances == expected, "{context}");
    }
}

#[test]
fn non_negative_weights() {
    for &n in SIZES {
        for (degree, weight) in [(1, 100), (4, 1000), (n as i64, 1000)] {
            let matrix = random_graph(n, degree, weight, 0);
            let expected = naive(&matrix, n);
            check::<u16>(&matrix, n, &expected);
            check::<i16>(&matrix, n, &expected);
            check::<u32>(&matrix, n, &expected);
            check::<i32>(&matrix, n, &expected);
            check::<u64>(&matrix, n, &expected);
            check::<i64>(&matrix, n, &expected);
            check::<f32>(&matrix, n, &expected);
            check::<f64>(&matrix, n, &expected);
        }
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn blocks_within_blocks() {
    let n = 4 * BLOCK + 37;
    let matrix = random_graph(n, 6, 1000, 0);
    let expected = naive(&matrix, n);
    check::<u16>(&matrix, n, &expected);
    check::<i32>(&matrix, n, &expected);
    check::<f64>(&matrix, n, &expected);
    let matrix = random_graph(n, 3, 500, 100);
    let expected = naive(&matrix, n);
    check::<i32>(&matrix, n, &expected);
    check::<i64>(&matrix, n, &expected);
    check::<f32>(&matrix, n, &expected);
}

#[test]
fn negative_weights_without_negative_cycles() {
    for &n in SIZES {
        for degree in [1, 2, 4, n as i64] {
            let matrix = random_graph(n, degree, 50, 10);
            let expected = naive(&matrix, n);
            check::<i16>(&matrix, n, &expected);
            check::<i32>(&matrix, n, &expected);
            check::<i64>(&matrix, n, &expected);
            check::<f32>(&matrix, n, &expected);
            check::<f64>(&matrix, n, &expected);
        }
    }
}

/// A path of negative edges between unreachable parts: infinity sinks as low as it can.
#[test]
fn infinity_does_not_drift() {
    let n = 200;
    let mut matrix = vec![None; n * n];
    for vertex in 0..n - 1 {
        if vertex != n / 2 {
            matrix[vertex * n + vertex + 1] = Some(-82);
        }
    }
    let expected = naive(&matrix, n);
    check::<i16>(&matrix, n, &expected);
    check::<i32>(&matrix, n, &expected);
    check::<f32>(&matrix, n, &expected);

    // 198 edges of -83 exceed what a 16-bit infinity can absorb (16383).
    let steeper: Vec<_> = matrix.iter().map(|cell| cell.map(|weight| weight - 1)).collect();
    assert_eq!(run::<i16>(InstructionSet::detect(), &steeper, n).0, Outcome::TooNarrow);
}

#[test]
fn a_distance_that_does_not_fit_is_reported() {
    let n = 200;
    let path = |weight: i64| {
        let mut matrix = vec![None; n * n];
        for vertex in 0..n - 1 {
            matrix[vertex * n + vertex + 1] = Some(weight);
        }
        matrix
    };
    for instruction_set in InstructionSet::available() {
        // The limit is 32767 and the longest distance 199 edges; 200 edges must fit as well.
        assert_eq!(run::<u16>(instruction_set, &path(163), n).0, Outcome::Complete);
        assert_eq!(run::<u16>(instruction_set, &path(164), n).0, Outcome::TooNarrow);
        assert_eq!(run::<u16>(instruction_set, &path(3000), n).0, Outcome::TooNarrow);
        assert_eq!(run::<u32>(instruction_set, &path(3000), n).0, Outcome::Complete);
        assert_eq!(run::<i32>(instruction_set, &path(1 << 23), n).0, Outcome::TooNarrow);
        assert_eq!(run::<i64>(instruction_set, &path(1 << 23), n).0, Outcome::Complete);
    }
    let mut floats = vec![f32::INFINITY; 9];
    (floats[1], floats[5]) = (f32::MAX, f32::MAX);
    assert_eq!(tiled_floyd_warshall(&mut floats, 3, &mut |_, _| true).unwrap(), Outcome::Complete);
    assert_eq!(floats[2], f32::INFINITY, "the caller, who has the arcs, tells this from no path");
}

#[test]
fn any_large_integer_means_infinity() {
    let n = 70;
    let mut matrix = vec![i32::MAX; n * n];
    (matrix[1], matrix[n + 2]) = (5, -2);
    let mut expected = vec![i32::INFINITY; n * n];
    (expected[1], expected[2], expected[n + 2]) = (5, 3, -2);
    assert_eq!(tiled_floyd_warshall(&mut matrix, n, &mut |_, _| true).unwrap(), Outcome::Complete);
    assert!(matrix == expected);
}

#[test]
fn negative_cycles_are_found() {
    for &n in SIZES.iter().filter(|&&n| n >= 2) {
        for seed in 0..if cfg!(debug_assertions) { 2 } else { 8 } {
            let mut random = Random(seed * 1000 + n as u64);
            let mut matrix = random_graph(n, 4, 100, 20);
            let cycle = if n == 2 { 2 } else { 2 + random.below(2) as usize };
            let start = random.below(n as i64) as usize;
            let step = 1 + random.below((n as i64 - 1) / cycle as i64 + 1) as usize;
            let vertices: Vec<usize> = (0..cycle).map(|i| (start + i * step.min((n - 1) / (cycle - 1))) % n).collect();
            for i in 0..cycle {
                let edge = vertices[i] * n + vertices[(i + 1) % cycle];
                matrix[edge] = Some(if i == 0 { -30 } else { 10 });
            }
            let is_negative = naive_has_negative_cycle(&matrix, n);
            for instruction_set in InstructionSet::available() {
                let (outcome, _) = run::<i32>(instruction_set, &matrix, n);
                assert_eq!(matches!(outcome, Outcome::NegativeCycle { .. }), is_negative);
                let (float_outcome, _) = run::<f64>(instruction_set, &matrix, n);
                assert_eq!(float_outcome, outcome);
            }
        }
    }
}

/// Bellman–Ford from a virtual source.
fn naive_has_negative_cycle(matrix: &[Option<i64>], n: usize) -> bool {
    let mut distances = vec![0; n];
    for _ in 0..n {
        let mut changed = false;
        for from in 0..n {
            for to in 0..n {
                if let Some(weight) = matrix[from * n + to]
                    && distances[from] + weight < distances[to]
                {
                    distances[to] = distances[from] + weight;
                    changed = true;
                }
            }
        }
        if !changed {
            return false;
        }
    }
    true
}

#[test]
fn progress_is_reported_and_can_cancel() {
    let n = 150;
    let cells: Vec<u32> = random_graph(n, 4, 100, 0).into_iter().map(u32::from_wide).collect();
    let mut calls = Vec::new();
    let outcome = tiled_floyd_warshall(&mut cells.clone(), n, &mut |done, total| {
        calls.push((done, total));
        true
    })
    .unwrap();
    assert_eq!(outcome, Outcome::Complete);
    assert_eq!(calls.last(), Some(&(n, n)));
    assert!(calls.is_sorted());
    let outcome = tiled_floyd_warshall(&mut cells.clone(), n, &mut |_, _| false).unwrap();
    assert_eq!(outcome, Outcome::Cancelled);
}
