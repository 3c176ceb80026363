//! A rank's part of a graph: the vertices that it owns, the arcs that leave them, and what it knows of other ranks' vertices.
//!
//! *Owned vertices* are consecutive, or blocks that went to the ranks in turn ([`deal`]); here they have consecutive *places*. The heads of
//! their arcs that other ranks own are *ghosts*: each has a number here, and its owner knows which ranks have it as a ghost, its
//! *subscribers*. So messages carry 32-bit numbers, and state of a ghost that arrives is stored without a search. Results go *home*: each
//! rank gets those of consecutive vertices ([`Partition`]).
//!
//! *Hubs* are the few vertices of the highest degrees. All ranks know every hub, and a hub's arcs are spread: each lies with the
//! owner of its head. So no rank has the whole row of a hub, and an arc to or from a hub sends no message; after each round the ranks
//! reduce what they found of hubs. R. Pearce, M. Gokhale, N. Amato, Faster parallel traversal of scale free graphs at extreme scale
//! with vertex delegates, SC 2014.
//!
//! Rows and state are in one order: owned vertices, then hubs; ghosts have state, but no rows. An owned vertex that is a hub has an
//! empty row and unused state.

mod build;
mod deal;
mod partition;
mod rows;
mod sorted_ids;
pub(crate) mod subset;
mod told;

use std::ops::Range;

pub(crate) use build::{HUB_DEGREE, vertices_per_hub};
use bytemuck::Pod;
use deal::Deal;
pub use deal::Parts;
pub(crate) use deal::block_for;
pub use partition::Partition;
use sorted_ids::SortedIds;
pub(crate) use told::GhostsToTell;
use warpath::Result;
use warpath::graph::{Unit, Weight};
use warpath::parts::{PartMail, PartRows};

use crate::allocation::{filled, with_capacity};
use crate::reduced::Reduced;
use crate::words::{pull, push, words_of};
use crate::world::{Outcome, Reduction, World};

/// A rank's part of a graph.
///
/// ```no_run
/// use warpath::graph::Unit;
/// let world = warpath_mpi::World::start(warpath_mpi::DEFAULT_TIMEOUT, &warpath::Control::new()).unwrap();
/// let source = warpath_mpi::Source::open("kron:20".as_ref(), Default::default()).unwrap();
/// let part = warpath_mpi::PartOfGraph::<Unit>::load(&world, &source, Default::default()).unwrap();
/// println!("{} of {} arcs", part.arcs_here(), part.arcs());
/// ```
#[derive(Debug)]
pub struct PartOfGraph<W> {
    /// Which vertices each rank gets the results of.
    home: Partition,
    /// Which vertices each rank has, and their places.
    deal: Deal,
    rank: usize,
    directed: bool,
    /// Of all ranks together.
    arcs: u64,
    /// The least and the greatest weight of all ranks.
    weight_range: (f64, f64),
    hubs: SortedIds,
    /// Which of the owned vertices are hubs: their places among all hubs.
    own_hubs: Range<usize>,
    ghosts: SortedIds,
    /// Where the ghosts of each rank begin, and where the last ones end.
    ghost_starts: Vec<usize>,
    /// Which owned vertices each rank has as ghosts, in the order of its ghosts.
    subscribers: PartMail,
    offsets: Vec<u64>,
    heads: Vec<u32>,
    weights: Vec<W>,
}

impl<W: Weight> PartOfGraph<W> {
    /// The number of vertices of all ranks.
    pub fn vertices(&self) -> u64 {
        self.home.vertices()
    }

    /// The number of arcs of all ranks; parallel arcs are merged.
    pub fn arcs(&self) -> u64 {
        self.arcs
    }

    /// The number of arcs that this rank has.
    pub fn arcs_here(&self) -> usize {
        self.heads.len()
    }

    /// How many vertices of other ranks are heads of arcs that this rank has.
    pub fn ghosts(&self) -> usize {
        self.ghosts.len()
    }

    /// How many hubs there are.
    pub fn hubs(&self) -> usize {
        self.hubs.len()
    }

    /// Whether arcs have a direction.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// The least and the greatest weight; both 0 without arcs.
    pub fn weight_range(&self) -> (f64, f64) {
        self.weight_range
    }

    /// Which vertices each rank gets the results of.
    pub fn home(&self) -> &Partition {
        &self.home
    }

    /// The vertices whose results this rank gets.
    pub fn at_home(&self) -> Range<u64> {
        self.home.range(self.rank)
    }

    /// The vertices of each of the blocks that went to the ranks in turn; `None` if each rank searches what it gets the results of.
    pub fn block(&self) -> Option<u64> {
        self.deal.block()
    }

    /// How many ranks have a part.
    pub(crate) fn ranks(&self) -> usize {
        self.home.ranks()
    }

    /// The places of the vertices that this rank owns.
    fn places(&self) -> Range<u64> {
        self.deal.places().range(self.rank)
    }

    /// How many vertices this rank owns.
    pub(crate) fn owned_count(&self) -> usize {
        let places = self.places();
        (places.end - places.start) as usize
    }

