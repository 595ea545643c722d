//! Rates, times and shares as people read them: two or three significant digits and a unit.
//!
//! JSON reports have the exact numbers. Crates such as `human_format` have the prefixes, but a fixed number of digits
//! after the point.

/// Formats a rate or another large number: `12`, `835 k`, `1.2 M`.
pub(crate) fn show_rate(per_second: f64) -> String {
    // The rounded number decides, so that 999,600 is 1.0 M and not 1,000 k.
    let (scaled, prefix) = if per_second < 999.5 {
        return format!("{per_second:.0}");
    } else if per_second < 999_500.0 {
        (per_second / 1e3, "k")
    } else if per_second < 999.5e6 {
        (per_second / 1e6, "M")
    } else {
        (per_second / 1e9, "G")
    };
    let decimals = usize::from(scaled < 9.95);
    format!("{scaled:.decimals$} {prefix}")
}

/// Formats nanoseconds with three significant digits: `701 ns`, `5.92 µs`, `1.96 ms`, `12.0 s`.
pub(crate) fn show_nanos(nanos: f64) -> String {
    if nanos < 99.95 {
        return format!("{nanos:.*} ns", usize::from(nanos.fract() != 0.0));
    }
    let (scaled, unit) = if nanos < 999.5 {
        (nanos, "ns")
    } else if nanos < 999.5e3 {
        (nanos / 1e3, "µs")
    } else if nanos < 999.5e6 {
        (nanos / 1e6, "ms")
    } else {
        (nanos / 1e9, "s")
    };
    let decimals = usize::from(scaled < 9.995) + usize::from(scaled < 99.95);
    format!("{scaled:.decimals$} {unit}")
}

/// Formats a share of 1 as a percentage with two or three significant digits: `1.00%`, `0.053%`.
pub(crate) fn show_percent(share: f64) -> String {
    let percent = share * 100.0;
    let size = percent.abs();
    let decimals = if size >= 9.995 {
        1
    } else if size >= 0.995 || size == 0.0 {
        2
    } else {
        // One decimal for each zero after the point, and two digits.
        (-size.log10()).ceil().clamp(0.0, 15.0) as usize + 1
    };
    format!("{percent:.decimals$}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_a_prefix_and_two_or_three_digits() {
        for (rate, shown) in [
            (0.0, "0"),
            (12.4, "12"),
            (1_234.0, "1.2 k"),
            (786_862.34, "787 k"),
            (999_600.0, "1.0 M"),
            (4_911_651.2, "4.9 M"),
            (87_123_456.0, "87 M"),
            (2.5e9, "2.5 G"),
        ] {
            assert_eq!(show_rate(rate), shown);
        }
    }

    #[test]
    fn times_have_three_digits() {
        for (nanos, shown) in [
            (0.0, "0 ns"),
            (11.52, "11.5 ns"),
            (25.0, "25 ns"),
            (701.0, "701 ns"),
            (999.7, "1.00 µs"),
            (5_919.0, "5.92 µs"),
            (10_846.0, "10.8 µs"),
            (195_799.0, "196 µs"),
            (1_963_000.0, "1.96 ms"),
            (12.04e9, "12.0 s"),
        ] {
            assert_eq!(show_nanos(nanos), shown);
        }
    }

    #[test]
    fn shares_are_percentages_with_two_digits_at_least() {
        for (share, shown) in [
            (0.0, "0.00%"),
            (1.0, "100.0%"),
            (0.01, "1.00%"),
            (0.009_91, "0.99%"),
            (0.000_534, "0.053%"),
            (1.04e-6, "0.00010%"),
            (-0.049, "-4.90%"),
        ] {
            assert_eq!(show_percent(share), shown);
        }
    }
}
