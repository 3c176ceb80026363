//! Linked packages, each in a worker, which is killed where a call takes too long.

use std::collections::BTreeSet;

use warpath::{Error, Result};

use super::{Asking, too_long};
use crate::measure::Outcome;
use crate::peers::messages::Case;
use crate::peers::{Tools, Workers, not_built_in};
use crate::results::Status;
use crate::suite::Job;

/// The distance of what RoutingKit has not reached.
pub(super) const ROUTINGKIT_UNREACHED: u32 = (1 << 31) - 1;

pub(super) fn run(
    asking: &mut Asking<'_>,
    package: &str,
    tools: &Tools,
    workers: &mut Workers,
    too_slow: &mut BTreeSet<String>,
) -> Result<Outcome> {
    let (task, questions, watch) = (asking.task, asking.questions, asking.watch);
    let unavailable = |text: &str| Ok(Outcome::without_times(Status::Unavailable, text));
    let Some(program) = &tools.worker else { return unavailable(&not_built_in(package)) };
    let greatest = asking.expected.iter().flatten().map(|answer| answer.greatest).max().unwrap_or(0);
    match (package, questions.job) {
        ("fast_paths", Job::Rows) => return unavailable("it has no search from a source"),
        ("fast_paths", _) if task.graph.weight_range().0 < 1.0 => {
            return unavailable("it leaves out edges of weight 0");
        }
        // The expected answers are a few, so others may be twice as far.
        ("routingkit-cch", _) if 2 * greatest >= ROUTINGKIT_UNREACHED.into() => {
            return unavailable("its distances have 31 bits");
        }
        _ => {}
    }
    let limit = task.limits.timeout;
    let late = |text: String| Ok(Outcome::without_times(Status::Timeout, text));
    if too_slow.contains(package) {
        return late(format!("skipped: preparing this graph took more than {limit} s in an earlier case"));
    }
    let case = Case { package: package.to_owned(), questions: serde_json::json!(questions) };
    let mut is_ready = false;
    let done = workers.run(task, program, case, limit, watch, |ready, worker| {
        is_ready = true;
        asking.ask(ready, &mut |range| worker.ask(range, &watch.control))
    });
    match done {
        Ok((mut outcome, counters)) => {
            outcome.counters.extend(counters);
            Ok(outcome)
        }
        Err(Error::Interrupted) if !task.control.is_cancelled() => {
            // What was cut off may have been preparing, which all other cases need, too.
            if questions.job == Job::Build || !is_ready {
                too_slow.insert(package.to_owned());
            }
            if is_ready { Ok(too_long(task)) } else { late(format!("preparing took more than {limit} s")) }
        }
        Err(error) => Err(error),
    }
}
