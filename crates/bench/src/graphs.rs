//! Makes the graphs of a suite: from a dataset if it is present, otherwise from copies of another dataset or from a
//! generator, or from arcs in the suite.
//!
//! Two generators are added to the library's. `layers:VERTICES,levels=LEVELS` is a small directed graph on which a
//! breadth-first search from vertex 0 has this many levels. `random:VERTICES,edges=EDGES` is the uniform random graph
//! of the papers on any number of vertices: undirected, without loops. If all pairs can be enumerated, exactly this
//! many edges are chosen, every set of them equally likely; otherwise pairs are drawn one by one, and repeated pairs
//! merge.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use warpath::generate::{DEFAULT_SEED, WeightRange};
use warpath::graph::{
    Components, Direction, EdgeList, SelfLoops, Unit, WeightKind, strongly_connected_components,
    weakly_connected_components,
};
use warpath::problems::Problem;
use warpath::{Control, Error, Graph, GraphBuilder, Result, VertexId};

use crate::datasets;
use crate::jobs::{Questions, Wanted};
use crate::results::GraphFacts;
use crate::suite::{Experiment, GraphEntry, Job};

/// A graph, and what is known about it.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) graph: Arc<Graph>,
    pub(crate) origin: String,
    pub(crate) stand_in: Option<String>,
    pub(crate) load_seconds: f64,
    /// Whether it is the small graph of a quick run.
    small: bool,
    components: Components,
    /// For each vertex, whether a search may begin there.
    is_start: Vec<bool>,
}

/// How to make graphs.
#[derive(Debug, Clone)]
pub(crate) struct Making<'a> {
    pub(crate) quick: bool,
    pub(crate) scale: Option<u32>,
    pub(crate) data: Option<&'a Path>,
    pub(crate) control: &'a Control,
}

impl Making<'_> {
    /// Makes a graph.
    pub(crate) fn make(&self, entry: &GraphEntry) -> Result<Made> {
        let start = Instant::now();
        let (graph, origin, stand_in) = self.source(entry)?;
        let graph = match entry.weights.as_deref() {
            None => graph,
            Some("unit") => graph.without_weights(),
            Some(range) => weighted(graph, range)?,
        };
        let graph = match entry.weights_if_none.as_deref() {
            Some(range) if graph.weight_kind() == WeightKind::Unit => weighted(graph, range)?,
            _ => graph,
        };
        let load_seconds = start.elapsed().as_secs_f64();
        let components = weakly_connected_components(&graph)?;
        let is_start = starts(&graph, &components)?;
        let small = self.quick && entry.quick.is_some() && entry.arcs.is_none();
        Ok(Made { graph: Arc::new(graph), origin, stand_in, load_seconds, small, components, is_start })
    }

    fn source(&self, entry: &GraphEntry) -> Result<(Graph, String, Option<String>)> {
        if let Some(arcs) = &entry.arcs {
            return Ok((Graph::from_edges(arcs.iter().copied())?, "arcs of the suite".into(), entry.stand_in.clone()));
        }
        if self.quick
            && let Some(recipe) = &entry.quick
        {
            let recipe = self.scaled(recipe);
            let instead = format!("a small graph for a quick run, in place of {}", entry.title);
            return Ok((self.generate(&recipe)?, recipe, Some(instead)));
        }
        if let Some(name) = &entry.dataset {
            let dataset = datasets::named(name)?;
            if let Some(file) = self.data.and_then(|folder| dataset.find(folder)) {
                let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let graph = dataset.options(&name, self.control)?.read(&file.path)?;
                // Files behind a page, and files of other publishers, have other numbers of lines.
                let is_published = dataset.url.is_some() && name.starts_with(dataset.file_name());
                let differs = file.differs.or_else(|| dataset.difference(&graph, is_published));
                let graph = match entry.among_first {
                    Some((first, weight)) => among_first(&graph, first, weight)?,
                    None => graph,
                };
                return Ok((graph, name, differs.or_else(|| entry.stand_in.clone())));
            }
        }
        let absent = entry.dataset.as_ref().map(|name| {
            let differs = entry.instead.as_ref().map_or(String::new(), |differs| format!(": {differs}"));
            format!("stands in for the dataset {name}, which is absent{differs}")
        });
        let stand_in = absent.or_else(|| entry.stand_in.clone());
        if let Some((graph, origin)) = self.tiled(entry)? {
            return Ok((graph, origin, stand_in));
        }
        let recipe = entry.recipe.as_ref().ok_or_else(|| {
            Error::invalid(format!("graph {}: the dataset is absent and nothing stands in for it", entry.id))
        })?;
        let recipe = self.scaled(recipe);
        Ok((self.generate(&recipe)?, recipe, stand_in))
    }

    /// The graph of copies of another dataset, and its origin, if that dataset is present.
    fn tiled(&self, entry: &GraphEntry) -> Result<Option<(Graph, String)>> {
        let Some(tiles) = &entry.tiles else { return Ok(None) };
        let dataset = datasets::named(&tiles.of)?;
        let Some(file) = self.data.and_then(|folder| dataset.find(folder)) else { return Ok(None) };
        let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let graph = dataset.options(&name, self.control)?.read(&file.path)?.with_direction(Direction::Undirected)?;
        Ok(Some((graph.tiled(tiles.vertices)?, format!("{name}, tiled to {} vertices", tiles.vertices))))
    }

    fn scaled(&self, recipe: &str) -> String {
        match self.scale {
            Some(scale) => recipe.replace("{scale}", &scale.to_string()),
            None => recipe.to_owned(),
        }
    }

    fn generate(&self, recipe: &str) -> Result<Graph> {
        match recipe.split_once(':') {
            Some(("random", size)) => random(size),
            Some(("layers", size)) => layers(size),
            _ => recipe.parse::<warpath::generate::Recipe>()?.generate(self.control),
        }
    }
}

