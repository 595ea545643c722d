//! The size of a filter, given by one of three options.

use filter::{ErrorRate, Sizing};

use crate::arguments::writing_options;
use crate::failure::UsageError;
use crate::text::size_text::SizeText;

/// Returns the sizing from at most one option; without options, HBase's error rate of 1 %.
pub(crate) fn sizing(
    error_rate: Option<f64>,
    bits_per_key: Option<f64>,
    budget: Option<SizeText>,
) -> Result<Sizing, UsageError> {
    match (error_rate, bits_per_key, budget) {
        (Some(rate), None, None) => Ok(Sizing::ErrorRate(writing_options::error_rate(rate)?)),
        (None, Some(bits), None) if bits > 0.0 && bits.is_finite() => Ok(Sizing::BitsPerKey(bits)),
        (None, Some(bits), None) => {
            Err(UsageError(format!("bits per key must be positive, not {bits}")))
        }
        (None, None, Some(budget)) => Ok(Sizing::Bytes(budget.bytes())),
        (None, None, None) => Ok(Sizing::ErrorRate(ErrorRate::HBASE)),
        _ => Err(UsageError(
            "error rate, bits per key and budget exclude each other: give one".to_owned(),
        )),
    }
}
