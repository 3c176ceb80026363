//! Transitive closure: which vertices reach which. The requests and their results.
//!
//! Vertices of one strongly connected component reach the same vertices. So a result can be *condensed*: the component
//! of each vertex, and a matrix of bits between components. With large components, this matrix is far smaller than a
//! matrix between vertices. [`Reachability::to_matrix`] expands it.

use std::io::{self, Write};

use rayon::prelude::*;

use super::closure_bits::{CondensedBits, ReachabilityBits};
use super::closure_certificate::{verify_bits, verify_counts};
use super::{BitMatrix, Line, Report};
use crate::graph::{Graph, VertexId};
use crate::tables::{csv_field, npy_header};
use crate::{Error, Result, memory};

/// Names the counts in errors about a lack of memory.
const COUNTS: &str = "the number of vertices that each vertex reaches";

/// A transitive closure: for every vertex, the vertices that it reaches by paths, weights ignored.
///
/// ```
/// use warpath::{Closure, Graph, Solver};
/// let graph = Graph::from_edges([(0, 1), (1, 2), (2, 1), (3, 3)])?;
/// let reachability = Solver::new(graph)?.solve(Closure::new())?;
/// assert!(reachability.reaches(0, 2) && !reachability.reaches(2, 0));
/// assert_eq!(reachability.row(1).collect::<Vec<_>>(), [1, 2]);
/// assert_eq!(reachability.reachable_pairs(), 3 + 2 + 2 + 1);
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Closure {
    pub(crate) irreflexive: bool,
    pub(crate) algorithm: Option<String>,
}

impl Closure {
    /// Every vertex reaches itself, and every vertex that a path leads to.
    pub fn new() -> Self {
        Self::default()
    }

    /// Count paths of at least one edge only: a vertex reaches itself only if it is on a cycle or has a loop.
    pub fn irreflexive(mut self) -> Self {
        self.irreflexive = true;
        self
    }

    /// Solve by this algorithm instead of the algorithm predicted fastest: a name from
    /// [`Engine::algorithms`](crate::Engine::algorithms).
    pub fn algorithm(mut self, algorithm: impl Into<String>) -> Self {
        self.algorithm = Some(algorithm.into());
        self
    }

    /// Ask only how many vertices each vertex reaches. On the CPU the default is `condensation`, which takes memory for
    /// vertices and arcs, not for pairs, and works on graphs of any size. The algorithms `warshall` and `bit-warshall`,
    /// and all on a GPU, build a matrix and count its bits. The matrix is between all vertices or (`condensation`)
    /// between components, and has to fit into memory.
    pub fn counts_only(self) -> ClosureCounts {
        ClosureCounts { closure: self }
    }
}

/// A request for how many vertices each vertex reaches: [`Closure::counts_only`].
#[derive(Debug, Clone, Default)]
pub struct ClosureCounts {
    pub(crate) closure: Closure,
}

/// Which vertices reach which.
#[derive(Debug, Clone)]
pub struct Reachability {
    pub(crate) vertices: usize,
    pub(crate) irreflexive: bool,
    pub(crate) bits: ReachabilityBits,
    pub(crate) report: Report,
}

impl Reachability {
    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// Whether a vertex reaches itself only on a cycle.
    pub fn is_irreflexive(&self) -> bool {
        self.irreflexive
    }

    /// How the result was made.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Whether a path leads from `from` to `to`. O(1).
    ///
    /// # Panics
    ///
    /// If either is not a vertex of the graph.
    #[inline]
    pub fn reaches(&self, from: VertexId, to: VertexId) -> bool {
        match &self.bits {
            ReachabilityBits::Matrix(bits) => bits.get(from as usize, to as usize),
            ReachabilityBits::Condensed(condensed) => {
                condensed.reaches(condensed.component[from as usize], condensed.component[to as usize])
            }
        }
    }

