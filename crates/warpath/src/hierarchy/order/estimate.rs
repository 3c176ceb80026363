//! How many shortcuts an order would lead to, by a look at a few separators.
//!
//! Nested dissection looks at all vertices once on each level. The parts of a level are alike, though: the sizes of their
//! separators follow from how large they are and from what kind of graph it is. So only the larger side of each separator is
//! dissected further, and stands for the other one as well, in the proportion of their vertices. All levels together then
//! cost as much as the first two (Knuth, *Estimating the efficiency of backtrack programs*, 1975, draws such paths by chance).
//! Parts of up to a thousand vertices are dissected on both sides. Separators are found by a single attempt.
//!
//! What a separator adds is counted before anything is eliminated: see [`columns`](mod@super::columns).

use super::columns::{Columns, columns};
use super::dissect::{SMALL, by_degree, small};
use super::pattern::Pattern;
use super::random::Random;
use super::reduce::reduce;
use super::refinement::Side;
use super::separator::quick_separator;
use crate::Result;
use crate::control::Control;
use crate::graph::VertexId;
use crate::memory::filled;

/// Parts up to this size are dissected on both sides.
const WHOLE: usize = 1000;

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
    let place = filled("an estimate", reduced.pattern.vertices(), u32::MAX)?;
    let mut estimation = Estimation { whole: &reduced.pattern, control, place };
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
    /// Scratch memory: `u32::MAX` for every vertex.
    place: Vec<u32>,
}

impl Estimation<'_> {
    /// The sums of a part; `names` are its vertices' numbers in the whole.
    fn part(&mut self, part: Pattern, names: Vec<VertexId>, random: Random) -> Result<Sums> {
        self.control.check()?;
        let mut parts = part.parts()?;
        if parts.len() == 1 {
            return self.connected(part, names, random);
        }
        let times = if part.vertices() > WHOLE { self.keep_the_largest(&mut parts, &names) } else { 1.0 };
        let mut number = filled("an estimate", part.vertices(), u32::MAX)?;
        let mut sums = Sums::default();
        for (index, kept) in parts.into_iter().enumerate() {
            let named = kept.iter().map(|&v| names[v as usize]).collect();
            let found = self.connected(part.part(&kept, &mut number), named, random.branch(index as u64))?;
            sums.add(found, times);
        }
        Ok(sums)
    }

    /// Keeps the part with the most edges, and returns how many times as many all of them had.
    fn keep_the_largest(&self, parts: &mut Vec<Vec<VertexId>>, names: &[VertexId]) -> f64 {
        let edges =
            |part: &Vec<VertexId>| part.iter().map(|&v| self.whole.neighbors(names[v as usize]).len()).sum::<usize>();
        let all: usize = parts.iter().map(edges).sum();
        parts.sort_by_cached_key(|part| std::cmp::Reverse(edges(part)));
        parts.truncate(1);
        all as f64 / parts.first().map_or(1, edges).max(1) as f64
    }

    fn connected(&mut self, part: Pattern, names: Vec<VertexId>, mut random: Random) -> Result<Sums> {
        let mut sums = Sums::default();
        let last;
        if part.vertices() <= SMALL {
            last = small(self.whole, &part, &names);
        } else {
            let sides = quick_separator(&part, &mut random);
            let all = 0..names.len() as VertexId;
            let on = |wanted: Side| all.clone().filter(|&v| sides[v as usize] == wanted).collect::<Vec<_>>();
            let mut both = vec![on(Side::Left), on(Side::Right)];
            if both.iter().any(Vec::is_empty) {
                last = by_degree(&part);
            } else {
                last = on(Side::Separator);
                let times = if names.len() > WHOLE { self.keep_the_largest(&mut both, &names) } else { 1.0 };
                let mut number = filled("an estimate", names.len(), u32::MAX)?;
                for (index, side) in both.iter().enumerate() {
                    let named = side.iter().map(|&v| names[v as usize]).collect();
                    let found = self.part(part.part(side, &mut number), named, random.branch(index as u64))?;
                    sums.add(found, times);
                }
            }
        }
        let Columns { lengths, height } = columns(self.whole, &part, &names, &last, &mut self.place)?;
        lengths.into_iter().for_each(|length| sums.add_row(f64::from(length)));
        sums.height += height as f64;
        Ok(sums)
    }
}
