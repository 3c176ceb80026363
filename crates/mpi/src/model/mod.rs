//! Predicts what ranks send, for machines that nobody has at hand.

mod breadth_first;
mod by_weights;
mod classes;
mod components;
mod matrix;

pub use breadth_first::{Predicted, predict};
pub use by_weights::{PredictedByWeights, predict_by_weights};
pub use components::{PredictedComponents, predict_components};
pub use matrix::{PredictedMatrix, predict_matrix};
