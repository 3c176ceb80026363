//! Uniform random integer weights that agree in both directions of an undirected edge.
//!
//! The weight of an arc is a hash of the seed and its ends, and for an undirected edge of its ends in ascending order.
//! So it depends neither on threads nor on where the arc is stored, the two arcs of an edge need not be matched with
//! each other, and a graph read from another format with the same ids gets the same weights. Parallel arcs that were
//! kept get the same weight.
//!
//! Work O(E), fully parallel.

use std::str::FromStr;

use rayon::prelude::*;

use super::purpose;
use super::random::{Stream, mix};
use crate::graph::{Graph, VertexId, Weights};
use crate::{Error, Result, memory};

/// A range of integer weights, both ends included; written `LO..HI`.
///
/// ```
/// use warpath::generate::WeightRange;
/// let range: WeightRange = "1..255".parse()?;
/// assert_eq!(range, WeightRange { low: 1, high: 255 });
/// assert!("9..1".parse::<WeightRange>().is_err());
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightRange {
    /// The least weight.
    pub low: i64,
    /// The greatest weight.
    pub high: i64,
}

impl WeightRange {
    /// Whether these weights are 32-bit integers, without sign or, if any is below zero, with it.
    fn check(self) -> Result<()> {
        let WeightRange { low, high } = self;
        let widest = if low < 0 { i64::from(i32::MAX) } else { i64::from(u32::MAX) };
        if low > high {
            Err(Error::invalid(format!("weights {low}..{high} are none: {low} is greater than {high}")))
        } else if low < i64::from(i32::MIN) || high > widest {
            Err(Error::invalid(format!("weights {low}..{high} do not fit 32 bits")))
        } else {
            Ok(())
        }
    }
}

impl FromStr for WeightRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parsed = text.split_once("..").and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
        let (low, high) =
            parsed.ok_or_else(|| Error::invalid(format!("`{text}` is not a range of whole numbers, LO..HI")))?;
        let range = WeightRange { low, high };
        range.check().map(|()| range)
    }
}

impl std::fmt::Display for WeightRange {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}..{}", self.low, self.high)
    }
}

/// Random weights as one asks for them: `LO..HI`, or `LO..HI,seed=N`.
///
/// ```
/// use warpath::generate::{RandomWeights, WeightRange};
/// let asked: RandomWeights = "1..255,seed=7".parse()?;
/// assert_eq!((asked.range, asked.seed), (WeightRange { low: 1, high: 255 }, Some(7)));
/// assert_eq!("1..255".parse::<RandomWeights>()?.seed, None);
/// assert!("1..255,seed=x".parse::<RandomWeights>().is_err());
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomWeights {
    /// The range of the weights.
    pub range: WeightRange,
    /// The seed, if one is asked for.
    pub seed: Option<u64>,
}

impl RandomWeights {
    /// The graph with these weights; `seed` if none is asked for. As [`Graph::with_random_weights`].
    ///
    /// # Errors
    ///
    /// As [`Graph::with_random_weights`].
    pub fn of(self, graph: Graph, seed: u64) -> Result<Graph> {
        graph.with_random_weights(self.range.low, self.range.high, self.seed.unwrap_or(seed))
    }
}

impl FromStr for RandomWeights {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some((range, option)) = text.split_once(',') else {
            return Ok(RandomWeights { range: text.parse()?, seed: None });
        };
        let seed = option.strip_prefix("seed=").and_then(|seed| seed.parse().ok());
        let seed =
            seed.ok_or_else(|| Error::invalid(format!("`{option}` is not `seed=N` with a whole number from 0")))?;
        Ok(RandomWeights { range: range.parse()?, seed: Some(seed) })
    }
}

