//! Ghosts that their owners have to be told of, each once, and in their order: then who tells and who is told go through memory from one end to the other.

use warpath::Result;
use warpath::graph::Weight;
use warpath::parts::PartMail;

use super::PartOfGraph;
use crate::allocation::with_capacity;
use crate::bits::Bits;

/// Ghosts, counted from the first one.
#[derive(Debug)]
pub(crate) struct GhostsToTell {
    list: Vec<u32>,
    among_them: Bits,
    ghosts: usize,
}

impl GhostsToTell {
    /// None of so many.
    pub(crate) fn new(ghosts: usize) -> Result<Self> {
        const WHAT: &str = "vertices of other ranks to be told of";
        Ok(GhostsToTell { list: with_capacity(WHAT, ghosts)?, among_them: Bits::new(WHAT, ghosts)?, ghosts })
    }

    /// Adds a ghost, unless it is there.
    #[inline]
    pub(crate) fn insert(&mut self, ghost: usize) {
        if self.among_them.insert(ghost) {
            self.list.push(ghost as u32);
        }
    }

    /// Fills `mail` with a message for each, of so many words: its number at its owner, and what `write` makes of the others. None is left then.
    pub(crate) fn tell<W: Weight>(
        &mut self,
        graph: &PartOfGraph<W>,
        words: usize,
        mail: &mut PartMail,
        write: impl Fn(usize, &mut [u32]),
    ) -> Result<()> {
        /// So many bits are looked through in the time that it takes to sort one ghost.
        const BITS_FOR_ONE: usize = 32;
        if self.list.len() < self.ghosts / BITS_FOR_ONE {
            self.list.sort_unstable();
            self.list.iter().for_each(|&ghost| self.among_them.remove(ghost as usize));
        } else {
            self.list.clear();
            self.list.extend(self.among_them.iter().map(|ghost| ghost as u32));
            self.among_them.clear();
        }
        let end_of = |rank: usize| {
            let end = graph.ghosts_of(rank).end - graph.rows();
            self.list.partition_point(|&ghost| (ghost as usize) < end)
        };
        let ends: Vec<usize> = (0..graph.ranks()).map(end_of).collect();
        let begins = || std::iter::once(0).chain(ends.iter().copied());
        let mut room = mail.make_room(begins().zip(&ends).map(|(begin, end)| (end - begin) * words))?;
        for (rank, (begin, &end)) in begins().zip(&ends).enumerate() {
            let (of_rank, others) = std::mem::take(&mut room).split_at_mut((end - begin) * words);
            for (&ghost, message) in self.list[begin..end].iter().zip(of_rank.chunks_exact_mut(words)) {
                message[0] = graph.number_at(rank, ghost as usize);
                write(ghost as usize, &mut message[1..]);
            }
            room = others;
        }
        self.list.clear();
        Ok(())
    }
}
