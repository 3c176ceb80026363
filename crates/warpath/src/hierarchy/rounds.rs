//! The columns of rows: what a block of a device works on at once.
//!
//! A row has its distances in the order of vertices, or of the targets of a table, not in that of the tree. So a device works them
//! out where they are wanted: a block takes neighbouring columns. All that the distance of a vertex needs is its *label*, the lengths
//! of the shortest ways from its *hubs*, which are the boundary of its subtree. No vertex waits for another one, and hubs are in
//! fronts, whose distances are there. (Labels of hubs are those of Cohen, Halperin, Kaplan and Zwick, *Reachability and distance
//! queries via 2-hop labels*, 2002; here they stop at the hubs next to a vertex.)
//!
//! A block works in *rounds*. In each it brings to shared memory the distances of up to [`HUBS`] hubs, the labels of some of its columns,
//! and the lists that say which belong together. A *share* is up to [`SHARED`] columns of a round whose vertices have the same hubs. The
//! columns of vertices of fronts are copies of hubs.

use rayon::prelude::*;

use super::elimination::Elimination;
use super::pieces::Pieces;
use crate::graph::VertexId;
use crate::memory::{filled, grow, with_capacity};
use crate::{Error, Result};

/// Columns of a block.
pub(crate) const COLUMNS_A_BLOCK: usize = 128;
/// The most hubs of a round. A tile has no more later neighbours.
pub(crate) const HUBS: usize = 63;
/// The most lengths of labels of a round, in fours.
pub(crate) const FOURS: usize = 256;
/// The most parts of a round's lists, of [`PART`] numbers of 16 bits each.
pub(crate) const PARTS: usize = 96;
/// Numbers of 32 bits of a round: its header, and the places of its hubs.
pub(crate) const ROUND: usize = HEADER + HUBS + 1;
/// Columns of a share at most.
pub(crate) const SHARED: usize = 8;

/// Numbers of 32 bits of a header: where the lists begin and their parts, where the labels begin and how many fours they have, the
/// shares, the hubs, and the next round of the block, or 0.
const HEADER: usize = 8;
const NEXT: usize = 6;
/// Numbers of 16 bits of a part of lists.
const PART: usize = 8;
/// Lengths that are read at once.
const FOUR: usize = 4;

/// What is in no tile.
const NO_TILE: u32 = u32::MAX;
/// The hub of a length that fills up a label: it has no distances.
const NO_HUB: u16 = HUBS as u16;

/// What memory of these is short of.
const WHAT: &str = "the columns of rows";

/// Lengths of the label of a vertex with this many hubs, with those that fill it up.
pub(crate) fn label_length(hubs: usize) -> usize {
    hubs.max(1).next_multiple_of(FOUR)
}

/// All rounds. Each column is in one of them.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// How many blocks there are.
    pub(crate) blocks: usize,
    /// [`ROUND`] numbers for each: first the rounds that blocks begin with, then the others.
    pub(crate) rounds: Vec<u32>,
    /// The lists of rounds: four numbers for each share, then the columns and hubs of all, in halves of numbers.
    pub(crate) lists: Vec<[u32; 4]>,
    /// Where the label of each column begins, in fours. It counts for vertices of tiles.
    pub(crate) label_of: Vec<u32>,
    /// How many fours labels have.
    pub(crate) fours: usize,
    /// Where the columns of each vertex of a tile begin, in the order of [`Tiles::ranks`](super::Tiles::ranks), and their number.
    pub(crate) offsets: Vec<u32>,
    /// The columns of each.
    pub(crate) columns: Vec<u32>,
}

