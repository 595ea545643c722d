//! The equation of a key: a linear equation over 64 adjacent slots.

use crate::hash::KeyHash;

/// Layers before the base.
pub(super) const LAYERS: usize = 3;

/// One odd multiplier per layer, so that keys that collide in one layer differ in the next.
///
/// The first layer uses the hash unchanged; the other multipliers are digits of π.
const LAYER_MULTIPLIERS: [u64; LAYERS] = [1, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1];

/// The odd multiplier of the coefficients and the fingerprint.
const COEFFICIENTS: u64 = 0x9e6d_49a1_5f13_2b0f;

/// The equation of a key.
///
/// The exclusive or of the slots `start + i`, for each bit `i` set in `coefficients`, must be
/// `fingerprint`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Equation {
    pub(super) start: u64,
    /// Bit 0 is always set.
    pub(super) coefficients: u64,
    pub(super) fingerprint: u32,
}

/// The multiplier that rehashes the keys of one layer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Shuffle(u64);

impl Shuffle {
    /// Returns the shuffle of a layer.
    pub(super) const fn layer(index: usize) -> Self {
        Self(LAYER_MULTIPLIERS[index])
    }

    /// Returns the shuffle of the base with this seed.
    pub(super) const fn base(seed: u8) -> Self {
        let mixed = (seed as u64 + 1).wrapping_mul(0xbe54_66cf_34e9_0c6d);
        Self((mixed ^ mixed >> 29).wrapping_mul(0xc0ac_29b7_c97c_50dd) | 1)
    }

    /// Returns only the start of a key's equation.
    pub(super) const fn start(self, hash: KeyHash, starts: u64) -> u64 {
        KeyHash::from_u64(hash.get().wrapping_mul(self.0)).slot(starts)
    }

    /// Returns the equation of a key in a layer with `starts` possible starts.
    ///
    /// The start comes from the upper bits of the shuffled hash. Coefficients and fingerprint must
    /// be independent of the start and of each other. They come from another 128-bit product: the
    /// coefficients from both halves combined, the fingerprint from the upper half.
    pub(super) const fn equation(self, hash: KeyHash, starts: u64) -> Equation {
        let product = hash.get() as u128 * self.0.wrapping_mul(COEFFICIENTS) as u128;
        let upper = (product >> u64::BITS) as u64;
        Equation {
            start: self.start(hash, starts),
            coefficients: (product as u64 ^ upper) | 1,
            fingerprint: upper as u32,
        }
    }
}

impl Equation {
    /// Clears the coefficients of slots after the last one.
    pub(super) const fn within(self, slots: u64) -> Self {
        let missing = (self.start + u64::BITS as u64).saturating_sub(slots);
        Self { coefficients: self.coefficients & u64::MAX >> missing, ..self }
    }
}
