//! Connected components, directions ignored.
//!
//! Each rank first unites what its own arcs join: owned vertices, hubs and ghosts, by union-find. A *set* is what is one then, and its
//! label the least vertex that it is known to reach. In each round a rank tells the owners of its ghosts, and those who have its
//! vertices as ghosts, the labels of the sets whose label fell, and all ranks reduce the labels of hubs. It ends when no label fell
//! anywhere. So a path costs a round for each time that it crosses from one rank to another, not for each arc.
//!
//! Components are numbered from 0 in the order of their least vertices, as on one machine.
//!
//! Work O((V + E) times the inverse of Ackermann's function) for all ranks, and O(V + ghosts) in each round; a rank sends 12 bytes for each
//! ghost whose label fell.
//!
//! Source: union-find by R. E. Tarjan, Efficiency of a good but not linear set union algorithm, JACM 22 (1975), with links to the least
//! vertex and path halving. That the sets of a rank, not its vertices, tell each other labels is this project's own.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use warpath::Result;
use warpath::graph::Weight;
use warpath::parts::PartMail;

use crate::allocation::{filled, with_capacity};
use crate::graph::PartOfGraph;
use crate::words::{pull, push};
use crate::world::{Outcome, Reduction, Traffic, World};

/// The components of the vertices that a rank owns, and facts about all.
#[derive(Debug, Clone)]
pub struct RankComponents {
    /// The vertices that this rank owns.
    pub owned: Range<u64>,
    /// The component of each of them: numbers from 0, in the order of the least vertices.
    pub of: Vec<u64>,
    /// The number of components of all ranks.
    pub count: u64,
    /// How many components have how many vertices: sizes, ascending, each with how many there are.
    pub sizes: Vec<(u64, u64)>,
    /// The components whose least vertices this rank owns, in their order: these vertices, and how many vertices each component has.
    pub begun: Vec<(u64, u64)>,
    /// How often the ranks told each other labels.
    pub rounds: u64,
    /// Seconds.
    pub seconds: f64,
    /// What this rank sent.
    pub traffic: Traffic,
}

/// Finds the connected components of a graph. All ranks call it together.
///
/// ```no_run
/// use warpath::graph::Unit;
/// let world = warpath_mpi::World::start(warpath_mpi::DEFAULT_TIMEOUT, &warpath::Control::new()).unwrap();
/// let source = warpath_mpi::Source::open("kron:20".as_ref(), Default::default()).unwrap();
/// let part = warpath_mpi::PartOfGraph::<Unit>::load(&world, &source, Default::default()).unwrap();
/// println!("{} components", warpath_mpi::components(&world, &part).unwrap().count);
/// ```
///
/// # Errors
///
/// [`Error::OutOfMemory`](warpath::Error::OutOfMemory).
pub fn components<W: Weight>(world: &World, graph: &PartOfGraph<W>) -> Outcome<RankComponents> {
    let (start, before) = (Instant::now(), world.traffic());
    let mut sets = world.agree(Sets::of(graph))?;
    let rounds = spread(world, graph, &mut sets)?;
    let Numbered { of, count, sizes, begun } = number(world, graph, &sets)?;
    Ok(RankComponents {
        owned: graph.at_home(),
        of,
        count,
        sizes,
        begun,
        rounds,
        seconds: start.elapsed().as_secs_f64(),
        traffic: world.traffic().since(&before),
    })
}

/// What the arcs of this rank join.
struct Sets {
    /// The first state of the set of each state.
    root: Vec<u32>,
    /// For the first state of each set the least vertex that it is known to reach.
    label: Vec<u64>,
    /// For the first state of each set whether its label fell since it was told.
    fell: Vec<bool>,
}

