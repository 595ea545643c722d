//! A region's description: its table, its key range, and its state.
//!
//! HBase: `RegionInfo`, written by `ProtobufUtil.toRegionInfo` to `.regioninfo` files, snapshot
//! manifests and `hbase:meta`. The encoded name of a region, which names its directory, is the MD5 of
//! `TABLE,START_KEY,ID` in hex. Only the region of `hbase:meta` has another name.

use std::fmt::Write as _;
use std::path::Path;

use cells::RowsBetween;
use md5::{Digest, Md5};
use prost::Message;

use crate::error::{Error, Result};
use crate::message::file::{after_magic, delimited_after_magic, read_file};
use crate::message::types::{RegionInfoMessage, TableNameMessage};
use crate::names::{RegionName, TableName};
use crate::tree::FileTree;

/// The name of the file that describes a region.
pub(crate) const FILE: &str = ".regioninfo";
/// The maximum length of a region's description. Keys have at most 32 KiB.
const LEN_MAX: u64 = 1 << 20;
/// The start key of the region that holds a table's MOB files. HBase: `MobConstants`.
const MOB_START_KEY: &[u8] = b".mob";
/// The encoded name of the region of `hbase:meta`.
const META_REGION: &str = "1588230740";

/// A region's description, as `.regioninfo`, a snapshot or `hbase:meta` has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RegionInfo {
    /// The table.
    pub table: TableName,
    /// The region id: when the region was made, in milliseconds since 1970.
    pub id: u64,
    /// The smallest row that the region can have; empty for the first region.
    pub start_key: Vec<u8>,
    /// The smallest row after the region; empty for the last region.
    pub end_key: Vec<u8>,
    /// Whether the region is offline, as a split parent is.
    pub offline: bool,
    /// Whether the region has been split.
    pub split: bool,
    /// The number of the replica; zero for the region itself, which alone has files.
    pub replica_id: i32,
    /// The encoded name, which names the region's directory.
    pub encoded_name: RegionName,
}

impl RegionInfo {
    /// Returns whether a row is in the key range of the region.
    pub(crate) fn contains_row(&self, row: &[u8]) -> bool {
        row >= &self.start_key[..] && (self.end_key.is_empty() || row < &self.end_key[..])
    }

    /// Returns whether the region has been split into daughters, which have its cells.
    pub(crate) const fn is_split_parent(&self) -> bool {
        self.offline && self.split
    }

    /// Returns whether this is the region that stands for a table's MOB files.
    pub(crate) fn is_mob(&self) -> bool {
        self.start_key == MOB_START_KEY && self.id == 0
    }

    /// Returns the region that stands for the MOB files of a table. It has no `.regioninfo`.
    pub(crate) fn of_mob_files(table: &TableName) -> Self {
        Self {
            table: table.clone(),
            id: 0,
            start_key: MOB_START_KEY.to_vec(),
            end_key: Vec::new(),
            offline: false,
            split: false,
            replica_id: 0,
            encoded_name: Self::mob_region_name(table),
        }
    }

    /// Returns the only region of `hbase:meta`, which is the same in each root directory, if the table
    /// and the name are those.
    pub(crate) fn of_meta(table: &TableName, name: &RegionName) -> Option<Self> {
        let is_it = table.is_meta() && name.as_str() == META_REGION;
        let encoded_name = name.clone();
        is_it.then(|| Self {
            id: 1,
            start_key: Vec::new(),
            encoded_name,
            ..Self::of_mob_files(table)
        })
    }

    /// Returns the description of the region of this name, if it was merged from these regions.
    ///
    /// A merged region has the rows of its parents, and an id after theirs. HBase:
    /// `MergeTableRegionsProcedure.createMergedRegionInfo`.
    pub(crate) fn of_merged(name: &RegionName, parents: &[Self]) -> Option<Self> {
        let first = parents.iter().min_by(|one, other| one.start_key.cmp(&other.start_key))?;
        // The last region has no end key.
        let last = parents
            .iter()
            .max_by_key(|parent| (parent.end_key.is_empty(), parent.end_key.clone()))?;
        let newest = parents.iter().map(|parent| parent.id).max()?;
        let merged = Self {
            id: newest.saturating_add(1),
            end_key: last.end_key.clone(),
            offline: false,
            split: false,
            encoded_name: name.clone(),
            ..first.clone()
        };
        (encoded_name(&merged.table, &merged.start_key, merged.id) == *name).then_some(merged)
    }

