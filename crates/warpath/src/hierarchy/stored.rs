//! Hierarchies in files: a `.wpg` holds one beside its graph, as three arrays.
//!
//! `order` has the vertices by rank, `degrees` how many later neighbours each rank has, and `heads` these neighbours, rank by
//! rank. All else follows from them in one pass. Everything that customization and queries rely on is checked, so that no
//! file leads them astray, whatever its checksums say:
//!
//! - the order has each vertex once;
//! - the neighbours of a rank ascend, and are later ranks;
//! - all later neighbours of a rank but the first, its parent, are neighbours of the parent. By induction, any two later
//!   neighbours of a rank are neighbours: every triangle that customization looks at is there, and all are ancestors;
//! - ranks are numbered in postorder, so that a subtree is a range of them;
//! - every edge of the graph has its shortcut: the hierarchy is that of this graph. It may have more shortcuts than the
//!   graph needs, which change no distance.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::Hierarchy;
use super::arcs::Along;
use super::elimination::{Elimination, MOST_ARCS};
use crate::formats::{PartialFile, ReadOptions, StoredArrays, WriteOptions};
use crate::graph::{Graph, VertexId};
use crate::memory::{available_memory, filled, listed, with_capacity};
use crate::{Control, Error, InputError, Plan, Result};

/// The names of the arrays.
const ORDER: &str = "order";
const DEGREES: &str = "degrees";
const HEADS: &str = "heads";

/// What loading takes for each vertex, and for each shortcut, beyond the arrays of the file.
const BYTES_A_VERTEX: u64 = 3 * 4 + 8;
const BYTES_A_SHORTCUT: u64 = 4;

