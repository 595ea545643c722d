//! Back substitution: from the rows to a solution, slot by slot from the right.
//!
//! A row says what its own slot must be, given the 63 slots after it. Those are kept in one word a
//! column, so that a column takes a shift, an and, and a parity.

use super::banding::Banding;
use super::layer::Layer;
use super::layout::{BLOCK_SLOTS, COLUMN_LEN, COLUMNS_MAX, Layout};
use crate::kernel::{InstructionSet, LANES, Slots};

/// Of each column the 64 slots from the present one on; in groups, as the kernel takes them.
type State = [Slots; COLUMNS_MAX as usize / LANES];

/// Writes the solution of a layer whose first block has that number.
pub(super) fn write(layer: &Layer, layout: Layout, first_block: u64, blocks: &mut [u8]) {
    let (mut state, instructions) = (State::default(), InstructionSet::detect());
    let Banding { coefficients, fingerprints } = &layer.banding;
    let rows = coefficients.chunks_exact(BLOCK_SLOTS as usize);
    let rows = rows.zip(fingerprints.chunks_exact(BLOCK_SLOTS as usize));
    for (block, (coefficients, fingerprints)) in
        (first_block..first_block + layer.blocks()).rev().zip(rows.rev())
    {
        let columns = layout.columns_of(block) as usize;
        let state = &mut state[..columns.div_ceil(LANES)];
        instructions.substitute(state, coefficients, fingerprints);
        let at = (layout.column_at(block) * COLUMN_LEN) as usize;
        let (words, _) = blocks[at..].as_chunks_mut();
        for (to, word) in words.iter_mut().zip(state.as_flattened()).take(columns) {
            *to = word.to_le_bytes();
        }
    }
}

/// Returns all columns of each slot, from the last slot to the first.
pub(super) fn slots(banding: &Banding) -> impl Iterator<Item = u32> {
    let (mut state, instructions) = (State::default(), InstructionSet::detect());
    let rows = banding.coefficients.chunks(1).zip(banding.fingerprints.chunks(1)).rev();
    rows.map(move |(coefficients, fingerprint)| {
        instructions.substitute(&mut state, coefficients, fingerprint);
        state.as_flattened().iter().rev().fold(0, |slot, word| slot << 1 | (word & 1) as u32)
    })
}
