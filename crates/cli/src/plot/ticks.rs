//! The numbers beside a scale.

use crate::print;

/// Round numbers from `low` to `high`, with at most `most` steps between them, and as they are written.
pub(super) fn ticks(low: f64, high: f64, is_whole: bool, most: usize) -> Vec<(f64, String)> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return vec![(low, number(low, 0))];
    }
    let rough = span / most.max(1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|&step| step >= rough * 0.999_999);
    let step = step.unwrap_or(rough).max(if is_whole { 1.0 } else { 0.0 });
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let first = (low / step - 1e-9).ceil();
    let count = ((high / step + 1e-9).floor() - first).clamp(0.0, 100.0) as usize;
    // 0.0 is not -0.0.
    (0..=count).map(|index| (first + index as f64) * step + 0.0).map(|value| (value, number(value, decimals))).collect()
}

/// A number as a scale writes it: short.
fn number(value: f64, decimals: usize) -> String {
    let size = value.abs();
    if size >= 1e9 || size > 0.0 && size < 1e-5 {
        format!("{value:e}")
    } else if decimals == 0 && value.fract() == 0.0 {
        let digits = print::grouped(size as u128);
        if value < 0.0 { format!("-{digits}") } else { digits }
    } else {
        format!("{value:.decimals$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let texts = |low, high, is_whole, most| -> Vec<String> {
            ticks(low, high, is_whole, most).into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts(0.0, 10_800.0, true, 5), ["0", "5,000", "10,000"]);
        assert_eq!(texts(0.0, 3.0, true, 6), ["0", "1", "2", "3"]);
        assert_eq!(texts(-2.0, 2.0, true, 4), ["-2", "-1", "0", "1", "2"]);
        assert_eq!(texts(0.0, 0.62, false, 4), ["0.0", "0.2", "0.4", "0.6"]);
        assert_eq!(texts(0.0, 0.0, true, 4), ["0"]);
        assert_eq!(texts(0.0, 3e12, true, 3), ["0", "1e12", "2e12", "3e12"]);
        assert!(ticks(0.0, 1e308, false, 5).len() <= 6);
        assert!(ticks(1e300, 1.000_000_1e300, false, 5).len() <= 6);
    }
}
