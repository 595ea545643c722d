//! The file info of an HFile: its entries, their meaning and their checks.

use std::collections::BTreeMap;

use cells::{SequenceId, Timestamp};
use prost::Message;

use crate::block::BloomType;
use crate::encoding::{DamageReason, DataBlockEncoding};
use crate::input::Input;

/// The file info of an HFile: a map of keys to values that describe the whole file.
///
/// Keeps entries with unknown keys.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FileInfo {
    pub(super) entries: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// The range of the timestamps of a file's cells, both ends included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimeRange {
    /// The earliest timestamp; 0 if the file has deletes of whole columns or families.
    pub min: Timestamp,
    /// The latest timestamp.
    pub max: Timestamp,
}

impl TimeRange {
    /// Returns whether a timestamp is in both ranges.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.min <= other.max && other.min <= self.max
    }
}

/// The identity of this project's row filter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct FilterId {
    /// The number of rows.
    pub(crate) keys: u64,
    /// The checksum of the filter, or of the index of a partitioned one.
    pub(crate) checksum: u64,
}

/// The keys of the entries, as HBase names them.
impl FileInfo {
    /// The key of the last cell.
    pub const LAST_KEY: &'static [u8] = b"hfile.LASTKEY";
    /// The average length of a key in bytes.
    pub(crate) const AVERAGE_KEY_LEN: &'static [u8] = b"hfile.AVG_KEY_LEN";
    /// The average length of a value in bytes.
    pub(crate) const AVERAGE_VALUE_LEN: &'static [u8] = b"hfile.AVG_VALUE_LEN";
    /// The time at which the file was written, in milliseconds since 1970.
    pub(crate) const CREATE_TIME: &'static [u8] = b"hfile.CREATE_TIME_TS";
    /// The greatest length of a cell's tags, in bytes. Present only if cells have a tags field.
    pub(crate) const MAX_TAGS_LEN: &'static [u8] = b"hfile.MAX_TAGS_LEN";
    /// Whether encoded blocks keep tags in a dictionary.
    pub(crate) const TAGS_COMPRESSED: &'static [u8] = b"hfile.TAGS_COMPRESSED";
    /// 1 if cells have a sequence id field.
    pub(crate) const KEY_VALUE_VERSION: &'static [u8] = b"KEY_VALUE_VERSION";
    /// The greatest sequence id that is stored with a cell.
    pub(crate) const MAX_MEMSTORE_TS: &'static [u8] = b"MAX_MEMSTORE_TS_KEY";
    /// The name of the encoding of data blocks, if they are encoded.
    pub(crate) const DATA_BLOCK_ENCODING: &'static [u8] = b"DATA_BLOCK_ENCODING";
    /// The name of the encoding of index blocks. HBase 2.5 implements none.
    pub(crate) const INDEX_BLOCK_ENCODING: &'static [u8] = b"INDEX_BLOCK_ENCODING";
    /// The name of the Bloom filter's type, such as `ROW` or `ROWCOL`.
    pub(crate) const BLOOM_FILTER_TYPE: &'static [u8] = b"BLOOM_FILTER_TYPE";
    /// The prefix length of a Bloom filter over row prefixes.
    pub(crate) const BLOOM_FILTER_PARAM: &'static [u8] = b"BLOOM_FILTER_PARAM";
    /// The last key in the Bloom filter.
    pub(crate) const LAST_BLOOM_KEY: &'static [u8] = b"LAST_BLOOM_KEY";
    /// The number of cells that delete a whole family, or all its cells of one timestamp.
    pub(crate) const DELETE_FAMILY_COUNT: &'static [u8] = b"DELETE_FAMILY_COUNT";
    /// The range of the cells' timestamps.
    pub(crate) const TIMERANGE: &'static [u8] = b"TIMERANGE";
    /// The timestamp of the earliest put.
    pub(crate) const EARLIEST_PUT_TS: &'static [u8] = b"EARLIEST_PUT_TS";
    /// The greatest sequence id of the writes in the file, stored with their cells or not.
    pub(crate) const MAX_SEQ_ID: &'static [u8] = b"MAX_SEQ_ID_KEY";
    /// Whether a major compaction wrote the file.
    pub(crate) const MAJOR_COMPACTION: &'static [u8] = b"MAJOR_COMPACTION_KEY";
    /// The input files of the compaction that wrote the file.
    pub const COMPACTION_EVENT: &'static [u8] = b"COMPACTION_EVENT_KEY";
    /// The time at which the file was written for bulk load. Absent in other files.
    pub const BULKLOAD_TIMESTAMP: &'static [u8] = b"BULKLOAD_TIMESTAMP";
    /// Whether the file has only historical cells, which newer cells in other files hide.
    pub const HISTORICAL: &'static [u8] = b"HISTORICAL";
    /// Whether minor compactions leave the file out.
    pub(crate) const EXCLUDE_FROM_MINOR_COMPACTION: &'static [u8] =
        b"EXCLUDE_FROM_MINOR_COMPACTION";
    /// The task of the job that wrote the file for bulk load.
    pub(crate) const BULKLOAD_SOURCE_TASK: &'static [u8] = b"BULKLOAD_SOURCE_TASK";
    /// The length of the longest cell as HBase counts it. Written by HBase 2.6 and later.
    pub(crate) const BIGGEST_CELL_LEN: &'static [u8] = b"hfile.LEN_OF_BIGGEST_CELL";
    /// The key of the longest cell. Written by HBase 2.6 and later.
    pub(crate) const BIGGEST_CELL_KEY: &'static [u8] = b"hfile.KEY_OF_BIGGEST_CELL";
    /// The number of cells in a file of large values (MOB).
    pub(crate) const MOB_CELLS_COUNT: &'static [u8] = b"MOB_CELLS_COUNT";
    /// Identifies this project's row filter in the file's META blocks. HBase ignores the entry.
    ///
    /// The value is the number of keys (u64 BE), then the checksum in the filter's header or, if
    /// the filter is partitioned, the XXH3-64 of the body of its index (u64 BE).
    pub const ROW_FILTER_ID: &'static [u8] = b"ROW_FILTER_ID";
}

