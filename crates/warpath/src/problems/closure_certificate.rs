//! The certificate of a transitive closure, which `verify` checks without knowing how the result was made.
//!
//! A condensed result says which vertices share a component. A matrix between vertices and counts do not, so for them
//! the components are found anew. Either way two checks prove the components right. From one vertex of each component,
//! searches that stay inside reach all its others, forwards and backwards. And once each component is contracted to one
//! vertex, no cycle remains (Kahn's algorithm gets through).
//!
//! In that acyclic graph, the row of a vertex is the vertex itself and the union of its successors' rows. Going through
//! the graph backwards, 512 columns at a time, gives the one solution. The result must equal it bit for bit or, if it
//! has only counts, in number.

use rayon::prelude::*;

use super::closure_bits::{CondensedBits, ReachabilityBits};
use super::{BitMatrix, Line};
use crate::graph::{Csr, Graph, VertexId, strongly_connected_components};
use crate::{Error, Result, memory};

fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::NotVerified(message.into()))
}

pub(super) fn verify_bits(vertices: usize, irreflexive: bool, bits: &ReachabilityBits, graph: &Graph) -> Result<()> {
    if vertices != graph.vertices() {
        return fail("the result is for a graph with another number of vertices");
    }
    match bits {
        ReachabilityBits::Matrix(bits) => {
            if (bits.rows(), bits.columns()) != (graph.vertices(), graph.vertices()) {
                return fail("the matrix has another size than the graph");
            }
            let components = strongly_connected_components(graph)?;
            let classes = Classes::certify(graph, &components.of, components.count)?;
            compare(bits, &classes, irreflexive, &components.of, &components.of)
        }
        ReachabilityBits::Condensed(condensed) => verify_condensed(condensed, graph, irreflexive),
    }
}

fn verify_condensed(condensed: &CondensedBits, graph: &Graph, irreflexive: bool) -> Result<()> {
    let count = condensed.sizes.len();
    let classes = Classes::certify(graph, &condensed.component, count)?;
    if condensed.reaches_itself.len() != count {
        return fail("the parts of the result do not fit together");
    }
    for class in 0..count {
        if condensed.sizes[class] != classes.members(class).len() as u64 {
            return fail(format!("component {class} has another number of vertices than it is said to have"));
        }
        if condensed.reaches_itself[class] != (classes.cyclic[class] || !irreflexive) {
            return fail(format!("component {class} is wrong about whether its vertices reach themselves"));
        }
    }
    match &condensed.bits {
        Some(bits) if (bits.rows(), bits.columns()) != (count, count) => {
            fail("the matrix has another size than there are components")
        }
        Some(bits) => {
            let identity = memory::listed("the list of components", 0..count as u32)?;
            compare(bits, &classes, irreflexive, &identity, &identity)
        }
        None if classes.successors.is_empty() => Ok(()),
        None => fail("there are arcs between components, but no component is said to reach another one"),
    }
}

pub(super) fn verify_counts(counts: &[u64], irreflexive: bool, graph: &Graph) -> Result<()> {
    if counts.len() != graph.vertices() {
        return fail("the result is for a graph with another number of vertices");
    }
    let components = strongly_connected_components(graph)?;
    let count = components.count;
    let classes = Classes::certify(graph, &components.of, count)?;
    let strips = graph.vertices().div_ceil(Line::BITS);
    let workers = checkers(count)?;
    let count_strips = |worker: usize| {
        let mut counts: Vec<u64> = memory::zeroed("the counts of a thread", count)?;
        let mut lines = Vec::new();
        for strip in (worker..strips).step_by(workers) {
            classes.solve_strip(strip, &components.of, &mut lines);
            counts.iter_mut().zip(&lines).for_each(|(count, line)| *count += u64::from(line.count()));
        }
        Ok(counts)
    };
    let parts: Result<Vec<Vec<u64>>> = (0..workers).into_par_iter().map(count_strips).collect();
    let mut counted: Vec<u64> = memory::zeroed("the counts of components", count)?;
    for part in parts? {
        counted.iter_mut().zip(&part).for_each(|(sum, count)| *sum += count);
    }
    for (vertex, &claimed) in counts.iter().enumerate() {
        let class = components.of[vertex] as usize;
        let expected = counted[class] - u64::from(irreflexive && !classes.cyclic[class]);
        if claimed != expected {
            return fail(format!("vertex {vertex} reaches {expected} vertices, not {claimed}"));
        }
    }
    Ok(())
}

