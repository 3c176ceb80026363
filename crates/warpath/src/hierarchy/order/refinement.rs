//! Makes a separator lighter: a vertex leaves it for one side, and its neighbours on the other side join it.
//!
//! Moves are made in the order of what they gain, also those that lose, and the best separator that came by is kept, as
//! Fiduccia and Mattheyses do with edges; the variant for vertices is that of Hendrickson and Rothberg, *Improving the run
//! time and quality of nested dissection ordering*, 1998.

use std::collections::BinaryHeap;

use super::coarse::Coarse;
use super::random::Random;

/// How hard an attempt tries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// How often two sides of the coarsest graph are grown.
    pub(super) tries: usize,
    /// The most passes that make an edge cut of the coarsest graph smaller.
    pub(super) passes_of_edges: u32,
    /// The most passes that make a separator lighter, on each graph.
    pub(super) passes: u32,
}

pub(super) const USUAL: Effort = Effort { tries: 8, passes_of_edges: 4, passes: 6 };
/// In half of the time.
pub(super) const QUICK: Effort = Effort { tries: 3, passes_of_edges: 2, passes: 2 };

/// Where a vertex is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
    Separator,
}

impl Side {
    /// The other side of the separator.
    pub(super) fn opposite(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
            Side::Separator => Side::Separator,
        }
    }
}

/// The most that a side may weigh: a part of all. The rest is freedom to look for small separators.
pub(super) fn most_on_a_side(total: u64) -> u64 {
    total * 3 / 5 + 1
}

/// Two sides and what is between them.
#[derive(Debug)]
pub(super) struct Separation {
    pub(super) sides: Vec<Side>,
    /// The weights of left side, right side and separator.
    weights: [u64; 3],
}

impl Separation {
    pub(super) fn new(graph: &Coarse, sides: Vec<Side>) -> Self {
        let mut weights = [0; 3];
        for (v, &side) in sides.iter().enumerate() {
            weights[side as usize] += u64::from(graph.sizes[v]);
        }
        Separation { sides, weights }
    }

    /// The same sides on a finer graph, whose vertices are part of those that `map` names.
    pub(super) fn projected(&self, map: &[u32]) -> Self {
        Separation { sides: map.iter().map(|&coarse| self.sides[coarse as usize]).collect(), weights: self.weights }
    }

    /// The less, the better: whether a side is too heavy, the weight of the separator, and how far the sides differ.
    pub(super) fn quality(&self) -> (bool, u64, u64) {
        let [left, right, separator] = self.weights;
        let too_heavy = left.max(right) > most_on_a_side(left + right + separator);
        (too_heavy, separator, left.abs_diff(right))
    }

    fn put(&mut self, graph: &Coarse, v: usize, side: Side) {
        let size = u64::from(graph.sizes[v]);
        self.weights[self.sides[v] as usize] -= size;
        self.weights[side as usize] += size;
        self.sides[v] = side;
    }

    /// Refines the separator in passes until one gains nothing.
    pub(super) fn refine(&mut self, graph: &Coarse, effort: Effort, random: &mut Random) {
        let mut pass = Pass::new(graph);
        for number in 1..=effort.passes {
            if !pass.run(self, number, random) {
                break;
            }
        }
    }
}

/// What a pass needs.
struct Pass<'a> {
    graph: &'a Coarse,
    most: u64,
    /// The weight of the neighbours of each vertex of the separator on either side.
    beside: Vec<[u32; 2]>,
    /// An entry of a heap counts if its stamp is the vertex's. Later ones come first where gains are equal.
    stamps: Vec<u32>,
    clock: u32,
    /// The last pass that moved a vertex out of the separator.
    moved: Vec<u32>,
    /// Moves to either side: gain, stamp, vertex.
    heaps: [BinaryHeap<(i64, u32, u32)>; 2],
}

impl<'a> Pass<'a> {
    fn new(graph: &'a Coarse) -> Self {
        let count = graph.vertices();
        Pass {
            graph,
            most: most_on_a_side(graph.total()),
            beside: vec![[0; 2]; count],
            stamps: vec![0; count],
            clock: 0,
            moved: vec![0; count],
            heaps: Default::default(),
        }
    }

