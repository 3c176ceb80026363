//! The path to a vertex, along predecessors that its ranks have.

use crate::search::Found;
use crate::words::{pull, push, words_of};
use crate::world::{Outcome, World};

impl Found {
    /// The vertices of the path to a vertex, from a source on; `None` if no source leads there. Predecessors have to be there. All ranks ask
    /// for the same, and meet twice for each time that the path goes from one rank to another.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](warpath::Error::OutOfMemory).
    pub fn path_to(&self, world: &World, target: u64) -> Outcome<Option<Vec<u64>>> {
        let mut backwards: Vec<u64> = Vec::new();
        let mut next = Some(target);
        while let Some(vertex) = next {
            let mut words = Vec::new();
            if self.owned.contains(&vertex) {
                self.follow(vertex).for_each(|vertex| push(&mut words, vertex));
            }
            let told = world.agree(world.gather(&words))?;
            let mut vertices = told.words().chunks_exact(words_of::<u64>()).map(pull::<u64>);
            let Some(leads_on) = vertices.next() else { return Ok(None) };
            backwards.extend(vertices);
            next = Some(leads_on).filter(|&vertex| vertex != END);
        }
        backwards.reverse();
        Ok(Some(backwards))
    }

    /// Where the path goes on at another rank, or [`END`], and the vertices up to there; nothing if the vertex is not reached.
    fn follow(&self, vertex: u64) -> impl Iterator<Item = u64> {
        let place = |vertex: u64| (vertex - self.owned.start) as usize;
        let before = |vertex: u64| self.predecessors.as_ref().and_then(|all| all[place(vertex)]);
        let mut vertices = Vec::new();
        let mut at = Some(vertex).filter(|&vertex| self.distances.get(place(vertex)).is_some());
        while let Some(vertex) = at {
            if !self.owned.contains(&vertex) {
                break;
            }
            vertices.push(vertex);
            at = before(vertex);
        }
        let leads_on = (!vertices.is_empty()).then(|| at.unwrap_or(END));
        leads_on.into_iter().chain(vertices)
    }
}

/// No vertex: the path has come to a source.
const END: u64 = u64::MAX;
