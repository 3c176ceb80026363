//! A page that holds a picture and all it needs: it can be moved and enlarged, and tells the distance under the pointer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use warpath::graph::Labels;
use warpath::{Error, Graph};

use super::color::{self, COLORS, Color, DARK, LIGHT, Theme};
use super::draw::{self, Layout};
use super::picture::Picture;
use super::raster::Raster;
use super::svg::{data_url, escaped};

/// Above this number of edges, the page holds an image of the network in place of its edges, and tells no distances.
pub(super) const MOST_EDGES: usize = 1_000_000;

const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");

/// The page.
pub(super) fn page(picture: &Picture, graph: &Graph) -> Result<String, Error> {
    let data = data(picture, graph)?.to_string();
    // Inside a script, nothing may look like its end.
    let data = data.replace('<', "\\u003c");
    let title = escaped(&picture.title);
    let fields =
        [("TITLE", title.as_str()), ("DETAILS", &escaped(&picture.details)), ("SCRIPT", SCRIPT), ("DATA", &data)];
    let mut page = String::with_capacity(data.len() + SCRIPT.len() + PAGE.len());
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        page.push_str(before);
        page.extend(fields.iter().filter(|(field, _)| *field == name).map(|(_, value)| *value));
        rest = after;
    }
    Ok(page + rest)
}

fn data(picture: &Picture, graph: &Graph) -> Result<Value, Error> {
    let [low, high] = picture.frame;
    let size = (high[0] - low[0]).max(high[1] - low[1]);
    let size = if size > 0.0 { size } else { 1.0 };
    // A drawing's unit is the greater extent, and y grows downwards.
    let middle = [0, 1].map(|axis| low[axis] + (high[axis] - low[axis]) / 2.0);
    let place = |[x, y]: [f64; 2]| [((x - middle[0]) / size) as f32, ((middle[1] - y) / size) as f32];
    let line = |points: &[[f64; 2]]| {
        Value::from(base64(points.iter().flat_map(|&point| place(point)).flat_map(f32::to_le_bytes)))
    };
    let routes = picture.routes.iter().enumerate().map(|(number, route)| {
        json!({"label": route.label, "color": color::path(number).css(), "points": line(&route.points)})
    });
    let outlines = picture.outlines.iter().map(|outline| {
        json!({"label": outline.label, "rings": outline.rings.iter().map(|ring| line(ring)).collect::<Vec<_>>()})
    });
    let marks = picture
        .marks
        .iter()
        .map(|mark| json!({"at": place(mark.place), "color": mark.color.css(), "label": mark.label}));
    let scale = picture.distances.as_ref().map(|scale| {
        let ticks = draw::fitting_ticks(scale, 300.0);
        let share =
            |value: f64| if scale.high > scale.low { (value - scale.low) / (scale.high - scale.low) } else { 0.0 };
        let ticks: Vec<Value> =
            ticks.into_iter().map(|(value, text)| json!({"at": share(value), "text": text})).collect();
        json!({"unit": scale.unit, "ticks": ticks, "unreached": picture.groups[0] > 0})
    });
    let is_image = picture.edges.len() > MOST_EDGES;
    Ok(json!({
        "themes": {"light": theme(&LIGHT), "dark": theme(&DARK)},
        "extent": [(high[0] - low[0]) / size, (high[1] - low[1]) / size],
        "width": draw::line_width(picture.edges.len()),
        "outline": color::OUTLINE.css(),
        "routes": routes.collect::<Vec<_>>(),
        "outlines": outlines.collect::<Vec<_>>(),
        "marks": marks.collect::<Vec<_>>(),
        "scale": scale,
        "images": if is_image { images(picture, size)? } else { Value::Null },
        "network": if is_image { Value::Null } else { network(picture, graph, &place) },
    }))
}

fn base64(bytes: impl Iterator<Item = u8>) -> String {
    STANDARD.encode(bytes.collect::<Vec<u8>>())
}

fn theme(theme: &Theme) -> Value {
    let colors: Vec<String> = (0..COLORS).map(|index| theme.distance(index).css()).collect();
    let css = |color: Color| color.css();
    json!({"background": css(theme.background), "plain": css(theme.plain), "distances": colors})
}

/// The network: vertices with their names and distances, and edges by colour.
fn network(picture: &Picture, graph: &Graph, place: &impl Fn([f64; 2]) -> [f32; 2]) -> Value {
    let names = match graph.labels() {
        Labels::Range { .. } => json!({"first": graph.name(0)}),
        _ => (0..picture.places.len() as u32).map(|v| Value::from(graph.name(v))).collect(),
    };
    let values = picture.distances.as_ref();
    json!({
        "names": names,
        "places": base64(picture.places.iter().flat_map(|&point| place(point)).flat_map(f32::to_le_bytes)),
        "edges": base64(picture.edges.iter().flatten().flat_map(|v| v.to_le_bytes())),
        "groups": picture.groups,
        "distances": values.map(|scale| base64(scale.values.iter().flat_map(|value| value.to_le_bytes()))),
    })
}

/// The network as an image for each theme, and where it lies.
fn images(picture: &Picture, size: f64) -> Result<Value, Error> {
    let layout = Layout::of(picture);
    let image = |theme: &Theme| {
        let mut raster = Raster::new(layout.map_size(), None)?;
        draw::draw_network(picture, &layout, theme, &mut raster);
        Ok::<_, Error>(data_url(&raster.png()?))
    };
    let extent = layout.map_extent().map(|length| length / size);
    Ok(json!({"light": image(&LIGHT)?, "dark": image(&DARK)?, "extent": extent}))
}
