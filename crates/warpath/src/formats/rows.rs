//! Graphs from compressed rows as files have them: in no order, with repeats and loops.
//!
//! Most files of rows are in order already. So one look at all heads ([`survey`]) decides, in O(V + E) and without
//! moving anything, whether the arrays can be used as they are. Otherwise each row that needs it is sorted and merged
//! in place, in O(E log(degree)), and the gaps that merging leaves are closed.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::{ReadOptions, WeightSource};
use crate::graph::{
    Csr, Direction, Graph, InputCounts, Labels, MAX_VERTICES, ParallelEdges, SelfLoops, VertexId, Weight, WeightKind,
    Weights, check_offsets, survey, with_weights, without_negative_zero,
};
use crate::memory;
use crate::{Error, InputError, Plan, Result};

/// Compressed rows in any order, with as many weights as targets.
pub(super) struct Rows<W> {
    /// Where each row starts, and where the last one ends.
    pub(super) offsets: Vec<u64>,
    /// The heads.
    pub(super) targets: Vec<VertexId>,
    /// The weight of each arc.
    pub(super) weights: Vec<W>,
}

/// Whether to read the weights that a file has.
///
/// # Errors
///
/// If the options name a column: only edge lists have columns.
pub(super) fn wants_weights(options: &ReadOptions) -> Result<bool> {
    match &options.weights {
        WeightSource::File => Ok(true),
        WeightSource::Unit => Ok(false),
        WeightSource::Column(_) => Err(Error::invalid(
            "`--weights COLUMN` (`ReadOptions::weights`) is for edge lists; here the weights are the file's own or `unit`",
        )),
    }
}

/// The number of vertices that a header states, if it is possible.
pub(super) fn vertex_count(stated: u64) -> std::result::Result<usize, InputError> {
    if stated > MAX_VERTICES {
        let message = format!("{stated} vertices are too many; at most {MAX_VERTICES} are possible");
        return Err(InputError::new(message));
    }
    Ok(stated as usize)
}

/// This many vertices take hardly any memory.
const FEW_VERTICES: u64 = 1 << 20;

/// The fault of a header that announces `vertices` in an input of `bytes` if nearly all vertices would have no edges;
/// `None` if the options allow that.
pub(super) fn too_many_isolated(vertices: u64, bytes: u64, options: &ReadOptions) -> Option<String> {
    /// An edge takes at least two bytes, and has two vertices.
    const VERTICES_A_BYTE: u64 = 1000;
    let implausible = vertices > FEW_VERTICES && vertices / VERTICES_A_BYTE > bytes;
    (implausible && !options.allow_isolated).then(|| {
        format!(
            "{vertices} vertices are announced in {bytes} bytes: nearly all would have no edges, and each takes memory; \
             `--allow-isolated` (`ReadOptions::allow_isolated`) reads them all the same"
        )
    })
}

/// An error if a graph with this many vertices would not fit into memory even without edges, when `owned` bytes are
/// taken already.
pub(super) fn plan_vertices(vertices: u64, owned: u64, options: &ReadOptions) -> Result<()> {
    if vertices <= FEW_VERTICES && options.memory.is_none() {
        return Ok(());
    }
    let mut plan = Plan::new();
    plan.memory(format!("offsets of {vertices} vertices"), vertices.saturating_mul(2 * size_of::<u64>() as u64));
    plan.check(options.room(owned))
}

impl<W: Weight> Rows<W> {
    /// How many arcs lead from a vertex to itself. The offsets must be valid.
    pub(super) fn self_loops(&self) -> u64 {
        survey(&self.offsets, &self.targets).self_loops
    }

    /// Checks everything and makes the graph that the options ask for. `direction` is what the format says; undirected
    /// rows must hold each edge both ways. `lines` is the file's own count of edges; if `None`, arcs or edges are
    /// counted.
    pub(super) fn into_graph(
        mut self,
        direction: Direction,
        labels: Labels,
        lines: Option<u64>,
        options: &ReadOptions,
    ) -> Result<Graph> {
        let vertices = self.offsets.len() as u64 - 1;
        let arcs = self.targets.len() as u64;
        if self.offsets[0] != 0 || self.offsets[vertices as usize] != arcs {
            let (first, last) = (self.offsets[0], self.offsets[vertices as usize]);
            let message = format!("the rows run from {first} to {last}, but there are {arcs} entries");
            return Err(InputError::new(message).into());
        }
        check_offsets(&self.offsets).map_err(about_input)?;
        let found = survey(&self.offsets, &self.targets);
        if arcs > 0 && u64::from(found.greatest) >= vertices {
            let message = format!("vertex {} is out of range: there are {vertices} vertices", found.greatest);
            return Err(InputError::new(message).into());
        }
        let drop_loops = options.self_loops == SelfLoops::Drop && found.self_loops > 0;
        let mut parallel = found.repeats;
        if found.descents > 0 || found.repeats > 0 || drop_loops {
            parallel = self.tidy(drop_loops, options.parallel_edges == ParallelEdges::MergeByMinimum)?;
        }
        let weights = W::into_weights(self.weights);
        weights.check().map_err(about_input)?;
        let csr = Csr::trusted(self.offsets, self.targets, weights);
        let edges = match direction {
            Direction::Directed => arcs,
            Direction::Undirected => (arcs - found.self_loops.min(arcs)) / 2 + found.self_loops,
        };
        let lines = lines.unwrap_or(edges);
        let counts = InputCounts { lines, self_loops: found.self_loops, parallel };
        finish(csr, direction, labels, counts, options)
    }

