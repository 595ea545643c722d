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
use crate::error::BuildError;
use crate::memory::allocate;

/// The rows, each at the slot of its first coefficient.
#[derive(Debug)]
pub(super) struct Banding {
    /// Bit i belongs to the slot i after the row's own; 0 is no row.
    pub(super) coefficients: Vec<u64>,
    pub(super) fingerprints: Vec<u32>,
}

/// A row that is not added yet: bit i of its coefficients belongs to the slot i after its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    slot: usize,
    coefficients: u64,
    fingerprint: u32,
}

impl Row {
    #[inline]
    pub(super) const fn new(equation: &Equation) -> Self {
        let Equation { start, coefficients, fingerprint } = *equation;
        Self { slot: start as usize, coefficients, fingerprint }
    }
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
        let mut row = Row::new(equation);
        loop {
            if let Some(inserted) = self.step(&mut row) {
                return inserted;
            }
        }
    }

    /// Adds a row if its slot is free, and reduces it by the row that stands there if not.
    #[inline]
    pub(super) fn step(&mut self, row: &mut Row) -> Option<Inserted> {
        let there = &mut self.coefficients[row.slot];
        if *there == 0 {
            *there = row.coefficients;
            self.fingerprints[row.slot] = row.fingerprint;
            return Some(Inserted::At(row.slot));
        }
        row.coefficients ^= *there;
        row.fingerprint ^= self.fingerprints[row.slot];
        if row.coefficients == 0 {
            let is_redundant = row.fingerprint == 0;
            return Some(if is_redundant { Inserted::Redundant } else { Inserted::Failed });
        }
        let skipped = row.coefficients.trailing_zeros();
        row.coefficients >>= skipped;
        row.slot += skipped as usize;
        None
    }

    /// Takes a row out again. Rows that were added after it must have gone before.
    pub(super) fn remove(&mut self, slot: usize) {
        self.coefficients[slot] = 0;
        self.fingerprints[slot] = 0;
    }
}
