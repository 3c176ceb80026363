//! Numbers vertices whose names are integers, in ascending order of the names.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::layout::{Comments, Layout, is_skipped};
use super::lines::{IntegerName, NamedChunk, integer_name};
use super::{Body, Failure, Named, check_lines};
use crate::formats::text::{Held, Malformed, Parsed};
use crate::formats::weight_column::WeightedChunk;
use crate::graph::{Labels, MAX_VERTICES, VertexId};
use crate::memory::with_capacity;
use crate::{Error, InputError, Result, parallel};

/// Numbers the vertices in the order of their names.
pub(super) fn name_integers<'a, I: IntegerName>(
    parsed: Vec<NamedChunk<I>>,
    body: &Body<'_>,
    layout: &Layout<'a>,
    comments: &Comments<'a>,
) -> std::result::Result<Named, Failure<'a>> {
    let lines: u64 = parsed.iter().map(|chunk| chunk.edges.len() as u64).sum();
    if let Some((line, vertices, edges)) = layout.doubtful
        && lines == edges.saturating_add(1)
        && fits_counts(&parsed, vertices)
    {
        let message = "this line may be an edge or the numbers of vertices and edges: `--first-line edge` or \
                       `--first-line counts` (`ReadOptions::first_line`) tells";
        return Err(Malformed::new(line, message).into());
    }
    if let Some((line, vertices, edges)) = layout.counts {
        check_lines(line, edges, lines)?;
        // Names count from 1 unless there is a 0.
        let first = u64::from(lines != 0 && bounds(&parsed).0 != 0);
        let labels = Labels::range(first, check_vertices(line, vertices)?);
        return Ok((labels, renumber_range(parsed, body, first, vertices)?));
    }
    if let (Some((line, edges, first)), Some(vertices)) = (comments.whole, comments.nodes) {
        check_lines(line, Some(edges), lines)?;
        if first.checked_add(vertices).is_none() {
            return Err(Malformed::new(line, "the names of the vertices go beyond 64 bits").into());
        }
        let labels = Labels::range(first, check_vertices(line, vertices)?);
        return Ok((labels, renumber_range(parsed, body, first, vertices)?));
    }
    let isolated: Vec<u64> = comments.names.iter().filter_map(|name| integer_name(name)).collect();
    let check_room = |held| body.text.check_room(held);
    Ok(number_integers(parsed, isolated, comments.nodes, check_room)?)
}

/// Numbers the vertices of edges and isolated ones in the order of their names. `nodes` is how many there are, if that is
/// declared; `check_room` refuses a number of bytes that is too much.
pub(in crate::formats) fn number_integers<I: IntegerName>(
    parsed: Vec<NamedChunk<I>>,
    isolated: Vec<u64>,
    nodes: Option<u64>,
    check_room: impl FnOnce(u64) -> Result<()>,
) -> Result<Named> {
    let edges: u64 = parsed.iter().map(|chunk| chunk.edges.len() as u64).sum();
    if edges == 0 && isolated.is_empty() {
        let count = nodes.filter(|&count| count <= MAX_VERTICES).unwrap_or(0);
        return Ok((Labels::range(0, count), renumber(parsed, |_| 0)));
    }
    let (least, greatest) = isolated.iter().fold(bounds(&parsed), |(low, high), &name| (low.min(name), high.max(name)));
    let span = greatest - least + 1;
    // Use a bit for each possible name, unless there are far more possible names than edges.
    if span / 64 > edges + 1024 {
        return name_scattered(parsed, isolated, check_room);
    }
    let present = Presence::of(&parsed, &isolated, least, span);
    let found = present.count();
    let range = match nodes {
        // A declared number of vertices counts if the names fit it and some are missing.
        Some(nodes) if nodes > found && greatest < nodes => Some((0, nodes)),
        Some(nodes) if nodes > found && greatest == nodes && least > 0 => Some((1, nodes)),
        _ if found == span => Some((least, span)),
        _ => None,
    };
    if let Some((first, count)) = range {
        check_count(count)?;
        return Ok((Labels::range(first, count), renumber(parsed, |name| (name.to_u64() - first) as VertexId)));
    }
    check_count(found)?;
    let ranks = present.into_ranks();
    let renumbered = renumber(parsed, |name| ranks.rank(name.to_u64() - least));
    Ok((Labels::Integers(ranks.names(least)), renumbered))
}

