//! Random numbers and keys from a seed, the same on every machine. The library of `hfile` has the same generator; the
//! libraries are tested without it.

/// A small, fast random number generator (`SplitMix64`).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates the generator of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 random bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Returns the next random number below `limit`.
    ///
    /// # Panics
    ///
    /// If `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        assert!(limit > 0, "no number is below 0");
        // The upper half of the product is uniform within limit / 2^64, and needs no division.
        ((u128::from(self.next_u64()) * limit as u128) >> 64) as usize
    }

    /// Shuffles `items`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The last step of `SplitMix64`. It is a bijection: different numbers stay different.
const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Returns the `index`th key of a seed: 16 hex digits.
///
/// The keys are in no order and all different. A store with the first `n` keys therefore holds none of
/// the keys from index `n` on.
pub fn key(seed: u64, index: u64) -> [u8; 16] {
    let number = mix(mix(seed).wrapping_add(index.wrapping_mul(STEP)));
    std::array::from_fn(|at| b"0123456789abcdef"[(number >> (60 - 4 * at)) as usize & 15])
}
