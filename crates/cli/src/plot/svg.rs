//! Draws as SVG. The network of a graph with many edges becomes an image inside it.

use std::fmt::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use warpath::Error;

use super::color::Color;
use super::draw::{Anchor, Canvas, Text};
use super::raster::Raster;

/// Above this number of edges, the map is an image: no program shows so many lines quickly.
pub(super) const MOST_LINES: usize = 50_000;

/// A canvas of SVG elements.
pub(super) struct Svg {
    size: [f64; 2],
    elements: String,
}

impl Svg {
    pub(super) fn new(size: [f64; 2], background: Color) -> Self {
        let mut svg = Svg { size, elements: String::new() };
        svg.rectangle([0.0, 0.0], size, background);
        svg
    }

    /// The document.
    pub(super) fn document(&self, title: &str) -> String {
        let [width, height] = self.size;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" font-family=\"system-ui, sans-serif\">\n<title>{}</title>\n{}</svg>\n",
            escaped(title),
            self.elements
        )
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        // A string takes whatever is written to it.
        let _ = self.elements.write_fmt(element);
    }
}

/// A PNG as an address that holds it.
pub(super) fn data_url(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(png))
}

/// Text inside an element or an attribute. XML has no control characters.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

impl Canvas for Svg {
    fn lines(&mut self, lines: &mut dyn Iterator<Item = [[f64; 2]; 2]>, color: Color, width: f64) {
        let mut path = String::new();
        for [[x, y], [to_x, to_y]] in lines {
            let _ = write!(path, "M{x:.2} {y:.2}L{to_x:.2} {to_y:.2}");
        }
        if !path.is_empty() {
            let color = color.css();
            self.put(format_args!(
                "<path d=\"{path}\" stroke=\"{color}\" stroke-width=\"{width:.2}\" fill=\"none\"/>\n"
            ));
        }
    }

    fn polyline(&mut self, points: &[[f64; 2]], color: Color, width: f64) {
        let points: String = points.iter().map(|[x, y]| format!("{x:.2},{y:.2} ")).collect();
        let (points, color) = (points.trim_end(), color.css());
        self.put(format_args!(
            "<polyline points=\"{points}\" stroke=\"{color}\" stroke-width=\"{width:.2}\" fill=\"none\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n"
        ));
    }

    fn circle(&mut self, [x, y]: [f64; 2], radius: f64, color: Color) {
        let color = color.css();
        self.put(format_args!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\" fill=\"{color}\"/>\n"));
    }

    fn rectangle(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], color: Color) {
        let color = color.css();
        self.put(format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{color}\"/>\n"
        ));
    }

    fn text(&mut self, text: &Text<'_>) {
        let ([x, y], color) = (text.at, text.color.css());
        let size = if text.is_title { "16\" font-weight=\"600" } else { "12" };
        let anchor = match text.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
        };
        let content = escaped(text.text);
        self.put(format_args!(
            "<text x=\"{x:.2}\" y=\"{y:.2}\" fill=\"{color}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{content}</text>\n"
        ));
    }

    fn map(
        &mut self,
        [x, y]: [f64; 2],
        [width, height]: [f64; 2],
        edges: usize,
        draw: &dyn Fn(&mut dyn Canvas),
    ) -> Result<(), Error> {
        let place = format!("x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\"");
        if edges > MOST_LINES {
            let mut image = Raster::new([width, height], None)?;
            draw(&mut image);
            let address = data_url(&image.png()?);
            self.put(format_args!("<image {place} preserveAspectRatio=\"none\" href=\"{address}\"/>\n"));
            return Ok(());
        }
        self.put(format_args!("<svg {place}>\n"));
        draw(self);
        self.put(format_args!("</svg>\n"));
        Ok(())
    }
}