/// Compares every bit. `row_class` and `column_class` map each row and column to its class.
fn compare(
    bits: &BitMatrix,
    classes: &Classes,
    irreflexive: bool,
    row_class: &[u32],
    column_class: &[u32],
) -> Result<()> {
    let check_strip = |strip: usize, lines: &mut Vec<Line>| {
        classes.solve_strip(strip, column_class, lines);
        row_class.iter().enumerate().find_map(|(row, &class)| {
            let mut expected = lines[class as usize];
            // A class without a cycle is one vertex: its row and its column have the same index.
            if irreflexive && !classes.cyclic[class as usize] && row / Line::BITS == strip {
                expected.clear(row % Line::BITS);
            }
            (bits.lines(row)[strip] != expected).then(|| {
                let differs = |column: &usize| expected.get(*column) != bits.lines(row)[strip].get(*column);
                let column = (0..Line::BITS).find(differs).unwrap_or(0);
                let (bit, truth) = (strip * Line::BITS + column, u8::from(expected.get(column)));
                format!("bit {bit} of row {row} should be {truth}")
            })
        })
    };
    let (strips, workers) = (bits.lines_per_row(), checkers(classes.cyclic.len())?);
    let wrong = (0..workers).into_par_iter().find_map_any(|worker| {
        let mut lines = Vec::new();
        (worker..strips).step_by(workers).find_map(|strip| check_strip(strip, &mut lines))
    });
    match wrong {
        Some(message) => fail(message),
        None => Ok(()),
    }
}

/// How many threads check at once: each holds a line and a count for every class.
fn checkers(classes: usize) -> Result<usize> {
    let bytes = (size_of::<Line>() + size_of::<u64>()) as u64;
    memory::workers("checking the closure", bytes.saturating_mul(classes as u64))
}

/// Classes of vertices that have been certified as the strongly connected components.
struct Classes {
    /// The vertices by class.
    vertices: Vec<VertexId>,
    starts: Vec<usize>,
    /// Whether each class has a cycle; a self-loop counts.
    cyclic: Vec<bool>,
    /// The other classes that arcs of each class lead to.
    successors: Vec<u32>,
    offsets: Vec<usize>,
    /// All classes, each before its successors.
    order: Vec<u32>,
}

impl Classes {
    fn members(&self, class: usize) -> &[VertexId] {
        &self.vertices[self.starts[class]..self.starts[class + 1]]
    }

    fn successors(&self, class: usize) -> &[u32] {
        &self.successors[self.offsets[class]..self.offsets[class + 1]]
    }

    /// Checks that `class_of` gives the strongly connected components, and that there are `count` of them.
    fn certify(graph: &Graph, class_of: &[u32], count: usize) -> Result<Classes> {
        if class_of.len() != graph.vertices() {
            return fail("the result is for a graph with another number of vertices");
        }
        if class_of.iter().any(|&class| class as usize >= count) {
            return fail("a vertex is in a component that there is not");
        }
        let mut starts: Vec<usize> = memory::zeroed("the offsets of components", count + 1)?;
        class_of.iter().for_each(|&class| starts[class as usize + 1] += 1);
        if starts[1..].contains(&0) {
            return fail("there is a component without vertices");
        }
        for class in 0..count {
            starts[class + 1] += starts[class];
        }
        let mut next = memory::copied("the offsets of components", &starts)?;
        let mut vertices = memory::zeroed("the list of vertices by component", class_of.len())?;
        for (v, &class) in class_of.iter().enumerate() {
            vertices[next[class as usize]] = v as VertexId;
            next[class as usize] += 1;
        }
        let mut classes = Classes {
            vertices,
            starts,
            cyclic: memory::with_capacity("the marks of components", count)?,
            successors: Vec::new(),
            offsets: memory::with_capacity("the offsets of components", count + 1)?,
            order: Vec::new(),
        };
        classes.search_within(graph.csr(), class_of)?;
        if graph.is_directed() {
            classes.search_within(graph.transpose()?, class_of)?;
        }
        classes.collect_arcs(graph, class_of)?;
        classes.sort_topologically()?;
        Ok(classes)
    }

