//! Makes each rank's part: arcs go to the owners of their tails, hubs are found and their arcs spread, and heads get their numbers.

use warpath::graph::{DistanceValue, Weight};
use warpath::{Error, Result};

use super::rows::{WideRows, push_arc};
use super::{Deal, PartOfGraph, Partition, Parts, SortedIds};
use crate::allocation::{make_room, with_capacity};
use crate::source::{ArcsOf, Source};
use crate::words::{pull, push, words_of};
use crate::world::{Outcome, Reduction, World};

/// At least so many times the average degree makes a hub.
pub(crate) const HUB_DEGREE: f64 = 4.0;

/// At most one in so many vertices is a hub: one in 64, and at most a quarter of what a rank owns, since all ranks know all hubs.
pub(crate) fn vertices_per_hub(ranks: usize) -> u64 {
    (4 * ranks as u64).max(64)
}

/// Degrees are told apart by their number of bits.
const BITS: usize = 65;

impl<W: Weight> PartOfGraph<W> {
    /// Draws or reads the graph: each rank a part, which one exchange brings to the owners of the tails, as `parts` has them. The type of the
    /// weights is [`Source::weight_kind`].
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::Input`] and [`Error::Io`], on all ranks if on any.
    pub fn load(world: &World, source: &Source<'_>, parts: Parts) -> Outcome<Self> {
        let home = source.partition(world)?;
        let mut arcs_of = source.arcs_of(world, &home, W::KIND)?;
        let deal = Deal::of(world, &mut arcs_of, parts, &home)?;
        let partition = deal.places();
        let owned = partition.range(world.rank());
        let count = world.agree(in_32_bits(owned.end - owned.start, "vertices of a rank"))?;
        let arcs = collect::<W>(world, arcs_of, &deal)?;
        let rows = world.agree(WideRows::<W>::sorted(count, &arcs))?;
        drop(arcs);
        let total = world.reduce(Reduction::Sum, rows.heads.len() as u64);
        if !source.is_directed() {
            check_symmetry(world, &rows, owned.start)?;
        }
        let hubs = find_hubs(world, &rows, owned.start, total, partition.vertices())?;
        let rows = if hubs.len() > 0 { spread_hubs(world, rows, &hubs, partition)? } else { rows };
        let part = number_heads(world, rows, &hubs, partition);
        let (ghosts, heads, offsets, weights) = world.agree(part)?;
        let ghost_starts: Vec<usize> =
            partition.starts().iter().map(|start| ghosts.ids().partition_point(|ghost| ghost < start)).collect();
        let subscribers = world.agree(subscribe(world, &ghosts, &ghost_starts, partition))?;
        let place = |vertex: u64| hubs.ids().partition_point(|&hub| hub < vertex);
        Ok(PartOfGraph {
            rank: world.rank(),
            directed: source.is_directed(),
            arcs: total,
            weight_range: weight_range(world, &weights),
            own_hubs: place(owned.start)..place(owned.end),
            home,
            deal,
            hubs,
            ghosts,
            ghost_starts,
            subscribers,
            offsets,
            heads,
            weights,
        })
    }
}

fn in_32_bits(number: u64, what: &str) -> Result<usize> {
    match u32::try_from(number) {
        Ok(number) if number < u32::MAX => Ok(number as usize),
        _ => Err(Error::invalid(format!("{number} {what} are too many for its 32-bit numbers; take more ranks"))),
    }
}

/// The arcs whose tails this rank owns, as words of messages, their heads as places.
fn collect<W: Weight>(world: &World, mut arcs_of: ArcsOf<'_>, deal: &Deal) -> Outcome<Vec<u32>> {
    let mut arcs = Vec::new();
    let mut more = true;
    while world.any(more) {
        let mut outgoing: Vec<Vec<u32>> = vec![Vec::new(); world.ranks()];
        let drawn = if more {
            arcs_of.next_batch(|u, v, weight: W| {
                let (owner, number) = deal.rank_and_number(u);
                push_arc(&mut outgoing[owner], number as u32, deal.place_of(v), weight);
            })
        } else {
            Ok(false)
        };
        more = world.agree(drawn)?;
        let received = world.exchange(Ok(outgoing)).and_then(|incoming| {
            make_room("arcs before they are sorted", &mut arcs, incoming.words().len())?;
            arcs.extend_from_slice(incoming.words());
            Ok(())
        });
        world.agree(received)?;
    }
    Ok(arcs)
}

/// An error unless every arc has its reverse, of equal weight: a file may say undirected and not be.
fn check_symmetry<W: Weight>(world: &World, rows: &WideRows<W>, first: u64) -> Outcome<()> {
    let mut balance = 0_u64;
    for row in 0..rows.offsets.len() - 1 {
        let u = first + row as u64;
        for (v, weight) in rows.row(row) {
            let mixed = |a: u64, b: u64| mix(mix(mix(a).wrapping_add(b)).wrapping_add(weight.to_f64().to_bits()));
            // Each pair of arcs adds and takes away the same.
            balance = balance.wrapping_add(mixed(u, v)).wrapping_sub(mixed(v, u));
        }
    }
    let symmetric = world.reduce(Reduction::Sum, balance) == 0;
    world.agree(if symmetric {
        Ok(())
    } else {
        Err(Error::invalid("the graph is said to be undirected, but some arcs have no reverse of the same weight"))
    })
}

/// The output function of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// The hubs of all ranks: the vertices from a power of two of arcs on, as few as [`vertices_per_hub`] says.
fn find_hubs<W: Weight>(world: &World, rows: &WideRows<W>, first: u64, arcs: u64, vertices: u64) -> Outcome<SortedIds> {
    let bits = |row: usize| (u64::BITS - rows.degree(row).leading_zeros()) as usize;
    let count = rows.offsets.len() - 1;
    let mut by_bits = [0_u64; BITS];
    (0..count).for_each(|row| by_bits[bits(row)] += 1);
    world.reduce_all(Reduction::Sum, &mut by_bits);
    let average = arcs as f64 / vertices.max(1) as f64;
    let (mut least_bits, mut hubs) = (BITS, 0);
    while least_bits > 1
        && (1_u128 << (least_bits - 2)) as f64 >= HUB_DEGREE * average
        && hubs + by_bits[least_bits - 1] <= vertices / vertices_per_hub(world.ranks()) + 1
    {
        least_bits -= 1;
        hubs += by_bits[least_bits];
    }
    let mut words = Vec::new();
    if world.ranks() > 1 {
        (0..count).filter(|&row| bits(row) >= least_bits).for_each(|row| push(&mut words, first + row as u64));
    }
    let listed = world.gather(&words).and_then(|gathered| {
        let mut ids = with_capacity("the list of hubs", gathered.words().len() / words_of::<u64>())?;
        ids.extend(gathered.words().chunks_exact(words_of::<u64>()).map(pull::<u64>));
        SortedIds::new(ids, vertices)
    });
    world.agree(listed)
}

/// Moves each arc of a hub to the owner of its head, into rows of hubs that follow the owned ones.
fn spread_hubs<W: Weight>(
    world: &World,
    rows: WideRows<W>,
    hubs: &SortedIds,
    partition: &Partition,
) -> Outcome<WideRows<W>> {
    let first = partition.range(world.rank()).start;
    let count = rows.offsets.len() - 1;
    let mut outgoing: Vec<Vec<u32>> = vec![Vec::new(); world.ranks()];
    for row in 0..count {
        let Some(hub) = hubs.find(first + row as u64) else { continue };
        for (head, weight) in rows.row(row) {
            push_arc(&mut outgoing[partition.owner(head)], hub, head, weight);
        }
    }
    let incoming = world.agree(world.exchange(Ok(outgoing)))?;
    let spread = || {
        let of_hubs = WideRows::<W>::sorted(hubs.len(), incoming.words())?;
        let kept = |row: &usize| hubs.find(first + *row as u64).is_none();
        let arcs = (0..count).filter(kept).map(|row| rows.degree(row)).sum::<u64>() + of_hubs.heads.len() as u64;
        let mut all = WideRows {
            offsets: with_capacity("offsets of vertices", count + hubs.len() + 1)?,
            heads: with_capacity("heads of arcs", arcs as usize)?,
            weights: with_capacity("weights of arcs", arcs as usize)?,
        };
        all.offsets.push(0);
        for row in 0..count {
            if kept(&row) {
                all.heads.extend(rows.row(row).map(|(head, _)| head));
                all.weights.extend(rows.row(row).map(|(_, weight)| weight));
            }
            all.offsets.push(all.heads.len() as u64);
        }
        for hub in 0..hubs.len() {
            all.heads.extend(of_hubs.row(hub).map(|(head, _)| head));
            all.weights.extend(of_hubs.row(hub).map(|(_, weight)| weight));
            all.offsets.push(all.heads.len() as u64);
        }
        Ok(all)
    };
    world.agree(spread())
}

/// Ghosts, and the rows with numbers for heads: heads, offsets, weights.
type Numbered<W> = (SortedIds, Vec<u32>, Vec<u64>, Vec<W>);

/// Finds the ghosts, and gives each head its number here.
fn number_heads<W: Weight>(
    world: &World,
    rows: WideRows<W>,
    hubs: &SortedIds,
    partition: &Partition,
) -> Result<Numbered<W>> {
    let owned = partition.range(world.rank());
    let count = (owned.end - owned.start) as usize;
    let is_foreign = |head: &&u64| !owned.contains(head) && hubs.find(**head).is_none();
    let foreign = rows.heads.iter().filter(is_foreign).count();
    let mut ghosts = with_capacity("vertices of other ranks", foreign)?;
    ghosts.extend(rows.heads.iter().filter(is_foreign).copied());
    ghosts.sort_unstable();
    ghosts.dedup();
    ghosts.shrink_to_fit();
    let states = count as u64 + hubs.len() as u64 + ghosts.len() as u64;
    in_32_bits(states, "vertices with state on a rank")?;
    let ghosts = SortedIds::new(ghosts, partition.vertices())?;
    let mut heads: Vec<u32> = with_capacity("heads of arcs", rows.heads.len())?;
    for &head in &rows.heads {
        let number = match hubs.find(head) {
            Some(hub) => count as u32 + hub,
            None if owned.contains(&head) => (head - owned.start) as u32,
            // Every other head was listed.
            None => (count + hubs.len()) as u32 + ghosts.find(head).unwrap_or(0),
        };
        heads.push(number);
    }
    Ok((ghosts, heads, rows.offsets, rows.weights))
}

/// Tells each owner which of its vertices are ghosts here.
fn subscribe(
    world: &World,
    ghosts: &SortedIds,
    ghost_starts: &[usize],
    partition: &Partition,
) -> Result<warpath::parts::PartMail> {
    let wanted = |rank: usize| {
        let of_rank = &ghosts.ids()[ghost_starts[rank]..ghost_starts[rank + 1]];
        let mut words = with_capacity("vertices of other ranks", of_rank.len())?;
        words.extend(of_rank.iter().map(|ghost| (ghost - partition.starts()[rank]) as u32));
        Ok(words)
    };
    world.exchange((0..world.ranks()).map(wanted).collect())
}

/// The least and the greatest weight of all ranks; both 0 without arcs.
fn weight_range<W: Weight>(world: &World, weights: &[W]) -> (f64, f64) {
    let values = || weights.iter().map(|weight| weight.to_f64());
    // Keys order as the numbers do.
    let least = world.reduce(Reduction::Least, values().fold(f64::INFINITY, f64::min).key());
    let greatest = world.reduce(Reduction::Greatest, values().fold(f64::NEG_INFINITY, f64::max).key());
    let (least, greatest) = (f64::from_key(least), f64::from_key(greatest));
    if least <= greatest { (least, greatest) } else { (0.0, 0.0) }
}
