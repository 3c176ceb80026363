//! The distances from several sources to several targets, as one table.
//!
//! `cargo run --example distance_table`

use warpath::{Apsp, Solver, Sssp, VertexId};

const ROADS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/roads.gr");

fn main() -> warpath::Result<()> {
    let graph = warpath::read(ROADS)?;
    // The file names its vertices 1, 2, 3 ..; in memory they are numbered from 0.
    let vertices = |names: &[&str]| names.iter().map(|name| graph.vertex(name)).collect::<warpath::Result<Vec<_>>>();
    let depots: Vec<VertexId> = vertices(&["17", "802", "1630"])?;
    let customers: Vec<VertexId> = vertices(&["5", "444", "987", "1311", "1999"])?;

    let solver = Solver::new(graph)?;
    let table = solver.solve(Apsp::all().from(&depots[..]).to(&customers[..]))?;
    // Every row is checked against the graph, whichever algorithm made it.
    table.verify(solver.graph())?;

    for (row, &depot) in depots.iter().enumerate() {
        // One search from the depot has to give the same distances.
        let tree = solver.sssp(depot)?;
        for (column, &customer) in customers.iter().enumerate() {
            assert_eq!(table.distance(row, column), tree.distance(customer));
        }
        let distances = (0..customers.len()).map(|column| match table.distance(row, column) {
            Some(distance) => distance.to_string(),
            None => "unreachable".to_owned(),
        });
        println!("{}: {}", solver.graph().name(depot), distances.collect::<Vec<_>>().join(" "));
    }

    // If only the nearest customer matters, a search that stops there is enough.
    let tree = solver.solve(Sssp::from(depots[0]).to(&customers[..1]))?;
    assert_eq!(tree.distance(customers[0]), table.distance(0, 0));
    Ok(())
}
