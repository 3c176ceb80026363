//! Colours of pictures.

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Color(pub(super) [u8; 3]);

impl Color {
    /// As CSS and SVG write it.
    pub(super) fn css(self) -> String {
        let [red, green, blue] = self.0;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }
}

/// The colours that a background asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Theme {
    pub(super) background: Color,
    pub(super) text: Color,
    pub(super) faint_text: Color,
    /// Edges that were not reached, or that a path does not use.
    pub(super) plain: Color,
    /// The part of the colour map that can be seen on the background.
    shares: [f64; 2],
}

/// For a white background.
pub(super) const LIGHT: Theme = Theme {
    background: Color([255, 255, 255]),
    text: Color([28, 31, 36]),
    faint_text: Color([91, 97, 107]),
    plain: Color([203, 207, 213]),
    shares: [0.0, 0.88],
};

/// For a dark background.
pub(super) const DARK: Theme = Theme {
    background: Color([18, 20, 24]),
    text: Color([232, 234, 237]),
    faint_text: Color([160, 166, 176]),
    plain: Color([66, 71, 80]),
    shares: [0.22, 1.0],
};

/// How many colours distances have.
pub(super) const COLORS: usize = 64;

/// viridis, a map of perceptually even steps, at 16 places.
///
/// Source: S. van der Walt, N. Smith, *A Better Default Colormap for Matplotlib*, SciPy 2015.
const VIRIDIS: [u32; 16] = [
    0x440154, 0x481a6c, 0x472f7d, 0x414487, 0x39568c, 0x31688e, 0x2a788e, 0x23888e, 0x1f988b, 0x22a884, 0x35b779,
    0x54c568, 0x7ad151, 0xa5db36, 0xd2e21b, 0xfde725,
];

impl Theme {
    /// One of the [`COLORS`] of distances, from near to far.
    pub(super) fn distance(&self, index: usize) -> Color {
        let [low, high] = self.shares;
        let share = low + (high - low) * index.min(COLORS - 1) as f64 / (COLORS - 1) as f64;
        let at = share * (VIRIDIS.len() - 1) as f64;
        let before = (at as usize).min(VIRIDIS.len() - 2);
        let channel = |shift: u32| {
            let value = |index: usize| f64::from(VIRIDIS[index] >> shift & 0xff);
            (value(before) + (at - before as f64) * (value(before + 1) - value(before))).round() as u8
        };
        Color([channel(16), channel(8), channel(0)])
    }
}

/// Colours of paths, which those who see few colours tell apart, too.
///
/// Source: M. Okabe, K. Ito, *Color Universal Design*, 2002.
const PATHS: [u32; 6] = [0xd55e00, 0x0072b2, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9];

/// The colour of a path, by its number from 0.
pub(super) fn path(number: usize) -> Color {
    let [_, rest @ ..] = PATHS[number % PATHS.len()].to_be_bytes();
    Color(rest)
}

/// The colour of a source.
pub(super) const SOURCE: Color = Color([214, 39, 40]);

/// The colour of a target.
pub(super) const TARGET: Color = Color([31, 31, 31]);

/// The colour of an isochrone's outline, which no distance has.
pub(super) const OUTLINE: Color = Color([227, 66, 121]);