    /// Checks that the first vertex of each class reaches all others of the class without leaving it.
    fn search_within(&self, csr: &Csr, class_of: &[u32]) -> Result<()> {
        let mut reached: Vec<bool> = memory::zeroed("the marks of vertices", class_of.len())?;
        let mut stack = memory::with_capacity("the stack of vertices", class_of.len())?;
        for class in 0..self.starts.len() - 1 {
            stack.push(self.members(class)[0]);
            reached[self.members(class)[0] as usize] = true;
            while let Some(u) = stack.pop() {
                for &v in csr.neighbors(u) {
                    if class_of[v as usize] as usize == class && !reached[v as usize] {
                        reached[v as usize] = true;
                        stack.push(v);
                    }
                }
            }
        }
        match reached.iter().position(|&reached| !reached) {
            Some(v) => fail(format!("vertex {v} is not strongly connected with the others of its component")),
            None => Ok(()),
        }
    }

    fn collect_arcs(&mut self, graph: &Graph, class_of: &[u32]) -> Result<()> {
        let mut last_from = memory::filled("the marks of components", self.starts.len() - 1, u32::MAX)?;
        self.offsets.push(0);
        for class in 0..self.starts.len() - 1 {
            let mut cyclic = false;
            for &u in &self.vertices[self.starts[class]..self.starts[class + 1]] {
                for &v in graph.neighbors(u) {
                    let to = class_of[v as usize];
                    if to as usize == class {
                        cyclic = true;
                    } else if last_from[to as usize] != class as u32 {
                        last_from[to as usize] = class as u32;
                        memory::grow("the list of arcs between components", &mut self.successors, 1)?;
                        self.successors.push(to);
                    }
                }
            }
            self.cyclic.push(cyclic);
            self.offsets.push(self.successors.len());
        }
        Ok(())
    }

    /// Kahn's algorithm.
    fn sort_topologically(&mut self) -> Result<()> {
        let count = self.starts.len() - 1;
        let mut entering: Vec<u32> = memory::zeroed("the counts of components", count)?;
        self.successors.iter().for_each(|&to| entering[to as usize] += 1);
        let mut order: Vec<u32> = memory::with_capacity("the order of components", count)?;
        order.extend((0..count as u32).filter(|&class| entering[class as usize] == 0));
        let mut head = 0;
        while head < order.len() {
            for &to in self.successors(order[head] as usize) {
                entering[to as usize] -= 1;
                if entering[to as usize] == 0 {
                    order.push(to);
                }
            }
            head += 1;
        }
        if order.len() != count {
            return fail("two components reach each other, and should be one");
        }
        self.order = order;
        Ok(())
    }

