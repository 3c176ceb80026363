//! How many times as long one row takes as another, by one clock, with the range that repeats leave.
//!
//! A search on a GPU may be timed by the device, and one on the CPU only by the host. A ratio of the two would count the
//! launch of kernels and the wait for them on one side alone. So both sides are taken by one clock: by the device's where
//! both rows have it, and by the host's otherwise. A peer has its own clock only, which its own process reads as the host's.
//!
//! *Invariants.* `least <= value <= greatest` in every [`Ratio`], and all three are above 0 and finite.

use crate::results::{Clock, Row, Spread, Times};

/// What of a row is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// The time of the whole search.
    Whole,
    /// A counter of nanoseconds, for a part of the search.
    Counter(&'a str),
    /// The time that the paper reports.
    Paper,
}

/// The clock of both sides of a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Common {
    /// The device's clock.
    Device,
    /// The host's clock.
    Host,
    /// The host's clock on one side, and a peer's own on the other.
    HostAndPeer,
    /// The peers' own clocks.
    Peers,
    /// A counter of the algorithm on at least one side.
    Counter,
    /// The paper's time on at least one side.
    Paper,
}

impl Common {
    /// The clock, for people.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Common::Device => "device",
            Common::Host => "host",
            Common::HostAndPeer => "host, and the peer's own",
            Common::Peers => "each its own",
            Common::Counter => "a counter",
            Common::Paper => "the paper's",
        }
    }
}

/// The time of one row divided by the time of another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ratio {
    /// The name of the graph, or of two graphs.
    pub(crate) graph: String,
    /// The ratio of the medians.
    pub(crate) value: f64,
    /// The least slow sample by the greatest fast one, or, from several sources, the least of these over the sources.
    pub(crate) least: f64,
    /// The greatest slow sample by the least fast one, likewise.
    pub(crate) greatest: f64,
    /// The clock of both sides.
    pub(crate) clock: Common,
    /// The timed searches of both sides.
    pub(crate) searches: (usize, usize),
    /// Whether each side has its samples by this clock. Without them a side counts with its median alone.
    pub(crate) has_samples: bool,
}

/// The times of one side.
struct Side {
    median: f64,
    samples: Vec<Vec<f64>>,
}

/// The least and the greatest of some samples.
fn ends(samples: &[Vec<f64>]) -> (f64, f64) {
    let all = || samples.iter().flatten().copied();
    (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max))
}

/// The times of a row by the host's clock.
fn by_host(times: &Times) -> Side {
    match times.clock {
        Clock::Host | Clock::Peer => Side { median: times.solve.median, samples: times.samples.clone() },
        Clock::Device if times.host_samples.iter().any(|of_source| !of_source.is_empty()) => {
            Side { median: Spread::of(&times.host_samples).median, samples: times.host_samples.clone() }
        }
        Clock::Device => Side { median: times.host, samples: Vec::new() },
    }
}

/// The clock that both rows have.
fn common(slow: &Times, fast: &Times) -> Common {
    match (slow.clock, fast.clock) {
        (Clock::Device, Clock::Device) => Common::Device,
        (Clock::Peer, Clock::Peer) => Common::Peers,
        (Clock::Peer, _) | (_, Clock::Peer) => Common::HostAndPeer,
        _ => Common::Host,
    }
}

/// A part of a row that is not compared as a whole, or the whole by the clock it has.
fn side(row: &Row, part: Part<'_>, clock: Common) -> Option<Side> {
    let times = row.times();
    match part {
        Part::Paper => Some(Side { median: row.reported?, samples: Vec::new() }),
        // Ignore a counter of a row without times.
        Part::Counter(name) => {
            times?;
            Some(Side { median: *row.counters.get(name)? as f64 * 1e-9, samples: Vec::new() })
        }
        Part::Whole if matches!(clock, Common::Host | Common::HostAndPeer) => Some(by_host(times?)),
        Part::Whole => times.map(|times| Side { median: times.solve.median, samples: times.samples.clone() }),
    }
}

/// The ratio of two rows, if both have what is compared.
pub(crate) fn ratio(slow: (&Row, Part<'_>), fast: (&Row, Part<'_>)) -> Option<Ratio> {
    let clock = match (slow.1, fast.1) {
        (Part::Paper, _) | (_, Part::Paper) => Common::Paper,
        (Part::Counter(_), _) | (_, Part::Counter(_)) => Common::Counter,
        (Part::Whole, Part::Whole) => common(slow.0.times()?, fast.0.times()?),
    };
    let (above, below) = (side(slow.0, slow.1, clock)?, side(fast.0, fast.1, clock)?);
    let (value, least, greatest) = extent(&above, &below, slow.0.sources == fast.0.sources);
    let is_sound = |value: f64| value > 0.0 && value.is_finite();
    let graph = if slow.0.graph == fast.0.graph {
        slow.0.graph.clone()
    } else {
        format!("{} / {}", slow.0.graph, fast.0.graph)
    };
    (is_sound(value) && is_sound(least) && is_sound(greatest)).then(|| Ratio {
        graph,
        value,
        least: least.min(value),
        greatest: greatest.max(value),
        clock,
        searches: (slow.0.searches(), fast.0.searches()),
        has_samples: !above.samples.is_empty() && !below.samples.is_empty(),
    })
}