    /// Returns the encoded name of the region that stands for the MOB files of a table.
    pub(crate) fn mob_region_name(table: &TableName) -> RegionName {
        encoded_name(table, MOB_START_KEY, 0)
    }

    /// Returns the key range as text for people, as in "rows from a (inclusive) to b (exclusive)".
    pub fn rows(&self) -> RowsBetween {
        let [first, last] = [&self.start_key, &self.end_key]
            .map(|key| if key.is_empty() { None } else { Some(key.clone()) });
        RowsBetween { first, last }
    }

    /// Reads a `.regioninfo` file.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the bytes are no description, [`Error::Io`] if they cannot be read.
    pub(crate) fn read(tree: &dyn FileTree, path: &Path) -> Result<Self> {
        let bytes = read_file(tree, path, LEN_MAX)?;
        delimited_after_magic(&bytes).and_then(Self::parse).map_err(|what| {
            Error::damaged(path, format!("damaged description of a region: {what}"))
        })
    }

    /// Parses a value of `hbase:meta`, which has the magic and no length.
    pub(crate) fn parse_meta_value(value: &[u8]) -> Result<Self, String> {
        after_magic(value).and_then(Self::parse)
    }

    /// Parses a message.
    pub(crate) fn parse(message: &[u8]) -> Result<Self, String> {
        let decoded = RegionInfoMessage::decode(message)
            .map_err(|_| "the description of a region cannot be parsed".to_owned())?;
        let stated = decoded.table.ok_or("a region without a table")?;
        let table = table_name(&stated)?;
        let id = decoded.region_id.ok_or("a region without an id")?;
        let start_key = decoded.start_key.unwrap_or_default();
        let end_key = decoded.end_key.unwrap_or_default();
        if !end_key.is_empty() && start_key >= end_key {
            return Err("the start key of a region is not less than its end key".to_owned());
        }
        let encoded_name = match decoded.encoded_name {
            Some(name) => name.parse().map_err(|_| format!("a region is named {name:?}"))?,
            None => encoded_name(&table, &start_key, id),
        };
        Ok(Self {
            table,
            id,
            start_key,
            end_key,
            offline: decoded.offline.unwrap_or_default(),
            split: decoded.split.unwrap_or_default(),
            replica_id: decoded.replica_id.unwrap_or_default(),
            encoded_name,
        })
    }
}

/// Returns the name of a table of a message.
pub(crate) fn table_name(message: &TableNameMessage) -> Result<TableName, String> {
    let [of_namespace, of_table] = [&message.namespace, &message.qualifier]
        .map(|bytes| std::str::from_utf8(bytes.as_deref().unwrap_or_default()));
    let (Ok(namespace), Ok(name)) = (of_namespace, of_table) else {
        return Err("the name of a table is not UTF-8".to_owned());
    };
    let known = Some(namespace).filter(|namespace| !matches!(*namespace, "" | "default"));
    TableName::new(known, name).map_err(|_| format!("{name:?} is not the name of a table"))
}

/// Returns the encoded name of a region, which names its directory.
fn encoded_name(table: &TableName, start_key: &[u8], id: u64) -> RegionName {
    let mut digest = Md5::new();
    digest.update(format!("{table},"));
    digest.update(start_key);
    digest.update(format!(",{id}"));
    let mut text = String::with_capacity(32);
    if table.namespace() == "hbase" && table.name() == "meta" {
        text.push_str(META_REGION);
    } else {
        for byte in digest.finalize() {
            let _ = write!(text, "{byte:02x}"); // A string takes everything.
        }
    }
    RegionName::of_digits(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merged_region_has_the_rows_of_its_parents_and_a_later_id() {
        let region = |start_key: &str, end_key: &str, id: u64| {
            let table: TableName = "m".parse().unwrap();
            RegionInfo {
                id,
                start_key: start_key.into(),
                end_key: end_key.into(),
                encoded_name: encoded_name(&table, start_key.as_bytes(), id),
                ..RegionInfo::of_mob_files(&table)
            }
        };
        let cases =
            [("", "k", "k", "", 7, 9), ("b", "d", "d", "f", 9, 7), ("b", "d", "d", "", 8, 8)];
        for (start, middle, next, end, one, other) in cases {
            let parents = [region(next, end, other), region(start, middle, one)];
            let merged = region(start, end, one.max(other) + 1);
            let found = RegionInfo::of_merged(&merged.encoded_name, &parents);
            assert_eq!(found.as_ref(), Some(&merged));
            assert_eq!(RegionInfo::of_merged(&parents[0].encoded_name, &parents), None);
        }
    }
}
