//! Two-dimensional grids: edges join each vertex to its neighbours left, right, above and below.
//!
//! Grids have a large diameter for their size, R + C - 2, and a frontier that never holds more than a few thousand
//! vertices, like road networks without their irregularity. Vertex `r * C + c` is in row `r` and column `c`.
//!
//! Work O(R * C), fully parallel.

use super::spec::Options;
use super::{Edges, Generator, GeneratorInfo};
use crate::graph::Coordinates;
use crate::{Result, memory};

pub(super) const INFO: GeneratorInfo = GeneratorInfo {
    name: "grid",
    size: "ROWSxCOLUMNS",
    summary: "two-dimensional grid: degree 4, the largest diameter",
    source: "textbook",
    options: &[],
};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid {
    rows: u64,
    columns: u64,
}

impl Grid {
    pub(super) fn parse(options: &Options<'_>) -> Result<Self> {
        let size = options.size;
        let parsed = size.split_once('x').and_then(|(rows, columns)| Some((rows.parse().ok()?, columns.parse().ok()?)));
        let Some((rows, columns)) = parsed.filter(|&(rows, columns): &(u64, u64)| rows > 0 && columns > 0) else {
            return Err(options.error(format!("`{size}` is not of the form ROWSxCOLUMNS, two numbers from 1")));
        };
        let most = options.most_vertices;
        match rows.checked_mul(columns) {
            Some(vertices) if vertices <= most => Ok(Grid { rows, columns }),
            _ => Err(options.error(format!("more than {most} vertices are not possible"))),
        }
    }
}

impl Generator for Grid {
    fn vertices(&self) -> u64 {
        self.rows * self.columns
    }

    fn edges(&self) -> u64 {
        self.rows * (self.columns - 1) + (self.rows - 1) * self.columns
    }

    fn coordinates(&self, _: u64) -> Result<Option<Coordinates>> {
        let place = |v: usize| Some([(v as u64 % self.columns) as f64, (v as u64 / self.columns) as f64]);
        let places = memory::listed("the coordinates of vertices", (0..self.vertices() as usize).map(place))?;
        Ok(Some(Coordinates::new(places)))
    }

    fn draw(&self, _seed: u64) -> Result<Edges> {
        let columns = self.columns;
        let horizontal = self.rows * (columns - 1);
        Ok(Edges::by_index(self.edges(), move |index| {
            if index < horizontal {
                // A row of C vertices has C - 1 edges, so each row before shifts the vertices by one more.
                let left = index + index / (columns - 1);
                (left, left + 1)
            } else {
                let above = index - horizontal;
                (above, above + columns)
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::generate;

    #[test]
    fn neighbours_are_left_right_above_and_below() {
        let graph = generate("grid:3x4").unwrap();
        assert_eq!((graph.vertices(), graph.arcs()), (12, 2 * (2 * 12 - 3 - 4)));
        assert_eq!(graph.neighbors(0), [1, 4]);
        assert_eq!(graph.neighbors(3), [2, 7]);
        assert_eq!(graph.neighbors(5), [1, 4, 6, 9]);
        assert_eq!(graph.neighbors(11), [7, 10]);
    }

    #[test]
    fn every_size_has_2rc_minus_r_minus_c_edges() {
        for (rows, columns) in [(1, 1), (1, 7), (7, 1), (2, 2), (13, 5), (300, 211)] {
            let graph = generate(&format!("grid:{rows}x{columns}")).unwrap();
            assert_eq!(graph.arcs(), 2 * (2 * rows * columns - rows - columns), "{rows}x{columns}");
            assert_eq!(graph.input_counts().parallel, 0);
            assert_eq!(crate::graph::weakly_connected_components(&graph).unwrap().count, 1);
        }
    }
}
