//! Sorts arcs into compressed sparse rows: a two-level counting sort by tail, then a sort within each row.
//!
//! A counting sort straight into the rows writes at one place per vertex, and nearly every write misses the cache. So
//! arcs first go into a few hundred buckets, each for a range of tails, which needs only a few hundred places. A bucket
//! fits into the cache, where the counting sort by tail is cheap. Both steps keep the order of arcs with equal tails,
//! so rows whose arcs came in order need no further sort, and the number of threads does not change the result.
//!
//! No atomics: a first walk counts, for each part of the input, the arcs that go into each bucket; prefix sums of the
//! counts give every part its own places to write at.
//!
//! Arcs are never in memory twice. Heads and weights go into the arrays of the graph at once. Tails go into an array
//! beside them, as 16 bits each: a bucket has no more tails than those tell apart. Then buckets are sorted in waves, a
//! sixteenth of all arcs each. A wave is sorted into a buffer, and goes from there to the front of the arrays, behind
//! the rows of the wave before. Rows get shorter where arcs are merged, so a wave never writes over one that is still
//! to come.
//!
//! **Cost.** O(V + E) work for the buckets, O(E log(degree)) for rows out of order; while it lasts, 2 bytes an arc and
//! a sixteenth of the arcs, or the largest bucket if that is more. Edges that are in order already, as in many files,
//! are [concatenated](concatenate) instead.
//!
//! The idea is that of partitioned radix sorts; see Polychroniou and Ross, *A Comprehensive Study of Main-Memory
//! Partitioning and its Application to Large-Scale Comparison- and Radix-Sort*, SIGMOD 2014.
//!
//! *Invariants.* Each part of the arcs writes to places of its own in each bucket, as many as it has counted there: the
//! same arcs are counted and written, and the running sums of the counts keep the places apart and below the number of
//! arcs.

use std::ops::Range;

use rayon::prelude::*;

use super::edges::{Part, without_negative_zero};
use super::{Csr, VertexId, Weight};
use crate::huge_pages::on_huge_pages;
use crate::{Result, memory, parallel};

/// Where arcs come from: walked [`WALKS`] times, in the same order.
pub(super) trait Arcs<W>: Send + Sync {
    /// About how many arcs there are.
    fn about(&self) -> usize;
    /// Calls `visit(tail, head, weight)` for each arc.
    ///
    /// # Errors
    ///
    /// If the arcs can't be had.
    fn for_each(&self, visit: impl FnMut(VertexId, VertexId, W)) -> Result<()>;
}

/// How often arcs are walked over: to count them, and to sort them.
pub(super) const WALKS: u64 = 2;
/// Arcs that a bucket should hold: as many as fit into a second-level cache. In Miri, where graphs are small, a few.
const BUCKET_ARCS: usize = if cfg!(miri) { 1 << 5 } else { 1 << 16 };
/// More places to write at than this exhaust the translation of addresses.
const MOST_BUCKETS: usize = 1 << 11;
/// The most tails of a bucket, even if that takes more buckets. In Miri, fewer than the graphs have vertices.
const MOST_TAILS: usize = if cfg!(miri) { 1 << 6 } else { 1 << 16 };
/// Rows longer than this are sorted by all threads.
const LONG_ROW: usize = if cfg!(miri) { 1 << 4 } else { 1 << 17 };
/// Waves of buckets that are sorted one after another.
const WAVES: usize = 16;
/// A wave has more buckets than this for each thread, so that all threads have something to do.
const BUCKETS_PER_THREAD: usize = 4;

/// A pointer that threads share, each writing where no other does.
struct SharedSlots<T>(*mut T);
// SAFETY: users write disjoint slots only; see the use.
unsafe impl<T: Send> Sync for SharedSlots<T> {}

impl<T> SharedSlots<T> {
    /// # Safety
    ///
    /// `index` is in range and no other thread touches this slot.
    #[inline]
    unsafe fn write(&self, index: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(index).write(value) }
    }
}

