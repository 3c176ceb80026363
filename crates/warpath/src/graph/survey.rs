//! Surveys all arcs of a graph in one pass: whether rows are in order, what has to be tidied up, and whether every arc
//! has its reverse.
//!
//! Readers survey every graph before algorithms rely on it, so the pass has to be about as fast as reading the arcs. A
//! loop over each row by itself would take several times as long, since most rows are short. So arcs are taken in
//! chunks across rows. The tail of each arc is written beside it first; then the loops over a chunk have no branches
//! and use vector instructions.
//!
//! **The fingerprint.** Each arc `(u, v)` of weight `w` has a hash that is the same for its reverse, and adds it to a
//! sum modulo 2^64 if `p(u) < p(v)`, or takes it away if `p(u) > p(v)`, with `p` a permutation. An arc and its reverse
//! cancel. If some arc lacks its reverse, the sum vanishes by accident only, with a probability around 2^-64.
//!
//! *Invariants.* A function that was compiled for some instructions is called only where the processor has been found
//! to have them.

use std::ops::Range;

use rayon::prelude::*;

use super::{VertexId, Weights};
use crate::instructions::InstructionSet;
use crate::{Error, Result, parallel};

/// The result of one pass over all arcs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Survey {
    /// The greatest head, 0 if there is none.
    pub(crate) greatest: VertexId,
    /// How often a head is below the one before it in its row.
    pub(crate) descents: u64,
    /// How often a head equals the one before it in its row.
    pub(crate) repeats: u64,
    /// Arcs from a vertex to itself.
    pub(crate) self_loops: u64,
    /// 0 if every arc has its reverse, of equal weight and as often; see the [module](self). 0 also if nobody asked.
    pub(crate) asymmetry: u64,
}

/// Looks at heads only, in parallel. `offsets` must not fall, and end at the number of targets.
pub(crate) fn survey(offsets: &[u64], targets: &[VertexId]) -> Survey {
    survey_all(&Arcs { offsets, targets, weights: targets }, Heads)
}

/// An error if offsets fall somewhere.
pub(crate) fn check_offsets(offsets: &[u64]) -> Result<()> {
    match offsets.par_windows(2).with_min_len(1 << 14).position_any(|pair| pair[0] > pair[1]) {
        Some(v) => Err(Error::invalid(format!("the offset of vertex {} is below the one before it", v + 1))),
        None => Ok(()),
    }
}

/// Looks at all heads and weights once, in parallel, and computes the fingerprint. Offsets have to be right.
pub(super) fn survey_weighted(offsets: &[u64], targets: &[VertexId], weights: &Weights) -> Survey {
    match weights {
        Weights::Unit(weights) => survey_all(&Arcs { offsets, targets, weights }, Fingerprint(|_| 0)),
        Weights::U32(weights) => survey_all(&Arcs { offsets, targets, weights }, Fingerprint(spread)),
        Weights::I32(weights) => survey_all(&Arcs { offsets, targets, weights }, Fingerprint(|w| spread(w as u32))),
        Weights::F32(weights) => {
            survey_all(&Arcs { offsets, targets, weights }, Fingerprint(|w: f32| spread(w.to_bits())))
        }
        Weights::F64(weights) => survey_all(
            &Arcs { offsets, targets, weights },
            Fingerprint(|w: f64| w.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        ),
    }
}

impl Survey {
    /// An error, naming a row, unless the rows ascend and hold vertices only.
    pub(crate) fn check(&self, offsets: &[u64], targets: &[VertexId]) -> Result<()> {
        let vertices = offsets.len() - 1;
        if self.descents == 0 && (targets.is_empty() || (self.greatest as usize) < vertices) {
            return Ok(());
        }
        let bad = (0..vertices).find(|&v| {
            let row = &targets[offsets[v] as usize..offsets[v + 1] as usize];
            row.iter().any(|&head| head as usize >= vertices) || row.windows(2).any(|pair| pair[0] > pair[1])
        });
        let bad = bad.unwrap_or_default();
        Err(Error::invalid(format!("the neighbours of vertex {bad} are not ascending ids below {vertices}")))
    }

    fn and(self, other: Survey) -> Survey {
        Survey {
            greatest: self.greatest.max(other.greatest),
            descents: self.descents + other.descents,
            repeats: self.repeats + other.repeats,
            self_loops: self.self_loops + other.self_loops,
            asymmetry: self.asymmetry.wrapping_add(other.asymmetry),
        }
    }
}

/// The arcs to survey.
struct Arcs<'a, W> {
    offsets: &'a [u64],
    targets: &'a [VertexId],
    /// One weight for each target.
    weights: &'a [W],
}

