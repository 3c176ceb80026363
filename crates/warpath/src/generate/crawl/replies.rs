//! Which links of a crawl are answered by a link back: evenly spread ones of those that can be.
//!
//! A link can be answered if its head is not silent and does not link back by itself. So the links of the head have to be known. Those of the
//! pages of a share are in memory. Those of other pages are drawn again; for that, the links of a part are sorted by head, so that
//! the links of a popular page are drawn once for all links of the part that lead to it.
//!
//! Work O(links) expected, and as much for each link of each different head outside of the share in a part. Memory O(links of the share), beside what
//! [`Pages`] has.

use std::ops::Range;

use rayon::prelude::*;

use super::{Pages, VERTICES_PER_PART};
use crate::generate::Edges;
use crate::graph::{EdgeList, Unit, VertexId};
use crate::{Result, memory};

/// Bytes of so many pages and links.
pub(super) fn bytes(pages: u64, links: u64) -> u64 {
    const PER_LINK: u64 = (size_of::<VertexId>() + size_of::<bool>()) as u64;
    pages.saturating_mul(size_of::<u64>() as u64).saturating_add(links.saturating_mul(PER_LINK))
}

/// The links of consecutive parts of the pages, and which of them can be answered.
pub(super) struct Replies {
    pages: Pages,
    parts: Range<u64>,
    /// The page that is the first one of these parts.
    first: u64,
    /// Where the links of each of their pages begin.
    offsets: Vec<u64>,
    heads: Vec<VertexId>,
    can_be_answered: Vec<bool>,
    /// How many links of these parts can be answered, before each part and before the end.
    before: Vec<u64>,
}

impl Replies {
    pub(super) fn new(pages: Pages, parts: Range<u64>) -> Result<Self> {
        let vertices = pages.recipe.vertices;
        let page = |part: u64| vertices.min(part * VERTICES_PER_PART);
        let own = page(parts.start)..page(parts.end);
        let mut offsets = memory::with_capacity("offsets of pages", (own.end - own.start) as usize + 1)?;
        offsets.push(0_u64);
        let mut end = 0;
        offsets.extend(pages.degrees[own.start as usize..own.end as usize].iter().map(|&degree| {
            end += u64::from(degree);
            end
        }));
        let (heads, can_be_answered) = (Vec::new(), Vec::new());
        let mut replies = Replies { pages, parts, first: own.start, offsets, heads, can_be_answered, before: vec![0] };

        let mut heads: Vec<VertexId> = memory::zeroed("heads of links", end as usize)?;
        replies.by_part(&mut heads).into_par_iter().try_for_each(|(part, slots)| replies.draw_links(part, slots))?;
        replies.heads = heads;

        let mut can_be_answered: Vec<bool> = memory::filled("links that can be answered", end as usize, false)?;
        let marked = replies.by_part(&mut can_be_answered).into_par_iter();
        let counts: Vec<u64> = marked.map(|(part, slots)| replies.mark(part, slots)).collect::<Result<_>>()?;
        replies.can_be_answered = can_be_answered;
        let mut before = 0;
        replies.before.extend(counts.into_iter().map(|count| {
            before += count;
            before
        }));
        Ok(replies)
    }

    /// The pieces of an array that belong to the links of each part.
    fn by_part<'a, T>(&self, mut array: &'a mut [T]) -> Vec<(u64, &'a mut [T])> {
        let mut pieces = Vec::new();
        for part in self.parts.clone() {
            let (piece, rest) = array.split_at_mut(self.places(part).len());
            pieces.push((part, piece));
            array = rest;
        }
        pieces
    }

    /// Where the links of a part are.
    fn places(&self, part: u64) -> Range<usize> {
        let pages = self.pages.range(part);
        let offset = |page: u64| self.offsets[(page - self.first) as usize] as usize;
        offset(pages.start)..offset(pages.end)
    }

    /// Draws the links of a part into their places.
    fn draw_links(&self, part: u64, mut slots: &mut [VertexId]) -> Result<()> {
        let mut row = Vec::new();
        for page in self.pages.range(part) {
            self.pages.links_of(page, &mut row)?;
            let (filled, rest) = slots.split_at_mut(row.len());
            filled.copy_from_slice(&row);
            slots = rest;
        }
        Ok(())
    }

    /// Marks the links of a part that can be answered, and counts them.
    fn mark(&self, part: u64, marks: &mut [bool]) -> Result<u64> {
        // Links to pages of other shares: the head, the place among the links of the part, and the page.
        let mut elsewhere: Vec<(VertexId, usize, VertexId)> = Vec::new();
        for (place, (page, head)) in self.links(part).enumerate() {
            if self.pages.is_silent(head.into()) {
                continue;
            }
            match self.row(head) {
                Some(row) => marks[place] = row.binary_search(&page).is_err(),
                None => {
                    memory::grow("links to pages of other shares", &mut elsewhere, 1)?;
                    elsewhere.push((head, place, page));
                }
            }
        }
        elsewhere.sort_unstable();
        let mut row = Vec::new();
        for links in elsewhere.chunk_by(|a, b| a.0 == b.0) {
            self.pages.links_of(links[0].0.into(), &mut row)?;
            links.iter().for_each(|&(_, place, page)| marks[place] = row.binary_search(&page).is_err());
        }
        Ok(marks.iter().filter(|&&mark| mark).count() as u64)
    }

    /// The heads of the links of a page, if they are in memory.
    fn row(&self, page: VertexId) -> Option<&[VertexId]> {
        let index = u64::from(page).checked_sub(self.first)? as usize;
        let end = *self.offsets.get(index + 1)? as usize;
        Some(&self.heads[self.offsets[index] as usize..end])
    }

    /// The links of a part: pages with heads.
    fn links(&self, part: u64) -> impl Iterator<Item = (VertexId, VertexId)> {
        let heads = |page: VertexId| self.row(page).unwrap_or_default().iter();
        self.pages.range(part).flat_map(move |page| heads(page as VertexId).map(move |&head| (page as VertexId, head)))
    }

    /// How many links can be answered.
    pub(super) fn tally(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    /// The edges of these parts, if so many links of parts before them can be answered, and so many of all parts.
    pub(super) fn edges(self, before: u64, all: u64) -> Edges {
        let count = self.parts.end - self.parts.start;
        Edges::by_part(count as usize, move |part| self.part(part, before, all))
    }

    /// The links of one of these parts, with their replies.
    fn part(&self, index: usize, before: u64, all: u64) -> Result<EdgeList<Unit>> {
        let part = self.parts.start + index as u64;
        let wanted = u128::from(self.pages.recipe.replies.min(all));
        let chosen_of = |first: u64| (u128::from(first) * wanted / u128::from(all.max(1))) as u64;
        let mut number = before + self.before[index];
        let replies = chosen_of(before + self.before[index + 1]) - chosen_of(number);
        let places = self.places(part);
        let mut edges = memory::with_capacity("the edges of a part", places.len() + replies as usize)?;
        for ((page, head), &can_be_answered) in self.links(part).zip(&self.can_be_answered[places]) {
            let (tail, head) = (self.pages.name(page.into()), self.pages.name(head.into()));
            edges.push((tail, head));
            if can_be_answered {
                if chosen_of(number + 1) > chosen_of(number) {
                    edges.push((head, tail));
                }
                number += 1;
            }
        }
        Ok(EdgeList { weights: vec![Unit; edges.len()], edges })
    }
}
