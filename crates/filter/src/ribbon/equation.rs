//! What one key demands of the solution: an equation over 64 neighbouring slots.

use crate::hash::KeyHash;

/// How often keys are bumped before they come to the base.
pub(super) const LAYERS: usize = 3;

/// Odd numbers, one for each layer, that shuffle the hash anew: keys that met in one layer part in
/// the next. The first layer takes the hash as it is; after that the digits of π, as everywhere, so that
/// nobody could have chosen them.
const LAYER_MULTIPLIERS: [u64; LAYERS] = [1, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1];

/// An odd number for the coefficients and the fingerprint.
const COEFFICIENTS: u64 = 0x9e6d_49a1_5f13_2b0f;

/// The exclusive or of the slots `start + i` for all bits `i` of `coefficients` is `fingerprint`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Equation {
    pub(super) start: u64,
    /// Bit 0 is always set.
    pub(super) coefficients: u64,
    pub(super) fingerprint: u32,
}

/// How the hashes of one layer are shuffled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Shuffle(u64);

impl Shuffle {
    /// Returns that of a layer.
    pub(super) const fn layer(index: usize) -> Self {
        Self(LAYER_MULTIPLIERS[index])
    }

    /// Returns that of a base, of which there is one for each seed, until one fits.
    pub(super) const fn base(seed: u8) -> Self {
        let mixed = (seed as u64 + 1).wrapping_mul(0xbe54_66cf_34e9_0c6d);
        Self((mixed ^ mixed >> 29).wrapping_mul(0xc0ac_29b7_c97c_50dd) | 1)
    }

    /// Returns the start of a key alone.
    #[inline]
    pub(super) const fn start(self, hash: KeyHash, starts: u64) -> u64 {
        KeyHash::from_u64(hash.get().wrapping_mul(self.0)).slot(starts)
    }

    /// Returns the equation of a key that can start at so many slots.
    ///
    /// The start comes from the upper bits of the shuffled hash. Coefficients and fingerprint must
    /// not follow from it, nor one from the other: one more multiplication, of whose 128 bits both halves
    /// together are the coefficients and the upper one is the fingerprint.
    #[inline]
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
    /// Drops the coefficients of slots that are not there.
    #[inline]
    pub(super) const fn within(self, slots: u64) -> Self {
        let missing = (self.start + u64::BITS as u64).saturating_sub(slots);
        Self { coefficients: self.coefficients & u64::MAX >> missing, ..self }
    }
}
