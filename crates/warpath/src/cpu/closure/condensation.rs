//! Transitive closure by strongly connected components: the vertices of one component reach the same vertices, so one
//! row of bits serves them all. Between components there are no cycles, so each row is the union of finished rows.
//!
//! The components come numbered in reverse topological order: an arc leads to a component with a smaller number. Going
//! up through the numbers, the row of a component is itself and the union of its successors' rows. This is done for one
//! *strip* of 512 columns, a cache line a row, at a time: a strip is small enough for the caches where rows are not,
//! threads take strips without waiting for each other, and counts alone need no matrix at all.
//!
//! Most arcs of a dense acyclic graph are redundant: another successor reaches the same component. Successors are
//! looked at in descending order. A successor whose bit is already set by the ones before can't add anything, in this
//! strip or any other, so it is struck out. Its bit is in the strip of its own column, and it matters only for that
//! strip and lower strips. Strips are taken from the highest down, so a redundant arc is struck out the first time it
//! is looked at. (Two threads in neighbouring strips may both still use it. That costs time, but the answer stays
//! right: with or without redundant arcs, an acyclic graph has the same closure.)
//!
//! Work O(V + E) for the components, then C * (E_C + C) / 512 unions of lines, where E_C are the arcs between
//! components that are not redundant, and C^2 / 8 bytes or, for counts, 64 * C a thread. It wins nearly everywhere.
//! Undirected graphs have no arcs between components, and no bits are needed at all.
//!
//! Sources: P. Purdom, A transitive closure algorithm, BIT 1970; A. Goralčíková, V. Koubek, A reduct-and-closure
//! algorithm for graphs, MFCS 1979; E. Nuutila, Efficient transitive closure computation in large digraphs, 1995.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::{ClosureAlgorithm, ClosureBits, ClosureOutcome, ClosureTask, for_each_instruction_set};
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::cpu::Team;
use crate::graph::{Components, Graph, NO_VERTEX, strongly_connected_components, weakly_connected_components};
use crate::memory::allocation::{bytes_of, refused};
use crate::plan::Plan;
use crate::problems::{BitMatrix, CondensedBits, Line, Problem};
use crate::{Control, Result, memory};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: ClosureAlgorithm = ClosureAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Closure,
        name: "condensation",
        summary: "strongly connected components, then bits for the acyclic rest, parallel; wins nearly everywhere",
        source: "Purdom 1970; Goralčíková & Koubek 1979; Nuutila 1995",
        parameters: &[],
        negative_weights: true,
        seconds: |work| 20e-6 + (work.vertices() + work.arcs()) * 15e-9,
    },
    plan,
    solve,
};

fn plan(graph: &Graph, team: &Team, available: u64) -> Plan {
    let with_components = |components: usize| {
        let mut plan = plan_counts(graph, team, components);
        if graph.is_directed() {
            plan.memory("matrix of bits between components", BitMatrix::bytes(components, components));
        }
        plan
    };
    let at_most = with_components(graph.vertices());
    if at_most.memory_bytes() <= available {
        return at_most;
    }
    // Without memory to count the components, there is none for the bits, either.
    with_components(team.install(|| components(graph)).map_or(graph.vertices(), |components| components.count))
}

/// The most memory that [`count`] takes with this many components.
pub(crate) fn plan_counts(graph: &Graph, team: &Team, components: usize) -> Plan {
    let (vertices, components) = (graph.vertices() as u64, components as u64);
    let mut plan = Plan::new();
    plan.memory("components", vertices * 36 + components * 41);
    if graph.is_directed() {
        // While they are collected, the arcs between components are in memory twice.
        plan.memory("arcs between components", graph.arcs() as u64 * 8);
        plan.memory("strips of columns", strips_at_once(team, components as usize) as u64 * components * 64);
    }
    plan
}

fn solve(task: &ClosureTask<'_>) -> Result<ClosureOutcome> {
    task.team.install(|| {
        task.control.check()?;
        let condensation = Condensation::new(task.graph)?;
        let statistics = condensation.statistics();
        let count = condensation.components.count;
        let mut bits = None;
        if task.graph.is_directed() {
            let mut matrix = BitMatrix::new(count, count)?;
            let lines_per_row = matrix.lines_per_row();
            condensation.sweep(task.team, task.control, |strips| {
                let lowest = strips.last().map_or(0, Strip::first_component);
                matrix.all_lines_mut()[lowest * lines_per_row..]
                    .par_chunks_exact_mut(lines_per_row)
                    .with_min_len(64)
                    .enumerate()
                    .for_each(|(above, row)| {
                        for strip in strips {
                            if let Some(line) = strip.line(lowest + above) {
                                row[strip.index] = *line;
                            }
                        }
                    });
            })?;
            if task.irreflexive {
                (0..count).filter(|&c| !condensation.cyclic[c]).for_each(|c| matrix.set(c, c, false));
            }
            bits = Some(matrix);
        }
        let Condensation { components, sizes, cyclic, .. } = condensation;
        let reaches_itself =
            if task.irreflexive { cyclic } else { memory::filled("the marks of components", count, true)? };
        let condensed = CondensedBits { component: components.of, sizes, reaches_itself, bits };
        Ok(ClosureOutcome { bits: ClosureBits::Condensed(condensed), statistics })
    })
}