    /// The vertices that `from` reaches, ascending. O(V) for all of them.
    ///
    /// # Panics
    ///
    /// If `from` is not a vertex of the graph.
    pub fn row(&self, from: VertexId) -> impl Iterator<Item = VertexId> + '_ {
        assert!((from as usize) < self.vertices, "vertex {from} of {}", self.vertices);
        (0..self.vertices as VertexId).filter(move |&to| self.reaches(from, to))
    }

    /// How many vertices each vertex reaches.
    ///
    /// # Errors
    ///
    /// If there is no memory for the counts.
    pub fn reachable_counts(&self) -> Result<Vec<u64>> {
        match &self.bits {
            ReachabilityBits::Matrix(bits) => {
                memory::collected(COUNTS, (0..self.vertices).into_par_iter().map(|u| bits.count(u)))
            }
            ReachabilityBits::Condensed(condensed) => {
                let counts = memory::collected(COUNTS, condensed.counts())?;
                memory::listed(COUNTS, condensed.component.iter().map(|&component| counts[component as usize]))
            }
        }
    }

    /// The number of ordered pairs of vertices in which the first reaches the second. Always exact: there are fewer
    /// than 2^32 vertices.
    pub fn reachable_pairs(&self) -> u64 {
        match &self.bits {
            ReachabilityBits::Matrix(bits) => (0..self.vertices).into_par_iter().map(|u| bits.count(u)).sum(),
            ReachabilityBits::Condensed(condensed) => {
                condensed.counts().zip(&condensed.sizes).map(|(count, size)| count * size).sum()
            }
        }
    }

    /// The strongly connected components and the bits between them; `None` if the algorithm made a matrix between
    /// vertices.
    pub fn condensed(&self) -> Option<&CondensedBits> {
        match &self.bits {
            ReachabilityBits::Matrix(_) => None,
            ReachabilityBits::Condensed(condensed) => Some(condensed),
        }
    }

    /// The bytes that the matrix between vertices takes.
    pub fn matrix_bytes(&self) -> u64 {
        BitMatrix::bytes(self.vertices, self.vertices)
    }

    /// The matrix of bits between vertices: bit `v` of row `u` says whether `u` reaches `v`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if the matrix does not fit in the memory available.
    pub fn to_matrix(&self) -> Result<BitMatrix> {
        let (needed, available) = (self.matrix_bytes(), crate::available_memory());
        if needed > available {
            return Err(Error::OutOfMemory { what: "the matrix of reachability".into(), needed, available });
        }
        let condensed = match &self.bits {
            ReachabilityBits::Matrix(bits) => return Ok(bits.clone()),
            ReachabilityBits::Condensed(condensed) => condensed,
        };
        let mut matrix = BitMatrix::new(self.vertices, self.vertices)?;
        let lines_per_row = matrix.lines_per_row();
        // The row of the first vertex of each component is expanded; the other vertices copy that row.
        let mut representative =
            memory::filled("the first vertices of components", condensed.sizes.len(), VertexId::MAX)?;
        for (v, &component) in condensed.component.iter().enumerate().rev() {
            representative[component as usize] = v as VertexId;
        }
        let is_first = |u: usize| representative[condensed.component[u] as usize] as usize == u;
        matrix
            .all_lines_mut()
            .par_chunks_exact_mut(lines_per_row.max(1))
            .enumerate()
            .filter(|&(u, _)| is_first(u))
            .for_each(|(u, row)| self.expand_row(u as VertexId, row));
        let rows = matrix.all_lines_mut().chunks_exact_mut(lines_per_row.max(1));
        let mut rows: Vec<&mut [Line]> = memory::listed("the list of rows", rows)?;
        for u in 0..self.vertices {
            if !is_first(u) {
                let (before, from) = rows.split_at_mut(u);
                from[0].copy_from_slice(before[representative[condensed.component[u] as usize] as usize]);
            }
        }
        Ok(matrix)
    }

    /// Writes the bits of the vertices that `from` reaches into `row`.
    fn expand_row(&self, from: VertexId, row: &mut [Line]) {
        match &self.bits {
            ReachabilityBits::Matrix(bits) => row.copy_from_slice(bits.lines(from as usize)),
            ReachabilityBits::Condensed(condensed) => {
                let component = condensed.component[from as usize];
                let words: &mut [u64] = bytemuck::cast_slice_mut(row);
                match &condensed.bits {
                    Some(bits) => {
                        let reached = bits.row(component as usize);
                        for (word, components) in words.iter_mut().zip(condensed.component.chunks(64)) {
                            *word = components
                                .iter()
                                .enumerate()
                                .fold(0, |word, (bit, &to)| word | (reached[to as usize / 64] >> (to % 64) & 1) << bit);
                        }
                    }
                    None if condensed.reaches_itself[component as usize] => {
                        for (word, components) in words.iter_mut().zip(condensed.component.chunks(64)) {
                            *word = components
                                .iter()
                                .enumerate()
                                .fold(0, |word, (bit, &to)| word | u64::from(to == component) << bit);
                        }
                    }
                    None => {}
                }
            }
        }
    }

    /// Checks this result against the graph, without knowing how it was made. The vertices of each component do reach
    /// each other; once each component is contracted to one vertex, no cycle remains; and in that acyclic graph, the
    /// row of a vertex is the vertex itself and the union of its successors' rows, which has one solution, bit for bit.
    ///
    /// The first two checks take O(V + E), the third V + E_C line operations for each 512 columns, where E_C is the
    /// number of arcs between components; a matrix between vertices is compared whole. Takes the memory of the graph's
    /// transpose, and 64 bytes for each component and thread.
    ///
    /// # Errors
    ///
    /// [`Error::NotVerified`] with the first thing found wrong.
    pub fn verify(&self, graph: &Graph) -> Result<()> {
        verify_bits(self.vertices, self.irreflexive, &self.bits, graph)
    }

    /// Writes the pairs as CSV, `from,to` by the vertices' names, in the graph's order of vertices.
    ///
    /// # Errors
    ///
    /// What writing runs into.
    pub fn write_pairs(&self, graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
        const BUFFER: usize = 1 << 20;
        let name = |v| csv_field(&graph.name(v)).into_owned();
        let names: Vec<String> = (0..self.vertices as VertexId).map(name).collect();
        let mut text = Vec::with_capacity(BUFFER + (1 << 10));
        text.extend_from_slice(b"from,to\n");
        for from in 0..self.vertices as VertexId {
            for to in self.row(from) {
                text.extend_from_slice(names[from as usize].as_bytes());
                text.push(b',');
                text.extend_from_slice(names[to as usize].as_bytes());
                text.push(b'\n');
                if text.len() >= BUFFER {
                    out.write_all(&text)?;
                    text.clear();
                }
            }
        }
        out.write_all(&text)
    }

    fn npy_header(&self) -> Vec<u8> {
        npy_header("|b1", &[self.vertices, self.vertices])
    }

    /// The bytes that [`Reachability::write_npy`] writes.
    pub fn npy_bytes(&self) -> u64 {
        let vertices = self.vertices as u64;
        (self.npy_header().len() as u64).saturating_add(vertices.saturating_mul(vertices))
    }

    /// Writes the matrix as a NumPy array of booleans, one byte a pair, row by row: `numpy.load(file)[u, v]` says
    /// whether vertex `u` reaches vertex `v`.
    ///
    /// # Errors
    ///
    /// What writing runs into.
    pub fn write_npy(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.npy_header())?;
        let mut row = vec![Line::ZERO; self.vertices.div_ceil(Line::BITS)];
        let mut bytes = vec![0_u8; self.vertices];
        for from in 0..self.vertices as VertexId {
            self.expand_row(from, &mut row);
            let words: &[u64] = bytemuck::cast_slice(&row);
            for (bytes, word) in bytes.chunks_mut(64).zip(words) {
                bytes.iter_mut().enumerate().for_each(|(bit, byte)| *byte = (word >> bit & 1) as u8);
            }
            out.write_all(&bytes)?;
        }
        Ok(())
    }
}