impl Rounds {
    /// For rows of all vertices, or of these targets, of which some may be the same. O(V + columns), in parallel, with memory for a number
    /// a vertex of a front for each thread.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], and [`Error::InvalidRequest`] if there are too many of something to be counted in 32 bits.
    pub(crate) fn new(elimination: &Elimination, pieces: &Pieces, targets: Option<&[VertexId]>) -> Result<Self> {
        /// Blocks that a thread makes at once.
        const TOGETHER: usize = 32;
        let tiles = &pieces.tiles;
        // The tile of each rank.
        let mut tile_of = filled(WHAT, elimination.count(), NO_TILE)?;
        for (index, tile) in (0..).zip(&tiles.tiles) {
            let ranks = &tiles.ranks[tile.ranks as usize..][..tile.rank_count as usize];
            ranks.iter().for_each(|&rank| tile_of[rank as usize] = index);
        }
        let columns = targets.map_or(elimination.count(), <[_]>::len);
        let rank_of = |column: usize| elimination.ranks[targets.map_or(column, |targets| targets[column] as usize)];
        let blocks = columns.div_ceil(COLUMNS_A_BLOCK);
        let mut made: Vec<Made> = (0..blocks.div_ceil(TOGETHER))
            .into_par_iter()
            .map_init(
                || None,
                |kept, first| {
                    let maker = match kept {
                        Some(maker) => maker,
                        None => kept.insert(Maker::new(pieces, &tile_of)?),
                    };
                    for block in first * TOGETHER..blocks.min((first + 1) * TOGETHER) {
                        let columns = block * COLUMNS_A_BLOCK..columns.min((block + 1) * COLUMNS_A_BLOCK);
                        maker.add(columns.map(rank_of))?;
                    }
                    Ok(std::mem::take(&mut maker.made))
                },
            )
            .collect::<Result<_>>()?;
        drop(tile_of);
        let mut all = Rounds { blocks, ..Rounds::default() };
        let count: usize = made.iter().map(|made| made.rounds.len()).sum();
        all.rounds = filled(WHAT, count * ROUND, 0)?;
        all.lists = with_capacity(WHAT, made.iter().map(|made| made.lists.len()).sum())?;
        all.label_of = with_capacity(WHAT, columns)?;
        let (mut block, mut later) = (0, blocks);
        for made in &mut made {
            let (lists, fours) = (all.lists.len(), all.fours);
            u32::try_from((later + made.rounds.len()) * ROUND)
                .and(u32::try_from(lists + made.lists.len()))
                .and(u32::try_from(fours + made.fours))
                .map_err(|_| Error::invalid("the rows have too many columns for a device"))?;
            all.lists.append(&mut made.lists);
            all.label_of.extend(made.label_of.iter().map(|from| from + fours as u32));
            all.fours += made.fours;
            let mut rounds = made.rounds.iter();
            for &count in &made.rounds_of_block {
                let mut place = block;
                for left in (0..count).rev() {
                    let round = rounds.next().expect("there are as many rounds as the blocks have");
                    let to = &mut all.rounds[place * ROUND..][..ROUND];
                    to.copy_from_slice(round);
                    to[0] += lists as u32;
                    to[2] += fours as u32;
                    if left > 0 {
                        to[NEXT] = later as u32;
                        place = later;
                        later += 1;
                    }
                }
                block += 1;
            }
        }
        all.list_columns(elimination, pieces, columns, &rank_of)?;
        Ok(all)
    }

    /// Lists the columns of each vertex of a tile.
    fn list_columns(
        &mut self,
        elimination: &Elimination,
        pieces: &Pieces,
        columns: usize,
        rank_of: &dyn Fn(usize) -> u32,
    ) -> Result<()> {
        let ranks = &pieces.tiles.ranks;
        let mut place_of = filled(WHAT, elimination.count(), NO_TILE)?;
        ranks.iter().zip(0..).for_each(|(&rank, place)| place_of[rank as usize] = place);
        self.offsets = filled(WHAT, ranks.len() + 1, 0)?;
        let places = (0..columns).map(|column| (place_of[rank_of(column) as usize], column as u32));
        let of_tiles = places.filter(|&(place, _)| place != NO_TILE);
        of_tiles.clone().for_each(|(place, _)| self.offsets[place as usize] += 1);
        let mut end = 0;
        for offset in &mut self.offsets {
            end += *offset;
            *offset = end;
        }
        self.columns = filled(WHAT, end as usize, 0)?;
        of_tiles.for_each(|(place, column)| {
            self.offsets[place as usize] -= 1;
            self.columns[self.offsets[place as usize] as usize] = column;
        });
        Ok(())
    }
}

/// Columns with the same hubs; places in the lists of a round.
#[derive(Debug)]
struct Share {
    columns: Vec<u16>,
    /// Those of the labels, or of each column, if the columns are copies of hubs.
    hubs: Vec<u16>,
    /// Lengths of a label; 0 if the columns are copies of hubs.
    length: usize,
    labels: usize,
}