/// Rows sorted by head then weight, and the number of arcs before parallel ones were merged (which takes the first: the
/// one of least weight). The parts are dropped one by one when they are done with. Tails are below `vertices`.
///
/// # Errors
///
/// If there is no memory for the arrays, or a part's arcs can't be had.
pub(super) fn sort_by_tail<W: Weight, A: Arcs<W>>(vertices: usize, parts: Vec<A>, merge: bool) -> Result<(Csr, u64)> {
    let about = parts.iter().fold(0_usize, |sum, part| sum.saturating_add(part.about()));
    let buckets = Buckets::new(vertices, about);
    let scattered = Scattered::of(buckets, joined::<W, A>(parts, buckets.arcs_of_part()))?;
    let arcs = scattered.heads.len() as u64;
    Ok((scattered.into_rows(vertices, merge)?, arcs))
}

/// Bytes that sorting takes beside the graph.
pub(crate) struct SortingBytes {
    /// Tails and counters.
    pub(crate) arcs: u64,
    /// The buffer of a wave, taken when the parts of the arcs are dropped already. It is larger where one bucket has more
    /// arcs than a wave should.
    pub(crate) wave: u64,
}

impl SortingBytes {
    /// Those for so many arcs with weights of so many bytes.
    pub(crate) fn of(vertices: u64, arcs: u64, weight: u64) -> Self {
        let buckets = Buckets::new(vertices as usize, arcs as usize);
        let count = buckets.count as u64;
        let parts = arcs.div_ceil(buckets.arcs_of_part() as u64);
        let counters = parts.saturating_mul(count * size_of::<usize>() as u64);
        let wave = arcs.min(buckets.arcs_of_wave(arcs as usize) as u64).max(arcs.div_ceil(count));
        SortingBytes {
            arcs: arcs.saturating_mul(size_of::<u16>() as u64).saturating_add(counters),
            wave: wave.saturating_mul(size_of::<VertexId>() as u64 + weight),
        }
    }
}

/// Ranges of tails, all of a width that is a power of two.
#[derive(Clone, Copy)]
struct Buckets {
    width: usize,
    count: usize,
}

impl Buckets {
    fn new(vertices: usize, arcs: usize) -> Self {
        let wanted = (arcs / BUCKET_ARCS).clamp(1, MOST_BUCKETS);
        let width = vertices.div_ceil(wanted).next_power_of_two().min(MOST_TAILS);
        Buckets { width, count: vertices.div_ceil(width).max(1) }
    }

    /// The fewest arcs of a part, which has a counter for each bucket: counters take an eighth of a byte for each arc.
    fn arcs_of_part(self) -> usize {
        self.count * 8 * size_of::<usize>()
    }

    /// The most of so many arcs in a wave, unless it is one bucket.
    fn arcs_of_wave(self, arcs: usize) -> usize {
        let of_bucket = BUCKET_ARCS.max(arcs / self.count);
        (arcs / WAVES).max((BUCKETS_PER_THREAD * rayon::current_num_threads()).saturating_mul(of_bucket))
    }
}

/// Parts that are walked over one after another.
struct Joined<A>(Vec<A>);

impl<W: Weight, A: Arcs<W>> Arcs<W> for Joined<A> {
    fn about(&self) -> usize {
        self.0.iter().fold(0, |sum, part| sum.saturating_add(part.about()))
    }

    #[inline]
    fn for_each(&self, mut visit: impl FnMut(VertexId, VertexId, W)) -> Result<()> {
        self.0.iter().try_for_each(|part| part.for_each(&mut visit))
    }
}

/// Joins consecutive parts until each has about so many arcs, or more.
fn joined<W: Weight, A: Arcs<W>>(parts: Vec<A>, least: usize) -> Vec<Joined<A>> {
    let mut all: Vec<Joined<A>> = Vec::new();
    let mut missing = 0_usize;
    for part in parts {
        let about = part.about();
        match all.last_mut().filter(|_| missing > 0) {
            Some(last) => {
                last.0.push(part);
                missing = missing.saturating_sub(about);
            }
            None => {
                all.push(Joined(vec![part]));
                missing = least.saturating_sub(about);
            }
        }
    }
    all
}

/// Arcs in buckets, in the arrays of the graph.
struct Scattered<W> {
    buckets: Buckets,
    /// Where each bucket starts, and the end of the last one.
    starts: Vec<usize>,
    /// Tails, counted from the first of their bucket.
    tails: Vec<u16>,
    heads: Vec<VertexId>,
    weights: Vec<W>,
}