/// How many vertices each vertex reaches.
#[derive(Debug, Clone)]
pub struct ReachableCounts {
    pub(crate) counts: Vec<u64>,
    pub(crate) irreflexive: bool,
    pub(crate) report: Report,
}

impl ReachableCounts {
    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.counts.len()
    }

    /// Whether a vertex reaches itself only on a cycle.
    pub fn is_irreflexive(&self) -> bool {
        self.irreflexive
    }

    /// How the result was made.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// How many vertices `v` reaches.
    ///
    /// # Panics
    ///
    /// If `v` is not a vertex of the graph.
    pub fn count(&self, v: VertexId) -> u64 {
        self.counts[v as usize]
    }

    /// How many vertices each vertex reaches.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of ordered pairs of vertices in which the first reaches the second.
    pub fn reachable_pairs(&self) -> u64 {
        self.counts.par_iter().sum()
    }

    /// Checks these counts against the graph by counting again, in the simplest way, through strongly connected
    /// components that are certified as in [`Reachability::verify`]. Takes (V + E_C) * V / 512 line operations.
    ///
    /// # Errors
    ///
    /// [`Error::NotVerified`] with the first count found wrong.
    pub fn verify(&self, graph: &Graph) -> Result<()> {
        verify_counts(&self.counts, self.irreflexive, graph)
    }

    /// Writes the counts as CSV, `vertex,reachable` by the vertices' names, in the graph's order of vertices.
    ///
    /// # Errors
    ///
    /// What writing runs into.
    pub fn write_csv(&self, graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(1 << 20, out);
        out.write_all(b"vertex,reachable\n")?;
        for v in 0..self.vertices() as VertexId {
            writeln!(out, "{},{}", csv_field(&graph.name(v)), self.count(v))?;
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Solver;
    use crate::graph::{GraphBuilder, Labels, StringLabels};

    fn named() -> Graph {
        let mut names = StringLabels::new();
        ["a", "b, c", "\"d\""].iter().for_each(|name| {
            names.intern(name).unwrap();
        });
        GraphBuilder::new().labels(Labels::Strings(names)).build_from([(0, 1), (1, 0)]).unwrap()
    }

    #[test]
    fn pairs_and_counts_are_written_by_name() {
        let graph = named();
        let solver = Solver::new(graph.clone()).unwrap();
        let mut text = Vec::new();
        solver.solve(Closure::new()).unwrap().write_pairs(&graph, &mut text).unwrap();
        let expected = "from,to\na,a\na,\"b, c\"\n\"b, c\",a\n\"b, c\",\"b, c\"\n\"\"\"d\"\"\",\"\"\"d\"\"\"\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
        let mut text = Vec::new();
        solver.solve(Closure::new().irreflexive().counts_only()).unwrap().write_csv(&graph, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "vertex,reachable\na,2\n\"b, c\",2\n\"\"\"d\"\"\",0\n");
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn npy_is_a_square_of_booleans() {
        let graph = Graph::from_edges((0..99).map(|v| (v, v + 1))).unwrap();
        for algorithm in ["condensation", "bit-warshall"] {
            let reachability = Solver::new(graph.clone()).unwrap().solve(Closure::new().algorithm(algorithm)).unwrap();
            let mut bytes = Vec::new();
            reachability.write_npy(&mut bytes).unwrap();
            assert_eq!(bytes.len() as u64, reachability.npy_bytes());
            assert!(bytes.starts_with(b"\x93NUMPY\x01\x00\x76\x00{'descr': '|b1', "));
            let data = &bytes[128..];
            assert_eq!(data.len(), 100 * 100);
            assert!((0..100).all(|u| (0..100).all(|v| data[u * 100 + v] == u8::from(u <= v))));
        }
    }
}
