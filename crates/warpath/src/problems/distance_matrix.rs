//! The result of all-pairs shortest paths: a table of distances in memory.

use super::rows::{RowBlock, TableFacts};
use super::{ApspSummary, DistanceSum, Intermediates, Path, Report, derive_predecessors, verify_search};
use crate::graph::{
    Adjacency, Distance, DistanceValue, Distances, Graph, MinPlus, NO_VERTEX, VertexId, Weight, WeightKind,
    with_min_plus,
};
use crate::{Error, Result, memory, parallel};

/// Runs an expression with `$semiring` as the semiring of these distances on this graph and `$adjacency` as its arcs.
macro_rules! with_semiring_of {
    ($distances:expr, $graph:expr, $semiring:ident, $adjacency:ident => $body:expr) => {
        with_min_plus!($graph.weight_kind(), matches!($distances, Distances::U64(_)), $semiring => {
            match $graph.csr().adjacency::<<$semiring as MinPlus>::Weight>() {
                Some($adjacency) if <<$semiring as MinPlus>::Distance as DistanceValue>::of($distances).is_some() => $body,
                _ => return Err(other_types()),
            }
        })
    };
}

/// Distances from sources (rows) to targets (columns).
#[derive(Debug, Clone)]
pub struct DistanceMatrix {
    pub(crate) sources: Vec<VertexId>,
    /// `None` for every vertex.
    pub(crate) targets: Option<Vec<VertexId>>,
    pub(crate) columns: usize,
    pub(crate) distances: Distances,
    /// `None` unless the request asked for them.
    pub(crate) successors: Option<Successors>,
    /// `None` unless the request asked for them.
    pub(crate) intermediates: Option<Intermediates>,
    /// Whether floats were added in another order than along the path.
    pub(crate) reassociated: bool,
    pub(crate) verified: bool,
    pub(crate) report: Report,
}

/// The first hop from each source to each vertex: row by row, [`NO_VERTEX`] where there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Successors {
    hops: Vec<VertexId>,
    columns: usize,
}

impl Successors {
    /// First hops of a table with `columns` columns, one for each vertex.
    pub(crate) fn new(hops: Vec<VertexId>, columns: usize) -> Self {
        Successors { hops, columns }
    }

    /// The vertex after the source of row `i` on its path to vertex `j`; `None` if `j` is that source or not reached.
    ///
    /// # Panics
    ///
    /// If there is no such row or column.
    pub fn get(&self, i: usize, j: usize) -> Option<VertexId> {
        Some(self.row(i)[j]).filter(|&hop| hop != NO_VERTEX)
    }

    /// A row of first hops, [`NO_VERTEX`] where there is none.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, i: usize) -> &[VertexId] {
        &self.hops[i * self.columns..(i + 1) * self.columns]
    }
}

impl DistanceMatrix {
    /// The source of each row.
    pub fn sources(&self) -> &[VertexId] {
        &self.sources
    }

    /// The target of each column; `None` if column `v` belongs to vertex `v`.
    pub fn targets(&self) -> Option<&[VertexId]> {
        self.targets.as_deref()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.sources.len()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The distance from the `i`-th source to the `j`-th target; `None` where there is no path.
    ///
    /// # Panics
    ///
    /// If there is no such row or column.
    pub fn distance(&self, i: usize, j: usize) -> Option<Distance> {
        assert!(j < self.columns, "column {j} of a table with {} columns", self.columns);
        self.distances.get(i * self.columns + j)
    }

    /// All distances, row by row.
    pub fn distances(&self) -> &Distances {
        &self.distances
    }

    /// All distances, row by row, without a copy.
    pub fn into_distances(self) -> Distances {
        self.distances
    }

    /// The distances of the `i`-th source if they have type `D`.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row<D: DistanceValue>(&self, i: usize) -> Option<&[D]> {
        D::of(&self.distances).map(|values| &values[i * self.columns..(i + 1) * self.columns])
    }

    /// The first hops, if the request asked for them ([`Apsp::with_successors`](super::Apsp::with_successors)).
    pub fn found_successors(&self) -> Option<&Successors> {
        self.successors.as_ref()
    }

