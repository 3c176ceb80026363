//! The k shortest loopless paths: Yen's algorithm with Lawler's improvement.
//!
//! A path is found by a search that starts at some vertex of an earlier path, its *spur*. The part before it, its
//! *root*, is kept: its vertices are blocked, and so are some of the arcs that leave the spur. The paths that have a
//! root and avoid these arcs are a class; the shortest path of each class that has been looked at is a candidate. When
//! the shortest candidate is taken, what is left of its class falls into smaller classes, one for each spur from the
//! place on where the candidate left its parent (Lawler). So no path is found twice, and no class is searched twice.
//!
//! One search backwards from the target finds how far every vertex is from it. A spur search then takes vertices in the
//! order of the distance so far and the distance left (A*): blocking only makes paths longer, so that is a lower bound.
//! It visits little more than the path that it finds, where a plain search would visit everything nearer than the
//! target. No more candidates are kept than paths are left to find, and a search ends when it can't beat the worst.
//!
//! Floats are added up from the source on, the root included, so lengths are those of every other search. Sums from the
//! target differ by rounding: vertices may be visited again, and a search goes on until no bound, lowered by the
//! greatest error that rounding can make, is below the path found.
//!
//! Work: k searches for each vertex of a path, O(k V (E + V log V)) at worst; the spur searches of a path run side by
//! side. Memory: a distance, a parent and a mark for each vertex and thread, and k paths.
//!
//! Source: Yen 1971, "Finding the k shortest loopless paths in a network"; Lawler 1972, "A procedure for computing the k
//! best solutions to discrete optimization problems and its application to the shortest path problem"; A*: Hart, Nilsson
//! & Raphael 1968.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::algorithms::Statistics;
use crate::cpu::Team;
use crate::graph::{Adjacency, DistanceValue, MinPlus, NO_VERTEX, VertexId, Weight, WeightKind};
use crate::{Control, Error, Result, memory, parallel};

const SETTLED_BETWEEN_CHECKS: u64 = 1 << 12;

/// Everything that the search for several paths needs to know.
pub(crate) struct SeveralPathsTask<'a, L: MinPlus> {
    /// The arcs by tail; no weight is below 0.
    pub(crate) forward: Adjacency<'a, L::Weight>,
    /// The arcs by head.
    pub(crate) backward: Adjacency<'a, L::Weight>,
    pub(crate) from: VertexId,
    pub(crate) to: VertexId,
    /// How many paths to find at most.
    pub(crate) most: usize,
    /// The threads to run on.
    pub(crate) team: &'a Team,
    /// Watches the work and may cancel it.
    pub(crate) control: &'a Control,
}

/// The paths, each with its length, and counters.
pub(crate) struct SeveralPaths<D> {
    pub(crate) paths: Vec<(Vec<VertexId>, D)>,
    pub(crate) statistics: Statistics,
}

/// Finds the paths, the shortest first.
///
/// # Errors
///
/// If a sum of floats leaves its range, memory does not suffice, or the caller cancels.
pub(crate) fn shortest_loopless_paths<L: MinPlus>(task: &SeveralPathsTask<'_, L>) -> Result<SeveralPaths<L::Distance>> {
    let mut search = SeveralPathsSearch {
        task,
        remaining: remaining_distances(task)?,
        slack: slack::<L>(task.forward.vertices()),
        idle: Mutex::default(),
        settled: AtomicU64::new(0),
        searches: AtomicU64::new(0),
    };
    let paths = search.paths()?;
    let counters = [("searches", search.searches.get_mut()), ("settled", search.settled.get_mut())];
    Ok(SeveralPaths { paths, statistics: counters.map(|(name, count)| (name, *count)).into() })
}

/// How much too great, relatively, a sum of a path's floats can be by rounding, from either end and twice; 0 for
/// integers.
fn slack<L: MinPlus>(vertices: usize) -> f64 {
    let unit = match L::Weight::KIND {
        WeightKind::F32 => f64::from(f32::EPSILON),
        WeightKind::F64 => f64::EPSILON,
        _ => return 0.0,
    };
    (4.0 * unit * (vertices as f64 + 1.0)).min(1.0)
}

/// The distance of every vertex to the target, by Dijkstra's algorithm on the arcs by head.
fn remaining_distances<L: MinPlus>(task: &SeveralPathsTask<'_, L>) -> Result<Vec<L::Distance>> {
    let graph = task.backward;
    let mut distances = memory::filled("the distances to the target", graph.vertices(), L::Distance::UNREACHABLE)?;
    distances[task.to as usize] = L::Distance::ZERO;
    let mut heap = BinaryHeap::from([Reverse((L::Distance::ZERO.key(), task.to))]);
    let mut settled = 0;
    while let Some(Reverse((key, u))) = heap.pop() {
        let distance = L::Distance::from_key(key);
        if distances[u as usize] < distance {
            continue;
        }
        settled += 1;
        if settled % SETTLED_BETWEEN_CHECKS == 0 {
            task.control.check()?;
        }
        memory::reserve("the heap of vertices", &mut heap, graph.degree(u))?;
        for (v, weight) in graph.edges(u) {
            let through = extended::<L>(distance, weight)?;
            if through < distances[v as usize] {
                distances[v as usize] = through;
                heap.push(Reverse((through.key(), v)));
            }
        }
    }
    Ok(distances)
}