/// How many vertices each vertex reaches. Takes the memory of [`plan_counts`], whatever the answer is.
pub(crate) fn count(task: &ClosureTask<'_>) -> Result<(Vec<u64>, Statistics)> {
    task.team.install(|| {
        task.control.check()?;
        let condensation = Condensation::new(task.graph)?;
        let statistics = condensation.statistics();
        let sizes = &condensation.sizes;
        let mut counts;
        if task.graph.is_directed() {
            counts = memory::zeroed("the array of counts", sizes.len())?;
            condensation.sweep(task.team, task.control, |strips| {
                for strip in strips {
                    let large = LargeComponents::new(sizes, strip.index);
                    let first = strip.first_component();
                    counts[first..]
                        .par_chunks_mut(1 << 12)
                        .zip(strip.lines.par_chunks(1 << 12))
                        .for_each(|(counts, lines)| add_reached(counts, lines, &large));
                }
            })?;
        } else {
            counts = memory::copied("the array of counts", sizes)?;
        }
        if task.irreflexive {
            counts.iter_mut().zip(&condensation.cyclic).for_each(|(count, &cyclic)| *count -= u64::from(!cyclic));
        }
        let by_vertex = condensation.components.of.iter().map(|&component| counts[component as usize]);
        let by_vertex = memory::listed("the array of counts", by_vertex)?;
        Ok((by_vertex, statistics))
    })
}

fn components(graph: &Graph) -> Result<Components> {
    if graph.is_directed() { strongly_connected_components(graph) } else { weakly_connected_components(graph) }
}

/// The acyclic graph of components.
struct Condensation {
    components: Components,
    /// Vertices by component.
    sizes: Vec<u64>,
    /// Whether the vertices of a component are on a cycle, which may be a loop.
    cyclic: Vec<bool>,
    /// Where the successors of each component are.
    offsets: Vec<usize>,
    /// The other components that arcs lead to, descending; [`NO_VERTEX`] where struck out as redundant.
    successors: Vec<AtomicU32>,
}

impl Condensation {
    fn new(graph: &Graph) -> Result<Self> {
        const COMPONENTS_AT_ONCE: usize = 1 << 10;
        let components = components(graph)?;
        let sizes = components.sizes()?;
        let mut starts = memory::with_capacity("the offsets of components", components.count + 1)?;
        starts.push(0);
        starts.extend(sizes.iter().scan(0, |sum, &size| {
            *sum += size as usize;
            Some(*sum)
        }));
        let mut next = memory::copied("the offsets of components", &starts)?;
        let mut members = memory::filled("the list of vertices by component", components.of.len(), NO_VERTEX)?;
        for (v, &component) in components.of.iter().enumerate() {
            members[next[component as usize]] = v as u32;
            next[component as usize] += 1;
        }
        let collected: Vec<(Vec<bool>, Vec<usize>, Vec<u32>)> = (0..components.count.div_ceil(COMPONENTS_AT_ONCE))
            .into_par_iter()
            .map(|chunk| {
                let (mut cyclic, mut degrees, mut successors) = (Vec::new(), Vec::new(), Vec::new());
                let (mut heads, mut marked) = (Vec::new(), Vec::new());
                let first = chunk * COMPONENTS_AT_ONCE;
                for component in first..components.count.min(first + COMPONENTS_AT_ONCE) {
                    let members = &members[starts[component]..starts[component + 1]];
                    heads.clear();
                    let mut stays = members.len() > 1;
                    for &member in members {
                        for &head in graph.neighbors(member) {
                            let to = components.of[head as usize];
                            if to as usize == component { stays = true } else { heads.push(to) }
                        }
                    }
                    let before = successors.len();
                    push_descending(&mut heads, components.count, &mut marked, &mut successors);
                    cyclic.push(stays);
                    degrees.push(successors.len() - before);
                }
                (cyclic, degrees, successors)
            })
            .collect();
        let mut cyclic = memory::with_capacity("the marks of components", components.count)?;
        let mut offsets = memory::with_capacity("the offsets of components", components.count + 1)?;
        offsets.push(0);
        let arcs = collected.iter().map(|(_, _, successors)| successors.len()).sum();
        let mut successors = memory::with_capacity("the list of arcs between components", arcs)?;
        let mut end = 0;
        for (some_cyclic, some_degrees, some_successors) in collected {
            cyclic.extend(some_cyclic);
            offsets.extend(some_degrees.into_iter().map(|degree| {
                end += degree;
                end
            }));
            successors.extend(some_successors.into_iter().map(AtomicU32::new));
        }
        Ok(Condensation { components, sizes, cyclic, offsets, successors })
    }

    fn statistics(&self) -> Statistics {
        let largest = self.sizes.iter().copied().max().unwrap_or(0);
        vec![
            ("components", self.components.count as u64),
            ("largest_component", largest),
            ("arcs_between_components", self.successors.len() as u64),
        ]
    }

