//! The number of buckets and the length of remainders for a size or an error rate.

use super::options::{CounterBits, DLeftOptions, REMAINDER_BITS, Widths};
use crate::error::BuildError;
use crate::header::HEADER_LEN;
use crate::membership::FilterStats;
use crate::sizing::Sizing;
use crate::theory;

/// Cells of a bucket.
pub(super) const BUCKET_CELLS: u64 = 8;

/// Maximum number of buckets of a subtable.
///
/// Numbers below M then have 58 bits, so that a number and its copies fit into one word of the
/// stash.
pub(super) const BUCKETS_MAX: u64 = 1 << 32;

/// The parameters of a filter, named as in the [module's](super) formulas.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Shape {
    /// Number of subtables, d.
    pub(super) subtables: u32,
    /// Buckets of a subtable, B; 0 only in a filter without keys.
    pub(super) buckets: u64,
    /// Bits of a remainder, r.
    pub(super) remainder_bits: u32,
    pub(super) counter_bits: CounterBits,
}

impl Shape {
    /// Finds the best shape for `keys` keys: zero buckets for zero keys.
    pub(super) fn new(
        sizing: Sizing,
        keys: u64,
        options: DLeftOptions,
    ) -> Result<Self, BuildError> {
        let empty = Self {
            subtables: options.subtables,
            buckets: 0,
            remainder_bits: *options.widths().start(),
            counter_bits: options.counter_bits,
        };
        let widths = options.widths();
        let shape = match sizing {
            _ if keys == 0 => return Ok(empty),
            Sizing::ErrorRate(rate) => empty.for_error_rate(rate.get(), keys, widths)?,
            Sizing::BitsPerKey(bits) if bits > 0.0 && bits.is_finite() => {
                let budget = (bits * keys as f64 / 8.0) as u64;
                // A small filter may exceed the budget by one bucket per subtable.
                let rounding = empty.with_buckets(1).table_len();
                empty
                    .for_budget(budget, keys, widths)
                    .or_else(|| {
                        let least = empty.with_buckets(empty.fewest_buckets(keys));
                        (least.table_len() <= budget.saturating_add(rounding)).then_some(least)
                    })
                    .ok_or(BuildError::BitsPerKey(bits))?
            }
            Sizing::BitsPerKey(bits) => return Err(BuildError::BitsPerKey(bits)),
            Sizing::Bytes(budget) => {
                let header = HEADER_LEN as u64;
                let least = empty.with_buckets(empty.fewest_buckets(keys)).table_len();
                let needed = least.saturating_add(header);
                empty
                    .for_budget(budget.saturating_sub(header), keys, widths)
                    .ok_or(BuildError::Budget { needed, budget })?
            }
        };
        if shape.buckets > BUCKETS_MAX { Err(BuildError::Memory) } else { Ok(shape) }
    }

    /// Chooses the length of remainders that makes the table smallest.
    fn for_error_rate(self, rate: f64, keys: u64, widths: Widths) -> Result<Self, BuildError> {
        let fewest = self.fewest_buckets(keys);
        let shapes = widths.filter_map(|remainder_bits| {
            let shape = Self { remainder_bits, ..self };
            // M from the error rate 1 − (1 − 1/M)^n, then B = M / 2^r.
            let numbers = 1.0 / -libm::expm1(libm::log1p(-rate) / keys as f64);
            let buckets = numbers / libm::exp2(f64::from(remainder_bits));
            if buckets >= BUCKETS_MAX as f64 {
                return None;
            }
            let enough = shape.with_buckets(fewest.max(libm::ceil(buckets) as u64));
            let more = shape.with_buckets(enough.buckets + 1); // For rounding errors.
            [enough, more].into_iter().find(|shape| shape.error_rate(keys) <= rate)
        });
        // At most eight times the necessary cells.
        let sensible = shapes.filter(|shape| shape.buckets <= fewest.saturating_mul(8));
        sensible.min_by_key(|shape| shape.table_len()).ok_or(BuildError::ErrorRate(rate))
    }

