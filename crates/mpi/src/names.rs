//! The names of vertices: each rank knows those of the vertices that it owns.

use warpath::graph::{Labels, VertexId};
use warpath::{Error, Result};

use crate::allocation::with_capacity;
use crate::graph::Partition;
use crate::source::Source;
use crate::words::{pull, pull_text, push, push_text};
use crate::world::{Outcome, Reduction, World};

/// Names of all vertices, a part on each rank.
#[derive(Debug)]
pub struct Names {
    partition: Partition,
    /// Those of the vertices that this rank owns.
    own: Labels,
    /// The first vertex that this rank owns.
    first: u64,
}

impl Names {
    /// Reads the names of the vertices that each rank owns.
    ///
    /// # Errors
    ///
    /// [`Error::Input`], [`Error::Io`] and [`Error::OutOfMemory`], on all ranks if on any.
    pub fn load(world: &World, source: &Source<'_>) -> Outcome<Self> {
        let partition = source.partition(world)?;
        let owned = partition.range(world.rank());
        let own = world.agree(source.names(owned.clone()))?;
        Ok(Names { partition, own, first: owned.start })
    }

    /// The names of the vertices that this rank owns.
    pub fn own(&self) -> &Labels {
        &self.own
    }

    /// The vertex of a name, wherever it is.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownVertex`] if no rank has it.
    pub fn find(&self, world: &World, name: &str) -> Outcome<u64> {
        let here = self.own.find(name).map(|vertex| self.first + u64::from(vertex));
        let found = world.reduce(Reduction::Least, here.unwrap_or(u64::MAX));
        let numbers = self.own.numbers();
        let least = world.reduce(Reduction::Least, numbers.map_or(u64::MAX, |(least, _)| least));
        let greatest = world.reduce(Reduction::Greatest, numbers.map_or(0, |(_, greatest)| greatest));
        world.agree(if found < u64::MAX {
            Ok(found)
        } else {
            let numbers = (least <= greatest).then_some((least, greatest));
            Err(Error::UnknownVertex { name: name.to_owned(), nearest: Vec::new(), numbers })
        })
    }

    /// The names of some vertices that any ranks own, as they ask for them; all ranks ask at once.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn of(&self, world: &World, vertices: &[u64]) -> Outcome<Vec<String>> {
        let mut questions: Vec<Vec<u32>> = vec![Vec::new(); world.ranks()];
        for &vertex in vertices {
            let owner = self.partition.owner(vertex);
            push(&mut questions[owner], vertex);
        }
        let asked = world.agree(world.exchange(Ok(questions)))?;
        let answer = |rank: usize| {
            let mut words = Vec::new();
            for question in asked.of(rank).chunks_exact(2) {
                push_text(&mut words, &self.own.name((pull::<u64>(question) - self.first) as VertexId));
            }
            words
        };
        let answers: Vec<Vec<u32>> = (0..world.ranks()).map(answer).collect();
        let answered = world.agree(world.exchange(Ok(answers)))?;
        let mut rest: Vec<&[u32]> = (0..world.ranks()).map(|rank| answered.of(rank)).collect();
        let mut next = |vertex: u64| -> Result<String> {
            pull_text(&mut rest[self.partition.owner(vertex)])
                .ok_or_else(|| Error::invalid("the name of a vertex came damaged from another rank"))
        };
        let named = (|| {
            let mut names = with_capacity("names of vertices", vertices.len())?;
            for &vertex in vertices {
                names.push(next(vertex)?);
            }
            Ok(names)
        })();
        world.agree(named)
    }
}