    /// How many vertices have rows here: owned ones, and hubs.
    pub(crate) fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many vertices have state here: those with rows, and ghosts.
    pub(crate) fn states(&self) -> usize {
        self.rows() + self.ghosts.len()
    }

    #[inline]
    pub(crate) fn row(&self, vertex: usize) -> Range<usize> {
        self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize
    }

    /// The heads of the arcs that this rank has of a vertex.
    #[inline]
    pub(crate) fn heads(&self, vertex: usize) -> &[u32] {
        &self.heads[self.row(vertex)]
    }

    /// The same with their weights.
    #[inline]
    pub(crate) fn edges(&self, vertex: usize) -> impl Iterator<Item = (usize, W)> {
        self.arcs_at(self.row(vertex))
    }

    /// The heads and weights of these arcs.
    #[inline]
    pub(crate) fn arcs_at(&self, arcs: Range<usize>) -> impl Iterator<Item = (usize, W)> {
        self.heads[arcs.clone()].iter().map(|&head| head as usize).zip(self.weights[arcs].iter().copied())
    }

    /// The arrays of the rows, for whoever reorders each row.
    pub(crate) fn rows_mut(&mut self) -> (&[u64], &mut [u32], &mut [W]) {
        (&self.offsets, &mut self.heads, &mut self.weights)
    }

    /// The number that a vertex of the graph has here, if it has a row here.
    pub(crate) fn number_of(&self, vertex: u64) -> Option<usize> {
        let place = self.deal.place_of(vertex);
        if let Some(hub) = self.hubs.find(place) {
            return Some(self.owned_count() + hub as usize);
        }
        self.places().contains(&place).then(|| (place - self.places().start) as usize)
    }

    /// The numbers of those of some vertices that have rows here.
    pub(crate) fn rows_of(&self, vertices: &[u64]) -> Vec<u32> {
        vertices.iter().filter_map(|&vertex| self.number_of(vertex)).map(|number| number as u32).collect()
    }

    /// The vertex of the graph that has a row under this number.
    #[inline]
    pub(crate) fn vertex_of(&self, number: usize) -> u64 {
        match number.checked_sub(self.owned_count()) {
            Some(hub) => self.deal.vertex_at(self.hubs.ids()[hub]),
            None => self.deal.vertex_of(self.rank, number as u64),
        }
    }

    /// Whether this rank answers for a vertex with a row here: exactly one rank does for each vertex of the graph.
    #[inline]
    pub(crate) fn answers_for(&self, number: usize) -> bool {
        match number.checked_sub(self.owned_count()) {
            Some(hub) => self.own_hubs.contains(&hub),
            None => !self.is_hidden(number),
        }
    }

    /// Whether an owned vertex is a hub, so that its state is that of the hub.
    #[inline]
    pub(crate) fn is_hidden(&self, number: usize) -> bool {
        !self.own_hubs.is_empty() && self.hubs.find(self.places().start + number as u64).is_some()
    }

    /// Copies the state of hubs to where owned vertices have theirs, so that all owned ones are complete.
    pub(crate) fn uncover<T: Copy>(&self, states: &mut [T]) {
        let owned = self.owned_count();
        for hub in self.own_hubs.clone() {
            let own = (self.hubs.ids()[hub] - self.places().start) as usize;
            states[own] = states[owned + hub];
        }
    }

    /// The ghosts that a rank owns, as numbers of states.
    pub(crate) fn ghosts_of(&self, rank: usize) -> Range<usize> {
        self.rows() + self.ghost_starts[rank]..self.rows() + self.ghost_starts[rank + 1]
    }

    /// The owned vertices that a rank has as ghosts, in the order of its ghosts.
    pub(crate) fn subscribed_by(&self, rank: usize) -> &[u32] {
        self.subscribers.of(rank)
    }

    /// The vertex of the graph that has this state.
    pub(crate) fn vertex_with(&self, state: usize) -> u64 {
        match state.checked_sub(self.rows()) {
            Some(ghost) => self.deal.vertex_at(self.ghosts.ids()[ghost]),
            None => self.vertex_of(state),
        }
    }

    /// The rank that owns a ghost, given as the number of a state, and its number there.
    #[inline]
    pub(crate) fn owner_of(&self, ghost: usize) -> (usize, u32) {
        let ghost = ghost - self.rows();
        let owner = self.deal.places().owner(self.ghosts.ids()[ghost]);
        (owner, self.number_at(owner, ghost))
    }

    /// The number that a ghost, counted from the first one, has at the rank that owns it.
    #[inline]
    pub(crate) fn number_at(&self, rank: usize, ghost: usize) -> u32 {
        (self.ghosts.ids()[ghost] - self.deal.places().starts()[rank]) as u32
    }

