//! A paper's claims, judged by what was measured.
//!
//! A claim is a ratio of two series. It has a value on each graph that both have, all by one clock ([`crate::ratios`]), and
//! holds on a graph whose value is in the claim's band. The verdict is counted from these; the words of the suite are only
//! the reason that stands behind it. A suite may say of a claim that it is untested, where no graph here can test it.

use crate::ratios::{self, Part, Ratio};
use crate::results::{Results, Row};
use crate::suite::{Claim, Kernel, Suite};
use crate::text;

/// A claim with the ratios that test it.
#[derive(Debug, Clone)]
pub(crate) struct Judged<'a> {
    /// The claim.
    pub(crate) claim: &'a Claim,
    /// The ratios, by graph.
    pub(crate) ratios: Vec<Ratio>,
    /// The number of graphs on which both sides were tried.
    tried: usize,
    /// The number of ratios on graphs from files or from the suite, on generated ones, and on stand-ins.
    data: (usize, usize, usize),
}

/// How a claim ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Every graph is in the band.
    Holds,
    /// So many graphs of so many are in the band.
    InPart(usize, usize),
    /// No graph is in the band.
    Fails,
    /// The suite says that it is untested, or gives no band.
    Untested,
    /// There is no ratio.
    NotMeasured,
}

/// All claims of a suite.
pub(crate) fn judged<'a>(suite: &'a Suite, results: &Results) -> Vec<Judged<'a>> {
    suite.claims.iter().map(|claim| Judged::new(suite, claim, results)).collect()
}

/// The rows of one side of a claim.
fn rows<'r>(results: &'r Results, claim: &Claim, experiment: &str, series: &str) -> Vec<&'r Row> {
    let (graph, series) = series.split_once('/').map_or((None, series), |(graph, series)| (Some(graph), series));
    let is_wanted = |row: &&Row| {
        row.experiment == experiment
            && row.series == series
            && graph.is_none_or(|graph| row.graph == graph)
            && claim.graphs.as_ref().is_none_or(|graphs| graphs.contains(&row.graph))
    };
    results.rows.iter().filter(is_wanted).collect()
}

impl<'a> Judged<'a> {
    /// Takes the ratios of a claim from these results.
    pub(crate) fn new(suite: &Suite, claim: &'a Claim, results: &Results) -> Self {
        let slow = rows(results, claim, &claim.experiment, &claim.slow);
        let fast_experiment = claim.fast_experiment.as_ref().unwrap_or(&claim.experiment);
        let fast = rows(results, claim, fast_experiment, &claim.fast);
        let names_graphs = claim.slow.contains('/') || claim.fast.contains('/');
        let is_pair = |slow: &Row, fast: &Row| names_graphs || slow.graph == fast.graph;
        let pairs: Vec<(&Row, &Row)> = slow
            .iter()
            .flat_map(|slow| fast.iter().map(move |fast| (*slow, *fast)))
            .filter(|(slow, fast)| is_pair(slow, fast))
            .collect();
        let part = |counter: &'a Option<String>| counter.as_deref().map_or(Part::Whole, Part::Counter);
        let mut data = (0, 0, 0);
        let mut found = Vec::new();
        for (slow, fast) in &pairs {
            let ratio = ratios::ratio((slow, part(&claim.slow_counter)), (fast, part(&claim.fast_counter)));
            let Some(ratio) = ratio else { continue };
            let is_stand_in = |row: &Row| results.graph(&row.graph).is_some_and(|graph| graph.stand_in.is_some());
            let is_real = |row: &Row| {
                let entry = suite.graphs.iter().find(|graph| graph.id == row.graph);
                entry.is_some_and(|graph| graph.dataset.is_some() || graph.arcs.is_some())
            };
            match () {
                () if is_stand_in(slow) || is_stand_in(fast) => data.2 += 1,
                () if is_real(slow) && is_real(fast) => data.0 += 1,
                () => data.1 += 1,
            }
            found.push(ratio);
        }
        Judged { claim, ratios: found, tried: pairs.len(), data }
    }

    /// Whether a ratio is in the claim's band; `None` without a band.
    pub(crate) fn is_in_band(&self, ratio: &Ratio) -> Option<bool> {
        self.claim.holds_if.map(|band| band.contains(ratio.value))
    }

    /// The verdict.
    pub(crate) fn verdict(&self) -> Verdict {
        if self.claim.is_untested() {
            return Verdict::Untested;
        }
        if self.ratios.is_empty() {
            return Verdict::NotMeasured;
        }
        let Some(band) = self.claim.holds_if else { return Verdict::Untested };
        match self.ratios.iter().filter(|ratio| band.contains(ratio.value)).count() {
            0 => Verdict::Fails,
            within if within == self.ratios.len() => Verdict::Holds,
            within => Verdict::InPart(within, self.ratios.len()),
        }
    }

