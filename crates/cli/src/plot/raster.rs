//! Draws into pixels.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster};
use tiny_skia::{FillRule, Paint, PathBuilder, Pixmap, PixmapPaint, Rect, Stroke, Transform};
use warpath::Error;

use super::color::Color;
use super::draw::{Anchor, Canvas, Text};

/// How many pixels a unit of a drawing has: letters are as large as the font has them.
const SCALE: f64 = 1.5;

/// A canvas of pixels.
pub(super) struct Raster(Pixmap);

impl Raster {
    /// A canvas of this size, transparent without a background.
    pub(super) fn new([width, height]: [f64; 2], background: Option<Color>) -> Result<Self, Error> {
        let pixels = |length: f64| (length * SCALE).ceil().max(1.0) as u32;
        let map = Pixmap::new(pixels(width), pixels(height));
        let mut map = map.ok_or_else(|| Error::invalid("there is no memory for a picture"))?;
        if let Some(background) = background {
            map.fill(tiny_skia_color(background));
        }
        Ok(Raster(map))
    }

    /// The picture as a PNG.
    pub(super) fn png(&self) -> Result<Vec<u8>, Error> {
        self.0.encode_png().map_err(|error| Error::invalid(format!("the picture can't be written as PNG: {error}")))
    }

    fn transform() -> Transform {
        Transform::from_scale(SCALE as f32, SCALE as f32)
    }
}

fn tiny_skia_color(Color([red, green, blue]): Color) -> tiny_skia::Color {
    tiny_skia::Color::from_rgba8(red, green, blue, 255)
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(tiny_skia_color(color));
    paint
}

impl Canvas for Raster {
    fn lines(&mut self, lines: &mut dyn Iterator<Item = [[f64; 2]; 2]>, color: Color, width: f64) {
        let stroke = Stroke { width: width as f32, ..Stroke::default() };
        let paint = paint(color);
        // A path takes longer for each of its lines the more it has.
        const AT_ONCE: usize = 64;
        let mut lines = lines.peekable();
        while lines.peek().is_some() {
            let mut path = PathBuilder::new();
            for [from, to] in lines.by_ref().take(AT_ONCE) {
                path.move_to(from[0] as f32, from[1] as f32);
                path.line_to(to[0] as f32, to[1] as f32);
            }
            if let Some(path) = path.finish() {
                self.0.stroke_path(&path, &paint, &stroke, Self::transform(), None);
            }
        }
    }

    fn polyline(&mut self, points: &[[f64; 2]], color: Color, width: f64) {
        let (join, cap) = (tiny_skia::LineJoin::Round, tiny_skia::LineCap::Round);
        let stroke = Stroke { width: width as f32, line_join: join, line_cap: cap, ..Stroke::default() };
        let mut path = PathBuilder::new();
        for (index, point) in points.iter().enumerate() {
            let (x, y) = (point[0] as f32, point[1] as f32);
            if index == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
        if let Some(path) = path.finish() {
            self.0.stroke_path(&path, &paint(color), &stroke, Self::transform(), None);
        }
    }

    fn circle(&mut self, [x, y]: [f64; 2], radius: f64, color: Color) {
        if let Some(path) = PathBuilder::from_circle(x as f32, y as f32, radius as f32) {
            self.0.fill_path(&path, &paint(color), FillRule::Winding, Self::transform(), None);
        }
    }

    fn rectangle(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], color: Color) {
        if let Some(rectangle) = Rect::from_xywh(x as f32, y as f32, width as f32, height as f32) {
            self.0.fill_rect(rectangle, &paint(color), Self::transform(), None);
        }
    }

    fn text(&mut self, text: &Text<'_>) {
        let size = if text.is_title { RasterHeight::Size32 } else { RasterHeight::Size24 };
        let glyphs = text.text.chars().filter_map(|c| {
            get_raster(c, FontWeight::Regular, size).or_else(|| get_raster('?', FontWeight::Regular, size))
        });
        let glyphs: Vec<_> = glyphs.collect();
        let width: usize = glyphs.iter().map(|glyph| glyph.width()).sum();
        let [x, baseline] = text.at.map(|at| at * SCALE);
        let left = match text.anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width as f64 / 2.0,
        };
        let top = baseline - 0.78 * size.val() as f64;
        let (mut left, top) = (left.round() as i64, top.round() as i64);
        for glyph in glyphs {
            for (down, row) in glyph.rows().enumerate() {
                for (right, &cover) in row.iter().enumerate() {
                    self.blend(left + right as i64, top + down as i64, text.color, cover);
                }
            }
            left += glyph.width() as i64;
        }
    }

    fn map(
        &mut self,
        [x, y]: [f64; 2],
        size: [f64; 2],
        _edges: usize,
        draw: &dyn Fn(&mut dyn Canvas),
    ) -> Result<(), Error> {
        let mut inner = Raster::new(size, None)?;
        draw(&mut inner);
        let (x, y) = ((x * SCALE).round() as i32, (y * SCALE).round() as i32);
        self.0.draw_pixmap(x, y, inner.0.as_ref(), &PixmapPaint::default(), Transform::identity(), None);
        Ok(())
    }
}

impl Raster {
    /// Lays a colour over an opaque pixel.
    fn blend(&mut self, x: i64, y: i64, color: Color, cover: u8) {
        let (width, height) = (i64::from(self.0.width()), i64::from(self.0.height()));
        if cover == 0 || !(0..width).contains(&x) || !(0..height).contains(&y) {
            return;
        }
        let at = (y * width + x) as usize * 4;
        let pixel = &mut self.0.data_mut()[at..at + 4];
        for (old, new) in pixel.iter_mut().zip(color.0.into_iter().chain([255])) {
            let (old_part, new_part) = (u32::from(*old) * u32::from(255 - cover), u32::from(new) * u32::from(cover));
            *old = ((old_part + new_part + 127) / 255) as u8;
        }
    }
}
