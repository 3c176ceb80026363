//! Measures of vertices and graphs, reduced from rows of distances without keeping the matrix.
//!
//! Definitions follow NetworkX. If the request names sources or targets, only these count. Distances include weights,
//! as in the request.
//!
//! - *Eccentricity* of a source: its greatest distance to a target that it reaches, so that a graph of several components
//!   has the eccentricities of each (as in igraph; NetworkX refuses such graphs).
//! - *Closeness* of a target `v`, after Wasserman and Faust: of `n - 1` sources other than `v`, `r` reach it, at
//!   distances that add up to `s`; the closeness is `(r / s) * (r / (n - 1))`, 0 where `s` is 0. Distances count
//!   *towards* the vertex, as in NetworkX; for distances away from it, transpose the graph.
//! - *Harmonic centrality* of a target: the sum of `1 / d` over the sources, towards the vertex as well; distances of 0
//!   are left out.
//! - *Histogram*: how many pairs of source and target, the diagonal included, have a distance in each bin
//!   `width * k <= d < width * (k + 1)`. The width starts at 1 for integers, and for floats at the power of two near a
//!   thousandth of the greatest weight, and doubles until there are at most 65,536 bins.
//!
//! Work O(rows * columns), memory O(rows + columns). Sums of integers are exact; floats are added up in the order of
//! the rows, which does not depend on threads. Searches without weights may be added up without any rows: then inverse
//! distances are added up level by level, and their sums differ from those of rows in the last bits.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::facts::{DistanceSum, RowFacts};
use super::level_sums::{LevelSums, WantedSums};
use super::rows::{RowBlock, RowSink, TableShape, wrong_type};
use crate::graph::{Distance, DistanceValue, Distances, VertexId, with_distances};
use crate::plan::Plan;
use crate::{Result, memory, parallel};

/// What can be reduced from the rows of a table of distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The greatest distance of each source.
    Eccentricity,
    /// Closeness of each target, after Wasserman and Faust.
    Closeness,
    /// The sum of the inverse distances to each target.
    Harmonic,
    /// How many pairs have which distance.
    Histogram,
}

impl std::str::FromStr for Reduction {
    type Err = crate::Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "eccentricity" => Ok(Reduction::Eccentricity),
            "closeness" => Ok(Reduction::Closeness),
            "harmonic" => Ok(Reduction::Harmonic),
            "histogram" => Ok(Reduction::Histogram),
            _ => Err(crate::Error::invalid(format!(
                "there is no reduction `{text}`; there are eccentricity, closeness, harmonic, histogram"
            ))),
        }
    }
}

/// Processes that have some rows of a table each. All call the same methods in the same order.
pub trait RowProcesses {
    /// Replaces each number by the sum, modulo 2^64, of those of all processes at its place.
    fn add_up(&mut self, numbers: &mut [u64]);

    /// The same for floats, added up in any order.
    fn add_up_floats(&mut self, numbers: &mut [f64]);

    /// The numbers of each process, in their order; empty on all processes but the first.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); all processes have called it nevertheless.
    fn give_to_first(&mut self, numbers: &[u64]) -> Result<Vec<Vec<u64>>>;
}

/// A sink that reduces rows.
///
/// ```
/// use warpath::problems::{Reduction, RowReductions};
/// use warpath::{Apsp, Graph, Solver};
/// let graph = Graph::from_edges([(0, 1), (1, 2), (2, 0)])?;
/// let mut reductions = RowReductions::new([Reduction::Eccentricity, Reduction::Closeness]);
/// Solver::new(graph)?.solve(Apsp::all().into_sink(&mut reductions))?;
/// assert_eq!(reductions.eccentricities()[0].unwrap().to_f64(), 2.0);
/// assert_eq!(reductions.closeness()[0], 2.0 / 3.0);
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RowReductions {
    wanted: Vec<Reduction>,
    eccentricities: Vec<Option<Distance>>,
    columns: Vec<Column>,
    harmonic: Vec<f64>,
    sources: Vec<VertexId>,
    histogram: Histogram,
}

/// Sums gathered for one target.
#[derive(Debug, Clone, Copy, Default)]
struct Column {
    target: VertexId,
    reached: u64,
    /// Rows whose source is the target itself.
    own: u64,
    integer_sum: i128,
    float_sum: f64,
}

impl Column {
    /// Numbers that can be added up: what is reached, rows of its own, and the sum in pieces of 32 bits, of which the last has the sign.
    const WORDS: usize = 6;

    fn words(&self) -> [u64; Self::WORDS] {
        let piece = |index: u32| (self.integer_sum >> (32 * index)) as u64;
        let low = |index| piece(index) & u64::from(u32::MAX);
        [self.reached, self.own, low(0), low(1), low(2), piece(3)]
    }

