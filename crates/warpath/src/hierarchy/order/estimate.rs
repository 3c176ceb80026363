//! How many shortcuts an order would lead to, by a look at a few separators.
//!
//! Nested dissection looks at all vertices once on each level. The parts of a level are alike, though: the sizes of their
//! separators follow from how large they are and from what kind of graph it is. So only the larger side of each separator is
//! dissected further, and stands for the other one as well, in the proportion of their vertices. All levels together then
//! cost as much as the first two (Knuth, *Estimating the efficiency of backtrack programs*, 1975, draws such paths by chance).
//! Parts of a few thousand vertices are dissected on both sides. Separators of larger ones are found by a single attempt.
//!
//! What a separator of `s` vertices adds is known before anything is eliminated: when its turn comes, its part is gone, and it
//! has turned into a clique together with the `b` vertices around the part. Nearly: a vertex of the separator may reach only
//! some of them, so the estimate tends to be too high.

use super::dissect::{SMALL, small};
use super::pattern::Pattern;
use super::random::Random;
use super::reduce::reduce;
use super::refinement::Side;
use super::separator::{quick_separator, separator};
use crate::Result;
use crate::control::Control;
use crate::graph::VertexId;
use crate::memory::filled;

/// Parts up to this size are dissected on both sides.
const WHOLE: usize = 4000;

/// What a hierarchy of a graph would be like, roughly: see [`Hierarchy::estimate`](crate::hierarchy::Hierarchy::estimate).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// The pairs of different vertices with an arc between them, in either direction; exact.
    pub edges: u64,
    /// The number of shortcuts: see [`Hierarchy::shortcuts`](crate::hierarchy::Hierarchy::shortcuts).
    pub shortcuts: u64,
    /// The height of the elimination tree: see [`Hierarchy::height`](crate::hierarchy::Hierarchy::height).
    pub height: u64,
    /// The triangles of shortcuts, each of which is looked at when weights are customized.
    pub triangles: u64,
}

/// Sums over the vertices of a part.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    shortcuts: f64,
    triangles: f64,
    /// Not a sum: the most vertices on a path of the tree.
    height: f64,
}

impl Sums {
    /// Adds a vertex with so many later neighbours.
    fn add_row(&mut self, length: f64) {
        self.shortcuts += length;
        self.triangles += length * (length - 1.0).max(0.0) / 2.0;
    }

    /// Adds a part `times` as large as the one that was looked at, beside the others.
    fn add(&mut self, part: Sums, times: f64) {
        self.shortcuts += part.shortcuts * times;
        self.triangles += part.triangles * times;
        self.height = self.height.max(part.height);
    }
}

/// Estimates what [`nested_dissection`](super::nested_dissection) leads to.
pub(in crate::hierarchy) fn estimate(pattern: Pattern, control: &Control) -> Result<Estimate> {
    let edges = pattern.heads.len() as u64 / 2;
    let reduced = reduce(pattern)?;
    let marks = filled("an estimate", reduced.pattern.vertices(), u32::MAX)?;
    let mut estimation = Estimation { whole: &reduced.pattern, control, marks, next_mark: 0 };
    let all = (0..reduced.pattern.vertices() as VertexId).collect();
    let found = estimation.part(reduced.pattern.clone(), all, Random(1))?;
    let first = reduced.shortcuts as f64;
    Ok(Estimate {
        edges,
        // Every edge is a shortcut.
        shortcuts: ((found.shortcuts + first) as u64).max(edges),
        height: (found.height + f64::from(reduced.rounds)) as u64,
        // A vertex that was taken away first has one triangle if it has two later neighbours.
        triangles: (found.triangles + (first - reduced.first.len() as f64).max(0.0)) as u64,
    })
}

struct Estimation<'a> {
    whole: &'a Pattern,
    control: &'a Control,
    /// The last mark that each vertex was given.
    marks: Vec<u32>,
    next_mark: u32,
}

impl Estimation<'_> {
    /// The sums of a part; `names` are its vertices' numbers in the whole.
    fn part(&mut self, part: Pattern, names: Vec<VertexId>, random: Random) -> Result<Sums> {
        self.control.check()?;
        let mut parts = part.parts()?;
        if parts.len() == 1 {
            return self.connected(part, names, random);
        }
        let vertices = part.vertices();
        if vertices > WHOLE {
            parts.sort_by_key(|kept| std::cmp::Reverse(kept.len()));
            parts.truncate(1);
        }
        let looked_at: usize = parts.iter().map(Vec::len).sum();
        let mut number = filled("an estimate", vertices, u32::MAX)?;
        let mut sums = Sums::default();
        for (index, kept) in parts.into_iter().enumerate() {
            let named = kept.iter().map(|&v| names[v as usize]).collect();
            let found = self.connected(part.part(&kept, &mut number), named, random.branch(index as u64))?;
            sums.add(found, vertices as f64 / looked_at as f64);
        }
        Ok(sums)
    }

    fn connected(&mut self, part: Pattern, names: Vec<VertexId>, mut random: Random) -> Result<Sums> {
        let mut sums = Sums::default();
        if part.vertices() <= SMALL {
            let (order, degrees) = small(self.whole, &part, &names);
            degrees.iter().for_each(|&degree| sums.add_row(f64::from(degree)));
            let most = degrees.iter().copied().max().unwrap_or(0) as usize;
            sums.height = most.min(order.len()) as f64;
            return Ok(sums);
        }
        let large = names.len() > WHOLE;
        let sides = if large { quick_separator(&part, &mut random) } else { separator(&part, &mut random) };
        let on =
            |wanted: Side| (0..names.len() as VertexId).filter(|&v| sides[v as usize] == wanted).collect::<Vec<_>>();
        let mut both = [on(Side::Left), on(Side::Right)];
        let divides = both.iter().all(|side| !side.is_empty());
        let last = if divides { names.len() - both[0].len() - both[1].len() } else { names.len() };
        let around = self.around(&names);
        if divides {
            both.sort_by_key(|side| std::cmp::Reverse(side.len()));
            let looked_at = if large { &both[..1] } else { &both[..] };
            let times = (names.len() - last) as f64 / looked_at.iter().map(Vec::len).sum::<usize>() as f64;
            let mut number = filled("an estimate", names.len(), u32::MAX)?;
            for (index, side) in looked_at.iter().enumerate() {
                let named = side.iter().map(|&v| names[v as usize]).collect();
                let found = self.part(part.part(side, &mut number), named, random.branch(index as u64))?;
                sums.add(found, times);
            }
        }
        (0..last).for_each(|later| sums.add_row((later + around) as f64));
        sums.height += last as f64;
        Ok(sums)
    }

    /// How many vertices around a part are neighbours of one of its vertices.
    fn around(&mut self, names: &[VertexId]) -> usize {
        let mark = self.next_mark;
        self.next_mark += 1;
        names.iter().for_each(|&v| self.marks[v as usize] = mark);
        let mut around = 0;
        for &v in names {
            for &u in self.whole.neighbors(v) {
                around += usize::from(std::mem::replace(&mut self.marks[u as usize], mark) != mark);
            }
        }
        around
    }
}
