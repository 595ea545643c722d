//! The writer of our row filter, which holds the rows of a file.
//!
//! The filter is one META block or, if it exceeds the block size, several partitions and an index
//! of them. META blocks follow the data blocks, so all finished partitions stay in memory until
//! the end of the file. The current partition takes eight bytes of memory per row, for the hashes.

use bytes::Bytes;
use filter::engine::{HEADER_LEN, KeyHash};
use filter::{Sizing, StoredFilter};

use super::option_rules::BLOCK_LEN_MAX;
use crate::block::filter_index::{
    FILTER_INDEX_NAME, FilterIndex, Partition, index_checksum, partition_name,
};
use crate::block::meta::ROW_FILTER_NAME;
use crate::write::{FilterOptions, WriterOptions};

/// The finished row filter of a file.
#[derive(Debug)]
pub(crate) struct FilterBlocks {
    /// The names and contents of the META blocks.
    pub(crate) metas: Vec<(String, Vec<u8>)>,
    /// The value of [`FileInfo::ROW_FILTER_ID`](crate::FileInfo::ROW_FILTER_ID).
    pub(crate) id: Vec<u8>,
}

/// Returns the filter's id for the file info: the number of keys, then the checksum.
fn filter_id(keys: u64, checksum: u64) -> Vec<u8> {
    [keys.to_be_bytes(), checksum.to_be_bytes()].concat()
}

/// Builds a filter over the rows of a file.
#[derive(Debug)]
pub(crate) struct FilterWriter {
    options: FilterOptions,
    /// The maximum number of rows in a partition.
    keys_max: usize,
    /// The first row of the current partition.
    first_row: Vec<u8>,
    /// The hashes of the rows of the current partition.
    hashes: Vec<KeyHash>,
    /// The index entries of the finished partitions.
    partitions: Vec<Partition>,
    /// The filters of the finished partitions.
    filters: Vec<Vec<u8>>,
    /// The sum of error rate × number of rows over the finished partitions.
    ///
    /// Divided by the number of all rows, the sum is the error rate of the whole filter.
    expected_errors: f64,
}

impl FilterWriter {
    /// Returns a filter writer; `None` if the options ask for no filter.
    pub(crate) fn new(options: &WriterOptions) -> Option<Self> {
        options.filter.map(|filter| Self {
            options: filter,
            keys_max: keys_max(&filter, options.filter_block_size),
            first_row: Vec::new(),
            hashes: Vec::new(),
            partitions: Vec::new(),
            filters: Vec::new(),
            expected_errors: 0.0,
        })
    }

    /// Adds a row. Rows must be added in ascending order, each once.
    pub(crate) fn insert(&mut self, row: &[u8]) -> Result<(), String> {
        if self.hashes.len() >= self.keys_max {
            self.build()?;
        }
        if self.hashes.is_empty() {
            self.first_row.clear();
            self.first_row.extend_from_slice(row);
        }
        self.hashes.push(KeyHash::new(self.options.seed, row));
        Ok(())
    }

    /// Builds the last partition, and returns the META blocks and the filter's id.
    pub(crate) fn finish(mut self) -> Result<FilterBlocks, String> {
        if self.partitions.is_empty() || !self.hashes.is_empty() {
            self.build()?;
        }
        let keys: u64 = self.partitions.iter().map(|partition| partition.keys).sum();
        if let [Partition { checksum, .. }] = self.partitions[..] {
            let filter = self.filters.pop().expect("each partition has its filter");
            let metas = vec![(ROW_FILTER_NAME.into(), filter)];
            return Ok(FilterBlocks { metas, id: filter_id(keys, checksum) });
        }
        let error_rate = self.expected_errors / keys as f64;
        let index = FilterIndex::new(self.options.kind, error_rate, self.partitions);
        let mut body = Vec::new();
        index.write(&mut body);
        let id = filter_id(keys, index_checksum(&body));
        let named = |(number, filter): (usize, Vec<u8>)| (partition_name(number), filter);
        let mut metas: Vec<_> = self.filters.into_iter().enumerate().map(named).collect();
        metas.push((FILTER_INDEX_NAME.into(), body));
        Ok(FilterBlocks { metas, id })
    }

