//! Graphs from and into other crates: `petgraph` (feature `petgraph`) and `sprs` (feature `sprs`).
//!
//! A conversion into Warpath loses only parallel arcs, which merge by minimum, and the data of vertices: vertex `v` is
//! the `v`-th node, and the nodes of a `GraphMap` become names. A conversion out of Warpath selects the weights by
//! type, see [`EdgeWeight`]. All conversions take O(V + E) (into a `GraphMap`, expected).

use super::{Graph, Unit, Weight, Weights, with_weights};
use crate::{Error, Result, memory};

/// Names the data of arcs in errors about a lack of memory.
const CARRIED: &str = "what the arcs carry";

/// The data of an edge in another crate's graph: a weight, or `()` for none.
pub trait EdgeWeight: Copy + 'static {
    /// The weight in Warpath.
    type Weight: Weight;
    /// The weight of an edge with this data.
    fn weight(self) -> Self::Weight;
    /// The data of a graph's arcs, in arc order: their weights if they have this type, ones if the graph has no
    /// weights. `f64` and `()` work for all graphs.
    ///
    /// # Errors
    ///
    /// If the graph has weights of another type.
    fn of_arcs(graph: &Graph) -> Result<Vec<Self>>;
}

impl EdgeWeight for () {
    type Weight = Unit;
    fn weight(self) -> Unit {
        Unit
    }
    fn of_arcs(graph: &Graph) -> Result<Vec<()>> {
        Ok(vec![(); graph.arcs()])
    }
}

impl EdgeWeight for f64 {
    type Weight = f64;
    fn weight(self) -> f64 {
        self
    }
    fn of_arcs(graph: &Graph) -> Result<Vec<f64>> {
        with_weights!(graph.weights(), values => memory::listed(CARRIED, values.iter().map(|weight| weight.to_f64())))
    }
}

macro_rules! edge_weight {
    ($type:ty, $one:expr) => {
        impl EdgeWeight for $type {
            type Weight = $type;
            fn weight(self) -> $type {
                self
            }
            fn of_arcs(graph: &Graph) -> Result<Vec<$type>> {
                match (graph.weights(), <$type as Weight>::of(graph.weights())) {
                    (_, Some(values)) => memory::copied(CARRIED, values),
                    (Weights::Unit(_), None) => memory::filled(CARRIED, graph.arcs(), $one),
                    (other, None) => Err(Error::invalid(format!(
                        "the weights are {}, not {}; f64 holds them all",
                        other.kind(),
                        <$type as Weight>::KIND
                    ))),
                }
            }
        }
    };
}

edge_weight!(u32, 1);
edge_weight!(i32, 1);
edge_weight!(f32, 1.0);

/// The arcs with their data; with `once`, each edge of an undirected graph once.
fn arcs_of<E: EdgeWeight>(graph: &Graph, once: bool) -> Result<impl Iterator<Item = (u32, u32, E)> + '_> {
    let carried = E::of_arcs(graph)?;
    let arcs = (0..graph.vertices() as u32).flat_map(|u| graph.csr().row(u).map(move |arc| (u, arc)));
    Ok(arcs
        .map(move |(u, arc)| (u, graph.csr().targets()[arc], carried[arc]))
        .filter(move |&(u, v, _)| !once || u <= v))
}

#[cfg(feature = "petgraph")]
mod with_petgraph {
    use std::fmt::Display;
    use std::hash::{BuildHasher, Hash};

    use petgraph::EdgeType;
    use petgraph::csr::{Csr, NodeIndex};
    use petgraph::graph::IndexType;
    use petgraph::graphmap::GraphMap;
    use petgraph::visit::{EdgeRef, IntoEdgeReferences, NodeCount, NodeIndexable};

    use super::{EdgeWeight, arcs_of};
    use crate::graph::{Direction, Graph, GraphBuilder, Labels, MAX_VERTICES, StringLabels, VertexId};
    use crate::{Error, Result};

    fn direction<Ty: EdgeType>() -> Direction {
        if Ty::is_directed() { Direction::Directed } else { Direction::Undirected }
    }

