//! Directed scale-free graphs with the locality of a crawl: pages of sites, friendships, purchases.
//!
//! Vertices are pages in the order of their addresses, so that the pages of a site are consecutive. Sites have from 8
//! pages (or `site`, if that is less) up to `site`, and their sizes follow a power law: of the sites, a share of 8 / s
//! has s pages or more. Each page draws as many links as its out-degree says, one after another, until they are
//! distinct. A link is one of three:
//!
//! - *copied* from the same place in the list of a template, one of the seven pages before it in the site. So pages that
//!   are near to each other have links in common, which makes triangles and, again and again, popular pages. A template
//!   copies too; the link is traced back by recomputing, so pages need not be drawn in order.
//! - *local*: a site is a tree of directories, blocks of 2, 4, 8, .. pages; the link leads into one of the blocks that
//!   hold the page, all equally likely, and there mostly to the pages in front.
//! - *far*: to a popular page anywhere. The page of rank r is drawn with a probability that is proportional to
//!   r^(-1 / (exponent - 1)), which makes in-degrees of a power law with that exponent. Ranks are random.
//!
//! Out-degrees follow a power law with exponent 3, cut at `out-degree`; `silent` pages link to nothing. With
//! `reciprocity`, pages reply: so many of the links are answered by a link back that, at least, this share of all arcs
//! has its reverse. Silent pages do not reply, and replies are not counted against `out-degree`. `order=random` names
//! the vertices at random, which takes the locality away and leaves the graph the same.
//!
//! The graph has exactly `arcs` arcs; fewer only where `reciprocity` asks for more replies than there are links
//! without a reverse.
//!
//! Beside a real crawl of the same size, cnr-2000 (325,557 vertices, 3,128,710 arcs without loops), for
//! `crawl:325557,arcs=3128710,local=0.95,site=16384,exponent=2.3,silent=0.27,out-degree=3000`:
//!
//! | | cnr-2000 | generated |
//! |---|---|---|
//! | arcs to ids at most 16, 256, 4,096 away | 28, 54, 81 % | 34, 70, 84 % |
//! | greatest in-degree; of a page in 1,000, in 100 | 18,234; 741, 66 | 16,367; 226, 52 |
//! | exponent of in-degrees (Hill's estimate, upper 1 %) | 2.0 | 2.6 |
//! | greatest out-degree; of a page in 1,000, in 100 | 2,715; 140, 59 | 3,000; 353, 99 |
//! | vertices without links | 27 % | 32 % |
//! | pairs of links of a page that are joined | 68 % | 23 % |
//! | arcs with their reverse | 25 % | 6 % |
//! | largest weak, strong component | 100, 34 % | 99.7, 62 % |
//! | levels of a search from the strong component | 33 to 37 | 14 to 16 |
//!
//! So the generated graph has the direction, the locality and the hubs of a crawl; it has fewer triangles, and half of
//! the levels, since real sites have long chains of pages.
//!
//! Work O(arcs) expected, in parallel; each page is a function of the seed and its number.
//!
//! Sources: R. Kumar et al., Stochastic models for the web graph, FOCS 2000 (copying); K.-I. Goh, B. Kahng, D. Kim,
//! Universal behavior of load distribution in scale-free networks, PRL 2001 (popularity by rank); P. Boldi, S. Vigna,
//! The WebGraph framework I, WWW 2004, section 3 (locality and similarity of pages in the order of their addresses);
//! P. Sanders, C. Schulz, Scalable generation of scale-free graphs, IPL 2016 (tracing back by recomputing).

use rayon::prelude::*;

use super::powers::{power, unit};
use super::random::{Permutation, Stream};
use super::spec::Options;
use super::{Counted, DrawnShare, Edges, Generator, GeneratorInfo, OptionInfo, Share, purpose};
use crate::graph::{EdgeList, Unit, VertexId};
use crate::{Result, memory};
use replies::Replies;

mod replies;

pub(super) const INFO: GeneratorInfo = GeneratorInfo {
    name: "crawl",
    size: "VERTICES",
    summary: "directed scale-free graph with the locality of a crawl: sites, popular pages, copied links",
    source: "Kumar et al. 2000; Goh et al. 2001",
    options: &[ARCS, LOCAL, SITE, COPIED, EXPONENT, SILENT, OUT_DEGREE, RECIPROCITY, ORDER],
};

const ARCS: OptionInfo = OptionInfo { name: "arcs", summary: "the number of arcs", default: "8 for each vertex" };
const LOCAL: OptionInfo =
    OptionInfo { name: "local", summary: "share of new links that stay in the site", default: "0.8" };
