//! Where vertices lie on a plane.

use super::VertexId;

/// The coordinates of the vertices of a graph: x (or longitude) and y (or latitude).
#[derive(Debug, Clone, PartialEq)]
pub struct Coordinates(Vec<Option<[f64; 2]>>);

impl Coordinates {
    /// The coordinates of each vertex, `None` where they are not known.
    ///
    /// ```
    /// use warpath::graph::Coordinates;
    /// let places = Coordinates::new(vec![Some([8.5, 47.4]), None]);
    /// assert_eq!((places.of(0), places.of(1), places.of(2)), (Some([8.5, 47.4]), None, None));
    /// ```
    pub fn new(places: Vec<Option<[f64; 2]>>) -> Self {
        Coordinates(places)
    }

    /// The coordinates of a vertex, if they are known.
    pub fn of(&self, vertex: VertexId) -> Option<[f64; 2]> {
        self.0.get(vertex as usize).copied().flatten()
    }

    /// Bytes of memory that they take.
    pub fn owned_bytes(&self) -> u64 {
        (self.0.capacity() * size_of::<Option<[f64; 2]>>()) as u64
    }

    /// The number of vertices, with and without coordinates.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