    /// A builder and the edges of any petgraph whose nodes are indexed without gaps.
    fn build<G, Ty: EdgeType>(graph: G, keep: impl Fn(usize, usize) -> bool, labels: Option<Labels>) -> Result<Graph>
    where
        G: IntoEdgeReferences + NodeIndexable + NodeCount,
        G::EdgeWeight: EdgeWeight,
    {
        let vertices = graph.node_count() as u64;
        if vertices > MAX_VERTICES {
            return Err(Error::invalid(format!("{vertices} nodes are too many; at most {MAX_VERTICES} are possible")));
        }
        let index = |node| NodeIndexable::to_index(&graph, node);
        let edges = graph
            .edge_references()
            .map(|edge| (index(edge.source()), index(edge.target()), edge.weight().weight()))
            .filter(|&(u, v, _)| keep(u, v))
            .map(|(u, v, weight)| (u as VertexId, v as VertexId, weight));
        let builder = GraphBuilder::new().vertices(vertices).direction(direction::<Ty>());
        match labels {
            Some(labels) => builder.labels(labels).build_from(edges),
            None => builder.build_from(edges),
        }
    }

    impl<N, E: EdgeWeight, Ty: EdgeType, Ix: IndexType> TryFrom<&petgraph::Graph<N, E, Ty, Ix>> for Graph {
        type Error = Error;
        fn try_from(graph: &petgraph::Graph<N, E, Ty, Ix>) -> Result<Graph> {
            build::<_, Ty>(graph, |_, _| true, None)
        }
    }

    impl<N, E: EdgeWeight, Ty: EdgeType, Ix: IndexType> TryFrom<&Csr<N, E, Ty, Ix>> for Graph {
        type Error = Error;
        fn try_from(graph: &Csr<N, E, Ty, Ix>) -> Result<Graph> {
            // An undirected graph lists each edge from both ends.
            build::<_, Ty>(graph, |u, v| Ty::is_directed() || u <= v, None)
        }
    }

    impl<N, E, Ty, S> TryFrom<&GraphMap<N, E, Ty, S>> for Graph
    where
        N: Copy + Ord + Hash + Display,
        E: EdgeWeight,
        Ty: EdgeType,
        S: BuildHasher,
    {
        type Error = Error;
        fn try_from(graph: &GraphMap<N, E, Ty, S>) -> Result<Graph> {
            let mut names = StringLabels::new();
            for (index, node) in graph.nodes().enumerate() {
                let name = node.to_string();
                if index as u64 >= MAX_VERTICES || names.intern(&name)? as usize != index {
                    return Err(Error::invalid(format!("two nodes are named `{name}`, or there are too many")));
                }
            }
            build::<_, Ty>(graph, |_, _| true, Some(Labels::Strings(names)))
        }
    }

    fn check_direction<Ty: EdgeType>(graph: &Graph) -> Result<()> {
        if graph.is_directed() && !Ty::is_directed() {
            return Err(Error::invalid("a directed graph has no undirected form; ask with_direction for one"));
        }
        Ok(())
    }

    /// Into a directed graph with all arcs, or into an undirected one with each edge once.
    ///
    /// # Errors
    ///
    /// If the weights have another type, the graph is directed and the other is not, or it has 2^32 - 1 edges or more.
    impl<E: EdgeWeight, Ty: EdgeType> TryFrom<&Graph> for petgraph::Graph<(), E, Ty> {
        type Error = Error;
        fn try_from(graph: &Graph) -> Result<Self> {
            check_direction::<Ty>(graph)?;
            let full = |_| Error::invalid("the graph has more edges than petgraph's 32-bit indices can count");
            let mut other = petgraph::Graph::with_capacity(graph.vertices(), graph.arcs());
            for _ in 0..graph.vertices() {
                other.try_add_node(()).map_err(full)?;
            }
            for (u, v, carried) in arcs_of(graph, !Ty::is_directed())? {
                other.try_add_edge(u.into(), v.into(), carried).map_err(full)?;
            }
            Ok(other)
        }
    }