    /// Sorts each row by head, then weight; drops loops and merges repeats if asked to. Returns the number of repeats.
    fn tidy(&mut self, drop_loops: bool, merge: bool) -> Result<u64> {
        let vertices = self.offsets.len() - 1;
        let mut rows = memory::with_capacity("rows to sort", vertices)?;
        let (mut targets, mut weights) = (self.targets.as_mut_slice(), self.weights.as_mut_slice());
        for pair in self.offsets.windows(2) {
            let length = (pair[1] - pair[0]) as usize;
            let (row, rest) = targets.split_at_mut(length);
            let (row_weights, rest_weights) = weights.split_at_mut(length);
            rows.push((row, row_weights));
            (targets, weights) = (rest, rest_weights);
        }
        let mut kept: Vec<u64> = memory::with_capacity("lengths of sorted rows", vertices)?;
        let mut repeats: Vec<u64> = memory::with_capacity("lengths of sorted rows", vertices)?;
        rows.into_par_iter()
            .enumerate()
            .with_min_len(256)
            .map_init(Vec::new, |pairs, (v, (row, weights))| {
                pairs.clear();
                pairs.extend(row.iter().copied().zip(weights.iter().copied()));
                pairs.retain(|&(head, _)| !(drop_loops && head as usize == v));
                pairs.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal)));
                let before = pairs.len();
                let repeats = pairs.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
                if merge {
                    pairs.dedup_by_key(|pair| pair.0);
                    debug_assert_eq!(pairs.len() + repeats, before);
                }
                for (slot, &(head, weight)) in pairs.iter().enumerate() {
                    (row[slot], weights[slot]) = (head, weight);
                }
                (pairs.len() as u64, repeats as u64)
            })
            .unzip_into_vecs(&mut kept, &mut repeats);
        let mut end = 0;
        for (v, &count) in kept.iter().enumerate() {
            let (start, count) = (self.offsets[v] as usize, count as usize);
            self.targets.copy_within(start..start + count, end);
            self.weights.copy_within(start..start + count, end);
            self.offsets[v] = end as u64;
            end += count;
        }
        let last = kept.len();
        self.offsets[last] = end as u64;
        self.targets.truncate(end);
        self.weights.truncate(end);
        Ok(repeats.iter().sum())
    }
}

impl ReadOptions {
    /// The graph of compressed sparse rows that another program has, as a file of them is read: row `v` has its columns at
    /// `offsets[v]..offsets[v + 1]` of `columns`, in any order, with as many weights. Repeated columns merge by minimum unless the options keep
    /// them. With [`Direction::Undirected`] every entry is an edge both ways. In O(V + E) without moving anything where rows ascend.
    ///
    /// ```
    /// use warpath::{ReadOptions, graph::{Direction, Weights}};
    /// let rows = || (vec![0, 2, 2, 3], vec![2, 1, 0], Weights::F64(vec![0.5, 1.5, 2.5]));
    /// let (offsets, columns, weights) = rows();
    /// let graph = ReadOptions::new().graph_of_rows(offsets, columns, weights)?;
    /// assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1, 1.5), (0, 2, 0.5), (2, 0, 2.5)]);
    /// let (offsets, columns, weights) = rows();
    /// let graph = ReadOptions::new().direction(Direction::Undirected).graph_of_rows(offsets, columns, weights)?;
    /// assert_eq!(graph.arcs(), 4);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if the arrays do not fit each other, a column is not a row too, or a float is not finite;
    /// [`Error::OutOfMemory`].
    pub fn graph_of_rows(&self, offsets: Vec<u64>, columns: Vec<VertexId>, weights: Weights) -> Result<Graph> {
        fn positive_zeros<W: Weight>(mut weights: Vec<W>) -> Vec<W> {
            weights.par_iter_mut().with_min_len(1 << 14).for_each(|weight| *weight = without_negative_zero(*weight));
            weights
        }
        fn graph<W: Weight>(rows: Rows<W>, options: &ReadOptions) -> Result<Graph> {
            let labels = Labels::range(0, rows.offsets.len() as u64 - 1);
            rows.into_graph(Direction::Directed, labels, None, options)
        }
        let Some(vertices) = offsets.len().checked_sub(1) else {
            return Err(Error::invalid("the array of offsets is empty; it has one entry more than there are rows"));
        };
        let made = vertex_count(vertices as u64).map_err(Error::from).and_then(|_| {
            if columns.len() != weights.len() {
                let message = format!("there are {} columns, but {} weights", columns.len(), weights.len());
                return Err(Error::invalid(message));
            }
            let weights = match weights {
                Weights::F32(values) => Weights::F32(positive_zeros(values)),
                Weights::F64(values) => Weights::F64(positive_zeros(values)),
                integers => integers,
            };
            with_weights!(weights, weights => graph(Rows { offsets, targets: columns, weights }, self))
        });
        made.map_err(|error| match error {
            Error::Input(fault) => Error::invalid(fault.message),
            other => other,
        })
    }
}

