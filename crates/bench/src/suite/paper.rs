//! What a suite repeats of its paper: claims, with the ratios that would confirm them, and figures, with their lines.

use serde::Deserialize;

/// How results are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chart {
    /// Time over the graphs' place on the axis, a line for each series.
    Lines,
    /// Time by graph, a bar for each series.
    Bars,
}

/// A paper's claim about two series, or about one series on two graphs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Claim {
    /// The claim, in a sentence.
    pub text: String,
    /// The figure that the paper gives, such as `20-50x`.
    pub says: String,
    /// The experiment that tests it.
    pub experiment: String,
    /// The series, or `GRAPH/SERIES`, that takes more time.
    pub slow: String,
    /// The series, or `GRAPH/SERIES`, that takes less time.
    pub fast: String,
    /// The experiment with `fast`, if it is a different one.
    #[serde(default)]
    pub fast_experiment: Option<String>,
    /// A counter of nanoseconds that is compared instead of the whole time of `slow`.
    #[serde(default)]
    pub slow_counter: Option<String>,
    /// The same for `fast`.
    #[serde(default)]
    pub fast_counter: Option<String>,
    /// The graphs that it is about; by default, all that both series have.
    #[serde(default)]
    pub graphs: Option<Vec<String>>,
    /// The place in the paper, such as `sect. 4, fig. 6`.
    #[serde(default)]
    pub paper: Option<String>,
    /// The ratios with which it holds.
    #[serde(default)]
    pub holds_if: Option<Band>,
    /// The reason that stands behind the verdict; `untested: ..` takes the verdict's place.
    #[serde(default)]
    pub verdict: Option<String>,
    /// Whether the faster kernel is the paper's.
    #[serde(default)]
    pub kernel: Option<Kernel>,
}

/// The ratios with which a claim holds, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// The least ratio.
    #[serde(default)]
    pub least: Option<f64>,
    /// The greatest ratio.
    #[serde(default)]
    pub most: Option<f64>,
}

impl Band {
    /// Whether a ratio is in the band.
    pub fn contains(self, ratio: f64) -> bool {
        self.least.is_none_or(|least| ratio >= least) && self.most.is_none_or(|most| ratio <= most)
    }
}

/// Whose kernel runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Kernel {
    /// The paper's, with repairs of what is wrong or cannot run, and nothing else.
    #[serde(rename = "as printed")]
    AsPrinted,
    /// One with the paper's idea, written for speed.
    #[serde(rename = "tuned")]
    Tuned,
}

impl Kernel {
    /// The word for it.
    pub fn text(self) -> &'static str {
        match self {
            Kernel::AsPrinted => "as printed",
            Kernel::Tuned => "tuned",
        }
    }
}

impl Claim {
    /// Whether the suite says that nothing here can test it.
    pub fn is_untested(&self) -> bool {
        self.verdict.as_deref().is_some_and(|verdict| verdict.starts_with("untested"))
    }

    /// What is wrong with the verdict and the band.
    pub(super) fn check(&self) -> std::result::Result<(), &'static str> {
        if let Some(Band { least, most }) = self.holds_if {
            let ends = [least, most].into_iter().flatten();
            let is_empty = least.zip(most).is_some_and(|(least, most)| least > most);
            if ends.clone().count() == 0 || ends.clone().any(|end| !(end > 0.0 && end.is_finite())) || is_empty {
                return Err("a claim's band has no ratio in it");
            }
        }
        // The verdict is counted; the words of a file could contradict it.
        let counted = ["holds", "does not hold"];
        if self.verdict.as_deref().is_some_and(|verdict| counted.iter().any(|word| verdict.starts_with(word))) {
            return Err("a claim's verdict is counted from its band; `verdict` is the reason, or `untested: ..`");
        }
        Ok(())
    }

    /// The two compared series, for people.
    pub fn compared(&self) -> String {
        let part = |series: &str, counter: &Option<String>| match counter {
            Some(counter) => format!("{series} ({} alone)", counter.replace('_', " ")),
            None => series.to_owned(),
        };
        format!("{} by {}", part(&self.slow, &self.slow_counter), part(&self.fast, &self.fast_counter))
    }
}

/// A figure of the paper, drawn with the series that the paper draws.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Figure {
    /// Its name in the paper, such as `Fig. 4`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Lines over the graphs' places, or columns by graph.
    pub chart: Chart,
    /// The label of the horizontal axis.
    #[serde(default)]
    pub axis: Option<String>,
    /// The scale of the horizontal axis, for lines.
    #[serde(default)]
    pub across: Scale,
    /// The scale of the times.
    #[serde(default)]
    pub up: Scale,
    /// A note for people.
    #[serde(default)]
    pub note: Option<String>,
    /// The lines.
    #[serde(rename = "line")]
    pub lines: Vec<FigureLine>,
}

/// A line of a figure.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FigureLine {
    /// The experiment.
    pub experiment: String,
    /// The series.
    pub series: String,
    /// What the figure calls it, if not by the series.
    #[serde(default)]
    pub name: Option<String>,
}

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Powers of ten are equally far apart.
    #[default]
    Log,
    /// From 0.
    Linear,
}
