//! The values of the file info's entries, decoded by what their keys mean.
//!
//! | value      | bytes                                                                        |
//! |------------|------------------------------------------------------------------------------|
//! | `Int`      | i32 BE                                                                       |
//! | `Long`     | i64 BE                                                                       |
//! | `Time`     | i64 BE: milliseconds since 1970                                              |
//! | `Flag`     | one byte, zero if false                                                      |
//! | `Name`     | text                                                                         |
//! | `Key`      | the flat key of a cell                                                       |
//! | `Range`    | `TIMERANGE`, in either of its two formats                                    |
//! | `Files`    | `PBUF`, then `CompactionEventTracker`: the inputs of a compaction      |
//! | `Bytes`    | all others, and values that do not have the form that their keys demand      |

use cells::{KeyRef, Timestamp};
use prost::Message;

use super::entries::{FileInfo, TimeRange};

/// The value of an entry of the file info.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum FileInfoValue<'a> {
    /// A number of four bytes.
    Int(i32),
    /// A number of eight bytes.
    Long(i64),
    /// A point in time.
    Time(Timestamp),
    /// A flag.
    Flag(bool),
    /// A name, such as the name of an encoding.
    Name(&'a str),
    /// The key of a cell.
    Key(KeyRef<'a>),
    /// The range of the cells' timestamps.
    Range(TimeRange),
    /// The names of the files that a compaction merged, as bytes.
    Files(Vec<Vec<u8>>),
    /// Bytes whose meaning this crate does not know.
    Bytes(&'a [u8]),
}

impl FileInfo {
    /// Returns the names of the files that a compaction replaced by this one; none for a file that HBase flushed,
    /// and `None` if the file does not say it.
    ///
    /// HBase: `HStoreFile.getCompactedStoreFiles`.
    pub fn compaction_inputs(&self) -> Option<Vec<String>> {
        let Some(FileInfoValue::Files(names)) = self.decoded(Self::COMPACTION_EVENT) else {
            return None;
        };
        Some(names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// Returns the value of a key in decoded form; `None` if the key is absent.
    ///
    /// A value that does not have the form that HBase gives it is returned as
    /// [`FileInfoValue::Bytes`].
    pub fn decoded(&self, key: &[u8]) -> Option<FileInfoValue<'_>> {
        let value = self.value(key)?;
        let known = match key {
            Self::AVERAGE_KEY_LEN
            | Self::AVERAGE_VALUE_LEN
            | Self::MAX_TAGS_LEN
            | Self::KEY_VALUE_VERSION
            | Self::BLOOM_FILTER_PARAM => self.int(key).map(FileInfoValue::Int),
            Self::MAX_MEMSTORE_TS
            | Self::DELETE_FAMILY_COUNT
            | Self::MAX_SEQ_ID
            | Self::BIGGEST_CELL_LEN
            | Self::MOB_CELLS_COUNT => self.long(key).map(FileInfoValue::Long),
            Self::CREATE_TIME | Self::EARLIEST_PUT_TS | Self::BULKLOAD_TIMESTAMP => {
                self.long(key).map(Timestamp::new).map(FileInfoValue::Time)
            }
            Self::TAGS_COMPRESSED
            | Self::MAJOR_COMPACTION
            | Self::HISTORICAL
            | Self::EXCLUDE_FROM_MINOR_COMPACTION => match value {
                [byte] => Some(FileInfoValue::Flag(*byte != 0)),
                _ => None,
            },
            Self::DATA_BLOCK_ENCODING
            | Self::INDEX_BLOCK_ENCODING
            | Self::BLOOM_FILTER_TYPE
            | Self::BULKLOAD_SOURCE_TASK => {
                std::str::from_utf8(value).ok().map(FileInfoValue::Name)
            }
            Self::LAST_KEY | Self::BIGGEST_CELL_KEY => KeyRef::parse(value).map(FileInfoValue::Key),
            Self::TIMERANGE => self.time_range().map(FileInfoValue::Range),
            Self::COMPACTION_EVENT => compacted_files(value).map(FileInfoValue::Files),
            _ => None,
        };
        Some(known.unwrap_or(FileInfoValue::Bytes(value)))
    }

    /// Returns the length of the longest cell as HBase counts it. Only HBase 2.6 and later record
    /// it.
    pub fn biggest_cell_len(&self) -> Option<u64> {
        u64::try_from(self.long(Self::BIGGEST_CELL_LEN)?).ok()
    }

    /// Returns the key of the longest cell. Only HBase 2.6 and later record it.
    pub fn biggest_cell_key(&self) -> Option<KeyRef<'_>> {
        self.value(Self::BIGGEST_CELL_KEY).and_then(KeyRef::parse)
    }
}

fn compacted_files(value: &[u8]) -> Option<Vec<Vec<u8>>> {
    StoreFileList::decode(value.strip_prefix(FileInfo::MAGIC)?).ok().map(|list| list.names)
}

/// The message `CompactionEventTracker` of HBase's `HFile.proto`.
#[derive(Clone, PartialEq, Message)]
struct StoreFileList {
    #[prost(bytes = "vec", repeated, tag = "1")]
    names: Vec<Vec<u8>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(key: &[u8], value: &[u8]) -> FileInfo {
        let mut file_info = FileInfo::default();
        file_info.insert(key, value);
        file_info
    }

    #[test]
    fn values_are_decoded_by_their_keys() {
        let decode = |key: &[u8], value: &[u8], expected| {
            assert_eq!(with(key, value).decoded(key), Some(expected), "{}", cells::escape(key));
        };
        decode(FileInfo::MAX_TAGS_LEN, &[0, 0, 0, 7], FileInfoValue::Int(7));
        decode(FileInfo::MAX_SEQ_ID, &[0, 0, 0, 0, 0, 0, 1, 0], FileInfoValue::Long(256));
        decode(FileInfo::MAJOR_COMPACTION, &[255], FileInfoValue::Flag(true));
        decode(FileInfo::BLOOM_FILTER_TYPE, b"ROW", FileInfoValue::Name("ROW"));
        let files = vec![b"4f1c".to_vec(), b"9a".to_vec()];
        decode(
            FileInfo::COMPACTION_EVENT,
            b"PBUF\x0a\x044f1c\x0a\x029a",
            FileInfoValue::Files(files),
        );
        let time = FileInfoValue::Time(Timestamp::new(5));
        decode(FileInfo::CREATE_TIME, &[0, 0, 0, 0, 0, 0, 0, 5], time);
        decode(b"my.key", b"\x01", FileInfoValue::Bytes(b"\x01"));
        assert_eq!(FileInfo::default().decoded(b"my.key"), None);
    }

    #[test]
    fn values_of_another_form_are_bytes() {
        for key in [
            FileInfo::MAX_TAGS_LEN,
            FileInfo::MAX_SEQ_ID,
            FileInfo::MAJOR_COMPACTION,
            FileInfo::LAST_KEY,
            FileInfo::TIMERANGE,
            FileInfo::COMPACTION_EVENT,
            FileInfo::BLOOM_FILTER_TYPE,
        ] {
            let file_info = with(key, &[0xff; 3]);
            assert_eq!(file_info.decoded(key), Some(FileInfoValue::Bytes(&[0xff; 3])));
        }
    }

    #[test]
    fn the_biggest_cell_of_later_versions_is_read() {
        let mut file_info = with(FileInfo::BIGGEST_CELL_LEN, &300_i64.to_be_bytes());
        let key = KeyRef::before_row(b"row");
        let mut flat = Vec::new();
        key.write_flat(&mut flat);
        file_info.insert(FileInfo::BIGGEST_CELL_KEY, flat);
        assert_eq!(file_info.biggest_cell_len(), Some(300));
        assert_eq!(file_info.biggest_cell_key(), Some(key));
    }
}