impl<W: Weight> Scattered<W> {
    fn of<A: Arcs<W>>(buckets: Buckets, parts: Vec<A>) -> Result<Self> {
        let (shift, mask) = (buckets.width.trailing_zeros(), buckets.width - 1);
        // Count the arcs of each part that go into each bucket, and turn counts into places.
        let counts = parallel::collect(parts.len(), |part| {
            let mut counts = memory::zeroed("arcs of each bucket", buckets.count)?;
            parts[part].for_each(|tail, _, _| counts[(tail >> shift) as usize] += 1)?;
            Ok(counts)
        });
        let mut places = counts.into_iter().collect::<Result<Vec<Vec<usize>>>>()?;
        let mut starts = memory::with_capacity("the starts of buckets", buckets.count + 1)?;
        let mut total = 0;
        for bucket in 0..buckets.count {
            starts.push(total);
            for counts in &mut places {
                total += std::mem::replace(&mut counts[bucket], total);
            }
        }
        starts.push(total);
        let (mut heads, mut weights) = arrays_of_arcs::<W>(total)?;
        let mut tails: Vec<u16> = on_huge_pages(memory::zeroed("tails of arcs", total)?);
        let slots =
            (SharedSlots(tails.as_mut_ptr()), SharedSlots(heads.as_mut_ptr()), SharedSlots(weights.as_mut_ptr()));
        let (tail_slots, head_slots, weight_slots) = (&slots.0, &slots.1, &slots.2);
        let walks = parallel::collect_taken(parts.into_iter().zip(places), |(part, mut places)| {
            part.for_each(|tail, head, weight| {
                let place = &mut places[(tail >> shift) as usize];
                assert!(*place < total, "both walks over a part see the same arcs");
                // SAFETY: the first walk counted the arcs of this part for this bucket, so the place is below `total`,
                // the length of all three arrays, and belongs to this part alone.
                unsafe {
                    tail_slots.write(*place, (tail as usize & mask) as u16);
                    head_slots.write(*place, head);
                    weight_slots.write(*place, weight);
                }
                *place += 1;
            })
        });
        walks.into_iter().collect::<Result<()>>()?;
        Ok(Scattered { buckets, starts, tails, heads, weights })
    }

    /// Sorts the buckets, wave after wave.
    fn into_rows(mut self, vertices: usize, merge: bool) -> Result<Csr> {
        let mut offsets: Vec<u64> = on_huge_pages(memory::zeroed("offsets of vertices", vertices + 1)?);
        let waves = waves(&self.starts, self.buckets.arcs_of_wave(self.heads.len()));
        let arcs_of = |wave: &Range<usize>| self.starts[wave.end] - self.starts[wave.start];
        let longest = waves.iter().map(arcs_of).max().unwrap_or(0);
        let mut buffer: Vec<(VertexId, W)> = on_huge_pages(memory::zeroed("arcs being sorted", longest)?);
        let mut rows_of_buckets = offsets[1..].chunks_mut(self.buckets.width);
        let mut end = 0;
        for wave in waves {
            let first = wave.start;
            let mut rest = buffer.as_mut_slice();
            let mut rows_of_wave = Vec::with_capacity(wave.len());
            for (bucket, ends) in wave.zip(rows_of_buckets.by_ref()) {
                let (arcs, after) = rest.split_at_mut(self.starts[bucket + 1] - self.starts[bucket]);
                rest = after;
                rows_of_wave.push(Rows { arcs, ends, kept: 0 });
            }
            parallel::for_each_chunk_with(&mut rows_of_wave, 1, Vec::new, |cursors, index, rows| {
                let arcs = self.starts[first + index]..self.starts[first + index + 1];
                let (tails, heads) = (&self.tails[arcs.clone()], &self.heads[arcs.clone()]);
                rows[0].sort(tails, heads, &self.weights[arcs], cursors, merge);
            });
            let mut rest = (&mut self.heads[end..], &mut self.weights[end..]);
            let mut places = Vec::with_capacity(rows_of_wave.len());
            for rows in rows_of_wave {
                let (heads, other_heads) = rest.0.split_at_mut(rows.kept);
                let (weights, other_weights) = rest.1.split_at_mut(rows.kept);
                rest = (other_heads, other_weights);
                let start = end;
                end += rows.kept;
                places.push((rows, start, heads, weights));
            }
            parallel::for_each_taken(places, |(rows, start, heads, weights)| rows.put(start as u64, heads, weights));
        }
        self.heads.truncate(end);
        self.heads.shrink_to_fit();
        self.weights.truncate(end);
        self.weights.shrink_to_fit();
        Ok(Csr::trusted(offsets, self.heads, W::into_weights(self.weights)))
    }
}