impl<W> Arcs<'_, W> {
    /// Finds where a share of the work ends. The work is the sequence of rows and arcs (a row, its arcs, the next row);
    /// the share is its first `share` items. Returns the row in which the rest begins, and the first arc of the rest.
    fn cut(&self, share: usize) -> (usize, usize) {
        let (mut low, mut high) = (0, self.offsets.len());
        // The last row that begins within the share.
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.offsets[middle] as usize + middle <= share { low = middle } else { high = middle }
        }
        let first = self.offsets[low] as usize;
        (low, (first + (share - first - low).saturating_sub(1)).min(self.targets.len()))
    }
}

/// The work on each arc beside the survey of its head.
trait Look<W>: Copy + Sync {
    /// A number for each vertex, no two the same.
    fn key(v: VertexId) -> VertexId;
    /// The sum that the arcs of a chunk add to the fingerprint.
    fn fingerprint(self, tails: &[VertexId], heads: &[VertexId], weights: &[W]) -> u64;
}

/// Nothing.
#[derive(Clone, Copy)]
struct Heads;

impl<W> Look<W> for Heads {
    #[inline(always)]
    fn key(v: VertexId) -> VertexId {
        v
    }

    #[inline(always)]
    fn fingerprint(self, _: &[VertexId], _: &[VertexId], _: &[W]) -> u64 {
        0
    }
}

/// The fingerprint, with a function that tells weights apart.
#[derive(Clone, Copy)]
struct Fingerprint<F>(F);

impl<W: Copy, F: Fn(W) -> u64 + Copy + Sync> Look<W> for Fingerprint<F> {
    /// Never 0, which only an id would get that is no vertex's: a product with 0 would tell no vertices apart.
    #[inline(always)]
    fn key(v: VertexId) -> VertexId {
        let mixed = (!v).wrapping_mul(0x9e37_79b1);
        mixed ^ mixed >> 15
    }

    #[inline(always)]
    fn fingerprint(self, tails: &[VertexId], heads: &[VertexId], weights: &[W]) -> u64 {
        let mut sum = 0_u64;
        for ((&u, &v), &w) in tails.iter().zip(heads).zip(weights) {
            let (u, v) = (u64::from(u), u64::from(v));
            let edge = (u * v).wrapping_add((self.0)(w));
            let hash = ((edge >> 32) * (edge & 0xffff_ffff | 1)).wrapping_add(edge);
            // All ones where the hash is to be taken away. A loop is its own reverse, and adds nothing.
            let negative = u64::from(v < u).wrapping_neg();
            let counts = u64::from(v != u).wrapping_neg();
            sum = sum.wrapping_add((hash ^ negative).wrapping_sub(negative) & counts);
        }
        sum
    }
}

/// Tells 32-bit weights apart by all 64 bits.
#[inline(always)]
fn spread(weight: u32) -> u64 {
    u64::from(weight) * 0x85eb_ca6b
}

/// Arcs that are looked at together: their tails and keys fit into a first-level cache.
const CHUNK: usize = if cfg!(test) { 32 } else { 2048 };

