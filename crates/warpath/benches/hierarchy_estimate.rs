//! Holds estimates of hierarchies beside what comes about: `cargo bench -p warpath --bench hierarchy_estimate -- GRAPH..`, where
//! a graph is a file or a generator. A list of edges whose extension names another format is given as `edge-list=FILE`.

use std::time::Instant;

use warpath::hierarchy::{Hierarchy, nested_dissection};
use warpath::{Control, Format, ReadOptions, Result};

fn main() -> Result<()> {
    println!(
        "| graph | edges | shortcuts an edge, estimated | truly | height, estimated | truly | estimate | order | elimination |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for name in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        measure(&name)?;
    }
    Ok(())
}

fn measure(name: &str) -> Result<()> {
    let graph = match name.strip_prefix("edge-list=") {
        Some(file) => ReadOptions::new().format(Format::EdgeList).read(file)?,
        None if std::path::Path::new(name).exists() => warpath::read(name)?,
        None => warpath::generate(name)?,
    };
    let graph = std::sync::Arc::new(graph);
    let control = Control::new();
    let (estimated, estimate) = timed(|| Hierarchy::estimate(&graph, &control))?;
    let (ordered, order) = timed(|| nested_dissection(&graph, &control))?;
    let (eliminated, hierarchy) = timed(|| Ok(Hierarchy::builder(graph.clone()).order(order.clone()).build()))?;
    let an_edge = |shortcuts: u64| format!("{:.1}", shortcuts as f64 / estimate.edges as f64);
    let (truly, height) = match hierarchy {
        Ok(hierarchy) => (an_edge(hierarchy.shortcuts()), hierarchy.height().to_string()),
        Err(_) => ("too many".to_owned(), String::new()),
    };
    println!(
        "| {} | {} | {} | {truly} | {} | {height} | {:.0} ms | {:.0} ms | {:.0} ms |",
        name.rsplit('/').next().unwrap_or(name),
        estimate.edges,
        an_edge(estimate.shortcuts),
        estimate.height,
        estimated * 1e3,
        ordered * 1e3,
        eliminated * 1e3
    );
    Ok(())
}

/// The least seconds of three runs, and the last result.
fn timed<T>(work: impl Fn() -> Result<T>) -> Result<(f64, T)> {
    let mut least = f64::INFINITY;
    let mut last = None;
    for _ in 0..3 {
        let start = Instant::now();
        let result = work()?;
        least = least.min(start.elapsed().as_secs_f64());
        last = Some(result);
    }
    Ok((least, last.expect("there is a run")))
}
