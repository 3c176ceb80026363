//! A small writer of SVG: elements, escaped text, axes.
//!
//! Plotting crates write colours into every element. Here elements have classes, and the page's style sheet colours
//! them by theme, so that one picture serves light, dark and print.

use std::fmt::{Display, Write};

use crate::suite::Scale;
use crate::text;

/// An SVG element that is being written.
pub(super) struct Svg {
    out: String,
}

/// The number of colours; shapes tell series apart without colour, too.
pub(super) const COLORS: usize = 8;
const SHAPES: usize = 5;

impl Svg {
    /// A picture of this size, with a label for screen readers.
    pub(super) fn new(width: f64, height: f64, label: &str) -> Self {
        let mut out = String::new();
        let label = escape(label);
        let _ = write!(out, "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">");
        Svg { out }
    }

    /// A picture of this size that is a file of its own, with its style sheet.
    pub(super) fn alone((width, height): (f64, f64), label: &str, style: &str) -> Self {
        let mut out = String::new();
        let label = escape(label);
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
             {height}\" role=\"img\" aria-label=\"{label}\"><style>{style}</style>"
        );
        Svg { out }
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ =
            write!(self.out, "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
    }

    pub(super) fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), title: &str) {
        let ((x, y), (width, height)) = (at, size);
        let _ = write!(
            self.out,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\">{}</rect>",
            titled(title)
        );
    }

    pub(super) fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        let mut data = String::new();
        for (index, (x, y)) in points.iter().enumerate() {
            let _ = write!(data, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
        }
        let _ = write!(self.out, "<path class=\"{class}\" d=\"{data}\"/>");
    }

    /// Text with its anchor (`start`, `middle`, `end`) at a point.
    pub(super) fn text(&mut self, class: &str, at: (f64, f64), anchor: &str, text: impl Display) {
        let text = escape(&text.to_string());
        let _ = write!(
            self.out,
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{text}</text>",
            at.0, at.1
        );
    }

    /// The mark of a series; hollow for a paper's figures.
    pub(super) fn mark(&mut self, series: usize, hollow: bool, at: (f64, f64), title: &str) {
        let (x, y) = at;
        let r = 4.0;
        let data = match series / COLORS + series {
            shape if shape % SHAPES == 0 => {
                format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 {} 0z", x - r, 2.0 * r, -2.0 * r)
            }
            shape if shape % SHAPES == 1 => {
                format!("M{:.1} {:.1}h{w}v{w}h-{w}z", x - 0.9 * r, y - 0.9 * r, w = 1.8 * r)
            }
            shape if shape % SHAPES == 2 => {
                format!("M{x:.1} {:.1}L{:.1} {:.1}h{:.1}z", y - 1.2 * r, x - 1.15 * r, y + 0.9 * r, 2.3 * r)
            }
            shape if shape % SHAPES == 3 => {
                format!("M{x:.1} {:.1}l{d} {d}l-{d} {d}l-{d} -{d}z", y - 1.3 * r, d = 1.3 * r)
            }
            _ => format!("M{x:.1} {:.1}L{:.1} {:.1}h{:.1}z", y + 1.2 * r, x - 1.15 * r, y - 0.9 * r, 2.3 * r),
        };
        let kind = if hollow { "hollow" } else { "mark" };
        let color = series % COLORS;
        let _ = write!(self.out, "<path class=\"{kind} s{color}\" d=\"{data}\">{}</path>", titled(title));
    }

    /// Grid lines at an axis's ticks between two heights, with labels below that do not touch each other.
    pub(super) fn ticks_below(&mut self, axis: &Axis, (top, bottom): (f64, f64), label: impl Fn(f64) -> String) {
        /// The width of a letter in the largest size that the style sheet gives to labels.
        const LETTER: f64 = 10.0;
        let (low, high) = axis.ends();
        // A label at an end of the axis stays within the picture.
        let place = |at: f64, text: String| {
            let width = LETTER * text.chars().count() as f64;
            match () {
                () if at - 0.5 * width < low - 4.0 && low < 20.0 => (text, "start", at, at + width),
                () if at + 0.5 * width > high + 10.0 => (text, "end", at - width, at),
                () => (text, "middle", at - 0.5 * width, at + 0.5 * width),
            }
        };
        let ticks: Vec<_> =
            axis.ticks().into_iter().map(|tick| (axis.at(tick), place(axis.at(tick), label(tick)))).collect();
        let fits = |every: usize| {
            let some: Vec<_> = ticks.iter().step_by(every).collect();
            some.windows(2).all(|pair| pair[0].1.3 + 8.0 < pair[1].1.2)
        };
        let every = (1..=ticks.len()).find(|every| fits(*every)).unwrap_or(1);
        for (index, (at, (text, anchor, _, _))) in ticks.iter().enumerate() {
            self.line("grid", (*at, top), (*at, bottom));
            if index % every == 0 {
                self.text("tick", (*at, bottom + 18.0), anchor, text);
            }
        }
    }

    /// The mark of a row that was cut off: hollow, with an arrow in the direction where its time is.
    pub(super) fn cut_off(&mut self, series: usize, at: (f64, f64), arrow: (f64, f64), title: &str) {
        let color = series % COLORS;
        let end = (at.0 + arrow.0, at.1 + arrow.1);
        let length = arrow.0.hypot(arrow.1).max(1.0);
        let (across, up) = (arrow.0 / length, arrow.1 / length);
        let wing = |side: f64| (end.0 - 5.0 * across - 3.5 * side * up, end.1 - 5.0 * up + 3.5 * side * across);
        self.line(&format!("cut s{color}"), at, end);
        self.path(&format!("cut s{color}"), &[wing(1.0), end, wing(-1.0)]);
        self.mark(series, true, at, title);
    }

    pub(super) fn finish(mut self) -> String {
        self.out.push_str("</svg>");
        self.out
    }
}