/// The ratio of the medians, and its least and greatest by the samples: source by source where both have the same ones.
fn extent(above: &Side, below: &Side, same_sources: bool) -> (f64, f64, f64) {
    let value = above.median / below.median;
    let of = |side: &Side| if side.samples.is_empty() { vec![vec![side.median]] } else { side.samples.clone() };
    let (slow, fast) = (of(above), of(below));
    if same_sources && slow.len() == fast.len() {
        let each = slow.iter().zip(&fast).map(|(slow, fast)| {
            let (slow, fast) = (ends(std::slice::from_ref(slow)), ends(std::slice::from_ref(fast)));
            (slow.0 / fast.1, slow.1 / fast.0)
        });
        let (least, greatest) =
            each.fold((f64::INFINITY, 0.0_f64), |(least, greatest), (low, high)| (least.min(low), greatest.max(high)));
        return (value, least, greatest);
    }
    let (slow, fast) = (ends(&slow), ends(&fast));
    (value, slow.0 / fast.1, slow.1 / fast.0)
}

/// The geometric mean of some ratios, at least one.
pub(crate) fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    (values.map(f64::ln).sum::<f64>() / count).exp()
}

/// The least and the greatest of some ratios, at least one.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(least, greatest): (f64, f64), value| (least.min(value), greatest.max(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::row;

    fn on(clock: Clock, row: Row, host: f64) -> Row {
        let times = row.seconds.map(|times| Times { clock, host, ..times });
        Row { seconds: times, ..row }
    }

    fn whole(slow: &Row, fast: &Row) -> Ratio {
        ratio((slow, Part::Whole), (fast, Part::Whole)).unwrap()
    }

    #[test]
    fn both_sides_have_one_clock() {
        let cpu = row("g", "cpu", &[8.0, 10.0, 12.0]);
        let gpu = on(Clock::Device, row("g", "gpu", &[1.0, 1.0, 1.25]), 2.0);
        let found = whole(&cpu, &gpu);
        assert_eq!((found.value, found.clock, found.has_samples), (5.0, Common::Host, false));
        assert_eq!((found.least, found.greatest), (4.0, 6.0), "the host's median of the GPU, since it has no samples");
        let found = whole(&gpu, &gpu);
        assert_eq!((found.value, found.clock, found.has_samples), (1.0, Common::Device, true));
        assert_eq!((found.least, found.greatest), (0.8, 1.25));
        let peer = on(Clock::Peer, cpu.clone(), 10.0);
        assert_eq!(whole(&peer, &gpu).clock, Common::HostAndPeer);
        assert_eq!(whole(&peer, &gpu).value, 5.0);
        assert_eq!(whole(&peer, &peer).clock, Common::Peers);
    }

    #[test]
    fn samples_of_the_host_give_its_range() {
        let cpu = row("g", "cpu", &[8.0, 10.0, 12.0]);
        let mut gpu = on(Clock::Device, row("g", "gpu", &[1.0, 1.0, 1.25]), 2.0);
        gpu.seconds.as_mut().unwrap().host_samples = vec![vec![2.0, 1.6, 4.0]];
        let found = whole(&cpu, &gpu);
        assert_eq!((found.value, found.least, found.greatest, found.has_samples), (5.0, 2.0, 7.5, true));
        assert_eq!(found.searches, (3, 3));
    }

    #[test]
    fn sources_are_compared_one_by_one() {
        let of = |samples: &[Vec<f64>]| {
            let mut row = row("g", "x", &[1.0]);
            let times = row.seconds.as_mut().unwrap();
            (times.samples, times.solve) = (samples.to_vec(), Spread::of(samples));
            row
        };
        let found = whole(&of(&[vec![2.0], vec![40.0]]), &of(&[vec![1.0], vec![10.0]]));
        assert_eq!((found.least, found.greatest), (2.0, 4.0), "0.2 and 40 would be of two searches");
        let cut_short = whole(&of(&[vec![2.0], vec![40.0]]), &of(&[vec![1.0]]));
        assert_eq!((cut_short.least, cut_short.greatest), (2.0, 40.0));
    }

    #[test]
    fn parts_and_what_the_paper_says() {
        let mut slow = row("g", "x", &[4.0]);
        slow.reported = Some(100.0);
        slow.counters.insert("compute_nanoseconds".into(), 500_000_000);
        let fast = row("h", "y", &[2.0, 1.0]);
        let found = ratio((&slow, Part::Counter("compute_nanoseconds")), (&fast, Part::Whole)).unwrap();
        assert_eq!((found.value, found.clock, found.graph.as_str()), (0.5 / 1.5, Common::Counter, "g / h"));
        let found = ratio((&slow, Part::Paper), (&slow, Part::Whole)).unwrap();
        assert_eq!((found.value, found.clock), (25.0, Common::Paper));
        assert!(ratio((&fast, Part::Paper), (&slow, Part::Whole)).is_none());
        assert!(ratio((&row("g", "z", &[0.0]), Part::Whole), (&slow, Part::Whole)).is_none(), "a time of 0");
    }

    #[test]
    fn means_are_geometric() {
        assert!((mean([2.0, 8.0].into_iter()) - 4.0).abs() < 1e-12);
        assert_eq!(range([2.0, 8.0, 1.0].into_iter()), (1.0, 8.0));
    }
}
