//! Distances in a graph that the program has already, as the three arrays of a sparse matrix.
//!
//! `cargo run --example own_arrays`

use warpath::graph::{Csr, Distances, Labels, Weights};
use warpath::{Graph, Solver};

fn main() -> warpath::Result<()> {
    // The arcs of vertex v are at offsets[v]..offsets[v + 1] of heads and weights, in ascending order of their heads.
    let offsets: Vec<u64> = vec![0, 2, 3, 3, 4];
    let heads: Vec<u32> = vec![1, 2, 2, 0];
    let weights: Vec<f64> = vec![0.5, 2.5, 1.0, 0.25];

    // The arrays move into the graph, checked but not copied. `Graph::from_csr_slices` copies arrays of any integers.
    let csr = Csr::new(offsets, heads, Weights::F64(weights))?;
    let graph = Graph::from_csr(csr, true, Labels::range(0, 4))?;

    let solver = Solver::new(graph)?;
    let tree = solver.sssp(0)?;
    // The proof that these are the distances: O(V + E), whichever algorithm found them.
    tree.verify(solver.graph())?;

    let Distances::F64(distances) = tree.distances() else { unreachable!("64-bit weights have 64-bit distances") };
    println!("{distances:?}");
    assert_eq!(distances[..], [0.0, 0.5, 1.5, f64::INFINITY]);
    Ok(())
}