    fn take(&mut self, words: &[u64]) {
        let low = words[2..5].iter().enumerate().map(|(index, &piece)| i128::from(piece) << (32 * index));
        self.integer_sum = low.sum::<i128>() + (i128::from(words[5] as i64) << 96);
        (self.reached, self.own) = (words[0], words[1]);
    }
}

impl RowReductions {
    /// A sink for these reductions.
    pub fn new(wanted: impl IntoIterator<Item = Reduction>) -> Self {
        RowReductions { wanted: wanted.into_iter().collect(), ..Default::default() }
    }

    /// By source; `None` for a source that reaches no target. Empty if not asked for.
    pub fn eccentricities(&self) -> &[Option<Distance>] {
        &self.eccentricities
    }

    /// Closeness, by target. Empty if not asked for.
    pub fn closeness(&self) -> Vec<f64> {
        let closeness = |column: &Column| {
            let others = self.sources.len() as u64 - column.own;
            let reached = (column.reached - column.own) as f64;
            let sum = column.integer_sum as f64 + column.float_sum;
            if sum > 0.0 && others > 0 { (reached / sum) * (reached / others as f64) } else { 0.0 }
        };
        self.columns.iter().map(closeness).collect()
    }

    /// Harmonic centrality, by target. Empty if not asked for.
    pub fn harmonic(&self) -> &[f64] {
        &self.harmonic
    }

    /// How many pairs have which distance. Empty if not asked for.
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// Puts the rows that this process had, which these are, where they belong in a table with these sources; then processes can
    /// [add up](Self::add_up) what each has. O(sources) work and memory.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    ///
    /// # Panics
    ///
    /// If it had not as many rows, or the table lacks one of them.
    pub fn place(&mut self, sources: &[VertexId], rows: &[usize]) -> Result<()> {
        if self.wants(Reduction::Eccentricity) {
            let here = std::mem::take(&mut self.eccentricities);
            assert_eq!(here.len(), rows.len(), "other rows than the process had");
            self.eccentricities = memory::filled("the eccentricities", sources.len(), None)?;
            rows.iter().zip(here).for_each(|(&row, eccentricity)| self.eccentricities[row] = eccentricity);
        }
        self.sources = memory::copied("the list of sources", sources)?;
        Ok(())
    }

    /// Adds up what processes have, each of some rows of one table. Then the first process has the histogram, and all have
    /// everything else. O(rows + columns) work and numbers that are sent; the first process gets the bins of all.
    ///
    /// Integers are those of one process. Floats may differ in their last bits, since they are added up in another order.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); all processes have done their part nevertheless.
    pub fn add_up(&mut self, processes: &mut dyn RowProcesses) -> Result<()> {
        /// Rows or columns at a time.
        const SHARE: usize = 4096;
        let mut words = Vec::new();
        for columns in self.columns.chunks_mut(SHARE) {
            words.clear();
            words.extend(columns.iter().flat_map(Column::words));
            processes.add_up(&mut words);
            let mut floats: Vec<f64> = columns.iter().map(|column| column.float_sum).collect();
            processes.add_up_floats(&mut floats);
            for ((column, words), float_sum) in columns.iter_mut().zip(words.chunks_exact(Column::WORDS)).zip(floats) {
                column.take(words);
                column.float_sum = float_sum;
            }
        }
        for eccentricities in self.eccentricities.chunks_mut(SHARE) {
            words.clear();
            words.extend(eccentricities.iter().flat_map(|&eccentricity| Distance::to_words(eccentricity)));
            processes.add_up(&mut words);
            // Only one process has a row, and zeros of the others do not change it.
            let added = words.chunks_exact(2).map(|words| Distance::of_words([words[0], words[1]]));
            eccentricities.iter_mut().zip(added).for_each(|(to, eccentricity)| *to = eccentricity);
        }
        self.harmonic.chunks_mut(SHARE).for_each(|sums| processes.add_up_floats(sums));
        if self.wants(Reduction::Histogram) {
            let Histogram { width, counts } = std::mem::take(&mut self.histogram);
            let bins = counts.iter().flat_map(|(&bin, &count)| [bin as u64, count]);
            let all = processes.give_to_first(&std::iter::once(width.to_bits()).chain(bins).collect::<Vec<u64>>())?;
            for words in all {
                let [width, bins @ ..] = &words[..] else { continue };
                let counts = bins.chunks_exact(2).map(|bin| (bin[0] as i64, bin[1])).collect();
                let of_process = Histogram { width: f64::from_bits(*width), counts };
                self.histogram = std::mem::take(&mut self.histogram).merged(of_process);
            }
        }
        Ok(())
    }

