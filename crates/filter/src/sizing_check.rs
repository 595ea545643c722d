//! The sizings that a kind of filter can have at all, whatever the number of keys.
//!
//! Fingerprints have a maximum length and tables a maximum load, so a kind has a lowest error rate
//! and a smallest number of bits per key. Both depend on the number of keys, which a caller that
//! stores a setting does not know yet. A sizing is usable if a filter of 100, 10,000, a million or a
//! billion keys can have it.

use alloc::format;
use alloc::string::String;

use crate::kinds::{FilterKind, plan};
use crate::sizing::{ErrorRate, Sizing};

/// A sizing is usable if a filter of one of these numbers of keys can have it.
const KEY_COUNTS: [u64; 4] = [100, 10_000, 1_000_000, 1_000_000_000];

/// A sizing that no filter of a kind can have with 100, 10,000, a million or a billion keys.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.message())]
#[non_exhaustive]
pub struct UnusableSizing {
    /// The kind.
    pub kind: FilterKind,
    /// The sizing.
    pub sizing: Sizing,
    /// The lowest possible error rate, or the least number of bits per key.
    pub min: f64,
}

impl FilterKind {
    /// The greatest number of bits per key that a setting may ask for.
    ///
    /// A generous limit: no kind gains from more bits.
    pub(crate) const BITS_PER_KEY_MAX: f64 = 1024.0;

    /// Checks a sizing before the number of keys is known, for example when a setting is stored.
    ///
    /// Whether a filter can be built may still depend on the number of keys. A budget in bytes is
    /// always usable.
    ///
    /// ```
    /// use filter::{FilterKind, Sizing};
    ///
    /// let sizing = Sizing::error_rate(1e-5)?;
    /// assert!(FilterKind::Ribbon.check_sizing(sizing).is_ok());
    /// let refused = FilterKind::BinaryFuse.check_sizing(sizing).expect_err("16 bits at most");
    /// assert_eq!(
    ///     refused.to_string(),
    ///     "no binary-fuse filter has an error rate of 1e-5; the lowest is 0.000016"
    /// );
    /// # Ok::<(), filter::InvalidErrorRate>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`UnusableSizing`], which names the range, if no filter of 100, 10,000, a million or a billion
    /// keys can have the sizing.
    pub fn check_sizing(self, sizing: Sizing) -> Result<(), UnusableSizing> {
        let min = match sizing {
            _ if self.is_usable(sizing) => return Ok(()),
            Sizing::ErrorRate(_) => self.error_rate_min(),
            Sizing::BitsPerKey(_) | Sizing::Bytes(_) => self.bits_per_key_min(),
        };
        Err(UnusableSizing { kind: self, sizing, min })
    }

    fn is_usable(self, sizing: Sizing) -> bool {
        match sizing {
            Sizing::Bytes(_) => true,
            Sizing::BitsPerKey(bits) if !(bits > 0.0 && bits <= Self::BITS_PER_KEY_MAX) => false,
            _ => KEY_COUNTS.iter().any(|keys| plan(self, sizing, *keys).is_ok()),
        }
    }

    /// Returns the lowest usable error rate, rounded up to two digits.
    fn error_rate_min(self) -> f64 {
        let is_usable =
            |rate| ErrorRate::new(rate).is_ok_and(|rate| self.is_usable(Sizing::ErrorRate(rate)));
        let exponent = bisect(-20, -1, |exponent| is_usable(power_of_ten(exponent)));
        let tenths = power_of_ten(exponent - 2);
        f64::from(bisect(10, 100, |digits| is_usable(f64::from(digits) * tenths))) * tenths
    }

    /// Returns the least usable bits per key, rounded up to tenths; 0 if any number is usable.
    fn bits_per_key_min(self) -> f64 {
        let is_usable = |bits| self.is_usable(Sizing::BitsPerKey(bits));
        if is_usable(f64::MIN_POSITIVE) {
            return 0.0;
        }
        f64::from(bisect(0, 1_000, |tenths| is_usable(f64::from(tenths) / 10.0))) / 10.0
    }
}

/// Returns a number up to `high` that is usable and whose predecessor is not.
///
/// `high` must be usable; `low` must not, and is never returned.
fn bisect(mut low: i32, mut high: i32, is_usable: impl Fn(i32) -> bool) -> i32 {
    while high - low > 1 {
        let middle = i32::midpoint(low, high);
        if is_usable(middle) { high = middle } else { low = middle }
    }
    high
}

fn power_of_ten(exponent: i32) -> f64 {
    libm::pow(10.0, f64::from(exponent))
}

impl UnusableSizing {
    fn message(&self) -> String {
        let Self { kind, sizing, min } = self;
        let max = FilterKind::BITS_PER_KEY_MAX;
        match sizing {
            Sizing::ErrorRate(rate) => {
                let (rate, digits) = (rate.get(), libm::ceil(1.0 - libm::log10(*min)) as usize);
                format!(
                    "no {kind} filter has an error rate of {rate:?}; the lowest is {min:.digits$}"
                )
            }
            Sizing::BitsPerKey(bits) if *min == 0.0 => format!(
                "a {kind} filter cannot be sized for {bits} bits per key; more than 0 and at most \
                 {max} are possible"
            ),
            Sizing::BitsPerKey(bits) => {
                format!("no {kind} filter has {bits} bits per key; {min} to {max} are possible")
            }
            Sizing::Bytes(bytes) => format!("a {kind} filter cannot have {bytes} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_limit_is_usable_and_what_was_refused_is_beyond_it() {
        for &kind in FilterKind::ALL {
            for rate in [1e-30, 1e-300] {
                let sizing = Sizing::error_rate(rate).unwrap();
                let refused = kind.check_sizing(sizing).unwrap_err();
                let least = Sizing::error_rate(refused.min).unwrap();
                assert!(refused.min > rate && kind.check_sizing(least).is_ok(), "{refused}");
            }
            for bits in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e18] {
                let refused = kind.check_sizing(Sizing::BitsPerKey(bits)).unwrap_err();
                let least = Sizing::BitsPerKey(refused.min.max(f64::MIN_POSITIVE));
                assert!(kind.check_sizing(least).is_ok(), "{refused}");
            }
            for usable in [Sizing::ErrorRate(ErrorRate::HBASE), Sizing::BitsPerKey(12.0)] {
                assert_eq!(kind.check_sizing(usable), Ok(()));
            }
            assert_eq!(kind.check_sizing(Sizing::Bytes(0)), Ok(()));
        }
    }
}
