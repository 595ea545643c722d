//! `hfile filter size --widths`: filters with fingerprints, at every fingerprint width.

use std::io::{self, Write};

use filter::{Cuckoo, DLeft, DLeftOptions, ErrorRate, FilterKind, FilterStats, Sizing};
use serde::Serialize;

use crate::text::output::{or_dash, write_table};
use crate::text::rounded::show_percent;
use crate::text::size_text::show_size;

/// Bits of a fingerprint or remainder.
const WIDTHS: std::ops::RangeInclusive<u32> = 4..=16;

/// Bits of a d-left cell besides its remainder.
const COUNTER_BITS: u32 = 2;

/// One kind at one width and its planned load.
#[derive(Debug, Serialize)]
pub(super) struct WidthSize {
    filter: &'static str,
    /// Bits of a fingerprint (cuckoo) or remainder (d-left).
    width: u32,
    bytes: u64,
    bits_per_key: f64,
    /// The excess over the lower bound for its error rate; `null` if that bound is zero.
    over_bound: Option<f64>,
    error_rate_predicted: f64,
}

impl WidthSize {
    /// Computes the sizes for a number of keys.
    pub(super) fn all(keys: u64) -> anyhow::Result<Vec<Self>> {
        let mut sizes = Vec::new();
        for width in WIDTHS {
            let stats = Cuckoo::plan_with_fingerprint_bits(width, keys)?;
            sizes.push(Self::new(FilterKind::Cuckoo, width, stats));
        }
        for width in WIDTHS {
            let options = DLeftOptions::default().remainder_bits(width);
            let full = Sizing::BitsPerKey(f64::from(width + COUNTER_BITS) * 8.0 / 7.0);
            let stats = DLeft::plan_with_options(options, full, keys)?;
            sizes.push(Self::new(FilterKind::DLeft, width, stats));
        }
        Ok(sizes)
    }

    fn new(kind: FilterKind, width: u32, stats: FilterStats) -> Self {
        let bits = stats.bits_per_key();
        let bound = ErrorRate::new(stats.error_rate).map(ErrorRate::bits_per_key_floor);
        Self {
            filter: kind.name(),
            width,
            bytes: stats.bytes,
            bits_per_key: bits,
            over_bound: bound.ok().map(|bound| bits / bound - 1.0),
            error_rate_predicted: stats.error_rate,
        }
    }
}

/// Writes the text table.
pub(super) fn write_text(sizes: &[WidthSize], out: &mut dyn Write) -> io::Result<()> {
    let rows = sizes.iter().map(|size| {
        vec![
            size.filter.to_owned(),
            size.width.to_string(),
            format!("{:.2}", size.bits_per_key),
            or_dash(size.over_bound, |over| format!("{:+.1}%", over * 100.0)),
            show_percent(size.error_rate_predicted),
            show_size(size.bytes),
        ]
    });
    writeln!(out, "\nat every width of fingerprints (cuckoo) and remainders (d-left):")?;
    write_table(out, &["filter", "width", "bits/key", "over bound", "predicted", "size"], rows)
}