    /// Into a graph whose nodes are vertex ids, parallel arcs merged.
    ///
    /// # Errors
    ///
    /// If the weights have another type, or the graph is directed and the other is not.
    impl<E: EdgeWeight, Ty: EdgeType> TryFrom<&Graph> for GraphMap<VertexId, E, Ty> {
        type Error = Error;
        fn try_from(graph: &Graph) -> Result<Self> {
            check_direction::<Ty>(graph)?;
            let mut other = GraphMap::with_capacity(graph.vertices(), graph.arcs());
            for v in 0..graph.vertices() as VertexId {
                other.add_node(v);
            }
            for (u, v, carried) in arcs_of(graph, !Ty::is_directed())? {
                // Parallel arcs ascend by weight: the first is the one to keep.
                if !other.contains_edge(u, v) {
                    other.add_edge(u, v, carried);
                }
            }
            Ok(other)
        }
    }

    /// Into directed compressed rows, parallel arcs merged.
    ///
    /// # Errors
    ///
    /// If the weights have another type.
    impl<E: EdgeWeight> TryFrom<&Graph> for Csr<(), E, petgraph::Directed> {
        type Error = Error;
        fn try_from(graph: &Graph) -> Result<Self> {
            let mut edges: Vec<(NodeIndex<u32>, NodeIndex<u32>, E)> = arcs_of(graph, false)?.collect();
            edges.dedup_by_key(|&mut (u, v, _)| (u, v));
            let mut other = Csr::from_sorted_edges(&edges).map_err(|_| Error::invalid("the rows are not sorted"))?;
            while other.node_count() < graph.vertices() {
                other.add_node(());
            }
            Ok(other)
        }
    }
}

#[cfg(feature = "sprs")]
mod with_sprs {
    use sprs::{CsMat, CsMatI, SpIndex};

    use super::{EdgeWeight, arcs_of};
    use crate::graph::{Graph, GraphBuilder, MAX_VERTICES, VertexId};
    use crate::{Error, Result};

    /// A directed graph with an arc for each stored entry, zeros included.
    ///
    /// # Errors
    ///
    /// If the matrix is not square or too large, or an entry is NaN or infinite.
    impl<E: EdgeWeight, I: SpIndex, Iptr: SpIndex> TryFrom<&CsMatI<E, I, Iptr>> for Graph {
        type Error = Error;
        fn try_from(matrix: &CsMatI<E, I, Iptr>) -> Result<Graph> {
            let (rows, columns) = (matrix.rows(), matrix.cols());
            if rows != columns {
                return Err(Error::invalid(format!("a matrix of {rows} by {columns} is no graph: it is not square")));
            }
            if rows as u64 > MAX_VERTICES {
                return Err(Error::invalid(format!("{rows} rows are too many; at most {MAX_VERTICES} are possible")));
            }
            let edges = matrix
                .iter()
                .map(|(entry, (row, column))| (row.index() as VertexId, column.index() as VertexId, entry.weight()));
            GraphBuilder::new().vertices(rows as u64).build_from(edges)
        }
    }

