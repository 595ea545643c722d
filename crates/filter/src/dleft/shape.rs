//! How large a d-left filter is, and where its keys go: sizes, permutations, places.

use crate::{BuildError, FilterStats, HEADER_LEN, KeyHash, Sizing, theory};

use super::filter::{CounterBits, DLeftOptions};

/// Cells of a bucket.
pub(super) const BUCKET_CELLS: u64 = 8;

/// The same, as a length.
pub(crate) const CELLS: usize = BUCKET_CELLS as usize;
/// The fewest and the most bits of a remainder. With 4, a full filter of four subtables lets 83 % of absent keys pass; with
/// 26, an error rate of one in a million does not take more cells than the keys do.
pub(super) const REMAINDER_BITS: Widths = 4..=26;
/// Bits that a remainder may have, from the fewest to the most.
pub(super) type Widths = core::ops::RangeInclusive<u32>;

/// The fewest and the most subtables.
pub(super) const SUBTABLES: core::ops::RangeInclusive<u32> = 2..=8;
/// The most buckets of a subtable. Numbers below M then take 58 bits, so that a number and a count of
/// copies fit one word of the stash.
pub(super) const BUCKETS_MAX: u64 = 1 << 32;

/// The numbers that make a filter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Shape {
    /// d.
    pub(super) subtables: u32,
    /// B, of each subtable; 0 only for a filter without keys.
    pub(super) buckets: u64,
    /// r.
    pub(super) remainder_bits: u32,
    pub(super) counter_bits: CounterBits,
}

impl Shape {
    /// Finds the best shape for so many keys. No keys take no buckets.
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
                // A small filter may take one bucket a subtable more than its keys pay for.
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

    /// Takes, of all lengths of remainders, the one with which the table is smallest.
    fn for_error_rate(self, rate: f64, keys: u64, widths: Widths) -> Result<Self, BuildError> {
        let fewest = self.fewest_buckets(keys);
        let shapes = widths.filter_map(|remainder_bits| {
            let shape = Self { remainder_bits, ..self };
            // From 1 − (1 − 1/M)^n, and then to the bucket.
            let numbers = 1.0 / -libm::expm1(libm::log1p(-rate) / keys as f64);
            let buckets = numbers / libm::exp2(f64::from(remainder_bits));
            if buckets >= BUCKETS_MAX as f64 {
                return None;
            }
            let enough = shape.with_buckets(fewest.max(libm::ceil(buckets) as u64));
            let more = shape.with_buckets(enough.buckets + 1); // If the logarithm rounded badly.
            [enough, more].into_iter().find(|shape| shape.error_rate(keys) <= rate)
        });
        // Eight cells a key are more than anyone could want.
        let sensible = shapes.filter(|shape| shape.buckets <= fewest.saturating_mul(8));
        sensible.min_by_key(|shape| shape.table_len()).ok_or(BuildError::ErrorRate(rate))
    }

    /// Takes the longest remainders that the budget allows, and then as many buckets.
    fn for_budget(self, budget: u64, keys: u64, widths: Widths) -> Option<Self> {
        let fewest = self.fewest_buckets(keys);
        let shapes = widths.rev().filter_map(|remainder_bits| {
            let shape = Self { remainder_bits, ..self };
            let buckets = budget / shape.with_buckets(1).table_len();
            (buckets >= fewest).then(|| shape.with_buckets(buckets.min(BUCKETS_MAX)))
        });
        // More buckets may be worth more than another bit, near the next bit.
        shapes.min_by(|a, b| a.error_rate(keys).total_cmp(&b.error_rate(keys)))
    }

    pub(super) const fn with_buckets(self, buckets: u64) -> Self {
        Self { buckets, ..self }
    }

    /// Returns how many buckets a subtable has to have for the target load, 7 of 8 cells.
    fn fewest_buckets(self, keys: u64) -> u64 {
        keys.div_ceil(u64::from(self.subtables) * (BUCKET_CELLS - 1))
    }

    /// Returns the bits of a cell, which are the bytes of a bucket as well: it has eight cells.
    pub(super) const fn cell_bits(self) -> u32 {
        self.remainder_bits + self.counter_bits.get()
    }

    /// Returns the bytes of all subtables.
    pub(super) fn table_len(self) -> u64 {
        let row = u64::from(self.subtables) * u64::from(self.cell_bits());
        self.buckets.saturating_mul(row)
    }

