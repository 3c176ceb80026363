//! Medians, quartiles and the noise of samples.

use serde::{Deserialize, Serialize};

/// A median and the spread of the samples around it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The median over the sources of the medians over the repeats.
    pub median: f64,
    /// The mean of all samples.
    pub mean: f64,
    /// The least sample.
    pub least: f64,
    /// The greatest sample.
    pub greatest: f64,
    /// The quartiles of all samples.
    pub quartiles: (f64, f64),
    /// Half the distance between the quartiles of each source's samples, the median over the sources, as a share of the
    /// median: the noise of a repeat, whatever the differences between sources. 0 for single samples.
    pub noise: f64,
}

impl Spread {
    /// The spread of samples by source and repeat, at least one.
    pub fn of(samples: &[Vec<f64>]) -> Self {
        let medians: Vec<f64> = samples.iter().map(|source| quantile(source, 0.5)).collect();
        let median = quantile(&medians, 0.5);
        let all: Vec<f64> = samples.iter().flatten().copied().collect();
        let widths: Vec<f64> = samples
            .iter()
            .map(|source| (quantile(source, 0.75) - quantile(source, 0.25)) / 2.0 / quantile(source, 0.5).max(1e-12))
            .collect();
        Spread {
            median,
            mean: all.iter().sum::<f64>() / all.len() as f64,
            least: all.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: all.iter().copied().fold(0.0, f64::max),
            quartiles: (quantile(&all, 0.25), quantile(&all, 0.75)),
            noise: quantile(&widths, 0.5),
        }
    }
}

/// The value below which this share of the values lies, interpolated between neighbors.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * (sorted.len() - 1) as f64;
    let below = sorted[place.floor() as usize];
    below + (sorted[place.ceil() as usize] - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_quartiles() {
        let spread = Spread::of(&[vec![3.0, 1.0, 2.0], vec![10.0, 30.0, 20.0], vec![5.0]]);
        assert_eq!(spread.median, 5.0);
        assert_eq!((spread.least, spread.greatest), (1.0, 30.0));
        assert_eq!(spread.noise, 0.25);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.25), 1.75);
        assert_eq!(Spread::of(&[vec![7.0]]).noise, 0.0);
    }
}