/// The distance and the weight added up; an error where the sum leaves the range.
#[inline]
fn extended<L: MinPlus>(distance: L::Distance, weight: L::Weight) -> Result<L::Distance> {
    let through = L::extend(distance, weight);
    if through == L::Distance::UNREACHABLE {
        return Err(Error::DistanceOverflow { semiring: L::NAME });
    }
    Ok(through)
}

/// The shortest path of its class. Candidates are ordered by length, then by their vertices.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate<K> {
    length: K,
    hops: usize,
    vertices: Vec<VertexId>,
    /// Where in `vertices` the last vertex of its root is.
    spur: usize,
    /// The heads of the arcs that leave the spur and are blocked.
    blocked: Vec<VertexId>,
}

/// The memory of a spur search.
struct Workspace<D> {
    /// The distance and the parent of a vertex hold in the round in its mark.
    distances: Vec<D>,
    parents: Vec<VertexId>,
    marks: Vec<u32>,
    round: u32,
}

impl<D: DistanceValue> Workspace<D> {
    fn new(vertices: usize) -> Result<Self> {
        Ok(Workspace {
            distances: memory::filled("the distances of a search", vertices, D::UNREACHABLE)?,
            parents: memory::filled("the parents of a search", vertices, NO_VERTEX)?,
            marks: memory::zeroed("the marks of a search", vertices)?,
            round: 0,
        })
    }

    /// Forgets all distances.
    fn begin(&mut self) {
        if self.round == u32::MAX {
            self.marks.fill(0);
            self.round = 0;
        }
        self.round += 1;
    }

    fn distance(&self, v: VertexId) -> D {
        if self.marks[v as usize] == self.round { self.distances[v as usize] } else { D::UNREACHABLE }
    }

    fn set(&mut self, v: VertexId, distance: D, parent: VertexId) {
        self.marks[v as usize] = self.round;
        self.distances[v as usize] = distance;
        self.parents[v as usize] = parent;
    }
}

/// The state that all spur searches share.
struct SeveralPathsSearch<'a, L: MinPlus> {
    task: &'a SeveralPathsTask<'a, L>,
    /// The distance of each vertex to the target.
    remaining: Vec<L::Distance>,
    slack: f64,
    /// Workspaces not in use: at most one a thread.
    idle: Mutex<Vec<Workspace<L::Distance>>>,
    settled: AtomicU64,
    searches: AtomicU64,
}

type Key<L> = <<L as MinPlus>::Distance as DistanceValue>::Key;

