//! Lays a picture out and draws it on a canvas: title on top, then the map, then the legend.

use warpath::Error;

use super::color::{self, COLORS, Color, Theme};
use super::picture::{DistanceScale, Picture};
use super::ticks::ticks;
use crate::print;

/// What can be drawn on. Coordinates are in pixels of a screen, y downwards.
pub(super) trait Canvas {
    /// Lines of the same colour.
    fn lines(&mut self, lines: &mut dyn Iterator<Item = [[f64; 2]; 2]>, color: Color, width: f64);
    /// A line over several points.
    fn polyline(&mut self, points: &[[f64; 2]], color: Color, width: f64);
    /// A disk.
    fn circle(&mut self, center: [f64; 2], radius: f64, color: Color);
    /// A rectangle: its upper left corner and its size.
    fn rectangle(&mut self, corner: [f64; 2], size: [f64; 2], color: Color);
    /// A line of text.
    fn text(&mut self, text: &Text<'_>);
    /// A part with coordinates of its own, at this corner and of this size: nothing outside of it is seen.
    fn map(
        &mut self,
        corner: [f64; 2],
        size: [f64; 2],
        edges: usize,
        draw: &dyn Fn(&mut dyn Canvas),
    ) -> Result<(), Error>;
}

/// A line of text.
pub(super) struct Text<'a> {
    pub(super) at: [f64; 2],
    pub(super) text: &'a str,
    pub(super) color: Color,
    pub(super) anchor: Anchor,
    pub(super) is_title: bool,
}

/// Where text lies with respect to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
}

/// The greatest size of the map, and the least: a title needs some width.
const MOST: [f64; 2] = [1160.0, 860.0];
const LEAST: [f64; 2] = [560.0, 160.0];
/// The space around everything.
const MARGIN: f64 = 24.0;
/// The space around the network in the map, for marks at its border.
const INSET: f64 = 14.0;
/// The height of a line of text.
const LINE: f64 = 20.0;
/// No letter is wider.
const LETTER: f64 = 7.4;
const TITLE_LETTER: f64 = 10.0;
/// So many paths have a line in the legend.
const LISTED: usize = 8;

/// Where everything is.
pub(super) struct Layout {
    pub(super) size: [f64; 2],
    map: [f64; 2],
    map_size: [f64; 2],
    origin: [f64; 2],
    scale: f64,
}

impl Layout {
    pub(super) fn of(picture: &Picture) -> Self {
        let [low, high] = picture.frame;
        let extent = [0, 1].map(|axis| high[axis] - low[axis]);
        let greatest = extent[0].max(extent[1]);
        let scale = if greatest > 0.0 {
            let fitting = |axis: usize| (MOST[axis] - 2.0 * INSET) / extent[axis].max(greatest * 1e-9);
            fitting(0).min(fitting(1))
        } else {
            1.0
        };
        let map_size = [0, 1].map(|axis| (extent[axis] * scale + 2.0 * INSET).max(LEAST[axis]).ceil());
        let middle = [0, 1].map(|axis| low[axis] + extent[axis] / 2.0);
        let origin = [middle[0] - map_size[0] / 2.0 / scale, middle[1] + map_size[1] / 2.0 / scale];
        let map = [MARGIN, MARGIN + 2.0 * LINE + 8.0];
        let height = map[1] + map_size[1] + 12.0 + legend_height(picture) + MARGIN;
        Layout { size: [map_size[0] + 2.0 * MARGIN, height], map, map_size, origin, scale }
    }

    /// The size of the map.
    pub(super) fn map_size(&self) -> [f64; 2] {
        self.map_size
    }

    /// How much of the plane the map shows.
    pub(super) fn map_extent(&self) -> [f64; 2] {
        self.map_size.map(|length| length / self.scale)
    }

    /// Where a place is in the map.
    fn point(&self, place: [f64; 2]) -> [f64; 2] {
        [(place[0] - self.origin[0]) * self.scale, (self.origin[1] - place[1]) * self.scale]
    }

    fn is_seen(&self, [from, to]: [[f64; 2]; 2]) -> bool {
        (0..2).all(|axis| {
            let (low, high) = (from[axis].min(to[axis]), from[axis].max(to[axis]));
            high >= -8.0 && low <= self.map_size[axis] + 8.0
        })
    }
}

/// How wide the lines of a network are: the more there are, the thinner.
pub(super) fn line_width(edges: usize) -> f64 {
    (2.9 - 0.4 * (edges.max(1) as f64).log10()).clamp(0.6, 2.4)
}

