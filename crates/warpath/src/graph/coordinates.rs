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

    /// How many degrees of latitude a degree of longitude is long, in the middle of these coordinates: the cosine of the
    /// latitude there. `None` if they can't be longitude and latitude in degrees, because an x lies beyond 180 or a y
    /// beyond 90, or if there are none. O(V).
    ///
    /// ```
    /// use warpath::graph::Coordinates;
    /// let paris = Coordinates::new(vec![Some([2.3, 48.8]), None, Some([2.4, 48.9])]);
    /// assert!((paris.longitude_scale().unwrap() - 0.658).abs() < 0.001);
    /// assert_eq!(Coordinates::new(vec![Some([2.3, 148.8])]).longitude_scale(), None);
    /// ```
    pub fn longitude_scale(&self) -> Option<f64> {
        let mut latitudes: Option<(f64, f64)> = None;
        for &[x, y] in self.0.iter().flatten() {
            if x.abs() > 180.0 || y.abs() > 90.0 {
                return None;
            }
            let (low, high) = latitudes.unwrap_or((y, y));
            latitudes = Some((low.min(y), high.max(y)));
        }
        // At a pole, a degree of longitude would have no length.
        latitudes.map(|(low, high)| ((low + high) / 2.0).to_radians().cos().max(0.01))
    }
}
