//! The markers of a write-ahead log that name store files.
//!
//! A marker is a cell of the family `METAFAMILY`, whose value is a message of HBase's `WAL.proto`:
//!
//! | qualifier                           | message                 | names                                |
//! |-------------------------------------|-------------------------|--------------------------------------|
//! | `HBASE::FLUSH`                      | `FlushDescriptor`       | the files written, if committed      |
//! | `HBASE::BULK_LOAD`                  | `BulkLoadDescriptor`    | the files loaded                     |
//! | `HBASE::COMPACTION`                 | `CompactionDescriptor`  | the files read and the files written |
//! | `HBASE::REGION_EVENT::REGION_OPEN`  | `RegionEventDescriptor` | all files of the region              |
//!
//! The marker for the closing of a region names no files.

use std::collections::BTreeMap;

use prost::Message;
use sstable::Cell;

use super::entry::is_marker;

/// The names of store files, by family.
pub(crate) type FilesByFamily = BTreeMap<Vec<u8>, Vec<String>>;

/// An event of a region that names store files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Marker {
    /// A flush wrote files.
    Flush(FilesByFamily),
    /// A bulk load added files.
    BulkLoad(FilesByFamily),
    /// A compaction replaced files by others.
    Compaction { region: Vec<u8>, family: Vec<u8>, inputs: Vec<String>, outputs: Vec<String> },
    /// The region was opened, with these files.
    Open(FilesByFamily),
}

/// The action of a `FlushDescriptor` for files that the region has from then on.
const COMMIT_FLUSH: i32 = 1;

#[derive(Clone, PartialEq, Message)]
struct CompactionMessage {
    /// The encoded name of the region.
    #[prost(bytes = "vec", optional, tag = "2")]
    region: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "3")]
    family: Option<Vec<u8>>,
    #[prost(string, repeated, tag = "4")]
    inputs: Vec<String>,
    #[prost(string, repeated, tag = "5")]
    outputs: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct FlushMessage {
    #[prost(int32, optional, tag = "1")]
    action: Option<i32>,
    #[prost(message, repeated, tag = "5")]
    stores: Vec<StoreMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct BulkLoadMessage {
    #[prost(message, repeated, tag = "3")]
    stores: Vec<StoreMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct RegionEventMessage {
    #[prost(message, repeated, tag = "5")]
    stores: Vec<StoreMessage>,
}

/// The messages `StoreDescriptor` and `StoreFlushDescriptor`.
#[derive(Clone, PartialEq, Message)]
struct StoreMessage {
    #[prost(bytes = "vec", optional, tag = "1")]
    family: Option<Vec<u8>>,
    #[prost(string, repeated, tag = "3")]
    files: Vec<String>,
}

impl Marker {
    /// Parses a cell; `None` if it is no marker that names store files.
    pub(crate) fn parse(cell: &Cell) -> Option<Self> {
        if !is_marker(cell) {
            return None;
        }
        let value = cell.as_ref().value;
        match cell.qualifier() {
            b"HBASE::FLUSH" => {
                let message = FlushMessage::decode(value).ok()?;
                let is_committed = message.action == Some(COMMIT_FLUSH);
                is_committed.then(|| Self::Flush(by_family(message.stores)))
            }
            b"HBASE::BULK_LOAD" => {
                let message = BulkLoadMessage::decode(value).ok()?;
                Some(Self::BulkLoad(by_family(message.stores)))
            }
            b"HBASE::COMPACTION" => {
                let CompactionMessage { region, family, inputs, outputs } =
                    CompactionMessage::decode(value).ok()?;
                Some(Self::Compaction { region: region?, family: family?, inputs, outputs })
            }
            b"HBASE::REGION_EVENT::REGION_OPEN" => {
                let message = RegionEventMessage::decode(value).ok()?;
                Some(Self::Open(by_family(message.stores)))
            }
            _ => None,
        }
    }
}

fn by_family(stores: Vec<StoreMessage>) -> FilesByFamily {
    let mut files = FilesByFamily::new();
    for store in stores {
        files.entry(store.family.unwrap_or_default()).or_default().extend(store.files);
    }
    files
}
