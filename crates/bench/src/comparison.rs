//! Runs to compare: two files, or two folders with the results of the same suites at the same places.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use warpath::{Error, Result};

use crate::compare::{self, Kind};
use crate::results::Results;

/// Two runs of a suite.
#[derive(Debug)]
pub struct Pair {
    /// Where their files lie below the folders; empty for two files.
    pub place: PathBuf,
    /// The earlier run.
    pub before: Results,
    /// The later run.
    pub after: Results,
}

/// The runs of two files or folders.
#[derive(Debug)]
pub struct Comparison {
    /// The runs that both have.
    pub pairs: Vec<Pair>,
    /// What only one of the folders has, for people.
    pub unmatched: Vec<String>,
}

impl Comparison {
    /// Reads two files results.jsonl, or all below two folders. Those of folders belong together if they lie at the same
    /// place below their folder and are of the same suite.
    ///
    /// # Errors
    ///
    /// If a file or folder can't be read, one is a file and the other a folder, or the folders have no run in common.
    pub fn read(before: &Path, after: &Path) -> Result<Self> {
        match (before.is_dir(), after.is_dir()) {
            (false, false) => {
                let pair = Pair { place: PathBuf::new(), before: Results::read(before)?, after: Results::read(after)? };
                Ok(Comparison { pairs: vec![pair], unmatched: Vec::new() })
            }
            (true, true) => Self::read_folders(before, after),
            _ => {
                let (before, after) = (before.display(), after.display());
                Err(Error::invalid(format!("`{before}` and `{after}` have to be two files or two folders")))
            }
        }
    }

    fn read_folders(before: &Path, after: &Path) -> Result<Self> {
        let (mut old, new) = (runs(before)?, runs(after)?);
        let (mut pairs, mut unmatched) = (Vec::new(), Vec::new());
        let only = |(place, suite): &(PathBuf, String), folder: &Path| {
            format!("only {} has {} of the suite {suite}", folder.display(), place.display())
        };
        for (key, later) in new {
            match old.remove(&key) {
                Some(earlier) => pairs.push(Pair { place: key.0, before: earlier, after: later }),
                None => unmatched.push(only(&key, after)),
            }
        }
        unmatched.extend(old.keys().map(|key| only(key, before)));
        if pairs.is_empty() {
            let (before, after) = (before.display(), after.display());
            return Err(Error::invalid(format!(
                "there is no results.jsonl at the same place below {before} and {after}"
            )));
        }
        Ok(Comparison { pairs, unmatched })
    }

    /// How many rows are slower, beyond the noise.
    pub fn slower(&self) -> usize {
        let changes = self.pairs.iter().flat_map(|pair| compare::changes(&pair.before, &pair.after));
        changes.filter(|change| change.kind == Kind::Slower).count()
    }

    /// How many rows of the later runs are wrong.
    pub fn wrong(&self) -> usize {
        self.pairs.iter().map(|pair| pair.after.wrong()).sum()
    }

    /// The comparison for people.
    pub fn text(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for pair in &self.pairs {
            let told = compare::text(&pair.before, &pair.after);
            let place = pair.place.display().to_string();
            parts.push(if place.is_empty() { told } else { format!("{place}\n{told}") });
        }
        if !self.unmatched.is_empty() {
            parts.push(self.unmatched.iter().map(|line| format!("note: {line}\n")).collect());
        }
        parts.join("\n")
    }
}

/// Every results.jsonl below a folder, by its place there and its suite.
fn runs(folder: &Path) -> Result<BTreeMap<(PathBuf, String), Results>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(place) = folders.pop() {
        let path = folder.join(&place);
        let failed = |error| Error::io(&path, error);
        for entry in std::fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let below = place.join(entry.file_name());
            // A link to a folder is not followed: it might lead back.
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push(below);
            } else if entry.file_name() == "results.jsonl" {
                let results = Results::read(&entry.path())?;
                found.insert((below, results.run.suite.clone()), results);
            }
        }
    }
    Ok(found)
}
