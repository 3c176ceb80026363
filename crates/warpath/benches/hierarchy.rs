//! Times a hierarchy on the CPU: `cargo bench -p warpath --bench hierarchy -- GRAPH..`, where a graph is a file or a
//! generator. Answers are compared with those of searches before anything is printed.

use std::time::Instant;

use warpath::graph::Weights;
use warpath::hierarchy::Hierarchy;
use warpath::{Graph, Result, Solver, VertexId};

fn main() -> Result<()> {
    let graphs: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    println!(
        "| graph | vertices | arcs | order, elimination | shortcuts | width | height | customize | each of eight | a changed weight | one source | one of 256 | its search | a pair | its path |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for name in graphs {
        let graph = if name.contains(':') { warpath::generate(&name)? } else { warpath::read(&name)? };
        measure(&name, graph)?;
    }
    Ok(())
}

fn measure(name: &str, graph: Graph) -> Result<()> {
    let graph = std::sync::Arc::new(graph);
    let count = graph.vertices() as u64;
    let (prepared, hierarchy) = timed(1, || Hierarchy::new(graph.clone()))?;
    let (customized, metric) = timed(5, || hierarchy.customize(graph.weights()))?;
    let eight = vec![graph.weights().clone(); 8];
    let (together, _) = timed(3, || hierarchy.customize_all(&eight))?;
    let updated = update(&hierarchy)?;
    let vertex = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20).wrapping_rem(count) as VertexId;
    let (source, target) = (vertex(1), vertex(2));
    let (swept, distances) = timed(9, || metric.distances_from(source))?;
    let sources: Vec<VertexId> = (0..256).map(vertex).collect();
    let (each, ()) = timed(3, || metric.distances_from_each(&sources, |_, _| ()))?;
    let solver = Solver::new(graph.clone())?;
    let (searched, tree) = timed(9, || solver.sssp(source))?;
    for v in 0..graph.vertices() {
        assert_eq!(distances.get(v), tree.distance(v as VertexId), "{name}: {source} to {v}");
    }
    const PAIRS: u64 = 1000;
    let (paired, _) = timed(3, || (0..PAIRS).try_for_each(|i| metric.distance(vertex(i), vertex(i + 7)).map(drop)))?;
    let (unpacked, _) = timed(3, || (0..PAIRS).try_for_each(|i| metric.path(vertex(i), vertex(i + 7)).map(drop)))?;
    let path = metric.path(source, target)?;
    assert_eq!(path.map(|path| path.length()), tree.distance(target), "{name}");
    println!(
        "| {name} | {count} | {} | {prepared:.2} s | {} | {} | {} | {:.1} ms | {:.1} ms | {:.1} us | {:.2} ms | {:.3} ms | {:.2} ms | {:.1} us | {:.1} us |",
        graph.arcs(),
        hierarchy.shortcuts(),
        hierarchy.width(),
        hierarchy.height(),
        customized * 1e3,
        together * 1e3 / eight.len() as f64,
        updated * 1e6,
        swept * 1e3,
        each * 1e3 / sources.len() as f64,
        searched * 1e3,
        paired * 1e6 / PAIRS as f64,
        unpacked * 1e6 / PAIRS as f64
    );
    Ok(())
}

/// The mean seconds of an update of one arc's weight, or of an edge's in both directions in an undirected graph; afterwards
/// the metric is compared with a new one. Graphs without 32-bit weights get some.
fn update(hierarchy: &Hierarchy) -> Result<f64> {
    let graph = hierarchy.graph();
    let (offsets, heads) = (graph.csr().offsets(), graph.csr().targets());
    if heads.is_empty() {
        return Ok(f64::NAN);
    }
    let row = |v: VertexId| offsets[v as usize] as usize..offsets[v as usize + 1] as usize;
    let tails: Vec<VertexId> = (0..graph.vertices() as VertexId).flat_map(|v| row(v).map(move |_| v)).collect();
    let mut new = match graph.weights() {
        Weights::U32(own) => own.clone(),
        // The same in both directions.
        _ => tails.iter().zip(heads).map(|(a, b)| (a ^ b).wrapping_mul(0x9e37_79b9) % 10_000 + 1).collect(),
    };
    let mut metric = hierarchy.customize(&Weights::U32(new.clone()))?;
    const UPDATES: usize = 1000;
    let mut changes = Vec::with_capacity(UPDATES);
    for i in 0..UPDATES {
        let arc = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % heads.len();
        let (tail, head) = (tails[arc], heads[arc]);
        let mut arcs = vec![arc];
        if !graph.is_directed() {
            arcs.extend(row(tail).filter(|&other| other != arc && heads[other] == head));
            arcs.extend(row(head).filter(|&other| tail != head && heads[other] == tail));
        }
        let weight = new[arc].saturating_mul(2);
        arcs.iter().for_each(|&arc| new[arc] = weight);
        changes.push((Weights::U32(vec![weight; arcs.len()]), arcs));
    }
    let start = Instant::now();
    changes.iter().try_for_each(|(weights, arcs)| metric.update(arcs, weights))?;
    let seconds = start.elapsed().as_secs_f64() / UPDATES as f64;
    let fresh = hierarchy.customize(&Weights::U32(new))?;
    assert_eq!(metric.distances_from(0)?, fresh.distances_from(0)?);
    Ok(seconds)
}

/// The least seconds of several runs, and the last result.
fn timed<T>(runs: u32, work: impl Fn() -> Result<T>) -> Result<(f64, T)> {
    let mut least = f64::INFINITY;
    let mut last = None;
    for _ in 0..runs {
        let start = Instant::now();
        let result = work()?;
        least = least.min(start.elapsed().as_secs_f64());
        last = Some(result);
    }
    Ok((least, last.expect("there is a run")))
}