    /// The verdict for people, with the band and the suite's reason.
    pub(crate) fn verdict_text(&self) -> String {
        let verdict = match self.verdict() {
            Verdict::Holds => format!("holds{}", self.beside_band()),
            Verdict::InPart(within, all) => {
                format!("holds in part ({within} of {all} graphs{})", self.beyond_band(", "))
            }
            Verdict::Fails => format!("does not hold{}", self.beside_band()),
            Verdict::Untested if self.claim.is_untested() => return self.claim.verdict.clone().unwrap_or_default(),
            Verdict::Untested => "untested: the claim has no band".to_owned(),
            Verdict::NotMeasured => return "not measured".to_owned(),
        };
        match self.claim.verdict.as_deref() {
            Some(reason) => format!("{verdict}: {reason}"),
            None => verdict,
        }
    }

    fn beside_band(&self) -> String {
        let beyond = self.beyond_band("");
        if beyond.is_empty() { beyond } else { format!(" ({beyond})") }
    }

    /// How many graphs are below the band, and how many above it.
    fn beyond_band(&self, before: &str) -> String {
        let Some(band) = self.claim.holds_if else { return String::new() };
        let count = |is_beyond: &dyn Fn(f64) -> bool| self.ratios.iter().filter(|r| is_beyond(r.value)).count();
        let below = band.least.map(|least| (count(&|value| value < least), "below", least));
        let above = band.most.map(|most| (count(&|value| value > most), "above", most));
        let told = [below, above].into_iter().flatten().filter(|(count, _, _)| *count > 0);
        let all: Vec<String> = told
            .map(|(count, side, limit)| match count {
                _ if self.ratios.len() == 1 => format!("{side} {}", text::ratio(limit)),
                _ if count == self.ratios.len() => format!("all {side} {}", text::ratio(limit)),
                _ => format!("{count} {side} {}", text::ratio(limit)),
            })
            .collect();
        if all.is_empty() { String::new() } else { format!("{before}{}", all.join(", ")) }
    }

    /// The ratios from the least to the greatest graph, with their mean and the range of the repeats.
    pub(crate) fn measured(&self) -> String {
        let values = || self.ratios.iter().map(|ratio| ratio.value);
        let (least, greatest) = ratios::range(values());
        let repeats = (
            self.ratios.iter().map(|ratio| ratio.least).fold(f64::INFINITY, f64::min),
            self.ratios.iter().map(|ratio| ratio.greatest).fold(0.0, f64::max),
        );
        let repeats = format!("repeats {} – {}", text::ratio(repeats.0), text::ratio(repeats.1));
        let of = if self.ratios.len() < self.tried { format!(" of {}", self.tried) } else { String::new() };
        match self.ratios.len() {
            0 => "–".to_owned(),
            1 if of.is_empty() => format!("{}; {repeats}", text::ratio(least)),
            1 => format!("{} on 1{of} graphs; {repeats}", text::ratio(least)),
            count => format!(
                "{} – {}, mean {} over {count}{of} graphs; {repeats}",
                text::ratio(least),
                text::ratio(greatest),
                text::ratio(ratios::mean(values()))
            ),
        }
    }

