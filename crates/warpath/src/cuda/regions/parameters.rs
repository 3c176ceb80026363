//! What can be set of a search region by region, where it is right, and how long it takes.

use crate::algorithms::{GraphFacts, Parameter, Unset, Values, Workload};
use crate::cuda::launch::{AS_MANY_AS_RUN_AT_ONCE, LEAST_THREADS};
use crate::cuda::peers::company::PARTS;

/// The most threads of a block.
pub(super) const MOST_THREADS: u32 = 512;

/// The share of the regions that the device has slots for.
pub(in crate::cuda) const SLOTS: Parameter = Parameter {
    name: "slots",
    summary: "the share of the regions whose records the device has room for, of the most that there can be; the others come over the bus",
    values: Values::Or(&Values::AtLeast(0.0), Unset::Number(1.0)),
};

/// The most vertices of a region.
pub(in crate::cuda) const VERTICES: Parameter = Parameter {
    name: "vertices",
    summary: "the most vertices of a region, up to 256",
    values: Values::Or(&Values::AtLeast(1.0), Unset::Number(USUAL_VERTICES)),
};

/// On roads the quickest.
pub(super) const USUAL_VERTICES: f64 = 128.0;

/// How long a warp stays in a region.
pub(in crate::cuda) const STEPS: Parameter = Parameter {
    name: "steps",
    summary: "how often the arcs of a region are relaxed in a visit, at most; what is left then is for the next round",
    values: Values::Or(&Values::AtLeast(1.0), Unset::Number(USUAL_STEPS)),
};

/// All wait for the region that takes longest.
pub(super) const USUAL_STEPS: f64 = 8.0;

/// How far the threshold moves.
pub(in crate::cuda) const DELTA: Parameter = Parameter {
    name: "delta",
    summary: "how far the threshold moves at first; twice as far after fewer than eight rounds",
    values: Values::Or(
        &Values::AtLeast(f64::MIN_POSITIVE),
        Unset::InWords(|| format!("{WEIGHTS_OF_DELTA} typical weights")),
    ),
};

/// The threads of a block.
pub(in crate::cuda) const THREADS: Parameter = Parameter {
    name: "threads",
    summary: "threads in a block, a multiple of 32",
    values: Values::Or(
        &Values::AtLeast(LEAST_THREADS),
        Unset::InWords(|| format!("as many as have shared memory, up to {MOST_THREADS}")),
    ),
};

/// The blocks.
pub(in crate::cuda) const BLOCKS: Parameter = Parameter {
    name: "blocks",
    summary: "blocks on each device",
    values: Values::Or(&Values::AtLeast(1.0), AS_MANY_AS_RUN_AT_ONCE),
};

/// How many typical weights the threshold moves by.
const WEIGHTS_OF_DELTA: f64 = 128.0;

/// The seconds of a search on a prepared graph whose levels take so many seconds each, if they are narrow.
pub(in crate::cuda) fn seconds(work: &Workload<'_>, level: f64) -> f64 {
    /// Several devices wait for each other.
    const TOGETHER: f64 = 1.6;
    let parts = work.parameters.get(PARTS.name).unwrap_or(1.0);
    let narrow = level * if parts > 1.0 { TOGETHER } else { 1.0 } * work.levels();
    // What has no slot comes over the bus.
    let share = work.parameters.get(SLOTS.name).unwrap_or(1.0).min(1.0);
    let over_the_bus = (1.0 - share) * (16.0 * work.vertices() + 10.0 * work.arcs()) / parts / 51e9;
    work.in_turn(300e-6 + narrow.max(work.arcs() / 4e9 / parts) + over_the_bus)
}

/// Whether a search region by region is right for this graph: its levels are many and short. Then it has no vertex with very many arcs, either.
pub(crate) fn suits(facts: &GraphFacts) -> bool {
    facts.has_short_levels()
}

/// How far the threshold moves on a graph whose arcs have this typical weight.
pub(in crate::cuda) fn delta_for(typical_weight: f64) -> f64 {
    WEIGHTS_OF_DELTA * typical_weight
}

/// A search with ever fewer records on the device.
pub(crate) const LAYOUTS: [&str; 8] = [
    "regions",
    "regions:slots=0.5",
    "regions:slots=0.25",
    "regions:slots=0.1",
    "regions:slots=0.05",
    "regions:slots=0.03",
    "regions:slots=0.02",
    "regions:slots=0.01",
];