    /// Returns the cells of one subtable.
    pub(super) const fn subtable_cells(self) -> u64 {
        self.buckets.saturating_mul(BUCKET_CELLS)
    }

    /// Returns how often a filter of this shape errs with so many different keys.
    pub(super) fn error_rate(self, keys: u64) -> f64 {
        theory::d_left_error_rate(keys, self.buckets, self.remainder_bits)
    }

    /// Returns how often a filter of this shape errs whose cells hold so many different numbers: they
    /// are those that pass, of M.
    pub(super) fn held_rate(self, numbers: u64) -> f64 {
        if numbers == 0 {
            return 0.0;
        }
        let all = self.buckets as f64 * libm::exp2(f64::from(self.remainder_bits));
        (numbers as f64 / all).min(1.0)
    }

    /// What the filter costs and how often it errs with so many keys.
    pub(super) fn stats(self, keys: u64) -> FilterStats {
        FilterStats { keys, bytes: self.table_len(), error_rate: self.error_rate(keys) }
    }

    /// Trades a bit of each remainder for more buckets in the same room.
    pub(super) fn with_shorter_remainders(self) -> Option<Self> {
        let remainder_bits = self.remainder_bits - 1;
        let shape = Self { remainder_bits, ..self };
        let buckets = self.table_len() / shape.with_buckets(1).table_len();
        REMAINDER_BITS.contains(&remainder_bits).then(|| shape.with_buckets(buckets))
    }

    /// Returns how many keys may be put aside: far more than the target load should ever need, and
    /// few enough to be searched.
    pub(super) fn stash_max(self) -> usize {
        let buckets = self.buckets.saturating_mul(self.subtables.into());
        usize::try_from(buckets / 64).unwrap_or(usize::MAX).saturating_add(16)
    }
}

/// Where a key's cell is in one subtable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) bucket: u64,
    pub(super) remainder: u32,
}

/// The permutations `P_i(x) = a_i·x mod M`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutations {
    modulus: u64,
    remainder_bits: u32,
    multipliers: [Multiplier; *SUBTABLES.end() as usize],
}

/// A number a below M, and the whole part of a·2^64 / M, with which it is multiplied fast.
#[derive(Clone, Copy, Debug)]
struct Multiplier {
    a: u64,
    quotient: u64,
}

/// Random digits that the multipliers are made of: the fractions of the square roots of the first
/// primes, as in SHA-512.
const FRACTIONS: [u64; *SUBTABLES.end() as usize] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

impl Permutations {
    /// Makes the permutations for a shape that has buckets. They follow from it, so that the stored
    /// form need not have them.
    pub(super) fn new(shape: Shape) -> Self {
        let modulus = shape.buckets.clamp(1, BUCKETS_MAX) << shape.remainder_bits;
        let multipliers = FRACTIONS.map(|fraction| {
            // That fraction of M, or the next number without a common divisor. There is one soon:
            // 1 at the latest, and on average one number in two or three.
            let start = KeyHash::from_u64(fraction).slot(modulus) | 1;
            let a = (start..modulus).step_by(2).find(|a| are_coprime(*a, modulus)).unwrap_or(1);
            Multiplier::new(a, modulus)
        });
        Self { modulus, remainder_bits: shape.remainder_bits, multipliers }
    }

    /// Returns the number below M that stands for a key.
    pub(super) const fn number(&self, hash: KeyHash) -> u64 {
        hash.slot(self.modulus)
    }

    /// Returns where a number is to be found in a subtable.
    #[inline]
    pub(super) const fn place(&self, number: u64, subtable: usize) -> Place {
        let permuted = self.multipliers[subtable].times(number, self.modulus);
        Place {
            bucket: permuted >> self.remainder_bits,
            remainder: (permuted & ((1 << self.remainder_bits) - 1)) as u32,
        }
    }
}

impl Multiplier {
    /// Takes a number below M.
    const fn new(a: u64, modulus: u64) -> Self {
        Self { a, quotient: (((a as u128) << 64) / modulus as u128) as u64 }
    }