/// Random weights of arcs, each found from the ends of its arc: what [`Graph::with_random_weights`] gives the arcs of a graph,
/// for graphs that are not in memory as a whole.
///
/// ```
/// use warpath::generate::{ArcWeights, WeightRange};
/// let weights = ArcWeights::new(WeightRange { low: 1, high: 255 }, 7, false)?;
/// assert_eq!(weights.bits(3, 5), weights.bits(5, 3));
/// assert!((1..=255).contains(&weights.bits(1 << 40, 5)));
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ArcWeights {
    random: Stream,
    low: i64,
    span: u64,
    directed: bool,
}

impl ArcWeights {
    /// The weights that a seed chooses from a range; both arcs of an edge get the same one unless the graph is directed.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if the range is empty or does not fit 32 bits.
    pub fn new(range: WeightRange, seed: u64, directed: bool) -> Result<Self> {
        range.check()?;
        let span = range.high.abs_diff(range.low) + 1;
        Ok(ArcWeights { random: Stream::new(seed, purpose::WEIGHTS), low: range.low, span, directed })
    }

    /// The weight of the arc from `u` to `v`: a `u32`, or the bits of an `i32` if the range begins below zero. O(1).
    #[inline]
    pub fn bits(&self, u: u64, v: u64) -> u32 {
        let (first, second) = if self.directed || u < v { (u, v) } else { (v, u) };
        let narrow = (first | second) >> 32 == 0;
        // Two numbers of 64 bits have no room in one: the first is mixed, so that pairs hardly ever meet.
        let index = if narrow { first << 32 | second } else { mix(first).wrapping_add(second) };
        // Addition modulo 2^32 gives the same bits with and without sign, and the sum fits.
        (self.low as u32).wrapping_add(self.random.below(index, self.span) as u32)
    }
}

/// Uniform random weights in [0, 1) for the edges of a list, by their numbers there: of 24 bits, as many as a 32-bit float tells apart.
///
/// ```
/// let weights = warpath::generate::EdgeFractions::new(warpath::generate::DEFAULT_SEED);
/// assert!((0.0..1.0).contains(&weights.of(7)));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct EdgeFractions(Stream);

impl EdgeFractions {
    /// Those that a seed chooses.
    pub fn new(seed: u64) -> Self {
        EdgeFractions(Stream::new(seed, purpose::WEIGHTS))
    }

    /// The weight of the edge with this number. O(1).
    #[inline]
    pub fn of(&self, number: u64) -> f32 {
        const BITS: u32 = 24;
        self.0.below(number, 1 << BITS) as f32 / (1 << BITS) as f32
    }
}

impl Graph {
    /// The same graph with uniform random integer weights from `low` to `high`, both included, the same for a seed on
    /// every machine: `u32`, or `i32` if `low` is below zero. The two arcs of an undirected edge get the same weight;
    /// the arcs `u -> v` and `v -> u` of a directed graph do not. O(E) work, in parallel.
    ///
    /// ```
    /// use warpath::generate::DEFAULT_SEED;
    /// let graph = warpath::Graph::from_edges([(0, 1), (1, 2)])?.with_random_weights(1, 255, DEFAULT_SEED)?;
    /// assert!(graph.edges().all(|(_, _, weight)| (1.0..=255.0).contains(&weight)));
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If `low` is greater than `high`, they do not fit 32 bits, or there is no memory for the weights.
    pub fn with_random_weights(self, low: i64, high: i64, seed: u64) -> Result<Graph> {
        let range = WeightRange { low, high };
        let of = ArcWeights::new(range, seed, self.is_directed())?;
        let mut bits: Vec<u32> = memory::zeroed("weights of arcs", self.arcs())?;
        for_each_row(&self, &mut bits, |u, heads, row| {
            row.iter_mut().zip(heads).for_each(|(slot, &v)| *slot = of.bits(u.into(), v.into()));
        });
        let weights =
            if low < 0 { Weights::I32(bytemuck::allocation::cast_vec::<u32, i32>(bits)) } else { Weights::U32(bits) };
        Ok(self.with_trusted_weights(weights))
    }
}

