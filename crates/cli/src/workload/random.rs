//! Random numbers, keys and values from a seed: the same on every machine.

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
pub const fn mix(number: u64) -> u64 {
    let first = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    second ^ (second >> 31)
}

/// Length of a generated key in bytes.
pub const KEY_LEN: usize = 16;

/// Returns the `index`th key of a seed: 16 hex digits.
///
/// The keys are in no order and all different. A store with the first `n` keys therefore holds none of
/// the keys from index `n` on.
pub fn key(seed: u64, index: u64) -> [u8; KEY_LEN] {
    let number = mix(mix(seed).wrapping_add(index.wrapping_mul(STEP)));
    std::array::from_fn(|at| b"0123456789abcdef"[(number >> (60 - 4 * at)) as usize & 15])
}

/// Fills `value` with the value of the `index`th key of a seed. Half of the bytes are compressible.
pub fn fill_value(seed: u64, index: u64, value: &mut [u8]) {
    let mut random = Random::new(seed ^ mix(index ^ STEP));
    let (noise, text) = value.split_at_mut(value.len() / 2);
    for chunk in noise.chunks_mut(8) {
        chunk.copy_from_slice(&random.next_u64().to_le_bytes()[..chunk.len()]);
    }
    text.fill(b'a' + random.below(26) as u8);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_differ_from_one_another_and_by_seed() {
        let keys: HashSet<_> = (0..10_000).map(|index| key(1, index)).collect();
        assert_eq!(keys.len(), 10_000);
        assert!((0..10_000).all(|index| !keys.contains(&key(2, index))));
        assert!(keys.iter().flatten().all(u8::is_ascii_hexdigit));
    }

    #[test]
    fn values_belong_to_their_key() {
        let value = |seed, index| {
            let mut value = [0; 100];
            fill_value(seed, index, &mut value);
            value
        };
        assert_eq!(value(1, 5), value(1, 5));
        assert_ne!(value(1, 5), value(1, 6));
        assert_ne!(value(1, 5), value(2, 5));
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..1000).collect();
        Random::new(7).shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert!(items.into_iter().eq(0..1000));
    }
}