/// Ranges of buckets with at most this many arcs together, or of one bucket.
fn waves(starts: &[usize], most: usize) -> Vec<Range<usize>> {
    let mut waves = Vec::new();
    let mut first = 0;
    while let Some(&start) = starts[..starts.len() - 1].get(first) {
        let next = starts.partition_point(|&next| next.saturating_sub(start) <= most) - 1;
        let next = next.max(first + 1);
        waves.push(first..next);
        first = next;
    }
    waves
}

/// The rows of a bucket.
struct Rows<'a, W> {
    /// The arcs, of which the first `kept` are left.
    arcs: &'a mut [(VertexId, W)],
    /// The end of each row in the graph; before, its length.
    ends: &'a mut [u64],
    kept: usize,
}

impl<W: Weight> Rows<'_, W> {
    /// Takes the arcs of the bucket and sorts them.
    fn sort(&mut self, tails: &[u16], heads: &[VertexId], weights: &[W], cursors: &mut Vec<usize>, merge: bool) {
        let (arcs, lengths) = (&mut *self.arcs, &mut *self.ends);
        for &tail in tails {
            lengths[usize::from(tail)] += 1;
        }
        cursors.clear();
        let mut sum = 0;
        cursors.extend(lengths.iter().map(|&length| {
            sum += length as usize;
            sum - length as usize
        }));
        for ((&tail, &head), &weight) in tails.iter().zip(heads).zip(weights) {
            let cursor = &mut cursors[usize::from(tail)];
            arcs[*cursor] = (head, weight);
            *cursor += 1;
        }
        let (mut start, mut kept) = (0, 0);
        for length in lengths {
            let end = start + *length as usize;
            sort_row(&mut arcs[start..end]);
            let first = kept;
            for next in start..end {
                let arc = arcs[next];
                if !(merge && kept > first && arcs[kept - 1].0 == arc.0) {
                    arcs[kept] = arc;
                    kept += 1;
                }
            }
            *length = (kept - first) as u64;
            start = end;
        }
        self.kept = kept;
    }

    /// Puts the arcs that are left into the graph, where they start at `start`.
    fn put(self, start: u64, heads: &mut [VertexId], weights: &mut [W]) {
        for (slot, &(head, _)) in heads.iter_mut().zip(self.arcs.iter()) {
            *slot = head;
        }
        for (slot, &(_, weight)) in weights.iter_mut().zip(self.arcs.iter()) {
            *slot = weight;
        }
        let mut end = start;
        for length in self.ends {
            end += *length;
            *length = end;
        }
    }
}

/// Heads and weights for this many arcs, all zero.
fn arrays_of_arcs<W: Weight>(arcs: usize) -> Result<(Vec<VertexId>, Vec<W>)> {
    Ok((on_huge_pages(memory::zeroed("heads of arcs", arcs)?), on_huge_pages(memory::zeroed("weights of arcs", arcs)?)))
}

/// Sorts by head, then weight.
fn sort_row<W: Weight>(row: &mut [(VertexId, W)]) {
    let less = |a: &(VertexId, W), b: &(VertexId, W)| a.0 < b.0 || (a.0 == b.0 && a.1 < b.1);
    if row.windows(2).all(|pair| !less(&pair[1], &pair[0])) {
        return;
    }
    let order = |a: &(VertexId, W), b: &(VertexId, W)| {
        a.0.cmp(&b.0).then(a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal))
    };
    if row.len() > LONG_ROW { row.par_sort_unstable_by(order) } else { row.sort_unstable_by(order) }
}