impl Graph {
    /// A directed graph from the three arrays of a sparse matrix as SciPy has them: row `v` has its columns and entries
    /// at `indptr[v]..indptr[v + 1]` of `indices` and `data`. Any integers will do; columns need not be sorted, and
    /// repeated ones merge by minimum. [`Graph::from_csr`] takes sorted rows without a copy.
    ///
    /// ```
    /// let (indptr, indices, data) = ([0_i32, 2, 2, 3], [2_i32, 1, 0], [0.5, 1.5, 2.5]);
    /// let graph = warpath::Graph::from_csr_slices(&indptr, &indices, &data)?;
    /// assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1, 1.5), (0, 2, 0.5), (2, 0, 2.5)]);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the arrays do not fit each other, a column is not a row too, or a float is not finite.
    pub fn from_csr_slices<P, I, W>(indptr: &[P], indices: &[I], data: &[W]) -> Result<Graph>
    where
        P: Copy + TryInto<usize>,
        I: Copy + TryInto<VertexId>,
        W: Weight,
    {
        let invalid = |message: String| Error::invalid(message);
        let Some(vertices) = indptr.len().checked_sub(1) else {
            return Err(invalid("indptr is empty; it has one entry more than there are rows".into()));
        };
        if indices.len() != data.len() {
            return Err(invalid(format!("{} indices, but {} entries of data", indices.len(), data.len())));
        }
        let offset = |row: usize| {
            let offset = indptr[row].try_into().ok().filter(|&offset| offset <= indices.len());
            offset.ok_or_else(|| invalid(format!("indptr[{row}] is not an offset into {} indices", indices.len())))
        };
        if offset(0)? != 0 || offset(vertices)? != indices.len() {
            return Err(invalid(format!("indptr does not run from 0 to the number of indices, {}", indices.len())));
        }
        let mut offsets = memory::with_capacity("offsets of rows", indptr.len())?;
        for row in 0..=vertices {
            offsets.push(offset(row)? as u64);
        }
        let mut columns = memory::with_capacity("columns of rows", indices.len())?;
        for (index, &column) in indices.iter().enumerate() {
            columns.push(column.try_into().map_err(|_| invalid(format!("indices[{index}] is not a vertex")))?);
        }
        let weights = W::into_weights(memory::copied("weights of arcs", data)?);
        ReadOptions::new().graph_of_rows(offsets, columns, weights)
    }
}

/// The graph of rows in order, with the direction that the options ask for. `direction` is what the format says.
pub(super) fn finish(
    csr: Csr,
    direction: Direction,
    labels: Labels,
    counts: InputCounts,
    options: &ReadOptions,
) -> Result<Graph> {
    let wanted = options.direction.unwrap_or(direction);
    if direction == Direction::Undirected && !csr.is_symmetric() {
        return Err(InputError::new(asymmetry(&csr, &labels)).into());
    }
    // Rows that hold each edge both ways are an undirected graph as they are.
    let undirected = wanted == Direction::Undirected && (direction == wanted || csr.is_symmetric());
    Graph::from_parts(csr, !undirected, labels, counts).with_direction(wanted)
}

