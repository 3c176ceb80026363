//! Shares of a list whose vertices are named by words: numbered in the order of their first appearance in the whole list, as on one machine.
//! Each reader numbers those of its share for itself; whoever unites the shares gives all of them their numbers.

use std::ops::Range;

use super::layout::IS_HEADER_OR_EDGE;
use super::lines::NamedChunk;
use super::share::{Declared, MOST_VERTICES, StoredEdges};
use super::strings::{intern_names, text_of, wrong_vertices};
use crate::Result;
use crate::formats::rows::too_many_isolated;
use crate::formats::text::{Fault, Malformed};
use crate::formats::weight_column::WeightColumn;
use crate::graph::{StringLabels, VertexId, Weights};

/// The edges of a share, by words.
pub struct EdgesByWord {
    words: StringLabels,
    /// Edges by the places of their words.
    chunks: Vec<NamedChunk<VertexId>>,
    /// Where each chunk is in the text.
    pieces: Vec<Range<u64>>,
}

impl EdgesByWord {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.edges.len() as u64).sum()
    }

    /// The different names, in the order of their first appearance in the share.
    pub fn words(&self) -> &StringLabels {
        &self.words
    }

    /// What is among the weights, as bits: those of all shares are or-ed.
    pub fn weights_found(&self) -> u64 {
        let columns = self.chunks.iter().filter_map(|chunk| chunk.weights.as_ref());
        columns.map(WeightColumn::found).fold(0, |all, some| all | some)
    }
}

