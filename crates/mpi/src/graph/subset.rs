//! Which of its vertices a rank has in a set, told to those that have them as ghosts: a bit for each ghost, in the order of the ghosts, or the places of those
//! that are in it, whichever is shorter.

use warpath::Result;
use warpath::graph::Weight;
use warpath::parts::PartMail;

use super::PartOfGraph;
use crate::allocation::filled;

/// The kinds of messages.
const AS_BITS: u32 = 0;
const AS_PLACES: u32 = 1;

/// Fills `bits` with a bit for each owned vertex that a rank has as a ghost, in words of 32, for each rank.
pub(crate) fn of_subscribed<W: Weight>(
    graph: &PartOfGraph<W>,
    bits: &mut PartMail,
    is_in: impl Fn(u32) -> bool,
) -> Result<()> {
    bits.clear();
    (0..graph.ranks()).try_for_each(|rank| {
        let bit = |(place, &vertex): (usize, &u32)| u32::from(is_in(vertex)) << place;
        let word = |some: &[u32]| some.iter().enumerate().map(bit).sum::<u32>();
        bits.add(graph.subscribed_by(rank).chunks(32).map(word))
    })
}

/// Makes a message of the bits for each rank.
pub(crate) fn as_messages(bits: &PartMail, mail: &mut PartMail) -> Result<()> {
    mail.clear();
    (0..bits.parts()).try_for_each(|rank| add_message(mail, bits.of(rank)))
}

/// Which ghosts are in the set by the messages of all ranks: a bit for each, in words of 32.
pub(crate) fn of_ghosts<W: Weight>(graph: &PartOfGraph<W>, incoming: &PartMail) -> Result<Vec<u32>> {
    let mut ghosts = filled("which vertices of other ranks are in a set", graph.ghosts().div_ceil(32), 0_u32)?;
    for rank in 0..graph.ranks() {
        let first = graph.ghosts_of(rank).start - graph.rows();
        match incoming.of(rank) {
            [] => {}
            [AS_PLACES, places @ ..] => places.iter().for_each(|&place| {
                let ghost = first + place as usize;
                ghosts[ghost / 32] |= 1 << (ghost % 32);
            }),
            [_, words @ ..] => join(&mut ghosts, first, words),
        }
    }
    Ok(ghosts)
}

/// Adds bits as a message to the next rank: nothing if none is set; the places of those that are, if that is shorter.
fn add_message(mail: &mut PartMail, bits: &[u32]) -> Result<()> {
    let places: usize = bits.iter().map(|word| word.count_ones() as usize).sum();
    if places == 0 {
        mail.add([])
    } else if places < bits.len() {
        let places = (0..).zip(bits).flat_map(|(index, &word)| {
            let rest = std::iter::successors((word != 0).then_some(word), |rest| {
                Some(rest & (rest - 1)).filter(|&rest| rest != 0)
            });
            rest.map(move |rest| index * 32 + rest.trailing_zeros())
        });
        mail.add(std::iter::once(AS_PLACES).chain(places))
    } else {
        mail.add(std::iter::once(AS_BITS).chain(bits.iter().copied()))
    }
}

/// Adds bits to a set from a place on. Those beyond the end of the set are 0.
fn join(set: &mut [u32], first: usize, words: &[u32]) {
    let shift = first % 32;
    for (index, &word) in (first / 32..).zip(words) {
        let wide = u64::from(word) << shift;
        for (index, half) in [(index, wide as u32), (index + 1, (wide >> 32) as u32)] {
            if half != 0 {
                set[index] |= half;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_the_shorter_of_bits_and_places() {
        let mut mail = PartMail::default();
        for bits in [&[0, 0][..], &[0, 1 << 3, 0], &[5, 0], &[5, 0, 0, 1 << 31]] {
            add_message(&mut mail, bits).unwrap();
        }
        let messages: Vec<&[u32]> = (0..mail.parts()).map(|rank| mail.of(rank)).collect();
        assert_eq!(messages, [&[][..], &[AS_PLACES, 35], &[AS_BITS, 5, 0], &[AS_PLACES, 0, 2, 127]]);
    }

    #[test]
    fn bits_are_joined_at_any_place() {
        for first in [0, 1, 31, 32, 40] {
            let mut set = [0_u32; 4];
            join(&mut set, first, &[0x8000_0001, 1]);
            let is_set = |place: usize| set[place / 32] >> (place % 32) & 1 == 1;
            let expected = [first, first + 31, first + 32];
            assert!((0..128).all(|place| is_set(place) == expected.contains(&place)), "{first}");
        }
    }
}
