//! Nested dissection: a small separator comes last, and the two sides, which no edge joins, are dissected in the same way
//! (George, *Nested dissection of a regular finite element mesh*, 1973).

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::minimum_degree::{LARGEST, minimum_degree};
use super::pattern::Pattern;
use super::random::Random;
use super::refinement::Side;
use super::separator::separator;
use crate::control::Control;
use crate::graph::VertexId;
use crate::{Error, Result};

/// A part up to this size is ordered by minimum degree.
pub(super) const SMALL: usize = 256;

/// Parts from this size on are worth a thread of their own.
const WORTH_A_THREAD: usize = 2000;

/// The order in which the vertices of `whole` are eliminated. The same on every machine, whatever the threads. An error as soon as
/// a separator shows that there will be far more shortcuts than `limit`.
pub(super) fn dissect(whole: &Pattern, limit: u64, control: &Control) -> Result<Vec<VertexId>> {
    let all = (0..whole.vertices() as VertexId).collect();
    Dissection { whole, limit, control, ordered: AtomicU64::new(0) }.part(whole.clone(), all, Random(1))
}

struct Dissection<'a> {
    whole: &'a Pattern,
    limit: u64,
    control: &'a Control,
    /// How many vertices have their place.
    ordered: AtomicU64,
}

impl Dissection<'_> {
    /// Orders a part; `names` are its vertices' numbers in the whole.
    fn part(&self, part: Pattern, names: Vec<VertexId>, random: Random) -> Result<Vec<VertexId>> {
        self.control.check()?;
        let parts = part.parts()?;
        if parts.len() > 1 {
            let mut number = vec![u32::MAX; part.vertices()];
            let parts: Vec<_> = parts.into_iter().map(|kept| (part.part(&kept, &mut number), kept)).collect();
            drop(part);
            let named = |kept: &[VertexId]| kept.iter().map(|&v| names[v as usize]).collect::<Vec<_>>();
            let orders = parts
                .into_par_iter()
                .enumerate()
                .map(|(i, (part, kept))| self.connected(part, named(&kept), random.branch(i as u64)));
            return Ok(orders.collect::<Result<Vec<_>>>()?.concat());
        }
        self.connected(part, names, random)
    }

    fn connected(&self, part: Pattern, names: Vec<VertexId>, mut random: Random) -> Result<Vec<VertexId>> {
        let named = |kept: &[VertexId]| kept.iter().map(|&v| names[v as usize]).collect::<Vec<_>>();
        if part.vertices() <= SMALL {
            self.tell(names.len())?;
            return Ok(named(&small(self.whole, &part, &names)));
        }
        let sides = separator(&part, &mut random);
        let on =
            |wanted: Side| (0..names.len() as VertexId).filter(|&v| sides[v as usize] == wanted).collect::<Vec<_>>();
        let (left, right, middle) = (on(Side::Left), on(Side::Right), on(Side::Separator));
        if left.is_empty() || right.is_empty() {
            self.tell(names.len())?;
            return Ok(named(&by_degree(&part)));
        }
        self.check_separator(middle.len(), part.vertices())?;
        self.tell(middle.len())?;
        let mut number = vec![u32::MAX; names.len()];
        let (first, second) = (part.part(&left, &mut number), part.part(&right, &mut number));
        let (left, right, middle) = (named(&left), named(&right), named(&middle));
        let large = part.vertices() >= WORTH_A_THREAD;
        drop((part, names, sides, number));
        let orders = [random.branch(0), random.branch(1)];
        let [one, two] = orders;
        let (first, second) = if large {
            rayon::join(|| self.part(first, left, one), || self.part(second, right, two))
        } else {
            (self.part(first, left, one), self.part(second, right, two))
        };
        let mut order = first?;
        order.extend(second?);
        order.extend(middle);
        Ok(order)
    }

    /// An error if this separator of a part of so many vertices makes the order useless. When the sides are gone, its vertices form
    /// a clique, unless a side falls apart and joins only some of them: so it may have twice as many pairs as there is room for.
    fn check_separator(&self, separator: usize, part: usize) -> Result<()> {
        const MARGIN: u64 = 2;
        let pairs = separator as u64 * (separator as u64).saturating_sub(1) / 2;
        if pairs / MARGIN <= self.limit {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the graph has no small separators: it takes {separator} vertices to divide {part}, which leads to some {pairs} \
             shortcuts between them alone; there is room for {}",
            self.limit
        )))
    }

    /// Tells that `more` vertices have their place.
    fn tell(&self, more: usize) -> Result<()> {
        let ordered = self.ordered.fetch_add(more as u64, Ordering::Relaxed) + more as u64;
        self.control.progress("order", ordered, self.whole.vertices() as u64)
    }
}

/// Orders a small part of `whole` by minimum degree, with its halo if that is small, too.
pub(super) fn small(whole: &Pattern, part: &Pattern, names: &[VertexId]) -> Vec<VertexId> {
    let mut known: Vec<(VertexId, u32)> = names.iter().enumerate().map(|(i, &v)| (v, i as u32)).collect();
    let around = names.iter().flat_map(|&v| whole.neighbors(v).iter().copied());
    let mut halo: Vec<VertexId> = around.filter(|u| names.binary_search(u).is_err()).collect();
    halo.sort_unstable();
    halo.dedup();
    let all = names.len() + halo.len();
    if all > LARGEST {
        let rows: Vec<Vec<u32>> = (0..names.len() as VertexId).map(|v| part.neighbors(v).to_vec()).collect();
        return minimum_degree(&rows, names.len());
    }
    known.extend(halo.iter().enumerate().map(|(i, &v)| (v, (names.len() + i) as u32)));
    known.sort_unstable();
    let number = |v: &VertexId| known[known.binary_search_by_key(v, |entry| entry.0).expect("it is known")].1;
    let rows: Vec<Vec<u32>> = names.iter().map(|&v| whole.neighbors(v).iter().map(number).collect()).collect();
    minimum_degree(&rows, all)
}

/// An order for a part that no separator divides: it becomes a clique, in whatever order.
pub(super) fn by_degree(part: &Pattern) -> Vec<VertexId> {
    let mut order: Vec<VertexId> = (0..part.vertices() as VertexId).collect();
    order.sort_by_key(|&v| part.neighbors(v).len());
    order
}
