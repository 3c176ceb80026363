//! How long the parts of a search's rounds take, by the device's clock.
//!
//! A round marks, filters, copies and computes, or does some of these. An event is recorded where a round begins, where
//! the device goes on after it has waited for the host, and where a part ends. So a part costs an event, which takes the
//! device a microsecond or so. Events are read only after the host has waited for the device anyway, so reading them
//! never makes the device wait.
//!
//! The statistics are
//! - `mark_nanoseconds`, `filter_nanoseconds`, `copy_nanoseconds` and `compute_nanoseconds`: each part, over all rounds;
//! - `device_nanoseconds`: the whole search, from before its arrays are filled to its last round; and `wait_nanoseconds`,
//!   what of that belongs to no part: the arrays are filled, and after each round the device waits for the host, which
//!   reads a number;
//! - with `rounds=timed` also the same parts of single rounds, and the arcs that were relaxed: `first_round_...` and
//!   `last_round_...`; `median_round_...`, where each number is the median over the rounds by itself; and
//!   `last_eight_rounds_...`, which is the sum over the last eight rounds, or over all if there are fewer. A round that
//!   has no arc to relax, as the last filter finds it, is not one of them.
//! - `full_round_nanoseconds`: a round of `bellman-ford` over all arcs with the same launch, after the search, when no
//!   distance falls any more. Rounds before that also lower distances, so this is the least that a full round takes. And
//!   `rounds_shorter_than_full`: how many rounds marked, filtered and computed in less time than that.

use std::sync::Arc;

use crate::Result;
use crate::algorithms::{Parameter, Parameters, Statistics, Unset, Values};
use crate::cuda::device::{Device, Event};
use crate::memory;

/// Whether single rounds are timed.
pub(super) const ROUNDS: Parameter = Parameter {
    name: "rounds",
    summary: "timed (tells how long the first, the median and the last rounds take, at the cost of events in each) or \
              untimed",
    values: Values::Or(&Values::OneOf(&["untimed", "timed"]), Unset::InWords(|| "untimed".into())),
};

/// Whether the parameters say that single rounds are timed.
pub(super) fn are_timed(parameters: &Parameters) -> bool {
    parameters.word(ROUNDS.name) == Some("timed")
}

/// What a round does, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Lists the arcs to process, of each warp.
    Mark,
    /// Makes one list of them.
    Filter,
    /// Copies the distances, or clears flags.
    Copy,
    /// Relaxes arcs.
    Compute,
}

/// How many parts there are.
const PARTS: usize = 4;

/// The names of the parts over all rounds.
const TOTALS: [&str; PARTS] = ["mark_nanoseconds", "filter_nanoseconds", "copy_nanoseconds", "compute_nanoseconds"];

/// The names of what is told of one round or of a few: the arcs, then the parts.
const OF_ROUNDS: [(&str, [&str; PARTS]); 4] = [
    (
        "first_round_arcs",
        [
            "first_round_mark_nanoseconds",
            "first_round_filter_nanoseconds",
            "first_round_copy_nanoseconds",
            "first_round_compute_nanoseconds",
        ],
    ),
    (
        "median_round_arcs",
        [
            "median_round_mark_nanoseconds",
            "median_round_filter_nanoseconds",
            "median_round_copy_nanoseconds",
            "median_round_compute_nanoseconds",
        ],
    ),
    (
        "last_round_arcs",
        [
            "last_round_mark_nanoseconds",
            "last_round_filter_nanoseconds",
            "last_round_copy_nanoseconds",
            "last_round_compute_nanoseconds",
        ],
    ),
    (
        "last_eight_rounds_arcs",
        [
            "last_eight_rounds_mark_nanoseconds",
            "last_eight_rounds_filter_nanoseconds",
            "last_eight_rounds_copy_nanoseconds",
            "last_eight_rounds_compute_nanoseconds",
        ],
    ),
];

/// How many rounds the last few are.
const LAST_FEW: usize = 8;

/// The most events that are recorded before they are read: where a round begins, where the device goes on, and where
/// each part ends.
const EVENTS: usize = PARTS + 2;

