//! Descriptions of the engines' algorithms: names, parameters as in `delta-stepping:delta=100`, counters.

mod workload;

pub(crate) use self::workload::greatest_degree;
pub use self::workload::{GraphFacts, Workload};
use crate::problems::Problem;
use crate::{Error, Result};

/// The counters an algorithm keeps: name and value.
pub(crate) type Statistics = Vec<(&'static str, u64)>;

/// Adds counters to those of the same name.
pub(crate) fn add_counters(to: &mut Statistics, of: Statistics) {
    for (name, value) in of {
        match to.iter_mut().find(|(there, _)| *there == name) {
            Some((_, sum)) => *sum += value,
            None => to.push((name, value)),
        }
    }
}

/// The description of an algorithm.
#[derive(Debug, Clone, Copy)]
pub struct AlgorithmInfo {
    /// The problem it solves.
    pub problem: Problem,
    /// Its name, as `--algorithm` takes it.
    pub name: &'static str,
    /// One line on what it does and where it wins.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What can be set.
    pub parameters: &'static [Parameter],
    /// Whether it is right for weights below zero.
    pub negative_weights: bool,
    /// Predicts the seconds of the work on a prepared graph, without copies and without opening a device.
    pub seconds: fn(&Workload<'_>) -> f64,
}

impl AlgorithmInfo {
    /// The parameters in a text such as `delta-stepping:delta=100`.
    ///
    /// # Errors
    ///
    /// If the text names another algorithm, or the algorithm has no such parameter or value.
    pub fn parameters_in(&self, text: &str) -> Result<Parameters> {
        parse_algorithm(&[*self], |info| info, text).map(|(_, parameters)| parameters)
    }
}

/// A parameter of an algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it does; and its value if it is not set, unless [`Values::Or`] has that.
    pub summary: &'static str,
    /// What it can be set to.
    pub values: Values,
}

impl std::fmt::Display for Parameter {
    /// The name, what it does, and its value if it is not set, as help has them.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.name, self.summary)?;
        match self.values {
            Values::Or(_, Unset::Number(number)) => write!(out, "; {number}"),
            Values::Or(_, Unset::InWords(words)) => write!(out, "; {}", words()),
            _ => Ok(()),
        }
    }
}

/// The value of a parameter that is not set.
#[derive(Debug, Clone, Copy)]
pub enum Unset {
    /// This number.
    Number(f64),
    /// A value that the algorithm computes; the text says how.
    InWords(fn() -> String),
}

/// What a parameter can be set to.
#[derive(Debug, Clone, Copy)]
pub enum Values {
    /// A number, this one or more.
    AtLeast(f64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// How many threads a block has and how many blocks there are, as in `256x8`.
    Launch,
    /// One of these values; this one if it is not set.
    Or(&'static Values, Unset),
}

impl Values {
    /// The value that this text stands for, if it is one of these.
    fn parse(&self, text: &str) -> Option<Value> {
        match self {
            Values::AtLeast(least) => {
                let number: f64 = text.parse().ok()?;
                (number.is_finite() && number >= *least).then_some(Value::Number(number))
            }
            Values::OneOf(words) => words.iter().find(|word| **word == text).map(|word| Value::Word(word)),
            Values::Launch => {
                let (threads, blocks) = text.split_once('x')?;
                let (threads, blocks) = (threads.parse().ok()?, blocks.parse().ok()?);
                (threads > 0 && blocks > 0).then_some(Value::Launch { threads, blocks })
            }
            Values::Or(values, _) => values.parse(text),
        }
    }
}

impl std::fmt::Display for Values {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Values::AtLeast(least) if *least < 1e-6 && *least > 0.0 => write!(out, "a number above 0"),
            Values::AtLeast(least) => write!(out, "a number of {least} or more"),
            Values::OneOf(words) => write!(out, "one of {}", words.join(", ")),
            Values::Launch => write!(out, "threads of a block and blocks, as in 256x8"),
            Values::Or(values, _) => values.fmt(out),
        }
    }
}

/// A value that a parameter was set to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    Number(f64),
    Word(&'static str),
    Launch { threads: u32, blocks: u32 },
}

/// The parameters that were set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters(Vec<(&'static str, Value)>);

impl Parameters {
    fn value(&self, name: &str) -> Option<Value> {
        self.0.iter().find(|(set, _)| *set == name).map(|(_, value)| *value)
    }