    /// A matrix of compressed rows with the weights of the arcs, parallel arcs merged.
    ///
    /// # Errors
    ///
    /// If the weights have another type.
    impl<E: EdgeWeight> TryFrom<&Graph> for CsMat<E> {
        type Error = Error;
        fn try_from(graph: &Graph) -> Result<Self> {
            let mut starts = vec![0; graph.vertices() + 1];
            let (mut heads, mut entries) = (Vec::with_capacity(graph.arcs()), Vec::with_capacity(graph.arcs()));
            let mut last = None;
            for (u, v, carried) in arcs_of(graph, false)? {
                // Parallel arcs ascend by weight: the first is the one to keep.
                if last.replace((u, v)) != Some((u, v)) {
                    starts[u as usize + 1] += 1;
                    heads.push(v as usize);
                    entries.push(carried);
                }
            }
            for v in 0..graph.vertices() {
                starts[v + 1] += starts[v];
            }
            CsMat::try_new((graph.vertices(), graph.vertices()), starts, heads, entries)
                .map_err(|(.., error)| Error::invalid(format!("sprs refuses the rows: {error}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Direction, GraphBuilder};
    use crate::testing::{TestWeight, graphs_of_every_shape};

    /// Sources, heads and weights, parallel arcs merged by minimum: rows are sorted by head, then weight.
    fn merged(graph: &Graph) -> Vec<(u32, u32, f64)> {
        let mut edges: Vec<_> = graph.edges().collect();
        edges.dedup_by_key(|&mut (u, v, _)| (u, v));
        edges
    }

    fn comes_back<'g, Other, W: TestWeight>(only_undirected: bool)
    where
        Other: TryFrom<&'g Graph, Error = Error>,
        Graph: for<'o> TryFrom<&'o Other, Error = Error>,
    {
        for (name, graph) in graphs_of_every_shape::<W>(8) {
            // The conversion borrows for as long as the type parameter says.
            let graph: &'g Graph = Box::leak(Box::new(graph));
            if only_undirected && graph.is_directed() {
                assert!(Other::try_from(graph).is_err(), "{name}");
                continue;
            }
            let back = Graph::try_from(&Other::try_from(graph).unwrap()).unwrap();
            assert_eq!(back.vertices(), graph.vertices(), "{name}");
            assert_eq!(merged(&back), merged(graph), "{name}");
        }
    }

    #[cfg(feature = "petgraph")]
    #[test]
    fn petgraphs_come_back_the_same() {
        use petgraph::{Directed, Undirected, csr::Csr, graphmap::GraphMap};
        comes_back::<petgraph::Graph<(), f64, Directed>, u32>(false);
        comes_back::<petgraph::Graph<(), u32, Directed>, u32>(false);
        comes_back::<petgraph::Graph<(), i32, Undirected>, i32>(true);
        comes_back::<petgraph::Graph<(), (), Undirected>, Unit>(true);
        comes_back::<Csr<(), f32, Directed>, f32>(false);
        comes_back::<Csr<(), u32, Directed>, Unit>(false);
        comes_back::<GraphMap<u32, f64, Directed>, f64>(false);
        comes_back::<GraphMap<u32, u32, Undirected>, u32>(true);
    }

    #[cfg(feature = "petgraph")]
    #[test]
    fn petgraphs_keep_direction_names_and_isolated_nodes() {
        let mut csr = petgraph::csr::Csr::<(), u32, petgraph::Undirected>::with_nodes(4);
        csr.add_edge(2, 0, 7);
        csr.add_edge(1, 1, 3);
        let graph = Graph::try_from(&csr).unwrap();
        assert!(!graph.is_directed());
        assert_eq!((graph.vertices(), graph.arcs(), graph.input_counts().lines), (4, 3, 2));
        assert_eq!(graph.input_counts().parallel, 0);
        let mut map = petgraph::graphmap::DiGraphMap::<&str, f32>::new();
        map.add_edge("Bonn", "Ulm", 0.5);
        map.add_node("Kiel");
        let graph = Graph::try_from(&map).unwrap();
        assert!(graph.is_directed());
        assert_eq!(graph.neighbors(graph.vertex("Bonn").unwrap()), [graph.vertex("Ulm").unwrap()]);
        assert_eq!(graph.degree(graph.vertex("Kiel").unwrap()), 0);
        let mut bad = petgraph::Graph::<(), f64>::new();
        let node = bad.add_node(());
        bad.add_edge(node, node, f64::NAN);
        assert!(Graph::try_from(&bad).is_err());
    }

    #[cfg(feature = "sprs")]
    #[test]
    fn matrices_come_back_the_same() {
        comes_back::<sprs::CsMat<f64>, f64>(false);
        comes_back::<sprs::CsMat<u32>, u32>(false);
        comes_back::<sprs::CsMat<f32>, Unit>(false);
        let columns = sprs::CsMat::new_csc((3, 3), vec![0, 1, 1, 2], vec![2, 0], vec![5_i32, -6]);
        let graph = Graph::try_from(&columns).unwrap();
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 2, -6.0), (2, 0, 5.0)]);
        assert!(Graph::try_from(&sprs::CsMat::<f64>::zero((2, 3))).is_err());
    }

    #[test]
    fn weights_of_another_type_are_refused() {
        let builder = GraphBuilder::new().direction(Direction::Undirected);
        let graph = builder.build_from([(0, 1, -3_i32)]).unwrap();
        assert!(u32::of_arcs(&graph).is_err() && f32::of_arcs(&graph).is_err());
        assert_eq!(i32::of_arcs(&graph).unwrap(), [-3, -3]);
        assert_eq!(f64::of_arcs(&graph).unwrap(), [-3.0, -3.0]);
        assert_eq!(u32::of_arcs(&graph.without_weights()).unwrap(), [1, 1]);
    }
}
