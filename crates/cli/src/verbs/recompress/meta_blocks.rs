//! The META blocks of a file, in its copy.

use std::io::Write;

use anyhow::Context;
use sstable::{ReadTrace, Reader, Writer};

/// Copies all META blocks.
///
/// One of them may be a row filter. It stays valid, because the copy has the same rows.
pub(super) fn copy_meta_blocks<W: Write>(
    reader: &Reader,
    writer: &mut Writer<W>,
) -> anyhow::Result<()> {
    for name in reader.blocks().meta_names() {
        let body = reader.blocks().meta(name, &mut ReadTrace::default())?;
        let text = std::str::from_utf8(name)
            .with_context(|| format!("{}: the name of a META block is not UTF-8", reader.name()))?;
        writer.append_meta(text, body.unwrap_or_default())?;
    }
    Ok(())
}