impl FileInfo {
    /// Returns the entries in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|(key, value)| (key.as_slice(), value.as_slice()))
    }

    /// Returns the value of a key.
    pub fn value(&self, key: &[u8]) -> Option<&[u8]> {
        self.entries.get(key).map(Vec::as_slice)
    }

    /// Returns the range of the cells' timestamps.
    ///
    /// `None` if the file states no valid range: the cells can then have any timestamps.
    pub fn time_range(&self) -> Option<TimeRange> {
        let value = self.value(Self::TIMERANGE)?;
        let (min, max) = if let Some(message) = value.strip_prefix(Self::MAGIC) {
            let range = TimeRangeProto::decode(message).ok()?;
            (range.from?.cast_signed(), range.to?.cast_signed())
        } else {
            let mut input = Input::new(value);
            let bounds = (input.array()?, input.array()?);
            (i64::from_be_bytes(bounds.0), i64::from_be_bytes(bounds.1))
        };
        // Like HBase, ignores a range with a negative bound.
        let known = min >= 0 && max >= 0;
        known.then_some(TimeRange { min: Timestamp::new(min), max: Timestamp::new(max) })
    }

    /// Returns the greatest sequence id of the writes in the file.
    pub fn sequence_id_max(&self) -> Option<SequenceId> {
        u64::try_from(self.long(Self::MAX_SEQ_ID)?).ok().map(SequenceId::new)
    }

    /// Returns the identity of the row filter from the entry `ROW_FILTER_ID`, if present.
    pub(crate) fn row_filter_id(&self) -> Option<FilterId> {
        let (keys, checksum) = self.value(Self::ROW_FILTER_ID)?.split_first_chunk()?;
        let checksum = u64::from_be_bytes(checksum.try_into().ok()?);
        Some(FilterId { keys: u64::from_be_bytes(*keys), checksum })
    }

    /// Returns the time at which the file was written, in milliseconds since 1970.
    pub fn create_time(&self) -> Option<Timestamp> {
        self.long(Self::CREATE_TIME).map(Timestamp::new)
    }

    /// Returns the timestamp of the earliest put.
    pub fn earliest_put(&self) -> Option<Timestamp> {
        self.long(Self::EARLIEST_PUT_TS).map(Timestamp::new)
    }

    /// Returns the number of cells that delete a family, or its cells of one timestamp, if stated.
    pub fn delete_family_count(&self) -> Option<u64> {
        u64::try_from(self.long(Self::DELETE_FAMILY_COUNT)?).ok()
    }

    /// Returns whether a major compaction wrote the file.
    pub fn is_major_compaction(&self) -> bool {
        self.flag(Self::MAJOR_COMPACTION)
    }

    /// Returns the average length of a key in bytes.
    pub fn average_key_len(&self) -> Option<u32> {
        u32::try_from(self.int(Self::AVERAGE_KEY_LEN)?).ok()
    }

    /// Returns the average length of a value in bytes.
    pub fn average_value_len(&self) -> Option<u32> {
        u32::try_from(self.int(Self::AVERAGE_VALUE_LEN)?).ok()
    }

    /// Returns whether cells have a tags field.
    pub fn includes_tags(&self) -> bool {
        self.value(Self::MAX_TAGS_LEN).is_some()
    }

    /// Returns whether encoded blocks keep tags in a dictionary.
    pub fn compresses_tags(&self) -> bool {
        self.includes_tags() && self.flag(Self::TAGS_COMPRESSED)
    }

    /// Returns whether cells have a sequence id field.
    pub fn includes_mvcc(&self) -> bool {
        self.int(Self::KEY_VALUE_VERSION) == Some(1)
    }

    /// Returns the encoding of data blocks; the error is the name, if it is unknown.
    pub(crate) fn data_block_encoding(&self) -> Result<DataBlockEncoding, String> {
        let name = self.text(Self::DATA_BLOCK_ENCODING);
        name.map_or(Ok(DataBlockEncoding::None), |name| {
            DataBlockEncoding::from_name(&name).ok_or(name)
        })
    }

    /// Returns the name of the encoding of index blocks, if they are encoded.
    pub(crate) fn index_block_encoding(&self) -> Option<String> {
        self.text(Self::INDEX_BLOCK_ENCODING).filter(|name| name != "NONE")
    }

    /// Returns the type of the Bloom filter; the error is the name, if it is unknown.
    ///
    /// The prefix `RIBBON_` marks a ribbon filter over the same keys, and is ignored here.
    pub(crate) fn bloom_type(&self) -> Result<BloomType, String> {
        let Some(name) = self.text(Self::BLOOM_FILTER_TYPE) else { return Ok(BloomType::None) };
        let prefix_len = self.int(Self::BLOOM_FILTER_PARAM).and_then(|len| u16::try_from(len).ok());
        let plain = name.strip_prefix("RIBBON_").unwrap_or(&name);
        match BloomType::from_name(plain, prefix_len.unwrap_or(0)) {
            Some(BloomType::RowPrefixFixedLength(0)) | None => Err(name),
            Some(known) => Ok(known),
        }
    }

    fn text(&self, key: &[u8]) -> Option<String> {
        self.value(key).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    fn flag(&self, key: &[u8]) -> bool {
        self.value(key).and_then(<[u8]>::first).is_some_and(|byte| *byte != 0)
    }

    pub(crate) fn int(&self, key: &[u8]) -> Option<i32> {
        self.value(key)?.try_into().ok().map(i32::from_be_bytes)
    }

    pub(crate) fn long(&self, key: &[u8]) -> Option<i64> {
        self.value(key)?.try_into().ok().map(i64::from_be_bytes)
    }

    /// Sets the value of a key.
    pub(crate) fn insert(&mut self, key: &[u8], value: impl Into<Vec<u8>>) {
        self.entries.insert(key.to_vec(), value.into());
    }

    /// Removes the entry with this key, if there is one.
    pub(crate) fn remove(&mut self, key: &[u8]) {
        self.entries.remove(key);
    }

    /// Checks that the required entries exist and that entries of a fixed length have that length.
    pub(crate) fn check(&self, has_cells: bool) -> Result<(), DamageReason> {
        let damaged =
            |key: &[u8], what| Err(DamageReason::from(format!("{} {what}", cells::escape(key))));
        for (keys, len) in [(Self::INTS, 4), (Self::LONGS, 8), (Self::FLAGS, 1)] {
            for key in keys {
                if self.value(key).is_some_and(|value| value.len() != len) {
                    return damaged(key, "has a wrong length");
                }
            }
        }
        if self.value(Self::ROW_FILTER_ID).is_some_and(|value| value.len() != 16) {
            return damaged(Self::ROW_FILTER_ID, "has a wrong length");
        }
        for (key, needed) in [
            (Self::AVERAGE_KEY_LEN, true),
            (Self::AVERAGE_VALUE_LEN, true),
            (Self::LAST_KEY, has_cells),
            (Self::MAX_MEMSTORE_TS, self.includes_mvcc()),
        ] {
            if needed && self.value(key).is_none() {
                return damaged(key, "is missing");
            }
        }
        Ok(())
    }

    const INTS: &'static [&'static [u8]] = &[
        Self::AVERAGE_KEY_LEN,
        Self::AVERAGE_VALUE_LEN,
        Self::MAX_TAGS_LEN,
        Self::KEY_VALUE_VERSION,
        Self::BLOOM_FILTER_PARAM,
    ];
    const LONGS: &'static [&'static [u8]] = &[
        Self::CREATE_TIME,
        Self::MAX_MEMSTORE_TS,
        Self::DELETE_FAMILY_COUNT,
        Self::EARLIEST_PUT_TS,
        Self::MAX_SEQ_ID,
        Self::BULKLOAD_TIMESTAMP,
    ];
    const FLAGS: &'static [&'static [u8]] =
        &[Self::TAGS_COMPRESSED, Self::MAJOR_COMPACTION, Self::HISTORICAL];
}