impl Hierarchy {
    /// Reads a graph with its hierarchy from a `.wpg` file that has one. O(V + E log(width) + shortcuts).
    ///
    /// ```no_run
    /// let graph = warpath::generate("roads:100000")?;
    /// warpath::hierarchy::Hierarchy::new(graph)?.write("roads.wpg")?;
    /// let hierarchy = warpath::hierarchy::Hierarchy::read("roads.wpg")?;
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`formats::read`](crate::formats::read), and [`Error::Input`] if the file holds no hierarchy, or one that is
    /// damaged or that of another graph.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (_, hierarchy) = Self::read_if_there(path, &ReadOptions::new())?;
        hierarchy.ok_or_else(|| {
            let message = "there is no hierarchy in the file; `warpath prepare` (`Hierarchy::write`) stores one";
            InputError::new(message).in_file(path.display().to_string()).into()
        })
    }

    /// Reads a graph from a file of any format, and its hierarchy if it is a `.wpg` that holds one. The file is read once.
    /// The hierarchy fits the graph whatever the options say of loops, parallel edges, directions and weights.
    ///
    /// # Errors
    ///
    /// As [`ReadOptions::read`], and [`Error::Input`] if the hierarchy is damaged or that of another graph.
    pub fn read_if_there(path: impl AsRef<Path>, options: &ReadOptions) -> Result<(Arc<Graph>, Option<Self>)> {
        let stored = StoredArrays::new();
        let graph = Arc::new(options.clone().stored_arrays(&stored).read(path)?);
        let hierarchy = Self::from_stored(graph.clone(), &stored)?;
        Ok((graph, hierarchy))
    }

    /// The hierarchy among arrays that were read beside a graph, or `None` if they are none. `graph` is the one that was
    /// read, or one with the same vertices and no more edges, in whatever direction, such as its
    /// [`reversed`](Graph::reversed). Takes the arrays out.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the hierarchy is damaged, or that of another graph; [`Error::OutOfMemory`].
    pub fn from_stored(graph: impl Into<Arc<Graph>>, stored: &StoredArrays) -> Result<Option<Self>> {
        let arrays = [ORDER, DEGREES, HEADS].map(|name| stored.take(name));
        let hierarchy = match arrays {
            [None, None, None] => return Ok(None),
            [Some(order), Some(degrees), Some(heads)] => Self::checked(graph.into(), order, &degrees, heads),
            _ => damaged("a part of it is missing"),
        };
        hierarchy.map(Some).map_err(|error| match error {
            Error::Input(error) => error.in_file(stored.file()).into(),
            Error::InvalidRequest(message) => InputError::new(message).in_file(stored.file()).into(),
            other => other,
        })
    }

    fn checked(graph: Arc<Graph>, order: Vec<VertexId>, degrees: &[u32], heads: Vec<u32>) -> Result<Self> {
        let (vertices, shortcuts) = (order.len() as u64, heads.len() as u64);
        let mut plan = Plan::new();
        let arcs = graph.arcs() as u64 * size_of::<Along>() as u64;
        plan.memory("the hierarchy", vertices * BYTES_A_VERTEX + shortcuts * BYTES_A_SHORTCUT + arcs);
        plan.check(available_memory())?;
        if order.len() != graph.vertices() {
            let wanted = graph.vertices();
            let message = format!("the hierarchy is that of another graph: of {vertices} vertices instead of {wanted}");
            return Err(InputError::new(message).into());
        }
        check_order(&order)?;
        let offsets = offsets(degrees, order.len(), shortcuts)?;
        check_rows(&offsets, &heads)?;
        check_postorder(&offsets, &heads)?;
        Hierarchy::of(graph, Elimination::of_rows(order, offsets, heads)?)
    }

    /// Writes the graph with its hierarchy beside it to a `.wpg` file, packed if a further extension says so. Every reader of
    /// graphs reads the graph in it.
    ///
    /// # Errors
    ///
    /// As [`formats::write`](crate::formats::write()); [`Error::InvalidRequest`] if the extension names another format.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let options = WriteOptions::new();
        options.format_for(path.as_ref())?;
        self.write_file(&options, PartialFile::create(path.as_ref(), &Control::new())?)
    }

    /// As [`Hierarchy::write`], to a file that was created before the hierarchy was there.
    ///
    /// # Errors
    ///
    /// As [`Hierarchy::write`].
    pub fn write_file(&self, options: &WriteOptions, file: PartialFile) -> Result<()> {
        let degrees = self.degrees()?;
        options.write_file_with(self.graph(), &self.arrays(&degrees), file)
    }

    /// As [`Hierarchy::write`], to a stream, uncompressed; the options name the format.
    ///
    /// # Errors
    ///
    /// As [`WriteOptions::write_to`].
    pub fn write_to(&self, options: &WriteOptions, out: impl Write) -> Result<()> {
        let degrees = self.degrees()?;
        options.write_to_with(self.graph(), &self.arrays(&degrees), out)
    }

    fn degrees(&self) -> Result<Vec<u32>> {
        let offsets = &self.shared.elimination.offsets;
        listed("a hierarchy", offsets.windows(2).map(|pair| (pair[1] - pair[0]) as u32))
    }

    fn arrays<'a>(&'a self, degrees: &'a [u32]) -> [(&'static str, &'a [u32]); 3] {
        [(ORDER, self.order()), (DEGREES, degrees), (HEADS, &self.shared.elimination.heads)]
    }
}

fn damaged<T>(what: impl std::fmt::Display) -> Result<T> {
    Err(InputError::new(format!("the hierarchy in the file is damaged: {what}")).into())
}

fn check_order(order: &[VertexId]) -> Result<()> {
    let mut seen = filled("an order", order.len(), false)?;
    for (rank, &v) in order.iter().enumerate() {
        match seen.get_mut(v as usize) {
            None => return damaged(format!("rank {rank} is vertex {v} of {}", order.len())),
            Some(true) => return damaged(format!("vertex {v} has two ranks")),
            Some(seen) => *seen = true,
        }
    }
    Ok(())
}

/// Where the rows begin and end.
fn offsets(degrees: &[u32], vertices: usize, shortcuts: u64) -> Result<Vec<u64>> {
    let mut offsets = with_capacity("a hierarchy", degrees.len() + 1)?;
    offsets.push(0);
    let mut end = 0;
    offsets.extend(degrees.iter().map(|&degree| {
        end += u64::from(degree);
        end
    }));
    if degrees.len() != vertices || end != shortcuts || shortcuts > MOST_ARCS {
        return damaged(format!(
            "{} of {vertices} ranks have {end} later neighbours together, and {shortcuts} are stored",
            degrees.len()
        ));
    }
    Ok(offsets)
}