const SITE: OptionInfo =
    OptionInfo { name: "site", summary: "vertices of the largest site possible", default: "16384" };
const COPIED: OptionInfo =
    OptionInfo { name: "copied", summary: "share of links copied from a page nearby", default: "0.5" };
const EXPONENT: OptionInfo =
    OptionInfo { name: "exponent", summary: "of the power law of in-degrees, above 2", default: "2.3" };
const SILENT: OptionInfo =
    OptionInfo { name: "silent", summary: "share of vertices that link to nothing", default: "0.2" };
const OUT_DEGREE: OptionInfo =
    OptionInfo { name: "out-degree", summary: "the most links of a vertex, without replies", default: "4096" };
const RECIPROCITY: OptionInfo =
    OptionInfo { name: "reciprocity", summary: "share of arcs with their reverse, made by replies", default: "0" };
const ORDER: OptionInfo =
    OptionInfo { name: "order", summary: "of vertices: `crawl`, or `random` without locality", default: "crawl" };

const DEFAULT_ARCS_PER_VERTEX: u64 = 8;
const LEAST_SITE: u64 = 8;
/// How many pages before a page may be its template.
const TEMPLATES: u64 = 7;
const VERTICES_PER_PART: u64 = 1 << 13;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Crawl {
    vertices: u64,
    arcs: u64,
    /// Of the arcs, those that are replies.
    replies: u64,
    silent: u64,
    out_degree: u64,
    site: u64,
    local: f64,
    copied: f64,
    exponent: f64,
    in_order: bool,
}

impl Crawl {
    pub(super) fn parse(options: &Options<'_>) -> Result<Self> {
        let vertices = options.vertices(1)?;
        let out_degree = options.number(OUT_DEGREE.name, 1)?.unwrap_or(4096).min(vertices - 1);
        let site = options.number(SITE.name, 1)?.unwrap_or(16_384);
        let silent = (options.share(SILENT.name, 0.2)? * vertices as f64) as u64;
        let room = u128::from(vertices - silent) * u128::from(out_degree);
        let exponent = match options.get(EXPONENT.name) {
            None => 2.3,
            Some(text) => text
                .parse()
                .ok()
                .filter(|exponent: &f64| *exponent >= 2.01 && *exponent <= 100.0)
                .ok_or_else(|| options.error(format!("the exponent `{text}` is not a number from 2.01 to 100")))?,
        };
        let in_order = match options.get(ORDER.name) {
            None | Some("crawl") => true,
            Some("random") => false,
            Some(text) => return Err(options.error(format!("the order `{text}` is neither crawl nor random"))),
        };
        let default = u128::from(DEFAULT_ARCS_PER_VERTEX * vertices).min(room) as u64;
        let arcs = options.number(ARCS.name, 0)?.unwrap_or(default);
        let replies = (options.share(RECIPROCITY.name, 0.0)? / 2.0 * arcs as f64) as u64;
        if u128::from(arcs - replies) > room {
            let linking = vertices - silent;
            return Err(options.error(format!(
                "{linking} vertices with at most {out_degree} links each have room for {room} links, not for {}",
                arcs - replies
            )));
        }
        let (local, copied) = (options.share(LOCAL.name, 0.8)?, options.share(COPIED.name, 0.5)?);
        Ok(Crawl { vertices, arcs, replies, silent, out_degree, site, local, copied, exponent, in_order })
    }

    fn links(&self) -> u64 {
        self.arcs - self.replies
    }

    fn parts(&self) -> u64 {
        self.vertices.div_ceil(VERTICES_PER_PART)
    }
}

impl Generator for Crawl {
    fn vertices(&self) -> u64 {
        self.vertices
    }

    fn edges(&self) -> u64 {
        self.arcs
    }

    fn scratch(&self) -> u64 {
        self.scratch_of_share(1)
    }

    fn scratch_of_share(&self, count: usize) -> u64 {
        /// Its weight, degree and site.
        const BYTES_PER_VERTEX: u64 = 20;
        let prepared = self.vertices * BYTES_PER_VERTEX;
        if self.replies == 0 {
            return prepared;
        }
        prepared.saturating_add(replies::bytes(self.vertices, self.links()) / count as u64)
    }

    fn is_directed(&self) -> bool {
        true
    }