impl StoredEdges {
    /// The same as [`StoredEdges::share`], with words as names. The first share also has the names that comments declare, before all others. O(bytes of a
    /// part) work, of which words are numbered by one thread.
    ///
    /// # Errors
    ///
    /// [`Error::Input`](crate::Error::Input) at the first line of this share that is no edge,
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) and [`Error::Io`](crate::Error::Io).
    pub fn share_of_words(&self, index: usize, of: usize) -> Result<EdgesByWord> {
        self.read_share(index, of, |body, layout, comments, _, options| {
            let first = if index == 0 { &comments.names[..] } else { &[] };
            let (words, chunks) = intern_names(&body, layout, first, options)?;
            if let Some((line, names)) = layout.header
                && names.iter().any(|&name| text_of(name).is_ok_and(|name| words.find(&name).is_some()))
            {
                return Err(Malformed::new(line, IS_HEADER_OR_EDGE).into());
            }
            let chunks = chunks.into_iter().map(|chunk| NamedChunk { edges: chunk.edges, weights: chunk.weights });
            Ok(EdgesByWord { words, chunks: chunks.collect(), pieces: body.pieces })
        })
    }

    /// An error unless the list may have so many edges between vertices of so many different names.
    ///
    /// # Errors
    ///
    /// [`Error::Input`](crate::Error::Input) if it does not hold what it declares.
    pub fn check_words(&self, edges: u64, names: u64) -> Result<()> {
        let start = Fault { at: self.text.start(), part: Vec::new(), message: String::new() };
        // What a comment says counts for integers alone.
        let counts = self.declared.as_ref().filter(|declared| declared.first.is_none());
        if let Some(Declared { line, vertices, edges: announced, .. }) = counts {
            self.check_edges(line, *announced, edges)?;
            if *vertices != names {
                return Err(self.wrong(line, wrong_vertices(*vertices, names)));
            }
        }
        let line = self.declared.as_ref().map_or(&start, |declared| &declared.line);
        if names > MOST_VERTICES {
            return Err(self.wrong(line, format!("at most {MOST_VERTICES} vertices are possible")));
        }
        match too_many_isolated(names, self.text.length(), &self.options) {
            Some(message) => Err(self.wrong(line, message)),
            None => Ok(()),
        }
    }

    /// The edges of a share by the numbers of vertices, one for each word of the share, and their weights: as [`StoredEdges::numbered`].
    ///
    /// # Errors
    ///
    /// As that.
    ///
    /// # Panics
    ///
    /// If there are fewer numbers than words.
    pub fn numbered_words(
        &self,
        share: EdgesByWord,
        weights_found: u64,
        numbers: &[u64],
    ) -> Result<(Vec<(u64, u64)>, Weights)> {
        assert!(numbers.len() >= share.words.len(), "a word without a number");
        let number = |word: VertexId| Some(numbers[word as usize]);
        self.with_numbers(share.chunks, share.pieces, weights_found, number, |_, _| {
            unreachable!("every word has a number")
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::graph::{Direction, Labels, Weight};
    use crate::{Graph, ReadOptions};

    /// The graph that so many readers make of a list, one after another.
    fn shared(path: &Path, options: &ReadOptions, of: usize) -> Result<Graph> {
        let list = StoredEdges::open(path, options)?;
        assert!((0..of).any(|index| list.share(index, of).is_ok_and(|share| share.is_none())), "they are integers");
        let shares = (0..of).map(|index| list.share_of_words(index, of)).collect::<Result<Vec<_>>>()?;
        let mut all = StringLabels::new();
        let mut numbers = Vec::new();
        for share in &shares {
            let words = (0..share.words().len() as VertexId).map(|word| share.words().get(word));
            numbers.push(words.map(|word| all.intern(word).map(u64::from)).collect::<Result<Vec<u64>>>()?);
        }
        list.check_words(shares.iter().map(EdgesByWord::count).sum(), all.len() as u64)?;
        let found = shares.iter().map(EdgesByWord::weights_found).fold(0, |all, some| all | some);
        let mut edges = Vec::new();
        for (share, numbers) in shares.into_iter().zip(&numbers) {
            let (ends, weights) = list.numbered_words(share, found, numbers)?;
            let weight = |index: usize| crate::graph::with_weights!(&weights, values => values[index].to_f64());
            edges.extend(ends.iter().enumerate().map(|(index, &(u, v))| (u as u32, v as u32, weight(index))));
        }
        let direction = if list.is_directed() { Direction::Directed } else { Direction::Undirected };
        options.builder(direction).labels(Labels::Strings(all)).build_from(edges)
    }

    #[test]
    fn shares_together_are_the_list() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.txt");
        let lines = |count: u32, line: &dyn Fn(u32) -> String| (0..count).map(line).collect::<String>();
        for text in [
            "a b\n".to_owned(),
            "a b".into(),
            "# Node: x\n0 1\n".into(),
            "0 1\n1 07\n1 7\n".into(),
            lines(80, &|k| format!("v{} v{}\n", k * 7 % 50, k * k % 50)),
            lines(80, &|k| format!("{} {} 0.{}\n", k * 7 % 50, if k == 60 { "last" } else { "first" }, k % 7)),
            lines(60, &|k| format!("\"a, {}\",b{},{}\r\n", k % 9, k % 5, if k == 3 { -2 } else { 3 })),
            format!("from,to\n{}", lines(50, &|k| format!("x{},y{}\n", k % 7, k))),
            format!("# Undirected graph\n# Node: alone\n{}", lines(50, &|k| format!("ü{} {}\n", k % 7, k % 31))),
        ] {
            std::fs::write(&path, &text).unwrap();
            let options = ReadOptions::new();
            let expected = options.read(&path).unwrap();
            for of in [1, 2, 3, 7, 40] {
                let graph = shared(&path, &options, of).unwrap_or_else(|error| panic!("{of} of {text}: {error}"));
                assert_eq!(graph.csr().offsets(), expected.csr().offsets(), "{of} of {text}");
                assert_eq!(graph.csr().targets(), expected.csr().targets(), "{of} of {text}");
                let weights = |graph: &Graph| graph.edges().map(|(_, _, weight)| weight).collect::<Vec<_>>();
                assert_eq!(weights(&graph), weights(&expected), "{of} of {text}");
                for vertex in 0..graph.vertices() as VertexId {
                    assert_eq!(graph.name(vertex), expected.name(vertex), "{of} of {text}");
                }
            }
        }
    }

    #[test]
    fn faults_are_those_of_the_whole_list() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.txt");
        for (text, options, message) in [
            ("a b\nb c\nc d 4\n", ReadOptions::new(), ":3:"),
            ("a b 7\nb c 8\nc d x\n", ReadOptions::new(), ":3:"),
            ("a b\nb \u{1}\n", ReadOptions::new(), ":2:"),
            ("from,to\nx,y\ny,from\n", ReadOptions::new(), ":1:"),
            ("3 2\na b\nb 07\n", ReadOptions::new().first_line(crate::formats::FirstLine::Counts), ""),
            ("4 2\na b\nb 07\n", ReadOptions::new().first_line(crate::formats::FirstLine::Counts), ":1:"),
            ("3 5\na b\nb 07\n", ReadOptions::new().first_line(crate::formats::FirstLine::Counts), ":1:"),
        ] {
            std::fs::write(&path, text).unwrap();
            let whole = options.read(&path).err().map(|error| error.to_string());
            assert!(whole.as_deref().unwrap_or_default().contains(message), "{whole:?}");
            for of in [1, 2, 3] {
                assert_eq!(shared(&path, &options, of).err().map(|error| error.to_string()), whole, "{of}: {text}");
            }
        }
    }
}
