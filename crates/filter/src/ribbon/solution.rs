//! Back substitution: from the rows to a solution, slot by slot from the right.
//!
//! A row says what its own slot must be, given the 63 slots after it. Those are kept in one word a
//! column, so that a column takes a shift, an and, and a parity.

use super::banding::Banding;
use super::layer::Layer;
use super::layout::{BLOCK_SLOTS, COLUMN_LEN, COLUMNS_MAX, Layout};
use crate::kernel::{LANES, parities};

/// Of each column the 64 slots from the present one on, in bit 0; in groups, as the kernel finds
/// parities.
type State = [[u64; LANES]; COLUMNS_MAX as usize / LANES];

/// Moves on by one slot to the left.
#[inline]
fn step(state: &mut [[u64; LANES]], coefficients: u64, fingerprint: u32) {
    for (group, words) in state.iter_mut().enumerate() {
        let odd = parities(words.map(|word| word << 1 & coefficients));
        // A slot without a row may be anything; it becomes 0, as its coefficients and fingerprint.
        let slot = u64::from(odd) ^ u64::from(fingerprint >> (group * LANES));
        for (column, word) in words.iter_mut().enumerate() {
            *word = *word << 1 | slot >> column & 1;
        }
    }
}

/// Writes the solution of a layer whose first block has that number.
pub(super) fn write(layer: &Layer, layout: Layout, first_block: u64, blocks: &mut [u8]) {
    let mut state = State::default();
    let Banding { coefficients, fingerprints } = &layer.banding;
    let rows = coefficients.chunks_exact(BLOCK_SLOTS as usize);
    let rows = rows.zip(fingerprints.chunks_exact(BLOCK_SLOTS as usize));
    for (block, (coefficients, fingerprints)) in
        (first_block..first_block + layer.blocks()).rev().zip(rows.rev())
    {
        let columns = layout.columns_of(block) as usize;
        let state = &mut state[..columns.div_ceil(LANES)];
        for (coefficients, fingerprint) in coefficients.iter().zip(fingerprints).rev() {
            step(state, *coefficients, *fingerprint);
        }
        let at = (layout.column_at(block) * COLUMN_LEN) as usize;
        let (words, _) = blocks[at..].as_chunks_mut();
        for (to, word) in words.iter_mut().zip(state.as_flattened()).take(columns) {
            *to = word.to_le_bytes();
        }
    }
}

/// Returns all columns of each slot, from the last slot to the first.
pub(super) fn slots(banding: &Banding) -> impl Iterator<Item = u32> {
    let mut state = State::default();
    let rows = banding.coefficients.iter().zip(&banding.fingerprints).rev();
    rows.map(move |(coefficients, fingerprint)| {
        step(&mut state, *coefficients, *fingerprint);
        state.as_flattened().iter().rev().fold(0, |slot, word| slot << 1 | (word & 1) as u32)
    })
}
