//! What is known of many breadth-first searches without their rows.

/// Which sums are wanted of each vertex. How many searches reach it always is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WantedSums {
    /// The sum of its levels.
    pub sums: bool,
    /// The sum of the inverse of its levels.
    pub inverse_sums: bool,
    /// The greatest of its levels.
    pub greatest: bool,
}

/// Sums over searches, for each vertex. Those that are not wanted are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LevelSums {
    /// How many pairs of a search and a vertex have each level.
    pub by_level: Vec<u64>,
    /// How many searches reach a vertex.
    pub reached: Vec<u32>,
    /// The sum of its levels in these.
    pub sums: Vec<u64>,
    /// The sum of the inverse of its levels, 0 left out.
    pub inverse_sums: Vec<f64>,
    /// The greatest of its levels; 0 if no search reaches it.
    pub greatest: Vec<u32>,
}
