//! Single-source shortest paths: the request. Its result is a [`ShortestPathTree`](super::ShortestPathTree).

use super::VertexSet;
use crate::graph::{DistanceValue, VertexId};
use crate::{Error, Result};

/// Shortest paths from a source, or from the nearest of several.
///
/// ```
/// use warpath::{Graph, Solver, Sssp};
/// let graph = Graph::from_edges([(0, 1, 0.5), (1, 2, 0.25), (0, 2, 2.0)])?;
/// let tree = Solver::new(graph)?.solve(Sssp::from(0).to(2))?;
/// assert_eq!(tree.path_to(2).unwrap().vertices(), [0, 1, 2]);
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Sssp {
    pub(crate) sources: Vec<VertexId>,
    pub(crate) targets: Vec<VertexId>,
    pub(crate) cutoff: Option<Cutoff>,
    pub(crate) distances_only: bool,
    pub(crate) algorithm: Option<String>,
}

impl Sssp {
    /// From one source, or from the nearest of several.
    pub fn from(sources: impl VertexSet) -> Self {
        Sssp { sources: sources.into_vertices(), ..Default::default() }
    }

    /// Stop when all targets are settled; vertices farther than the farthest target are not reported. If a target can't
    /// be reached, or weights are negative, all reachable vertices are reported.
    pub fn to(mut self, targets: impl VertexSet) -> Self {
        self.targets = targets.into_vertices();
        self
    }

    /// Report only vertices at most this far away. Not for negative weights.
    pub fn within(mut self, cutoff: impl Into<Cutoff>) -> Self {
        self.cutoff = Some(cutoff.into());
        self
    }

    /// Leave out the predecessors; then there are no paths.
    pub fn distances_only(mut self) -> Self {
        self.distances_only = true;
        self
    }

    /// Solve by this algorithm instead of the algorithm predicted fastest: a name from
    /// [`Engine::algorithms`](crate::Engine::algorithms), with parameters as in `delta-stepping:delta=100`.
    pub fn algorithm(mut self, algorithm: impl Into<String>) -> Self {
        self.algorithm = Some(algorithm.into());
        self
    }
}

/// The greatest distance that is reported: an integer or a float, for weights of any type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cutoff {
    /// A whole number.
    Integer(u64),
    /// Any number from 0 to infinity.
    Float(f64),
}

impl From<u32> for Cutoff {
    fn from(value: u32) -> Self {
        Cutoff::Integer(value.into())
    }
}
impl From<u64> for Cutoff {
    fn from(value: u64) -> Self {
        Cutoff::Integer(value)
    }
}
impl From<f64> for Cutoff {
    fn from(value: f64) -> Self {
        Cutoff::Float(value)
    }
}

impl std::str::FromStr for Cutoff {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let bad = || Error::invalid(format!("the cutoff `{text}` is not a number of 0 or more"));
        match text.parse::<u64>() {
            Ok(value) => Ok(Cutoff::Integer(value)),
            Err(_) => text.parse().ok().filter(|value: &f64| *value >= 0.0).map(Cutoff::Float).ok_or_else(bad),
        }
    }
}

impl Cutoff {
    /// The greatest distance of type `D` within this cutoff; `UNREACHABLE` if every distance is within it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if the cutoff is a float below 0 or not a number.
    pub fn in_type<D: DistanceValue>(self) -> Result<D> {
        if let Cutoff::Float(value) = self
            && (value.is_nan() || value < 0.0)
        {
            return Err(Error::invalid(format!("the cutoff {value} is not a number of 0 or more")));
        }
        Ok(match self {
            Cutoff::Integer(value) => D::at_most_integer(value),
            Cutoff::Float(value) => D::at_most_float(value),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutoffs_round_down_to_the_type() {
        assert_eq!(Cutoff::Float(2.9).in_type::<u32>().unwrap(), 2);
        assert_eq!(Cutoff::Float(f64::INFINITY).in_type::<u32>().unwrap(), u32::UNREACHABLE);
        assert_eq!(Cutoff::Integer(1 << 40).in_type::<u32>().unwrap(), u32::UNREACHABLE);
        assert_eq!(Cutoff::Integer(1 << 40).in_type::<u64>().unwrap(), 1 << 40);
        assert!(f64::from(Cutoff::Float(0.1).in_type::<f32>().unwrap()) <= 0.1);
        assert!(Cutoff::Float(f64::NAN).in_type::<f32>().is_err());
        assert!("-1".parse::<Cutoff>().is_err() && "x".parse::<Cutoff>().is_err() && "1e3".parse::<Cutoff>().is_ok());
    }
}