/// The events of a prepared algorithm, which its searches share.
#[derive(Debug)]
pub(super) struct Clock {
    device: Arc<dyn Device>,
    begun: Event,
    ended: Event,
    events: Vec<Event>,
}

impl Clock {
    /// Makes the events.
    pub(super) fn new(device: &Arc<dyn Device>) -> Result<Self> {
        let events = (0..EVENTS).map(|_| device.event()).collect::<Result<_>>()?;
        Ok(Clock { device: device.clone(), begun: device.event()?, ended: device.event()?, events })
    }

    /// How long the device takes over some work, outside a search.
    pub(super) fn seconds_of(&self, work: impl FnOnce() -> Result<()>) -> Result<f64> {
        self.device.record(&self.begun)?;
        work()?;
        self.device.record(&self.ended)?;
        self.device.seconds_between(&self.begun, &self.ended)
    }
}

/// What an event stands for.
#[derive(Debug, Clone, Copy)]
enum Stamp {
    /// A round begins.
    Round,
    /// The device goes on with the round.
    Resume,
    /// A part ends.
    End(Part),
}

/// One round.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    arcs: u32,
    seconds: [f32; PARTS],
}

/// The times of one search. Without a clock it keeps none, and no event is recorded.
#[derive(Debug)]
pub(super) struct Laps<'c> {
    clock: Option<&'c Clock>,
    /// What the first events stand for that have not been read.
    stamps: Vec<Stamp>,
    totals: [Option<f64>; PARTS],
    whole: f64,
    /// If single rounds are timed.
    rounds: Option<Vec<Round>>,
}

impl<'c> Laps<'c> {
    /// Begins a search.
    pub(super) fn begin(clock: Option<&'c Clock>, single_rounds: bool) -> Result<Self> {
        if let Some(clock) = clock {
            clock.device.record(&clock.begun)?;
        }
        let rounds = single_rounds.then(Vec::new);
        Ok(Laps { clock, stamps: Vec::new(), totals: [None; PARTS], whole: 0.0, rounds })
    }

    fn stamp(&mut self, stamp: Stamp) -> Result<()> {
        if let Some(clock) = self.clock {
            clock.device.record(&clock.events[self.stamps.len()])?;
            self.stamps.push(stamp);
        }
        Ok(())
    }

    /// A round begins.
    pub(super) fn begin_round(&mut self) -> Result<()> {
        self.stamp(Stamp::Round)
    }

    /// The device goes on with the round, after the host has waited for it.
    pub(super) fn resume(&mut self) -> Result<()> {
        self.stamp(Stamp::Resume)
    }

    /// A part ends that began at the event before.
    pub(super) fn end(&mut self, part: Part) -> Result<()> {
        self.stamp(Stamp::End(part))
    }

