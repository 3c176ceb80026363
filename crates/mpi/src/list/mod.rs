//! A text list of edges that all ranks read together: each the lines of its bytes.
//!
//! Vertices are numbered as on one machine: in the order of their names if all of these are integers ([`integers`]), else in the order in which they
//! appear ([`words`]).

mod integers;
mod words;

use std::path::Path;

use warpath::ReadOptions;
use warpath::formats::StoredEdges;
use warpath::graph::Weights;

use crate::listed_edges::{ListedEdges, VertexNames};
use crate::world::{Outcome, World};

/// The edges that a rank has read, by the numbers of vertices.
struct Shared {
    /// The number of vertices of all ranks.
    vertices: u64,
    /// The number of edges of all ranks.
    count: u64,
    edges: Vec<(u64, u64)>,
    weights: Weights,
    names: VertexNames,
}

/// Reads a list. All ranks call it together.
pub(crate) fn read(world: &World, path: &Path, options: &ReadOptions) -> Outcome<ListedEdges> {
    let list = world.agree(StoredEdges::open(path, options))?;
    world.same_file(path, list.fingerprint())?;
    let share = list.share(world.rank(), world.ranks());
    // What is wrong with a line is told as on one machine: of the first one, if names are words.
    let have_words = world.any(matches!(share, Ok(None)));
    let share = if have_words { None } else { world.agree(share)? };
    let Shared { vertices, count, edges, weights, names } = match share {
        Some(share) => integers::number(world, &list, share)?,
        None => {
            let share = world.agree(list.share_of_words(world.rank(), world.ranks()))?;
            words::number(world, &list, share)?
        }
    };
    let (directed, keeps_loops) = (list.is_directed(), list.keeps_loops());
    world.agree(list.check_unchanged())?;
    Ok(ListedEdges { vertices, count, directed, keeps_loops, edges, weights, names })
}
