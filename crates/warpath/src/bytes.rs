//! Numbers of bytes as people read them.

use std::fmt::{Display, Formatter};

/// A number of bytes, shown in the unit that suits it: `1,023 bytes`, `1.5 KiB`, `8.0 GiB`.
///
/// ```
/// assert_eq!(warpath::Bytes(3 << 29).to_string(), "1.5 GiB");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

impl Display for Bytes {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        match self.0 {
            1 => out.write_str("1 byte"),
            number @ ..1000 => write!(out, "{number} bytes"),
            number @ 1000..1024 => write!(out, "1,{:03} bytes", number - 1000),
            number => {
                // 1,023.95 of a unit would be rounded to 1024.0.
                let mut value = number as f64 / 1024.0;
                let mut units = UNITS.iter();
                let mut unit = units.next();
                while value >= 1023.95
                    && let Some(next) = units.next()
                {
                    value /= 1024.0;
                    unit = Some(next);
                }
                write!(out, "{value:.1} {}", unit.unwrap_or(&""))
            }
        }
    }
}

/// Two numbers of bytes of which one is too great for the other. They are exact where they would look the same in units.
pub(crate) fn told_apart(one: u64, other: u64) -> (String, String) {
    let texts = (Bytes(one).to_string(), Bytes(other).to_string());
    if texts.0 == texts.1 { (format!("{one} bytes"), format!("{other} bytes")) } else { texts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        for (number, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1,000 bytes"),
            (1023, "1,023 bytes"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (16_000_000_000, "14.9 GiB"),
            (1 << 42, "4.0 TiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(Bytes(number).to_string(), text);
        }
    }

    #[test]
    fn what_looks_the_same_is_exact() {
        assert_eq!(told_apart(3 << 30, 1 << 20), ("3.0 GiB".into(), "1.0 MiB".into()));
        assert_eq!(told_apart((1 << 30) + 1, 1 << 30), ("1073741825 bytes".into(), "1073741824 bytes".into()));
    }
}