    /// The number that `name` was set to, if it was.
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        if let Value::Number(number) = self.value(name)? { Some(number) } else { None }
    }

    /// The word that `name` was set to, if it was.
    pub(crate) fn word(&self, name: &str) -> Option<&'static str> {
        if let Value::Word(word) = self.value(name)? { Some(word) } else { None }
    }

    /// The same, with a parameter set to a word.
    pub(crate) fn with_word(mut self, name: &'static str, word: &'static str) -> Self {
        self.0.retain(|(set, _)| *set != name);
        self.0.push((name, Value::Word(word)));
        self
    }

    /// The same, with the values of others where they are not set.
    pub(crate) fn or(mut self, others: &Self) -> Self {
        let missing = others.0.iter().filter(|(name, _)| self.value(name).is_none()).copied();
        self.0.extend(missing.collect::<Vec<_>>());
        self
    }

    /// Whether some parameter is set both here and there.
    pub(crate) fn overlaps(&self, others: &Self) -> bool {
        others.0.iter().any(|(name, _)| self.value(name).is_some())
    }

    /// Threads of a block and blocks that `name` was set to, if it was.
    pub(crate) fn launch(&self, name: &str) -> Option<(u32, u32)> {
        if let Value::Launch { threads, blocks } = self.value(name)? { Some((threads, blocks)) } else { None }
    }
}

/// Finds `NAME[:key=value,..]` in a table and checks its parameters.
pub(crate) fn parse_algorithm<'t, T>(
    table: &'t [T],
    info: impl Fn(&T) -> &AlgorithmInfo,
    text: &str,
) -> Result<(&'t T, Parameters)> {
    let (name, settings) = text.split_once(':').unwrap_or((text, ""));
    let Some(entry) = table.iter().find(|entry| info(entry).name == name) else {
        let names: Vec<&str> = table.iter().map(|entry| info(entry).name).collect();
        return Err(Error::invalid(format!("there is no algorithm `{name}` here; there are {}", names.join(", "))));
    };
    let mut parameters = Parameters::default();
    if settings.is_empty() && text != name {
        return Err(Error::invalid(format!("`{text}` ends where a parameter is expected")));
    }
    for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
        let known = info(entry).parameters;
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| Error::invalid(format!("`{setting}` of `{text}` is not of the form key=value")))?;
        let Some(parameter) = known.iter().find(|parameter| parameter.name == key) else {
            let names: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
            let choices = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(Error::invalid(format!("`{name}` has no parameter `{key}`; its parameters: {choices}")));
        };
        let value = parameter
            .values
            .parse(value)
            .ok_or_else(|| Error::invalid(format!("`{setting}` of `{name}` is not {}", parameter.values)))?;
        parameters.0.retain(|(set, _)| *set != parameter.name);
        parameters.0.push((parameter.name, value));
    }
    Ok((entry, parameters))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELTA: Parameter = Parameter { name: "delta", summary: "", values: Values::AtLeast(1e-300) };
    const SYNC: Parameter = Parameter { name: "sync", summary: "", values: Values::OneOf(&["incore", "outcore"]) };
    const LAUNCH: Parameter = Parameter { name: "launch", summary: "", values: Values::Launch };
    const TABLE: [AlgorithmInfo; 1] = [AlgorithmInfo {
        problem: Problem::Sssp,
        name: "delta-stepping",
        summary: "",
        source: "",
        parameters: &[DELTA, SYNC, LAUNCH],
        negative_weights: false,
        seconds: |_| 0.0,
    }];

    #[test]
    fn help_ends_with_the_value_that_is_not_set() {
        let help = |unset| {
            let values = Values::Or(&Values::AtLeast(1.0), unset);
            Parameter { name: "alpha", summary: "how far", values }.to_string()
        };
        assert_eq!(help(Unset::Number(15.0)), "alpha: how far; 15");
        assert_eq!(help(Unset::InWords(|| format!("at most {}", 8))), "alpha: how far; at most 8");
        assert_eq!(Parameter { summary: "how far; 2", ..DELTA }.to_string(), "delta: how far; 2");
        let values = Values::Or(&Values::AtLeast(1.0), Unset::Number(15.0));
        assert_eq!((values.parse("3"), values.parse("0.5")), (Some(Value::Number(3.0)), None));
        assert_eq!(values.to_string(), "a number of 1 or more");
    }

    #[test]
    fn parameters_are_checked() {
        let parse = |text| parse_algorithm(&TABLE, |info| info, text).map(|(_, parameters)| parameters);
        assert_eq!(parse("delta-stepping:delta=2.5").unwrap().get("delta"), Some(2.5));
        assert_eq!(parse("delta-stepping").unwrap().get("delta"), None);
        let set = parse("delta-stepping:sync=outcore,launch=384x5").unwrap();
        assert_eq!((set.word("sync"), set.launch("launch"), set.get("sync")), (Some("outcore"), Some((384, 5)), None));
        for bad in [
            "dijkstra",
            "delta-stepping:delta",
            "delta-stepping:x=1",
            "delta-stepping:delta=0",
            "delta-stepping:delta=NaN",
            "delta-stepping:sync=shared",
            "delta-stepping:launch=256",
            "delta-stepping:launch=0x5",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