/// The least and the greatest name.
fn bounds<I: IntegerName>(parsed: &[NamedChunk<I>]) -> (u64, u64) {
    let of_edge = |(low, high): (u64, u64), (u, v): &(I, I)| {
        let (u, v) = (u.to_u64(), v.to_u64());
        (low.min(u).min(v), high.max(u).max(v))
    };
    parsed
        .par_iter()
        .map(|chunk| chunk.edges.iter().fold((u64::MAX, 0), of_edge))
        .reduce(|| (u64::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn check_vertices(line: &[u8], vertices: u64) -> Parsed<'_, u64> {
    if vertices > MAX_VERTICES {
        return Err(Malformed::new(line, format!("at most {MAX_VERTICES} vertices are possible")));
    }
    Ok(vertices)
}

fn check_count(vertices: u64) -> Result<()> {
    if vertices > MAX_VERTICES {
        return Err(InputError::new(format!("{vertices} vertices are too many; {MAX_VERTICES} are possible")).into());
    }
    Ok(())
}

/// Whether all edges but the first have names from 0 to `vertices - 1`, or from 1 to `vertices`.
fn fits_counts<I: IntegerName>(parsed: &[NamedChunk<I>], vertices: u64) -> bool {
    let mut all = parsed.iter().flat_map(|chunk| &chunk.edges).skip(1).flat_map(|&(u, v)| [u.to_u64(), v.to_u64()]);
    let (mut least, mut greatest) = (u64::MAX, 0);
    all.all(|name| {
        (least, greatest) = (least.min(name), greatest.max(name));
        greatest < vertices || (greatest == vertices && least > 0)
    })
}

/// Names that are consecutive integers need no table.
fn renumber_range<I: IntegerName>(
    parsed: Vec<NamedChunk<I>>,
    body: &Body<'_>,
    first: u64,
    count: u64,
) -> std::result::Result<Vec<WeightedChunk>, Failure<'static>> {
    let outside = |name: I| name.to_u64().wrapping_sub(first) >= count;
    let stray = parsed.par_iter().enumerate().find_map_first(|(chunk, named)| {
        named.edges.iter().position(|&(u, v)| outside(u) || outside(v)).map(|edge| (chunk, edge))
    });
    if let Some((chunk, edge)) = stray {
        let last = (first + count).saturating_sub(1);
        let message = format!("a vertex is out of range: {count} vertices are declared, named {first} to {last}");
        let mut before = 0;
        let is_stray = |line: &[u8]| {
            before += usize::from(!is_skipped(line));
            before > edge
        };
        // The line is found, unless the file has changed.
        let fault = body.text.find_line(&body.pieces[chunk..=chunk], is_stray, &message)?;
        return Err(fault.map_or_else(|| Error::from(InputError::new(message)).into(), Failure::InBody));
    }
    Ok(renumber(parsed, |name| (name.to_u64() - first) as VertexId))
}

fn renumber<I: IntegerName>(parsed: Vec<NamedChunk<I>>, number: impl Fn(I) -> VertexId + Sync) -> Vec<WeightedChunk> {
    parallel::collect_taken(parsed, |chunk| WeightedChunk {
        // In place if names have the width of vertices.
        edges: chunk.edges.into_iter().map(|(u, v)| (number(u), number(v))).collect(),
        weights: chunk.weights,
    })
}

/// Numbers integers that are far apart, by sorting them.
fn name_scattered<I: IntegerName>(
    parsed: Vec<NamedChunk<I>>,
    isolated: Vec<u64>,
    check_room: impl FnOnce(u64) -> Result<()>,
) -> Result<Named> {
    let count = 2 * parsed.iter().map(|chunk| chunk.edges.len()).sum::<usize>() + isolated.len();
    let held: u64 = parsed.iter().map(Held::held_bytes).sum();
    check_room(held.saturating_add(8 * count as u64))?;
    let mut names: Vec<u64> = with_capacity("the names of vertices", count)?;
    for chunk in &parsed {
        names.extend(chunk.edges.iter().flat_map(|&(u, v)| [u.to_u64(), v.to_u64()]));
    }
    names.extend(isolated);
    names.par_sort_unstable();
    names.dedup();
    names.shrink_to_fit();
    check_count(names.len() as u64)?;
    let renumbered = renumber(parsed, |name| names.partition_point(|&other| other < name.to_u64()) as VertexId);
    Ok((Labels::Integers(names), renumbered))
}

/// Which integers of a range are names, one bit each.
struct Presence(Vec<AtomicU64>);

impl Presence {
    fn of<I: IntegerName>(parsed: &[NamedChunk<I>], isolated: &[u64], least: u64, span: u64) -> Self {
        let mut words = Vec::new();
        words.resize_with(span.div_ceil(64) as usize, AtomicU64::default);
        let mark = |name: u64| {
            let (word, bit) = (&words[((name - least) / 64) as usize], 1 << ((name - least) % 64));
            // Nearly all are marked already: a load is cheaper.
            if word.load(Ordering::Relaxed) & bit == 0 {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        };
        parsed.par_iter().for_each(|chunk| {
            chunk.edges.iter().for_each(|&(u, v)| {
                mark(u.to_u64());
                mark(v.to_u64());
            });
        });
        isolated.iter().for_each(|&name| mark(name));
        Presence(words)
    }

    fn count(&self) -> u64 {
        self.0.par_iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum()
    }

    fn into_ranks(self) -> Ranks {
        let mut before = 0;
        let words = self.0.into_iter().map(AtomicU64::into_inner);
        Ranks(
            words
                .map(|word| {
                    let entry = (word, before);
                    before += word.count_ones();
                    entry
                })
                .collect(),
        )
    }
}

/// Words of 64 bits that mark present integers, each with the number of present integers before it.
struct Ranks(Vec<(u64, u32)>);

impl Ranks {
    /// How many present integers are less.
    #[inline]
    fn rank(&self, offset: u64) -> VertexId {
        let (word, before) = self.0[(offset / 64) as usize];
        before + (word & ((1 << (offset % 64)) - 1)).count_ones()
    }

    /// The present integers, plus `least`.
    fn names(&self, least: u64) -> Vec<u64> {
        let mut names =
            Vec::with_capacity(self.0.last().map_or(0, |&(word, before)| before + word.count_ones()) as usize);
        for (index, &(word, _)) in self.0.iter().enumerate() {
            names.extend((0..64).filter(|bit| word >> bit & 1 == 1).map(|bit| least + index as u64 * 64 + bit));
        }
        names
    }
}
