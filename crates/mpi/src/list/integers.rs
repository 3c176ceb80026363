//! Integers as names: vertices are numbered in their order. Each rank sorts the names that it has read. A sample of the different names of
//! each rank cuts them into ranges, one for each rank, which gets the names of its range and counts them. If the names have gaps, it
//! numbers them, and owns the vertices that they name.
//!
//! Work O(E log E) for all ranks; a rank sends 8 bytes for each different name that it has read, and gets 8 back if there are gaps.

use warpath::Result;
use warpath::formats::{EdgesByName, EdgesInAll, Numbering, StoredEdges};
use warpath::graph::Labels;
use warpath::parts::PartMail;

use super::Shared;
use crate::allocation::with_capacity;
use crate::listed_edges::VertexNames;
use crate::words::{pull, push, words_of};
use crate::world::{Outcome, Reduction, World};

/// Numbers the vertices, and the edges of this rank's share.
pub(super) fn number(world: &World, list: &StoredEdges, share: EdgesByName) -> Outcome<Shared> {
    // Names twice, in messages and as they came, in order, their numbers, and the edges once more.
    const BYTES_OF_EDGE: u64 = 16 * 6;
    world.agree(list.check_room(share.count().saturating_mul(BYTES_OF_EDGE)))?;
    let all = in_all(world, list, &share);
    let weights_found = world.reduce(Reduction::Or, share.weights_found());
    // The first rank has the names that comments declare.
    let isolated = if world.rank() == 0 { list.isolated() } else { &[] };
    let names = world.agree(sorted_names(&share, isolated))?;
    let Spread { sent, mine, came } = spread(world, &names)?;
    let numbering = world.agree(list.consecutive(&all, world.total(mine.len() as u64)))?;
    let (numbering, vertices, named) = match numbering {
        Some(numbering) => {
            let Numbering::Consecutive { first, count } = numbering else { unreachable!("names without gaps") };
            (numbering, count, VertexNames::From(first))
        }
        None => {
            let first = world.agree(world.sum_before(mine.len() as u64))?;
            let numbers = numbers_of(world, &mine, first, &sent, &came)?;
            let mut words = Vec::new();
            push(&mut words, first);
            let starts = world.agree(world.gather(&words))?;
            let mut starts: Vec<u64> = starts.words().chunks_exact(words_of::<u64>()).map(pull::<u64>).collect();
            let vertices = world.total(mine.len() as u64);
            starts.push(vertices);
            let names_of_mine = VertexNames::Owned { starts, names: Labels::Integers(mine) };
            (Numbering::Table { names, numbers }, vertices, names_of_mine)
        }
    };
    let (edges, weights) = world.agree(list.numbered(share, weights_found, &numbering))?;
    Ok(Shared { vertices, count: all.edges, edges, weights, names: named })
}

/// Facts about the edges of all ranks.
fn in_all(world: &World, list: &StoredEdges, share: &EdgesByName) -> EdgesInAll {
    let least = |names: &mut dyn Iterator<Item = u64>| world.reduce(Reduction::Least, names.min().unwrap_or(u64::MAX));
    let greatest = |names: &mut dyn Iterator<Item = u64>| world.reduce(Reduction::Greatest, names.max().unwrap_or(0));
    let isolated = || list.isolated().iter().copied();
    EdgesInAll {
        edges: world.total(share.count()),
        least_of_edges: least(&mut share.names()),
        least: least(&mut share.names().chain(isolated())),
        greatest: greatest(&mut share.names().chain(isolated())),
        least_later: least(&mut share.later_names()),
        greatest_later: greatest(&mut share.later_names()),
    }
}

/// The different names, ascending.
fn sorted_names(share: &EdgesByName, isolated: &[u64]) -> Result<Vec<u64>> {
    let mut names = with_capacity("the names of vertices", 2 * share.count() as usize + isolated.len())?;
    names.extend(share.names());
    names.extend_from_slice(isolated);
    names.sort_unstable();
    names.dedup();
    names.shrink_to_fit();
    Ok(names)
}

/// Names that went to the rank of their range.
struct Spread {
    /// How many this rank sent to each.
    sent: Vec<usize>,
    /// The different names of this rank's range, ascending.
    mine: Vec<u64>,
    /// The names that came, in the order of the ranks.
    came: PartMail,
}

fn spread(world: &World, names: &[u64]) -> Outcome<Spread> {
    /// For each rank; more make shares more equal.
    const SAMPLES: usize = 64;
    let mut words = Vec::new();
    let samples = SAMPLES.min(names.len());
    (0..samples).for_each(|k| push(&mut words, names[k * names.len() / samples]));
    let sampled = world.agree(world.gather(&words))?;
    let mut sampled: Vec<u64> = sampled.words().chunks_exact(words_of::<u64>()).map(pull::<u64>).collect();
    sampled.sort_unstable();
    let begin = |rank: usize| match rank {
        0 => 0,
        // Those that are not below the sample; all, if there is none.
        _ => {
            sampled.get(rank * sampled.len() / world.ranks()).map_or(0, |&least| names.partition_point(|&n| n < least))
        }
    };
    let begins: Vec<usize> = (0..world.ranks()).map(begin).chain([names.len()]).collect();
    let told = |rank: usize| {
        let some = &names[begins[rank]..begins[rank + 1]];
        let mut words = with_capacity("names for other ranks", some.len() * words_of::<u64>())?;
        some.iter().for_each(|&name| push(&mut words, name));
        Ok(words)
    };
    let came = world.agree(world.exchange((0..world.ranks()).map(told).collect()))?;
    let collected = || {
        let mut mine = with_capacity("the names of a rank", came.words().len() / words_of::<u64>())?;
        mine.extend(came.words().chunks_exact(words_of::<u64>()).map(pull::<u64>));
        mine.sort_unstable();
        mine.dedup();
        mine.shrink_to_fit();
        Ok(mine)
    };
    let mine = world.agree(collected())?;
    Ok(Spread { sent: begins.windows(2).map(|ends| ends[1] - ends[0]).collect(), mine, came })
}

/// The numbers of the names that this rank has sent, in their order.
fn numbers_of(world: &World, mine: &[u64], first: u64, sent: &[usize], came: &PartMail) -> Outcome<Vec<u64>> {
    let answer = |rank: usize| {
        let asked = came.of(rank);
        let mut words = with_capacity("numbers for other ranks", asked.len())?;
        for name in asked.chunks_exact(words_of::<u64>()).map(pull::<u64>) {
            push(&mut words, first + mine.partition_point(|&other| other < name) as u64);
        }
        Ok(words)
    };
    let answered = world.agree(world.exchange((0..world.ranks()).map(answer).collect()))?;
    let numbers = || {
        let mut numbers = with_capacity("the numbers of vertices", sent.iter().sum())?;
        numbers.extend(answered.words().chunks_exact(words_of::<u64>()).map(pull::<u64>));
        Ok(numbers)
    };
    world.agree(numbers())
}
