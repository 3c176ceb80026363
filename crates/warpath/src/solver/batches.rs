//! Searches from many sources on a device, batch after batch. The results of a batch stay there until the last of its
//! trees is handed over.

use std::ops::Range;
use std::time::Instant;

use crate::algorithms::Statistics;
use crate::graph::VertexId;
use crate::problems::Report;
use crate::{Control, Error, Result};

/// Searches from many sources at once, one batch at a time.
pub(super) trait Together {
    /// How many sources a batch has at most.
    fn width(&self) -> Result<usize>;

    /// Searches from these sources.
    fn search(&mut self, sources: &[VertexId], control: &Control) -> Result<Searched>;
}

/// How a batch went.
#[derive(Debug, Default)]
pub(super) struct Searched {
    pub(super) statistics: Statistics,
    /// For each source, whether a walk left the range of the semiring's distances; empty if none did.
    pub(super) out_of_range: Vec<bool>,
}

/// The batches of one list of sources.
#[derive(Debug)]
pub(super) struct Batches<'s> {
    sources: &'s [VertexId],
    control: &'s Control,
    /// The part of the report that all searches share.
    report: Report,
    /// The batch in the graph's first semiring, and searches repeated in the wide semiring.
    batches: [Batch; 2],
}

/// A batch that is on the device.
#[derive(Debug, Default)]
struct Batch {
    /// Indices of sources, in ascending order.
    indices: Vec<usize>,
    searched: Searched,
    /// How long one search took, in seconds.
    seconds: f64,
}

/// Where the device has the result of one search.
#[derive(Debug)]
pub(super) struct Located {
    /// Its place in the batch.
    pub(super) place: usize,
    pub(super) out_of_range: bool,
    pub(super) report: Report,
}

impl<'s> Batches<'s> {
    /// Begins before the first search. All searches share `report`, but only the first reports how long preparing took.
    pub(super) fn new(sources: &'s [VertexId], control: &'s Control, report: Report) -> Self {
        Batches { sources, control, report, batches: Default::default() }
    }

    /// Locates the search from the source at this index, after running its batch if necessary. Indices are asked for in
    /// ascending order. `again` asks for the search in the wide semiring, together with others that may need it.
    pub(super) fn locate(&mut self, index: usize, again: bool, together: &mut impl Together) -> Result<Located> {
        let [first, repeated] = &mut self.batches;
        let width = together.width()?;
        let next: Vec<usize> = if again {
            let flagged = first.indices.iter().zip(&first.searched.out_of_range);
            let flagged = flagged.filter(|(other, flag)| **flag && **other >= index);
            flagged.map(|(other, _)| *other).take(width).collect()
        } else {
            share(index..self.sources.len(), width).collect()
        };
        let batch = if again { repeated } else { first };
        if batch.indices.binary_search(&index).is_err() {
            self.control.check()?;
            let start = Instant::now();
            let sources: Vec<VertexId> = next.iter().map(|&index| self.sources[index]).collect();
            let searched = together.search(&sources, self.control)?;
            *batch = Batch { indices: next, searched, seconds: start.elapsed().as_secs_f64() / sources.len() as f64 };
        }
        let place = batch.indices.binary_search(&index).map_err(|_| gone())?;
        let mut report = Report { statistics: batch.searched.statistics.clone(), ..self.report.clone() };
        report.seconds.solve = batch.seconds;
        self.report.seconds.prepare = 0.0;
        Ok(Located { place, out_of_range: batch.searched.out_of_range.get(place) == Some(&true), report })
    }
}

/// The first of as few batches as possible, all of about the same size.
fn share(rest: Range<usize>, width: usize) -> Range<usize> {
    let batches = rest.len().div_ceil(width.max(1)).max(1);
    rest.start..rest.start + rest.len().div_ceil(batches)
}

/// The error if the prepared graph has no search from many sources.
pub(super) fn gone() -> Error {
    Error::Device("the prepared search does not take many sources".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_of_about_one_size() {
        for (rest, width, expected) in [(0..20, 8, 0..7), (7..20, 8, 7..14), (14..20, 8, 14..20), (3..4, 100, 3..4)] {
            assert_eq!(share(rest, width), expected);
        }
    }
}