    /// The part as a device takes it. O(ghosts) memory.
    pub(crate) fn part_rows(&self) -> Result<PartRows<'_>> {
        let ranks = self.ranks();
        let numbers_of = |rank: usize| {
            let ghosts = self.ghost_starts[rank]..self.ghost_starts[rank + 1];
            let mut numbers = with_capacity("numbers of vertices of other ranks", ghosts.len())?;
            numbers.extend(ghosts.map(|ghost| self.number_at(rank, ghost)));
            Ok(numbers)
        };
        Ok(PartRows {
            owned: self.owned_count(),
            own_hubs: self.own_hubs.clone(),
            offsets: &self.offsets,
            heads: &self.heads,
            ghosts: (0..ranks).map(numbers_of).collect::<Result<_>>()?,
            // Nobody looks against the direction of arcs.
            subscribers: (0..ranks).map(|rank| if self.directed { &[] } else { self.subscribed_by(rank) }).collect(),
        })
    }

    /// The same part without weights.
    pub(crate) fn without_weights(self) -> PartOfGraph<Unit> {
        PartOfGraph {
            weights: vec![Unit; self.weights.len()],
            home: self.home,
            deal: self.deal,
            rank: self.rank,
            directed: self.directed,
            arcs: self.arcs,
            weight_range: (0.0, 0.0),
            hubs: self.hubs,
            own_hubs: self.own_hubs,
            ghosts: self.ghosts,
            ghost_starts: self.ghost_starts,
            subscribers: self.subscribers,
            offsets: self.offsets,
            heads: self.heads,
        }
    }

    /// How many arcs leave each of the vertices whose results this rank gets.
    pub(crate) fn degrees(&self, world: &World) -> Outcome<Vec<u64>> {
        let mut degrees = world.agree(filled("degrees", self.rows(), 0_u64))?;
        degrees.iter_mut().enumerate().for_each(|(row, degree)| *degree = self.heads(row).len() as u64);
        self.reduce_hubs(world, Reduction::Sum, &mut degrees);
        self.bring_home(world, "degrees", degrees)
    }

    /// The weights of the arcs.
    pub(crate) fn weights(&self) -> &[W] {
        &self.weights
    }

    /// The states of vertices with rows, and behind them those of ghosts, which their owners tell.
    pub(crate) fn with_ghosts<T: Pod>(&self, world: &World, what: &str, states: &[T]) -> Outcome<Vec<T>> {
        let mut all = world.agree(filled(what, self.states(), T::zeroed()))?;
        all[..self.rows()].copy_from_slice(states);
        let fetched = self.fetch_ghosts(world, &mut all);
        world.agree(fetched)?;
        Ok(all)
    }

    /// Gives every ghost the state that its owner has.
    fn fetch_ghosts<T: Pod>(&self, world: &World, states: &mut [T]) -> Result<()> {
        let told = |rank: usize| {
            let wanted = self.subscribed_by(rank);
            let mut words = with_capacity("states for other ranks", wanted.len() * words_of::<T>())?;
            wanted.iter().for_each(|&vertex| push(&mut words, states[vertex as usize]));
            Ok(words)
        };
        let outgoing = (0..world.ranks()).map(told).collect();
        let incoming = world.exchange(outgoing)?;
        for rank in 0..world.ranks() {
            let states = &mut states[self.ghosts_of(rank)];
            for (state, words) in states.iter_mut().zip(incoming.of(rank).chunks_exact(words_of::<T>())) {
                *state = pull(words);
            }
        }
        Ok(())
    }

    /// Sends the states of owned vertices to the ranks that get them as results; returns those of the vertices whose results this rank gets.
    /// O(vertices of this rank) words.
    pub(crate) fn bring_home<T: Pod>(&self, world: &World, what: &str, mut states: Vec<T>) -> Outcome<Vec<T>> {
        self.uncover(&mut states);
        states.truncate(self.owned_count());
        if self.block().is_none() {
            return Ok(states);
        }
        let home = world.agree(filled(what, (self.at_home().end - self.at_home().start) as usize, T::zeroed()));
        let sent = || {
            let mut counts = vec![0; self.ranks()];
            (0..states.len()).for_each(|number| counts[self.home.owner(self.vertex_of(number))] += words_of::<T>());
            let mut outgoing =
                counts.into_iter().map(|words| with_capacity(what, words)).collect::<Result<Vec<Vec<u32>>>>()?;
            for (number, &state) in states.iter().enumerate() {
                push(&mut outgoing[self.home.owner(self.vertex_of(number))], state);
            }
            Ok(outgoing)
        };
        let incoming = world.exchange(sent());
        let (mut home, incoming) = (home?, world.agree(incoming)?);
        // Each rank has sent its vertices in ascending order.
        let mut rest: Vec<_> = (0..self.ranks()).map(|rank| incoming.of(rank).chunks_exact(words_of::<T>())).collect();
        for (state, vertex) in home.iter_mut().zip(self.at_home()) {
            let words = rest[self.deal.rank_and_number(vertex).0].next();
            *state = words.map_or(T::zeroed(), pull);
        }
        Ok(home)
    }

    /// Gives every hub the state that the ranks' states of it make together.
    pub(crate) fn reduce_hubs<T: Reduced>(&self, world: &World, reduction: Reduction, states: &mut [T]) {
        if self.hubs.len() > 0 {
            world.reduce_all(reduction, &mut states[self.owned_count()..self.rows()]);
        }
    }
}
