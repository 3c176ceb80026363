//! The value of a figure, from the recorded results.

use std::collections::BTreeMap;
use std::path::Path;

use warpath::{Error, Result};

use super::expression::{Expression, Fact, Operand, Place, Show, What};
use crate::ratios::{self, Part, Ratio};
use crate::results::{GraphFacts, Results, Row};
use crate::{tables, text};

/// All recorded results, by folder, such as `h200/singh`.
#[derive(Debug, Default)]
pub struct Recorded {
    all: BTreeMap<String, Results>,
}

impl Recorded {
    /// Reads `MACHINE/SUITE/results.jsonl` for every machine and suite in a folder.
    ///
    /// # Errors
    ///
    /// If the folder or one of the files can't be read, or if there are no results in it.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut all = BTreeMap::new();
        for machine in folders(folder)? {
            for suite in folders(&folder.join(&machine))? {
                let file = folder.join(&machine).join(&suite).join("results.jsonl");
                if file.is_file() {
                    all.insert(format!("{machine}/{suite}"), Results::read(&file)?);
                }
            }
        }
        if all.is_empty() {
            return Err(Error::invalid(format!("there is no MACHINE/SUITE/results.jsonl in {}", folder.display())));
        }
        Ok(Recorded { all })
    }

    /// Whether there are results in this folder.
    pub(super) fn has(&self, name: &str) -> bool {
        self.all.contains_key(name)
    }

    #[cfg(test)]
    pub(super) fn of(name: &str, results: Results) -> Self {
        Recorded { all: BTreeMap::from([(name.to_owned(), results)]) }
    }

    /// The results of a place.
    pub(super) fn results(&self, place: &Place) -> std::result::Result<&Results, String> {
        let name = place.results.as_deref().ok_or("the mark names no results, such as `h200/singh`")?;
        self.all.get(name).ok_or_else(|| format!("there are no results `{name}`; there are {}", list(self.all.keys())))
    }

    /// The rows of a place's experiment, on all graphs.
    pub(super) fn rows(&self, place: &Place) -> std::result::Result<Vec<&Row>, String> {
        let results = self.results(place)?;
        let id = place.experiment.as_deref().ok_or("the mark names no experiment")?;
        let rows: Vec<&Row> = results.rows.iter().filter(|row| row.experiment == id).collect();
        if rows.is_empty() {
            let known = distinct(results.rows.iter().map(|row| &row.experiment));
            return Err(format!("there is no experiment `{id}` with results; there are {}", list(known.iter())));
        }
        Ok(rows)
    }

    /// The rows of a series on all graphs of its place, or on the graph that the place names.
    fn series(&self, operand: &Operand) -> std::result::Result<Vec<&Row>, String> {
        let all = self.rows(&operand.place)?;
        let series = operand.series.as_deref().ok_or("the mark names no series")?;
        let of_series: Vec<&Row> = all.iter().copied().filter(|row| row.series == series).collect();
        if of_series.is_empty() {
            let known = distinct(all.iter().map(|row| &row.series));
            return Err(format!("there is no series \"{series}\"; there are {}", list(known.iter())));
        }
        let Some(graph) = operand.place.graph.as_deref() else { return Ok(of_series) };
        if !all.iter().any(|row| row.graph == graph) {
            let known = distinct(all.iter().map(|row| &row.graph));
            return Err(format!("there is no graph `{graph}`; there are {}", list(known.iter())));
        }
        Ok(of_series.into_iter().filter(|row| row.graph == graph).collect())
    }
}

fn folders(folder: &Path) -> Result<Vec<String>> {
    let io = |error| Error::io(folder, error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Values without repetition, in their order.
pub(super) fn distinct<'a>(values: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for value in values {
        if !all.contains(&value.as_str()) {
            all.push(value);
        }
    }
    all
}

fn list(names: impl Iterator<Item = impl AsRef<str>>) -> String {
    names.map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// A figure as it stands on a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// A number with its unit.
    Number(String),
    /// From the least to the greatest.
    Range(String, String),
    /// A word.
    Word(String),
    /// Nothing, and why: the row's status, or that there is none.
    Nothing(String),
}

impl Value {
    /// The value as a cell of a table.
    pub(super) fn cell(&self) -> String {
        match self {
            Value::Number(text) | Value::Word(text) => text.clone(),
            Value::Range(least, greatest) if least == greatest => least.clone(),
            Value::Range(least, greatest) => format!("{least} – {greatest}"),
            Value::Nothing(why) if why.is_empty() => "–".to_owned(),
            Value::Nothing(why) => format!("*{why}*"),
        }
    }
}

