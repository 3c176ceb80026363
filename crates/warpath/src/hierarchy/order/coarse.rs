//! Coarsening: neighbours become one vertex, pair by pair, until a hundred vertices are left that look like the graph from
//! afar (Karypis, Kumar, *A fast and high quality multilevel scheme for partitioning irregular graphs*, 1998).

use super::pattern::Pattern;
use super::random::Random;

/// The mark for no vertex.
const NONE: u32 = u32::MAX;

/// A graph of vertices that stand for several.
#[derive(Debug)]
pub(super) struct Coarse {
    offsets: Vec<u32>,
    heads: Vec<u32>,
    /// How many edges of the graph each edge stands for.
    weights: Vec<u32>,
    /// How many vertices of the graph each vertex stands for.
    pub(super) sizes: Vec<u32>,
}

impl Coarse {
    pub(super) fn of(pattern: &Pattern) -> Self {
        Coarse {
            offsets: pattern.offsets.clone(),
            heads: pattern.heads.clone(),
            weights: vec![1; pattern.heads.len()],
            sizes: vec![1; pattern.vertices()],
        }
    }

    pub(super) fn vertices(&self) -> usize {
        self.sizes.len()
    }

    /// The sizes of all vertices together.
    pub(super) fn total(&self) -> u64 {
        self.sizes.iter().map(|&size| u64::from(size)).sum()
    }

    pub(super) fn neighbors(&self, v: usize) -> &[u32] {
        &self.heads[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }

    /// The neighbours of `v` with the weights of the edges.
    pub(super) fn edges(&self, v: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let row = self.offsets[v] as usize..self.offsets[v + 1] as usize;
        self.heads[row.clone()].iter().map(|&u| u as usize).zip(self.weights[row].iter().copied())
    }

    /// A coarser graph, and the vertex of it that each vertex is part of. No vertex becomes larger than `limit`.
    pub(super) fn coarsened(&self, limit: u32, random: &mut Random) -> (Coarse, Vec<u32>) {
        let mate = self.matching(limit, random);
        let mut map = vec![NONE; self.vertices()];
        let mut firsts = Vec::with_capacity(self.vertices());
        for v in 0..self.vertices() {
            if map[v] == NONE {
                map[v] = firsts.len() as u32;
                if mate[v] != NONE {
                    map[mate[v] as usize] = firsts.len() as u32;
                }
                firsts.push(v as u32);
            }
        }
        (self.contracted(&map, &mate, &firsts), map)
    }

    /// Pairs along heavy edges: vertices of few neighbours choose first, in random order, the neighbour with the heaviest
    /// edge. Where many are left alone, as leaves around a hub are, those with a common neighbour are paired.
    fn matching(&self, limit: u32, random: &mut Random) -> Vec<u32> {
        let count = self.vertices();
        let mut order: Vec<u32> = (0..count as u32).collect();
        random.shuffle(&mut order);
        let usual = self.heads.len() / count.max(1) + 1;
        order.sort_by_key(|&v| self.neighbors(v as usize).len().min(usual));
        let mut mate = vec![NONE; count];
        let mut alone = 0;
        for &v in &order {
            let v = v as usize;
            if mate[v] != NONE {
                continue;
            }
            let (mut best, mut heaviest) = (NONE, 0);
            for (u, weight) in self.edges(v) {
                if mate[u] == NONE && weight > heaviest && self.sizes[u] + self.sizes[v] <= limit {
                    (best, heaviest) = (u as u32, weight);
                }
            }
            if best == NONE {
                alone += 1;
            } else {
                mate[v] = best;
                mate[best as usize] = v as u32;
            }
        }
        if alone * 10 > count {
            self.match_around_hubs(&order, limit, &mut mate);
        }
        mate
    }

    /// Pairs vertices of few neighbours that have a neighbour in common.
    fn match_around_hubs(&self, order: &[u32], limit: u32, mate: &mut [u32]) {
        const FEW: usize = 8;
        for &hub in order {
            let mut waiting = NONE;
            for &u in self.neighbors(hub as usize) {
                if mate[u as usize] != NONE || self.neighbors(u as usize).len() > FEW {
                    continue;
                }
                if waiting != NONE && self.sizes[u as usize] + self.sizes[waiting as usize] <= limit {
                    mate[u as usize] = waiting;
                    mate[waiting as usize] = u;
                    waiting = NONE;
                } else {
                    waiting = u;
                }
            }
        }
    }

    /// The graph of the pairs; `firsts` has the lower vertex of each.
    fn contracted(&self, map: &[u32], mate: &[u32], firsts: &[u32]) -> Coarse {
        let mut coarse = Coarse {
            offsets: Vec::with_capacity(firsts.len() + 1),
            heads: Vec::with_capacity(self.heads.len() / 2),
            weights: Vec::with_capacity(self.heads.len() / 2),
            sizes: Vec::with_capacity(firsts.len()),
        };
        coarse.offsets.push(0);
        // Where the edge to each vertex stands in the row in the making.
        let mut place = vec![NONE; firsts.len()];
        for (c, &first) in firsts.iter().enumerate() {
            let start = coarse.heads.len();
            let second = Some(mate[first as usize]).filter(|&mate| mate != NONE);
            let mut size = 0;
            for v in [Some(first), second].into_iter().flatten() {
                size += self.sizes[v as usize];
                for (u, weight) in self.edges(v as usize) {
                    let head = map[u];
                    let at = place[head as usize] as usize;
                    if head as usize == c {
                        continue;
                    }
                    if at >= start && at < coarse.heads.len() {
                        coarse.weights[at] += weight;
                    } else {
                        place[head as usize] = coarse.heads.len() as u32;
                        coarse.heads.push(head);
                        coarse.weights.push(weight);
                    }
                }
            }
            coarse.sizes.push(size);
            coarse.offsets.push(coarse.heads.len() as u32);
        }
        coarse
    }
}