    /// The intermediate vertices, if the request asked for them
    /// ([`Apsp::with_intermediates`](super::Apsp::with_intermediates)).
    pub fn found_intermediates(&self) -> Option<&Intermediates> {
        self.intermediates.as_ref()
    }

    /// The path from the `i`-th source to the `j`-th target as the intermediate vertices give it; `None` if there is
    /// none. Floats may have been added in another order than along the path.
    ///
    /// # Errors
    ///
    /// If the request did not ask for intermediate vertices.
    ///
    /// # Panics
    ///
    /// If there is no such row or column.
    pub fn path_over_intermediates(&self, i: usize, j: usize) -> Result<Option<Path>> {
        let Some(found) = &self.intermediates else {
            return Err(Error::invalid("the request for this matrix asked for no intermediate vertices"));
        };
        let to = self.targets.as_ref().map_or(j as VertexId, |targets| targets[j]);
        let Some(length) = self.distance(i, j) else { return Ok(None) };
        Ok(Some(Path::new(found.path(self.sources[i], to)?, length)))
    }

    /// How the result was made.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The number of finite distances, their sum and their maximum, in O(rows * columns).
    pub fn summary(&self) -> ApspSummary {
        let rows: Vec<usize> = (0..self.rows()).collect();
        let mut facts = TableFacts::new(rows.len());
        facts.add(&RowBlock { rows: &rows, columns: self.columns, values: &self.distances });
        ApspSummary { facts, verified: self.verified, report: self.report.clone() }
    }

    /// How many pairs have a distance, the zero diagonal included. O(rows * columns), as are the sum and the maximum;
    /// for all three at once see [`DistanceMatrix::summary`].
    pub fn finite_pairs(&self) -> u64 {
        self.summary().finite_pairs()
    }

    /// The sum of all distances: exact for integers; floats are added up row by row.
    pub fn distance_sum(&self) -> DistanceSum {
        self.summary().distance_sum()
    }

    /// The greatest distance; `None` if there is none.
    pub fn max_distance(&self) -> Option<Distance> {
        self.summary().max_distance()
    }

    /// Checks every row against the graph by the certificate of a search: the source is at 0, no arc can be relaxed,
    /// and every distance is the length of a walk. O(V + E) a row.
    ///
    /// Floyd-Warshall and hierarchies add floats in another order than along the path. For their matrices, distances count as equal
    /// within `4 V` units in the last place of the distances compared or, where weights are negative, of the greatest
    /// distance or weight in the table and graph.
    ///
    /// If some vertices have no column, a row alone says too little. For each row, a search then finds the complete
    /// row; the certificate verifies the search, and the row is compared with it. Successors, if there are any, are
    /// compared with the successors derived from the distances.
    ///
    /// # Errors
    ///
    /// [`Error::NotVerified`] with a fault found.
    pub fn verify(&self, graph: &Graph) -> Result<()> {
        let fits = self.distances.len() == self.rows() * self.columns
            && self.columns == self.targets.as_ref().map_or(graph.vertices(), Vec::len)
            && self.sources.iter().chain(self.targets.iter().flatten()).all(|&v| (v as usize) < graph.vertices());
        if !fits {
            return Err(Error::NotVerified("the result is for a graph with another number of vertices".into()));
        }
        with_semiring_of!(&self.distances, graph, L, adjacency => {
            let Some(values) = <<L as MinPlus>::Distance as DistanceValue>::of(&self.distances) else { return Err(other_types()) };
            let tolerance = Tolerance::new::<L>(graph, values, self.reassociated);
            verify_rows::<L>(adjacency, &self.sources, self.targets.as_deref(), values, self.columns, tolerance)?;
        });
        let Some(found) = &self.successors else { return Ok(()) };
        let derived = self.derived_successors(graph)?;
        match (0..self.rows()).find(|&i| found.row(i) != derived.row(i)) {
            None => Ok(()),
            Some(i) => Err(Error::NotVerified(format!("in the row of vertex {}: wrong successors", self.sources[i]))),
        }
    }