    /// Builds the filter of the current partition, and begins a new partition.
    fn build(&mut self) -> Result<(), String> {
        let FilterOptions { kind, sizing, seed } = self.options;
        let filter = filter::engine::build(kind, sizing, seed, &self.hashes)
            .map_err(|error| error.to_string())?;
        let len = u32::try_from(filter.len()).ok().filter(|len| *len as usize <= BLOCK_LEN_MAX);
        let len = len.ok_or_else(|| format!("a filter of {} bytes", filter.len()))?;
        let stored = StoredFilter::parse(&filter[..]).map_err(|error| error.to_string())?;
        let keys = self.hashes.len() as u64;
        self.expected_errors += stored.stats().error_rate * keys as f64;
        let checksum = stored.checksum();
        let first_row = Bytes::copy_from_slice(&self.first_row);
        self.partitions.push(Partition { keys, len, checksum, first_row });
        self.filters.push(filter);
        self.hashes.clear();
        Ok(())
    }
}

/// The minimum of `keys_max`, even if the filter of a partition then exceeds the block size.
///
/// The index entry of a smaller partition can take more bytes than the partition's filter.
const KEYS_MIN: u64 = 256;

/// `keys_max` searches for the number of rows with a precision of 1/64.
const SEARCH_STEPS: u64 = 64;

/// Returns the minimum length in bytes of a full partition that may have `block_size` bytes.
///
/// A full partition leaves up to 2/64 of the block size unused: 1/64 because the search in
/// `keys_max` is not exact, and 1/64 because the size of a filter grows in steps.
fn partition_len_min(block_size: u32) -> u64 {
    u64::from(block_size) / SEARCH_STEPS * (SEARCH_STEPS - 2)
}

impl FilterOptions {
    /// Returns an upper bound of the header bytes that partitions add to a filter of `bytes` bytes.
    ///
    /// A writer splits a filter into partitions of at most `block_size` bytes
    /// ([`WriterOptions::filter_block_size`]), each with a header. The first header is not
    /// counted, because a filter in one block has it too.
    #[doc(hidden)]
    pub fn further_header_bytes(bytes: u64, block_size: u32) -> u64 {
        bytes / partition_len_min(block_size).max(1) * HEADER_LEN as u64
    }
}

/// Returns the maximum number of rows of a partition: their filter fits into `block_size` bytes.
///
/// At least [`KEYS_MIN`]. A filter with a fixed size (`Sizing::Bytes`) stays one block: splitting
/// its bytes among partitions would require the number of all rows, known only at the end of the
/// file.
fn keys_max(options: &FilterOptions, block_size: u32) -> usize {
    let plan = |keys| filter::plan(options.kind, options.sizing, keys);
    // If the kind cannot have this sizing, `FilterWriter::build` returns the error.
    if matches!(options.sizing, Sizing::Bytes(_)) || plan(KEYS_MIN).is_err() {
        return usize::MAX;
    }
    let fits = |keys: u64| {
        plan(keys).is_ok_and(|plan| plan.bytes + HEADER_LEN as u64 <= block_size.into())
    };
    // Doubles the number of rows until their filter does not fit, then bisects.
    let (mut enough, mut too_many) = (KEYS_MIN, 2 * KEYS_MIN);
    while fits(too_many) && too_many < u64::MAX / 4 {
        (enough, too_many) = (too_many, too_many * 2);
    }
    while too_many - enough > enough / SEARCH_STEPS + 1 {
        let middle = enough.midpoint(too_many);
        if fits(middle) { enough = middle } else { too_many = middle }
    }
    // On a 32-bit target the memory cannot hold the hashes of `usize::MAX` rows anyway.
    usize::try_from(enough).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use filter::FilterKind;

    use super::*;

    #[test]
    fn a_full_partition_has_at_least_the_estimated_bytes() {
        let block_size = WriterOptions::FILTER_BLOCK_SIZE;
        for &kind in FilterKind::IN_FILES {
            for bits in [6.0, 10.0, 13.7] {
                let sizing = Sizing::BitsPerKey(bits);
                let options = FilterOptions::new(kind, sizing);
                let keys = keys_max(&options, block_size) as u64;
                // Some kinds need more bits per key.
                let Ok(plan) = filter::plan(kind, sizing, keys) else { continue };
                let bytes = plan.bytes + HEADER_LEN as u64;
                assert!(bytes <= block_size.into(), "{kind:?} {bits}: {bytes}");
                assert!(bytes >= partition_len_min(block_size), "{kind:?} {bits}: {bytes}");
            }
        }
    }

    #[test]
    fn the_first_partition_adds_no_further_header() {
        let header = HEADER_LEN as u64;
        assert_eq!(FilterOptions::further_header_bytes(0, 64_000), 0);
        assert_eq!(FilterOptions::further_header_bytes(61_999, 64_000), 0);
        assert_eq!(FilterOptions::further_header_bytes(62_000, 64_000), header);
        assert_eq!(FilterOptions::further_header_bytes(124_000, 64_000), 2 * header);
    }
}
