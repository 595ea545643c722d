//! Statistics of a file's cells for the file info.

use std::time::SystemTime;

use cells::{CellRef, CellType, Timestamp};

use crate::block::BloomType;
use crate::encoding::DataBlockEncoding;
use crate::file::file_info::{FileInfo, LongestCell};
use crate::write::{HBaseVersion, WriterOptions};

/// Sums and extremes over the cells of a file.
#[derive(Debug)]
pub(super) struct Statistics {
    pub(super) cell_count: u64,
    key_bytes: u64,
    value_bytes: u64,
    tags_len_max: usize,
    sequence_id_max: u64,
    timestamp_min: i64,
    timestamp_max: i64,
    earliest_put: i64,
    delete_family_count: u64,
    /// `None` unless HBase 2.6's entries are written.
    longest_cell: Option<LongestCell>,
}

impl Statistics {
    /// Begins to count. HBase's empty time range starts at the latest time and ends at −1.
    pub(super) fn new(version: HBaseVersion) -> Self {
        Self {
            cell_count: 0,
            key_bytes: 0,
            value_bytes: 0,
            tags_len_max: 0,
            sequence_id_max: 0,
            timestamp_min: Timestamp::LATEST.get(),
            timestamp_max: -1,
            earliest_put: Timestamp::LATEST.get(),
            delete_family_count: 0,
            longest_cell: (version == HBaseVersion::V2_6).then(LongestCell::default),
        }
    }

    /// Keys of the file info that only the writer may set.
    pub(super) const RESERVED: [&'static [u8]; 10] = [
        FileInfo::BLOOM_FILTER_PARAM,
        FileInfo::BLOOM_FILTER_TYPE,
        FileInfo::DATA_BLOCK_ENCODING,
        FileInfo::DELETE_FAMILY_COUNT,
        FileInfo::EARLIEST_PUT_TS,
        FileInfo::INDEX_BLOCK_ENCODING,
        FileInfo::KEY_VALUE_VERSION,
        FileInfo::LAST_BLOOM_KEY,
        FileInfo::MAX_MEMSTORE_TS,
        FileInfo::TIMERANGE,
    ];

    /// Counts a cell.
    pub(super) fn add(&mut self, cell: &CellRef<'_>) {
        let timestamp = cell.timestamp.get();
        self.cell_count += 1;
        self.key_bytes += cell.key().flat_len() as u64;
        self.value_bytes += cell.value.len() as u64;
        self.tags_len_max = self.tags_len_max.max(cell.tags.len());
        self.sequence_id_max = self.sequence_id_max.max(cell.sequence_id.get());
        self.timestamp_min = self.timestamp_min.min(timestamp);
        self.timestamp_max = self.timestamp_max.max(timestamp);
        match cell.cell_type {
            CellType::Put => self.earliest_put = self.earliest_put.min(timestamp),
            // They hide all older cells, so a read of any older time must see them.
            CellType::DeleteColumn | CellType::DeleteFamily => self.timestamp_min = 0,
            CellType::Delete | CellType::DeleteFamilyVersion => {}
        }
        self.delete_family_count += u64::from(cell.cell_type.deletes_family());
        if let Some(longest) = &mut self.longest_cell {
            longest.add(cell);
        }
    }

    /// Adds the entries that HBase's store file writer adds to every file.
    pub(super) fn describe(
        &self,
        options: &WriterOptions,
        last_key: &[u8],
        file_info: &mut FileInfo,
    ) {
        let mut put = |key: &[u8], value: &[u8]| file_info.insert(key, value);
        let average = |sum: u64| {
            // A file without cells states 0.
            let average = sum.checked_div(self.cell_count).unwrap_or(0);
            i32::try_from(average).expect("no cell is longer").to_be_bytes()
        };
        if self.cell_count > 0 {
            put(FileInfo::LAST_KEY, last_key);
        }
        if let Some(longest) = self.longest_cell.as_ref().filter(|_| self.cell_count > 0) {
            put(FileInfo::BIGGEST_CELL_KEY, &longest.flat_key);
            put(FileInfo::BIGGEST_CELL_LEN, &longest.len.to_be_bytes());
        }
        put(FileInfo::AVERAGE_KEY_LEN, &average(self.key_bytes));
        put(FileInfo::AVERAGE_VALUE_LEN, &average(self.value_bytes));
        let create_time = options.create_time.unwrap_or_else(now);
        put(FileInfo::CREATE_TIME, &create_time.get().to_be_bytes());
        if options.includes_tags {
            put(FileInfo::MAX_TAGS_LEN, &(self.tags_len_max as i32).to_be_bytes());
            let is_encoded = options.data_block_encoding != DataBlockEncoding::None;
            put(FileInfo::TAGS_COMPRESSED, flag(is_encoded && options.compress_tags));
        }
        if options.includes_mvcc {
            put(FileInfo::KEY_VALUE_VERSION, &1_i32.to_be_bytes());
            put(FileInfo::MAX_MEMSTORE_TS, &self.sequence_id_max.to_be_bytes());
        }
        if options.data_block_encoding != DataBlockEncoding::None {
            put(FileInfo::DATA_BLOCK_ENCODING, options.data_block_encoding.name().as_bytes());
        }
        put(FileInfo::DELETE_FAMILY_COUNT, &self.delete_family_count.to_be_bytes());
        let range = [self.timestamp_min.to_be_bytes(), self.timestamp_max.to_be_bytes()];
        put(FileInfo::TIMERANGE, range.as_flattened());
        put(FileInfo::EARLIEST_PUT_TS, &self.earliest_put.to_be_bytes());
    }
}

/// Adds the entries that a store sets, which callers may override.
pub(super) fn describe_origin(options: &WriterOptions, file_info: &mut FileInfo) {
    let mut put = |key: &[u8], value: &[u8]| file_info.insert(key, value);
    if let Some(id) = options.max_sequence_id {
        put(FileInfo::MAX_SEQ_ID, &id.get().to_be_bytes());
    }
    put(FileInfo::MAJOR_COMPACTION, flag(options.major_compaction));
    // A protobuf message that lists no files.
    put(FileInfo::COMPACTION_EVENT, b"PBUF");
    put(FileInfo::HISTORICAL, flag(false));
}

/// Adds the entries that readers need to use the general Bloom filter.
pub(super) fn describe_bloom(bloom_type: BloomType, last_key: &[u8], file_info: &mut FileInfo) {
    let mut put = |key: &[u8], value: &[u8]| file_info.insert(key, value);
    put(FileInfo::BLOOM_FILTER_TYPE, bloom_type.name().as_bytes());
    put(FileInfo::LAST_BLOOM_KEY, last_key);
    if let BloomType::RowPrefixFixedLength(len) = bloom_type {
        put(FileInfo::BLOOM_FILTER_PARAM, &i32::from(len).to_be_bytes());
    }
}

/// Returns the current time; 0 if the clock is before 1970.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::new(i64::try_from(since.as_millis()).expect("the year is below 292 million"))
}

/// Encodes a boolean as HBase's `Bytes` does.
const fn flag(value: bool) -> &'static [u8] {
    if value { b"\xff" } else { b"\0" }
}
