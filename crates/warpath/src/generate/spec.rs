//! Parses the specification of a generated graph: `NAME:SIZE[,option=value]..`.

use super::{COMMON_OPTIONS, DEFAULT_SEED, EDGES_PER_VERTEX, GENERATORS, GeneratorInfo, WeightRange};
use crate::{Error, Result};

/// A specification, taken apart and checked against the options that its generator has.
pub(super) struct Options<'a> {
    specification: &'a str,
    pub(super) info: &'static GeneratorInfo,
    pub(super) size: &'a str,
    /// The most vertices that are possible.
    pub(super) most_vertices: u64,
    settings: Vec<(&'a str, &'a str)>,
}

impl<'a> Options<'a> {
    /// Takes a specification apart; `most_vertices` bounds the size of its graph.
    pub(super) fn parse(specification: &'a str, most_vertices: u64) -> Result<Self> {
        let (name, rest) = specification.split_once(':').unwrap_or((specification, ""));
        let Some(info) = GENERATORS.iter().find(|info| info.name == name) else {
            let names: Vec<&str> = GENERATORS.iter().map(|info| info.name).collect();
            return Err(Error::invalid(format!("there is no generator `{name}`; there are {}", names.join(", "))));
        };
        let mut words = rest.split(',');
        let size = words.next().unwrap_or("");
        let mut options = Options { specification, info, size, most_vertices, settings: Vec::new() };
        if size.is_empty() || size.contains('=') {
            return Err(options.error(format!("the size is missing: {name}:{}", info.size)));
        }
        for word in words {
            let Some((key, value)) = word.split_once('=') else {
                return Err(options.error(format!("`{word}` is not of the form option=value")));
            };
            let known = || info.options.iter().chain(COMMON_OPTIONS).map(|option| option.name);
            if !known().any(|name| name == key) {
                let names: Vec<&str> = known().collect();
                return Err(options.error(format!("there is no option `{key}`; there are {}", names.join(", "))));
            }
            if options.get(key).is_some() {
                return Err(options.error(format!("the option `{key}` is there twice")));
            }
            options.settings.push((key, value));
        }
        Ok(options)
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.settings.iter().find(|(key, _)| *key == name).map(|&(_, value)| value)
    }

    pub(super) fn error(&self, message: impl std::fmt::Display) -> Error {
        Error::invalid(format!("generator `{}`: {message}", self.specification))
    }

    pub(super) fn edges_per_vertex(&self) -> Result<u64> {
        const DEFAULT: u64 = 16;
        self.number(EDGES_PER_VERTEX.name, 1).map(|number| number.unwrap_or(DEFAULT))
    }

    pub(super) fn seed(&self) -> Result<u64> {
        self.number("seed", 0).map(|seed| seed.unwrap_or(DEFAULT_SEED))
    }

    /// The range of the weights; `default` if the specification gives none.
    pub(super) fn weights(&self, default: Option<WeightRange>) -> Result<Option<WeightRange>> {
        match self.get("weights") {
            None => Ok(default),
            Some("unit") => Ok(None),
            Some(range) => range.parse().map(Some).map_err(|error| self.error(error)),
        }
    }

    /// The whole number of an option, if it is there.
    pub(super) fn number(&self, name: &str, least: u64) -> Result<Option<u64>> {
        let Some(text) = self.get(name) else { return Ok(None) };
        match text.parse() {
            Ok(number) if number >= least => Ok(Some(number)),
            _ => Err(self.error(format!("`{name}={text}` is not a whole number from {least}"))),
        }
    }

    /// The share, from 0 to 1, of an option.
    pub(super) fn share(&self, name: &str, default: f64) -> Result<f64> {
        let Some(text) = self.get(name) else { return Ok(default) };
        let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        share.ok_or_else(|| self.error(format!("`{name}={text}` is not a share from 0 to 1")))
    }

    /// A size that is a number of vertices.
    pub(super) fn vertices(&self, least: u64) -> Result<u64> {
        let most = self.most_vertices;
        match self.size.parse() {
            Ok(vertices) if (least..=most).contains(&vertices) => Ok(vertices),
            _ => Err(self.error(format!("`{}` is not a number of vertices from {least} to {most}", self.size))),
        }
    }

    /// A size that is the binary logarithm of the number of vertices.
    pub(super) fn scale(&self) -> Result<u32> {
        let greatest = self.most_vertices.ilog2();
        match self.size.parse() {
            Ok(scale) if scale <= greatest => Ok(scale),
            _ => Err(self.error(format!("`{}` is not a scale from 0 to {greatest}", self.size))),
        }
    }
}
