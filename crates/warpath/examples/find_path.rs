//! Reads a graph with named vertices and finds the shortest path between two of them.
//!
//! `cargo run --example find_path`

use warpath::{ReadOptions, Solver};

const FLIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/flights.csv");

fn main() -> warpath::Result<()> {
    // The header of the file is `from,to,km,price`; the length of a path is to be the sum of its kilometres.
    let graph = ReadOptions::new().weights("km").read(FLIGHTS)?;
    let (lisbon, helsinki) = (graph.vertex("LIS")?, graph.vertex("HEL")?);

    let solver = Solver::new(graph)?;
    let path = solver.path(lisbon, helsinki)?.expect("Helsinki can be reached from Lisbon");

    let graph = solver.graph();
    let stops: Vec<_> = path.vertices().iter().map(|&airport| graph.name(airport)).collect();
    println!("{} km: {}", path.length(), stops.join(" "));

    assert_eq!(path.length().to_string(), "3412");
    assert_eq!(stops, ["LIS", "FRA", "HEL"]);
    Ok(())
}
