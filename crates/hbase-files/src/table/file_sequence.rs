//! The age of a store file: its sequence id, and the order of files of the same family.

use std::cmp::Reverse;

use sstable::{FileInfo, Half, SequenceId};

use crate::names::StoreFileName;
use crate::table::StoreFileReader;

/// The key by which HBase orders the files of a family, oldest first.
///
/// The sequence id, then the length (the longer file is older), the time of the bulk load, and the
/// name. HBase: `StoreFileComparators.SEQ_ID`.
type Age = (Option<SequenceId>, Reverse<u64>, u64, String);

/// The sequence ids of a store file and its cells, and its age.
///
/// Of cells with equal keys and sequence ids, HBase returns the cell of the newer file. Older files compare less.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct FileSequence {
    // First, because files are ordered by their age.
    age: Age,
    /// The sequence id up to which the writes of the family are in this file or in older ones.
    pub newest: Option<SequenceId>,
    /// The sequence id that replaces the sequence ids of the cells; `None` if the cells keep theirs.
    pub of_cells: Option<SequenceId>,
    /// Whether the file was bulk-loaded, or written for that.
    pub is_bulk_loaded: bool,
}

/// The key in the file info that HBase writes with the time of a bulk load.
const BULK_LOAD_TIME: &[u8] = FileInfo::BULKLOAD_TIMESTAMP;
/// The key in the file info of bulk-loaded files whose cells keep their sequence ids.
const KEEPS_SEQUENCE_IDS: &[u8] = b"SKIP_RESET_SEQ_ID";

impl FileSequence {
    /// Returns the sequence ids of an open file; the name is `None` if it is not one of HBase's.
    ///
    /// HBase: `HStoreFile.open`.
    pub fn of(name: Option<&StoreFileName>, reader: &StoreFileReader) -> Self {
        let info = reader.whole().file_info();
        let is_top = reader.half().is_some_and(|half| half.half() == Half::Top);
        let bulk_load_time = info.value(BULK_LOAD_TIME);
        let by_name = name.and_then(StoreFileName::bulk_load_sequence).map(SequenceId::new);
        let is_bulk_loaded = by_name.is_some() || bulk_load_time.is_some();
        let keeps = info.value(KEEPS_SEQUENCE_IDS).is_some_and(|value| value != [0]);
        // HBase adds one to a top half, which orders the two halves of a file in a merged region, and to a
        // bulk-loaded file that a compaction of MOB files wrote for cells of older files.
        let stated = by_name.or(info.sequence_id_max());
        let newest = stated.map(|own| later(later(own, is_top), is_bulk_loaded && keeps));
        let of_cells = (is_bulk_loaded && !keeps).then(|| newest.unwrap_or_default());
        let stated_time = bulk_load_time.and_then(|time| <[u8; 8]>::try_from(time).ok());
        let time = stated_time.map_or(u64::MAX, u64::from_be_bytes);
        let age = (
            newest,
            Reverse(reader.whole().len()),
            time,
            name.map(ToString::to_string).unwrap_or_default(),
        );
        Self { age, newest, of_cells, is_bulk_loaded }
    }
}

/// Returns the sequence id, or the next one if `is_later`.
fn later(sequence: SequenceId, is_later: bool) -> SequenceId {
    SequenceId::new(sequence.get().saturating_add(is_later.into()).min(SequenceId::MAX.get()))
}
