//! How long a file takes to load.
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let undirected = arguments.iter().any(|argument| argument == "undirected");
    let direction =
        if undirected { warpath::graph::Direction::Undirected } else { warpath::graph::Direction::Directed };
    let mut times = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        let graph = warpath::ReadOptions::new().direction(direction).read(&arguments[0])?;
        times.push(start.elapsed().as_secs_f64());
        println!(
            "{} vertices, {} arcs, {:?}: {:.3} s",
            graph.vertices(),
            graph.arcs(),
            graph.input_counts(),
            times[times.len() - 1]
        );
    }
    times.sort_by(f64::total_cmp);
    println!("median {:.3} s", times[times.len() / 2]);
    Ok(())
}