/// Rows from edges in ascending order without repeats: heads one after another, and an offset wherever the tail
/// changes.
///
/// # Errors
///
/// If there is no memory for the arrays.
pub(super) fn concatenate<W: Weight>(vertices: usize, parts: Vec<Part<W>>) -> Result<Csr> {
    let total = parts.iter().map(|part| part.edges().len()).sum();
    let (mut targets, mut weights) = arrays_of_arcs::<W>(total)?;
    let mut offsets: Vec<u64> = on_huge_pages(memory::zeroed("offsets of vertices", vertices + 1)?);
    {
        let mut rest = (targets.as_mut_slice(), weights.as_mut_slice(), offsets.as_mut_slice());
        let mut pieces = Vec::with_capacity(parts.len());
        let (mut start, mut row) = (0, 0);
        for part in parts {
            let length = part.edges().len();
            // This part sets the starts of the rows after the previous part's last tail, up to its own last tail.
            let next_row = part.edges().last().map_or(row, |&(tail, _)| tail as usize + 1);
            let (heads, other_heads) = rest.0.split_at_mut(length);
            let (values, other_values) = rest.1.split_at_mut(length);
            let (rows, other_rows) = rest.2.split_at_mut(next_row - row);
            rest = (other_heads, other_values, other_rows);
            pieces.push((part, heads, values, rows, row, start as u64));
            start += length;
            row = next_row;
        }
        rest.2.fill(total as u64);
        parallel::for_each_taken(pieces, |(part, heads, values, rows, first_row, start)| {
            let mut known = 0;
            for (index, (slot, &(tail, head))) in heads.iter_mut().zip(part.edges()).enumerate() {
                *slot = head;
                while first_row + known <= tail as usize {
                    rows[known] = start + index as u64;
                    known += 1;
                }
            }
            for (slot, &weight) in values.iter_mut().zip(part.weights()) {
                *slot = without_negative_zero(weight);
            }
        });
    }
    Ok(Csr::trusted(offsets, targets, W::into_weights(weights)))
}

#[cfg(test)]
mod tests {
    use super::super::{Direction, EdgeList, Graph, GraphBuilder, ParallelEdges, SelfLoops, VertexId};
    use crate::testing::{Random, size};

    type Edges = Vec<(VertexId, VertexId, u32)>;

    /// More edges than fit into one bucket or one part, some tails far more often than others.
    fn many_edges(vertices: u64) -> Edges {
        let mut random = Random(17);
        let mut vertex = || {
            let limit = if random.below(3) == 0 { 20 } else { vertices };
            random.below(limit) as VertexId
        };
        let pairs: Vec<_> = (0..size(1_100_000, 400)).map(|_| (vertex(), vertex())).collect();
        pairs.into_iter().map(|(u, v)| (u, v, random.below(5) as u32)).collect()
    }

    /// The edges that a builder has to produce, found by sorting all of them.
    fn expected(
        edges: &[(VertexId, VertexId, u32)],
        direction: Direction,
        loops: SelfLoops,
        parallel: ParallelEdges,
    ) -> Edges {
        let mut arcs = Vec::new();
        for &(u, v, weight) in edges.iter().filter(|&&(u, v, _)| loops == SelfLoops::Keep || u != v) {
            arcs.push((u, v, weight));
            if direction == Direction::Undirected && u != v {
                arcs.push((v, u, weight));
            }
        }
        arcs.sort_unstable();
        if parallel == ParallelEdges::MergeByMinimum {
            arcs.dedup_by_key(|arc| (arc.0, arc.1));
        }
        arcs
    }

    fn arcs(graph: &Graph) -> Edges {
        graph.edges().map(|(u, v, weight)| (u, v, weight as u32)).collect()
    }

    fn builder(direction: Direction, loops: SelfLoops, parallel: ParallelEdges) -> GraphBuilder {
        let builder = GraphBuilder::new().vertices(size(5003, 303));
        builder.direction(direction).self_loops(loops).parallel_edges(parallel)
    }