    /// Chooses the shape within the budget with the lowest error rate.
    fn for_budget(self, budget: u64, keys: u64, widths: Widths) -> Option<Self> {
        let fewest = self.fewest_buckets(keys);
        let shapes = widths.rev().filter_map(|remainder_bits| {
            let shape = Self { remainder_bits, ..self };
            let buckets = budget / shape.with_buckets(1).table_len();
            (buckets >= fewest).then(|| shape.with_buckets(buckets.min(BUCKETS_MAX)))
        });
        // The longest remainders are mostly best, but not always: more buckets lower the rate, too.
        shapes.min_by(|a, b| a.error_rate(keys).total_cmp(&b.error_rate(keys)))
    }

    pub(super) const fn with_buckets(self, buckets: u64) -> Self {
        Self { buckets, ..self }
    }

    /// Returns the minimum buckets of a subtable for the planned load, 7 of 8 cells.
    fn fewest_buckets(self, keys: u64) -> u64 {
        keys.div_ceil(u64::from(self.subtables) * (BUCKET_CELLS - 1))
    }

    /// Returns the bits of a cell. A bucket of eight cells has the same number of bytes.
    pub(super) const fn cell_bits(self) -> u32 {
        self.remainder_bits + self.counter_bits.get()
    }

    /// Returns the bytes of all subtables; `u64::MAX` if they exceed 64 bits (only in plans).
    pub(super) fn table_len(self) -> u64 {
        let row = u64::from(self.subtables) * u64::from(self.cell_bits());
        self.buckets.saturating_mul(row)
    }

    /// Returns the number of cells of a subtable.
    pub(super) const fn subtable_cells(self) -> u64 {
        debug_assert!(self.buckets <= BUCKETS_MAX, "the filter exists");
        self.buckets * BUCKET_CELLS
    }

    /// Returns the expected error rate with `keys` distinct keys.
    pub(super) fn error_rate(self, keys: u64) -> f64 {
        theory::d_left_error_rate(keys, self.buckets, self.remainder_bits)
    }

    /// Returns the error rate of a filter that holds `numbers` distinct numbers: their share of M.
    pub(super) fn held_rate(self, numbers: u64) -> f64 {
        if numbers == 0 {
            return 0.0;
        }
        let all = self.buckets as f64 * libm::exp2(f64::from(self.remainder_bits));
        (numbers as f64 / all).min(1.0)
    }

    /// Returns size and error rate with `keys` keys.
    pub(super) fn stats(self, keys: u64) -> FilterStats {
        FilterStats { keys, bytes: self.table_len(), error_rate: self.error_rate(keys) }
    }

    /// Returns a shape of the same size with more buckets and remainders one bit shorter.
    pub(super) fn with_shorter_remainders(self) -> Option<Self> {
        let remainder_bits = self.remainder_bits - 1;
        let shape = Self { remainder_bits, ..self };
        let buckets = self.table_len() / shape.with_buckets(1).table_len();
        REMAINDER_BITS.contains(&remainder_bits).then(|| shape.with_buckets(buckets))
    }

    /// Returns the maximum number of keys in the stash.
    ///
    /// Far more than the planned load needs, and few enough for fast searches.
    pub(super) fn stash_max(self) -> usize {
        debug_assert!(self.buckets <= BUCKETS_MAX, "the filter exists");
        let buckets = self.buckets * u64::from(self.subtables);
        usize::try_from(buckets / 64).expect("2^29 at most") + 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_shape_is_found_for_an_error_rate() {
        let options = DLeftOptions::default();
        for keys in [1, 10, 1_000, 999_999, 1_000_000] {
            for rate in [0.3, 0.01, 0.0018, 1e-4, 1e-6, 1e-7] {
                let wanted =
                    Sizing::ErrorRate(crate::sizing::ErrorRate::new(rate).expect("a rate"));
                let shape = Shape::new(wanted, keys, options).expect("possible");
                assert!(shape.error_rate(keys) <= rate);
                assert!(shape.fewest_buckets(keys) <= shape.buckets);
                let fewer = shape.with_buckets(shape.buckets - 1);
                let is_full = shape.buckets == shape.fewest_buckets(keys);
                assert!(is_full || fewer.error_rate(keys) > rate);
            }
            let wanted = Sizing::ErrorRate(crate::sizing::ErrorRate::new(1e-12).expect("a rate"));
            assert_eq!(Shape::new(wanted, keys, options), Err(BuildError::ErrorRate(1e-12)));
        }
    }
}