/// The message `TimeRangeTracker` in HBase's `HBase.proto`.
#[derive(Clone, PartialEq, Message)]
struct TimeRangeProto {
    #[prost(uint64, optional, tag = "1")]
    from: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    to: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the body of a file info block that HBase wrote, with additional entries of a user.
    fn real() -> Vec<u8> {
        let file = include_bytes!("../../../testdata/s15-extra-file-info.hfile");
        let at = file.windows(8).position(|magic| magic == b"FILEINF2").unwrap();
        let len = u32::from_be_bytes(file[at + 29..at + 33].try_into().unwrap()) as usize;
        file[at + 33..at + len].to_vec()
    }

    fn with(key: &[u8], value: &[u8]) -> FileInfo {
        let mut file_info = FileInfo::decode(&real()).unwrap();
        file_info.insert(key, value);
        file_info
    }

    #[test]
    fn a_file_info_of_hbase_is_read_and_written_unchanged() {
        let body = real();
        let file_info = FileInfo::decode(&body).unwrap();
        assert_eq!(file_info.encode(), body);
        assert_eq!(file_info.check(true), Ok(()));
        assert!(file_info.average_key_len() > Some(12));
        assert_eq!(file_info.create_time(), Some(Timestamp::new(1_700_000_000_000)));
        assert!(file_info.time_range().is_some());
    }

