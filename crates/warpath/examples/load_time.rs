//! How long a file takes to load.
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let mut options = warpath::ReadOptions::new();
    if has("undirected") {
        options = options.direction(warpath::graph::Direction::Undirected);
    }
    if has("counts") {
        options = options.first_line(warpath::formats::FirstLine::Counts);
    }
    if has("edge-list") {
        options = options.format(warpath::Format::EdgeList);
    }
    let mut times = Vec::new();
    for _ in 0..if has("once") { 1 } else { 7 } {
        let start = Instant::now();
        let graph = options.read(&arguments[0])?;
        times.push(start.elapsed().as_secs_f64());
        if times.len() == 1 {
            println!(
                "{} vertices, {} arcs, {:?}, {}: {:.3} s",
                graph.vertices(),
                graph.arcs(),
                graph.input_counts(),
                graph.weight_kind(),
                times[0]
            );
            if has("transpose") {
                let start = Instant::now();
                graph.transpose();
                println!("transpose {:.3} s", start.elapsed().as_secs_f64());
            }
        }
    }
    times.sort_by(f64::total_cmp);
    println!("median {:.3} s", times[times.len() / 2]);
    Ok(())
}
