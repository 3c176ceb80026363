//! The names of vertices, as the input has them, mapped both ways.

use std::borrow::Cow;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::{MAX_VERTICES, VertexId};
use crate::{Error, Result, memory};

/// Names the names of vertices in errors about a lack of memory.
const NAMES: &str = "the names of vertices";

/// The names of the vertices of a graph. Vertex `v` has the `v`-th name.
#[derive(Debug, Clone)]
pub enum Labels {
    /// Consecutive integers: vertex `v` is named `first + v`. Takes no memory.
    Range {
        /// The name of vertex 0.
        first: u64,
        /// Number of vertices.
        count: u64,
    },
    /// Distinct integers, ascending.
    Integers(Vec<u64>),
    /// Distinct strings, in the order of their first appearance.
    Strings(StringLabels),
}

impl Labels {
    /// Consecutive integers from `first`.
    pub fn range(first: u64, count: u64) -> Self {
        Labels::Range { first, count }
    }

    /// Number of vertices.
    pub fn len(&self) -> u64 {
        match self {
            Labels::Range { count, .. } => *count,
            Labels::Integers(names) => names.len() as u64,
            Labels::Strings(names) => names.len() as u64,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of `v`.
    ///
    /// # Panics
    ///
    /// If `v` is out of range.
    pub fn name(&self, v: VertexId) -> Cow<'_, str> {
        match self {
            Labels::Range { first, count } => {
                assert!(u64::from(v) < *count, "vertex {v} of {count}");
                Cow::Owned((first + u64::from(v)).to_string())
            }
            Labels::Integers(names) => Cow::Owned(names[v as usize].to_string()),
            Labels::Strings(names) => Cow::Borrowed(names.get(v)),
        }
    }

    /// The vertex of this name.
    pub fn find(&self, name: &str) -> Option<VertexId> {
        match self {
            Labels::Strings(names) => names.find(name),
            _ => self.find_integer(name.parse().ok()?),
        }
    }

    /// The vertex named by this integer; `None` where names are strings.
    #[inline]
    pub fn find_integer(&self, name: u64) -> Option<VertexId> {
        match self {
            Labels::Range { first, count } => {
                name.checked_sub(*first).filter(|index| index < count).map(|index| index as VertexId)
            }
            Labels::Integers(names) => names.binary_search(&name).ok().map(|index| index as VertexId),
            Labels::Strings(_) => None,
        }
    }

    /// The names of these vertices, which ascend, in their order.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn of_vertices(&self, vertices: &[VertexId]) -> Result<Labels> {
        let listed = |name: &dyn Fn(VertexId) -> u64| memory::listed(NAMES, vertices.iter().map(|&v| name(v)));
        Ok(match self {
            Labels::Range { first, .. } => Labels::Integers(listed(&|v| first + u64::from(v))?),
            Labels::Integers(names) => Labels::Integers(listed(&|v| names[v as usize])?),
            Labels::Strings(names) => {
                let mut kept = StringLabels::new();
                for &v in vertices {
                    kept.intern(names.get(v))?;
                }
                Labels::Strings(kept)
            }
        })
    }

    /// The least and the greatest name, if all are integers and there are any.
    pub fn numbers(&self) -> Option<(u64, u64)> {
        match self {
            Labels::Range { first, count } => count.checked_sub(1).map(|span| (*first, first + span)),
            Labels::Integers(names) => names.first().copied().zip(names.last().copied()),
            Labels::Strings(_) => None,
        }
    }

    /// Up to three names similar to `name`, the nearest first: numerically where names are integers (none if `name` is
    /// no integer), else by edit distance (among the first million names).
    pub fn nearest(&self, name: &str) -> Vec<String> {
        const SHOWN: usize = 3;
        const SEARCHED: u64 = 1_000_000;
        let by_number = |wanted: u64, at: &dyn Fn(u64) -> u64| {
            let count = self.len();
            let mut below = 0;
            let mut above = count;
            while below < above {
                let middle = below + (above - below) / 2;
                if at(middle) < wanted { below = middle + 1 } else { above = middle }
            }
            let mut names: Vec<u64> = (below.saturating_sub(2)..(below + 2).min(count)).map(at).collect();
            names.sort_by_key(|&candidate| candidate.abs_diff(wanted));
            names.into_iter().take(SHOWN).map(|candidate| candidate.to_string()).collect()
        };
        match (self, name.parse::<u64>()) {
            (Labels::Range { first, .. }, Ok(wanted)) => by_number(wanted, &|index| first + index),
            (Labels::Integers(names), Ok(wanted)) => by_number(wanted, &|index| names[index as usize]),
            (Labels::Range { .. } | Labels::Integers(_), Err(_)) => Vec::new(),
            (Labels::Strings(_), _) => {
                let mut candidates: Vec<(usize, VertexId)> = (0..self.len().min(SEARCHED) as VertexId)
                    .map(|v| (strsim::levenshtein(name, &self.name(v)), v))
                    .collect();
                candidates.sort_unstable();
                candidates.into_iter().take(SHOWN).map(|(_, v)| self.name(v).into_owned()).collect()
            }
        }
    }