    fn wants(&self, reduction: Reduction) -> bool {
        self.wanted.contains(&reduction)
    }

    fn add<D: DistanceValue>(&mut self, block: &RowBlock<'_>, values: &[D]) -> Result<()> {
        let columns = block.columns;
        if columns == 0 {
            return Ok(());
        }
        if self.wants(Reduction::Eccentricity) {
            let greatest = parallel::collect(values.len() / columns, |row| {
                let row = &values[row * columns..][..columns];
                let reached = row.iter().copied().filter(|&distance| distance != D::UNREACHABLE);
                reached.reduce(|a, b| if a < b { b } else { a }).and_then(DistanceValue::distance)
            });
            for (&row, eccentricity) in block.rows.iter().zip(greatest) {
                *self.eccentricities.get_mut(row).ok_or_else(wrong_type)? = eccentricity;
            }
        }
        const SHARE: usize = 4096;
        if self.wants(Reduction::Closeness) {
            let sources = &self.sources;
            parallel::for_each_chunk(&mut self.columns, SHARE, |share, gathered| {
                for (&row, values) in block.rows.iter().zip(values.chunks_exact(columns)) {
                    for (column, distance) in gathered.iter_mut().zip(&values[share * SHARE..]) {
                        column.own += u64::from(column.target == sources[row]);
                        match distance.distance() {
                            None => continue,
                            Some(Distance::Unsigned(distance)) => column.integer_sum += i128::from(distance),
                            Some(Distance::Signed(distance)) => column.integer_sum += i128::from(distance),
                            Some(distance) => column.float_sum += distance.to_f64(),
                        }
                        column.reached += 1;
                    }
                }
            });
        }
        if self.wants(Reduction::Harmonic) {
            parallel::for_each_chunk(&mut self.harmonic, SHARE, |share, sums| {
                for values in values.chunks_exact(columns) {
                    for (sum, distance) in sums.iter_mut().zip(&values[share * SHARE..]) {
                        let distance = distance.to_f64();
                        *sum += if distance == 0.0 { 0.0 } else { 1.0 / distance };
                    }
                }
            });
        }
        if self.wants(Reduction::Histogram) {
            let width = self.histogram.width;
            let parts = values.par_chunks(1 << 16).map(|values| {
                let mut part = Histogram { width, ..Default::default() };
                part.add_all(values);
                part
            });
            let whole = parts.reduce(Histogram::default, Histogram::merged);
            self.histogram = std::mem::take(&mut self.histogram).merged(whole);
        }
        Ok(())
    }
}

impl RowReductions {
    /// How many rows each vertex is the source of.
    fn count_own(&mut self) {
        self.columns.iter_mut().for_each(|column| column.own = 0);
        for &source in &self.sources {
            if let Some(column) = self.columns.get_mut(source as usize) {
                column.own += 1;
            }
        }
    }
}

impl RowSink for RowReductions {
    fn plan(&self, rows: u64, columns: u64, _: u64, plan: &mut Plan) {
        plan.memory("reductions", rows.saturating_mul(24).saturating_add(columns.saturating_mul(72)));
    }

