//! Cells of two values as the host has them: two words, the intermediate vertex and the bits of the distance.

use bytemuck::Pod;

use super::super::matrix::Number;
use crate::graph::{NO_VERTEX, VertexId};

/// A distance that cells of two values may have.
pub(super) trait Paired: Number {
    /// An unsigned number with as many bytes.
    type Word: Pod + Send + Sync;

    /// A cell with this distance and no intermediate vertex.
    fn without_vertex(self) -> [Self::Word; 2];

    /// The distance of a cell.
    fn distance_in(cell: [Self::Word; 2]) -> Self;

    /// The intermediate vertex of a cell; [`NO_VERTEX`] if there is none.
    fn vertex_in(cell: [Self::Word; 2]) -> VertexId;
}

macro_rules! paired {
    ($($number:ty, $word:ty);*) => {$(
        impl Paired for $number {
            type Word = $word;

            fn without_vertex(self) -> [$word; 2] {
                [<$word>::MAX, bytemuck::cast(self)]
            }

            fn distance_in(cell: [$word; 2]) -> Self {
                bytemuck::cast(cell[1])
            }

            fn vertex_in(cell: [$word; 2]) -> VertexId {
                // -1 is no vertex in words of both sizes.
                VertexId::try_from(cell[0]).unwrap_or(NO_VERTEX)
            }
        }
    )*};
}
paired!(u32, u32; i32, u32; f32, u32; i64, u64; f64, u64);

/// Runs an expression with `$number` as the type of the distances in cells of two values.
macro_rules! with_paired {
    ($cell:expr, $number:ident => $body:expr) => {
        match $cell {
            // Katz and Kider's program has no narrower cells.
            Cell::U16 | Cell::U32 => {
                type $number = u32;
                $body
            }
            Cell::I32 => {
                type $number = i32;
                $body
            }
            Cell::I64 => {
                type $number = i64;
                $body
            }
            Cell::F32 => {
                type $number = f32;
                $body
            }
            Cell::F64 => {
                type $number = f64;
                $body
            }
        }
    };
}
pub(super) use with_paired;
