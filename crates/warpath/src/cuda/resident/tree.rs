//! Answers of searches that stay on the device.

use std::sync::Arc;

use super::adoption::{Size, launch};
use super::arrays::{DeviceArray, Element};
use crate::algorithms::Statistics;
use crate::cuda::bfs::{BfsTask, PreparedBfs};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, LaunchShape, arguments, images};
use crate::cuda::semirings::{DeviceSemiring, semirings_of};
use crate::cuda::sssp::{PreparedSssp, SsspTask};
use crate::graph::VertexId;
use crate::problems::UNREACHED;
use crate::{Control, Error, Result};

/// Distances and predecessors in the memory of a GPU.
#[derive(Debug)]
pub struct ResidentTree {
    distances: DeviceArray,
    predecessors: Option<DeviceArray>,
    statistics: Statistics,
}

impl ResidentTree {
    /// The distance of each vertex. Integers: 32 bits or, where those don't do, 64, and -1 for what is unreachable. Floats as the
    /// weights are, and infinity.
    pub fn distances(&self) -> &DeviceArray {
        &self.distances
    }

    /// The vertex before each on its path, 32-bit integers; -1 for sources and for what is unreachable. `None` if they were not
    /// wanted.
    pub fn predecessors(&self) -> Option<&DeviceArray> {
        self.predecessors.as_ref()
    }

    /// Counters that the search has kept, such as `device_nanoseconds`.
    pub fn statistics(&self) -> &[(&'static str, u64)] {
        &self.statistics
    }

    /// The distances, and the predecessors if there are any.
    pub fn into_arrays(self) -> (DeviceArray, Option<DeviceArray>) {
        (self.distances, self.predecessors)
    }

    pub(super) fn of_bfs(
        device: &Arc<dyn Device>,
        search: &mut dyn PreparedBfs,
        sources: &[VertexId],
        vertices: usize,
        predecessors: bool,
        control: &Control,
    ) -> Result<Self> {
        let statistics = search.solve(&BfsTask { sources, targets: &[], cutoff: UNREACHED, control })?;
        let found = search.device_levels();
        // There are fewer levels than vertices, which fit 31 bits.
        let levels = found.levels.part(0, vertices as u64);
        let distances = copied(device, Element::I32, found.pool, levels)?;
        let predecessors = if predecessors {
            let derived = found.derive_predecessors()?;
            derived.map(|derived| copied(device, Element::I32, found.pool, derived)).transpose()?
        } else {
            None
        };
        Ok(ResidentTree { distances, predecessors, statistics })
    }

    /// The answer of a search by weights as `size` has them. With `floats`, distances are whole numbers and become floats of this type;
    /// `None` if some are too great for that.
    pub(super) fn of_sssp(
        device: &Arc<dyn Device>,
        search: &mut dyn PreparedSssp,
        size: &Size,
        floats: Option<Element>,
        sources: &[VertexId],
        predecessors: bool,
        control: &Control,
    ) -> Result<Option<Self>> {
        let mut found = None;
        for &semiring in semirings_of(size) {
            let cutoff = semiring.unreachable();
            let task = SsspTask { graph: None, semiring, sources, targets: &[], cutoff, control, statistics: false };
            let outcome = search.solve(&task)?;
            let is_done = !outcome.out_of_range || floats.is_some();
            found = Some((semiring, outcome));
            if is_done {
                break;
            }
        }
        let Some((semiring, outcome)) = found else { return Err(Error::invalid("weights of no type")) };
        let there = search.device_distances();
        let distances = match floats {
            Some(_) if outcome.out_of_range => return Ok(None),
            Some(element) => match as_floats(device, element, there.distances)? {
                Some(distances) => distances,
                None => return Ok(None),
            },
            None if outcome.out_of_range => return Err(Error::invalid("a distance is too great for its type")),
            None => distances(device, semiring, there.pool, there.distances)?,
        };
        let predecessors = match search.derivation().filter(|_| predecessors) {
            None => None,
            Some(derivation) => {
                derivation.derive(sources, semiring.unreachable(), false, control)?;
                Some(DeviceArray::filled(device, Element::I32, size.vertices, |pool, to| {
                    pool.copy_from(to, there.pool, derivation.derived())?;
                    let count = size.vertices;
                    launch!(device, "resident_clear_sources", count, [to, count])
                })?)
            }
        };
        Ok(Some(ResidentTree { distances, predecessors, statistics: outcome.statistics }))
    }
}

/// A copy of words that are elements already.
fn copied(device: &Arc<dyn Device>, element: Element, from: &Pool, words: DeviceSlice<u32>) -> Result<DeviceArray> {
    let length = words.length() * 4 / element.bytes() as u64;
    DeviceArray::filled(device, element, length, |pool, to| pool.copy_from(to, from, words))
}

/// The distances of a search in this semiring, of integers in as few bits as do.
fn distances(
    device: &Arc<dyn Device>,
    semiring: DeviceSemiring,
    pool: &Pool,
    words: DeviceSlice<u32>,
) -> Result<DeviceArray> {
    let element = match semiring {
        DeviceSemiring::Single => Element::F32,
        DeviceSemiring::Double => Element::F64,
        DeviceSemiring::Wide | DeviceSemiring::Signed => Element::I64,
        DeviceSemiring::Narrow => {
            if greatest(device, words)? <= i32::MAX as u64 {
                return copied(device, Element::I32, pool, words);
            }
            let count = words.length();
            return DeviceArray::filled(device, Element::I64, count, |_, to| {
                launch!(device, "resident_widen", count, [words, count, to])
            });
        }
    };
    copied(device, element, pool, words)
}

/// Distances of 32 bits as floats; `None` if some are so great that sums of such floats might be rounded to them.
fn as_floats(device: &Arc<dyn Device>, element: Element, words: DeviceSlice<u32>) -> Result<Option<DeviceArray>> {
    let (name, rounded) = match element {
        Element::F32 => ("resident_floats_f32", 1 << f32::MANTISSA_DIGITS),
        _ => ("resident_floats_f64", 1 << f64::MANTISSA_DIGITS),
    };
    if greatest(device, words)? >= rounded {
        return Ok(None);
    }
    let count = words.length();
    let fill = |_: &Pool, to: DeviceSlice<u32>| launch!(device, name, count, [words, count, to]);
    DeviceArray::filled(device, element, count, fill).map(Some)
}

/// The greatest of these distances, 0 if there is none.
pub(super) fn greatest(device: &Arc<dyn Device>, distances: DeviceSlice<u32>) -> Result<u64> {
    let (pool, found) = Pool::lay_out(device, |arena| arena.take::<u64>("the greatest distance", 1))?;
    pool.fill(found, 0)?;
    let count = distances.length();
    launch!(device, "resident_greatest", count, [distances, count, found])?;
    Ok(pool.read_array::<_, 1>(found)?[0])
}