fn survey_all<W: Copy + Sync, L: Look<W>>(arcs: &Arcs<'_, W>, look: L) -> Survey {
    /// Rows and arcs that a thread takes at a time.
    const PART: usize = if cfg!(test) { 64 } else { 1 << 17 };
    let all = arcs.offsets.len() - 1 + arcs.targets.len();
    let instructions = InstructionSet::detect();
    let part = |index: usize| {
        let (row, start) = arcs.cut(index * PART);
        let (_, end) = arcs.cut(all.min((index + 1) * PART));
        match instructions {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this processor has these instructions.
            InstructionSet::Avx512 => unsafe { survey_part_avx512(arcs, row, start..end, look) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this processor has these instructions.
            InstructionSet::Avx2 => unsafe { survey_part_avx2(arcs, row, start..end, look) },
            InstructionSet::Portable => survey_part(arcs, row, start..end, look),
        }
    };
    parallel::collect(all.div_ceil(PART), part).into_iter().fold(Survey::default(), Survey::and)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
fn survey_part_avx512<W: Copy, L: Look<W>>(arcs: &Arcs<'_, W>, row: usize, range: Range<usize>, look: L) -> Survey {
    survey_part(arcs, row, range, look)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn survey_part_avx2<W: Copy, L: Look<W>>(arcs: &Arcs<'_, W>, row: usize, range: Range<usize>, look: L) -> Survey {
    survey_part(arcs, row, range, look)
}

/// Looks at the arcs of a range, of which the first lies in this row or a later one.
#[inline(always)]
fn survey_part<W: Copy, L: Look<W>>(arcs: &Arcs<'_, W>, mut row: usize, range: Range<usize>, look: L) -> Survey {
    /// The tail of a row is written this many times at once: as many as fit into the widest register.
    const STRIDE: usize = 16;
    let &Arcs { offsets, targets, weights } = arcs;
    let mut found = Survey::default();
    let (mut tails, mut keys) = ([0; CHUNK + STRIDE], [0; CHUNK]);
    let mut start = range.start;
    while start < range.end {
        let end = range.end.min(start + CHUNK);
        let (heads, weights) = (&targets[start..end], &weights[start..end]);
        while offsets[row + 1] <= start as u64 {
            row += 1;
        }
        if offsets[row] < start as u64 {
            let before = targets[start - 1];
            found.descents += u64::from(heads[0] < before);
            found.repeats += u64::from(heads[0] == before);
        }
        let mut filled = 0;
        loop {
            let until = (offsets[row + 1] as usize).min(end) - start;
            let key = L::key(row as VertexId);
            tails[filled..filled + STRIDE].fill(key);
            if until > filled + STRIDE {
                tails[filled + STRIDE..until].fill(key);
            }
            filled = until;
            if filled == heads.len() {
                break;
            }
            row += 1;
        }
        let (tails, keys) = (&tails[..heads.len()], &mut keys[..heads.len()]);
        for (key, &head) in keys.iter_mut().zip(heads) {
            *key = L::key(head);
        }
        found = found.and(survey_chunk(tails, heads, keys));
        found.asymmetry = found.asymmetry.wrapping_add(look.fingerprint(tails, keys, weights));
        start = end;
    }
    found
}

/// Surveys the heads of a chunk. `tails` holds keys of the tails, `keys` the keys of the heads.
#[inline(always)]
fn survey_chunk(tails: &[VertexId], heads: &[VertexId], keys: &[VertexId]) -> Survey {
    let (mut greatest, mut self_loops) = (0, 0_u32);
    for ((&tail, &head), &key) in tails.iter().zip(heads).zip(keys) {
        greatest = greatest.max(head);
        self_loops += u32::from(key == tail);
    }
    let (mut descents, mut repeats) = (0_u32, 0_u32);
    let pairs = tails.len() - 1;
    let (tails, next_tails) = (&tails[..pairs], &tails[1..][..pairs]);
    let (heads, next_heads) = (&heads[..pairs], &heads[1..][..pairs]);
    for index in 0..pairs {
        let same_row = tails[index] == next_tails[index];
        descents += u32::from(same_row & (next_heads[index] < heads[index]));
        repeats += u32::from(same_row & (next_heads[index] == heads[index]));
    }
    let [descents, repeats, self_loops] = [descents, repeats, self_loops].map(u64::from);
    Survey { greatest, descents, repeats, self_loops, asymmetry: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::graph::{Csr, Weight, with_weights};
    use crate::testing::{Random, TestWeight, graphs_of_every_shape, size};

    /// The definition: the arcs are the same multiset when turned round.
    fn is_symmetric_by_sorting(csr: &Csr) -> bool {
        let weight = |arc: usize| with_weights!(csr.weights(), values => values[arc].to_f64());
        let arcs = || {
            (0..csr.vertices() as VertexId)
                .flat_map(|u| csr.row(u).map(move |arc| (u, csr.targets()[arc], weight(arc).to_bits())))
        };
        let mut forwards: Vec<_> = arcs().collect();
        let mut backwards: Vec<_> = arcs().map(|(u, v, w)| (v, u, w)).collect();
        forwards.sort_unstable();
        backwards.sort_unstable();
        forwards == backwards
    }

    #[test]
    fn the_fingerprint_tells_symmetric_graphs() {
        fn check<W: TestWeight>() {
            for seed in 0..size(4, 1) {
                for (name, graph) in graphs_of_every_shape::<W>(seed) {
                    assert_eq!(graph.csr().is_symmetric(), is_symmetric_by_sorting(graph.csr()), "{name}");
                }
            }
        }
        check::<super::super::Unit>();
        check::<u32>();
        check::<i32>();
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn the_fingerprint_notices_one_arc() {
        let mut random = Random(1);
        for (name, graph) in graphs_of_every_shape::<u32>(7).into_iter().filter(|(_, graph)| graph.arcs() > 0) {
            if graph.is_directed() {
                continue;
            }
            let (csr, _) = graph.into_parts();
            let (offsets, targets, weights) = csr.into_arrays();
            let Weights::U32(weights) = weights else { panic!("{name}") };
            let mut weights = weights.to_vec();
            let at = random.below(weights.len() as u64) as usize;
            weights[at] = weights[at].wrapping_add(1 << random.below(32));
            let changed = Csr::trusted(offsets, targets, Weights::U32(weights));
            assert_eq!(changed.is_symmetric(), is_symmetric_by_sorting(&changed), "{name}");
        }
        // Regular structures: arcs nearly linear in the ids must not cancel.
        for step in 1..size(20, 3_u32) {
            let edges = (0..400_u32).flat_map(|v| [(v, (v + step) % 400), (v, (v + 2 * step) % 400)]);
            assert!(!Graph::from_edges(edges).unwrap().csr().is_symmetric(), "step {step}");
            let edges = (0..400_u32).flat_map(|v| [(v, (v + step) % 400, 2_u32), ((v + 2 * step) % 400, v, 1)]);
            assert!(!Graph::from_edges(edges).unwrap().csr().is_symmetric(), "step {step}");
        }
    }

    #[test]
    fn the_fingerprint_tells_small_graphs() {
        let mut random = Random(3);
        for _ in 0..size(20_000, 50) {
            let vertices = 1 + random.below(5);
            let mut edges = Vec::new();
            for _ in 0..random.below(5) {
                let (u, v) = (random.below(vertices) as VertexId, random.below(vertices) as VertexId);
                let weight = random.below(3) as u32;
                edges.push((u, v, weight));
                if random.below(8) > 0 {
                    edges.push((v, u, weight));
                }
            }
            let builder = crate::GraphBuilder::new().parallel_edges(crate::graph::ParallelEdges::Keep);
            let graph = builder.build_from(edges.iter().copied()).unwrap();
            assert_eq!(graph.csr().is_symmetric(), is_symmetric_by_sorting(graph.csr()), "{edges:?}");
        }
    }

    /// The definition, row by row.
    fn survey_by_rows(offsets: &[u64], targets: &[VertexId]) -> Survey {
        let mut found = Survey { greatest: targets.iter().copied().max().unwrap_or(0), ..Default::default() };
        for (v, ends) in offsets.windows(2).enumerate() {
            let row = &targets[ends[0] as usize..ends[1] as usize];
            found.descents += row.windows(2).filter(|pair| pair[1] < pair[0]).count() as u64;
            found.repeats += row.windows(2).filter(|pair| pair[1] == pair[0]).count() as u64;
            found.self_loops += row.iter().filter(|&&head| head == v as VertexId).count() as u64;
        }
        found
    }

    #[test]
    fn a_survey_counts_what_there_is() {
        let found = survey(&[0, 4, 4, 9], &[0, 2, 2, 1, 2, 2, 2, 1, 0]);
        let expected = Survey { greatest: 2, descents: 3, repeats: 3, self_loops: 4, asymmetry: 0 };
        assert_eq!(found, expected);
        assert_eq!(survey(&[0], &[]), Survey::default());
        assert_eq!(survey(&[0, 0, 0], &[]), Survey::default());
        // Rows of every length, empty ones in long runs, heads in no order: parts and chunks end everywhere.
        let mut random = Random(5);
        for _ in 0..size(2000, 4) {
            let longest = [1, 3, 20, size(200, 40)][random.below(4) as usize];
            let full = 1 + random.below(4);
            let mut offsets = vec![0];
            for _ in 0..random.below(size(300, 40)) {
                let length = if random.below(4) < full { random.below(longest) } else { 0 };
                offsets.push(offsets[offsets.len() - 1] + length);
            }
            let heads = offsets.len() as u64;
            let targets: Vec<_> = (0..offsets[offsets.len() - 1]).map(|_| random.below(heads) as VertexId).collect();
            let found = survey(&offsets, &targets);
            assert_eq!(found, survey_by_rows(&offsets, &targets));
            let weights = Weights::U32(targets.clone());
            let csr = Csr::trusted(offsets, targets, weights);
            assert_eq!(Survey { asymmetry: 0, ..csr.survey(true) }, found);
        }
    }
}