    #[test]
    fn a_truncated_file_info_is_damaged() {
        let body = real();
        for len in 0..body.len() {
            assert!(FileInfo::decode(&body[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn the_old_format_is_read() {
        let old = b"\0\0\0\x02\x01a\x00\x03one\x01b\x00\x00";
        let file_info = FileInfo::decode(old).unwrap();
        assert!(file_info.iter().eq([(&b"a"[..], &b"one"[..]), (b"b", b"")]));
        for len in 0..old.len() {
            assert!(FileInfo::decode(&old[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn the_last_value_of_a_repeated_key_is_used() {
        let mut body = b"PBUF".to_vec();
        body.extend_from_slice(b"\x12\x0a\x07\x0a\x01a\x12\x021\x31\x0a\x07\x0a\x01a\x12\x022\x32");
        let file_info = FileInfo::decode(&body).unwrap();
        assert!(file_info.iter().eq([(&b"a"[..], &b"22"[..])]));
    }

    #[test]
    fn a_missing_or_short_required_entry_is_damage() {
        for key in [FileInfo::LAST_KEY, FileInfo::AVERAGE_KEY_LEN, FileInfo::AVERAGE_VALUE_LEN] {
            let mut file_info = FileInfo::decode(&real()).unwrap();
            file_info.entries.remove(key);
            assert!(file_info.check(true).is_err());
            assert_eq!(file_info.check(false).is_ok(), key == FileInfo::LAST_KEY);
        }
        let mut file_info = with(FileInfo::KEY_VALUE_VERSION, &[0, 0, 0, 1]);
        file_info.entries.remove(FileInfo::MAX_MEMSTORE_TS);
        assert!(file_info.check(true).is_err());
        assert!(with(FileInfo::MAX_SEQ_ID, &[1; 7]).check(true).is_err());
    }

    #[test]
    fn time_ranges_have_two_formats() {
        let range = |value| with(FileInfo::TIMERANGE, value).time_range();
        let expected = TimeRange { min: Timestamp::new(5), max: Timestamp::new(300) };
        assert_eq!(range(b"\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\x01\x2c"), Some(expected));
        assert_eq!(range(b"PBUF\x08\x05\x10\xac\x02"), Some(expected));
        assert_eq!(range(&[0xff; 16]), None, "negative");
        assert_eq!(range(b"PBUF\x08"), None);
    }

    #[test]
    fn bloom_types_have_two_names() {
        let named = |name| with(FileInfo::BLOOM_FILTER_TYPE, name).bloom_type();
        assert_eq!(named(b"ROWCOL"), Ok(BloomType::RowCol));
        assert_eq!(named(b"RIBBON_ROW"), Ok(BloomType::Row));
        assert_eq!(named(b"OTHER"), Err("OTHER".to_owned()));
        assert!(named(b"ROWPREFIX_FIXED_LENGTH").is_err(), "no length is stated");
    }
}