impl Share {
    /// About how long a warp works on it.
    fn work(&self) -> usize {
        /// As many lengths as take as long as everything that comes once.
        const ONCE: usize = 6;
        self.columns.len() * (self.length + ONCE)
    }
}

/// What a thread has made, with places that begin where the lists of the threads before end.
#[derive(Debug, Default)]
struct Made {
    rounds: Vec<[u32; ROUND]>,
    rounds_of_block: Vec<usize>,
    lists: Vec<[u32; 4]>,
    label_of: Vec<u32>,
    fours: usize,
}

/// Makes rounds one after another.
struct Maker<'a> {
    pieces: &'a Pieces,
    tile_of: &'a [u32],
    made: Made,
    /// The columns of the block: their tiles, ranks and numbers.
    sorted: Vec<(u32, u32, u16)>,
    /// The hub in this round of each place, or [`NO_HUB`].
    hub_of: Vec<u16>,
    /// The round: the places of its hubs, its shares, and what its lists and labels take.
    hubs: Vec<u32>,
    shares: Vec<Share>,
    halves: usize,
    fours: usize,
}

impl<'a> Maker<'a> {
    fn new(pieces: &'a Pieces, tile_of: &'a [u32]) -> Result<Self> {
        let places = pieces.places.last().copied().unwrap_or(0);
        let hub_of = filled(WHAT, places as usize, NO_HUB)?;
        let (sorted, hubs, shares) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Maker { pieces, tile_of, made: Made::default(), sorted, hub_of, hubs, shares, halves: 0, fours: 0 })
    }

    /// Adds a block with columns of these ranks.
    fn add(&mut self, ranks: impl Iterator<Item = u32>) -> Result<()> {
        self.sorted.clear();
        self.sorted.extend(ranks.zip(0..).map(|(rank, column)| (self.tile_of[rank as usize], rank, column)));
        let label_of = self.made.label_of.len();
        grow(WHAT, &mut self.made.label_of, self.sorted.len())?;
        self.made.label_of.resize(label_of + self.sorted.len(), 0);
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.sort_unstable();
        let before = self.made.rounds.len();
        for of_tile in sorted.chunk_by(|a, b| a.0 == b.0) {
            for share in of_tile.chunks(SHARED) {
                self.add_share(share, label_of)?;
            }
        }
        self.sorted = sorted;
        self.close()?;
        self.made.rounds_of_block.push(self.made.rounds.len() - before);
        Ok(())
    }

    /// Adds columns of one tile, or of fronts.
    fn add_share(&mut self, share: &[(u32, u32, u16)], label_of: usize) -> Result<()> {
        let (pieces, tile) = (self.pieces, share[0].0);
        let needed: Vec<u32> = if tile == NO_TILE {
            share.iter().map(|&(_, rank, _)| pieces.place(rank)).collect()
        } else {
            let tile = &pieces.tiles.tiles[tile as usize];
            let loads = &pieces.tiles.loads[tile.loads as usize..][..tile.load_count as usize];
            loads.iter().map(|load| pieces.place(load.rank)).collect()
        };
        let length = if tile == NO_TILE { 0 } else { label_length(needed.len()) };
        let fours = share.len() * length / FOUR;
        let new = needed.iter().filter(|&&place| self.hub_of[place as usize] == NO_HUB).count();
        // Its numbers, its columns, its hubs, and what fills a list up to a multiple of four.
        let halves = PART + share.len() + length.max(share.len()) + FOUR - 1;
        let fits = self.hubs.len() + new <= HUBS
            && self.fours + fours <= FOURS
            && (self.halves + halves).next_multiple_of(PART) <= PARTS * PART;
        if !fits {
            self.close()?;
        }
        for &place in &needed {
            let hub = &mut self.hub_of[place as usize];
            if *hub == NO_HUB {
                *hub = self.hubs.len() as u16;
                self.hubs.push(place);
            }
        }
        let mut hubs: Vec<_> = needed.iter().map(|&place| self.hub_of[place as usize]).collect();
        if tile != NO_TILE {
            hubs.resize(length, NO_HUB);
            for (k, &(_, _, column)) in share.iter().enumerate() {
                let label = self.made.fours + self.fours + k * length / FOUR;
                self.made.label_of[label_of + usize::from(column)] = label as u32;
            }
        }
        let columns = share.iter().map(|&(_, _, column)| column).collect();
        self.shares.push(Share { columns, hubs, length, labels: self.fours });
        self.fours += fours;
        self.halves += halves;
        Ok(())
    }

    /// Ends the round, if it has shares.
    fn close(&mut self) -> Result<()> {
        if self.shares.is_empty() {
            return Ok(());
        }
        // Warps take shares by turns: the longest first.
        self.shares.sort_by_key(|share| std::cmp::Reverse(share.work()));
        let mut halves: Vec<u16> = Vec::with_capacity(self.halves);
        let begin = self.shares.len() * PART;
        let mut lists = Vec::with_capacity(PARTS);
        for share in &self.shares {
            let pair = |low: usize, high: usize| low as u32 | (high as u32) << 16;
            // Hubs are read four at a time.
            halves.resize(halves.len().next_multiple_of(FOUR), 0);
            let hubs = begin + halves.len();
            halves.extend(&share.hubs);
            let columns = begin + halves.len();
            halves.extend(&share.columns);
            lists.push([pair(columns, share.columns.len()), pair(hubs, share.length), share.labels as u32, 0]);
        }
        halves.resize(halves.len().next_multiple_of(PART), 0);
        lists.extend(
            halves
                .chunks_exact(PART)
                .map(|part| [0, 2, 4, 6].map(|k| u32::from(part[k]) | u32::from(part[k + 1]) << 16)),
        );
        assert!(
            lists.len() <= PARTS && self.hubs.len() <= HUBS && self.fours <= FOURS,
            "a round has room for its shares"
        );
        let mut round = [0; ROUND];
        let header =
            [self.made.lists.len(), lists.len(), self.made.fours, self.fours, self.shares.len(), self.hubs.len()];
        round.iter_mut().zip(header).for_each(|(to, number)| *to = number as u32);
        round[HEADER..].iter_mut().zip(&self.hubs).for_each(|(to, &place)| *to = place);
        grow(WHAT, &mut self.made.rounds, 1)?;
        self.made.rounds.push(round);
        grow(WHAT, &mut self.made.lists, lists.len())?;
        self.made.lists.append(&mut lists);
        self.made.fours += self.fours;
        for place in self.hubs.drain(..) {
            self.hub_of[place as usize] = NO_HUB;
        }
        self.shares.clear();
        (self.halves, self.fours) = (0, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Unit;
    use crate::hierarchy::{Hierarchy, Limits};
    use crate::testing::{Random, graphs_of_every_shape};

    /// A list's numbers of 16 bits.
    fn halves(lists: &[[u32; 4]]) -> Vec<usize> {
        let words = lists.iter().flatten();
        words.flat_map(|&word| [word as usize & 0xffff, word as usize >> 16]).collect()
    }

    /// Whether each column is made once, from the hubs of its vertex, and has a label of its own.
    fn check(name: &str, elimination: &Elimination, pieces: &Pieces, targets: Option<&[VertexId]>) {
        let rounds = Rounds::new(elimination, pieces, targets).unwrap();
        let columns = targets.map_or(elimination.count(), <[_]>::len);
        let rank_of = |column: usize| elimination.ranks[targets.map_or(column, |targets| targets[column] as usize)];
        assert_eq!(rounds.blocks, columns.div_ceil(COLUMNS_A_BLOCK), "{name}");
        let mut is_made = vec![false; columns];
        let mut is_labelled = vec![false; rounds.fours];
        let mut seen = 0;
        for block in 0..rounds.blocks {
            let mut next = block;
            loop {
                seen += 1;
                let round = &rounds.rounds[next * ROUND..][..ROUND];
                let number = |k: usize| round[k] as usize;
                let (shares, hub_count) = (number(4), number(5));
                assert!(number(1) <= PARTS && number(3) <= FOURS && hub_count <= HUBS, "{name}: a round is too large");
                let hubs = &round[HEADER..][..hub_count];
                let lists = &rounds.lists[number(0)..][..number(1)];
                let halves = halves(lists);
                for share in &lists[..shares] {
                    let part = |word: u32| (word as usize & 0xffff, word as usize >> 16);
                    let ((first, count), (first_hub, length)) = (part(share[0]), part(share[1]));
                    assert!((1..=SHARED).contains(&count) && first_hub % FOUR == 0, "{name}");
                    for k in 0..count {
                        let column = block * COLUMNS_A_BLOCK + halves[first + k];
                        assert!(!std::mem::replace(&mut is_made[column], true), "{name}: a column is made twice");
                        let rank = rank_of(column);
                        if length == 0 {
                            assert_eq!(hubs[halves[first_hub + k]], pieces.place(rank), "{name}: another vertex");
                            continue;
                        }
                        let tile = pieces.tiles.tiles.iter().find(|tile| (tile.first..=tile.last).contains(&rank));
                        let tile = tile.expect("the vertex is in a tile");
                        let loads = &pieces.tiles.loads[tile.loads as usize..][..tile.load_count as usize];
                        assert_eq!(length, label_length(loads.len()), "{name}");
                        for (hub, load) in halves[first_hub..][..loads.len()].iter().zip(loads) {
                            assert_eq!(hubs[*hub], pieces.place(load.rank), "{name}: another hub");
                        }
                        let filling = &halves[first_hub + loads.len()..first_hub + length];
                        assert!(filling.iter().all(|&hub| hub == HUBS), "{name}");
                        let label = number(2) + share[2] as usize + k * length / FOUR;
                        assert_eq!(rounds.label_of[column] as usize, label, "{name}: another label");
                        assert!(label + length / FOUR <= number(2) + number(3), "{name}: beyond the round");
                        for is_labelled in &mut is_labelled[label..label + length / FOUR] {
                            assert!(!std::mem::replace(is_labelled, true), "{name}: labels overlap");
                        }
                    }
                }
                next = number(NEXT);
                if next == 0 {
                    break;
                }
                assert!(next >= rounds.blocks, "{name}");
            }
        }
        assert_eq!(seen * ROUND, rounds.rounds.len(), "{name}");
        assert!(is_made.into_iter().chain(is_labelled).all(|is| is), "{name}: something is missing");
        let mut listed: Vec<_> = Vec::new();
        for (&rank, range) in pieces.tiles.ranks.iter().zip(rounds.offsets.windows(2)) {
            let of_rank = &rounds.columns[range[0] as usize..range[1] as usize];
            assert!(of_rank.iter().all(|&column| rank_of(column as usize) == rank), "{name}");
            listed.extend_from_slice(of_rank);
        }
        listed.sort_unstable();
        let is_in_tile = |column: &u32| pieces.tiles.ranks.contains(&rank_of(*column as usize));
        assert!(listed.into_iter().eq((0..columns as u32).filter(is_in_tile)), "{name}: columns of vertices");
    }

    #[test]
    fn each_column_is_made_once_from_the_hubs_of_its_vertex() {
        let mut random = Random(7);
        for (name, graph) in graphs_of_every_shape::<Unit>(5) {
            let vertices = graph.vertices() as u64;
            let hierarchy = Hierarchy::new(graph).unwrap();
            let elimination = &hierarchy.shared.elimination;
            for (slots, together) in [(48, false), (2, false), (64, true), (64, false)] {
                let limits = Limits { slots, arcs: 4096, together };
                let pieces = Pieces::new(elimination, limits).unwrap();
                check(&name, elimination, &pieces, None);
                check(&name, elimination, &pieces, Some(&[]));
                if vertices > 0 {
                    let targets: Vec<_> = (0..300).map(|_| random.below(vertices) as VertexId).collect();
                    check(&name, elimination, &pieces, Some(&targets));
                }
            }
        }
    }

    /// Large boundaries need many rounds.
    #[test]
    fn a_grid_has_rounds_of_many_hubs() {
        let hierarchy = Hierarchy::new(crate::generate("grid:60x60").unwrap()).unwrap();
        let elimination = &hierarchy.shared.elimination;
        let pieces = Pieces::new(elimination, Limits { slots: 48, arcs: 2048, together: false }).unwrap();
        check("grid", elimination, &pieces, None);
        let rounds = Rounds::new(elimination, &pieces, None).unwrap();
        assert!(rounds.rounds.len() / ROUND > rounds.blocks);
    }
}
