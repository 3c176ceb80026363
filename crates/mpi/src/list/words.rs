//! Words as names: vertices are numbered in the order in which their names appear, in the lines of rank 0 first.
//!
//! Each rank sends each of its different words to the rank that a hash of the word chooses. That one tells the lowest rank which has the
//! word that it is the first. Each rank numbers the words that it is the first to have, in the order of its lines, behind those of the ranks
//! before it, and the rank of the hash tells the others the numbers. Then every word goes to the rank that owns its vertex: of equally many vertices for
//! each.
//!
//! Work O(E + bytes of words) for all ranks; a rank sends the bytes of its words twice at most, and 12 bytes more for each.

use std::hash::{DefaultHasher, Hash, Hasher};

use warpath::formats::{EdgesByWord, StoredEdges};
use warpath::graph::{Labels, StringLabels, VertexId};
use warpath::parts::PartMail;
use warpath::{Error, Result};

use super::Shared;
use crate::allocation::{filled, with_capacity};
use crate::graph::Partition;
use crate::listed_edges::VertexNames;
use crate::words::{pull, pull_text, push, push_text, words_of};
use crate::world::{Outcome, Reduction, World};

/// Numbers the vertices, and the edges of this rank's share.
pub(super) fn number(world: &World, list: &StoredEdges, share: EdgesByWord) -> Outcome<Shared> {
    // Words in messages, as they came, and as names; the edges once more.
    let bytes = share.words().owned_bytes().saturating_mul(4).saturating_add(share.count().saturating_mul(16));
    world.agree(list.check_room(bytes))?;
    let count = world.total(share.count());
    let weights_found = world.reduce(Reduction::Or, share.weights_found());
    let numbers = numbers_of(world, share.words())?;
    let vertices = numbers.vertices;
    world.agree(list.check_words(count, vertices))?;
    let home = Partition::equal(vertices, world.ranks());
    let names = names_of_owned(world, share.words(), &numbers, &home)?;
    let (edges, weights) = world.agree(list.numbered_words(share, weights_found, &numbers.of))?;
    let names = VertexNames::Owned { starts: home.starts().to_vec(), names: Labels::Strings(names) };
    Ok(Shared { vertices, count, edges, weights, names })
}

struct Numbers {
    /// Of each word of this rank.
    of: Vec<u64>,
    /// The words that no lower rank has.
    first_here: Vec<VertexId>,
    /// How many words all ranks have.
    vertices: u64,
}

fn numbers_of(world: &World, words: &StringLabels) -> Outcome<Numbers> {
    let all = 0..words.len() as VertexId;
    let mut places: Vec<Vec<VertexId>> = vec![Vec::new(); world.ranks()];
    all.clone().for_each(|place| places[rank_of(words.get(place), world.ranks())].push(place));
    let texts = |places: &Vec<VertexId>| message_of(words, places.iter().copied());
    let came = world.agree(world.exchange(places.iter().map(texts).collect()))?;
    let mut chosen = world.agree(Chosen::of(&came, world.ranks()))?;
    drop(came);
    let told = world.agree(world.exchange(Ok(chosen.flags())))?;
    let mut is_first = world.agree(filled("marks of words", words.len(), false))?;
    for (rank, places) in places.iter().enumerate() {
        places.iter().zip(told.of(rank)).for_each(|(&place, &flag)| is_first[place as usize] = flag == FIRST);
    }
    let mut first_here = world.agree(with_capacity("the first words", words.len()))?;
    first_here.extend(all.filter(|&place| is_first[place as usize]));
    let before = world.agree(world.sum_before(first_here.len() as u64))?;
    let vertices = world.total(first_here.len() as u64);
    let mut of = world.agree(filled("the numbers of words", words.len(), 0_u64))?;
    (before..).zip(&first_here).for_each(|(number, &place)| of[place as usize] = number);
    let of_first = |places: &Vec<VertexId>| {
        let mut message = Vec::new();
        let firsts = places.iter().filter(|&&place| is_first[place as usize]);
        firsts.for_each(|&place| push(&mut message, of[place as usize]));
        message
    };
    let numbered = world.agree(world.exchange(Ok(places.iter().map(of_first).collect())))?;
    let answered = world.agree(world.exchange(Ok(chosen.answers(&numbered))))?;
    for (rank, places) in places.iter().enumerate() {
        let later = places.iter().filter(|&&place| !is_first[place as usize]);
        for (&place, number) in later.zip(answered.of(rank).chunks_exact(words_of::<u64>())) {
            of[place as usize] = pull(number);
        }
    }
    Ok(Numbers { of, first_here, vertices })
}

