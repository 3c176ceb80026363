//! What every engine says of its algorithms: names, parameters as in `delta-stepping:delta=100`, counters.

use crate::problems::Problem;
use crate::{Error, Result};

/// The counters an algorithm keeps: name and value.
pub type Statistics = Vec<(&'static str, u64)>;

/// What is known of an algorithm before it runs.
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
}

/// A parameter of an algorithm: a number.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it does, and its value if it is not set.
    pub summary: &'static str,
    /// The least value that makes sense.
    pub minimum: f64,
}

/// The parameters that were set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters(Vec<(&'static str, f64)>);

impl Parameters {
    /// The value of `name`, if it was set.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(set, _)| *set == name).map(|(_, value)| *value)
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
        let number = value.parse().ok().filter(|number: &f64| number.is_finite() && *number >= parameter.minimum);
        let number = number.ok_or_else(|| {
            let range = match parameter.minimum {
                least if least < 1e-6 && least > 0.0 => "above 0".to_owned(),
                least => format!("of {least} or more"),
            };
            Error::invalid(format!("`{key}={value}` of `{name}` is not a number {range}"))
        })?;
        parameters.0.retain(|(set, _)| *set != parameter.name);
        parameters.0.push((parameter.name, number));
    }
    Ok((entry, parameters))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELTA: Parameter = Parameter { name: "delta", summary: "", minimum: 1e-300 };
    const TABLE: [AlgorithmInfo; 1] = [AlgorithmInfo {
        problem: Problem::Sssp,
        name: "delta-stepping",
        summary: "",
        source: "",
        parameters: &[DELTA],
        negative_weights: false,
    }];

    #[test]
    fn parameters_are_checked() {
        let parse = |text| parse_algorithm(&TABLE, |info| info, text).map(|(_, parameters)| parameters);
        assert_eq!(parse("delta-stepping:delta=2.5").unwrap().get("delta"), Some(2.5));
        assert_eq!(parse("delta-stepping").unwrap().get("delta"), None);
        for bad in [
            "dijkstra",
            "delta-stepping:delta",
            "delta-stepping:x=1",
            "delta-stepping:delta=0",
            "delta-stepping:delta=NaN",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
