//! The longest cell of a file, as HBase 2.6 and later record it in the file info.
//!
//! | entry                       | value                                                |
//! |-----------------------------|------------------------------------------------------|
//! | `hfile.LEN_OF_BIGGEST_CELL` | i64 BE; the length of a cell in a message of HBase   |
//! | `hfile.KEY_OF_BIGGEST_CELL` | the flat key of the first cell of that length        |

use cells::CellRef;

/// The first of the longest cells so far.
#[derive(Debug, Default)]
pub(crate) struct LongestCell {
    /// Its length as HBase estimates it; see [`serialized_len`].
    pub(crate) len: u64,
    pub(crate) flat_key: Vec<u8>,
}

impl LongestCell {
    pub(crate) fn add(&mut self, cell: &CellRef<'_>) {
        let len = serialized_len(cell);
        if len > self.len {
            self.len = len;
            self.flat_key.clear();
            cell.key().write_flat(&mut self.flat_key);
        }
    }
}

/// Returns the length of a cell in a message of HBase: its own length, the lengths of its parts, and tags.
///
/// HBase: `PrivateCellUtil.estimatedSerializedSizeOf`.
fn serialized_len(cell: &CellRef<'_>) -> u64 {
    const LENGTHS: usize = 4 + 4 + 4;
    let len_of_tags = if cell.tags.is_empty() { 0 } else { 2 };
    let parts = [LENGTHS, cell.key().flat_len(), cell.value.len(), len_of_tags, cell.tags.len()];
    parts.into_iter().map(|part| u64::try_from(part).expect("a part of a cell is in memory")).sum()
}
