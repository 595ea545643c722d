//! Where keys go: a permutation of their numbers for each subtable, and the places that follow from it.

use super::options::SUBTABLES;
use super::shape::{BUCKETS_MAX, Shape};
use crate::hash::KeyHash;

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

    use super::super::options::{CounterBits, REMAINDER_BITS};
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
}
