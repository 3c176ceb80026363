//! The graph: compressed sparse rows, weights, names of vertices, and transformations.
//!
//! [`Graph`] is immutable. It is made by a reader in [`formats`](crate::formats), a generator in
//! [`generate`](mod@crate::generate), [`Graph::from_edges`], or a [`GraphBuilder`].

mod bucket_sort;
mod builder;
mod components;
mod coordinates;
mod csr;
mod edges;
mod growth;
#[cfg(any(feature = "petgraph", feature = "sprs"))]
mod interop;
mod labels;
mod min_plus;
mod redrawn;
pub(crate) mod sampling;
mod statistics;
mod survey;
mod tiling;
mod transforms;
mod weights;
mod whole;

pub(crate) use bucket_sort::SortingBytes;
pub use builder::{Direction, GraphBuilder, ParallelEdges, SelfLoops};
pub use components::{Components, strongly_connected_components, weakly_connected_components};
pub use coordinates::Coordinates;
pub use csr::{Adjacency, Csr, Graph, InputCounts};
pub use edges::EdgeList;
pub(crate) use edges::without_negative_zero;
pub(crate) use growth::Growth;
#[cfg(any(feature = "petgraph", feature = "sprs"))]
pub use interop::EdgeWeight;
pub use labels::{Labels, StringLabels};
pub(crate) use min_plus::semirings_of;
#[doc(hidden)]
pub use min_plus::with_min_plus;
pub use min_plus::{F32ToF32, F64ToF64, I32ToI64, MinPlus, U32ToU32, U32ToU64, UnitToU32};
pub(crate) use redrawn::Redrawn;
pub use statistics::{ComponentSizes, DegreeStatistics, Statistics};
pub(crate) use survey::{check_offsets, survey};
pub use weights::{
    Distance, DistanceKey, DistanceValue, Distances, Unit, Weight, WeightKind, Weights, with_distances, with_weights,
};
#[doc(hidden)]
pub use whole::{WholeNumbers, whole_numbers};

/// A vertex: an index from 0 to the number of vertices minus 1. Names are in [`Labels`].
pub type VertexId = u32;

/// The greatest number of vertices: ids stay below `u32::MAX`, which marks "no vertex".
pub const MAX_VERTICES: u64 = u32::MAX as u64 - 1;

/// The mark for "no vertex" in arrays of vertices, such as predecessors.
pub const NO_VERTEX: VertexId = VertexId::MAX;