    /// Computes which of 512 columns each class reaches, including columns of its own.
    fn solve_strip(&self, strip: usize, column_class: &[u32], lines: &mut Vec<Line>) {
        lines.clear();
        lines.resize(self.order.len(), Line::ZERO);
        let first = strip * Line::BITS;
        for (bit, &class) in column_class[first..column_class.len().min(first + Line::BITS)].iter().enumerate() {
            lines[class as usize].set(bit);
        }
        for &class in self.order.iter().rev() {
            let mut line = lines[class as usize];
            self.successors(class as usize).iter().for_each(|&to| line.unite(&lines[to as usize]));
            lines[class as usize] = line;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::{Reachability, Report};
    use crate::{Closure, Solver};

    fn graph() -> Graph {
        // A chain of 600 vertices leads into a cycle of three, which leads into a loop; one vertex with a loop is
        // apart.
        let chain = (0..600).map(|v| (v, v + 1));
        let rest = [(600, 601), (601, 602), (602, 600), (602, 603), (603, 603), (604, 604)];
        Graph::from_edges(chain.chain(rest)).unwrap()
    }

    fn matrix(bits: BitMatrix, irreflexive: bool) -> Reachability {
        let vertices = bits.rows();
        Reachability { vertices, irreflexive, bits: ReachabilityBits::Matrix(bits), report: Report::default() }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn wrong_bits_are_found() {
        let graph = graph();
        let solver = Solver::builder(graph.clone()).threads(2).open().unwrap();
        for irreflexive in [false, true] {
            let request = if irreflexive { Closure::new().irreflexive() } else { Closure::new() };
            let right = solver.solve(request.clone()).unwrap().to_matrix().unwrap();
            matrix(right.clone(), irreflexive).verify(&graph).unwrap();
            assert!(matrix(right.clone(), !irreflexive).verify(&graph).is_err());
            for (u, v) in [(0, 0), (0, 1), (5, 603), (603, 5), (600, 602), (603, 603), (604, 604), (604, 0), (599, 511)]
            {
                let mut wrong = right.clone();
                wrong.set(u, v, !right.get(u, v));
                assert!(matrix(wrong, irreflexive).verify(&graph).is_err(), "{u} {v}");
            }
            let mut ones = BitMatrix::new(605, 605).unwrap();
            (0..605).for_each(|u| (0..605).for_each(|v| ones.set(u, v, true)));
            assert!(matrix(ones, irreflexive).verify(&graph).is_err());
            assert!(matrix(BitMatrix::new(605, 605).unwrap(), irreflexive).verify(&graph).is_err());
            assert!(matrix(BitMatrix::new(604, 604).unwrap(), irreflexive).verify(&graph).is_err());
            let mut padding = right.clone();
            padding.lines_mut(3)[1].set(100);
            assert!(matrix(padding, irreflexive).verify(&graph).is_err());

            let condensed = solver.solve(request.clone()).unwrap();
            condensed.verify(&graph).unwrap();
            let planted = |plant: &dyn Fn(&mut CondensedBits)| {
                let mut wrong = condensed.clone();
                let ReachabilityBits::Condensed(bits) = &mut wrong.bits else { panic!("not condensed") };
                plant(bits);
                assert!(wrong.verify(&graph).is_err());
            };
            planted(&|bits| bits.component[0] = bits.component[1]);
            planted(&|bits| bits.component[602] = bits.component[603]);
            planted(&|bits| bits.component[602] = u32::MAX);
            planted(&|bits| bits.sizes[0] += 1);
            planted(&|bits| bits.reaches_itself[1] ^= true);
            planted(&|bits| bits.bits = None);
            for (row, column) in [(0, 0), (0, 5), (5, 0), (600, 1), (602, 600)] {
                planted(&|bits| {
                    let matrix = bits.bits.as_mut().unwrap();
                    let bit = matrix.get(row, column);
                    matrix.set(row, column, !bit);
                });
            }
            // Every vertex in a component of its own, with the right bits between them: not the true components.
            planted(&|bits| {
                bits.component = (0..605).collect();
                bits.sizes = vec![1; 605];
                bits.reaches_itself = (0..605).map(|v| right.get(v, v)).collect();
                bits.bits = Some(right.clone());
            });

            let mut counts = solver.solve(request.counts_only()).unwrap();
            counts.verify(&graph).unwrap();
            counts.counts[601] += 1;
            assert!(counts.verify(&graph).is_err());
            counts.counts[601] -= 1;
            counts.counts.pop();
            assert!(counts.verify(&graph).is_err());
        }
    }
}
