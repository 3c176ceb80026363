//! The work on a matrix of all pairs, whatever its cells are: distances for [`apsp`](super::apsp), bits and words of flags for
//! [`closure`](super::closure).

pub(super) mod blocks;
pub(super) mod by_vertex;
pub(super) mod homes;
pub(super) mod tiles;

use super::device::memory::{DeviceSlice, Pool};
use crate::Result;

/// How the work on a matrix ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All vertices have been admitted.
    Complete,
    /// Some vertices that take part are on a cycle of negative length.
    NegativeCycle,
}

impl Ended {
    /// What the flag says that kernels raise, once the device has come here.
    pub(in crate::cuda) fn by(pool: &Pool, stopped: DeviceSlice<u32>) -> Result<Self> {
        Ok(if pool.read_array(stopped)? == [0] { Ended::Complete } else { Ended::NegativeCycle })
    }
}
