//! Checks of the options of a writer.

use cells::{Comparator, KeyRef, escape};

use super::bloom::BloomWriter;
use super::options::InvalidOptions;
use super::statistics::Statistics;
use crate::block::BloomType;
use crate::block::header::BlockHeader;
use crate::write::WriterOptions;

/// The most bytes of cells in a block.
///
/// No size then overflows an i32, even if compression makes the block larger.
pub(super) const BLOCK_LEN_MAX: usize = WriterOptions::BLOCK_SIZE_MAX as usize;

impl WriterOptions {
    /// Checks that a file can be written with these options, as [`Writer::new`](crate::Writer::new)
    /// does.
    ///
    /// Does not check that this build supports the codec.
    ///
    /// # Errors
    ///
    /// [`InvalidOptions`] for the first setting outside of its range.
    pub fn check(&self) -> Result<(), InvalidOptions> {
        check_options(self)
            .and_then(|()| BloomWriter::general(self))
            .and_then(|_| BloomWriter::delete_family(self))
            .map(drop)
            .map_err(InvalidOptions)
    }
}

/// Checks the options of a writer.
fn check_options(options: &WriterOptions) -> Result<(), String> {
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
    let header_len = BlockHeader::LEN;
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