    /// Bytes of memory that the names take.
    pub fn owned_bytes(&self) -> u64 {
        match self {
            Labels::Range { .. } => 0,
            Labels::Integers(names) => (names.capacity() * size_of::<u64>()) as u64,
            Labels::Strings(names) => names.owned_bytes(),
        }
    }
}

/// Distinct strings with their positions: one buffer of text, one table of positions.
#[derive(Debug, Clone, Default)]
pub struct StringLabels {
    text: String,
    ends: Vec<usize>,
    positions: HashTable<VertexId>,
    hasher: DefaultHashBuilder,
}

impl StringLabels {
    /// No strings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string of `v`.
    ///
    /// # Panics
    ///
    /// If `v` is out of range.
    pub fn get(&self, v: VertexId) -> &str {
        text_of(&self.text, &self.ends, v)
    }

    /// The vertex of `name`.
    pub fn find(&self, name: &str) -> Option<VertexId> {
        let hash = self.hasher.hash_one(name);
        self.positions.find(hash, |&v| self.get(v) == name).copied()
    }

    /// The vertex of `name`; a new name gets the next vertex.
    ///
    /// # Errors
    ///
    /// If there are [`MAX_VERTICES`] names already, or there is no memory for one more.
    pub fn intern(&mut self, name: &str) -> Result<VertexId> {
        let hash = self.hasher.hash_one(name);
        if let Some(&v) = self.positions.find(hash, |&v| text_of(&self.text, &self.ends, v) == name) {
            return Ok(v);
        }
        if self.ends.len() as u64 >= MAX_VERTICES {
            return Err(Error::invalid(format!("at most {MAX_VERTICES} vertices are possible")));
        }
        let v = self.ends.len() as VertexId;
        let hash_of = |&v: &VertexId| self.hasher.hash_one(text_of(&self.text, &self.ends, v));
        let room = self.positions.try_reserve(1, hash_of).is_ok() && self.text.try_reserve(name.len()).is_ok();
        if !room {
            return Err(memory::allocation::refused(NAMES, 2 * self.owned_bytes()));
        }
        memory::grow(NAMES, &mut self.ends, 1)?;
        self.text.push_str(name);
        self.ends.push(self.text.len());
        self.positions.insert_unique(hash, v, |&v| self.hasher.hash_one(text_of(&self.text, &self.ends, v)));
        Ok(v)
    }

    /// Bytes of memory that they take.
    pub fn owned_bytes(&self) -> u64 {
        (self.text.capacity() + self.ends.capacity() * size_of::<usize>() + self.positions.capacity() * 5) as u64
    }
}

fn text_of<'a>(text: &'a str, ends: &[usize], v: VertexId) -> &'a str {
    let start = if v == 0 { 0 } else { ends[v as usize - 1] };
    &text[start..ends[v as usize]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_map_both_ways() {
        let mut strings = StringLabels::new();
        for name in ["b", "a", "", "b", "ü"] {
            strings.intern(name).unwrap();
        }
        for labels in
            [Labels::range(1, 4), Labels::Integers(vec![0, 5, 42_949_672, u64::MAX]), Labels::Strings(strings)]
        {
            assert_eq!(labels.len(), 4);
            for v in 0..4 {
                assert_eq!(labels.find(&labels.name(v)), Some(v));
            }
            assert_eq!(labels.find("7"), None);
        }
    }

    #[test]
    fn nearest_names_are_near() {
        assert_eq!(Labels::range(1, 10).nearest("12"), ["10", "9"]);
        assert_eq!(Labels::Integers(vec![1, 5, 9]).nearest("6"), ["5", "9", "1"]);
        assert!(Labels::range(0, 0).nearest("3").is_empty());
        assert!(Labels::range(1, 10).nearest("a").is_empty());
        assert_eq!(Labels::range(1, 10).numbers(), Some((1, 10)));
        assert_eq!(Labels::range(0, 0).numbers(), None);
        assert_eq!(Labels::Integers(vec![1, 5, 9]).numbers(), Some((1, 9)));
        let mut strings = StringLabels::new();
        for name in ["alice", "bob", "carol"] {
            strings.intern(name).unwrap();
        }
        assert_eq!(Labels::Strings(strings).nearest("alise")[0], "alice");
    }
}
