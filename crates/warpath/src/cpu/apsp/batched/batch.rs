//! One batch: pull every marked vertex until none is marked.
//!
//! *Invariants.* A function that was compiled for more instructions is called only where the processor has been found
//! to have them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use super::labels::{ArcWeight, Label, LabelOf};
use super::renumbered::Renumbered;
use crate::graph::DistanceValue;
#[cfg(target_arch = "x86_64")]
use crate::instructions::InstructionSet;
use crate::memory::allocation::{bytes_of, refused};
use crate::{Control, Result, memory};

/// Batches with labels of one type.
pub(super) trait Rung<D>: Send + Sync + std::fmt::Debug {
    /// How many sources a batch has.
    fn slots(&self) -> usize;
    /// Bits a label has.
    fn bits(&self) -> u64;
    /// How many incoming arcs were read, each for all slots.
    fn relaxations(&self) -> u64;
    /// Fills the rows of these sources (numbers, not ids); false if the labels are too narrow.
    fn solve(&self, sources: &[u32], rows: &mut [&mut [D]], columns: &[u32], control: &Control) -> Result<bool>;
}

/// Labels of type `T` in batches of `B`, from weights of type `A`.
pub(super) struct LabelRung<'g, T, const B: usize, A> {
    graph: &'g Renumbered,
    arc_weights: &'g [A],
    /// The weights as labels, by entry of `tails`; made when this rung is first used, `None` if there is no memory for
    /// them.
    weights: OnceLock<Option<Vec<T>>>,
    /// Workspaces not in use: at most one a thread.
    idle: Mutex<Vec<Workspace<T, B>>>,
    relaxations: AtomicU64,
}

/// The memory that one batch works on.
struct Workspace<T, const B: usize> {
    labels: Vec<[T; B]>,
    /// A bit for each vertex whose tails have changed.
    marked: Vec<u64>,
}

impl<T, const B: usize, A> std::fmt::Debug for LabelRung<'_, T, B, A> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "LabelRung of {B} slots of {}", std::any::type_name::<T>())
    }
}

impl<'g, T: Label, const B: usize, A: ArcWeight> LabelRung<'g, T, B, A> {
    pub(super) fn new(graph: &'g Renumbered, arc_weights: &'g [A]) -> Self {
        let idle = Mutex::new(Vec::new());
        LabelRung { graph, arc_weights, weights: OnceLock::new(), idle, relaxations: AtomicU64::new(0) }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Workspace<T, B>>> {
        self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<D: DistanceValue, T: LabelOf<D>, const B: usize, A: ArcWeight> Rung<D> for LabelRung<'_, T, B, A> {
    fn slots(&self) -> usize {
        B
    }

    fn bits(&self) -> u64 {
        T::BITS
    }

    fn relaxations(&self) -> u64 {
        self.relaxations.load(Ordering::Relaxed)
    }

    fn solve(&self, sources: &[u32], rows: &mut [&mut [D]], columns: &[u32], control: &Control) -> Result<bool> {
        let graph = self.graph;
        let as_label = |&arc: &u64| T::weight(self.arc_weights[arc as usize]);
        let what = "the array of weights as labels";
        let weights = self.weights.get_or_init(|| memory::listed(what, graph.arcs.iter().map(as_label)).ok());
        let weights = weights.as_ref().ok_or_else(|| refused(what, bytes_of::<T>(graph.arcs.len())))?;
        let vertices = graph.number.len();
        let spare = self.idle().pop();
        let mut workspace = match spare {
            Some(workspace) => workspace,
            None => Workspace {
                labels: memory::filled("the labels of a batch", vertices, [T::UNREACHED; B])?,
                marked: memory::zeroed("the marks of vertices", vertices.div_ceil(64))?,
            },
        };
        let mut search = BatchSearch { graph, weights, workspace: &mut workspace, pulled: 0 };
        for (slot, &source) in sources.iter().enumerate() {
            search.workspace.labels[source as usize][slot] = T::ZERO;
            search.mark_heads(source as usize);
        }
        // With non-negative weights, or no negative cycle, rounds end by themselves; but rounding may for ever shrink a
        // cycle of floats whose exact length is 0.
        for _ in 0..=vertices {
            control.check()?;
            if !search.round() {
                break;
            }
        }
        let fits = search.labels_suffice();
        if fits {
            search.extract(rows, columns);
        }
        self.relaxations.fetch_add(search.pulled, Ordering::Relaxed);
        workspace.labels.fill([T::UNREACHED; B]);
        workspace.marked.fill(0);
        self.idle().push(workspace);
        Ok(fits)
    }
}

struct BatchSearch<'a, T, const B: usize> {
    graph: &'a Renumbered,
    weights: &'a [T],
    workspace: &'a mut Workspace<T, B>,
    pulled: u64,
}

impl<T: Label, const B: usize> BatchSearch<'_, T, B> {
    #[inline(always)]
    fn mark_heads(&mut self, u: usize) {
        for &head in &self.graph.heads[self.graph.out_offsets[u]..self.graph.out_offsets[u + 1]] {
            self.workspace.marked[head as usize / 64] |= 1 << (head % 64);
        }
    }

