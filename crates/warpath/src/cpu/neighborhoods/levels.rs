//! Breadth-first searches from up to 256 sources at once, which end at a level and count what each of them has seen.
//!
//! A vertex has a bit for each search, in four words. A level looks at the arcs of the vertices that some search found in the level before, and
//! hands on the bits that are new at the head. Vertices are kept in lists, so that a level costs the arcs it looks at. What each search has seen
//! is counted in binary, 256 counters at a time: a plane of bits for each binary digit, and an addition carries from plane to plane,
//! through two of them on average.
//!
//! Source: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal".

use crate::graph::{Csr, VertexId};
use crate::{Control, Result, memory};

/// The words of a vertex.
const WORDS: usize = 4;
/// Searches at once.
pub(super) const SEARCHES: usize = 64 * WORDS;
/// Vertices between two looks at whether the work is cancelled.
const BETWEEN_CHECKS: usize = 1 << 14;

/// A bit for each search.
type Bits = [u64; WORDS];
const NONE: Bits = [0; WORDS];

/// What an arc asks of its head, in one line of the cache.
#[derive(Debug, Clone, Copy, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Vertex {
    /// The searches that had seen it before this level,
    seen: Bits,
    /// and those that see it first in this one.
    fresh: Bits,
}

/// Searches that are run again and again.
pub(super) struct ByLevels<'a> {
    graph: &'a Csr,
    vertices: Vec<Vertex>,
    /// The searches that found a vertex in the level before.
    found: Vec<Bits>,
    frontier: Vec<VertexId>,
    next: Vec<VertexId>,
    /// Every vertex that some search has seen.
    touched: Vec<VertexId>,
}

impl<'a> ByLevels<'a> {
    /// The bytes that they take.
    pub(super) fn bytes(graph: &Csr) -> u64 {
        let of_a_vertex = size_of::<Vertex>() + size_of::<Bits>() + 3 * size_of::<VertexId>();
        graph.vertices() as u64 * of_a_vertex as u64
    }

    pub(super) fn new(graph: &'a Csr) -> Result<Self> {
        let count = graph.vertices();
        let list = || memory::with_capacity("lists of vertices", count);
        Ok(ByLevels {
            graph,
            vertices: memory::zeroed("the searches that have seen a vertex", count)?,
            found: memory::zeroed("the searches that have found a vertex", count)?,
            frontier: list()?,
            next: list()?,
            touched: list()?,
        })
    }

    /// Counts the vertices that each source reaches within so many arcs.
    pub(super) fn run(
        &mut self,
        sources: &[VertexId],
        cutoff: u32,
        sizes: &mut [u64],
        control: &Control,
    ) -> Result<()> {
        let mut counters = Counters::default();
        for (search, &source) in sources.iter().enumerate() {
            let there = &mut self.vertices[source as usize];
            if there.fresh == NONE {
                self.next.push(source);
            }
            there.fresh[search / 64] |= 1 << (search % 64);
        }
        self.settle(&mut counters);
        for _ in 0..cutoff {
            if self.frontier.is_empty() {
                break;
            }
            self.expand(control)?;
            self.settle(&mut counters);
        }
        self.frontier.drain(..).for_each(|v| self.found[v as usize] = NONE);
        self.touched.drain(..).for_each(|v| self.vertices[v as usize].seen = NONE);
        sizes.iter_mut().enumerate().for_each(|(search, size)| *size = counters.of(search));
        Ok(())
    }

    /// Looks at the arcs of the frontier, and lists the heads that some search sees first.
    fn expand(&mut self, control: &Control) -> Result<()> {
        let ByLevels { graph, vertices, found, frontier, next, .. } = self;
        for (looked_at, u) in frontier.drain(..).enumerate() {
            if looked_at.is_multiple_of(BETWEEN_CHECKS) {
                control.check()?;
            }
            let bits = std::mem::replace(&mut found[u as usize], NONE);
            for &v in graph.neighbors(u) {
                let there = &mut vertices[v as usize];
                let fresh: Bits = std::array::from_fn(|word| bits[word] & !there.seen[word]);
                if fresh == NONE {
                    continue;
                }
                if there.fresh == NONE {
                    next.push(v);
                }
                (0..WORDS).for_each(|word| there.fresh[word] |= fresh[word]);
            }
        }
        Ok(())
    }

    /// Makes the vertices that were listed the frontier, and counts them.
    fn settle(&mut self, counters: &mut Counters) {
        for &v in &self.next {
            let there = &mut self.vertices[v as usize];
            if there.seen == NONE {
                self.touched.push(v);
            }
            let fresh = std::mem::replace(&mut there.fresh, NONE);
            (0..WORDS).for_each(|word| there.seen[word] |= fresh[word]);
            self.found[v as usize] = fresh;
            counters.add(fresh);
        }
        std::mem::swap(&mut self.frontier, &mut self.next);
    }
}

/// A counter for each search: the plane at place `k` has the binary digits of 2^k of all of them.
#[derive(Default)]
struct Counters(Vec<Bits>);

impl Counters {
    /// Adds 1 to the counters of these searches.
    fn add(&mut self, searches: Bits) {
        let mut carry = searches;
        for plane in &mut self.0 {
            if carry == NONE {
                return;
            }
            for word in 0..WORDS {
                (plane[word], carry[word]) = (plane[word] ^ carry[word], plane[word] & carry[word]);
            }
        }
        if carry != NONE {
            self.0.push(carry);
        }
    }

    fn of(&self, search: usize) -> u64 {
        let digits = self.0.iter().map(|plane| plane[search / 64] >> (search % 64) & 1);
        digits.enumerate().map(|(place, digit)| digit << place).sum()
    }
}
