//! Gaussian elimination of banded rows: each new row is reduced until it begins at a free slot.
//!
//! ```text
//! slot          0 1 2 3 4 5 6 7 8 …
//! row of 1        1 0 1 1 0 1
//! row of 4              1 1 0 0 1 …
//! new row         1 1 0 1 0 1           begins at 1: taken; exclusive or with that row
//!               → . 1 1 0 0 0           begins at 2: free, stored there
//! ```

use alloc::vec::Vec;

use super::equation::Equation;
use crate::error::BuildError;
use crate::memory::allocate;

/// The rows, each at the slot of its first coefficient.
#[derive(Debug)]
pub(super) struct Banding {
    /// Bit i belongs to the slot i after the row's own; 0 means no row.
    pub(super) coefficients: Vec<u64>,
    pub(super) fingerprints: Vec<u32>,
}

/// A row that is not added yet: bit i of `coefficients` belongs to slot `slot + i`.
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

/// The result of adding a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Inserted {
    /// The row is stored at this slot.
    At(usize),
    /// The row follows from earlier rows, as the second copy of a key does.
    Redundant,
    /// The row contradicts earlier rows.
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

    /// Stores the row if its slot is free; otherwise reduces it by the row in that slot.
    ///
    /// `None`: the reduced row begins at a later slot and needs another step.
    #[inline]
    pub(super) fn step(&mut self, row: &mut Row) -> Option<Inserted> {
        let existing = &mut self.coefficients[row.slot];
        if *existing == 0 {
            *existing = row.coefficients;
            self.fingerprints[row.slot] = row.fingerprint;
            return Some(Inserted::At(row.slot));
        }
        row.coefficients ^= *existing;
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

    /// Removes a row. Rows that were added after it must have been removed before.
    pub(super) fn remove(&mut self, slot: usize) {
        self.coefficients[slot] = 0;
        self.fingerprints[slot] = 0;
    }
}
