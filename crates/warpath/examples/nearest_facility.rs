//! Which of several hospitals is nearest to each place: one search that starts at all hospitals at once, against the
//! direction of the roads, because people drive to a hospital.
//!
//! `cargo run --example nearest_facility`

use warpath::{Bfs, Graph, Solver, Sssp, VertexId};

fn main() -> warpath::Result<()> {
    // One-way roads with their minutes. The hospitals are at 0 and 5.
    let roads =
        [(1, 0, 4_u32), (2, 1, 3), (2, 5, 9), (3, 2, 1), (3, 4, 2), (4, 5, 2), (0, 3, 8), (5, 0, 30), (6, 6, 1)];
    let hospitals: [VertexId; 2] = [0, 5];

    // In the reversed graph, the distance from a hospital is the distance to it in the graph of roads.
    let solver = Solver::new(Graph::from_edges(roads)?.reversed()?)?;
    let tree = solver.solve(Sssp::from(&hospitals[..]))?;
    tree.verify(solver.graph())?;

    let nearest = tree.nearest_sources()?.expect("the search has found predecessors");
    for place in 0..7 {
        match tree.distance(place) {
            Some(minutes) => println!("from {place}: {minutes} minutes to hospital {}", nearest[place as usize]),
            None => println!("from {place}: no hospital can be reached"),
        }
    }

    let minutes: Vec<Option<f64>> = (0..7).map(|place| tree.distance(place).map(|found| found.to_f64())).collect();
    assert_eq!(minutes, [Some(0.0), Some(4.0), Some(7.0), Some(4.0), Some(2.0), Some(0.0), None]);
    assert_eq!(nearest[..6], [0, 0, 0, 5, 5, 5]);

    // The same by the number of roads instead of minutes.
    let tree = solver.solve(Bfs::from(&hospitals[..]))?;
    assert_eq!(tree.distance(2).map(|found| found.to_f64()), Some(1.0));
    Ok(())
}
