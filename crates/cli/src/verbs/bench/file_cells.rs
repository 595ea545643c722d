//! The cells of a file, in order.

use sstable::CellRef;

use crate::inputs::Input;

/// Calls `look` with each cell of a file.
pub(super) fn for_each_cell(
    input: &Input,
    mut look: impl FnMut(&CellRef<'_>),
) -> anyhow::Result<()> {
    let mut scanner = input.open()?.reader.bulk_scanner();
    scanner.seek_to_first()?;
    while let Some(cell) = scanner.cell() {
        look(&cell);
        scanner.advance()?;
    }
    Ok(())
}