/// Where searches may begin: at the vertices with arcs of the largest strong component, from which a search reaches as
/// much as from anywhere else. Where it has less than a tenth of the largest weak component, as in a graph without
/// circles, at those of the weak one. In an undirected graph, both are the same.
fn starts(graph: &Graph, weak: &Components) -> Result<Vec<bool>> {
    let members = |components: &Components| -> Result<Vec<bool>> {
        let largest = components.largest()?;
        let is_member = |v: VertexId| Some(components.of[v as usize]) == largest && graph.degree(v) > 0;
        Ok((0..graph.vertices() as VertexId).map(is_member).collect())
    };
    if graph.is_directed() {
        let strong = strongly_connected_components(graph)?;
        let size = |components: &Components| Ok::<_, Error>(components.sizes()?.into_iter().max().unwrap_or(0));
        if size(&strong)?.saturating_mul(10) >= size(weak)? {
            return members(&strong);
        }
    }
    members(weak)
}

fn weighted(graph: Graph, range: &str) -> Result<Graph> {
    let WeightRange { low, high } = range.parse()?;
    graph.with_random_weights(low, high, DEFAULT_SEED)
}

/// The arcs of this weight among the `first` vertices with the smallest numbers; their weights are dropped.
fn among_first(graph: &Graph, first: u32, weight: i64) -> Result<Graph> {
    let mut order: Vec<(u64, VertexId)> =
        (0..graph.vertices() as VertexId).map(|v| (graph.name(v).parse().unwrap_or(u64::MAX), v)).collect();
    order.sort_unstable();
    let mut place = vec![u32::MAX; graph.vertices()];
    for (index, (_, v)) in order.iter().take(first as usize).enumerate() {
        place[*v as usize] = index as u32;
    }
    let arcs = graph.edges().filter(|(_, _, w)| *w == weight as f64);
    let among = arcs.map(|(u, v, _)| (place[u as usize], place[v as usize]));
    let vertices = first.min(order.len() as u32);
    let edges = among.filter(|(u, v)| *u != u32::MAX && *v != u32::MAX);
    GraphBuilder::new().vertices(vertices.into()).build_from(edges)
}