    /// The path from the `i`-th source to a vertex; `None` if there is none. It is the path that a search from that
    /// source gives, whatever algorithm made the matrix.
    ///
    /// O(V + E) if every vertex is a column and distances were added along paths, otherwise one search. O(length) if
    /// the matrix has all pairs with successors, distances were added along paths, and all weights are above 0.
    ///
    /// # Errors
    ///
    /// If the matrix is not of this graph.
    ///
    /// # Panics
    ///
    /// If there is no such row or vertex.
    pub fn path(&self, graph: &Graph, i: usize, to: VertexId) -> Result<Option<Path>> {
        with_semiring_of!(&self.distances, graph, L, adjacency => {
            if let Some(found) = self.walk(graph, i, to)? {
                return Ok(found);
            }
            let (row, predecessors) = self.predecessors::<L>(graph, adjacency, i)?;
            let Some(length) = row[to as usize].distance() else { return Ok(None) };
            let mut vertices = vec![to];
            let mut at = to;
            while predecessors[at as usize] != NO_VERTEX {
                at = predecessors[at as usize];
                vertices.push(at);
            }
            vertices.reverse();
            Ok(Some(Path::new(vertices, length)))
        })
    }

    /// The path from successor to successor; the outer `None` if this path may differ from the path that a search
    /// gives.
    ///
    /// With weights above 0 the paths agree. Let `s` follow the source `i` on the path to `j`. An arc that is tight on
    /// a path from `s` to `j` is tight from `i`, too. The last arc of the path from `i`, whose tail is the least of
    /// all, is among them, so `j` has the same predecessor in the tree of `s`; the same holds for the vertices before
    /// `j`.
    fn walk(&self, graph: &Graph, i: usize, to: VertexId) -> Result<Option<Option<Path>>> {
        let all_pairs = self.targets.is_none() && (0..graph.vertices() as VertexId).eq(self.sources.iter().copied());
        let Some(successors) = &self.successors else { return Ok(None) };
        if self.reassociated || !all_pairs || graph.weight_range().0 <= 0.0 || self.columns != graph.vertices() {
            return Ok(None);
        }
        let Some(length) = self.distance(i, to as usize) else { return Ok(Some(None)) };
        let mut vertices = vec![i as VertexId];
        let mut at = i;
        while let Some(next) = successors.get(at, to as usize) {
            if vertices.len() == graph.vertices() {
                return Err(Error::NotVerified(format!("the successors from {i} to {to} run in circles")));
            }
            vertices.push(next);
            at = next as usize;
        }
        Ok(Some(Some(Path::new(vertices, length))))
    }

    /// The first hop of the path to every vertex, for each row. The paths are those that searches give, whatever
    /// algorithm made the matrix. Each row costs as much as a [`DistanceMatrix::path`], unless the request asked for
    /// successors.
    ///
    /// # Errors
    ///
    /// If the matrix is not of this graph.
    pub fn successors(&self, graph: &Graph) -> Result<Successors> {
        match &self.successors {
            Some(found) if found.columns == graph.vertices() => Ok(found.clone()),
            _ => self.derived_successors(graph),
        }
    }

    fn derived_successors(&self, graph: &Graph) -> Result<Successors> {
        let columns = graph.vertices();
        let mut hops = memory::filled("the array of successors", self.rows().saturating_mul(columns), NO_VERTEX)?;
        with_semiring_of!(&self.distances, graph, L, adjacency => {
            parallel::try_for_each_chunk(&mut hops, columns.max(1), |i, hops| {
                let (_, predecessors) = self.predecessors::<L>(graph, adjacency, i)?;
                first_hops(&predecessors, hops)
            })?;
        });
        Ok(Successors { hops, columns })
    }

    /// The complete row of the `i`-th source, with distances added along paths, and its tree of predecessors.
    fn predecessors<L: MinPlus>(
        &self,
        graph: &Graph,
        adjacency: Adjacency<'_, L::Weight>,
        i: usize,
    ) -> Result<(Vec<L::Distance>, Vec<VertexId>)> {
        let source = self.sources[i];
        let stored = self.row::<L::Distance>(i).filter(|row| self.targets.is_none() && row.len() == graph.vertices());
        let row = match stored {
            Some(row) if !self.reassociated => memory::copied("a row of distances", row)?,
            _ if (source as usize) < graph.vertices() => complete_row::<L>(adjacency, source)?,
            _ => return Err(other_types()),
        };
        let predecessors = derive_predecessors::<L>(adjacency, &[source], &row, graph.has_negative_weights())?;
        Ok((row, predecessors))
    }
}

