//! Sizes and counts on the command line and in reports: `64KiB`.
//!
//! Not by `bytesize`, for which `64k` and `64KB` are 64,000 bytes, and which writes `64.0 KiB`.

use std::str::FromStr;

pub(crate) use cells::{show_count, show_number};

const UNITS: [(&str, u64); 4] =
    [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

/// A number of bytes from the command line: `65536`, `64KiB`, `64k`, `1.5 MiB`.
///
/// `k` and `KB` mean 1,024, as in HBase's settings. In JSON a size is a plain number.
#[derive(Clone, Copy, Debug, Eq, PartialEq, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct SizeText(u64);

impl SizeText {
    /// The number of bytes.
    pub(crate) const fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for SizeText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (digits, unit) = text.split_at(digits_end);
        let factor = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            unit => UNITS
                .iter()
                .find(|(name, _)| {
                    let lower = name.to_ascii_lowercase();
                    unit == lower || unit == &lower[..1] || unit == format!("{}b", &lower[..1])
                })
                .map(|(_, factor)| *factor)
                .ok_or_else(|| {
                    format!("unknown unit {unit:?}; expected a size such as 65536, 64KiB or 1.5MiB")
                })?,
        };
        let number: f64 = digits
            .parse()
            .map_err(|_| "expected a size such as 65536, 64KiB or 1.5MiB".to_owned())?;
        let bytes = number * factor as f64;
        if bytes.fract() != 0.0 || bytes >= (1_u64 << 53) as f64 {
            return Err("a size must be a whole number of bytes below 8 PiB".to_owned());
        }
        Ok(Self(bytes as u64))
    }
}

/// Formats a number of bytes for people: `138 B`, `64 KiB`, `4.8 MiB`, `140 MiB`.
pub(crate) fn show_size(bytes: u64) -> String {
    if bytes < 1 << 10 {
        return format!("{bytes} B");
    }
    // The rounded number decides, so that a byte less than 1 MiB is not 1,024 KiB.
    let mut units = UNITS.iter().rev();
    let unit = units.find(|(_, factor)| bytes as f64 >= *factor as f64 * (1023.5 / 1024.0));
    let Some((name, factor)) = unit else {
        return format!("{bytes} B");
    };
    let number = bytes as f64 / *factor as f64;
    let text = if number < 99.95 { format!("{number:.1}") } else { format!("{number:.0}") };
    format!("{} {name}", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_accept_common_spellings_of_units() {
        for (text, bytes) in [
            ("65536", 65_536),
            ("64KiB", 65_536),
            ("64k", 65_536),
            ("64 KB", 65_536),
            ("1.5MiB", 1_572_864),
            ("2g", 2 << 30),
            ("0", 0),
        ] {
            assert_eq!(text.parse(), Ok(SizeText(bytes)), "{text}");
        }
        for text in ["", "KiB", "64Kb!", "-1", "1.0001KiB", "9000TiB", "ki"] {
            assert!(text.parse::<SizeText>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(show_size(138), "138 B");
        assert_eq!(show_size(1_023), "1023 B");
        assert_eq!(show_size(4_905), "4.8 KiB");
        assert_eq!(show_size(65_536), "64 KiB");
        assert_eq!(show_size((1 << 20) - 1), "1 MiB");
        assert_eq!(show_size(1_572_864), "1.5 MiB");
        assert_eq!(show_size(140 << 20), "140 MiB");
    }
}
