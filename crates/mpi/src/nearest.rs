//! The nearest source of every vertex, where a search has several: the root of its tree of predecessors.
//!
//! Each vertex has a pointer, first to its predecessor. A rank follows pointers among the vertices that it owns, and asks the owner of
//! another vertex for that one's pointer. So a pointer leads at least twice as far after each round, and rounds are as many as
//! the logarithm of how often the longest path goes from one rank to another.
//!
//! Work O(V log rounds) for all ranks; a rank sends 4 bytes for each different vertex that its pointers end at, in each round, and 8 for each question.
//!
//! Source: pointer jumping, J. C. Wyllie, The complexity of parallel computations, thesis, Cornell University 1979.

use warpath::Result;

use crate::allocation::{filled, with_capacity};
use crate::graph::Partition;
use crate::search::Found;
use crate::words::{pull, push, words_of};
use crate::world::{Outcome, World};

/// No vertex: not reached.
const NOWHERE: u64 = u64::MAX;

impl Found {
    /// The nearest source of each vertex that this rank owns, that of the tree of predecessors; `None` where no source leads, and everywhere if the
    /// search found no predecessors. All ranks call it together.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](warpath::Error::OutOfMemory).
    pub fn nearest_sources(&self, world: &World) -> Outcome<Vec<Option<u64>>> {
        let partition = self.partition(world)?;
        let mut pointers = world.agree(self.first_pointers())?;
        loop {
            // What has come to a source points to itself.
            follow(&mut pointers, self.owned.start);
            let leaves = |&&pointer: &&u64| pointer != NOWHERE && !self.owned.contains(&pointer);
            let mut wanted: Vec<u64> = world.agree(with_capacity("vertices of other ranks", pointers.len()))?;
            wanted.extend(pointers.iter().filter(leaves));
            wanted.sort_unstable();
            wanted.dedup();
            let pointed = self.pointers_of(world, &partition, &pointers, &wanted)?;
            let mut moved = false;
            for pointer in pointers.iter_mut().filter(|pointer| leaves(&&**pointer)) {
                // Every pointer that leaves is among those asked for.
                let next = pointed[wanted.partition_point(|&vertex| vertex < *pointer)];
                moved |= next != *pointer;
                *pointer = next;
            }
            if !world.any(moved) {
                break;
            }
        }
        Ok(pointers.into_iter().map(|pointer| Some(pointer).filter(|&pointer| pointer != NOWHERE)).collect())
    }

    fn partition(&self, world: &World) -> Outcome<Partition> {
        let mut words = Vec::new();
        push(&mut words, self.owned.start);
        let starts = world.agree(world.gather(&words))?;
        let starts = starts.words().chunks_exact(words_of::<u64>()).map(pull::<u64>);
        Ok(Partition::at(starts.chain([world.total(self.owned.end - self.owned.start)]).collect()))
    }

    /// To predecessors, and from sources to themselves.
    fn first_pointers(&self) -> Result<Vec<u64>> {
        let mut pointers = filled("pointers to sources", (self.owned.end - self.owned.start) as usize, NOWHERE)?;
        let Some(predecessors) = &self.predecessors else { return Ok(pointers) };
        for (place, pointer) in pointers.iter_mut().enumerate() {
            if self.distances.get(place).is_some() {
                *pointer = predecessors[place].unwrap_or(self.owned.start + place as u64);
            }
        }
        Ok(pointers)
    }

    /// The pointers of these vertices of other ranks, which ascend.
    fn pointers_of(&self, world: &World, partition: &Partition, pointers: &[u64], wanted: &[u64]) -> Outcome<Vec<u64>> {
        let mut questions: Vec<Vec<u32>> = vec![Vec::new(); world.ranks()];
        for &vertex in wanted {
            let owner = partition.owner(vertex);
            questions[owner].push((vertex - partition.starts()[owner]) as u32);
        }
        let asked = world.agree(world.exchange(Ok(questions)))?;
        let answer = |rank: usize| {
            let asked = asked.of(rank);
            let mut words = with_capacity("pointers to sources", asked.len() * words_of::<u64>())?;
            asked.iter().for_each(|&place| push(&mut words, pointers[place as usize]));
            Ok(words)
        };
        let answered = world.agree(world.exchange((0..world.ranks()).map(answer).collect()))?;
        // Owners ascend with the vertices.
        Ok(answered.words().chunks_exact(words_of::<u64>()).map(pull::<u64>).collect())
    }
}

/// Follows pointers as long as they lead to vertices of this rank, of which `first` is the first one.
fn follow(pointers: &mut [u64], first: u64) {
    let mut path = Vec::new();
    for vertex in 0..pointers.len() {
        let mut at = vertex;
        let end = loop {
            let pointer = pointers[at];
            match pointer.checked_sub(first).filter(|&place| place < pointers.len() as u64) {
                Some(place) if place as usize != at => {
                    path.push(at);
                    at = place as usize;
                }
                _ => break pointer,
            }
        };
        path.drain(..).for_each(|place| pointers[place] = end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_followed_to_where_they_leave() {
        // Of vertices 10 to 15: 10 is a source, 11 and 12 lead there, 13 to another rank, 14 by 13, and 15 is not reached.
        let mut pointers = [10, 10, 11, 99, 13, NOWHERE];
        follow(&mut pointers, 10);
        assert_eq!(pointers, [10, 10, 10, 99, 99, NOWHERE]);
    }
}