    /// Offers the moves of a vertex of the separator, unless this pass has moved it.
    fn offer(&mut self, v: usize, pass: u32) {
        self.clock += 1;
        self.stamps[v] = self.clock;
        if self.moved[v] == pass {
            return;
        }
        for to in [0, 1] {
            let gain = i64::from(self.graph.sizes[v]) - i64::from(self.beside[v][1 - to]);
            self.heaps[to].push((gain, self.clock, v as u32));
        }
    }

    /// Weighs the neighbours of a vertex that is in the separator now, and offers its moves.
    fn enter(&mut self, separation: &Separation, v: usize, pass: u32) {
        let mut beside = [0; 2];
        for &u in self.graph.neighbors(v) {
            let side = separation.sides[u as usize];
            if side != Side::Separator {
                beside[side as usize] += self.graph.sizes[u as usize];
            }
        }
        self.beside[v] = beside;
        self.offer(v, pass);
    }

    /// The best move to a side that still counts.
    fn best(&mut self, separation: &Separation, to: Side, pass: u32) -> Option<(i64, usize)> {
        let heap = &mut self.heaps[to as usize];
        while let Some(&(gain, stamp, v)) = heap.peek() {
            let v = v as usize;
            if separation.sides[v] == Side::Separator && self.stamps[v] == stamp && self.moved[v] != pass {
                return Some((gain, v));
            }
            heap.pop();
        }
        None
    }

    /// The next move: the one that gains most; to the lighter side if both gain as much, or if the other may not grow.
    fn next(&mut self, separation: &Separation, pass: u32) -> Option<(Side, usize)> {
        let [left, right, _] = separation.weights;
        let lighter = if left <= right { Side::Left } else { Side::Right };
        let light = self.best(separation, lighter, pass);
        let heavy = self.best(separation, lighter.opposite(), pass);
        let fits = |to: Side, v: usize| separation.weights[to as usize] + u64::from(self.graph.sizes[v]) <= self.most;
        match (light, heavy) {
            (light, Some((gain, v))) if light.is_none_or(|light| gain > light.0) && fits(lighter.opposite(), v) => {
                Some((lighter.opposite(), v))
            }
            (Some((_, v)), _) => Some((lighter, v)),
            _ => None,
        }
    }

    /// One pass; whether the separator is better now.
    fn run(&mut self, separation: &mut Separation, pass: u32, random: &mut Random) -> bool {
        self.heaps.iter_mut().for_each(BinaryHeap::clear);
        let mut separator: Vec<u32> =
            (0..separation.sides.len() as u32).filter(|&v| separation.sides[v as usize] == Side::Separator).collect();
        random.shuffle(&mut separator);
        for &v in &separator {
            self.enter(separation, v as usize, pass);
        }
        let start = separation.quality();
        let (mut best, mut kept) = (start, 0);
        // Each vertex that changed its side, and the side where it was.
        let mut changes: Vec<(usize, Side)> = Vec::new();
        let patience = (separator.len() * 2).clamp(50, 300);
        let mut in_vain = 0;
        while in_vain <= patience {
            let Some((to, v)) = self.next(separation, pass) else { break };
            self.moved[v] = pass;
            self.apply(separation, v, to, pass, &mut changes);
            let now = separation.quality();
            if now < best {
                (best, kept, in_vain) = (now, changes.len(), 0);
            } else {
                in_vain += 1;
            }
        }
        for (v, side) in changes.drain(kept..).rev() {
            separation.put(self.graph, v, side);
        }
        best < start
    }

    /// Moves `v` out of the separator, and its neighbours on the opposite side into it.
    fn apply(&mut self, separation: &mut Separation, v: usize, to: Side, pass: u32, changes: &mut Vec<(usize, Side)>) {
        let graph = self.graph;
        changes.push((v, Side::Separator));
        separation.put(graph, v, to);
        for &u in graph.neighbors(v) {
            let u = u as usize;
            if separation.sides[u] == Side::Separator {
                self.beside[u][to as usize] += graph.sizes[v];
                self.offer(u, pass);
            } else if separation.sides[u] == to.opposite() {
                changes.push((u, to.opposite()));
                separation.put(graph, u, Side::Separator);
                for &w in graph.neighbors(u) {
                    let w = w as usize;
                    if separation.sides[w] == Side::Separator && w != u {
                        self.beside[w][to.opposite() as usize] -= graph.sizes[u];
                        self.offer(w, pass);
                    }
                }
                self.enter(separation, u, pass);
            }
        }
    }
}
