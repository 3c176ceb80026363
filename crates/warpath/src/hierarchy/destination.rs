//! Where the distances from many sources go: to a function, or into cells of the caller.

use std::sync::{Mutex, PoisonError};

use crate::Result;
use crate::graph::DistanceValue;
use crate::memory::{grow, listed, with_capacity, zeroed};

/// How many sources share a sweep, so that their rows are there at the same time.
pub(super) const LANES: usize = 16;

/// What memory of these is short of.
const WHAT: &str = "the rows of many sources";

/// Takes rows of distances, those of [`LANES`] sources at a time.
pub(super) trait Destination<D>: Sync {
    /// What each thread has.
    type Own;

    /// What a thread needs for rows of so many columns.
    fn prepare(&self, columns: usize) -> Result<Self::Own>;

    /// Lets `fill` fill the rows of `count` sources, whose places in the list begin with `first`; it tells which ones are certain to have
    /// lost no distance.
    fn rows(
        &self,
        own: &mut Self::Own,
        first: usize,
        count: usize,
        fill: impl FnOnce(&mut [&mut [D]]) -> [bool; LANES],
    ) -> Result<()>;
}

/// Takes the distances from the source at a place in the list, and whether they are certain; gives the array back.
pub(super) type Visit<'v, D> = dyn Fn(usize, Vec<D>, bool) -> Result<Vec<D>> + Sync + 'v;

/// Arrays of each thread, which a function sees.
pub(super) struct Visited<'v, D>(pub(super) &'v Visit<'v, D>);

impl<D: DistanceValue> Destination<D> for Visited<'_, D> {
    type Own = (usize, Vec<Vec<D>>);

    fn prepare(&self, columns: usize) -> Result<Self::Own> {
        Ok((columns, with_capacity(WHAT, LANES)?))
    }

    fn rows(
        &self,
        (columns, arrays): &mut Self::Own,
        first: usize,
        count: usize,
        fill: impl FnOnce(&mut [&mut [D]]) -> [bool; LANES],
    ) -> Result<()> {
        while arrays.len() < count {
            arrays.push(zeroed(WHAT, *columns)?);
        }
        let mut rows: Vec<&mut [D]> = arrays[..count].iter_mut().map(|array| &mut array[..]).collect();
        let certain = fill(&mut rows);
        for (lane, array) in arrays[..count].iter_mut().enumerate() {
            *array = (self.0)(first + lane, std::mem::take(array), certain[lane])?;
        }
        Ok(())
    }
}

/// Cells of the caller, one row after another.
pub(super) struct Filled<'c, D> {
    /// How many columns a row has.
    columns: usize,
    /// Those of [`LANES`] rows each.
    blocks: Vec<Mutex<&'c mut [D]>>,
    /// Hears of each row that is certain.
    done: &'c (dyn Fn(usize) -> Result<()> + Sync),
    /// The places of all others.
    doubtful: Mutex<Vec<usize>>,
}

impl<'c, D> Filled<'c, D> {
    /// Cells for rows of so many columns, at least one.
    pub(super) fn new(
        columns: usize,
        cells: &'c mut [D],
        done: &'c (dyn Fn(usize) -> Result<()> + Sync),
    ) -> Result<Self> {
        let blocks = listed(WHAT, cells.chunks_mut(LANES * columns).map(Mutex::new))?;
        Ok(Filled { columns, blocks, done, doubtful: Mutex::new(Vec::new()) })
    }

    /// The places of rows that may have lost a distance.
    pub(super) fn doubtful(self) -> Vec<usize> {
        self.doubtful.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: DistanceValue> Destination<D> for Filled<'_, D> {
    type Own = ();

    fn prepare(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn rows(
        &self,
        (): &mut (),
        first: usize,
        count: usize,
        fill: impl FnOnce(&mut [&mut [D]]) -> [bool; LANES],
    ) -> Result<()> {
        let mut cells = self.blocks[first / LANES].lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows: Vec<&mut [D]> = cells.chunks_exact_mut(self.columns).collect();
        let certain = fill(&mut rows);
        for (place, is_certain) in (first..first + count).zip(certain) {
            if is_certain {
                (self.done)(place)?;
            } else {
                let mut doubtful = self.doubtful.lock().unwrap_or_else(PoisonError::into_inner);
                grow(WHAT, &mut doubtful, 1)?;
                doubtful.push(place);
            }
        }
        Ok(())
    }
}
