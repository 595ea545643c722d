//! `ROW_INDEX_V1`: plain cells, followed by the offset of each row.
//!
//! | bytes   | field          | meaning                                                           |
//! |--------:|----------------|-------------------------------------------------------------------|
//! |     `s` | cells          | [plain](super::plain); tags are never in a dictionary             |
//! |       4 | row count `r`  | i32 BE                                                            |
//! | 4 · `r` | row offsets    | i32 BE each: the row's first cell, from the start of the cells    |
//! |       4 | cells size `s` | i32 BE; decoding starts here, from the end                        |

use std::ops::Range;

use cells::CellRef;

use super::{CellLayout, DamageReason, plain};
use crate::input::Input;

/// Collects the row offsets of the block being written.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    offsets: Vec<u32>,
    row: Vec<u8>,
}

impl Encoder {
    /// Appends a cell to `out`, whose cells begin at `start`.
    ///
    /// Returns the bytes that the cell adds to the row offsets.
    pub(super) fn append(
        &mut self,
        out: &mut Vec<u8>,
        start: usize,
        cell: &CellRef<'_>,
        layout: CellLayout,
    ) -> usize {
        let starts_row = self.offsets.is_empty() || self.row != cell.row;
        if starts_row {
            let offset = u32::try_from(len_from(out, start));
            self.offsets.push(offset.expect("a block is shorter than 2 GiB"));
            self.row.clear();
            self.row.extend_from_slice(cell.row);
        }
        plain::write_cell(out, cell, layout);
        if starts_row { 4 } else { 0 }
    }

    /// Appends the row index and resets the encoder.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>, start: usize) {
        let cells_size = u32::try_from(len_from(out, start));
        let row_count = u32::try_from(self.offsets.len());
        let numbers = std::iter::once(row_count.expect("a block has fewer than 2^32 rows"))
            .chain(self.offsets.drain(..))
            .chain(std::iter::once(cells_size.expect("a block is shorter than 2 GiB")));
        for number in numbers {
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}

/// Bytes of `out` from `start` on.
#[expect(clippy::arithmetic_side_effects, reason = "`start` is within `out`")]
const fn len_from(out: &[u8], start: usize) -> usize {
    out.len() - start
}

/// Returns the ranges of plain cells and row offsets in a payload that starts at `start`.
#[expect(clippy::arithmetic_side_effects, reason = "all are lengths of parts of the payload")]
pub(super) fn decode(
    payload: &[u8],
    start: usize,
) -> Result<(Range<usize>, Range<usize>), DamageReason> {
    let (front, cells_size) = payload.split_last_chunk::<4>().ok_or("no size of the cells")?;
    let cells_size = Input::new(cells_size).len_i32().ok_or("negative size of the cells")?;
    let (_, index) = front.split_at_checked(cells_size).ok_or("the cells exceed the block")?;
    let mut index = Input::new(index);
    let row_count = index.len_i32().ok_or("no row count")?;
    if row_count.checked_mul(4) != Some(index.len()) {
        return Err(format!("{row_count} rows in {} bytes of row offsets", index.len()).into());
    }
    let end = start + front.len();
    Ok((start..start + cells_size, end - index.len()..end))
}
