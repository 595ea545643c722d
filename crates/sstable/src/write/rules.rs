//! Checks of the writer: invalid options, and cells that break a rule of the format.

use super::statistics::Statistics;
use super::writer::Writer;
use crate::block::header::Header;
use crate::encoding::plain::{TAGS_LEN_MAX, cell_len, check_tags};
use crate::{BloomType, CellRef, Comparator, KeyRef, WriterOptions, escape};

/// The most bytes of cells in a block.
///
/// No size then overflows an i32, even if compression makes the block larger.
pub(super) const BLOCK_LEN_MAX: usize = WriterOptions::BLOCK_SIZE_MAX as usize;

impl<W> Writer<W> {
    /// Checks a cell against the rules of the format and against the previous cell.
    pub(super) fn check_cell(
        &self,
        cell: &CellRef<'_>,
        last: Option<&KeyRef<'_>>,
    ) -> Result<(), String> {
        let within = |what: &str, len: usize, max: usize| match len {
            0 => Err(format!("it has no {what}")),
            len if len > max => Err(format!("a {what} of {len} bytes; {max} are allowed")),
            _ => Ok(()),
        };
        within("row", cell.row.len(), KeyRef::ROW_LEN_MAX)?;
        within("family", cell.family.len(), KeyRef::FAMILY_LEN_MAX)?;
        if cell.timestamp.get() < 0 {
            return Err("a negative timestamp, which HBase cannot read".into());
        }
        if i64::try_from(cell.sequence_id.get()).is_err() {
            return Err(format!("sequence id {} does not fit", cell.sequence_id));
        }
        if !cell.tags.is_empty() && !self.layout.tags {
            return Err("it has tags, but the file is written without tags".into());
        }
        if cell.tags.len() > TAGS_LEN_MAX {
            let len = cell.tags.len();
            return Err(format!("tags of {len} bytes; {TAGS_LEN_MAX} are allowed"));
        }
        check_tags(cell.tags)?;
        if let Some(last) = last {
            if last.family != cell.family {
                return Err(format!("the family of the file is {}", escape(last.family)));
            }
            if self.layout.order.compare(&cell.key(), last).is_lt() {
                return Err(format!("it is less than {last}, the cell before it"));
            }
        }
        let is_same_key = last.is_some_and(|last| *last == cell.key());
        let before = if is_same_key { self.block.unencoded_len() } else { 0 };
        let len = cell_len(cell, self.layout);
        if before + len > BLOCK_LEN_MAX {
            return Err(format!("{len} bytes, which would make the block larger than 1 GiB"));
        }
        Ok(())
    }
}

/// Checks the options of a writer.
pub(super) fn check_options(options: &WriterOptions) -> Result<(), String> {
    let at_most = |what: &str, size: u32, max: usize| match size as usize {
        size if size > max => Err(format!("{what} of {size} bytes; at most {max} are allowed")),
        _ => Ok(()),
    };
    at_most("data blocks", options.block_size, BLOCK_LEN_MAX)?;
    at_most("index blocks", options.index_block_size, BLOCK_LEN_MAX)?;
    at_most("Bloom chunks", options.bloom_block_size, BLOCK_LEN_MAX)?;
    if options.index_block_size == 0 || options.index_min_entries < 2 {
        let (size, entries) = (options.index_block_size, options.index_min_entries);
        return Err(format!("index blocks of {size} bytes and at least {entries} entries"));
    }
    let header_len = Header::LEN;
    if options.bytes_per_checksum < header_len || i32::try_from(options.bytes_per_checksum).is_err()
    {
        let bytes = options.bytes_per_checksum;
        return Err(format!("a checksum every {bytes} bytes; from {header_len} on are allowed"));
    }
    if let BloomType::RowPrefixFixedLength(len @ (0 | 0x8000..)) = options.bloom_type {
        let max = KeyRef::ROW_LEN_MAX;
        let what = format!("row prefixes of {len} bytes for the Bloom filter");
        return Err(format!("{what}; 1 to {max} are allowed"));
    }
    if let Some(filter) = options.filter {
        filter.check().map_err(|error| error.to_string())?;
    }
    if options.filter.is_some() && options.comparator == Comparator::Meta {
        return Err("a filter of ours over rows that are not in byte order".into());
    }
    if options.create_time.is_some_and(|time| time.get() < 0) {
        return Err("a create time before 1970".into());
    }
    for key in options.file_info.keys() {
        if is_reserved_key(key) {
            return Err(format!("file info {} is reserved for the writer", escape(key)));
        }
    }
    Ok(())
}

/// Returns whether only the writer may set an entry of the file info.
pub(crate) fn is_reserved_key(key: &[u8]) -> bool {
    Statistics::RESERVED.contains(&key) || key.starts_with(b"hfile.")
}
