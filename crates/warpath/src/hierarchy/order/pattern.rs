//! The undirected pattern of a graph, which is all that an order depends on.

use crate::graph::{Graph, VertexId};
use crate::memory::{filled, with_capacity};
use crate::{Error, Result};

/// Which vertices have an arc between them, in either direction: no loops, no parallel edges, rows ascending.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    /// One more than there are vertices.
    pub(crate) offsets: Vec<u32>,
    /// The neighbours, each edge in both rows.
    pub(crate) heads: Vec<VertexId>,
}

impl Pattern {
    /// The pattern of `graph`, in O(V + E).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if both directions of all edges are 2^32 or more; [`Error::OutOfMemory`] if the pattern
    /// does not fit.
    pub(crate) fn new(graph: &Graph) -> Result<Self> {
        let (out, back) = (graph.csr(), if graph.is_directed() { Some(graph.transpose()?) } else { None });
        let bound = out.arcs() as u64 * if back.is_some() { 2 } else { 1 };
        if bound > u64::from(u32::MAX) {
            return Err(Error::invalid(format!("a hierarchy takes less than 2^32 arcs, and the graph has {bound}")));
        }
        let mut offsets = with_capacity("the pattern of the graph", graph.vertices() + 1)?;
        let mut heads = with_capacity("the pattern of the graph", bound as usize)?;
        offsets.push(0);
        for v in 0..graph.vertices() as VertexId {
            let start = heads.len();
            let mut add = |u: VertexId| {
                if u != v && heads[start..].last() != Some(&u) {
                    heads.push(u);
                }
            };
            match back {
                None => out.neighbors(v).iter().for_each(|&u| add(u)),
                Some(back) => merged(out.neighbors(v), back.neighbors(v)).for_each(&mut add),
            }
            offsets.push(heads.len() as u32);
        }
        Ok(Pattern { offsets, heads })
    }

    /// Number of vertices.
    pub(crate) fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The neighbours of `v`.
    pub(crate) fn neighbors(&self, v: VertexId) -> &[VertexId] {
        &self.heads[self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize]
    }

    /// The graph between the vertices `kept`, which are numbered in their order. `number` is scratch memory: `u32::MAX`
    /// for every vertex, before and after.
    pub(crate) fn part(&self, kept: &[VertexId], number: &mut [u32]) -> Pattern {
        for (new, &v) in kept.iter().enumerate() {
            number[v as usize] = new as u32;
        }
        let mut part = Pattern { offsets: Vec::with_capacity(kept.len() + 1), heads: Vec::new() };
        part.offsets.push(0);
        for &v in kept {
            part.heads.extend(self.neighbors(v).iter().map(|&u| number[u as usize]).filter(|&new| new != u32::MAX));
            part.offsets.push(part.heads.len() as u32);
        }
        for &v in kept {
            number[v as usize] = u32::MAX;
        }
        part
    }

    /// The vertices of each connected part, ascending.
    pub(crate) fn parts(&self) -> Result<Vec<Vec<VertexId>>> {
        let mut seen = filled("connected parts", self.vertices(), false)?;
        let mut parts = Vec::new();
        for start in 0..self.vertices() as VertexId {
            if std::mem::replace(&mut seen[start as usize], true) {
                continue;
            }
            let mut part = vec![start];
            let mut next = 0;
            while let Some(&v) = part.get(next) {
                next += 1;
                for &u in self.neighbors(v) {
                    if !std::mem::replace(&mut seen[u as usize], true) {
                        part.push(u);
                    }
                }
            }
            part.sort_unstable();
            parts.push(part);
        }
        Ok(parts)
    }
}

/// Two ascending lists as one.
fn merged<'a>(a: &'a [VertexId], b: &'a [VertexId]) -> impl Iterator<Item = VertexId> + 'a {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if x <= y => a.next(),
        (Some(_), None) => a.next(),
        _ => b.next(),
    })
}
