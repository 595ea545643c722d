//! The size of a filter: by error rate, by bits per key, or by a budget of bytes.

use crate::theory;

/// How often a filter may say "maybe" about an absent key: strictly between 0 and 1.
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

    /// Creates an error rate.
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

    /// Returns log2(1/rate), the lower bound of the bits per key at this error rate.
    pub fn bits_per_key_floor(self) -> f64 {
        theory::bits_per_key_floor(self.0)
    }
}

/// An error rate that is not strictly between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("an error rate lies strictly between 0 and 1, and {0} does not")]
pub struct InvalidErrorRate(pub f64);

/// How the size of a filter is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sizing {
    /// The smallest filter whose error rate is at most this.
    ErrorRate(ErrorRate),
    /// At most this many bits per key, which may be a fraction.
    ///
    /// The header of [`HEADER_LEN`](crate::HEADER_LEN) bytes is not counted. A kind that consists of
    /// whole units (cache lines, buckets) takes at least one of them, even if that is more.
    BitsPerKey(f64),
    /// At most this many bytes for the whole stored filter, header included.
    Bytes(u64),
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
