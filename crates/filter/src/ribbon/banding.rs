//! Gaussian elimination of banded rows: each new row is reduced until it begins at a free slot.
//!
//! A row is the equation of a key: its coefficients, the first of them 1, and its fingerprint
//! as the right-hand side. Each slot stores at most one row, which begins there. A new row that
//! begins at a taken slot is combined with the stored row by exclusive or. This clears the first
//! coefficient, so the reduced row begins at a later slot.
//!
//! ```text
//! slot          0 1 2 3 4 5 6 7 8 …
//! row at 1        1 0 1 1 0 1
//! row at 4              1 1 0 0 1 …
//! new row         1 1 0 1 0 1           begins at 1, which is taken: exclusive or with row 1
//!               → . 1 1 0 0 0           begins at 2, which is free: stored there
//! ```

use alloc::vec::Vec;

use super::equation::Equation;
use crate::error::BuildError;
use crate::memory::allocate;

/// The stored rows, each at the slot of its first coefficient.
#[derive(Debug)]
pub(super) struct Banding {
    /// The coefficients of the row at each slot: bit i belongs to `slot + i`. 0 means no row.
    pub(super) coefficients: Vec<u64>,
    /// The fingerprint of the row at each slot.
    pub(super) fingerprints: Vec<u32>,
}

/// A row that is not stored yet. Bit i of `coefficients` belongs to `slot + i`.
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
    /// The row follows from stored rows, for example because it is another copy of a key.
    Redundant,
    /// The row contradicts stored rows: they give the same coefficients another fingerprint.
    Failed,
}

impl Banding {
    pub(super) fn new(slots: u64) -> Result<Self, BuildError> {
        Ok(Self { coefficients: allocate(slots, 0)?, fingerprints: allocate(slots, 0)? })
    }

    /// Adds the row of an equation.
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
    /// Returns `None` after a reduction: `row` now begins at a later slot and needs another step.
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

    /// Removes the row at a slot.
    ///
    /// The caller must remove the rows that were added later first, because they may have been
    /// reduced by this row.
    pub(super) fn remove(&mut self, slot: usize) {
        self.coefficients[slot] = 0;
        self.fingerprints[slot] = 0;
    }
}