/// Calls `fill` in parallel with each vertex, the heads of its arcs and their slots in `values`.
fn for_each_row(graph: &Graph, values: &mut [u32], fill: impl Fn(VertexId, &[VertexId], &mut [u32]) + Sync) {
    const ARCS_PER_TASK: u64 = 1 << 16;
    let offsets = graph.csr().offsets();
    // Split where an arc of a multiple of the task's size begins its row, so that hubs do not unbalance.
    let vertices = graph.vertices();
    let mut tasks = Vec::new();
    let (mut first, mut rest) = (0, values);
    while first < vertices {
        let limit = offsets[first] + ARCS_PER_TASK;
        let end = (first + 1).max(offsets.partition_point(|&offset| offset <= limit).saturating_sub(1)).min(vertices);
        let (slots, after) = rest.split_at_mut((offsets[end] - offsets[first]) as usize);
        tasks.push((first..end, slots));
        (first, rest) = (end, after);
    }
    tasks.into_par_iter().for_each(|(rows, mut slots)| {
        for u in rows {
            let heads = graph.neighbors(u as VertexId);
            let (row, after) = slots.split_at_mut(heads.len());
            fill(u as VertexId, heads, row);
            slots = after;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::graph::Csr;
    use crate::testing::graphs_of_every_shape;

    #[test]
    fn weights_are_symmetric_within_bounds_and_reach_both_ends() {
        for (low, high) in [(1, 3), (0, 0), (-2, 2), (i64::from(i32::MIN), i64::from(i32::MAX))] {
            let graph = generate("kron:10").unwrap().with_random_weights(low, high, 5).unwrap();
            let (least, greatest) = graph.weight_range();
            assert!(least >= low as f64 && greatest <= high as f64);
            if high - low < 100 {
                assert_eq!((least, greatest), (low as f64, high as f64));
            }
            let csr = graph.csr();
            let checked = Csr::new(csr.offsets().to_vec(), csr.targets().to_vec(), csr.weights().clone());
            assert!(Graph::from_csr(checked.unwrap(), false, graph.labels().clone()).is_ok(), "symmetric");
        }
    }

    #[test]
    fn fractions_of_edges_lie_between_0_and_1() {
        let weights = EdgeFractions::new(1);
        let drawn: Vec<f32> = (0..1000).map(|number| weights.of(number)).collect();
        assert!(drawn.iter().all(|weight| (0.0..1.0).contains(weight)));
        let mean = drawn.iter().sum::<f32>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }

    #[test]
    fn every_shape_gets_a_weight_for_each_arc() {
        for (name, graph) in graphs_of_every_shape::<f64>(3) {
            let arcs = graph.arcs();
            let weighted = graph.with_random_weights(7, 7, 1).unwrap();
            assert_eq!(weighted.edges().filter(|&(_, _, weight)| weight == 7.0).count(), arcs, "{name}");
        }
    }

    #[test]
    fn weights_are_uniform_and_change_with_the_seed() {
        let weights = |seed| {
            let graph = generate("dense:100,weights=unit").unwrap().with_random_weights(0, 9, seed).unwrap();
            graph.edges().map(|(_, _, weight)| weight as usize).collect::<Vec<_>>()
        };
        let (first, second) = (weights(1), weights(2));
        assert_eq!(first, weights(1));
        assert!(first.iter().zip(&second).filter(|(a, b)| a == b).count() < 1200);
        for value in 0..10 {
            let share = first.iter().filter(|&&weight| weight == value).count();
            assert!(share.abs_diff(990) < 150, "{value}: {share}");
        }
    }

    #[test]
    fn ranges_are_checked() {
        for bad in ["", "1", "1..", "3..2", "-1..2147483648", "0..4294967296", "-2147483649..0", "1...5", "a..b"] {
            assert!(bad.parse::<WeightRange>().is_err(), "{bad}");
        }
        for good in ["0..0", "0..4294967295", "-2147483648..2147483647", "-5..-3"] {
            assert_eq!(good.parse::<WeightRange>().unwrap().to_string(), good);
        }
    }
}
