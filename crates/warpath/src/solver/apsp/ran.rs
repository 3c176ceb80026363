//! What an engine tells of its work on a table of distances.

use crate::algorithms::Statistics;
use crate::problems::Seconds;

/// An engine's account of its work.
pub(super) struct Ran {
    pub(super) engine: String,
    pub(super) device_bytes: u64,
    pub(super) seconds: Seconds,
    pub(super) statistics: Statistics,
    /// Whether it has found the successors that were asked for.
    pub(super) has_successors: bool,
}

impl Ran {
    /// No work yet, on this engine.
    pub(super) fn on(engine: &str) -> Self {
        Ran {
            engine: engine.into(),
            device_bytes: 0,
            seconds: Seconds::default(),
            statistics: Vec::new(),
            has_successors: false,
        }
    }
}
