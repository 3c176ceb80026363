//! The edges of a generated graph in parts, for those who keep only some of its arcs each.

use super::{Counted, DrawnShare, EDGES_PER_PART, Edges, Recipe, Shape, Share};
use crate::graph::VertexId;
use crate::{Error, Result, memory};

/// The edges of a recipe, in parts that can be drawn in any order and by anybody: together they are the edges of the graph.
///
/// ```
/// use warpath::generate::Recipe;
/// let recipe = Recipe::beyond_one_machine("grid:3x2")?;
/// let parts = recipe.in_parts()?;
/// let drawn = parts.draw(0)?;
/// assert_eq!((parts.count(), drawn.edges.len(), drawn.edges[0]), (1, 7, (0, 1)));
/// # Ok::<(), warpath::Error>(())
/// ```
pub struct EdgeParts {
    drawing: Drawing,
    /// The first part of the drawing, and from one part to the next one.
    first: usize,
    step: usize,
}

enum Drawing {
    /// As the generator has it.
    Edges(Edges),
    /// All arcs between so many vertices, a row in each part.
    Complete(u64),
    /// What other shares have counted is not known yet.
    Counted(Counted),
}

/// Edges of one part: pairs of vertices, both arcs of an undirected edge in one pair.
#[derive(Debug, Clone, Default)]
pub struct DrawnEdges {
    /// The ends of each edge.
    pub edges: Vec<(u64, u64)>,
    /// The length of each edge, if the generator measures them.
    pub lengths: Option<Vec<u32>>,
}

impl Recipe {
    /// Parses the specification of a graph that may have up to 2^48 vertices, which [`Recipe::in_parts`] makes and
    /// [`Recipe::generate`] refuses. Only `kron` and `grid` make graphs of more than 2^32 vertices.
    ///
    /// ```
    /// use warpath::generate::Recipe;
    /// assert_eq!(Recipe::beyond_one_machine("kron:38")?.vertices(), 1 << 38);
    /// assert!("kron:38".parse::<Recipe>().is_err());
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] says what is wrong with it.
    pub fn beyond_one_machine(text: &str) -> Result<Self> {
        const MOST_VERTICES: u64 = 1 << 48;
        let recipe = Recipe::parse(text, MOST_VERTICES)?;
        let is_wide = matches!(recipe.shape, Shape::Kronecker(_) | Shape::Grid(_));
        if is_wide { Ok(recipe) } else { text.parse() }
    }

    /// Prepares the drawing of all edges in parts. O(1), except that `roads` is drawn here as a whole.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn in_parts(&self) -> Result<EdgeParts> {
        self.share(0, 1)
    }

    /// Prepares the drawing of one of `count` shares, with the parts that are in it; together the shares are the edges of the graph. `rgg` takes the memory of a share for its points,
    /// and looks at all of them: O(vertices). `roads` chooses all streets, and draws those of a share. `crawl` prepares the degrees of all pages; where links are answered it draws the links of a share, of which all shares have to
    /// know how many can be answered: [`EdgeParts::tally`].
    ///
    /// ```
    /// use warpath::generate::Recipe;
    /// let recipe = Recipe::beyond_one_machine("rgg:10")?;
    /// let edges_of = |index| -> warpath::Result<usize> {
    ///     let share = recipe.share(index, 3)?;
    ///     (0..share.count()).map(|part| Ok(share.draw(part)?.edges.len())).sum()
    /// };
    /// assert_eq!(2 * (edges_of(0)? + edges_of(1)? + edges_of(2)?), warpath::generate("rgg:10")?.arcs());
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], and [`Error::InvalidRequest`] if `index` is not below `count`.
    pub fn share(&self, index: usize, count: usize) -> Result<EdgeParts> {
        if index >= count {
            return Err(Error::invalid(format!("there is no share {index} of {count}")));
        }
        let generator = self.shape.generator();
        if count > 1
            && let Some(share) = generator.draw_share(self.seed, Share { index, count })?
        {
            let drawing = match share {
                DrawnShare::Ready(edges) => Drawing::Edges(edges),
                DrawnShare::Counted(counted) => Drawing::Counted(counted),
            };
            return Ok(EdgeParts { drawing, first: 0, step: 1 });
        }
        let drawing = match &self.shape {
            Shape::Dense(_) => Drawing::Complete(self.vertices()),
            _ => Drawing::Edges(generator.draw(self.seed)?),
        };
        Ok(EdgeParts { drawing, first: index, step: count })
    }

    /// Bytes of memory that [`Recipe::share`] takes for one of `count` shares: for the edges of `roads`, and what other generators
    /// prepare.
    pub fn bytes_of_share(&self, count: usize) -> u64 {
        const BYTES_PER_EDGE: u64 = size_of::<(VertexId, VertexId, u32)>() as u64;
        let generator = self.shape.generator();
        let edges =
            if generator.has_lengths() { generator.edges_of_share(count).saturating_mul(BYTES_PER_EDGE) } else { 0 };
        generator.scratch_of_share(count).saturating_add(edges)
    }

    /// Whether the edges come with lengths that are the weights.
    pub fn keeps_lengths(&self) -> bool {
        self.keeps_lengths
    }
}