/// The rank that a word's hash chooses, the same on all ranks.
fn rank_of(word: &str, ranks: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    (hasher.finish() % ranks as u64) as usize
}

/// Some words, one after another.
fn message_of(words: &StringLabels, places: impl Iterator<Item = VertexId> + Clone) -> Result<Vec<u32>> {
    let lengths = places.clone().map(|place| 1 + words.get(place).len().div_ceil(4));
    let mut message = with_capacity("names for other ranks", lengths.sum())?;
    places.for_each(|place| push_text(&mut message, words.get(place)));
    Ok(message)
}

/// The words of a message.
fn words_in(mut message: &[u32], mut take: impl FnMut(&str) -> Result<()>) -> Result<()> {
    while !message.is_empty() {
        let word = pull_text(&mut message);
        take(&word.ok_or_else(|| Error::invalid("the name of a vertex came damaged from another rank"))?)?;
    }
    Ok(())
}

/// What a rank is told of each of its words: whether no lower rank has it.
const FIRST: u32 = 1;
const LATER: u32 = 0;

/// The words whose hashes choose this rank.
struct Chosen {
    /// Of each rank its words, in the order in which they came: numbers here, and whether no lower rank has them.
    of_ranks: Vec<Vec<(VertexId, bool)>>,
    /// The number of the vertex of each word.
    numbers: Vec<u64>,
}

impl Chosen {
    fn of(came: &PartMail, ranks: usize) -> Result<Self> {
        let mut different = StringLabels::new();
        let mut of_rank = |rank: usize| {
            let mut words = Vec::new();
            words_in(came.of(rank), |word| {
                let before = different.len();
                words.push((different.intern(word)?, different.len() > before));
                Ok(())
            })?;
            Ok(words)
        };
        let of_ranks = (0..ranks).map(&mut of_rank).collect::<Result<_>>()?;
        Ok(Chosen { of_ranks, numbers: filled("the numbers of words", different.len(), 0)? })
    }

    /// What each rank is told.
    fn flags(&self) -> Vec<Vec<u32>> {
        let flag = |&(_, is_first): &(VertexId, bool)| if is_first { FIRST } else { LATER };
        self.of_ranks.iter().map(|words| words.iter().map(flag).collect()).collect()
    }

    /// Takes the numbers of the words that each rank is the first to have; returns for each rank those of its others.
    fn answers(&mut self, numbered: &PartMail) -> Vec<Vec<u32>> {
        for (rank, words) in self.of_ranks.iter().enumerate() {
            let firsts = words.iter().filter(|(_, is_first)| *is_first);
            for (&(word, _), number) in firsts.zip(numbered.of(rank).chunks_exact(words_of::<u64>())) {
                self.numbers[word as usize] = pull(number);
            }
        }
        let answer = |words: &Vec<(VertexId, bool)>| {
            let mut message = Vec::new();
            let later = words.iter().filter(|(_, is_first)| !is_first);
            later.for_each(|&(word, _)| push(&mut message, self.numbers[word as usize]));
            message
        };
        self.of_ranks.iter().map(answer).collect()
    }
}

/// The names of the vertices that this rank owns.
fn names_of_owned(world: &World, words: &StringLabels, numbers: &Numbers, home: &Partition) -> Outcome<StringLabels> {
    let number = |&place: &VertexId| numbers.of[place as usize];
    let first = &numbers.first_here;
    let for_rank = |rank: usize| {
        let range = home.range(rank);
        let begin = first.partition_point(|place| number(place) < range.start);
        let end = first.partition_point(|place| number(place) < range.end);
        message_of(words, first[begin..end].iter().copied())
    };
    let came = world.agree(world.exchange((0..world.ranks()).map(for_rank).collect()))?;
    let named = || {
        let mut names = StringLabels::new();
        // Numbers ascend with the ranks that sent them.
        words_in(came.words(), |word| names.intern(word).map(drop))?;
        Ok(names)
    };
    world.agree(named())
}
