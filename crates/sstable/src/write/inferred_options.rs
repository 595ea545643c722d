//! Infers the writer options of an existing file, to write its cells again in the same way.

use std::f64::consts::LN_2;
use std::iter;

use filter::ErrorRate;

use super::option_rules::is_reserved_key;
use crate::block::{BlockHeader, BloomType};
use crate::compression;
use crate::encoding::CellLayout;
use crate::encoding::plain::cell_len;
use crate::error::{Error, Result};
use crate::file::filters::chunked_bloom::BloomSummary;
use crate::file::options::Caching;
use crate::reader::Reader;
use crate::verify::{StoredForm, stored_form};
use crate::write::{HBaseVersion, WriterOptions};

/// Returns options that write a similar file from the same cells.
///
/// They cover block size, encoding, codec, checksums, HBase's Bloom filters, tags, sequence
/// ids, create time, file info and the version of HBase. Reads all cells, from whose block boundaries the block size
/// follows.
///
/// The sizes of index blocks and Bloom chunks are HBase's defaults, because a file does not
/// state them. META blocks, such as the row filter, are not part of the options; a caller that
/// writes the same rows can copy them. Leaves out the file info entries in `left_out`, for
/// example an id that only one file may have.
///
/// # Errors
///
/// If the file cannot be read, or is damaged.
pub fn writer_options(reader: &Reader, left_out: &[&[u8]]) -> Result<WriterOptions> {
    if let Some(problem) = reader.filters().bloom_problem() {
        return Err(problem.clone().in_file(reader.name()));
    }
    let options = reader.basic_options(left_out)?.block_size(reader.estimate_block_size()?);
    reader.with_bloom_options(options)
}

/// Returns the [`writer_options`] of a file with unreadable blocks.
///
/// The size of data blocks is HBase's default, as is the error rate of an unreadable Bloom
/// filter. The encoding and the fields of cells are those of the first sound data block, if the
/// file info contradicts it.
///
/// # Errors
///
/// If the root of the index cannot be read, or the file has a Bloom filter type that cannot be
/// written.
pub fn writer_options_of_damaged(reader: &Reader, left_out: &[&[u8]]) -> Result<WriterOptions> {
    let mut options = reader.basic_options(left_out)?;
    if let Some(StoredForm { encoding, layout }) = stored_form(reader)? {
        options = options
            .data_block_encoding(encoding)
            .includes_mvcc(layout.mvcc)
            .includes_tags(layout.tags)
            .compress_tags(layout.compressed_tags);
    }
    reader.with_bloom_options(options)
}

impl Reader {
    /// Returns the options that follow from the trailer, the file info and the root of the index.
    fn basic_options(&self, left_out: &[&[u8]]) -> Result<WriterOptions> {
        let info = self.file_info();
        let first = self.file().trailer.load_on_open_data_offset;
        let root = self.blocks().read_header(first)?;
        let (stored, _) = self.blocks().raw_block(first, &root)?;
        let mut options = WriterOptions::default()
            .data_block_encoding(self.blocks().encoding())
            .compression(self.blocks().compression())
            .zstd_framing(compression::zstd_framing(
                stored.get(BlockHeader::LEN as usize..).unwrap_or_default(),
            ))
            .checksum(self.blocks().checksum_type())
            .comparator(self.trailer().comparator)
            .includes_mvcc(info.includes_mvcc())
            .includes_tags(info.includes_tags())
            .compress_tags(info.compresses_tags());
        if root.bytes_per_checksum >= BlockHeader::LEN {
            options = options.bytes_per_checksum(root.bytes_per_checksum);
        }
        if let Some(time) = info.create_time().filter(|time| time.get() >= 0) {
            options = options.create_time(time);
        }
        if info.biggest_cell_len().is_some() {
            options = options.hbase_version(HBaseVersion::V2_6);
        }
        for (key, value) in info.iter() {
            if !left_out.contains(&key) && !is_reserved_key(key) {
                options = options.file_info(key, value);
            }
        }
        Ok(options)
    }

