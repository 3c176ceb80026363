//! How far each node of a square grid lies from the places that were reached.

use crate::{Control, Result, memory};

/// A part of an edge, from one end to the other.
pub(super) type Piece = [[f64; 2]; 2];

/// A grid of nodes, `step` apart, and how near to it the reached places come.
pub(super) struct Field {
    /// The node of column 0 and row 0.
    pub(super) origin: [f64; 2],
    pub(super) step: f64,
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// What is nearer than this belongs to the area.
    pub(super) radius: f64,
    /// By node, row after row: the square of the distance to the nearest place, if it is at most [`Field::seen`].
    squares: Vec<f64>,
}

impl Field {
    /// A field of nothing, whose first and last two columns and rows stay outside of every area.
    pub(super) fn new(origin: [f64; 2], step: f64, [columns, rows]: [usize; 2], radius: f64) -> Result<Self> {
        let squares = memory::filled("the grid of an isochrone", columns * rows, f64::INFINITY)?;
        Ok(Field { origin, step, columns, rows, radius, squares })
    }

    /// Up to here distances are exact: far enough for both ends of each grid edge that a contour crosses.
    fn seen(&self) -> f64 {
        self.radius + 1.5 * self.step
    }

    /// Adds places that were reached.
    pub(super) fn add(&mut self, pieces: &[Piece], control: &Control) -> Result<()> {
        /// This many pieces are drawn in a moment.
        const SOME: usize = 1 << 10;
        for some in pieces.chunks(SOME) {
            control.check()?;
            some.iter().for_each(|piece| self.add_piece(piece));
        }
        Ok(())
    }

    fn add_piece(&mut self, &[from, to]: &Piece) {
        let seen = self.seen();
        let rows = self.nodes(1, from[1].min(to[1]) - seen, from[1].max(to[1]) + seen, self.rows);
        for row in rows {
            let y = self.origin[1] + row as f64 * self.step;
            let Some((low, high)) = columns_near([from, to], y, seen) else { continue };
            for column in self.nodes(0, low - seen, high + seen, self.columns) {
                let x = self.origin[0] + column as f64 * self.step;
                let square = square_to([x, y], [from, to]);
                let known = &mut self.squares[row * self.columns + column];
                *known = known.min(square);
            }
        }
    }

    /// The nodes of an axis between two coordinates.
    fn nodes(&self, axis: usize, low: f64, high: f64, count: usize) -> std::ops::Range<usize> {
        let index = |at: f64| (at - self.origin[axis]) / self.step;
        // Casts saturate: what lies before the grid becomes 0.
        let (first, end) = (index(low).ceil() as usize, (index(high).floor() + 1.0) as usize);
        first..end.min(count)
    }

    /// How far a node lies inside the area; negative outside.
    pub(super) fn depth(&self, column: usize, row: usize) -> f64 {
        let distance = self.squares[row * self.columns + column].min(self.seen() * self.seen()).sqrt();
        self.radius - distance
    }

    /// Whether a node lies in the area.
    pub(super) fn is_inside(&self, column: usize, row: usize) -> bool {
        self.depth(column, row) > 0.0
    }
}

/// The least and the greatest x of the part of a segment whose y is near.
fn columns_near([from, to]: Piece, y: f64, near: f64) -> Option<(f64, f64)> {
    let across = to[1] - from[1];
    let at = |y: f64| {
        let share = if across == 0.0 { 0.0 } else { ((y - from[1]) / across).clamp(0.0, 1.0) };
        from[0] + share * (to[0] - from[0])
    };
    let (low, high) = (from[1].min(to[1]), from[1].max(to[1]));
    if y < low - near || y > high + near {
        return None;
    }
    if across == 0.0 {
        return Some((from[0].min(to[0]), from[0].max(to[0])));
    }
    let (a, b) = (at(y - near), at(y + near));
    Some((a.min(b), a.max(b)))
}

/// The square of the distance from a point to a segment.
fn square_to(point: [f64; 2], [from, to]: Piece) -> f64 {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let (px, py) = (point[0] - from[0], point[1] - from[1]);
    let length = dx * dx + dy * dy;
    let share = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
    let (x, y) = (px - share * dx, py - share * dy);
    x * x + y * y
}