impl<L: MinPlus> SeveralPathsSearch<'_, L> {
    fn idle(&self) -> MutexGuard<'_, Vec<Workspace<L::Distance>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn paths(&self) -> Result<Vec<(Vec<VertexId>, L::Distance)>> {
        let SeveralPathsTask { from, to, most, team, control, .. } = *self.task;
        let mut found = Vec::new();
        if from == to && most > 0 {
            found.push((vec![from], L::Distance::ZERO));
            return Ok(found);
        }
        let mut candidates = BTreeSet::new();
        if most > 0 {
            candidates.extend(self.spur_search(&[from], L::Distance::ZERO, Vec::new(), None)?);
        }
        while let Some(shortest) = candidates.pop_first() {
            let left = most - found.len() - 1;
            if left > 0 {
                let distances = self.distances_along(&shortest.vertices)?;
                let worst: Option<&Candidate<Key<L>>> = candidates.last().filter(|_| candidates.len() >= left);
                let limit = worst.map(|candidate| L::Distance::from_key(candidate.length));
                let spurs = shortest.spur..shortest.vertices.len() - 1;
                let search = |spur: usize| {
                    let next = shortest.vertices[spur + 1];
                    let mut blocked = if spur == shortest.spur { shortest.blocked.clone() } else { Vec::new() };
                    blocked.push(next);
                    self.spur_search(&shortest.vertices[..=spur], distances[spur], blocked, limit)
                };
                let spur = |(): &mut (), index| search(spurs.start + index);
                let new = team.install(|| parallel::try_collect_with(spurs.len(), || (), spur))?;
                candidates.extend(new.into_iter().flatten());
                while candidates.len() > left {
                    candidates.pop_last();
                }
            }
            found.push((shortest.vertices, L::Distance::from_key(shortest.length)));
            control.progress("solve", found.len() as u64, most as u64)?;
            if found.len() == most {
                break;
            }
        }
        Ok(found)
    }

    /// The distance from the source up to each vertex of a path.
    fn distances_along(&self, vertices: &[VertexId]) -> Result<Vec<L::Distance>> {
        let mut distances = memory::with_capacity("the distances along a path", vertices.len())?;
        let mut distance = L::Distance::ZERO;
        distances.push(distance);
        for pair in vertices.windows(2) {
            let arcs = self.task.forward.edges(pair[0]).filter(|&(head, _)| head == pair[1]);
            let through = arcs.map(|(_, weight)| L::extend(distance, weight));
            distance = through.fold(L::Distance::UNREACHABLE, |a, b| if b < a { b } else { a });
            distances.push(distance);
        }
        Ok(distances)
    }

    /// The shortest path that has this root and leaves its last vertex by no arc to a blocked vertex; `None` if there is
    /// none, or none of at most `limit`.
    fn spur_search(
        &self,
        root: &[VertexId],
        root_distance: L::Distance,
        blocked: Vec<VertexId>,
        limit: Option<L::Distance>,
    ) -> Result<Option<Candidate<Key<L>>>> {
        self.task.control.check()?;
        self.searches.fetch_add(1, Ordering::Relaxed);
        let spare = self.idle().pop();
        let mut workspace = match spare {
            Some(workspace) => workspace,
            None => Workspace::new(self.task.forward.vertices())?,
        };
        workspace.begin();
        // No distance is below 0, so no search comes back to the root.
        root.iter().for_each(|&v| workspace.set(v, L::Distance::ZERO, NO_VERTEX));
        let spur = root.len() - 1;
        let length = self.search(root[spur], root_distance, &blocked, limit, &mut workspace)?;
        let candidate = match length {
            None => None,
            Some(length) => {
                let mut rest = Vec::new();
                let mut at = self.task.to;
                while at != root[spur] {
                    memory::grow("a path", &mut rest, 1)?;
                    rest.push(at);
                    at = workspace.parents[at as usize];
                }
                let mut vertices = memory::with_capacity("a path", root.len() + rest.len())?;
                vertices.extend(root.iter().copied().chain(rest.into_iter().rev()));
                Some(Candidate { length: length.key(), hops: vertices.len(), vertices, spur, blocked })
            }
        };
        self.idle().push(workspace);
        Ok(candidate)
    }

    /// Searches from the spur to the target, in the order of a lower bound of the whole length; returns the length.
    fn search(
        &self,
        spur: VertexId,
        root_distance: L::Distance,
        blocked: &[VertexId],
        limit: Option<L::Distance>,
        workspace: &mut Workspace<L::Distance>,
    ) -> Result<Option<L::Distance>> {
        let SeveralPathsTask { forward, to, control, .. } = *self.task;
        let bound = |distance: L::Distance, v: VertexId| L::join(distance, self.remaining[v as usize]);
        let exceeds = |bound: L::Distance, length: L::Distance| match self.slack {
            0.0 => length < bound,
            slack => length.to_f64() < bound.to_f64() * (1.0 - slack),
        };
        let mut best = L::Distance::UNREACHABLE;
        let first = bound(root_distance, spur);
        let mut heap = BinaryHeap::new();
        if first != L::Distance::UNREACHABLE {
            heap.push(Reverse((first.key(), root_distance.key(), spur)));
        }
        let mut settled = 0;
        while let Some(Reverse((key, distance, u))) = heap.pop() {
            let (least, distance) = (L::Distance::from_key(key), L::Distance::from_key(distance));
            if limit.is_some_and(|limit| exceeds(least, limit)) || exceeds(least, best) {
                break;
            }
            if u != spur && workspace.distance(u) < distance {
                continue;
            }
            settled += 1;
            if settled % SETTLED_BETWEEN_CHECKS == 0 {
                control.check()?;
            }
            if u == to {
                best = distance;
                if self.slack == 0.0 {
                    break;
                }
                continue;
            }
            memory::reserve("the heap of vertices", &mut heap, forward.degree(u))?;
            for (v, weight) in forward.edges(u) {
                if self.remaining[v as usize] == L::Distance::UNREACHABLE || (u == spur && blocked.contains(&v)) {
                    continue;
                }
                let through = extended::<L>(distance, weight)?;
                if through < workspace.distance(v) {
                    workspace.set(v, through, u);
                    heap.push(Reverse((bound(through, v).key(), through.key(), v)));
                }
            }
        }
        self.settled.fetch_add(settled, Ordering::Relaxed);
        let within = best != L::Distance::UNREACHABLE && limit.is_none_or(|limit| best <= limit);
        Ok(within.then_some(best))
    }
}