    /// Adds the options of HBase's Bloom filters.
    fn with_bloom_options(&self, options: WriterOptions) -> Result<WriterOptions> {
        let unsupported = |found| {
            let feature = "Bloom filter type";
            Error::Unsupported { file: self.name().clone(), feature, found }
        };
        let bloom_type = self.file_info().bloom_type().map_err(unsupported)?;
        let has_deletes = self.file_info().delete_family_count().is_some_and(|count| count > 0);
        let mut options = options.bloom_type(bloom_type);
        if has_deletes && bloom_type != BloomType::RowCol {
            options = options.delete_family_bloom(self.filters().delete_family_bloom().is_some());
        }
        let bloom = self.filters().bloom().or_else(|| self.filters().delete_family_bloom());
        if let Some(bloom) = bloom.filter(|bloom| bloom.ribbon_error_rate.is_none()) {
            options = options.bloom_hash(bloom.hash_type);
            if let Some(rate) = configured_error_rate(&bloom) {
                options = options.bloom_error_rate(rate);
            }
        }
        Ok(options)
    }

    /// Returns the roundest block size that gives this file's block boundaries.
    ///
    /// A block ends once its unencoded cells reach the block size, but never between cells of one
    /// key.
    fn estimate_block_size(&self) -> Result<u32> {
        let info = self.file_info();
        let layout = CellLayout {
            tags: info.includes_tags(),
            mvcc: info.includes_mvcc(),
            compressed_tags: info.compresses_tags(),
            order: self.trailer().comparator,
        };
        let (mut above, mut at_most) = (0, None);
        let (mut block, mut len, mut last_key) = (0, 0, Vec::new());
        let mut key = Vec::new();
        let mut scanner = self.scanner(Caching::Bypass);
        scanner.seek_to_first()?;
        while let Some(cell) = scanner.cell() {
            key.clear();
            cell.key().write_flat(&mut key);
            if scanner.trace().data_blocks() != block {
                block = scanner.trace().data_blocks();
                at_most = (len > 0).then_some(len).into_iter().chain(at_most).min();
                len = 0;
            } else if key != last_key {
                above = above.max(len);
            }
            len += cell_len(&cell, layout);
            std::mem::swap(&mut key, &mut last_key);
            scanner.advance()?;
        }
        Ok(pick_block_size(above, at_most))
    }
}

/// Returns the roundest size greater than `above` and at most `at_most`; `None` is no limit.
///
/// The roundest size is the one with the fewest significant bits.
fn pick_block_size(above: usize, at_most: Option<usize>) -> u32 {
    let default = WriterOptions::default().block_size;
    let size = match at_most {
        None if above < default as usize => default as usize,
        None => above.saturating_add(1).next_power_of_two(),
        Some(at_most) => (0..usize::BITS)
            .rev()
            .map(|bits| at_most >> bits << bits)
            .find(|size| *size > above)
            // An encoding that enlarges cells ends blocks earlier, so no size may fit.
            .unwrap_or(at_most),
    };
    u32::try_from(size).unwrap_or(default)
}

/// Returns the error rate that a Bloom filter was sized for; of all that fit its size the roundest.
///
/// A chunk's capacity follows from its bits and the rate. Folding halves the capacity and rounds it
/// down, so the exact capacity may be almost one key more per chunk.
fn configured_error_rate(bloom: &BloomSummary) -> Option<ErrorRate> {
    let keys = bloom.max_keys as f64;
    let rate = |keys: f64| {
        let rate = (-8.0 * bloom.byte_size as f64 / keys * LN_2 * LN_2).exp();
        // A lookup of a column asks for two keys, so each has half the error rate.
        if bloom.bloom_type == BloomType::RowCol { 1.0 - (1.0 - rate).powi(2) } else { rate }
    };
    let (least, most) = (rate(keys) * 0.98, rate(keys + bloom.chunk_count as f64) * 1.02);
    let rounded = |digits: usize| format!("{:.*e}", digits - 1, rate(keys)).parse().ok();
    let mut rates = iter::once(ErrorRate::HBASE.get()).chain((1..=3).filter_map(rounded));
    ErrorRate::new(rates.find(|rate| (least..=most).contains(rate))?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_size_is_the_roundest_that_fits_the_blocks() {
        assert_eq!(pick_block_size(65_500, Some(65_560)), 65_536);
        assert_eq!(pick_block_size(1_990, Some(2_047)), 2_016);
        assert_eq!(pick_block_size(1_990, Some(2_000)), 2_000);
        assert_eq!(pick_block_size(700, Some(600)), 600, "no size fits the blocks");
        assert_eq!(pick_block_size(700, None), 65_536);
        assert_eq!(pick_block_size(70_000, None), 131_072);
        assert_eq!(pick_block_size(0, Some(24)), 16);
    }
}