fn other_types() -> Error {
    Error::NotVerified("the distances have a type or a number that this graph does not give".into())
}

/// How far apart two lengths may be that differ only in the order of addition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tolerance {
    /// Relative to the lengths compared.
    relative: f64,
    /// Added to the relative part.
    absolute: f64,
}

impl Tolerance {
    /// How far a distance may be from that of a search, as a part of it, where weights are floats of 0 or more that were added in
    /// another order: a path has fewer arcs than there are vertices, and each sum rounds once.
    pub(crate) fn of_reassociated(graph: &Graph) -> f64 {
        let unit = if graph.weight_kind() == WeightKind::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
        4.0 * graph.vertices() as f64 * unit
    }

    /// The tolerance for these distances; zero unless they are floats that were `reassociated`.
    pub(crate) fn new<L: MinPlus>(graph: &Graph, values: &[L::Distance], reassociated: bool) -> Self {
        let floats = matches!(L::Distance::into_distances(Vec::new()), Distances::F32(_) | Distances::F64(_));
        let relative = if reassociated && floats { Self::of_reassociated(graph) } else { 0.0 };
        if relative == 0.0 || !graph.has_negative_weights() {
            return Tolerance { relative, absolute: 0.0 };
        }
        let (low, high) = graph.weight_range();
        let distances = values.iter().map(|distance| distance.to_f64().abs()).filter(|distance| distance.is_finite());
        let greatest = distances.fold(low.abs().max(high.abs()), f64::max);
        Tolerance { relative: 0.0, absolute: relative * greatest }
    }

    fn is_exact(self) -> bool {
        self.relative == 0.0 && self.absolute == 0.0
    }

    /// The most that `a` and `b` may differ.
    fn between(self, a: f64, b: f64) -> f64 {
        self.relative * a.abs().max(b.abs()) + self.absolute
    }
}

/// Checks rows by the certificate of a search.
pub(crate) fn verify_rows<L: MinPlus>(
    graph: Adjacency<'_, L::Weight>,
    sources: &[VertexId],
    targets: Option<&[VertexId]>,
    values: &[L::Distance],
    columns: usize,
    tolerance: Tolerance,
) -> Result<()> {
    if columns == 0 {
        return Ok(());
    }
    let negative = targets.is_some() && graph.weights.iter().any(|weight| weight.is_negative());
    parallel::try_for_each(sources.len().min(values.len() / columns), &|row| {
        let (source, row) = (sources[row], &values[row * columns..][..columns]);
        let in_row = |error: Error| match error {
            Error::NotVerified(message) => Error::NotVerified(format!("in the row of vertex {source}: {message}")),
            other => other,
        };
        match targets {
            None if tolerance.is_exact() => {
                verify_search::<L>(graph, &[source], row, None, L::Distance::UNREACHABLE).map_err(in_row)
            }
            None => verify_within::<L>(graph, source, row, tolerance).map_err(in_row),
            Some(targets) => {
                let mut complete = complete_row::<L>(graph, source)?;
                // Walks beyond the farthest target may leave the range, and nobody asks for them.
                let bound = if negative { L::Distance::UNREACHABLE } else { farthest(&complete, targets) };
                complete.iter_mut().filter(|d| bound < **d).for_each(|d| *d = L::Distance::UNREACHABLE);
                verify_search::<L>(graph, &[source], &complete, None, bound).map_err(in_row)?;
                let wrong = targets.iter().zip(row).find(|&(&target, &distance)| {
                    let right = complete[target as usize];
                    let (a, b) = (distance.to_f64(), right.to_f64());
                    distance != right && !(a.is_finite() && b.is_finite() && (a - b).abs() <= tolerance.between(a, b))
                });
                match wrong {
                    None => Ok(()),
                    Some((target, distance)) => Err(in_row(Error::NotVerified(format!(
                        "the distance to {target} is {}, not {distance}",
                        complete[*target as usize]
                    )))),
                }
            }
        }
    })
}