impl Sets {
    fn of<W: Weight>(graph: &PartOfGraph<W>) -> Result<Self> {
        let states = graph.states();
        let mut root: Vec<u32> = with_capacity("sets of vertices", states)?;
        root.extend(0..states as u32);
        for vertex in 0..graph.rows() {
            for &head in graph.heads(vertex) {
                unite(&mut root, vertex as u32, head);
            }
        }
        let mut label = filled("the least vertices of sets", states, u64::MAX)?;
        for state in 0..states as u32 {
            let first = find(&mut root, state);
            root[state as usize] = first;
            if state as usize >= graph.rows() || !is_hidden(graph, state as usize) {
                let least = &mut label[first as usize];
                *least = graph.vertex_with(state as usize).min(*least);
            }
        }
        Ok(Sets { root, label, fell: filled("marks of sets", states, true)? })
    }

    /// The label of the set of a state.
    fn label_of(&self, state: usize) -> u64 {
        self.label[self.root[state] as usize]
    }

    fn has_fallen(&self, state: usize) -> bool {
        self.fell[self.root[state] as usize]
    }

    /// Lowers the label of the set of a state.
    fn lower(&mut self, state: usize, label: u64) {
        let first = self.root[state] as usize;
        if label < self.label[first] {
            self.label[first] = label;
            self.fell[first] = true;
        }
    }
}

/// Whether a state is that of an owned vertex whose state is the hub's.
fn is_hidden<W: Weight>(graph: &PartOfGraph<W>, state: usize) -> bool {
    state < graph.owned_count() && graph.is_hidden(state)
}

/// The first state of a set; halves the path to it.
fn find(root: &mut [u32], mut state: u32) -> u32 {
    while root[state as usize] != state {
        let above = root[state as usize];
        root[state as usize] = root[above as usize];
        state = root[state as usize];
    }
    state
}

fn unite(root: &mut [u32], one: u32, other: u32) {
    let (one, other) = (find(root, one), find(root, other));
    // The first state of a set stays the least.
    root[one.max(other) as usize] = one.min(other);
}

/// Spreads labels until none falls; returns the number of rounds.
fn spread<W: Weight>(world: &World, graph: &PartOfGraph<W>, sets: &mut Sets) -> Outcome<u64> {
    let hubs = graph.owned_count()..graph.rows();
    let mut of_hubs = world.agree(filled("labels of hubs", hubs.len(), 0_u64))?;
    let mut rounds = 0;
    while world.any(sets.fell.contains(&true)) {
        if !hubs.is_empty() {
            of_hubs.iter_mut().zip(hubs.clone()).for_each(|(label, hub)| *label = sets.label_of(hub));
            world.reduce_all(Reduction::Least, &mut of_hubs);
            of_hubs.iter().zip(hubs.clone()).for_each(|(&label, hub)| sets.lower(hub, label));
        }
        let outgoing = (0..world.ranks()).map(|rank| labels_for(graph, sets, rank)).collect();
        sets.fell.fill(false);
        let incoming = world.agree(world.exchange(outgoing))?;
        hear(world, graph, sets, &incoming);
        rounds += 1;
    }
    Ok(rounds)
}

/// Words of a number and a label.
const WORDS: usize = 3;

/// What a rank is told: how many labels are for vertices that it owns, these, and those for its ghosts by their places.
fn labels_for<W: Weight>(graph: &PartOfGraph<W>, sets: &Sets, rank: usize) -> Result<Vec<u32>> {
    let (ghosts, subscribed) = (graph.ghosts_of(rank), graph.subscribed_by(rank));
    let to_owner = || ghosts.clone().filter(|&ghost| sets.has_fallen(ghost));
    let to_subscriber = || subscribed.iter().enumerate().filter(|(_, vertex)| sets.has_fallen(**vertex as usize));
    let (owned, known) = (to_owner().count(), to_subscriber().count());
    if owned + known == 0 {
        return Ok(Vec::new());
    }
    let mut words = with_capacity("labels for other ranks", 1 + WORDS * (owned + known))?;
    words.push(owned as u32);
    for ghost in to_owner() {
        words.push(graph.owner_of(ghost).1);
        push(&mut words, sets.label_of(ghost));
    }
    for (place, &vertex) in to_subscriber() {
        words.push(place as u32);
        push(&mut words, sets.label_of(vertex as usize));
    }
    Ok(words)
}