impl EdgeParts {
    /// What this share has counted, if the edges of each share depend on the counts of all of them. Such a share has no parts before
    /// [`EdgeParts::knowing`] is called.
    ///
    /// ```
    /// use warpath::generate::Recipe;
    /// let recipe: Recipe = "crawl:20000,reciprocity=0.5".parse()?;
    /// let (first, second) = (recipe.share(0, 2)?, recipe.share(1, 2)?);
    /// let counts = [&first, &second].map(|share| share.tally().unwrap_or(0));
    /// let second = second.knowing(counts[0], counts[0] + counts[1]);
    /// assert!(first.count() == 0 && second.count() > 0 && second.tally().is_none());
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn tally(&self) -> Option<u64> {
        match &self.drawing {
            Drawing::Counted(counted) => Some(counted.tally),
            Drawing::Edges(_) | Drawing::Complete(_) => None,
        }
    }

    /// The same share where the tallies of the shares before it add up to `before`, and those of all shares to `all`. Does nothing to a share without a tally. O(1).
    #[must_use]
    pub fn knowing(self, before: u64, all: u64) -> Self {
        match self.drawing {
            Drawing::Counted(counted) => EdgeParts { drawing: Drawing::Edges((counted.draw)(before, all)), ..self },
            Drawing::Edges(_) | Drawing::Complete(_) => self,
        }
    }

    /// The number of parts.
    pub fn count(&self) -> usize {
        self.count_of_drawing().saturating_sub(self.first).div_ceil(self.step)
    }

    fn count_of_drawing(&self) -> usize {
        match &self.drawing {
            Drawing::Complete(vertices) => *vertices as usize,
            Drawing::Counted(_) => 0,
            Drawing::Edges(Edges::Parts { count, .. }) => *count,
            Drawing::Edges(Edges::Lengths(list)) => list.len().div_ceil(EDGES_PER_PART),
            Drawing::Edges(Edges::Rows(csr)) => csr.vertices(),
        }
    }

    /// The edges of a part, which is below [`EdgeParts::count`].
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn draw(&self, part: usize) -> Result<DrawnEdges> {
        let part = self.first + part * self.step;
        let wide = |&(u, v): &(VertexId, VertexId)| (u64::from(u), u64::from(v));
        let (edges, lengths) = match &self.drawing {
            Drawing::Complete(vertices) => {
                let tail = part as u64;
                let mut edges = memory::with_capacity("the edges of a part", *vertices as usize)?;
                edges.extend((0..*vertices).filter(|&head| head != tail).map(|head| (tail, head)));
                (edges, None)
            }
            Drawing::Counted(_) => return Err(Error::invalid("the share does not know the tallies of other shares")),
            Drawing::Edges(Edges::Parts { draw_wide: Some(draw), .. }) => (draw(part)?, None),
            Drawing::Edges(Edges::Parts { draw, .. }) => {
                (memory::listed("the edges of a part", draw(part)?.edges.iter().map(wide))?, None)
            }
            Drawing::Edges(Edges::Lengths(list)) => {
                let first = part * EDGES_PER_PART;
                let range = first..list.len().min(first + EDGES_PER_PART);
                let edges = memory::listed("the edges of a part", list.edges[range.clone()].iter().map(wide))?;
                (edges, Some(memory::listed("the lengths of a part", list.weights[range].iter().copied())?))
            }
            Drawing::Edges(Edges::Rows(csr)) => {
                let heads = csr.neighbors(part as VertexId).iter();
                let edges = heads.map(|&head| (part as u64, u64::from(head)));
                (memory::listed("the edges of a part", edges)?, None)
            }
        };
        Ok(DrawnEdges { edges, lengths })
    }
}

