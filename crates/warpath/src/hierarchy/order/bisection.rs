//! A separator of a small graph: two sides with few edges between them, and of these edges the ends on one side.
//!
//! Few edges rather than few vertices, because a separator straight across a mesh and one along its diagonal have as many
//! vertices, but the diagonal one has twice the edges, and parts with long borders.

use std::collections::{BinaryHeap, VecDeque};

use super::coarse::Coarse;
use super::random::Random;
use super::refinement::{Effort, Separation, Side, most_on_a_side};

/// A pass ends after so many moves without success.
const PATIENCE: usize = 60;

/// The best separator of several tries; each grows the sides from another vertex.
pub(super) fn separation(graph: &Coarse, effort: Effort, random: &mut Random) -> Separation {
    let mut best: Option<Separation> = None;
    for _ in 0..effort.tries {
        let mut sides = grown(graph, random);
        cut_fewer_edges(graph, effort, &mut sides);
        take_border(graph, &mut sides);
        let mut next = Separation::new(graph, sides);
        next.refine(graph, effort, random);
        if best.as_ref().is_none_or(|best| next.quality() < best.quality()) {
            best = Some(next);
        }
    }
    best.expect("there is more than one try")
}

/// Grows the left side in breadth-first order from a random vertex until it has half of the weight.
fn grown(graph: &Coarse, random: &mut Random) -> Vec<Side> {
    let total = graph.total();
    let mut starts: Vec<u32> = (0..graph.vertices() as u32).collect();
    random.shuffle(&mut starts);
    let mut sides = vec![Side::Right; graph.vertices()];
    let mut seen = vec![false; graph.vertices()];
    let mut queue = VecDeque::new();
    let mut weight = 0;
    for start in starts {
        if weight * 2 >= total {
            break;
        }
        if !std::mem::replace(&mut seen[start as usize], true) {
            queue.push_back(start as usize);
        }
        while let Some(v) = queue.pop_front().filter(|_| weight * 2 < total) {
            sides[v] = Side::Left;
            weight += u64::from(graph.sizes[v]);
            for &u in graph.neighbors(v) {
                if !std::mem::replace(&mut seen[u as usize], true) {
                    queue.push_back(u as usize);
                }
            }
        }
    }
    sides
}

/// Moves vertices to the other side, the one that gains most first, and keeps the best sides that come by (Fiduccia,
/// Mattheyses, *A linear-time heuristic for improving network partitions*, 1982).
fn cut_fewer_edges(graph: &Coarse, effort: Effort, sides: &mut [Side]) {
    let most = most_on_a_side(graph.total());
    let mut weight = [0; 2];
    for (v, &side) in sides.iter().enumerate() {
        weight[side as usize] += u64::from(graph.sizes[v]);
    }
    let mut gains = vec![0_i64; sides.len()];
    // An entry of the heap counts if its stamp is the vertex's.
    let mut stamps = vec![0_u32; sides.len()];
    let mut moved = vec![0; sides.len()];
    for pass in 1..=effort.passes_of_edges {
        let mut heap = BinaryHeap::new();
        for v in 0..sides.len() {
            let across = |u: usize| sides[u] != sides[v];
            gains[v] = graph.edges(v).map(|(u, w)| if across(u) { i64::from(w) } else { -i64::from(w) }).sum();
            stamps[v] += 1;
            if graph.neighbors(v).iter().any(|&u| across(u as usize)) {
                heap.push((gains[v], v as u32, stamps[v]));
            }
        }
        let (mut gained, mut best, mut kept) = (0, 0, 0);
        let mut moves: Vec<usize> = Vec::new();
        while let Some((gain, v, stamp)) = heap.pop() {
            let v = v as usize;
            let to = sides[v].opposite();
            let size = u64::from(graph.sizes[v]);
            if stamps[v] != stamp || moved[v] == pass || weight[to as usize] + size > most {
                continue;
            }
            moved[v] = pass;
            moves.push(v);
            gained += gain;
            weight[to as usize] += size;
            weight[sides[v] as usize] -= size;
            sides[v] = to;
            for (u, w) in graph.edges(v) {
                gains[u] += if sides[u] == to { -2 * i64::from(w) } else { 2 * i64::from(w) };
                stamps[u] += 1;
                if moved[u] != pass {
                    heap.push((gains[u], u as u32, stamps[u]));
                }
            }
            if gained > best {
                (best, kept) = (gained, moves.len());
            } else if moves.len() > kept + PATIENCE {
                break;
            }
        }
        for v in moves.drain(kept..) {
            let size = u64::from(graph.sizes[v]);
            weight[sides[v] as usize] -= size;
            sides[v] = sides[v].opposite();
            weight[sides[v] as usize] += size;
        }
        if best == 0 {
            break;
        }
    }
}

/// Makes the lighter border a separator: the vertices of one side that have neighbours on the other.
fn take_border(graph: &Coarse, sides: &mut [Side]) {
    let border = |wanted: Side| -> Vec<usize> {
        let other = wanted.opposite();
        let is_border =
            |&v: &usize| sides[v] == wanted && graph.neighbors(v).iter().any(|&u| sides[u as usize] == other);
        (0..sides.len()).filter(is_border).collect()
    };
    let weight = |border: &[usize]| border.iter().map(|&v| u64::from(graph.sizes[v])).sum::<u64>();
    let (left, right) = (border(Side::Left), border(Side::Right));
    for v in if weight(&left) < weight(&right) { left } else { right } {
        sides[v] = Side::Separator;
    }
}