/// A message about the first edge without an equal reverse; rows ascend.
pub(super) fn asymmetry(csr: &Csr, labels: &Labels) -> String {
    let weight = |arc: usize| with_weights!(csr.weights(), values => values[arc].to_f64());
    let count = |from: VertexId, to: VertexId, wanted: f64| {
        let (start, row) = (csr.row(from).start, csr.neighbors(from));
        let first = row.partition_point(|&head| head < to);
        let repeats = row[first..].iter().take_while(|&&head| head == to).count();
        (start + first..start + first + repeats).filter(|&arc| weight(arc) == wanted).count()
    };
    let arcs = (0..csr.vertices() as VertexId).flat_map(|u| csr.row(u).map(move |arc| (u, arc)));
    let lonely =
        arcs.map(|(u, arc)| (u, csr.targets()[arc], weight(arc))).find(|&(u, v, w)| count(u, v, w) != count(v, u, w));
    let edge = match lonely {
        Some((u, v, w)) => {
            let of_weight = match csr.weights().kind() {
                WeightKind::Unit => String::new(),
                _ => format!(" of weight {w}"),
            };
            format!("the edge from {} to {}{of_weight}", labels.name(u), labels.name(v))
        }
        None => "some edge".into(),
    };
    format!("the graph is undirected, but {edge} lacks its reverse")
}

/// Turns a fault of arrays into a fault of the file they came from.
pub(super) fn about_input(error: Error) -> Error {
    match error {
        Error::InvalidRequest(message) => InputError::new(message).into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GraphBuilder;
    use crate::graph::EdgeList;
    use crate::testing::{Random, TestWeight, graphs_of_every_shape};

    /// The rows of a graph in another order, some entries twice, the second time heavier.
    fn shuffled<W: TestWeight>(graph: &Graph, random: &mut Random) -> Rows<W> {
        let mut rows = Rows { offsets: vec![0], targets: Vec::new(), weights: Vec::new() };
        for v in 0..graph.vertices() as VertexId {
            let start = rows.targets.len();
            for &head in graph.neighbors(v) {
                for _ in 0..1 + random.below(2) {
                    rows.targets.push(head);
                    rows.weights.push(W::draw(random));
                    let other = start + random.below((rows.targets.len() - start) as u64) as usize;
                    let last = rows.targets.len() - 1;
                    rows.targets.swap(other, last);
                    rows.weights.swap(other, last);
                }
            }
            rows.offsets.push(rows.targets.len() as u64);
        }
        rows
    }

    fn check<W: TestWeight>(seed: u64) {
        let mut random = Random(seed);
        for (name, graph) in graphs_of_every_shape::<W>(seed) {
            let rows = shuffled::<W>(&graph, &mut random);
            for direction in [Direction::Directed, Direction::Undirected] {
                let tails = rows.offsets.windows(2).enumerate();
                let tails = tails.flat_map(|(v, row)| (row[0]..row[1]).map(move |_| v as VertexId));
                let edges = tails.zip(rows.targets.iter().copied()).collect();
                let list = EdgeList { edges, weights: rows.weights.clone() };
                let builder = GraphBuilder::new().vertices(graph.vertices() as u64).direction(direction);
                let right = builder.build(vec![list]).unwrap();
                let (offsets, columns) = (rows.offsets.clone(), rows.targets.clone());
                let weights = W::into_weights(rows.weights.clone());
                let made = ReadOptions::new().direction(direction).graph_of_rows(offsets, columns, weights).unwrap();
                assert_eq!(made.csr().offsets(), right.csr().offsets(), "{name}");
                assert_eq!(made.csr().targets(), right.csr().targets(), "{name}");
                assert!(made.edges().eq(right.edges()), "{name}");
                assert_eq!(made.is_directed(), right.is_directed(), "{name}");
            }
        }
    }

    #[test]
    fn rows_are_those_of_their_entries_as_edges() {
        check::<crate::graph::Unit>(1);
        check::<u32>(2);
        check::<i32>(3);
        check::<f32>(4);
        check::<f64>(5);
    }

    #[test]
    fn rows_that_make_no_sense_are_refused() {
        let made = |offsets: &[u64], columns: &[VertexId], weights: Weights| {
            ReadOptions::new().graph_of_rows(offsets.to_vec(), columns.to_vec(), weights)
        };
        assert!(made(&[0, 2, 2], &[1, 0], Weights::F64(vec![-0.0, 1.0])).is_ok());
        for (offsets, columns, weights) in [
            (&[][..], &[][..], Weights::unit(0)),
            (&[1, 1], &[0], Weights::unit(1)),
            (&[0, 2], &[0], Weights::unit(1)),
            (&[0, 1, 0, 1], &[0], Weights::unit(1)),
            (&[0, 1], &[1], Weights::unit(1)),
            (&[0, 1], &[0], Weights::unit(2)),
            (&[0, 1], &[0], Weights::F32(vec![f32::NAN])),
        ] {
            let refused = made(offsets, columns, weights).unwrap_err();
            assert!(matches!(refused, Error::InvalidRequest(_)), "{offsets:?} {columns:?}: {refused}");
        }
    }
}