    fn begin(&mut self, table: &TableShape<'_>, _: &mut dyn FnMut(&RowBlock<'_>) -> Result<()>) -> Result<usize> {
        let wanted = self.wanted.clone();
        let when = |reduction, length| if wanted.contains(&reduction) { length } else { 0 };
        self.eccentricities = memory::filled("the eccentricities", when(Reduction::Eccentricity, table.rows()), None)?;
        self.harmonic = memory::zeroed("the harmonic centralities", when(Reduction::Harmonic, table.columns()))?;
        let columns = (0..when(Reduction::Closeness, table.columns()))
            .map(|column| Column { target: table.target(column), ..Default::default() });
        self.columns = memory::listed("the closeness of columns", columns)?;
        self.sources = memory::copied("the list of sources", table.sources)?;
        let width = match table.distances {
            Distances::F32(_) | Distances::F64(_) => {
                let greatest = table.graph.weight_range().1.abs();
                if greatest > 0.0 { (greatest.log2().floor() - 10.0).max(-1000.0).exp2() } else { 1.0 }
            }
            _ => 1.0,
        };
        self.histogram = Histogram { width, ..Default::default() };
        Ok(0)
    }

    fn rows(&mut self, block: &RowBlock<'_>) -> Result<()> {
        with_distances!(block.values, values => self.add(block, values))
    }

    /// Eccentricities are facts about rows, and closeness is one where a row has what the column of its source has.
    fn takes_facts(&self, by_target: bool) -> bool {
        !self.wants(Reduction::Harmonic)
            && !self.wants(Reduction::Histogram)
            && (by_target || !self.wants(Reduction::Closeness))
    }

    fn facts(&mut self, rows: &[usize], facts: &[RowFacts]) -> Result<()> {
        for (&row, &RowFacts { reached, greatest, sum }) in rows.iter().zip(facts) {
            if let Some(eccentricity) = self.eccentricities.get_mut(row) {
                *eccentricity = greatest;
            }
            if let Some(column) = self.columns.get_mut(row) {
                let DistanceSum::Integer(integer_sum) = sum else { return Err(wrong_type()) };
                *column = Column { own: 1, reached, integer_sum, ..*column };
            }
        }
        Ok(())
    }

    fn wanted_sums(&self, by_target: bool) -> Option<WantedSums> {
        let greatest = self.wants(Reduction::Eccentricity);
        // Eccentricities are those of sources.
        (by_target || !greatest).then(|| WantedSums {
            sums: self.wants(Reduction::Closeness),
            inverse_sums: self.wants(Reduction::Harmonic),
            greatest,
        })
    }

    fn sums(&mut self, sums: &LevelSums) -> Result<()> {
        for (column, (&reached, &sum)) in self.columns.iter_mut().zip(sums.reached.iter().zip(&sums.sums)) {
            (column.reached, column.integer_sum) = (reached.into(), sum.into());
        }
        self.count_own();
        self.harmonic.iter_mut().zip(&sums.inverse_sums).for_each(|(harmonic, &sum)| *harmonic = sum);
        for (eccentricity, &greatest) in self.eccentricities.iter_mut().zip(&sums.greatest) {
            *eccentricity = Some(Distance::Unsigned(greatest.into()));
        }
        if self.wants(Reduction::Histogram) {
            let pairs = sums.by_level.iter().enumerate().filter(|(_, pairs)| **pairs > 0);
            self.histogram.counts = pairs.map(|(level, &pairs)| (level as i64, pairs)).collect();
            self.histogram.shrink();
        }
        Ok(())
    }
}

/// How many pairs have a distance in each bin.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Histogram {
    width: f64,
    counts: BTreeMap<i64, u64>,
}

impl Histogram {
    const MAX_BINS: usize = 1 << 16;

    /// The width of a bin.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// The bins that are not empty, ascending: where each begins, and its count.
    pub fn bins(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.counts.iter().map(|(&bin, &count)| (bin as f64 * self.width, count))
    }

    /// How many pairs all bins have together.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Counts every finite distance. The first bins, which get most of them, are counted in an array.
    fn add_all<D: DistanceValue>(&mut self, values: &[D]) {
        const FIRST: usize = 1 << 12;
        let width = self.width;
        let mut first = vec![0_u64; FIRST];
        for distance in values.iter().filter_map(|value| value.distance()) {
            let bin = self.bin(distance);
            match usize::try_from(bin) {
                Ok(small) if small < FIRST && self.width == width => first[small] += 1,
                _ => {
                    *self.counts.entry(bin).or_insert(0) += 1;
                    self.shrink();
                }
            }
        }
        let counts = first.into_iter().enumerate().filter(|&(_, count)| count > 0);
        let counts = counts.map(|(bin, count)| (bin as i64, count)).collect();
        *self = std::mem::take(self).merged(Histogram { width, counts });
    }

    fn bin(&self, distance: Distance) -> i64 {
        // The width of integer bins is a power of two and at least 1, so it converts to an integer exactly.
        match distance {
            Distance::Unsigned(distance) => (distance / self.width as u64).min(i64::MAX as u64) as i64,
            Distance::Signed(distance) => distance.div_euclid(self.width as i64),
            distance => (distance.to_f64() / self.width).floor() as i64,
        }
    }

    fn shrink(&mut self) {
        while self.counts.len() > Self::MAX_BINS {
            self.double();
        }
    }

    fn double(&mut self) {
        self.width *= 2.0;
        let mut wider = BTreeMap::new();
        for (bin, count) in std::mem::take(&mut self.counts) {
            *wider.entry(bin.div_euclid(2)).or_insert(0) += count;
        }
        self.counts = wider;
    }

    fn merged(mut self, mut other: Self) -> Self {
        if self.counts.is_empty() {
            return if other.width == 0.0 { self } else { other };
        }
        if other.counts.is_empty() {
            return self;
        }
        while self.width < other.width {
            self.double();
        }
        while other.width < self.width {
            other.double();
        }
        for (bin, count) in other.counts {
            *self.counts.entry(bin).or_insert(0) += count;
        }
        self.shrink();
        self
    }
}
