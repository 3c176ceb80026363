//! Formats numbers for people.

/// Formats a time in a fitting unit, to three digits.
pub(crate) fn seconds(value: f64) -> String {
    let (value, unit) = match value {
        v if v >= 1.0 => (v, "s"),
        v if v >= 1e-3 => (v * 1e3, "ms"),
        v if v >= 1e-6 => (v * 1e6, "µs"),
        v => (v * 1e9, "ns"),
    };
    format!("{} {unit}", digits(value))
}

/// Formats a number to three digits.
pub(crate) fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => scaled(value),
        v if v >= 100.0 => grouped(value.round() as u64),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.01 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.1e}"),
    }
}

/// Formats a large number with a letter: 1.2 M.
pub(crate) fn scaled(value: f64) -> String {
    let units = [(1e15, " P"), (1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    match units.into_iter().find(|(unit, _)| value.abs() >= *unit) {
        Some((unit, letter)) => {
            let value = value / unit;
            let text = if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") };
            text.strip_suffix(".0").unwrap_or(&text).to_owned() + letter
        }
        None if value.fract() == 0.0 => format!("{value:.0}"),
        None => format!("{value:.2}"),
    }
}

/// Formats 1234567 as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a ratio: `3.4×`.
pub(crate) fn ratio(value: f64) -> String {
    format!("{}×", digits(value))
}

/// Formats a time in UTC.
pub(crate) fn moment(seconds: u64) -> String {
    // Days of the civil calendar, after H. Hinnant, chrono-compatible low-level date algorithms.
    let days = (seconds / 86_400) as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(seconds(0.001_234), "1.23 ms");
        assert_eq!(seconds(123.4), "123 s");
        assert_eq!(seconds(45e-9), "45.0 ns");
        assert_eq!(digits(1234.0), "1,234");
        assert_eq!(digits(0.0012), "1.2e-3");
        assert_eq!(scaled(1_048_576.0), "1 M");
        assert_eq!(scaled(250.0), "250");
        assert_eq!(scaled(2.5e12), "2.5 T");
        assert_eq!(ratio(12.345), "12.3×");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn moments_are_of_the_calendar() {
        assert_eq!(moment(0), "1970-01-01 00:00 UTC");
        assert_eq!(moment(951_827_696), "2000-02-29 12:34 UTC");
        assert_eq!(moment(1_735_689_599), "2024-12-31 23:59 UTC");
    }
}
