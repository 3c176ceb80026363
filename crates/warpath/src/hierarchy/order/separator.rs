//! A small set of vertices whose removal divides a graph into two sides of like size.
//!
//! The graph is coarsened, a separator is found where a hundred vertices are left, and it is refined on each finer graph on
//! the way back. Chance decides much on coarse graphs, where attempts cost little: so several are made from a graph of a
//! thirtieth of the size, and the best one goes on.

use super::bisection;
use super::coarse::Coarse;
use super::pattern::Pattern;
use super::random::Random;
use super::refinement::{Effort, QUICK, Separation, Side, USUAL};

/// The number of vertices at which coarsening ends.
const COARSEST: usize = 120;
/// Graphs from this size on are coarsened once to a thirtieth of it, and from there by several attempts.
const LARGE: usize = 5000;
const ATTEMPTS: usize = 5;
/// Attempts on smaller graphs, each from the graph itself.
const ATTEMPTS_IF_SMALL: usize = 2;

/// The side of each vertex. A side may be empty where no separator was found.
pub(super) fn separator(pattern: &Pattern, random: &mut Random) -> Vec<Side> {
    let graph = Coarse::of(pattern);
    let best = if graph.vertices() >= LARGE {
        let several = &mut |coarse: &Coarse, random: &mut Random| attempts(coarse, ATTEMPTS, USUAL, random);
        multilevel(&graph, graph.vertices() / 30, USUAL, random, several)
    } else {
        attempts(&graph, ATTEMPTS_IF_SMALL, USUAL, random)
    };
    best.sides
}

/// As [`separator`], by a single attempt of less effort: in a fraction of the time, and a little larger.
pub(super) fn quick_separator(pattern: &Pattern, random: &mut Random) -> Vec<Side> {
    attempts(&Coarse::of(pattern), 1, QUICK, random).sides
}

/// The best of several attempts down to the coarsest graph.
fn attempts(graph: &Coarse, count: usize, effort: Effort, random: &mut Random) -> Separation {
    let mut solve = |coarsest: &Coarse, random: &mut Random| bisection::separation(coarsest, effort, random);
    let mut attempt = |random: &mut Random| multilevel(graph, COARSEST, effort, random, &mut solve);
    let mut best = attempt(random);
    for _ in 1..count {
        let next = attempt(random);
        if next.quality() < best.quality() {
            best = next;
        }
    }
    best
}

/// Coarsens the graph to about `size` vertices, lets `solve` find a separator there, and refines it on the way back.
fn multilevel(
    graph: &Coarse,
    size: usize,
    effort: Effort,
    random: &mut Random,
    solve: &mut dyn FnMut(&Coarse, &mut Random) -> Separation,
) -> Separation {
    let limit = u32::try_from(graph.total() * 3 / (2 * COARSEST as u64)).unwrap_or(u32::MAX).max(2);
    let mut levels: Vec<(Coarse, Vec<u32>)> = Vec::new();
    loop {
        let finest = levels.last().map_or(graph, |(coarse, _)| coarse);
        if finest.vertices() <= size.max(COARSEST) {
            break;
        }
        let (coarse, map) = finest.coarsened(limit, random);
        if coarse.vertices() * 20 > finest.vertices() * 19 {
            break;
        }
        levels.push((coarse, map));
    }
    let mut found = solve(levels.last().map_or(graph, |(coarse, _)| coarse), random);
    while let Some((_, map)) = levels.pop() {
        let finer = levels.last().map_or(graph, |(coarse, _)| coarse);
        found = found.projected(&map);
        found.refine(finer, effort, random);
    }
    found
}
