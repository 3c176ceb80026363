//! The devices that share a graph: how many they are, and how they exchange what they find.

use crate::algorithms::{Parameter, Parameters, Unset, Values};
use crate::plan::Plan;

/// How many devices may search together.
pub(crate) const MOST: usize = 8;

/// How many devices share the vertices.
pub(in crate::cuda) const PARTS: Parameter = Parameter {
    name: "parts",
    summary: "how many GPUs share the vertices, up to 8",
    values: Values::Or(&Values::AtLeast(1.0), Unset::InWords(|| "as many as were asked for".into())),
};

/// How devices exchange what they find.
pub(in crate::cuda) const EXCHANGE: Parameter = Parameter {
    name: "exchange",
    summary: "how GPUs learn what others found: they read each other's memory, or what each writes to the host's",
    values: Values::Or(
        &Values::OneOf(&["peers", HOST]),
        Unset::InWords(|| "peers, if all have access to each other's memory, else host".into()),
    ),
};
/// Through the host's memory.
const HOST: &str = "host";

/// The devices that may share a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Company {
    pub(crate) devices: usize,
    /// Whether all have access to each other's memory.
    pub(crate) reach: bool,
}

impl Company {
    /// A device that shares nothing.
    pub(crate) const ALONE: Self = Company { devices: 1, reach: true };

    /// The text of an algorithm that takes several devices, for these ones where it does not say how many they are, and how
    /// they exchange.
    pub(crate) fn text(self, asked: &str) -> String {
        let (name, parameters) = asked.split_once(':').map_or((asked, ""), |(name, rest)| (name, rest));
        let says = |one: &Parameter| parameters.split(',').any(|text| text.split('=').next() == Some(one.name));
        let mut all = Vec::new();
        if !says(&PARTS) {
            all.push(format!("{}={}", PARTS.name, self.devices.min(MOST)));
        }
        if !self.reach && !says(&EXCHANGE) {
            all.push(format!("{}={HOST}", EXCHANGE.name));
        }
        all.extend(Some(parameters.to_owned()).filter(|text| !text.is_empty()));
        if all.is_empty() { name.to_owned() } else { format!("{name}:{}", all.join(",")) }
    }
}

/// Whether the text of an algorithm says that several devices share the graph.
pub(crate) fn says_parts(algorithm: &str) -> bool {
    let parameters = algorithm.split_once(':').map_or("", |(_, rest)| rest);
    parameters.split(',').any(|text| text.split('=').next() == Some(PARTS.name))
}

/// Whether devices exchange through the host's memory.
pub(in crate::cuda) fn is_through_host(parameters: &Parameters) -> bool {
    parameters.word(EXCHANGE.name) == Some(HOST)
}

/// Adds what devices publish in the host's memory to the plan of one of so many, if they exchange through it: each publishes so many bytes.
pub(in crate::cuda) fn plan_exchange(plan: &mut Plan, parameters: &Parameters, parts: usize, bytes: u64) {
    if parts > 1 && is_through_host(parameters) {
        plan.memory("what devices exchange, in pinned memory", (parts as u64).saturating_mul(bytes));
    }
}

/// How many devices share the vertices.
pub(crate) fn parts_of(parameters: &Parameters) -> usize {
    parameters.get(PARTS.name).map_or(1, |parts| parts as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_exchange_are_added_unless_they_are_there() {
        let text = |asked: &str, devices: usize, reach: bool| Company { devices, reach }.text(asked);
        assert_eq!(text("partitioned", 2, true), "partitioned:parts=2");
        assert_eq!(text("partitioned:blocks=3", 20, true), "partitioned:parts=8,blocks=3");
        assert_eq!(text("partitioned:blocks=3,parts=1", 2, true), "partitioned:blocks=3,parts=1");
        assert_eq!(text("partitioned:parts=4", 2, false), "partitioned:exchange=host,parts=4");
        assert_eq!(text("regions:exchange=peers", 2, false), "regions:parts=2,exchange=peers");
    }
}