fn titled(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) }
}

/// Escapes text for HTML and SVG.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Text for HTML in which backticks enclose code, as they do in Markdown.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, code, after)) =
        rest.split_once('`').and_then(|(before, from)| from.split_once('`').map(|(code, after)| (before, code, after)))
    {
        out += &format!("{}<code>{}</code>", escape(before), escape(code));
        rest = after;
    }
    out + &escape(rest)
}

/// An axis between two positions of a picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// A logarithmic axis that covers all of these values, which are above 0.
    pub(super) fn over(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        Axis::of(Scale::Log, values, from, to)
    }

    /// An axis that covers all of these values, which are above 0; a linear one begins at 0.
    pub(super) fn of(scale: Scale, values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = values
            .into_iter()
            .filter(|value| *value > 0.0 && value.is_finite())
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
        let (low, high) = match scale {
            _ if low > high => (1.0, 10.0),
            Scale::Log => (low / 1.25, high * 1.25),
            Scale::Linear => (0.0, high * 1.06),
        };
        Axis { scale, low, high, from, to }
    }

    /// The positions of both ends, the lesser first.
    fn ends(&self) -> (f64, f64) {
        (self.from.min(self.to), self.from.max(self.to))
    }

    /// The position of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        if self.scale == Scale::Linear {
            let share = (value - self.low) / (self.high - self.low);
            return self.from + share.clamp(0.0, 1.0) * (self.to - self.from);
        }
        let share = (value.max(self.low).ln() - self.low.ln()) / (self.high.ln() - self.low.ln());
        self.from + share.min(1.0) * (self.to - self.from)
    }

    /// Values to label: powers of ten, and multiples of them if there are few; on a linear axis round steps.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.scale == Scale::Linear {
            let rough = (self.high - self.low) / 6.0;
            let power = 10_f64.powi(rough.log10().floor() as i32);
            let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= rough);
            let step = step.unwrap_or(10.0 * power);
            let first = (self.low / step).ceil() as i32;
            return (first..).map(|n| f64::from(n) * step).take_while(|tick| *tick <= self.high).collect();
        }
        let decades = (self.high / self.low).log10();
        let steps: &[f64] = match decades {
            d if d < 0.7 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            d if d < 2.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let every = (decades / 7.0).ceil().max(1.0) as i32;
        let range = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let in_range = |value: &f64| (self.low..=self.high).contains(value);
        range
            .filter(|power| power.rem_euclid(every) == 0)
            .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)))
            .filter(in_range)
            .collect()
    }
}

/// A time as an axis label: powers of ten without decimals.
pub(super) fn tick_of_time(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let (value, unit) = match value {
        v if v >= 0.999 => (v, "s"),
        v if v >= 0.999e-3 => (v * 1e3, "ms"),
        v if v >= 0.999e-6 => (v * 1e6, "µs"),
        v => (v * 1e9, "ns"),
    };
    let rounded = format!("{value:.1}");
    match rounded.strip_suffix(".0") {
        Some(whole) if whole.len() < 4 => format!("{whole} {unit}"),
        Some(_) => format!("{} {unit}", text::grouped(value.round() as u64)),
        None => format!("{rounded} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_a_few_ticks_in_range() {
        for (low, high) in [(1.0, 2.0), (1.3, 1.31), (9.3, 9.4), (1e-6, 1e-3), (1e-9, 1e5), (3.0, 3.0), (1e6, 1e7)] {
            let axis = Axis::over([low, high], 10.0, 110.0);
            let ticks = axis.ticks();
            assert!((1..=10).contains(&ticks.len()), "{low}..{high}: {ticks:?}");
            let places: Vec<f64> = ticks.iter().map(|tick| axis.at(*tick)).collect();
            assert!(places.is_sorted() && places.iter().all(|place| (10.0..=110.0).contains(place)));
        }
        let nothing = Axis::over([0.0, f64::INFINITY], 0.0, 1.0);
        assert!(nothing.at(5.0).is_finite());
    }

    #[test]
    fn linear_axes_begin_at_zero() {
        for high in [1e-6, 0.3, 1.0, 7.7, 1e7] {
            let axis = Axis::of(Scale::Linear, [high / 3.0, high], 100.0, 0.0);
            let ticks = axis.ticks();
            assert!((4..=8).contains(&ticks.len()) && ticks[0] == 0.0, "{high}: {ticks:?}");
            assert!(axis.at(0.0) == 100.0 && axis.at(high) < 10.0 && axis.at(2.0 * high) == 0.0);
        }
    }

    #[test]
    fn labels_do_not_touch_each_other() {
        let axis = Axis::over([1e-6, 100.0], 4.0, 160.0);
        let mut svg = Svg::new(170.0, 30.0, "");
        svg.ticks_below(&axis, (0.0, 10.0), |tick| format!("{tick:e} seconds"));
        let text = svg.finish();
        assert!(text.matches("<line").count() >= 5 && text.matches("<text").count() == 1, "{text}");
    }

    #[test]
    fn text_is_escaped() {
        let mut svg = Svg::new(10.0, 10.0, "a \"b\"");
        svg.text("label", (0.0, 0.0), "start", "x < y & z");
        let text = svg.finish();
        assert!(text.contains("x &lt; y &amp; z") && text.contains("a &quot;b&quot;"), "{text}");
    }

    #[test]
    fn ticks_of_time_are_round() {
        assert_eq!(tick_of_time(1e-3), "1 ms");
        assert_eq!(tick_of_time(2e-5), "20 µs");
        assert_eq!(tick_of_time(1.5e-6), "1.5 µs");
        assert_eq!(tick_of_time(1000.0), "1,000 s");
    }
}