#[cfg(test)]
mod tests {
    use crate::generate::Recipe;
    use crate::graph::{Direction, SelfLoops};
    use crate::{Control, GraphBuilder};

    #[test]
    fn the_parts_are_the_graph() {
        for specification in [
            "kron:0",
            "kron:1,edges-per-vertex=900",
            "kron:9",
            "kron:13,edges-per-vertex=9",
            "uniform:9",
            "grid:30x41",
            "grid:1x1",
            "rgg:9",
            "scale-free:900",
            "crawl:900",
            "crawl:900,order=random,reciprocity=0.5",
            "crawl:50000,arcs=150000,silent=0.3,reciprocity=0.7,order=random",
            "roads:900",
            "dense:40",
        ] {
            let recipe = Recipe::beyond_one_machine(specification).unwrap();
            let edges_of = |count: usize| {
                let mut edges = Vec::new();
                let shares: Vec<_> = (0..count).map(|index| recipe.share(index, count).unwrap()).collect();
                let tallies: Vec<u64> = shares.iter().map(|share| share.tally().unwrap_or(0)).collect();
                for (index, share) in shares.into_iter().enumerate() {
                    let parts = share.knowing(tallies[..index].iter().sum(), tallies.iter().sum());
                    for part in 0..parts.count() {
                        let drawn = parts.draw(part).unwrap();
                        assert_eq!(drawn.lengths.is_some(), recipe.keeps_lengths(), "{specification}");
                        let lengths = drawn.lengths.unwrap_or_else(|| vec![1; drawn.edges.len()]);
                        let ends = drawn.edges.iter().map(|&(u, v)| (u as u32, v as u32));
                        edges.extend(ends.zip(lengths).map(|((u, v), length)| (u, v, length)));
                    }
                }
                edges.sort_unstable();
                edges
            };
            let edges = edges_of(1);
            for count in [2, 3, 7, 500] {
                assert!(edges_of(count) == edges, "{specification} in {count} shares");
            }
            assert!(recipe.share(2, 2).is_err() && recipe.share(0, 0).is_err());
            assert!(recipe.bytes_of_share(4) <= recipe.bytes_of_share(1), "{specification}");
            let direction = if recipe.is_directed() { Direction::Directed } else { Direction::Undirected };
            let builder = GraphBuilder::new().vertices(recipe.vertices()).direction(direction);
            let built = builder.self_loops(SelfLoops::Drop).build_from(edges).unwrap();
            let graph = recipe.generate(&Control::new()).unwrap();
            assert_eq!(built.csr().offsets(), graph.csr().offsets(), "{specification}");
            assert_eq!(built.csr().targets(), graph.csr().targets(), "{specification}");
            assert_eq!(built.input_counts(), graph.input_counts(), "{specification}");
            if recipe.keeps_lengths() {
                assert!(built.edges().eq(graph.edges()), "{specification}");
            }
        }
    }

    /// Threads may share the parts of a share.
    #[test]
    fn parts_are_drawn_by_many_threads() {
        fn is_shared<T: Sync>(_: &T) {}
        is_shared(&"crawl:20000,reciprocity=0.5".parse::<Recipe>().unwrap().share(1, 2).unwrap());
    }

    #[test]
    fn graphs_beyond_one_machine_are_not_generated_on_one() {
        let recipe = Recipe::beyond_one_machine("kron:33,edges-per-vertex=1").unwrap();
        let error = recipe.generate(&Control::new()).unwrap_err().to_string();
        assert!(error.contains("has more vertices than the 4294967294 that one machine takes"), "{error}");
        let parts = recipe.in_parts().unwrap();
        let drawn = parts.draw(parts.count() - 1).unwrap();
        assert!(drawn.edges.iter().all(|&(u, v)| u < 1 << 33 && v < 1 << 33));
        assert!(drawn.edges.iter().any(|&(u, v)| u > 1 << 32 || v > 1 << 32));
        for other in ["uniform:33", "scale-free:5000000000", "kron:49", "grid:16777216x16777217"] {
            assert!(Recipe::beyond_one_machine(other).is_err(), "{other}");
        }
    }
}