    /// Pulls every marked vertex, including later vertices that are marked meanwhile; returns whether there were any.
    #[inline(always)]
    fn round_anywhere(&mut self) -> bool {
        let mut any = false;
        for word in 0..self.workspace.marked.len() {
            while self.workspace.marked[word] != 0 {
                let bit = self.workspace.marked[word].trailing_zeros() as usize;
                self.workspace.marked[word] &= self.workspace.marked[word] - 1;
                any = true;
                if self.pull(word * 64 + bit) {
                    self.mark_heads(word * 64 + bit);
                }
            }
        }
        any
    }

    /// Recomputes the labels of `v` from its tails; returns whether any fell.
    #[inline(always)]
    fn pull(&mut self, v: usize) -> bool {
        let row = self.graph.in_offsets[v]..self.graph.in_offsets[v + 1];
        self.pulled += row.len() as u64;
        let labels = &mut self.workspace.labels;
        let before = labels[v];
        let mut best = before;
        for (&tail, &weight) in self.graph.tails[row.clone()].iter().zip(&self.weights[row]) {
            let from = &labels[tail as usize];
            for slot in 0..B {
                let through = from[slot].extend(weight);
                best[slot] = if through < best[slot] { through } else { best[slot] };
            }
        }
        let mut better = false;
        for slot in 0..B {
            better |= best[slot] < before[slot];
        }
        if better {
            labels[v] = best;
        }
        better
    }

    /// Whether no label was lost to saturation: nearly always because the greatest label plus the greatest weight is in
    /// range, else because no arc leads from a reached vertex to an unreached vertex. No label may be below all
    /// numbers.
    #[inline(always)]
    fn labels_suffice_anywhere(&self) -> bool {
        let labels = &self.workspace.labels;
        let mut greatest = [T::ZERO; B];
        for label in labels {
            for slot in 0..B {
                let reached = label[slot] < T::UNREACHED;
                greatest[slot] = if reached && greatest[slot] < label[slot] { label[slot] } else { greatest[slot] };
            }
        }
        if labels.iter().any(|label| label.iter().any(|label| label.is_below_all())) {
            return false;
        }
        let greatest = greatest.iter().map(|label| label.to_f64()).fold(0.0, f64::max);
        if greatest + self.graph.greatest_weight < T::LIMIT {
            return true;
        }
        labels.iter().enumerate().all(|(v, to)| {
            let row = self.graph.in_offsets[v]..self.graph.in_offsets[v + 1];
            self.graph.tails[row].iter().all(|&tail| {
                let from = &labels[tail as usize];
                let mut lost = false;
                for slot in 0..B {
                    lost |= from[slot] < T::UNREACHED && to[slot] == T::UNREACHED;
                }
                !lost
            })
        })
    }

    /// Turns labels by vertex into rows by source, a tile at a time.
    #[inline(always)]
    fn extract_anywhere<D: DistanceValue>(&self, rows: &mut [&mut [D]], columns: &[u32])
    where
        T: LabelOf<D>,
    {
        const TILE: usize = 64;
        for (tile, columns) in columns.chunks(TILE).enumerate() {
            let mut window = [&self.workspace.labels[0]; TILE];
            for (labels, &column) in window.iter_mut().zip(columns) {
                *labels = &self.workspace.labels[column as usize];
            }
            for (slot, row) in rows.iter_mut().enumerate() {
                for (cell, labels) in row[tile * TILE..].iter_mut().zip(&window[..columns.len()]) {
                    *cell = labels[slot].distance();
                }
            }
        }
    }
}

/// Compiles a method for every instruction set and calls the right one.
macro_rules! vectorized {
    ($name:ident, $anywhere:ident, ($($argument:ident: $type:ty),*), $result:ty, [$($generic:tt)*] [$($bound:tt)*]) => {
        impl<T: Label, const B: usize> BatchSearch<'_, T, B> {
            fn $name<$($generic)*>(&mut self, $($argument: $type),*) -> $result where $($bound)* {
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
                    fn avx512<T, const B: usize, $($generic)*>(
                        search: &mut BatchSearch<'_, T, B>, $($argument: $type),*
                    ) -> $result where T: Label, $($bound)* {
                        search.$anywhere($($argument),*)
                    }
                    #[target_feature(enable = "avx2")]
                    fn avx2<T, const B: usize, $($generic)*>(
                        search: &mut BatchSearch<'_, T, B>, $($argument: $type),*
                    ) -> $result where T: Label, $($bound)* {
                        search.$anywhere($($argument),*)
                    }
                    match InstructionSet::detect() {
                        // SAFETY: this processor has these instructions.
                        InstructionSet::Avx512 => return unsafe { avx512(self, $($argument),*) },
                        // SAFETY: this processor has these instructions.
                        InstructionSet::Avx2 => return unsafe { avx2(self, $($argument),*) },
                        InstructionSet::Portable => {}
                    }
                }
                self.$anywhere($($argument),*)
            }
        }
    };
}
vectorized!(round, round_anywhere, (), bool, [] []);
vectorized!(labels_suffice, labels_suffice_anywhere, (), bool, [] []);
vectorized!(extract, extract_anywhere, (rows: &mut [&mut [D]], columns: &[u32]), (), [D: DistanceValue] [T: LabelOf<D>]);
