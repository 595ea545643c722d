//! The index of a row filter that is partitioned by key range.
//!
//! Our row filters are stored in META blocks, which HBase ignores:
//!
//! | META block            | holds                                                             |
//! |-----------------------|-------------------------------------------------------------------|
//! | `filter.row`          | a filter over all rows, if it fits one block                      |
//! | `filter.row.index`    | otherwise this index                                              |
//! | `filter.row.00000000` | and the partition with the first rows of the file,                |
//! | `filter.row.00000001` | the next partition, and so on                                     |
//!
//! Body of the index:
//!
//! | at | bytes | field        | encoding and meaning                                          |
//! |---:|------:|--------------|---------------------------------------------------------------|
//! |  0 |     4 | `version`    | u32 BE; 2                                                     |
//! |  4 |   1+n | `kind`       | u8 length and name, as in `blocked-bloom`                     |
//! |    |     8 | `error rate` | f64 BE; over all partitions, computed when written            |
//! |    |     4 | `count`      | u32 BE; how many partitions follow, at least 1                |
//! |    |       | partitions   | in row order                                                  |
//!
//! A partition, which covers the rows from its first row up to that of the next partition:
//!
//! | bytes | field       | encoding and meaning                                                |
//! |------:|-------------|---------------------------------------------------------------------|
//! |     8 | `keys`      | u64 BE; rows in it, at least 1                                      |
//! |     4 | `length`    | u32 BE; bytes of the filter, not compressed                         |
//! |     8 | `checksum`  | u64 BE; from the filter's header; detects a wrong filter            |
//! |   2+n | `first row` | u16 BE length and bytes; ascending                                  |

use bytes::Bytes;
use filter::engine::KeyHash;
use filter::{FilterKind, Seed};

use super::meta::{ROW_FILTER_NAME, check_kind};
use crate::encoding::DamageReason;
use crate::input::Input;
use crate::row_digits::RowDigits;

const VERSION: u32 = 2;
/// Bytes of a partition without its first row.
const PARTITION_LEN_MIN: usize = 22;

/// The name of the META block with the index.
pub(crate) const FILTER_INDEX_NAME: &str = "filter.row.index";

/// The name of the META block with a partition.
pub(crate) fn partition_name(number: usize) -> String {
    format!("{ROW_FILTER_NAME}.{number:08}")
}

/// The checksum of the index body, which is stored in the file info.
pub(crate) fn index_checksum(body: &[u8]) -> u64 {
    KeyHash::new(Seed::new(0), body).get()
}

/// Whether a META block with this name belongs to a row filter.
pub(crate) fn is_filter_name(name: &[u8]) -> bool {
    let rest = name.strip_prefix(ROW_FILTER_NAME.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
}

/// The index entry of one partition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Partition {
    pub(crate) keys: u64,
    pub(crate) len: u32,
    pub(crate) checksum: u64,
    pub(crate) first_row: Bytes,
}

/// The index in memory.
#[derive(Debug)]
pub(crate) struct FilterIndex {
    pub(crate) kind: FilterKind,
    pub(crate) error_rate: f64,
    pub(crate) partitions: Vec<Partition>,
    digits: RowDigits,
}

impl FilterIndex {
    /// Takes partitions in the order of their rows.
    pub(crate) fn new(kind: FilterKind, error_rate: f64, partitions: Vec<Partition>) -> Self {
        let digits = RowDigits::new(partitions.iter().map(|partition| &partition.first_row[..]));
        Self { kind, error_rate, partitions, digits }
    }

    /// Reads the body of an index.
    pub(crate) fn parse(body: &Bytes) -> Result<Self, DamageReason> {
        let mut input = Input::new(body);
        if input.array().map(u32::from_be_bytes).ok_or(TRUNCATED)? != VERSION {
            return Err("unknown version of the filter index".into());
        }
        let kind = kind_of(kind_name(&mut input).ok_or(TRUNCATED)?)?;
        let error_rate = input.array().map(f64::from_be_bytes).ok_or(TRUNCATED)?;
        if !(0.0..=1.0).contains(&error_rate) {
            return Err("error rate outside 0..=1".into());
        }
        let count = input.len_i32().ok_or(TRUNCATED)?;
        if count == 0 || count > input.len() / PARTITION_LEN_MIN {
            return Err(format!("{count} partitions in {} bytes", input.len()).into());
        }
        let mut partitions: Vec<Partition> = Vec::with_capacity(count);
        let mut key_count = 0_u64;
        for _ in 0..count {
            let keys = input.array().map(u64::from_be_bytes).ok_or(TRUNCATED)?;
            let len = input.array().map(u32::from_be_bytes).ok_or(TRUNCATED)?;
            let checksum = input.array().map(u64::from_be_bytes).ok_or(TRUNCATED)?;
            let row_len = input.u16().ok_or(TRUNCATED)?;
            let first_row = body.slice_ref(input.take(row_len.into()).ok_or(TRUNCATED)?);
            if partitions.last().is_some_and(|last| last.first_row >= first_row) {
                return Err("partitions out of order".into());
            }
            if keys == 0 {
                return Err("empty partition".into());
            }
            key_count = key_count.checked_add(keys).ok_or("row count overflows")?;
            partitions.push(Partition { keys, len, checksum, first_row });
        }
        if !input.is_empty() {
            return Err("trailing bytes after the filter index".into());
        }
        Ok(Self::new(kind, error_rate, partitions))
    }

