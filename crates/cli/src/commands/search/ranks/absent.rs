//! `--plan --ranks N`: what ranks would take and send, of which none is started.

use serde::Serialize;
use warpath::Error;
use warpath::generate::RandomWeights;
use warpath_mpi::{Predicted, PredictedByWeights, RankDevices, Search, Source, predict, predict_by_weights};

use super::super::SearchCommand;
use crate::failure::Failure;
use crate::print::{self, Available, Table};

/// Prints what one of so many ranks would take, and what it would send, if that can be predicted.
pub(super) fn print_plan(
    command: &SearchCommand<'_>,
    search: &Search,
    source: &Source<'_>,
    ranks: u32,
) -> Result<(), Failure> {
    search.check(source)?;
    let plan = search.plan_for(source, ranks.into());
    let memory = command.solving.common.memory.unwrap_or_else(warpath::available_memory);
    let device = command.solving.common.memory.filter(|_| !plan.device_items().is_empty());
    let available = Available { memory, device, disk: None };
    let check = || plan.check(memory).and_then(|()| device.map_or(Ok(()), |device| plan.check_device(device)));
    let degree = source.arcs() as f64 / source.vertices().max(1) as f64;
    let name = command.graph.graph.to_string_lossy();
    let traffic = if command.ignores_weights {
        predict(&name, ranks as usize, degree, search).ok().map(Traffic::from)
    } else {
        // On cores, in buckets of the width that ranks choose.
        let is_as_predicted = search.devices != RankDevices::Cuda
            && search.algorithm.as_deref().is_none_or(|algorithm| !algorithm.contains(':'));
        let weights =
            command.graph.weights.as_deref().filter(|_| is_as_predicted).and_then(|text| text.strip_prefix("random:"));
        let weights: Option<RandomWeights> = weights.and_then(|random| random.parse().ok());
        weights
            .and_then(|random| predict_by_weights(&name, ranks as usize, degree, random.range).ok())
            .map(Traffic::from)
    };
    if command.solving.common.json {
        let traffic = traffic.map(serde_json::to_value).transpose();
        let traffic = traffic.map_err(|error| Error::io("<stdout>", error.into()))?;
        print::plan_with_traffic(None, &plan, available, true, traffic)?;
        return check().map_err(|error| Failure::from(error).after_the_answer());
    }
    let mut table = Table::new();
    table.row("ranks", format!("{}; below is what each takes", print::grouped(ranks.into())));
    if let Some(traffic) = traffic {
        let [load, search] = [traffic.load_bytes, traffic.bytes].map(print::bytes);
        let messages = print::count(traffic.messages, "message", "messages");
        let reduced = |of: &OfLevels| format!(", {} to reductions", print::bytes(of.reduced_bytes));
        let reduced = traffic.levels.as_ref().map_or(String::new(), reduced);
        table.row("sends", format!("{load} while loading, {search} in a search, in {messages}{reduced}"));
        if let Some(OfLevels { meetings, levels, .. }) = traffic.levels {
            let [meetings, levels] = [meetings, levels].map(|count| print::grouped(count.into()));
            table.row("meets", format!("{meetings} times in a search of {levels} levels"));
        }
        let [ghosts, hubs] = [traffic.ghosts, traffic.hubs].map(|count| print::grouped(count.into()));
        table.row("knows", format!("{ghosts} vertices of other ranks, {hubs} hubs"));
    }
    table.print()?;
    print::plan(None, &plan, available, false)?;
    check().map_err(|error| Failure::from(error).after_the_answer())
}

/// What a rank sends, as it is predicted.
#[derive(Debug, Serialize)]
struct Traffic {
    ghosts: u64,
    hubs: u64,
    load_bytes: u64,
    bytes: u64,
    messages: u64,
    /// Of a breadth-first search.
    #[serde(flatten)]
    levels: Option<OfLevels>,
}

/// What is predicted of a breadth-first search alone.
#[derive(Debug, Serialize)]
struct OfLevels {
    reduced_bytes: u64,
    meetings: u64,
    levels: u64,
}

impl From<Predicted> for Traffic {
    fn from(predicted: Predicted) -> Self {
        Traffic {
            ghosts: predicted.ghosts as u64,
            hubs: predicted.hubs as u64,
            load_bytes: predicted.load_bytes as u64,
            bytes: predicted.bytes as u64,
            messages: predicted.messages as u64,
            levels: Some(OfLevels {
                reduced_bytes: predicted.reduced_bytes as u64,
                meetings: predicted.meetings as u64,
                levels: predicted.levels as u64,
            }),
        }
    }
}

impl From<PredictedByWeights> for Traffic {
    fn from(predicted: PredictedByWeights) -> Self {
        Traffic {
            ghosts: predicted.ghosts as u64,
            hubs: predicted.hubs as u64,
            load_bytes: predicted.load_bytes as u64,
            bytes: predicted.bytes as u64,
            messages: predicted.messages as u64,
            levels: None,
        }
    }
}
