//! The description of a snapshot, `.snapshotinfo`: the bare message `SnapshotDescription`.

use std::path::Path;
use std::time::Duration;

use prost::Message;
use sstable::Timestamp;

use crate::error::{Error, Result};
use crate::message::file::read_file;
use crate::names::TableName;
use crate::tree::FileTree;

/// The name of the file.
pub(crate) const FILE: &str = ".snapshotinfo";
/// The maximum length of the file. It may have the permissions of a table.
const LEN_MAX: u64 = 16 << 20;

/// The description of a snapshot: its name, its table and when it was taken.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SnapshotDescription {
    /// The name.
    pub name: String,
    /// The table.
    pub table: TableName,
    /// When the snapshot was taken, in milliseconds since 1970.
    pub creation_time: Timestamp,
    /// Whether the memstores were flushed before.
    pub kind: SnapshotKind,
    /// The version of the layout: 0 for directories, 2 for a manifest.
    pub version: i32,
    /// The user who took the snapshot, if HBase knew.
    pub owner: Option<String>,
    /// The time after which HBase may delete the snapshot; `None` for never.
    pub ttl: Option<Duration>,
    /// The maximum length of a region's files before it splits, if the table sets it.
    pub max_file_size: Option<u64>,
}

/// How a snapshot was taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SnapshotKind {
    /// Of a disabled table.
    Disabled,
    /// After a flush.
    Flush,
    /// Without a flush: cells that were only in the memstore are not in the snapshot.
    SkipFlush,
}

/// The message `SnapshotDescription` of HBase's `Snapshot.proto`.
#[derive(Clone, PartialEq, Message)]
struct DescriptionMessage {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "2")]
    table: Option<String>,
    #[prost(int64, optional, tag = "3")]
    creation_time: Option<i64>,
    #[prost(int32, optional, tag = "4")]
    kind: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    version: Option<i32>,
    #[prost(string, optional, tag = "6")]
    owner: Option<String>,
    #[prost(int64, optional, tag = "8")]
    ttl: Option<i64>,
    #[prost(int64, optional, tag = "9")]
    max_file_size: Option<i64>,
}

impl SnapshotDescription {
    /// Reads the description in the directory of a snapshot.
    pub(crate) fn read(tree: &dyn FileTree, directory: &Path) -> Result<Self> {
        let path = directory.join(FILE);
        let bytes = read_file(tree, &path, LEN_MAX)?;
        Self::parse(&bytes).map_err(|what| {
            Error::damaged(&path, format!("damaged description of a snapshot: {what}"))
        })
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let message = DescriptionMessage::decode(bytes)
            .map_err(|_| "the message cannot be parsed".to_owned())?;
        let name = message.name.filter(|name| !name.is_empty()).ok_or("it has no name")?;
        let table = message.table.ok_or("it does not name the table")?;
        let creation_time = message.creation_time.ok_or("it has no creation time")?;
        let [ttl, max_file_size] = [message.ttl, message.max_file_size].map(|number| {
            number.and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0)
        });
        let kind = match message.kind {
            Some(0) => SnapshotKind::Disabled,
            Some(1) | None => SnapshotKind::Flush,
            Some(2) => SnapshotKind::SkipFlush,
            Some(kind) => return Err(format!("its type is {kind}")),
        };
        Ok(Self {
            name,
            table: table.parse().map_err(|_| format!("{table:?} is not the name of a table"))?,
            creation_time: Timestamp::new(creation_time),
            kind,
            version: message.version.unwrap_or_default(),
            owner: message.owner.filter(|owner| !owner.is_empty()),
            ttl: ttl.map(Duration::from_secs),
            max_file_size,
        })
    }

    /// Returns whether the TTL of the snapshot has passed, so that HBase may delete its files.
    pub fn expired(&self, now: Timestamp) -> bool {
        let millis = now.get().checked_sub(self.creation_time.get());
        let age = millis.and_then(|millis| u64::try_from(millis).ok()).map(Duration::from_millis);
        self.ttl.zip(age).is_some_and(|(ttl, age)| age > ttl)
    }
}

impl SnapshotKind {
    /// Returns HBase's name, such as `SKIPFLUSH`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disabled => "DISABLED",
            Self::Flush => "FLUSH",
            Self::SkipFlush => "SKIPFLUSH",
        }
    }
}
