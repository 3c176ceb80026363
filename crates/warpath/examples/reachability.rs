//! Which vertices can reach which: the transitive closure of a graph.
//!
//! `cargo run --example reachability`

use warpath::{Bfs, Closure, Solver};

const PREREQUISITES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/prerequisites.csv");

fn main() -> warpath::Result<()> {
    // Each line of the file is a course and one that it requires.
    let graph = warpath::read(PREREQUISITES)?;
    let (learning, algebra) = (graph.vertex("machine learning")?, graph.vertex("algebra")?);

    // Without `irreflexive`, every vertex reaches itself.
    let solver = Solver::new(graph)?;
    let required = solver.solve(Closure::new().irreflexive())?;
    required.verify(solver.graph())?;

    let names: Vec<_> = required.row(learning).map(|course| solver.graph().name(course)).collect();
    println!("machine learning requires, directly or not: {}", names.join(", "));
    assert!(required.reaches(learning, algebra) && !required.reaches(algebra, learning));

    // A search from the course has to reach as many, and the course itself.
    let tree = solver.solve(Bfs::from(learning))?;
    assert_eq!(names.len() as u64 + 1, tree.reached());
    Ok(())
}