    #[test]
    fn many_buckets_give_what_sorting_gives() {
        let all = many_edges(size(5000, 300));
        // Some buckets, of several lists.
        let edges = &all[..size(300_000, 400)];
        for direction in [Direction::Directed, Direction::Undirected] {
            for loops in [SelfLoops::Keep, SelfLoops::Drop] {
                for parallel in [ParallelEdges::MergeByMinimum, ParallelEdges::Keep] {
                    let builder = || builder(direction, loops, parallel);
                    let lists = || {
                        let list = |part: &[(VertexId, VertexId, u32)]| EdgeList {
                            edges: part.iter().map(|&(u, v, _)| (u, v)).collect(),
                            weights: part.iter().map(|edge| edge.2).collect(),
                        };
                        edges.chunks(size(80_000, 150)).map(list).collect::<Vec<_>>()
                    };
                    let expected = expected(edges, direction, loops, parallel);
                    for threads in [1, 2] {
                        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                        let graph = pool.install(|| builder().build(lists())).unwrap();
                        assert_eq!(graph.vertices(), size(5003, 303));
                        assert!(arcs(&graph) == expected, "{direction:?}, {loops:?}, {parallel:?}, {threads} threads");
                    }
                }
            }
        }
        // One list that is cut into parts.
        for (direction, loops, parallel) in [
            (Direction::Directed, SelfLoops::Keep, ParallelEdges::MergeByMinimum),
            (Direction::Undirected, SelfLoops::Drop, ParallelEdges::Keep),
        ] {
            let graph = builder(direction, loops, parallel).build_from(all.iter().copied()).unwrap();
            let expected = expected(&all, direction, loops, parallel);
            assert!(arcs(&graph) == expected, "one list, {direction:?}, {loops:?}, {parallel:?}");
        }
    }

    #[test]
    fn waves_hold_as_much_as_they_should_or_one_bucket() {
        let ends = |starts, most| super::waves(starts, most).into_iter().map(|wave| wave.end).collect::<Vec<usize>>();
        assert_eq!(ends(&[0, 0], 5), [1]);
        assert_eq!(ends(&[0, 2, 5, 6, 20, 20, 24, 24], 5), [2, 3, 4, 7]);
        assert_eq!(ends(&[0, 1, 2, 3], 1), [1, 2, 3]);
        assert_eq!(ends(&[0, 1, 2, 3], 3), [3]);
    }

    #[test]
    fn tails_far_apart_have_buckets_of_their_own() {
        let last = size(1 << 21, 1 << 11);
        let edges = [(last, 1, 5), (0, last, 7), (last, 1, 4), (last - 1, last, 2), (last / 2, 0, 1)];
        for (direction, loops) in [(Direction::Directed, SelfLoops::Keep), (Direction::Undirected, SelfLoops::Drop)] {
            let builder = GraphBuilder::new().direction(direction).self_loops(loops);
            let graph = builder.build_from(edges).unwrap();
            assert!(arcs(&graph) == expected(&edges, direction, loops, ParallelEdges::MergeByMinimum));
        }
    }

    #[test]
    fn edges_in_order_give_the_same_as_shuffled_ones() {
        let mut sorted = many_edges(size(100_000, 300));
        sorted.sort_unstable();
        sorted.dedup_by_key(|edge| (edge.0, edge.1));
        let build =
            |edges: &Edges| GraphBuilder::new().vertices(size(100_010, 310)).build_from(edges.iter().copied()).unwrap();
        let (ascending, mut shuffled) = (build(&sorted), sorted.clone());
        let middle = shuffled.len() / 2;
        shuffled.swap(0, middle);
        let other = build(&shuffled);
        assert_eq!(ascending.csr().offsets(), other.csr().offsets());
        assert!(arcs(&ascending) == sorted && arcs(&other) == sorted);
    }

    #[test]
    fn a_transpose_turns_every_arc_round() {
        let edges = many_edges(size(70_000, 300));
        for parallel in [ParallelEdges::MergeByMinimum, ParallelEdges::Keep] {
            let graph = GraphBuilder::new().parallel_edges(parallel).build_from(edges.iter().copied()).unwrap();
            let weights = |csr: &super::Csr| csr.adjacency::<u32>().unwrap().weights.to_vec();
            let csr = graph.transpose().unwrap();
            let weights = weights(csr);
            let mut turned = Vec::new();
            for v in 0..csr.vertices() as VertexId {
                assert!(csr.neighbors(v).is_sorted());
                turned.extend(csr.row(v).map(|arc| (csr.targets()[arc], v, weights[arc])));
            }
            turned.sort_unstable();
            assert!(turned == arcs(&graph));
        }
    }
}