fn legend_height(picture: &Picture) -> f64 {
    let bar = if picture.distances.is_some() { 3.0 * LINE + 8.0 } else { 0.0 };
    let routes = picture.routes.len().min(LISTED) + usize::from(picture.routes.len() > LISTED);
    let rest = routes + picture.outlines.len().min(1) + usize::from(!picture.marks.is_empty());
    bar + rest as f64 * LINE
}

/// Draws everything.
pub(super) fn draw(picture: &Picture, layout: &Layout, theme: &Theme, canvas: &mut dyn Canvas) -> Result<(), Error> {
    let letters = |width: f64| ((layout.size[0] - 2.0 * MARGIN) / width) as usize;
    let line = |text: &str, y: f64, color, is_title: bool| {
        let width = if is_title { TITLE_LETTER } else { LETTER };
        (shortened(text, letters(width)), [MARGIN, y], color, is_title)
    };
    let lines = [
        line(&picture.title, MARGIN + 14.0, theme.text, true),
        line(&picture.details, MARGIN + 14.0 + LINE, theme.faint_text, false),
    ];
    for (text, at, color, is_title) in lines {
        canvas.text(&Text { at, text: &text, color, anchor: Anchor::Start, is_title });
    }
    let network = |canvas: &mut dyn Canvas| draw_network(picture, layout, theme, canvas);
    canvas.map(layout.map, layout.map_size, picture.edges.len(), &network)?;
    canvas.map(layout.map, layout.map_size, 0, &|canvas| draw_over(picture, layout, theme, canvas))?;
    draw_legend(picture, layout, theme, canvas);
    Ok(())
}

/// The network alone.
pub(super) fn draw_network(picture: &Picture, layout: &Layout, theme: &Theme, canvas: &mut dyn Canvas) {
    let is_seen = |edge: &[[f64; 2]; 2]| layout.is_seen(*edge);
    let at = |edge: &[u32; 2]| edge.map(|v| layout.point(picture.places[v as usize]));
    let seen = picture.edges.iter().map(at).filter(is_seen).count();
    let width = line_width(seen);
    for (index, edges) in picture.colored_edges() {
        let color = index.map_or(theme.plain, |index| theme.distance(index));
        canvas.lines(&mut edges.iter().map(at).filter(is_seen), color, width);
    }
    // Vertices without edges are seen, too, in a small graph.
    if picture.places.len() <= 2000 {
        let places = picture.places.iter().enumerate().filter(|(_, place)| place[0].is_finite());
        for (v, &place) in places {
            let distance = picture.distances.as_ref().map(|scale| (scale, scale.values[v]));
            let color = distance.filter(|(_, value)| !value.is_nan());
            let color = color.map_or(theme.plain, |(scale, value)| theme.distance(scale.color(value)));
            canvas.circle(layout.point(place), width * 0.9, color);
        }
    }
}

/// What lies over the network: outlines, paths and marks.
fn draw_over(picture: &Picture, layout: &Layout, theme: &Theme, canvas: &mut dyn Canvas) {
    let points = |places: &[[f64; 2]]| places.iter().map(|&place| layout.point(place)).collect::<Vec<_>>();
    for ring in picture.outlines.iter().flat_map(|outline| &outline.rings) {
        let ring = points(ring);
        canvas.polyline(&ring, theme.background, 3.4);
        canvas.polyline(&ring, color::OUTLINE, 1.6);
    }
    // The first path comes last, on top of the others; where they share edges, all can be seen.
    for (number, route) in picture.routes.iter().enumerate().rev() {
        let width = 3.0 + 2.4 * number.min(LISTED) as f64;
        canvas.polyline(&points(&route.points), color::path(number), width);
    }
    for mark in picture.marks.iter().rev() {
        let at = layout.point(mark.place);
        canvas.circle(at, 6.0, theme.background);
        canvas.circle(at, 4.5, mark.color);
    }
}

/// The legend, line by line.
struct Legend<'a> {
    canvas: &'a mut dyn Canvas,
    theme: &'a Theme,
    letters: usize,
    /// The baseline of the next line.
    y: f64,
}

