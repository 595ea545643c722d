//! Back substitution: computes the solution from the rows, from the last slot to the first.
//!
//! A slot has one bit per column. A row determines its own slot from the 63 slots after it. For
//! each column, one 64-bit word holds the bits of these slots. So computing one bit of a slot takes
//! a shift, an AND with the row's coefficients, and a parity.

use super::banding::Banding;
use super::layer::Layer;
use super::layout::{BLOCK_SLOTS, COLUMN_LEN, COLUMNS_MAX, Layout};
use crate::kernel::{InstructionSet, LANES, Slots};

/// For each column, the bits of 64 slots from the current one on, in groups of the kernel's lanes.
type State = [Slots; COLUMNS_MAX as usize / LANES];

/// Writes the solution of a layer into `blocks`, the bytes of all layers.
///
/// The layer's blocks begin at index `first_block`.
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
        let at = (layout.columns_before(block) * COLUMN_LEN) as usize;
        let (words, _) = blocks[at..].as_chunks_mut();
        for (to, word) in words.iter_mut().zip(state.as_flattened()).take(columns) {
            *to = word.to_le_bytes();
        }
    }
}

/// Iterates over the slots from the last to the first; bit i of a value belongs to column i.
pub(super) fn slots(banding: &Banding) -> impl Iterator<Item = u32> {
    let (mut state, instructions) = (State::default(), InstructionSet::detect());
    let rows = banding.coefficients.chunks(1).zip(banding.fingerprints.chunks(1)).rev();
    rows.map(move |(coefficients, fingerprint)| {
        instructions.substitute(&mut state, coefficients, fingerprint);
        state.as_flattened().iter().rev().fold(0, |slot, word| slot << 1 | (word & 1) as u32)
    })
}