/// Checks the certificate of a search with a tolerance for the rounding of float sums.
fn verify_within<L: MinPlus>(
    graph: Adjacency<'_, L::Weight>,
    source: VertexId,
    row: &[L::Distance],
    tolerance: Tolerance,
) -> Result<()> {
    let fail = |message: String| Err(Error::NotVerified(message));
    if row[source as usize] != L::Distance::ZERO {
        return fail(format!("source {source} is not at distance 0"));
    }
    let mut reached: Vec<bool> = memory::zeroed("the marks of vertices", row.len())?;
    let mut stack = memory::with_capacity("the stack of vertices", row.len())?;
    stack.push(source);
    reached[source as usize] = true;
    for (u, from) in row.iter().enumerate().filter(|(_, from)| **from != L::Distance::UNREACHABLE) {
        for (v, weight) in graph.edges(u as VertexId) {
            let (through, to) = (from.to_f64() + weight.to_f64(), row[v as usize].to_f64());
            if to.is_nan() || to > through + tolerance.between(through, to.min(f64::MAX)) {
                return fail(format!("the arc from {u} to {v} can be relaxed: {from} + {weight} < {to}"));
            }
        }
    }
    while let Some(u) = stack.pop() {
        for (v, weight) in graph.edges(u) {
            let (through, to) = (row[u as usize].to_f64() + weight.to_f64(), row[v as usize].to_f64());
            if !reached[v as usize] && to.is_finite() && (through - to).abs() <= tolerance.between(through, to) {
                reached[v as usize] = true;
                stack.push(v);
            }
        }
    }
    match (0..row.len()).find(|&v| !reached[v] && row[v] != L::Distance::UNREACHABLE) {
        Some(v) => fail(format!("no walk from {source} to {v} has its distance {}", row[v])),
        None => Ok(()),
    }
}

/// All distances from a source by the simplest search: rounds over the vertices that changed, at most one round per
/// vertex.
fn complete_row<L: MinPlus>(graph: Adjacency<'_, L::Weight>, source: VertexId) -> Result<Vec<L::Distance>> {
    let mut row = memory::filled("a row of distances", graph.vertices(), L::Distance::UNREACHABLE)?;
    let mut queued: Vec<bool> = memory::zeroed("the marks of vertices", graph.vertices())?;
    row[source as usize] = L::Distance::ZERO;
    let mut current = memory::with_capacity("the list of active vertices", graph.vertices())?;
    current.push(source);
    let mut next = memory::with_capacity("the list of active vertices", graph.vertices())?;
    for _ in 0..graph.vertices() {
        for &u in &current {
            queued[u as usize] = false;
            for (v, weight) in graph.edges(u) {
                let through = L::extend(row[u as usize], weight);
                if through < row[v as usize] {
                    row[v as usize] = through;
                    if !std::mem::replace(&mut queued[v as usize], true) {
                        next.push(v);
                    }
                }
            }
        }
        current.clear();
        std::mem::swap(&mut current, &mut next);
    }
    Ok(row)
}

/// The distance of the farthest target; `UNREACHABLE` if one can't be reached.
fn farthest<D: DistanceValue>(row: &[D], targets: &[VertexId]) -> D {
    targets.iter().map(|&target| row[target as usize]).fold(D::ZERO, |a, b| if a < b { b } else { a })
}

/// The first vertex after the root on the path to each vertex, in a tree of predecessors.
fn first_hops(predecessors: &[VertexId], hops: &mut [VertexId]) -> Result<()> {
    let mut chain = memory::with_capacity("the chain of predecessors", predecessors.len())?;
    for v in 0..predecessors.len() {
        let mut at = v;
        while hops[at] == NO_VERTEX && predecessors[at] != NO_VERTEX {
            chain.push(at);
            at = predecessors[at] as usize;
        }
        // The chain ends at a vertex whose hop is known, or at the root; then the chain's last vertex is the hop.
        let hop = match (hops[at], chain.last()) {
            (NO_VERTEX, Some(&last)) => last as VertexId,
            (hop, _) => hop,
        };
        chain.drain(..).for_each(|vertex| hops[vertex] = hop);
    }
    Ok(())
}

impl From<DistanceMatrix> for Distances {
    fn from(matrix: DistanceMatrix) -> Self {
        matrix.distances
    }
}

/// Whether two tables have the same distances, bit for bit.
impl PartialEq for DistanceMatrix {
    fn eq(&self, other: &Self) -> bool {
        self.sources == other.sources && self.targets == other.targets && self.distances == other.distances
    }
}