impl Legend<'_> {
    fn write(&mut self, x: f64, anchor: Anchor, text: &str) {
        let (at, color) = ([x, self.y], self.theme.text);
        self.canvas.text(&Text { at, text, color, anchor, is_title: false });
    }

    /// A line with a piece of a line, or with disks, in front.
    fn entry(&mut self, swatch: Option<(Color, f64)>, text: &str) {
        if let Some((color, width)) = swatch {
            let y = self.y - 4.0;
            self.canvas.polyline(&[[MARGIN + 2.0, y], [MARGIN + 22.0, y]], color, width);
        }
        let text = shortened(text, self.letters.saturating_sub(5));
        self.write(MARGIN + 32.0, Anchor::Start, &text);
        self.y += LINE;
    }
}

fn draw_legend(picture: &Picture, layout: &Layout, theme: &Theme, canvas: &mut dyn Canvas) {
    let width = layout.size[0] - 2.0 * MARGIN;
    let y = layout.map[1] + layout.map_size[1] + 12.0 + 14.0;
    let mut legend = Legend { canvas, theme, letters: (width / LETTER) as usize, y };
    if let Some(scale) = &picture.distances {
        draw_scale(scale, picture.groups[0] > 0, &mut legend);
    }
    for (number, route) in picture.routes.iter().take(LISTED).enumerate() {
        legend.entry(Some((color::path(number), 3.0)), &route.label);
    }
    if picture.routes.len() > LISTED {
        let more = print::count(picture.routes.len() - LISTED, "more path", "more paths");
        legend.entry(None, &format!("and {more}"));
    }
    if !picture.outlines.is_empty() {
        let labels: Vec<&str> = picture.outlines.iter().map(|outline| outline.label.as_str()).collect();
        legend.entry(Some((color::OUTLINE, 1.6)), &format!("reached within {}", labels.join(", ")));
    }
    let mut x = MARGIN;
    let most = (legend.letters / picture.marks.len().clamp(1, 2)).saturating_sub(6);
    // All marks of a colour mean the same.
    let mut told: Vec<Color> = Vec::new();
    for mark in &picture.marks {
        if told.contains(&mark.color) {
            continue;
        }
        told.push(mark.color);
        legend.canvas.circle([x + 6.0, legend.y - 4.0], 4.5, mark.color);
        let text = shortened(&mark.label, most);
        legend.write(x + 18.0, Anchor::Start, &text);
        x += 18.0 + LETTER * text.chars().count() as f64 + 24.0;
    }
}

/// The bar of colours, with its ticks.
fn draw_scale(scale: &DistanceScale, shows_unreached: bool, legend: &mut Legend<'_>) {
    let (left, width) = (MARGIN + 20.0, 360.0);
    let top = legend.y - 12.0;
    legend.write(MARGIN, Anchor::Start, scale.unit);
    if shows_unreached {
        let x = left + width + 40.0;
        legend.y += LINE;
        legend.canvas.rectangle([x, top + LINE], [18.0, 12.0], legend.theme.plain);
        legend.write(x + 26.0, Anchor::Start, "not reached");
        legend.y -= LINE;
    }
    let part = width / COLORS as f64;
    for index in 0..COLORS {
        let color = legend.theme.distance(index);
        // Parts overlap, so that no gap shines through.
        let seen = if index + 1 < COLORS { part + 0.5 } else { part };
        legend.canvas.rectangle([left + index as f64 * part, top + LINE], [seen, 12.0], color);
    }
    legend.y += 2.0 * LINE + 4.0;
    for (value, text) in fitting_ticks(scale, width) {
        let share = if scale.high > scale.low { (value - scale.low) / (scale.high - scale.low) } else { 0.0 };
        let x = left + share * width;
        legend.canvas.rectangle([x - 0.5, top + LINE + 12.0], [1.0, 4.0], legend.theme.text);
        legend.write(x, Anchor::Middle, &text);
    }
    legend.y += LINE + 4.0;
}

/// The ticks of a scale of this width, as many as do not collide.
pub(super) fn fitting_ticks(scale: &DistanceScale, width: f64) -> Vec<(f64, String)> {
    let mut all = (1..=6).rev().map(|most| ticks(scale.low, scale.high, scale.is_whole, most));
    let fits = |ticks: &Vec<(f64, String)>| {
        let letters: usize = ticks.iter().map(|(_, text)| text.chars().count() + 2).max().unwrap_or(0);
        letters as f64 * LETTER * (ticks.len() as f64 - 1.0) <= width
    };
    all.clone().find(fits).or_else(|| all.next_back()).unwrap_or_default()
}

/// A text of at most this many letters.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(3)).collect::<String>() + "..."
}