/// Checks that rows ascend and have later ranks alone, and that any two neighbours in a row are neighbours: the row of a rank
/// without its first neighbour is a part of the row of that neighbour.
fn check_rows(offsets: &[u64], heads: &[u32]) -> Result<()> {
    let count = offsets.len() - 1;
    let row = |rank: usize| &heads[offsets[rank] as usize..offsets[rank + 1] as usize];
    (0..count).into_par_iter().try_for_each(|rank| {
        let row = row(rank);
        let ascends = row.windows(2).all(|pair| pair[0] < pair[1]);
        let in_range = row.first().is_none_or(|&first| first as usize > rank)
            && row.last().is_none_or(|&last| (last as usize) < count);
        if !ascends || !in_range {
            return damaged(format!("the later neighbours of rank {rank} are not ascending ranks"));
        }
        Ok(())
    })?;
    (0..count).into_par_iter().try_for_each(|rank| {
        let Some((&parent, others)) = row(rank).split_first() else { return Ok(()) };
        let mut rest = row(parent as usize);
        for &other in others {
            // Mostly it is the next one.
            let skipped = if rest.first() == Some(&other) { 0 } else { rest.partition_point(|&head| head < other) };
            if rest.get(skipped) != Some(&other) {
                return damaged(format!("the ranks {parent} and {other} lack the shortcut through rank {rank}"));
            }
            rest = &rest[skipped + 1..];
        }
        Ok(())
    })
}

