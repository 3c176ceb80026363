//! Sorts arcs into compressed sparse rows: a two-level counting sort by tail, then a sort within each row.
//!
//! A counting sort straight into the rows writes at one place per vertex, and nearly every write misses the cache. So
//! arcs first go into a few hundred buckets, each for a range of tails, which needs only a few hundred places. A bucket
//! fits into the cache, where the counting sort by tail is cheap. Both steps keep the order of arcs with equal tails,
//! so rows whose arcs came in order need no further sort, and the number of threads does not change the result.
//!
//! No atomics: a first pass counts, for each part of the input, the arcs that go into each bucket; prefix sums of the
//! counts give every part its own places to write at.
//!
//! **Cost.** O(V + E) work for the buckets, O(E log(degree)) for rows out of order; 8 bytes an arc plus its weight
//! while it lasts. Edges that are in order already, as in many files, are [concatenated](concatenate) instead.
//!
//! The idea is that of partitioned radix sorts; see Polychroniou and Ross, *A Comprehensive Study of Main-Memory
//! Partitioning and its Application to Large-Scale Comparison- and Radix-Sort*, SIGMOD 2014.
//!
//! *Invariants.* Each part of the arcs writes to places of its own in each bucket, as many as it has counted there: the
//! same arcs are counted and written, and the running sums of the counts keep the places apart and below the number of
//! arcs. So each slot is written once before it is read.

use rayon::prelude::*;

use super::edges::{Part, without_negative_zero};
use super::{Csr, VertexId, Weight};
use crate::huge_pages::on_huge_pages;
use crate::{Result, memory, parallel};

/// Where arcs come from: walked twice, in the same order.
pub(super) trait Arcs<W>: Send + Sync {
    /// An upper bound on the number of arcs.
    fn at_most(&self) -> usize;
    /// Calls `visit(tail, head, weight)` for each arc.
    fn for_each(&self, visit: impl FnMut(VertexId, VertexId, W));
}

/// Arcs that a bucket should hold: as many as fit into a second-level cache. In Miri, where graphs are small, a few.
const BUCKET_ARCS: usize = if cfg!(miri) { 1 << 5 } else { 1 << 16 };
/// More places to write at than this exhaust the translation of addresses.
const MOST_BUCKETS: usize = 1 << 11;
/// Rows longer than this are sorted by all threads.
const LONG_ROW: usize = if cfg!(miri) { 1 << 4 } else { 1 << 17 };

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
/// If there is no memory for the arrays.
pub(super) fn sort_by_tail<W: Weight, A: Arcs<W>>(vertices: usize, parts: Vec<A>, merge: bool) -> Result<(Csr, u64)> {
    // 1. Choose buckets.
    let at_most: usize = parts.iter().map(Arcs::at_most).sum();
    let wanted = (at_most / BUCKET_ARCS).clamp(1, MOST_BUCKETS);
    let width = vertices.div_ceil(wanted).next_power_of_two();
    let shift = width.trailing_zeros();
    let buckets = vertices.div_ceil(width).max(1);
    // 2. Count the arcs of each part that go into each bucket, and turn counts into places.
    let mut places: Vec<Vec<usize>> = parallel::collect(parts.len(), |part| {
        let mut counts = vec![0; buckets];
        parts[part].for_each(|tail, _, _| counts[(tail >> shift) as usize] += 1);
        counts
    });
    let mut bucket_starts = Vec::with_capacity(buckets + 1);
    let mut sum = 0;
    for bucket in 0..buckets {
        bucket_starts.push(sum);
        for counts in &mut places {
            sum += std::mem::replace(&mut counts[bucket], sum);
        }
    }
    bucket_starts.push(sum);
    let total = sum;
    // 3. Scatter into the buckets.
    let mut scattered: Vec<(VertexId, VertexId, W)> = on_huge_pages(memory::with_capacity("arcs being sorted", total)?);
    let slots = SharedSlots(scattered.as_mut_ptr());
    parallel::for_each_taken(parts.into_iter().zip(places), |(part, mut places)| {
        part.for_each(|tail, head, weight| {
            let place = &mut places[(tail >> shift) as usize];
            assert!(*place < total, "both walks over a part see the same arcs");
            // SAFETY: step 2 counted the arcs of this part for this bucket, so the place is below `total` and belongs
            // to this part alone.
            unsafe { slots.write(*place, (tail, head, weight)) };
            *place += 1;
        });
    });
    // SAFETY: as many slots as there are arcs were written, each once.
    unsafe { scattered.set_len(total) };
    // 4. Sort each bucket into its piece of the final arrays.
    let (mut targets, mut weights, mut offsets) = arrays::<W>(vertices, total)?;
    let kept: Vec<usize> = {
        let mut rest = (scattered.as_slice(), targets.as_mut_slice(), weights.as_mut_slice(), &mut offsets[1..]);
        let mut pieces = Vec::with_capacity(buckets);
        for bucket in 0..buckets {
            let length = bucket_starts[bucket + 1] - bucket_starts[bucket];
            let (arcs, other_arcs) = rest.0.split_at(length);
            let (heads, other_heads) = rest.1.split_at_mut(length);
            let (values, other_values) = rest.2.split_at_mut(length);
            let row_count = width.min(rest.3.len());
            let (rows, other_rows) = rest.3.split_at_mut(row_count);
            rest = (other_arcs, other_heads, other_values, other_rows);
            pieces.push((Bucket { first: (bucket * width) as VertexId, arcs, heads, values, rows }, 0));
        }
        parallel::for_each_chunk_with(&mut pieces, 1, Vec::new, |buffer, _, piece| {
            let (bucket, kept) = &mut piece[0];
            *kept = bucket.sort(buffer, merge);
        });
        pieces.into_iter().map(|(_, kept)| kept).collect()
    };
    drop(scattered);
    // 5. Close the gaps that merged arcs left between buckets, and add up the lengths of rows.
    let mut end = 0;
    for (bucket, &length) in kept.iter().enumerate() {
        let start = bucket_starts[bucket];
        if start != end {
            targets.copy_within(start..start + length, end);
            weights.copy_within(start..start + length, end);
        }
        end += length;
    }
    targets.truncate(end);
    targets.shrink_to_fit();
    weights.truncate(end);
    weights.shrink_to_fit();
    let mut sum = 0;
    for offset in &mut offsets {
        sum += *offset;
        *offset = sum;
    }
    Ok((Csr::trusted(offsets, targets, W::into_weights(weights)), total as u64))
}