    /// Finds which components reach the columns of each strip, themselves included, from the highest strip down. As
    /// many strips as there are threads are done at once and handed over in descending order.
    fn sweep(&self, team: &Team, control: &Control, mut hand_over: impl FnMut(&[Strip])) -> Result<()> {
        let count = self.components.count;
        let strips = count.div_ceil(Line::BITS);
        let mut at_once: Vec<Strip> = Vec::new();
        at_once.resize_with(strips_at_once(team, count), Strip::default);
        let mut left = strips;
        while left > 0 {
            control.progress("solve", (strips - left) as u64, strips as u64)?;
            let now = left.min(at_once.len());
            at_once[..now].par_iter_mut().enumerate().try_for_each(|(position, strip)| -> Result<()> {
                strip.index = left - 1 - position;
                strip.lines.clear();
                let rows = count - strip.first_component();
                strip
                    .lines
                    .try_reserve_exact(rows)
                    .map_err(|_| refused("a strip of columns", bytes_of::<Line>(rows)))?;
                sweep_strip(self, strip);
                Ok(())
            })?;
            hand_over(&at_once[..now]);
            left -= now;
        }
        control.progress("solve", strips as u64, strips as u64)
    }
}

/// Appends numbers below `bound` to `sorted`, descending and each once: by sorting, or where there are many by marking
/// them in a bitmap, which is all zeros before and after.
fn push_descending(numbers: &mut Vec<u32>, bound: usize, marked: &mut Vec<u64>, sorted: &mut Vec<u32>) {
    const BITMAP_PAYS: usize = 64;
    if numbers.len() * BITMAP_PAYS < bound {
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        numbers.dedup();
        sorted.extend_from_slice(numbers);
        return;
    }
    marked.resize(bound.div_ceil(64), 0);
    numbers.iter().for_each(|&number| marked[number as usize / 64] |= 1 << (number % 64));
    for (index, word) in marked.iter_mut().enumerate().rev() {
        while *word != 0 {
            let bit = word.ilog2();
            sorted.push(index as u32 * 64 + bit);
            *word ^= 1 << bit;
        }
    }
}

fn strips_at_once(team: &Team, components: usize) -> usize {
    team.threads().min(components.div_ceil(Line::BITS))
}

/// Which components reach the components of 512 columns.
#[derive(Default)]
struct Strip {
    index: usize,
    /// One line for each component from the first column's on; lower components don't reach it.
    lines: Vec<Line>,
}

impl Strip {
    fn first_component(&self) -> usize {
        self.index * Line::BITS
    }

    fn line(&self, component: usize) -> Option<&Line> {
        self.lines.get(component.checked_sub(self.first_component())?)
    }
}

for_each_instruction_set! {
    /// Fills a strip, which is empty and has room, and strikes out the arcs that it finds redundant.
    fn sweep_strip(condensation: &Condensation, strip: &mut Strip) {
        let first = strip.first_component();
        for component in first..condensation.components.count {
            let mut line = Line::ZERO;
            let row = condensation.offsets[component]..condensation.offsets[component + 1];
            for successor in &condensation.successors[row] {
                let to = successor.load(Ordering::Relaxed);
                if to == NO_VERTEX {
                    continue;
                }
                let Some(column) = (to as usize).checked_sub(first) else { break };
                if column < Line::BITS && line.get(column) {
                    successor.store(NO_VERTEX, Ordering::Relaxed);
                } else {
                    line.unite(&strip.lines[column]);
                }
            }
            if component - first < Line::BITS {
                line.set(component - first);
            }
            strip.lines.push(line);
        }
    }
}

/// The components with more than one vertex among 512 columns, for adding up sizes instead of counting bits.
struct LargeComponents {
    /// A word of the line, some of its bits, and a power of two: the bits whose components have a size that contains
    /// this power, when one vertex is left out.
    powers: Vec<(usize, u64, u32)>,
}

impl LargeComponents {
    fn new(sizes: &[u64], strip: usize) -> Self {
        let mut powers = Vec::new();
        let sizes = &sizes[strip * Line::BITS..sizes.len().min((strip + 1) * Line::BITS)];
        for (word, sizes) in sizes.chunks(64).enumerate() {
            let all = sizes.iter().fold(0, |all, size| all | (size - 1));
            for power in (0..u64::BITS - all.leading_zeros()).filter(|power| all >> power & 1 != 0) {
                let bits =
                    sizes.iter().enumerate().fold(0, |bits, (bit, size)| bits | ((size - 1) >> power & 1) << bit);
                powers.push((word, bits, power));
            }
        }
        LargeComponents { powers }
    }
}

for_each_instruction_set! {
    /// Adds to each count the vertices of the components in its line.
    fn add_reached(counts: &mut [u64], lines: &[Line], large: &LargeComponents) {
        for (count, line) in counts.iter_mut().zip(lines) {
            *count += u64::from(line.count());
            for &(word, bits, power) in &large.powers {
                *count += u64::from((line.0[word] & bits).count_ones()) << power;
            }
        }
    }
}