    /// What the graphs are.
    pub(crate) fn data(&self) -> String {
        let (real, generated, stand_ins) = self.data;
        let all = [(real, "real"), (generated, "generated"), (stand_ins, "stand-in")];
        let some: Vec<(usize, &str)> = all.into_iter().filter(|(count, _)| *count > 0).collect();
        match some[..] {
            [] => "–".to_owned(),
            [(_, what)] => what.to_owned(),
            _ => some.iter().map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", "),
        }
    }

    /// Whose kernel it is.
    pub(crate) fn kernel(&self) -> &'static str {
        self.claim.kernel.map_or("–", Kernel::text)
    }

    /// The clock of both sides.
    pub(crate) fn clock(&self) -> String {
        let mut clocks: Vec<_> = self.ratios.iter().map(|ratio| ratio.clock).collect();
        clocks.sort();
        clocks.dedup();
        let names = clocks.iter().map(|clock| clock.text()).collect::<Vec<_>>().join(" or ");
        match self.ratios.iter().all(|ratio| ratio.has_samples) {
            true if names.is_empty() => "–".to_owned(),
            true => names,
            false => format!("{names} (of one side only the median)"),
        }
    }

    /// The timed searches on a graph, of both sides.
    pub(crate) fn searches(&self) -> String {
        let span = |of: &dyn Fn(&Ratio) -> usize| {
            let least = self.ratios.iter().map(of).min().unwrap_or(0);
            let most = self.ratios.iter().map(of).max().unwrap_or(0);
            if least == most { least.to_string() } else { format!("{least}–{most}") }
        };
        if self.ratios.is_empty() {
            return "–".to_owned();
        }
        format!("{} by {}", span(&|ratio| ratio.searches.0), span(&|ratio| ratio.searches.1))
    }

    /// What the paper says, and where.
    pub(crate) fn says(&self) -> String {
        match self.claim.paper.as_deref() {
            Some(place) => format!("{} ({place})", self.claim.says),
            None => self.claim.says.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{empty_run, graph, row};
    use crate::results::{Clock, GraphFacts, Status, Times};

    fn measured(ratios: &[f64]) -> (Suite, Results) {
        let suite = Suite::named("singh").unwrap();
        let mut results = empty_run("singh");
        for (id, ratio) in ["n10", "n22", "n64"].into_iter().zip(ratios) {
            let of = |series: &str, samples: &[f64]| Row { experiment: "fig8".into(), ..row(id, series, samples) };
            results.add_graph(graph(id, 10, 20));
            results.add_row(of(&suite.claims[0].slow, &[0.9 * ratio, *ratio, 1.2 * ratio]));
            results.add_row(of(&suite.claims[0].fast, &[1.0]));
        }
        (suite, results)
    }

    /// The text of the verdict with this band and reason.
    fn verdict(ratios: &[f64], band: &str, reason: Option<&str>) -> (Verdict, String) {
        let (suite, results) = measured(ratios);
        let claim = Claim {
            holds_if: (!band.is_empty()).then(|| toml::from_str(band).unwrap()),
            verdict: reason.map(str::to_owned),
            ..suite.claims[0].clone()
        };
        let judged = Judged::new(&suite, &claim, &results);
        (judged.verdict(), judged.verdict_text())
    }

    #[test]
    fn the_verdict_is_counted() {
        let both = "least = 20\nmost = 50";
        let of = |ratios: &[f64]| verdict(ratios, both, None);
        assert_eq!(of(&[20.0, 30.0, 50.0]), (Verdict::Holds, "holds".into()));
        assert_eq!(of(&[10.0, 30.0]), (Verdict::InPart(1, 2), "holds in part (1 of 2 graphs, 1 below 20.0×)".into()));
        assert_eq!(of(&[10.0, 60.0]), (Verdict::Fails, "does not hold (1 below 20.0×, 1 above 50.0×)".into()));
        assert_eq!(of(&[60.0, 70.0]).1, "does not hold (all above 50.0×)");
        assert_eq!(of(&[60.0]).1, "does not hold (above 50.0×)");
        assert_eq!(of(&[]), (Verdict::NotMeasured, "not measured".into()));
        assert_eq!(verdict(&[3.0], "least = 2", Some("it is so")).1, "holds: it is so");
        assert_eq!(verdict(&[3.0], "", None).0, Verdict::Untested);
        let untested = verdict(&[3.0], "least = 2", Some("untested: the stand-in is undirected"));
        assert_eq!(untested, (Verdict::Untested, "untested: the stand-in is undirected".into()));
    }

    #[test]
    fn a_claim_tells_its_range_data_clock_and_searches() {
        let (suite, mut results) = measured(&[4.0, 16.0, 8.0]);
        let told = |results: &Results| {
            let judged = Judged::new(&suite, &suite.claims[0], results);
            [judged.measured(), judged.data(), judged.clock(), judged.searches()]
        };
        assert_eq!(
            told(&results),
            ["4.00× – 16.0×, mean 8.00× over 3 graphs; repeats 3.60× – 19.2×", "generated", "host", "3 by 1"]
        );
        results.add_graph(GraphFacts { stand_in: Some("absent".into()), ..graph("n10", 10, 20) });
        let late = results.rows.iter_mut().find(|row| row.graph == "n64").unwrap();
        late.status = Status::Timeout;
        let fast =
            results.rows.iter_mut().find(|row| row.graph == "n22" && row.series == suite.claims[0].fast).unwrap();
        fast.seconds = fast.seconds.take().map(|times| Times { clock: Clock::Device, host: 2.0, ..times });
        assert_eq!(
            told(&results),
            [
                "4.00× – 8.00×, mean 5.66× over 2 of 3 graphs; repeats 3.60× – 9.60×",
                "1 generated, 1 stand-in",
                "host (of one side only the median)",
                "3 by 1"
            ]
        );
        results.rows.clear();
        assert_eq!(told(&results), ["–", "–", "–", "–"]);
    }

    #[test]
    fn a_claim_may_be_of_some_graphs() {
        let (suite, results) = measured(&[4.0, 16.0, 8.0]);
        let claim = Claim { graphs: Some(vec!["n22".into(), "n64".into()]), ..suite.claims[0].clone() };
        let judged = Judged::new(&suite, &claim, &results);
        assert_eq!(judged.ratios.iter().map(|ratio| ratio.value).collect::<Vec<_>>(), [16.0, 8.0]);
    }
}