/// Heads, weights and offsets for this many vertices and arcs, all zero.
fn arrays<W: Weight>(vertices: usize, arcs: usize) -> Result<(Vec<VertexId>, Vec<W>, Vec<u64>)> {
    Ok((
        on_huge_pages(memory::zeroed("heads of arcs", arcs)?),
        on_huge_pages(memory::zeroed("weights of arcs", arcs)?),
        on_huge_pages(memory::zeroed("offsets of vertices", vertices + 1)?),
    ))
}

/// The arcs of a range of tails, and where they go.
struct Bucket<'a, W> {
    /// The first tail.
    first: VertexId,
    arcs: &'a [(VertexId, VertexId, W)],
    heads: &'a mut [VertexId],
    values: &'a mut [W],
    /// Gets the length of each row.
    rows: &'a mut [u64],
}

impl<W: Weight> Bucket<'_, W> {
    /// Sorts the rows to the front of the final arrays; returns how many arcs are left.
    fn sort(&mut self, buffer: &mut Vec<(VertexId, W)>, merge: bool) -> usize {
        for &(tail, _, _) in self.arcs {
            self.rows[(tail - self.first) as usize] += 1;
        }
        let mut cursors = Vec::with_capacity(self.rows.len());
        let mut sum = 0;
        for &length in self.rows.iter() {
            cursors.push(sum);
            sum += length as usize;
        }
        buffer.resize(self.arcs.len(), (0, W::default()));
        for &(tail, head, weight) in self.arcs {
            let cursor = &mut cursors[(tail - self.first) as usize];
            buffer[*cursor] = (head, weight);
            *cursor += 1;
        }
        let mut kept = 0;
        let mut rest = buffer.as_mut_slice();
        for length in self.rows.iter_mut() {
            let (row, after) = rest.split_at_mut(*length as usize);
            rest = after;
            sort_row(row);
            let before = kept;
            let mut last = None;
            for &(head, weight) in row.iter() {
                if merge && last == Some(head) {
                    continue;
                }
                last = Some(head);
                self.heads[kept] = head;
                self.values[kept] = weight;
                kept += 1;
            }
            *length = (kept - before) as u64;
        }
        kept
    }
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
    let (mut targets, mut weights, mut offsets) = arrays::<W>(vertices, total)?;
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