/// The value of a figure whose places are filled.
pub(super) fn value(recorded: &Recorded, expression: &Expression) -> std::result::Result<Value, String> {
    match expression {
        Expression::One(Operand { place, what: What::Fact(fact), .. }) => {
            let id = place.graph.as_deref().ok_or("the mark names no graph")?;
            let facts = recorded.results(place)?.graph(id).ok_or_else(|| format!("there is no graph `{id}`"))?;
            Ok(Value::Number(fact_of(facts, *fact)))
        }
        Expression::One(operand) => {
            let rows = recorded.series(operand)?;
            if operand.place.graph.is_none() {
                return Err("the mark names no graph, as in EXPERIMENT/GRAPH".to_owned());
            }
            Ok(rows.first().map_or_else(|| Value::Nothing(String::new()), |row| of_row(row, &operand.what)))
        }
        Expression::Ratio(slow, fast, show) => ratio(recorded, slow, fast, *show),
    }
}

fn fact_of(facts: &GraphFacts, fact: Fact) -> String {
    match fact {
        Fact::Vertices => text::grouped(facts.vertices),
        Fact::Arcs => text::grouped(facts.arcs),
        Fact::Degree => text::digits(facts.degree.1),
        Fact::GreatestDegree => text::grouped(facts.degree.2),
        Fact::Levels => text::grouped(facts.frontiers.len() as u64),
        Fact::Components => text::grouped(facts.components.0),
        Fact::Largest => text::grouped(facts.components.1),
        Fact::StrongComponents => {
            facts.strong_components.map_or_else(|| "–".to_owned(), |(count, _)| text::grouped(count))
        }
    }
}

fn of_row(row: &Row, what: &What) -> Value {
    let number = |text: Option<String>| text.map_or_else(|| Value::Nothing(String::new()), Value::Number);
    let counter = |name: &str, value: f64| match name.strip_suffix("_nanoseconds") {
        Some(_) => text::seconds(value * 1e-9),
        None => text::grouped(value as u64),
    };
    // What a row has without times.
    match what {
        What::Paper => return number(row.reported.map(text::seconds)),
        What::PaperCounter(name) => return number(row.reported_counters.get(name).map(|found| counter(name, *found))),
        What::Counter(name) => return number(row.counters.get(name).map(|found| counter(name, *found as f64))),
        _ => {}
    }
    let Some(times) = row.times() else { return Value::Nothing(row.status.text().to_owned()) };
    match what {
        What::Range => Value::Range(text::seconds(times.solve.least), text::seconds(times.solve.greatest)),
        What::Host => Value::Number(text::seconds(times.host)),
        What::Prepare => Value::Number(text::seconds(times.prepare)),
        What::Download => Value::Number(text::seconds(times.download)),
        What::Clock => Value::Word(tables::clock(times.clock).to_owned()),
        What::Searches => Value::Number(text::grouped(row.searches() as u64)),
        _ => Value::Number(text::seconds(times.solve.median)),
    }
}

fn ratio(recorded: &Recorded, slow: &Operand, fast: &Operand, show: Show) -> std::result::Result<Value, String> {
    let found = ratios(recorded, slow, fast)?;
    if found.is_empty() {
        return Ok(Value::Nothing(String::new()));
    }
    let one_graph = slow.place.graph.is_some() && fast.place.graph.is_some();
    let values = || found.iter().map(|ratio| ratio.value);
    Ok(match show {
        Show::Value if one_graph => Value::Number(text::ratio(found[0].value)),
        Show::Value => return Err("the mark names no graph: `mean`, `range` or `graphs` are of all graphs".to_owned()),
        Show::Mean => Value::Number(text::ratio(ratios::mean(values()))),
        Show::Graphs => Value::Number(found.len().to_string()),
        Show::Clock => {
            let mut clocks: Vec<_> = found.iter().map(|ratio| ratio.clock).collect();
            clocks.sort();
            clocks.dedup();
            Value::Word(clocks.iter().map(|clock| clock.text()).collect::<Vec<_>>().join(" or "))
        }
        Show::Range => {
            let (least, greatest) =
                if one_graph { (found[0].least, found[0].greatest) } else { ratios::range(values()) };
            Value::Range(text::ratio(least), text::ratio(greatest))
        }
    })
}

/// The ratios on the graph of the mark, or on all graphs that both series have.
fn ratios(recorded: &Recorded, slow: &Operand, fast: &Operand) -> std::result::Result<Vec<Ratio>, String> {
    let (above, below) = (recorded.series(slow)?, recorded.series(fast)?);
    let of = |slow_row: &Row, fast_row: &Row| ratios::ratio((slow_row, part(&slow.what)), (fast_row, part(&fast.what)));
    if slow.place.graph.is_some() || fast.place.graph.is_some() {
        let pairs = above.iter().flat_map(|slow| below.iter().map(move |fast| (*slow, *fast)));
        return Ok(pairs.filter_map(|(slow, fast)| of(slow, fast)).collect());
    }
    let on_its_graph = |slow: &&Row| of(slow, below.iter().find(|fast| fast.graph == slow.graph)?);
    Ok(above.iter().filter_map(on_its_graph).collect())
}

fn part(what: &What) -> Part<'_> {
    match what {
        What::Counter(name) => Part::Counter(name),
        What::Paper => Part::Paper,
        _ => Part::Whole,
    }
}