    /// Reads the events, when the host has waited for the device; the last round has so many arcs to relax.
    pub(super) fn read(&mut self, arcs: u32) -> Result<()> {
        let Some(clock) = self.clock else { return Ok(()) };
        for (index, stamp) in self.stamps.drain(..).enumerate() {
            match (stamp, &mut self.rounds) {
                (Stamp::Round, Some(rounds)) => {
                    memory::grow("the times of rounds", rounds, 1)?;
                    rounds.push(Round { arcs, ..Round::default() });
                }
                (Stamp::Round, None) | (Stamp::Resume, _) => {}
                (Stamp::End(part), rounds) => {
                    let seconds = clock.device.seconds_between(&clock.events[index - 1], &clock.events[index])?;
                    *self.totals[part as usize].get_or_insert(0.0) += seconds;
                    if let Some(round) = rounds.as_mut().and_then(|rounds| rounds.last_mut()) {
                        round.seconds[part as usize] += seconds as f32;
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the search, after the events of its last round were read.
    pub(super) fn finish(&mut self) -> Result<()> {
        if let Some(clock) = self.clock {
            clock.device.record(&clock.ended)?;
            self.whole = clock.device.seconds_between(&clock.begun, &clock.ended)?;
        }
        Ok(())
    }

    /// Adds the times to the statistics of the search; `full` is how long a round over all arcs takes, if that is known.
    pub(super) fn tell(&self, statistics: &mut Statistics, full: Option<f64>) -> Result<()> {
        if self.clock.is_none() {
            return Ok(());
        }
        for (name, seconds) in TOTALS.into_iter().zip(self.totals) {
            statistics.extend(seconds.map(|seconds| (name, nanoseconds(seconds))));
        }
        let parts: f64 = self.totals.iter().flatten().sum();
        statistics.push(("device_nanoseconds", nanoseconds(self.whole)));
        statistics.push(("wait_nanoseconds", nanoseconds(self.whole - parts)));
        let Some(rounds) = &self.rounds else { return Ok(()) };
        let relaxing = rounds.iter().rposition(|round| round.arcs > 0).map_or(0, |last| last + 1);
        let rounds = &rounds[..relaxing];
        if !rounds.is_empty() {
            self.tell_rounds(statistics, rounds)?;
        }
        if let Some(full) = full {
            let shorter = rounds.iter().filter(|round| round.work() < full).count();
            statistics.push(("full_round_nanoseconds", nanoseconds(full)));
            statistics.push(("rounds_shorter_than_full", shorter as u64));
        }
        Ok(())
    }

    /// Adds the first, the median, the last and the last few of these rounds, of which there is one.
    fn tell_rounds(&self, statistics: &mut Statistics, rounds: &[Round]) -> Result<()> {
        let arcs = of_rounds(rounds, |round| round.arcs.into())?;
        let mut parts = [[0.0; OF_ROUNDS.len()]; PARTS];
        for (part, told) in parts.iter_mut().enumerate() {
            *told = of_rounds(rounds, |round| round.seconds[part].into())?;
        }
        for (place, (arcs_name, part_names)) in OF_ROUNDS.into_iter().enumerate() {
            statistics.push((arcs_name, arcs[place] as u64));
            for (part, name) in part_names.into_iter().enumerate().filter(|(part, _)| self.totals[*part].is_some()) {
                statistics.push((name, nanoseconds(parts[part][place])));
            }
        }
        Ok(())
    }
}

impl Round {
    /// The seconds of what a round over all arcs does otherwise; both copy the same distances.
    fn work(&self) -> f64 {
        [Part::Mark, Part::Filter, Part::Compute].map(|part| f64::from(self.seconds[part as usize])).iter().sum()
    }
}

/// A number of the first round, its median over the rounds, the number of the last round, and its sum over the last few
/// rounds. There is a round.
fn of_rounds(rounds: &[Round], number: impl Fn(&Round) -> f64) -> Result<[f64; OF_ROUNDS.len()]> {
    let mut numbers = memory::listed("the times of rounds", rounds.iter().map(number))?;
    let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
    let few = numbers[numbers.len().saturating_sub(LAST_FEW)..].iter().sum();
    numbers.sort_unstable_by(f64::total_cmp);
    Ok([first, numbers[numbers.len() / 2], last, few])
}

/// Whole nanoseconds, none if rounding has left less than that.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_rounds_are_the_first_the_median_the_last_and_a_sum() {
        let round = |arcs: u32| Round { arcs, seconds: [arcs as f32, 0.0, 0.0, 1.0] };
        let told = |arcs: &[u32]| {
            let rounds: Vec<Round> = arcs.iter().map(|&arcs| round(arcs)).collect();
            of_rounds(&rounds, |round| round.arcs.into()).unwrap()
        };
        assert_eq!(told(&[7]), [7.0; 4]);
        assert_eq!(told(&[5, 1, 9]), [5.0, 5.0, 9.0, 15.0]);
        assert_eq!(told(&[100, 200, 1, 2, 3, 4, 5, 6, 7, 8]), [100.0, 6.0, 8.0, 36.0]);
        assert_eq!(round(3).work(), 4.0);
    }

    #[test]
    fn without_a_clock_nothing_is_told() {
        let mut laps = Laps::begin(None, true).unwrap();
        laps.begin_round().unwrap();
        laps.end(Part::Compute).unwrap();
        laps.read(3).unwrap();
        laps.finish().unwrap();
        let mut statistics = Statistics::new();
        laps.tell(&mut statistics, Some(1.0)).unwrap();
        assert!(statistics.is_empty());
    }
}