/// The graph of `VERTICES,edges=EDGES`.
fn random(size: &str) -> Result<Graph> {
    let bad = || Error::invalid(format!("`random:{size}` is not of the form random:VERTICES,edges=EDGES"));
    let (vertices, edges) = size.split_once(",edges=").ok_or_else(bad)?;
    let (vertices, edges): (u32, u64) = (vertices.parse().map_err(|_| bad())?, edges.parse().map_err(|_| bad())?);
    let pairs = u64::from(vertices) * u64::from(vertices.saturating_sub(1)) / 2;
    if edges > pairs {
        return Err(Error::invalid(format!("{vertices} vertices have room for {pairs} edges, not for {edges}")));
    }
    const GONE_THROUGH: u64 = 1 << 28;
    let lists = if pairs <= GONE_THROUGH { vec![chosen(vertices, edges, pairs)] } else { drawn(vertices, edges) };
    let builder = GraphBuilder::new().vertices(vertices.into()).direction(Direction::Undirected);
    builder.self_loops(SelfLoops::Drop).build(lists)
}

/// The graph of `VERTICES,levels=LEVELS`: each vertex but the first has an arc from a vertex of the level before, and
/// one to itself or an earlier vertex.
fn layers(size: &str) -> Result<Graph> {
    let bad = || Error::invalid(format!("`layers:{size}` is not of the form layers:VERTICES,levels=LEVELS"));
    let (vertices, levels) = size.split_once(",levels=").ok_or_else(bad)?;
    let (vertices, levels): (u32, u32) = (vertices.parse().map_err(|_| bad())?, levels.parse().map_err(|_| bad())?);
    if levels == 0 || vertices < levels || (levels == 1 && vertices > 1) {
        return Err(bad());
    }
    // Vertex 0 alone is the first level; the others share the rest.
    let first = |level: u32| if level == 0 { 0 } else { 1 + (vertices - 1) * (level - 1) / (levels - 1).max(1) };
    let mut arcs = Vec::new();
    for level in 1..levels {
        for v in first(level)..first(level + 1) {
            let before = first(level) - first(level - 1);
            arcs.push((first(level - 1) + (v - first(level)) % before, v));
            arcs.push((v, below(number(v.into()), v.into()) as u32));
        }
    }
    GraphBuilder::new().vertices(vertices.into()).build_from(arcs)
}