    /// Appends the body of the index.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let name = self.kind.name().as_bytes();
        out.extend_from_slice(&VERSION.to_be_bytes());
        out.push(u8::try_from(name.len()).expect("filter names are short"));
        out.extend_from_slice(name);
        out.extend_from_slice(&self.error_rate.to_be_bytes());
        let count = u32::try_from(self.partitions.len()).expect("a file has fewer than 2^32 rows");
        out.extend_from_slice(&count.to_be_bytes());
        for partition in &self.partitions {
            let row = &partition.first_row;
            let row_len = u16::try_from(row.len()).expect("the writer has checked the row");
            out.extend_from_slice(&partition.keys.to_be_bytes());
            out.extend_from_slice(&partition.len.to_be_bytes());
            out.extend_from_slice(&partition.checksum.to_be_bytes());
            out.extend_from_slice(&row_len.to_be_bytes());
            out.extend_from_slice(row);
        }
    }

    /// Returns the partition that covers the row; `None` for a row before the first.
    pub(crate) fn find(&self, row: &[u8]) -> Option<usize> {
        let candidates = self.digits.candidates(row);
        let start = candidates.start;
        let equal_digits = self.partitions.get(candidates).expect("candidates are partitions");
        let not_after = equal_digits.partition_point(|partition| partition.first_row[..] <= *row);
        start.checked_add(not_after).expect("both count partitions").checked_sub(1)
    }

    /// Rows in all partitions.
    pub(crate) fn key_count(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.keys).sum()
    }

    /// Bytes of all partitions.
    pub(crate) fn byte_size(&self) -> u64 {
        self.partitions.iter().map(|partition| u64::from(partition.len)).sum()
    }

    /// The size in memory, in bytes, including the first rows that share the block's bytes.
    pub(crate) fn bytes(&self) -> usize {
        let rows = self.partitions.iter().map(|partition| partition.first_row.len());
        rows.chain([size_of_val(&self.partitions[..]), self.digits.bytes()]).sum()
    }
}

const TRUNCATED: &str = "ends in the filter index";

fn kind_name<'a>(input: &mut Input<'a>) -> Option<&'a [u8]> {
    let len = input.u8()?;
    input.take(len.into())
}

fn kind_of(name: &[u8]) -> Result<FilterKind, String> {
    let kind = std::str::from_utf8(name).ok().and_then(|name| name.parse::<FilterKind>().ok());
    let kind = kind.ok_or_else(|| format!("unknown filter {}", cells::escape(name)))?;
    check_kind(kind).map(|()| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(rows: &[&'static str]) -> FilterIndex {
        let partition = |row: &&'static str| Partition {
            keys: 7,
            len: 70,
            checksum: 9,
            first_row: Bytes::from(*row),
        };
        let partitions = rows.iter().map(partition).collect();
        FilterIndex::new(FilterKind::BlockedBloom, 0.01, partitions)
    }

    fn bytes(index: &FilterIndex) -> Vec<u8> {
        let mut bytes = Vec::new();
        index.write(&mut bytes);
        bytes
    }

    #[test]
    fn an_index_round_trips() {
        let written = index(&["b", "bb", "c"]);
        let read = FilterIndex::parse(&bytes(&written).into()).expect("a sound index");
        assert_eq!((read.kind, read.error_rate), (written.kind, written.error_rate));
        assert_eq!(read.partitions, written.partitions);
        assert_eq!((read.key_count(), read.byte_size()), (21, 210));
        for (row, partition) in [
            ("a", None),
            ("b", Some(0)),
            ("ba", Some(0)),
            ("bb", Some(1)),
            ("bbb", Some(1)),
            ("c", Some(2)),
            ("d", Some(2)),
        ] {
            assert_eq!(read.find(row.as_bytes()), partition, "{row}");
        }
    }

    #[test]
    fn damaged_indexes_are_rejected() {
        let sound = bytes(&index(&["b", "c"]));
        for len in 0..sound.len() {
            assert!(FilterIndex::parse(&Bytes::copy_from_slice(&sound[..len])).is_err(), "{len}");
        }
        let refused = |change: fn(&mut Vec<u8>), what: &str| {
            let mut bytes = sound.clone();
            change(&mut bytes);
            let error = FilterIndex::parse(&bytes.into()).expect_err(what);
            assert!(error.contains(what), "{error}");
        };
        refused(|bytes| bytes[3] = 3, "version");
        refused(|bytes| bytes[5] = b'x', "unknown filter");
        refused(|bytes| bytes[18] = 0x7f, "error rate");
        refused(|bytes| bytes[26] = 0x7f, "partitions in");
        refused(|bytes| bytes.push(0), "trailing");
        refused(|bytes| *bytes.last_mut().expect("a row") = b'b', "order");
        refused(|bytes| bytes[30..38].fill(0), "empty partition");
    }

    #[test]
    fn partition_names_sort_by_number() {
        let names: Vec<_> = [0, 1, 9, 10, 12_345_678].map(partition_name).into();
        assert!(names.is_sorted() && names.iter().all(|name| is_filter_name(name.as_bytes())));
        assert_eq!(names[1], "filter.row.00000001");
        assert!(is_filter_name(b"filter.row") && is_filter_name(FILTER_INDEX_NAME.as_bytes()));
        assert!(!is_filter_name(b"filter.rows") && !is_filter_name(b"filter.ro"));
    }
}
