//! `--plot`: pictures of networks, as SVG, PNG or a page of HTML.
//!
//! `picture` has what is shown, `draw` lays it out and draws it on a canvas of SVG elements (`svg`) or of pixels
//! (`raster`); `html` makes a page that draws by itself.

mod color;
mod draw;
mod html;
mod picture;
mod raster;
mod svg;
mod ticks;

use std::io::Write;
use std::path::Path as FilePath;

use warpath::problems::{Isochrone, Problem};
use warpath::{Control, Distance, Error, Graph, Path, ShortestPathTree, VertexId};

use self::color::{LIGHT, SOURCE, TARGET};
use self::draw::Layout;
use self::picture::{DistanceScale, Mark, Outline, Picture, Route, frame};
use self::raster::Raster;
use self::svg::Svg;
use crate::arguments::CommonArguments;
use crate::failure::Failure;
use crate::geojson::Places;
use crate::output::Output;
use crate::print;

/// A picture in the making: its file, checked before the work.
pub(crate) struct Plot {
    output: Output,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Svg,
    Png,
    Html,
}

/// What a picture of a search shows.
pub(crate) struct SearchShown<'a> {
    /// The name of the graph.
    pub(crate) graph_name: String,
    /// The vertices that distances were asked of.
    pub(crate) targets: &'a [VertexId],
    pub(crate) isochrones: &'a [Isochrone],
    /// Whether distances lead to the source.
    pub(crate) reverse: bool,
    /// Whether the search ended at a cutoff or a target, so that the rest of the network does not matter.
    pub(crate) is_limited: bool,
}

/// What a picture of paths shows.
pub(crate) struct PathsShown<'a> {
    /// The name of the graph.
    pub(crate) graph_name: String,
    pub(crate) ends: [VertexId; 2],
    pub(crate) paths: &'a [Path],
}

impl Plot {
    /// Checks, before the work, that the file can be written and is not an input or the other output.
    pub(crate) fn create(
        path: &FilePath,
        inputs: &[&FilePath],
        other: Option<&FilePath>,
        common: &CommonArguments,
        control: &Control,
    ) -> Result<Self, Failure> {
        let form = match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Form::Svg,
            Some("png") => Form::Png,
            Some("html") => Form::Html,
            _ => {
                let path = path.display();
                let message =
                    format!("`{path}` names no format for a picture: its extension can be .svg, .png or .html");
                return Err(Failure::usage(message));
            }
        };
        if other == Some(path) {
            let path = path.display();
            return Err(Failure::usage(format!("`--output` and `--plot` would both write `{path}`")));
        }
        Ok(Plot { output: Output::open(path, inputs, common, control)?, form })
    }

    /// Draws what a search found.
    pub(crate) fn write_search(
        self,
        graph: &Graph,
        places: &Places,
        tree: &ShortestPathTree,
        shown: &SearchShown<'_>,
    ) -> Result<(), Error> {
        let picture = of_search(graph, places, tree, shown)?;
        self.write(&picture, graph)
    }

    /// Draws paths over the network.
    pub(crate) fn write_paths(self, graph: &Graph, places: &Places, shown: &PathsShown<'_>) -> Result<(), Error> {
        let picture = of_paths(graph, places, shown)?;
        self.write(&picture, graph)
    }

    fn write(mut self, picture: &Picture, graph: &Graph) -> Result<(), Error> {
        let layout = Layout::of(picture);
        let bytes = match self.form {
            Form::Svg => {
                let mut svg = Svg::new(layout.size, LIGHT.background);
                draw::draw(picture, &layout, &LIGHT, &mut svg)?;
                svg.document(&picture.title).into_bytes()
            }
            Form::Png => {
                let mut raster = Raster::new(layout.size, Some(LIGHT.background))?;
                draw::draw(picture, &layout, &LIGHT, &mut raster)?;
                raster.png()?
            }
            Form::Html => html::page(picture, graph)?.into_bytes(),
        };
        self.output.write_all(&bytes).map_err(|error| Error::io(self.output.path(), error))?;
        self.output.finish()
    }
}