    fn draw(&self, seed: u64) -> Result<Edges> {
        let pages = Pages::new(self.clone(), seed)?;
        if self.replies > 0 {
            let replies = Replies::new(pages, 0..self.parts())?;
            let all = replies.tally();
            return Ok(replies.edges(0, all));
        }
        Ok(Edges::by_part(self.parts() as usize, move |part| {
            let range = pages.range(part as u64);
            let links: u64 = range.clone().map(|page| u64::from(pages.degrees[page as usize])).sum();
            let mut edges = memory::with_capacity("the edges of a part", links as usize)?;
            let mut row = Vec::new();
            for page in range {
                pages.links_of(page, &mut row)?;
                edges.extend(row.iter().map(|&head| (pages.name(page), pages.name(head.into()))));
            }
            Ok(EdgeList { weights: vec![Unit; edges.len()], edges })
        }))
    }

    /// With replies, a share has the links of consecutive pages; which of them are answered depends on how many can be in all shares.
    fn draw_share(&self, seed: u64, share: Share) -> Result<Option<DrawnShare>> {
        if self.replies == 0 {
            return Ok(None);
        }
        let replies = Replies::new(Pages::new(self.clone(), seed)?, share.of(self.parts()))?;
        let tally = replies.tally();
        Ok(Some(DrawnShare::Counted(Counted { tally, draw: Box::new(move |before, all| replies.edges(before, all)) })))
    }
}

/// What the links of each page are drawn from.
struct Pages {
    recipe: Crawl,
    /// The first page of each site, and the number of pages at the end.
    first_pages: Vec<u32>,
    /// The site of each page.
    sites: Vec<u32>,
    /// The number of links of each page.
    degrees: Vec<u32>,
    /// Where in it a page is below `silent`, the page is silent.
    voices: Permutation,
    /// The pages by popularity.
    popular: Permutation,
    names: Permutation,
    choices: Stream,
    ends: Stream,
    templates: Stream,
    /// Of 2^32 draws, those that are copied, and those that are local.
    copied: u64,
    local: u64,
    /// A uniform number to this power is a rank, as a share of all.
    rank_power: f64,
}

impl Pages {
    fn new(recipe: Crawl, seed: u64) -> Result<Self> {
        let vertices = recipe.vertices;
        let (first_pages, sites) = sites(&recipe, seed)?;
        let share = |share: f64| (share * 4_294_967_296.0) as u64;
        let voices = Permutation::new(seed, purpose::VOICES, vertices);
        Ok(Pages {
            degrees: degrees(&recipe, &voices, seed)?,
            first_pages,
            sites,
            voices,
            popular: Permutation::new(seed, purpose::RANKS, vertices),
            names: Permutation::new(seed, purpose::NAMES, vertices),
            choices: Stream::new(seed, purpose::EDGES),
            ends: Stream::new(seed, purpose::ENDS),
            templates: Stream::new(seed, purpose::TEMPLATES),
            copied: share(recipe.copied),
            local: share(recipe.local),
            rank_power: (recipe.exponent - 1.0) / (recipe.exponent - 2.0),
            recipe,
        })
    }

    /// The pages of a part.
    fn range(&self, part: u64) -> std::ops::Range<u64> {
        let first = part * VERTICES_PER_PART;
        first..self.recipe.vertices.min(first + VERTICES_PER_PART)
    }

    fn name(&self, page: u64) -> VertexId {
        (if self.recipe.in_order { page } else { self.names.at(page) }) as VertexId
    }

    fn is_silent(&self, page: u64) -> bool {
        self.voices.at(page) < self.recipe.silent
    }

    /// The heads of a page's links in `row`, ascending.
    fn links_of(&self, page: u64, row: &mut Vec<VertexId>) -> Result<()> {
        let degree = self.degrees[page as usize] as usize;
        row.clear();
        memory::grow("the links of a page", row, degree)?;
        let most_draws = 4 * degree as u64 + 64;
        let mut draws = 0;
        while row.len() < degree && draws < most_draws {
            let missing = (degree - row.len()) as u64;
            row.extend((draws..draws + missing).map(|draw| self.head(page, draw) as VertexId));
            draws += missing;
            row.sort_unstable();
            row.dedup();
            if let Ok(place) = row.binary_search(&(page as VertexId)) {
                row.remove(place);
            }
        }
        // What small sites have no room for leads to the next pages.
        let mut next = page;
        while row.len() < degree {
            next = (next + 1) % self.recipe.vertices;
            if let Err(place) = row.binary_search(&(next as VertexId)) {
                row.insert(place, next as VertexId);
            }
        }
        Ok(())
    }