/// Numbers that depend on their index alone (SplitMix64).
fn number(index: u64) -> u64 {
    let mut z = (index.wrapping_add(DEFAULT_SEED)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number below `limit` from one of 64 bits.
fn below(number: u64, limit: u64) -> u64 {
    ((u128::from(number) * u128::from(limit)) >> 64) as u64
}

/// Takes every pair with the probability that makes all sets of this size equally likely (selection sampling, Knuth
/// 3.4.2).
fn chosen(vertices: u32, edges: u64, pairs: u64) -> EdgeList<Unit> {
    let mut list = EdgeList::new();
    let (mut left, mut wanted) = (pairs, edges);
    for u in 0..vertices {
        for v in u + 1..vertices {
            if below(number(left), left) < wanted {
                list.push(u, v, Unit);
                wanted -= 1;
            }
            left -= 1;
        }
    }
    list
}

fn drawn(vertices: u32, edges: u64) -> Vec<EdgeList<Unit>> {
    const PART: u64 = 1 << 16;
    let end = |index: u64| below(number(index), vertices.into()) as u32;
    let part = |part: u64| {
        let range = part * PART..edges.min((part + 1) * PART);
        let edges: Vec<_> = range.map(|index| (end(2 * index), end(2 * index + 1))).collect();
        EdgeList { weights: vec![Unit; edges.len()], edges }
    };
    (0..edges.div_ceil(PART)).into_par_iter().map(part).collect()
}

impl Made {
    /// The sources of an experiment: those it names, or at most `most` spread over the vertices where searches may begin.
    pub(crate) fn sources(&self, experiment: &Experiment, most: usize) -> Result<Vec<VertexId>> {
        if let Some(names) = &experiment.from {
            let named: Vec<VertexId> = names.iter().filter_map(|name| self.graph.vertex(name).ok()).collect();
            if !named.is_empty() {
                return Ok(named);
            }
        }
        if experiment.job.is_none() && matches!(experiment.problem()?, Problem::Apsp | Problem::Closure) {
            return Ok(Vec::new());
        }
        if self.graph.vertices() == 0 {
            return Err(Error::invalid("the graph has no vertices"));
        }
        let members: Vec<VertexId> = self.starts().collect();
        if members.is_empty() {
            return Ok(vec![0]);
        }
        let count = experiment.sources.min(most).min(members.len());
        Ok((0..count).map(|index| members[index * members.len() / count]).collect())
    }

    /// What a job asks of this graph: from sources as in [`Made::sources`], to vertices drawn among those where searches may
    /// begin, at most `most` of either.
    pub(crate) fn questions(&self, experiment: &Experiment, job: Job, most: usize) -> Result<Questions> {
        let sources = self.sources(experiment, most)?;
        let members: Vec<VertexId> = self.starts().collect();
        let count = match job {
            Job::Rows => 0,
            Job::Table => experiment.targets.min(most),
            _ => sources.len(),
        };
        let drawn = |index| members.get(below(number(index), members.len() as u64) as usize).copied().unwrap_or(0);
        Ok(Questions { job, sources, targets: (0..count as u64).map(drawn).collect() })
    }

    /// What a measure of this graph is: the paths of [`Job::BetweennessFrom`] begin at sources as in [`Made::sources`].
    pub(crate) fn wanted(&self, experiment: &Experiment, measure: Job, most: usize) -> Result<Wanted> {
        let sources = if measure == Job::BetweennessFrom { self.sources(experiment, most)? } else { Vec::new() };
        Ok(Wanted { measure, sources, steps: experiment.steps })
    }

    /// The first source on this graph of experiments that name none.
    pub(crate) fn first_source(&self) -> Option<VertexId> {
        self.starts().next().or_else(|| (0..self.graph.vertices() as VertexId).next())
    }

    /// The vertices where searches may begin.
    fn starts(&self) -> impl Iterator<Item = VertexId> {
        (0..self.graph.vertices() as VertexId).filter(|&v| self.is_start[v as usize])
    }

    /// The facts recorded about it; `frontiers` are the sizes of levels. Strong components cost a sequential search of
    /// the graph.
    pub(crate) fn facts(&self, entry: &GraphEntry, frontiers: Vec<u64>, strong: bool) -> Result<GraphFacts> {
        let graph = &self.graph;
        let mut degrees = vec![0_u64; 65];
        let (mut least, mut greatest) = (u64::MAX, 0);
        for v in 0..graph.vertices() as VertexId {
            let degree = graph.degree(v) as u64;
            degrees[(u64::BITS - degree.leading_zeros()) as usize] += 1;
            (least, greatest) = (least.min(degree), greatest.max(degree));
        }
        degrees.truncate(degrees.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1));
        let weighted = graph.weight_kind() != WeightKind::Unit && graph.arcs() > 0;
        let mean = graph.arcs() as f64 / graph.vertices().max(1) as f64;
        let sizes = |components: &Components| -> Result<(u64, u64)> {
            Ok((components.count as u64, components.sizes()?.into_iter().max().unwrap_or(0)))
        };
        let strong_components =
            if strong && graph.is_directed() { Some(sizes(&strongly_connected_components(graph)?)?) } else { None };
        Ok(GraphFacts {
            id: entry.id.clone(),
            title: if self.small { format!("{}, small", entry.title) } else { entry.title.clone() },
            origin: self.origin.clone(),
            stand_in: self.stand_in.clone(),
            vertices: graph.vertices() as u64,
            arcs: graph.arcs() as u64,
            directed: graph.is_directed(),
            weights: graph.weight_kind().name().to_owned(),
            weight_range: weighted.then(|| graph.weight_range()),
            at: entry.at.unwrap_or(graph.vertices() as f64),
            load_seconds: self.load_seconds,
            components: sizes(&self.components)?,
            strong_components,
            degree: (if graph.vertices() == 0 { 0 } else { least }, mean, greatest),
            degrees,
            frontiers,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_graphs_have_the_edges_asked_for() {
        let graph = random("100,edges=1234").unwrap();
        assert_eq!((graph.vertices(), graph.arcs(), graph.input_counts().self_loops), (100, 2468, 0));
        assert_eq!(random("50,edges=1225").unwrap().arcs(), 2450, "all pairs");
        let sparse = random("20000,edges=60000").unwrap();
        assert!((119_900..=120_000).contains(&sparse.arcs()), "{}", sparse.arcs());
        assert!(random("10,edges=46").is_err() && random("10").is_err() && random("x,edges=1").is_err());
    }

    #[test]
    fn layers_have_the_levels_asked_for() {
        for (vertices, levels) in [(1, 1), (2, 2), (10, 5), (22, 7), (64, 13), (13, 13)] {
            let graph = layers(&format!("{vertices},levels={levels}")).unwrap();
            let tree = warpath::Solver::new(graph.clone()).unwrap().bfs(0).unwrap();
            assert_eq!((graph.vertices(), tree.reached()), (vertices, vertices as u64));
            assert_eq!(tree.max_distance().unwrap().to_f64() as usize + 1, levels);
        }
        assert!(layers("3,levels=4").is_err() && layers("x").is_err());
    }

    #[test]
    fn strong_components_are_counted_where_the_suite_wants_them() {
        let entry = |arcs: &str| -> GraphEntry { toml::from_str(&format!("id = 'x'\ntitle = 'x'\n{arcs}")).unwrap() };
        let control = Control::new();
        let making = Making { quick: false, scale: None, data: None, control: &control };
        // A cycle of three, with a way out.
        let directed = entry("arcs = [[0, 1], [1, 2], [2, 0], [2, 3]]");
        let facts = |entry: &GraphEntry, strong| making.make(entry).unwrap().facts(entry, Vec::new(), strong).unwrap();
        assert_eq!(facts(&directed, true).strong_components, Some((2, 3)));
        assert_eq!(facts(&directed, true).components, (1, 4));
        assert_eq!(facts(&directed, false).strong_components, None);
        assert_eq!(facts(&entry("recipe = 'grid:3x3'"), true).strong_components, None, "edges have no direction");
    }

    #[test]
    fn a_dataset_with_other_counts_stands_in() {
        let folder = tempfile::tempdir().unwrap();
        let entry: GraphEntry = toml::from_str("id = 'x'\ntitle = 'x'\ndataset = 'facebook'").unwrap();
        let control = Control::new();
        let making = Making { quick: false, scale: None, data: Some(folder.path()), control: &control };
        let made = |vertices: u32, edges: usize| {
            let apart = (1..).flat_map(|apart| (0..vertices - apart).map(move |u| (u, u + apart)));
            let lines: String = apart.take(edges).map(|(u, v)| format!("{u} {v}\n")).collect();
            std::fs::write(folder.path().join("facebook_combined.txt"), lines).unwrap();
            making.make(&entry).unwrap().stand_in
        };
        assert_eq!(made(4039, 88_234), None);
        let told = made(4039, 5000);
        assert_eq!(told.as_deref(), Some("it has 5000 edges, the published one 88234"));
        assert!(made(1000, 88_234).unwrap().contains("1000 vertices"));
    }

    #[test]
    fn files_of_datasets_that_do_not_tell_how_they_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let control = Control::new();
        let making = Making { quick: false, scale: None, data: Some(folder.path()), control: &control };
        let with_counts = "4 3\n0 1\n1 0\n1 2\n";
        let files = [
            ("luxembourg", "luxembourg_osm.mtx", "2 1\n3 2\n", (3, 4)),
            (
                "delaunay",
                "delaunay_n16.mtx",
                "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n",
                (3, 2),
            ),
            ("enron", "Email-Enron.txt", with_counts, (4, 4)),
        ];
        for (name, file, text, counts) in files {
            std::fs::write(folder.path().join(file), text).unwrap();
            let entry: GraphEntry = toml::from_str(&format!("id = 'x'\ntitle = 'x'\ndataset = '{name}'")).unwrap();
            let graph = making.make(&entry).unwrap_or_else(|error| panic!("{name}: {error}")).graph;
            assert_eq!((graph.vertices(), graph.arcs()), counts, "{name}");
            assert!(!graph.is_directed(), "{name}");
        }
    }

    #[test]
    fn tiles_stand_in_where_their_dataset_is_present() {
        let folder = tempfile::tempdir().unwrap();
        let entry: GraphEntry = toml::from_str(
            "id = 'x'\ntitle = 'x'\ndataset = 'road-e'\nrecipe = 'roads:700'\ninstead = 'fewer bridges'\n\
             tiles = { of = 'road-nw', vertices = 900 }",
        )
        .unwrap();
        let control = Control::new();
        let making = Making { quick: false, scale: None, data: Some(folder.path()), control: &control };
        let told = "stands in for the dataset road-e, which is absent: fewer bridges";
        let made = making.make(&entry).unwrap();
        assert_eq!((made.graph.vertices(), &*made.origin, made.stand_in.as_deref()), (700, "roads:700", Some(told)));
        let town = warpath::generate("roads:400").unwrap();
        warpath::write(&town, folder.path().join("NW.gr.zst")).unwrap();
        let made = making.make(&entry).unwrap();
        assert_eq!((made.graph.vertices(), made.components.count), (900, 1));
        assert_eq!((&*made.origin, made.stand_in.as_deref()), ("NW.gr.zst, tiled to 900 vertices", Some(told)));
        // The dataset itself comes before anything that stands in for it.
        warpath::write(&town, folder.path().join("USA-road-d.E.gr")).unwrap();
        assert_eq!(making.make(&entry).unwrap().graph.vertices(), 400);
    }

    #[test]
    fn searches_begin_in_the_core_of_a_directed_graph() {
        let starts_of = |graph: Graph| {
            let starts = starts(&graph, &weakly_connected_components(&graph).unwrap()).unwrap();
            (0..graph.vertices()).filter(|&v| starts[v]).collect::<Vec<_>>()
        };
        // 0 leads to the circle of 1, 2 and 3, which leads to 4; 5 and 6 are apart.
        let arcs = [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (5, 6), (6, 5)];
        assert_eq!(starts_of(Graph::from_edges(arcs).unwrap()), [1, 2, 3]);
        // A path of 30 has no circle; its last vertex has no arcs.
        let path: Vec<(u32, u32)> = (1..30).map(|v| (v - 1, v)).collect();
        assert_eq!(starts_of(Graph::from_edges(path).unwrap()), (0..29).collect::<Vec<_>>());
        let undirected = GraphBuilder::new().direction(Direction::Undirected);
        assert_eq!(starts_of(undirected.build_from([(0, 1), (2, 3), (3, 4)]).unwrap()), [2, 3, 4]);
    }

    #[test]
    fn a_part_of_a_graph_is_that_of_the_first_numbers() {
        let text = "5 9 1\n9 5 -1\n5 2 1\n100 5 1\n2 9 1\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.txt");
        std::fs::write(&path, text).unwrap();
        let graph = among_first(&warpath::read(&path).unwrap(), 3, 1).unwrap();
        // Vertices 2, 5 and 9 become 0, 1 and 2.
        let edges: Vec<_> = graph.edges().map(|(u, v, _)| (u, v)).collect();
        assert_eq!(edges, [(0, 2), (1, 0), (1, 2)]);
    }
}
