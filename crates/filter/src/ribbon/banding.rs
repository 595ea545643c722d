//! Gaussian elimination in a band: row after row, each reduced until it begins at a free slot.
//!
//! ```text
//! slot          0 1 2 3 4 5 6 7 8 …
//! row of 1        1 0 1 1 0 1
//! row of 4              1 1 0 0 1 …
//! new row         1 1 0 1 0 1           begins at 1: taken; exclusive or with that row
//!               → . 1 1 0 0 0           begins at 2: free, and so it is put there
//! ```

use alloc::vec::Vec;

use super::equation::Equation;
use crate::BuildError;
use crate::kind::allocate;

/// The rows, each at the slot of its first coefficient.
#[derive(Debug)]
pub(super) struct Banding {
    /// Bit i belongs to the slot i after the row's own; 0 is no row.
    pub(super) coefficients: Vec<u64>,
    pub(super) fingerprints: Vec<u32>,
}

/// What became of a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Inserted {
    /// It stands at this slot.
    At(usize),
    /// It follows from the rows before it, as the second copy of a key does.
    Redundant,
    /// It contradicts the rows before it.
    Failed,
}

impl Banding {
    pub(super) fn new(slots: u64) -> Result<Self, BuildError> {
        Ok(Self { coefficients: allocate(slots, 0)?, fingerprints: allocate(slots, 0)? })
    }

    /// Adds a row.
    #[inline]
    pub(super) fn insert(&mut self, equation: &Equation) -> Inserted {
        let Equation { start, mut coefficients, mut fingerprint } = *equation;
        let mut slot = start as usize;
        loop {
            let row = &mut self.coefficients[slot];
            if *row == 0 {
                *row = coefficients;
                self.fingerprints[slot] = fingerprint;
                return Inserted::At(slot);
            }
            coefficients ^= *row;
            fingerprint ^= self.fingerprints[slot];
            if coefficients == 0 {
                return if fingerprint == 0 { Inserted::Redundant } else { Inserted::Failed };
            }
            let skipped = coefficients.trailing_zeros();
            coefficients >>= skipped;
            slot += skipped as usize;
        }
    }

    /// Takes a row out again. Rows that were added after it must have gone before.
    pub(super) fn remove(&mut self, slot: usize) {
        self.coefficients[slot] = 0;
        self.fingerprints[slot] = 0;
    }
}
