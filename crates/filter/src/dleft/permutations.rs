//! The permutations that map the number of a key to its position in each subtable.

use super::options::SUBTABLES;
use super::shape::{BUCKETS_MAX, Shape};
use crate::hash::KeyHash;

/// The position of a key in a subtable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Position {
    pub(super) bucket: u64,
    pub(super) remainder: u32,
}

/// The permutations `P_i(x) = a_i·x mod M` of the numbers below M, one per subtable.
///
/// M is the number of buckets of a subtable times 2^r, for remainders of r bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutations {
    modulus: u64,
    remainder_bits: u32,
    multipliers: [Multiplier; *SUBTABLES.end() as usize],
}

/// A multiplier a below M, prepared for fast modular multiplication.
#[derive(Clone, Copy, Debug)]
struct Multiplier {
    a: u64,
    /// The integer part of a·2^64 / M.
    quotient: u64,
}

/// For each subtable, the fraction of M at which the search for its multiplier begins, times 2^64.
///
/// The numbers are the fractional parts of square roots of primes, as in SHA-512.
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
    /// Computes the permutations of a shape.
    ///
    /// The permutations are not stored with a filter, because they depend only on its shape.
    pub(super) fn new(shape: Shape) -> Self {
        let modulus = shape.buckets.clamp(1, BUCKETS_MAX) << shape.remainder_bits;
        let multipliers = FRACTIONS.map(|fraction| {
            // The multiplier is the first odd number coprime to M, from this fraction of M on. On
            // average, four of five odd numbers are coprime to M. If no such number is below M, the
            // multiplier is 1.
            let start = KeyHash::from_u64(fraction).slot(modulus) | 1;
            let a = (start..modulus).step_by(2).find(|a| are_coprime(*a, modulus)).unwrap_or(1);
            Multiplier::new(a, modulus)
        });
        Self { modulus, remainder_bits: shape.remainder_bits, multipliers }
    }

    /// Returns the number x of a key, below M.
    pub(super) const fn number(&self, hash: KeyHash) -> u64 {
        hash.slot(self.modulus)
    }

    /// Returns the position of a number in a subtable.
    pub(super) const fn position(&self, number: u64, subtable: usize) -> Position {
        let permuted = self.multipliers[subtable].times(number, self.modulus);
        Position {
            bucket: permuted >> self.remainder_bits,
            remainder: (permuted & ((1 << self.remainder_bits) - 1)) as u32,
        }
    }
}

impl Multiplier {
    /// Creates a multiplier from `a` below M.
    const fn new(a: u64, modulus: u64) -> Self {
        Self { a, quotient: (((a as u128) << 64) / modulus as u128) as u64 }
    }

    /// Returns a·x mod M for x below M.
    ///
    /// The integer part of a·x / M is `(quotient·x) >> 64` or one more, because the rounding error
    /// is less than x/2^64 + 1, and so less than 2. (Shoup's multiplication, from NTL; Harvey:
    /// "Faster arithmetic for number-theoretic transforms", 2014.)
    const fn times(self, x: u64, modulus: u64) -> u64 {
        let quotient = ((self.quotient as u128 * x as u128) >> 64) as u64;
        // The rest is below 2·M, and so below 2^64: wrapping arithmetic is exact.
        let rest = self.a.wrapping_mul(x).wrapping_sub(quotient.wrapping_mul(modulus));
        if rest >= modulus { rest - modulus } else { rest }
    }
}

/// Returns whether two numbers have no common divisor except 1.
const fn are_coprime(mut a: u64, mut b: u64) -> bool {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::super::options::{CounterBits, REMAINDER_BITS};
    use super::*;

    const fn shape(buckets: u64, remainder_bits: u32) -> Shape {
        Shape { subtables: 8, buckets, remainder_bits, counter_bits: CounterBits::Two }
    }

    #[test]
    fn every_position_of_every_subtable_belongs_to_one_number() {
        for buckets in [1, 2, 3, 7, 12, 15, 16, 97, 210] {
            let permutations = Permutations::new(shape(buckets, 8));
            for subtable in 0..8 {
                let mut taken = vec![false; buckets as usize * 256];
                for number in 0..permutations.modulus {
                    let position = permutations.position(number, subtable);
                    assert!(position.bucket < buckets && position.remainder < 256);
                    let position = position.bucket as usize * 256 + position.remainder as usize;
                    assert!(!taken[position], "{buckets} buckets, subtable {subtable}, {number}");
                    taken[position] = true;
                }
                assert!(taken.iter().all(|taken| *taken));
            }
        }
    }

    #[test]
    fn multipliers_are_odd_distinct_and_invertible() {
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
    fn fast_modular_multiplication_is_exact() {
        let mut state = KeyHash::new(crate::hash::Seed::new(5), b"");
        for buckets in [1, 2, 3, 255, 256, 257, 35_715, (1 << 20) - 1, 1 << 20, BUCKETS_MAX] {
            for bits in REMAINDER_BITS {
                let permutations = Permutations::new(shape(buckets, bits));
                let modulus = permutations.modulus;
                let mut numbers = vec![0, 1, 2, modulus / 2, modulus - 2, modulus - 1];
                for _ in 0..20 {
                    state = KeyHash::new(crate::hash::Seed::new(5), &state.get().to_le_bytes());
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
}
