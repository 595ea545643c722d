//! The size of a filter: by error rate, by bits per key, or by a budget of bytes.

use crate::error::BuildError;
use crate::header::HEADER_LEN;
use crate::theory;

/// The share of absent keys for which a filter may say "maybe": greater than 0 and less than 1.
///
/// ```
/// use filter::ErrorRate;
///
/// let rate = ErrorRate::new(0.01)?;
/// assert!((rate.bits_per_key_floor() - 6.64).abs() < 0.01);
/// assert!(ErrorRate::new(0.0).is_err());
/// # Ok::<(), filter::InvalidErrorRate>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct ErrorRate(f64);

impl ErrorRate {
    /// One per cent: HBase's default of `io.storefile.bloom.error.rate`.
    pub const HBASE: Self = Self(0.01);

    /// Returns `rate` as an error rate if it is in range.
    ///
    /// # Errors
    ///
    /// [`InvalidErrorRate`] if it is 0 or less, 1 or more, or not a number.
    pub fn new(rate: f64) -> Result<Self, InvalidErrorRate> {
        if rate > 0.0 && rate < 1.0 { Ok(Self(rate)) } else { Err(InvalidErrorRate(rate)) }
    }

    /// Returns the rate: 0.01 for one per cent.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns log2(1/rate): no filter has this error rate with fewer bits per key.
    pub fn bits_per_key_floor(self) -> f64 {
        theory::bits_per_key_floor(self.0)
    }
}

/// A number that is not an error rate: 0 or less, 1 or more, or not a number.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("invalid error rate {0}: it must be greater than 0 and less than 1")]
pub struct InvalidErrorRate(pub f64);

/// How the size of a filter is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sizing {
    /// The smallest filter with at most the given error rate.
    ErrorRate(ErrorRate),
    /// At most the given number of bits per key; fractions are allowed.
    ///
    /// Does not count the header of 64 bytes. A filter that consists
    /// of whole units (cache lines, buckets) has at least one unit, even if the unit is larger than
    /// this limit.
    BitsPerKey(f64),
    /// At most the given number of bytes for the whole stored filter, header included.
    Bytes(u64),
}

/// What a sizing demands of a filter for a known number of keys.
pub(crate) enum Demand {
    /// At most this error rate.
    ErrorRate(f64),
    /// At most this number of bytes, without the header of the stored form.
    Bytes(u64),
}

impl Sizing {
    /// Returns the sizing for an error rate: 0.01 for one per cent.
    ///
    /// # Errors
    ///
    /// [`InvalidErrorRate`] if the rate is 0 or less, 1 or more, or not a number.
    pub fn error_rate(rate: f64) -> Result<Self, InvalidErrorRate> {
        ErrorRate::new(rate).map(Self::ErrorRate)
    }

    /// Returns the demand for a filter of `keys` keys, which takes at least `smallest` bytes.
    ///
    /// Bits per key may demand less than `smallest`, because they are no budget.
    pub(crate) fn demand(self, keys: u64, smallest: u64) -> Result<Demand, BuildError> {
        match self {
            Self::ErrorRate(rate) => Ok(Demand::ErrorRate(rate.get())),
            Self::BitsPerKey(bits) if bits > 0.0 && bits.is_finite() => {
                Ok(Demand::Bytes((bits * keys as f64 / 8.0) as u64))
            }
            Self::BitsPerKey(bits) => Err(BuildError::BitsPerKey(bits)),
            Self::Bytes(budget) => {
                let needed = smallest.saturating_add(HEADER_LEN as u64);
                let room =
                    budget.checked_sub(needed).ok_or(BuildError::Budget { needed, budget })?;
                Ok(Demand::Bytes(smallest + room))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_rate_is_strictly_between_zero_and_one() {
        for wrong in [0.0, -0.1, 1.0, 2.0, f64::NAN, f64::INFINITY] {
            assert!(ErrorRate::new(wrong).is_err(), "{wrong}");
        }
        assert!(ErrorRate::new(f64::MIN_POSITIVE).is_ok());
    }
}