    /// Returns a·x mod M for a number x below M.
    ///
    /// The whole part of a·x / M is x times a·2^64 / M, over 2^64, or one more: what was rounded off
    /// is less than x/2^64 + 1. (Shoup's multiplication, in his NTL; Harvey: "Faster arithmetic for
    /// number-theoretic transforms", 2014.)
    #[inline]
    const fn times(self, x: u64, modulus: u64) -> u64 {
        let quotient = ((self.quotient as u128 * x as u128) >> 64) as u64;
        // The rest is below 2·M, and so below 2^64, whatever was cut off above.
        let rest = self.a.wrapping_mul(x).wrapping_sub(quotient.wrapping_mul(modulus));
        if rest >= modulus { rest - modulus } else { rest }
    }
}

/// Returns whether two numbers have no divisor in common but 1.
const fn are_coprime(mut a: u64, mut b: u64) -> bool {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    const fn shape(buckets: u64, remainder_bits: u32) -> Shape {
        Shape { subtables: 8, buckets, remainder_bits, counter_bits: CounterBits::Two }
    }

    #[test]
    fn every_place_of_every_subtable_belongs_to_one_number() {
        for buckets in [1, 2, 3, 7, 12, 15, 16, 97, 210] {
            let permutations = Permutations::new(shape(buckets, 8));
            for subtable in 0..8 {
                let mut taken = vec![false; buckets as usize * 256];
                for number in 0..permutations.modulus {
                    let place = permutations.place(number, subtable);
                    assert!(place.bucket < buckets && place.remainder < 256);
                    let place = place.bucket as usize * 256 + place.remainder as usize;
                    assert!(!taken[place], "{buckets} buckets, subtable {subtable}, {number}");
                    taken[place] = true;
                }
                assert!(taken.iter().all(|taken| *taken));
            }
        }
    }

    #[test]
    fn multipliers_are_odd_differ_and_can_be_undone() {
        for (buckets, bits) in [(1_000, 8), (35_715, 14), (1 << 20, 26), (BUCKETS_MAX, 26)] {
            let permutations = Permutations::new(shape(buckets, bits));
            let mut multipliers = permutations.multipliers.map(|multiplier| multiplier.a);
            multipliers.sort_unstable();
            assert!(multipliers.windows(2).all(|pair| pair[0] != pair[1]));
            for a in multipliers {
                assert!(a % 2 == 1 && a < permutations.modulus);
                assert!(are_coprime(a, permutations.modulus));
            }
        }
    }

    #[test]
    fn multipliers_multiply_modulo() {
        let mut state = KeyHash::new(crate::Seed::new(5), b"");
        for buckets in [1, 2, 3, 255, 256, 257, 35_715, (1 << 20) - 1, 1 << 20, BUCKETS_MAX] {
            for bits in REMAINDER_BITS {
                let permutations = Permutations::new(shape(buckets, bits));
                let modulus = permutations.modulus;
                let mut numbers = vec![0, 1, 2, modulus / 2, modulus - 2, modulus - 1];
                for _ in 0..20 {
                    state = KeyHash::new(crate::Seed::new(5), &state.get().to_le_bytes());
                    numbers.push(state.slot(modulus));
                }
                for (a, x) in numbers.iter().flat_map(|a| numbers.iter().map(move |x| (*a, *x))) {
                    let expected = (u128::from(a) * u128::from(x) % u128::from(modulus)) as u64;
                    assert_eq!(
                        Multiplier::new(a, modulus).times(x, modulus),
                        expected,
                        "{a} * {x} mod {modulus}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_smallest_shape_is_found_for_an_error_rate() {
        let options = DLeftOptions::default();
        for keys in [1, 10, 1_000, 999_999, 1_000_000] {
            for rate in [0.3, 0.01, 0.0018, 1e-4, 1e-6, 1e-7] {
                let wanted = Sizing::ErrorRate(crate::ErrorRate::new(rate).expect("a rate"));
                let shape = Shape::new(wanted, keys, options).expect("possible");
                assert!(shape.error_rate(keys) <= rate);
                assert!(shape.fewest_buckets(keys) <= shape.buckets);
                let fewer = shape.with_buckets(shape.buckets - 1);
                let is_full = shape.buckets == shape.fewest_buckets(keys);
                assert!(is_full || fewer.error_rate(keys) > rate);
            }
            let wanted = Sizing::ErrorRate(crate::ErrorRate::new(1e-12).expect("a rate"));
            assert_eq!(Shape::new(wanted, keys, options), Err(BuildError::ErrorRate(1e-12)));
        }
    }
}