    /// The head of a drawn link, which may be the page itself.
    fn head(&self, page: u64, draw: u64) -> u64 {
        let mut page = page;
        loop {
            let index = page << 32 | draw;
            let choice = self.choices.at(index);
            let site = self.sites[page as usize] as usize;
            let (first, end) = (u64::from(self.first_pages[site]), u64::from(self.first_pages[site + 1]));
            if choice >> 32 < self.copied {
                let template = page.checked_sub(1 + self.templates.below(page, TEMPLATES));
                if let Some(template) = template.filter(|&template| template >= first) {
                    page = template;
                    continue;
                }
            }
            let random = self.ends.at(index);
            let vertices = self.recipe.vertices;
            if u64::from(choice as u32) >= self.local {
                let rank = (vertices as f64 * power(unit(random), self.rank_power)) as u64;
                return self.popular.at(rank.min(vertices - 1));
            }
            // A block of the site that holds the page, of 2, 4, 8, .. pages, up to all.
            let levels = u64::from((end - first).next_power_of_two().trailing_zeros()).max(1);
            let level = 1 + (((random >> 32) * levels) >> 32);
            let start = (page - first) >> level << level;
            let length = (1 << level).min(end - first - start);
            let along = unit(random << 32);
            let offset = power(length as f64 + 1.0, along * along) as u64;
            return first + start + offset.saturating_sub(1).min(length - 1);
        }
    }
}

/// The first page of each site, with the number of pages at the end, and the site of each page.
fn sites(recipe: &Crawl, seed: u64) -> Result<(Vec<u32>, Vec<u32>)> {
    let sizes = Stream::new(seed, purpose::SITES);
    let mut first_pages = vec![0];
    let mut sites = memory::with_capacity("the sites of pages", recipe.vertices as usize)?;
    let least = LEAST_SITE.min(recipe.site);
    while (sites.len() as u64) < recipe.vertices {
        let site = first_pages.len() - 1;
        let size = (least as f64 / (1.0 - unit(sizes.at(site as u64)))) as u64;
        let end = recipe.vertices.min(sites.len() as u64 + size.min(recipe.site));
        sites.resize(end as usize, site as u32);
        memory::grow("the first pages of sites", &mut first_pages, 1)?;
        first_pages.push(end as u32);
    }
    Ok((first_pages, sites))
}

/// The number of links of each page: a random weight times the factor that makes the sum right, cut at the most.
fn degrees(recipe: &Crawl, voices: &Permutation, seed: u64) -> Result<Vec<u32>> {
    const HALVINGS: u32 = 52;
    const GREATEST_FACTOR: f64 = 1e18;
    let random = Stream::new(seed, purpose::DEGREES);
    let rounding = Stream::new(seed, purpose::ROUNDING);
    let pages = (0..recipe.vertices as usize).into_par_iter().with_min_len(1 << 12);
    // A power law with exponent 3 that begins near 0, so that most pages have less than the average.
    let weights = pages.clone().map(|page| match voices.at(page as u64) < recipe.silent {
        true => 0.0,
        false => 1e-9 + 1.0 / (1.0 - unit(random.at(page as u64))).sqrt() - 1.0,
    });
    let weights: Vec<f64> = memory::collected("the weights of pages", weights)?;
    let degree = |page: usize, factor: f64| match weights[page] {
        0.0 => 0,
        weight => ((weight * factor + unit(rounding.at(page as u64))) as u64).min(recipe.out_degree),
    };
    let sum = |factor: f64| pages.clone().map(|page| degree(page, factor)).sum::<u64>();
    let (mut low, mut high) = (0.0, 1.0);
    while sum(high) < recipe.links() && high < GREATEST_FACTOR {
        high *= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if sum(middle) <= recipe.links() { low = middle } else { high = middle }
    }
    let mut degrees: Vec<u32> = memory::collected("the degrees of pages", pages.map(|page| degree(page, low) as u32))?;
    // Few are left; there is room for them, or the recipe would have been refused.
    let mut left = recipe.links().saturating_sub(degrees.iter().map(|&degree| u64::from(degree)).sum());
    while left > 0 {
        for (degree, weight) in degrees.iter_mut().zip(&weights) {
            if left > 0 && *weight > 0.0 && u64::from(*degree) < recipe.out_degree {
                *degree += 1;
                left -= 1;
            }
        }
    }
    Ok(degrees)
}

#[cfg(test)]
mod tests;