fn of_search(
    graph: &Graph,
    places: &Places,
    tree: &ShortestPathTree,
    shown: &SearchShown<'_>,
) -> Result<Picture, Error> {
    let way = if shown.reverse { "to" } else { "from" };
    let what = if tree.problem() == Problem::Bfs { "Breadth-first search" } else { "Shortest paths" };
    let title = format!("{what} {way} {} in {}", sources_named(graph, tree.sources()), shown.graph_name);
    let mut picture = Picture::new(title, graph, places)?;
    let values = (0..graph.vertices() as VertexId).map(|v| match tree.distance(v) {
        Some(distance) => places.needed(graph, v).map(|_| distance.to_f64()),
        None => Ok(f64::NAN),
    });
    let values = values.collect::<Result<Vec<f64>, Error>>()?;
    let (reached, all) = (print::grouped(tree.reached().into()), print::count(graph.vertices(), "vertex", "vertices"));
    picture.details = format!("{reached} of {all} reached");
    if let Some(greatest) = tree.max_distance() {
        picture.details += &format!("; the greatest distance is {}", print::digits(&print::number(greatest)));
    }
    let is_unweighted = tree.problem() == Problem::Bfs || graph.weight_kind() == warpath::graph::WeightKind::Unit;
    if shown.is_limited {
        let within = (0..).zip(&values).filter(|(_, value)| !value.is_nan());
        picture.focus(within.filter_map(|(v, _)| places.on_plane(v)), 0.08);
    }
    picture.color_by(DistanceScale {
        low: values.iter().copied().fold(0.0, f64::min),
        high: tree.max_distance().map_or(0.0, Distance::to_f64),
        is_whole: matches!(tree.max_distance(), Some(Distance::Unsigned(_) | Distance::Signed(_))),
        unit: if is_unweighted { "distance in edges" } else { "distance, in the unit of the weights" },
        values,
    });
    let on_plane = |ring: &Vec<[f64; 2]>| ring.iter().map(|&point| places.point_on_plane(point)).collect();
    picture.outlines = shown
        .isochrones
        .iter()
        .map(|area| Outline {
            label: area.limit.to_string(),
            rings: area.polygons.iter().flat_map(|p| std::iter::once(&p.outer).chain(&p.holes)).map(on_plane).collect(),
        })
        .collect();
    // Outlines reach beyond the network.
    let [low, high] = picture.frame;
    let outlines = picture.outlines.iter().flat_map(|outline| outline.rings.iter().flatten().copied());
    picture.frame = frame(outlines.chain([low, high]));
    let (one, many) = if shown.reverse { ("target", "targets") } else { ("source", "sources") };
    mark(&mut picture, graph, places, tree.sources(), SOURCE, [one, many])?;
    let (one, many) = if shown.reverse { ("source", "sources") } else { ("target", "targets") };
    let reached: Vec<VertexId> = shown.targets.iter().copied().filter(|&v| places.on_plane(v).is_some()).collect();
    mark(&mut picture, graph, places, &reached, TARGET, [one, many])?;
    Ok(picture)
}

fn of_paths(graph: &Graph, places: &Places, shown: &PathsShown<'_>) -> Result<Picture, Error> {
    let [from, to] = shown.ends.map(|v| graph.name(v));
    let what = match shown.paths.len() {
        0 | 1 => "Shortest path".to_owned(),
        several => format!("{several} shortest paths"),
    };
    let mut picture = Picture::new(format!("{what} from {from} to {to} in {}", shown.graph_name), graph, places)?;
    let told = |path: &Path| {
        let edges = print::count(path.edges().len(), "edge", "edges");
        format!("length {} over {edges}", print::digits(&print::number(path.length())))
    };
    picture.details = match shown.paths {
        [] => format!("no path leads from {from} to {to}"),
        [path] => told(path),
        [first, .., last] => {
            let lengths = [first, last].map(|path| print::digits(&print::number(path.length())));
            format!("lengths from {} to {}", lengths[0], lengths[1])
        }
    };
    for (index, path) in shown.paths.iter().enumerate() {
        let points = path.vertices().iter().map(|&v| places.needed(graph, v)).collect::<Result<Vec<_>, _>>()?;
        picture.routes.push(Route { label: format!("path {}: {}", index + 1, told(path)), points });
    }
    let [from, to] = shown.ends;
    mark(&mut picture, graph, places, &[from], SOURCE, ["source", "sources"])?;
    mark(&mut picture, graph, places, &[to], TARGET, ["target", "targets"])?;
    let around: Vec<[f64; 2]> = picture.routes.iter().flat_map(|route| route.points.iter().copied()).collect();
    picture.focus(around.into_iter(), 0.2);
    Ok(picture)
}

/// Marks vertices, all in one colour.
fn mark(
    picture: &mut Picture,
    graph: &Graph,
    places: &Places,
    vertices: &[VertexId],
    color: color::Color,
    [one, many]: [&str; 2],
) -> Result<(), Error> {
    let label = match vertices {
        [vertex] => format!("{one} {}", graph.name(*vertex)),
        several => print::count(several.len(), one, many),
    };
    for &vertex in vertices {
        picture.marks.push(Mark { place: places.needed(graph, vertex)?, color, label: label.clone() });
    }
    Ok(())
}

/// The first sources, by name.
fn sources_named(graph: &Graph, sources: &[VertexId]) -> String {
    const SHOWN: usize = 3;
    let names: Vec<_> = sources.iter().take(SHOWN).map(|&source| graph.name(source)).collect();
    match sources.len() {
        0 | 1 => names.join(", "),
        count if count <= SHOWN => format!("the nearest of {}", names.join(", ")),
        count => format!("the nearest of {} and {} more", names.join(", "), print::grouped((count - SHOWN) as u128)),
    }
}