fn hear<W: Weight>(world: &World, graph: &PartOfGraph<W>, sets: &mut Sets, incoming: &PartMail) {
    for rank in 0..world.ranks() {
        let Some((&owned, labels)) = incoming.of(rank).split_first() else { continue };
        let (for_owned, for_ghosts) = labels.split_at(WORDS * owned as usize);
        let first_ghost = graph.ghosts_of(rank).start;
        for message in for_owned.chunks_exact(WORDS) {
            sets.lower(message[0] as usize, pull(&message[1..]));
        }
        for message in for_ghosts.chunks_exact(WORDS) {
            sets.lower(first_ghost + message[0] as usize, pull(&message[1..]));
        }
    }
}

struct Numbered {
    of: Vec<u64>,
    count: u64,
    sizes: Vec<(u64, u64)>,
    begun: Vec<(u64, u64)>,
}

/// Numbers the components, each of which has a label by now.
fn number<W: Weight>(world: &World, graph: &PartOfGraph<W>, sets: &Sets) -> Outcome<Numbered> {
    let owned = graph.at_home();
    let mut of = world.agree(filled("components of vertices", graph.rows(), 0_u64))?;
    of.iter_mut().enumerate().for_each(|(vertex, label)| *label = sets.label_of(vertex));
    let mut of = graph.bring_home(world, "components of vertices", of)?;
    // The owner of the least vertex of a component numbers it.
    let least: Vec<u64> = owned.clone().zip(&of).filter(|(vertex, label)| vertex == *label).map(|(v, _)| v).collect();
    let first = world.agree(world.sum_before(least.len() as u64))?;
    let count = world.total(least.len() as u64);
    let mut here: BTreeMap<u64, u64> = BTreeMap::new();
    of.iter().for_each(|&label| *here.entry(label).or_default() += 1);
    let mut questions: Vec<Vec<u32>> = vec![Vec::new(); world.ranks()];
    for (&label, &vertices) in &here {
        let owner = graph.home().owner(label);
        questions[owner].push((label - graph.home().starts()[owner]) as u32);
        push(&mut questions[owner], vertices);
    }
    let asked = world.agree(world.exchange(Ok(questions)))?;
    let mut size = world.agree(filled("sizes of components", least.len(), 0_u64))?;
    let answer = |rank: usize, size: &mut [u64]| {
        let mut words = Vec::new();
        for question in asked.of(rank).chunks_exact(WORDS) {
            // Whoever asks has the label from here.
            let place = least.partition_point(|&vertex| vertex < owned.start + u64::from(question[0]));
            size[place] += pull::<u64>(&question[1..]);
            push(&mut words, first + place as u64);
        }
        words
    };
    let answers = (0..world.ranks()).map(|rank| answer(rank, &mut size)).collect();
    let answered = world.agree(world.exchange(Ok(answers)))?;
    // Labels ascend, and so do their owners: the answers of all ranks are in the order of the questions.
    for (number, answer) in here.values_mut().zip(answered.words().chunks_exact(2)) {
        *number = pull(answer);
    }
    of.iter_mut().for_each(|label| *label = here[label]);
    let sizes = how_many(world, &size)?;
    Ok(Numbered { of, count, sizes, begun: least.into_iter().zip(size).collect() })
}

/// How many of these numbers of all ranks there are of each.
fn how_many(world: &World, numbers: &[u64]) -> Outcome<Vec<(u64, u64)>> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    numbers.iter().for_each(|&number| *counts.entry(number).or_default() += 1);
    let mut words = Vec::new();
    counts.iter().for_each(|(&number, &count)| push(&mut words, [number, count]));
    let all = world.agree(world.gather(&words))?;
    counts.clear();
    for pair in all.words().chunks_exact(4) {
        let [number, count]: [u64; 2] = pull(pair);
        *counts.entry(number).or_default() += count;
    }
    Ok(counts.into_iter().collect())
}
