//! The five shortest paths between two vertices, none of which visits a vertex twice.
//!
//! `cargo run --example k_shortest_paths`

use warpath::{KShortestPaths, ReadOptions, Solver};

const FLIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/flights.csv");

fn main() -> warpath::Result<()> {
    let graph = ReadOptions::new().weights("price").read(FLIGHTS)?;
    let (from, to) = (graph.vertex("FAO")?, graph.vertex("RIX")?);

    let solver = Solver::new(graph)?;
    let found = solver.solve(KShortestPaths::between(from, to).at_most(5))?;
    for path in found.paths() {
        let stops: Vec<_> = path.vertices().iter().map(|&airport| solver.graph().name(airport)).collect();
        println!("{}: {}", path.length(), stops.join(" "));
    }

    // The shortest first, and the first as short as the shortest path of all.
    assert_eq!(found.paths().len(), 5);
    assert!(found.paths().is_sorted_by(|one, next| one.length() <= next.length()));
    let shortest = solver.path(from, to)?.expect("there is a path");
    assert_eq!(found.paths()[0].length(), shortest.length());
    for path in found.paths() {
        let mut stops = path.vertices().to_vec();
        stops.sort_unstable();
        assert!(stops.windows(2).all(|pair| pair[0] != pair[1]), "a path visits a vertex twice");
    }
    Ok(())
}
