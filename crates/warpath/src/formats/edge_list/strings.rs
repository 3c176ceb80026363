//! Numbers vertices whose names are text, in the order in which the names appear.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::columns::unquoted;
use super::layout::{Comments, Layout, check_line_end, is_skipped};
use super::lines::split;
use super::{Body, Failure, Named, check_lines};
use crate::Result;
use crate::formats::ReadOptions;
use crate::formats::text::{Held, Lines, Malformed, Parsed, Piece};
use crate::formats::weight_column::{WeightColumn, WeightedChunk};
use crate::graph::{Labels, StringLabels};
use crate::memory::allocation::bytes_of;
use crate::memory::with_capacity;

/// Numbers the vertices in the order in which their names appear.
pub(super) fn name_strings<'a>(
    body: &Body<'_>,
    layout: &Layout<'a>,
    comments: &Comments<'a>,
    options: &ReadOptions,
) -> std::result::Result<Named, Failure<'a>> {
    let (labels, named) = intern_names(body, layout, &comments.names, options)?;
    let lines: u64 = named.iter().map(|chunk| chunk.edges.len() as u64).sum();
    if let Some((line, vertices, edges)) = layout.counts {
        check_lines(line, edges, lines)?;
        if vertices != labels.len() as u64 {
            return Err(Malformed::new(line, wrong_vertices(vertices, labels.len() as u64)).into());
        }
    }
    Ok((Labels::Strings(labels), named))
}

/// Why a number of vertices is wrong that a line announces.
pub(super) fn wrong_vertices(announced: u64, named: u64) -> String {
    format!("this line announces {announced} vertices, but the file names {named}")
}

/// The names of a part of a list, numbered in the order in which they appear behind the `first` ones, and the edges by these numbers.
///
/// Names are found piece by piece in parallel, and numbered one after another while the text is in memory.
pub(super) fn intern_names<'a>(
    body: &Body<'_>,
    layout: &Layout<'_>,
    first: &[&'a [u8]],
    options: &ReadOptions,
) -> std::result::Result<(StringLabels, Vec<WeightedChunk>), Failure<'a>> {
    struct Slices<'p> {
        edges: Vec<(&'p [u8], &'p [u8])>,
        weights: WeightColumn,
    }
    impl Held for Slices<'_> {
        fn held_bytes(&self) -> u64 {
            bytes_of::<(&[u8], &[u8])>(self.edges.capacity()) + self.weights.held_bytes()
        }
    }
    let from = body.pieces.first().map_or(0, |piece| piece.start);
    let text = match body.pieces.last() {
        None => Cow::Borrowed(&[][..]),
        Some(last) => body.text.part(from..last.end)?,
    };
    let pieces: Vec<Piece<'_>> = (body.pieces.iter())
        .map(|range| Piece {
            bytes: &text[(range.start - from) as usize..(range.end - from) as usize],
            offset: range.start,
        })
        .collect();
    let held = AtomicU64::new(if matches!(text, Cow::Owned(_)) { text.len() as u64 } else { 0 });
    body.text.check_room(held.load(Ordering::Relaxed))?;
    let parsed: Result<Vec<Parsed<'_, Slices<'_>>>> = pieces
        .par_iter()
        .map(|&piece| {
            options.control.check()?;
            let mut slices = Slices { edges: Vec::new(), weights: WeightColumn::with(layout.decimals) };
            for line in Lines::new(piece.bytes) {
                if let Err(malformed) = check_line_end(line) {
                    return Ok(Err(malformed));
                }
                if is_skipped(line) {
                    continue;
                }
                match split(line, piece, layout, &mut slices.weights) {
                    Ok(ends) => slices.edges.push(ends),
                    Err(malformed) => return Ok(Err(malformed)),
                }
            }
            let bytes = slices.held_bytes();
            body.text.check_room(held.fetch_add(bytes, Ordering::Relaxed) + bytes)?;
            Ok(Ok(slices))
        })
        .collect();
    let parsed = parsed?;
    let mut held = held.into_inner();
    let mut labels = StringLabels::new();
    for name in first {
        labels.intern(&text_of(name)?)?;
    }
    let mut named = Vec::with_capacity(parsed.len());
    for (chunk, piece) in parsed.into_iter().zip(&pieces) {
        let in_body = |malformed: Malformed<'_>| Failure::InBody(piece.fault(&malformed));
        options.control.check()?;
        let chunk = chunk.map_err(in_body)?;
        let slices = chunk.held_bytes();
        let mut edges = with_capacity("the edges of a list", chunk.edges.len())?;
        for (u, v) in chunk.edges {
            let [u, v] = [text_of(u).map_err(in_body)?, text_of(v).map_err(in_body)?];
            edges.push((labels.intern(&u)?, labels.intern(&v)?));
        }
        let chunk = WeightedChunk { edges, weights: layout.weight.map(|_| chunk.weights) };
        held = (held + chunk.held_bytes()).saturating_sub(slices);
        body.text.check_room(held + labels.owned_bytes())?;
        named.push(chunk);
    }
    Ok((labels, named))
}

/// The name in a column: printable text, without the quotes.
pub(super) fn text_of(field: &[u8]) -> Parsed<'_, Cow<'_, str>> {
    let inside = unquoted(field);
    let Ok(name) = std::str::from_utf8(inside) else {
        return Err(Malformed::new(field, "the name of a vertex has to be UTF-8 text"));
    };
    if name.chars().any(char::is_control) {
        return Err(Malformed::new(field, "the name of a vertex contains control characters"));
    }
    if name.is_empty() && inside.len() == field.len() {
        return Err(Malformed::new(field, "the name of a vertex is missing"));
    }
    let is_quoted = inside.len() != field.len();
    Ok(if is_quoted && name.contains("\"\"") { name.replace("\"\"", "\"").into() } else { name.into() })
}
