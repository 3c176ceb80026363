//! Breadth-first searches from up to 256 sources at once, which may end at a level.
//!
//! A vertex has a bit for each search, in four words. A level looks at the arcs of the vertices that some search found in the level before, and
//! hands on the bits that are new at the head. Vertices are kept in lists, so that a level costs the arcs it looks at. Whoever searches is told which
//! searches find a vertex in which level ([`Tally`]).
//!
//! Source: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal".

use crate::graph::{Csr, VertexId};
use crate::{Control, Result, memory};

/// The words of a vertex.
const WORDS: usize = 4;
/// Searches at once.
pub(crate) const SEARCHES: usize = 64 * WORDS;
/// Vertices between two looks at whether the work is cancelled.
const BETWEEN_CHECKS: usize = 1 << 14;

/// A bit for each search.
pub(crate) type Bits = [u64; WORDS];
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

/// Takes what searches find.
pub(crate) trait Tally {
    /// A level begins, to which the next vertices belong.
    fn begin(&mut self, _level: u32) -> Result<()> {
        Ok(())
    }

    /// These searches find a vertex, which has the level that began last. A vertex comes up once a level.
    fn found(&mut self, vertex: VertexId, searches: Bits);
}

/// Searches that are run again and again.
pub(crate) struct ByLevels<'a> {
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
    pub(crate) fn bytes(graph: &Csr) -> u64 {
        let of_a_vertex = size_of::<Vertex>() + size_of::<Bits>() + 3 * size_of::<VertexId>();
        graph.vertices() as u64 * of_a_vertex as u64
    }

    pub(crate) fn new(graph: &'a Csr) -> Result<Self> {
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

    /// Searches from these sources, to so many arcs from them at most. If it fails, it can't be run again.
    pub(crate) fn run(
        &mut self,
        sources: &[VertexId],
        cutoff: u32,
        tally: &mut impl Tally,
        control: &Control,
    ) -> Result<()> {
        for (search, &source) in sources.iter().enumerate() {
            let there = &mut self.vertices[source as usize];
            if there.fresh == NONE {
                self.next.push(source);
            }
            there.fresh[search / 64] |= 1 << (search % 64);
        }
        tally.begin(0)?;
        self.settle(tally);
        for level in 1..=cutoff {
            self.expand(control)?;
            if self.next.is_empty() {
                break;
            }
            tally.begin(level)?;
            self.settle(tally);
        }
        self.frontier.drain(..).for_each(|v| self.found[v as usize] = NONE);
        self.touched.drain(..).for_each(|v| self.vertices[v as usize].seen = NONE);
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

    /// Makes the vertices that were listed the frontier, and tells of them.
    fn settle(&mut self, tally: &mut impl Tally) {
        for &v in &self.next {
            let there = &mut self.vertices[v as usize];
            if there.seen == NONE {
                self.touched.push(v);
            }
            let fresh = std::mem::replace(&mut there.fresh, NONE);
            (0..WORDS).for_each(|word| there.seen[word] |= fresh[word]);
            self.found[v as usize] = fresh;
            tally.found(v, fresh);
        }
        std::mem::swap(&mut self.frontier, &mut self.next);
    }
}