/// Checks that the subtree of each rank is a range of ranks that ends with it.
fn check_postorder(offsets: &[u64], heads: &[u32]) -> Result<()> {
    let count = offsets.len() - 1;
    let parent = |rank: usize| (offsets[rank] < offsets[rank + 1]).then(|| heads[offsets[rank] as usize]);
    let mut children = filled("an elimination tree", count, 0_u32)?;
    (0..count).filter_map(parent).for_each(|above| children[above as usize] += 1);
    // The roots of subtrees whose parent is still to come. In postorder, the children of a rank are the last of them.
    let mut waiting: Vec<u32> = with_capacity("an elimination tree", count)?;
    for (rank, &children) in children.iter().enumerate() {
        for _ in 0..children {
            if waiting.pop().is_none_or(|child| parent(child as usize) != Some(rank as u32)) {
                return damaged(format!("the subtree of rank {rank} is no range of ranks"));
            }
        }
        if parent(rank).is_some() {
            waiting.push(rank as u32);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Direction, GraphBuilder, ParallelEdges};
    use crate::hierarchy::tests::{check, random_order};
    use crate::testing::{Random, graphs_of_every_shape, one_of_every_shape, size};
    use crate::{Format, Solver};

    fn wpg() -> WriteOptions {
        WriteOptions::new().format(Format::Warpath)
    }

    fn written(hierarchy: &Hierarchy) -> Vec<u8> {
        let mut bytes = Vec::new();
        hierarchy.write_to(&wpg(), &mut bytes).unwrap();
        bytes
    }

    fn read_bytes(bytes: Vec<u8>, options: ReadOptions) -> Result<Option<Hierarchy>> {
        let stored = StoredArrays::new();
        let graph = options.stored_arrays(&stored).read_bytes("test", bytes)?;
        let hierarchy = Hierarchy::from_stored(graph, &stored)?;
        assert!(stored.is_empty(), "all arrays are taken out");
        Ok(hierarchy)
    }

    fn keep() -> ReadOptions {
        ReadOptions::new().parallel_edges(ParallelEdges::Keep)
    }

    fn assert_same(found: &Hierarchy, expected: &Hierarchy, name: &str) {
        let (a, b) = (&found.shared.elimination, &expected.shared.elimination);
        assert_eq!((&a.vertices, &a.ranks), (&b.vertices, &b.ranks), "{name}");
        assert_eq!((&a.parents, &a.depths), (&b.parents, &b.depths), "{name}");
        assert_eq!((&a.offsets, &a.heads), (&b.offsets, &b.heads), "{name}");
        assert_eq!(found.shared.earlier().unwrap(), expected.shared.earlier().unwrap(), "{name}");
        assert_eq!(found.shared.arcs, expected.shared.arcs, "{name}");
        assert!(found.graph().edges().eq(expected.graph().edges()), "{name}");
    }

    fn every_shape(seed: u64, graphs: Vec<(String, Graph)>) {
        let mut random = Random(seed);
        for (turn, (name, graph)) in graphs.into_iter().enumerate() {
            let graph = Arc::new(graph);
            let order = random_order(graph.vertices(), &mut random);
            let orders = [Hierarchy::new(graph.clone()), Hierarchy::with_order(graph.clone(), &order)];
            for (place, hierarchy) in orders.into_iter().enumerate() {
                let hierarchy = hierarchy.unwrap();
                let bytes = written(&hierarchy);
                assert_same(&read_bytes(bytes.clone(), keep()).unwrap().unwrap(), &hierarchy, &name);
                // The graph alone, as every command reads it.
                let alone = keep().read_bytes("test", bytes.clone()).unwrap();
                assert!(alone.edges().eq(graph.edges()), "{name}");
                // Other arcs between the same vertices.
                let mut options = ReadOptions::new().self_loops(crate::graph::SelfLoops::Drop);
                if (turn + turn / 2 + place) % 2 == 1 {
                    options = options.direction(Direction::Undirected);
                }
                check(&name, &read_bytes(bytes, options).unwrap().unwrap(), &mut random);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn hierarchies_come_back_whole() {
        every_shape(21, graphs_of_every_shape::<u32>(21));
        every_shape(22, one_of_every_shape::<crate::graph::Unit>(22));
        every_shape(23, one_of_every_shape::<i32>(23));
        every_shape(25, one_of_every_shape::<f64>(25));
        let empty = Hierarchy::new(Graph::from_edges::<(u32, u32)>([]).unwrap()).unwrap();
        assert_same(&read_bytes(written(&empty), keep()).unwrap().unwrap(), &empty, "empty");
    }

    #[test]
    fn a_graph_alone_is_a_file_of_version_1() {
        let graph = Graph::from_edges([(0, 1, 5_u32), (1, 2, 7)]).unwrap();
        let mut alone = Vec::new();
        wpg().write_to(&graph, &mut alone).unwrap();
        assert_eq!((&alone[8..12], &alone[168..252]), (&[1, 0, 0, 0][..], &[0; 84][..]));
        assert!(read_bytes(alone.clone(), keep()).unwrap().is_none());
        let with = written(&Hierarchy::new(graph).unwrap());
        assert_eq!((with[8], &with[168..176]), (2, &b"order\0\0\0"[..]));
        // The graph lies where it did.
        assert_eq!(with[12..168 - 16], alone[12..168 - 16]);
        assert_eq!(with[256..alone.len() - 8], alone[256..alone.len() - 8]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn every_flipped_byte_and_every_truncation_is_an_error() {
        let graph = Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (3, 1, 1), (0, 3, 2), (2, 4, 1)]).unwrap();
        let good = written(&Hierarchy::new(graph).unwrap());
        for at in 0..good.len() {
            let mut bytes = good.clone();
            for flip in [0x01, 0x80, 0xff] {
                bytes[at] = good[at] ^ flip;
                let found = read_bytes(bytes.clone(), keep().format(Format::Warpath));
                assert!(matches!(found, Err(Error::Input(_))), "byte {at} of {}: {found:?}", good.len());
            }
            let found = read_bytes(good[..at].to_vec(), keep().format(Format::Warpath));
            assert!(matches!(found, Err(Error::Input(_))), "{at} bytes of {}: {found:?}", good.len());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too much for an interpreter")]
    fn arrays_that_nobody_asks_for_stay_in_the_file() {
        let graph = crate::generate("grid:300x300").unwrap();
        let hierarchy = Hierarchy::new(graph).unwrap();
        let mut bytes = written(&hierarchy);
        let place = bytes.len() - (1 << 20);
        bytes[place] ^= 1;
        let message = read_bytes(bytes.clone(), keep()).unwrap_err().to_string();
        assert!(message.contains("the checksum of the block"), "{message}");
        let graph = keep().read_bytes("test", bytes).unwrap();
        assert!(graph.edges().eq(hierarchy.graph().edges()));
    }

    /// A file with true checksums and these arrays.
    fn forged(graph: &Graph, arrays: &[(&str, &[u32])]) -> Result<Option<Hierarchy>> {
        let mut bytes = Vec::new();
        wpg().write_to_with(graph, arrays, &mut bytes).unwrap();
        read_bytes(bytes, keep())
    }

    #[test]
    fn false_hierarchies_are_refused_with_the_reason() {
        // A cycle of four: rank 0 is between ranks 1 and 3, whose shortcut is needed.
        let edges = [(0, 1), (1, 2), (2, 3), (3, 0)];
        let graph = GraphBuilder::new().direction(Direction::Undirected).build_from(edges).unwrap();
        let good = (vec![0, 1, 2, 3], vec![2, 2, 1, 0], vec![1, 3, 2, 3, 3]);
        let told = |(order, degrees, heads): &(Vec<u32>, Vec<u32>, Vec<u32>)| {
            forged(&graph, &[(ORDER, order), (DEGREES, degrees), (HEADS, heads)]).map(|found| found.is_some())
        };
        assert!(told(&good).unwrap());
        let damaged = "test: the hierarchy in the file is damaged: ";
        for (wanted, arrays) in [
            ("vertex 1 has two ranks", (vec![0, 1, 1, 3], good.1.clone(), good.2.clone())),
            ("rank 3 is vertex 4 of 4", (vec![0, 1, 2, 4], good.1.clone(), good.2.clone())),
            (
                "4 of 4 ranks have 6 later neighbours together, and 5",
                (good.0.clone(), vec![3, 2, 1, 0], good.2.clone()),
            ),
            ("3 of 4 ranks have 5 later", (good.0.clone(), vec![2, 2, 1], good.2.clone())),
            ("4294967295 later", (good.0.clone(), vec![0, 0, 0, u32::MAX], good.2.clone())),
            ("neighbours of rank 0 are not ascending", (good.0.clone(), good.1.clone(), vec![3, 1, 2, 3, 3])),
            ("neighbours of rank 0 are not ascending", (good.0.clone(), good.1.clone(), vec![1, 1, 2, 3, 3])),
            ("neighbours of rank 0 are not ascending", (good.0.clone(), good.1.clone(), vec![0, 3, 2, 3, 3])),
            ("neighbours of rank 2 are not ascending", (good.0.clone(), good.1.clone(), vec![1, 3, 2, 3, 4])),
            ("neighbours of rank 3 are not ascending", (good.0.clone(), vec![2, 1, 1, 1], vec![1, 3, 3, 3, 3])),
            ("ranks 1 and 3 lack the shortcut through rank 0", (good.0.clone(), vec![2, 1, 1, 0], vec![1, 3, 2, 3])),
            ("subtree of rank 2 is no range", (good.0.clone(), vec![1, 1, 1, 0], vec![2, 3, 3])),
        ] {
            let message = told(&arrays).unwrap_err().to_string();
            assert!(message.starts_with(damaged) && message.contains(wanted), "{message}, expected: {wanted}");
        }
        let parts = forged(&graph, &[(ORDER, &good.0), (HEADS, &good.2)]).unwrap_err().to_string();
        assert_eq!(parts, format!("{damaged}a part of it is missing"));
    }

    #[test]
    fn the_hierarchy_of_another_graph_is_refused() {
        let path = Graph::from_edges([(0, 1, 1_u32), (1, 2, 1), (2, 3, 1)]).unwrap();
        let cycle = Graph::from_edges([(0, 1, 1_u32), (1, 2, 1), (2, 3, 1), (3, 0, 1)]).unwrap();
        let longer = Graph::from_edges([(0, 1, 1_u32), (1, 2, 1), (2, 3, 1), (3, 4, 1)]).unwrap();
        let stored = |of: &Graph, beside: Graph| {
            let hierarchy = Hierarchy::with_order(of.clone(), &[0, 1, 2, 3]).unwrap();
            let degrees = hierarchy.degrees().unwrap();
            forged(&beside, &hierarchy.arrays(&degrees))
        };
        let message = stored(&path, cycle.clone()).unwrap_err().to_string();
        assert_eq!(
            message,
            "test: the hierarchy is that of another graph: it has no shortcut for the edge from 3 to 0"
        );
        let message = stored(&path, longer).unwrap_err().to_string();
        assert_eq!(message, "test: the hierarchy is that of another graph: of 4 vertices instead of 5");
        // More shortcuts than needed change no answer.
        check("path", &stored(&cycle, path).unwrap().unwrap(), &mut Random(3));
    }

    /// Arrays changed at random: whatever is accepted gives the answers of searches.
    #[test]
    fn what_is_accepted_answers_right() {
        let mut random = Random(31);
        let (mut accepted, mut refused) = (0, 0);
        for _ in 0..size(2000, 5) {
            let count = 2 + random.below(7) as u32;
            let edge = |random: &mut Random| [(); 2].map(|()| random.below(u64::from(count)) as u32);
            let edges: Vec<_> = (0..random.below(12)).map(|_| edge(&mut random)).collect();
            let edges = edges.iter().map(|&[u, v]| (u, v, 1 + random.below(9) as u32)).collect::<Vec<_>>();
            let graph = Arc::new(GraphBuilder::new().vertices(u64::from(count)).build_from(edges).unwrap());
            let hierarchy = Hierarchy::with_order(graph.clone(), &random_order(count as usize, &mut random)).unwrap();
            let mut arrays =
                [hierarchy.order().to_vec(), hierarchy.degrees().unwrap(), hierarchy.shared.elimination.heads.clone()];
            for _ in 0..=random.below(2) {
                let array = &mut arrays[random.below(3) as usize];
                match random.below(4) {
                    0 => array.push(random.below(u64::from(count)) as u32),
                    1 => drop(array.pop()),
                    _ if array.is_empty() => {}
                    2 => {
                        let at = random.below(array.len() as u64) as usize;
                        array[at] = random.below(u64::from(count) + 1) as u32;
                    }
                    _ => {
                        let at = [(); 2].map(|()| random.below(array.len() as u64) as usize);
                        array.swap(at[0], at[1]);
                    }
                }
            }
            let [order, degrees, heads] = &arrays;
            match forged(&graph, &[(ORDER, order), (DEGREES, degrees), (HEADS, heads)]) {
                Ok(found) => {
                    accepted += 1;
                    let metric = found.unwrap().customize(graph.weights()).unwrap();
                    let solver = Solver::builder(graph.clone()).threads(1).open().unwrap();
                    let tree = solver.sssp(0).unwrap();
                    let distances = metric.distances_from(0).unwrap();
                    for v in 0..count {
                        assert_eq!(distances.get(v as usize), tree.distance(v));
                        assert_eq!(metric.distance(0, v).unwrap(), tree.distance(v));
                    }
                }
                Err(Error::Input(_)) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert!(accepted > 0 && refused > accepted / 4, "{accepted} accepted, {refused} refused");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no locks and no sizes of files")]
    fn files_hold_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let hierarchy = Hierarchy::new(crate::generate("roads:3000").unwrap()).unwrap();
        for name in ["roads.wpg", "roads.wpg.zst"] {
            hierarchy.write(path(name)).unwrap();
            assert_same(&Hierarchy::read(path(name)).unwrap(), &hierarchy, name);
            let (graph, found) = Hierarchy::read_if_there(path(name), &ReadOptions::new()).unwrap();
            assert!(graph.edges().eq(hierarchy.graph().edges()) && found.is_some());
        }
        let message = hierarchy.write(path("roads.gr")).unwrap_err().to_string();
        assert_eq!(message, "dimacs files hold no hierarchy; Warpath's own do: their extension is .wpg");
        for name in ["alone.wpg", "alone.gr"] {
            crate::write(hierarchy.graph(), path(name)).unwrap();
            assert!(Hierarchy::read_if_there(path(name), &ReadOptions::new()).unwrap().1.is_none());
            let message = Hierarchy::read(path(name)).unwrap_err().to_string();
            assert!(message.starts_with(&path(name).display().to_string()), "{message}");
            assert!(message.contains("there is no hierarchy in the file"), "{message}");
        }
        // A handle that is used again forgets the file before.
        let stored = StoredArrays::new();
        let options = ReadOptions::new().stored_arrays(&stored);
        options.read(path("roads.wpg")).unwrap();
        assert!(!stored.is_empty());
        options.read(path("alone.gr")).unwrap();
        assert!(stored.is_empty());
        let reversed = hierarchy.graph().clone().reversed().unwrap();
        options.read(path("roads.wpg")).unwrap();
        let turned = Hierarchy::from_stored(reversed, &stored).unwrap().unwrap();
        check("reversed", &turned, &mut Random(5));
    }
}
