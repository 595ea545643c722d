//! Tags by type.

use std::collections::BTreeMap;

use serde::Serialize;
use sstable::CellRef;

/// The tags of all cells.
#[derive(Debug, Default)]
pub(super) struct Tags {
    cells: u64,
    bytes: u64,
    types: BTreeMap<u8, (u64, u64)>,
}

/// The tags in a report.
#[derive(Debug, Serialize)]
pub(super) struct TagsReport {
    /// Cells with at least one tag.
    pub(super) cells: u64,
    pub(super) tags: u64,
    /// Bytes of all tags with their lengths and types.
    pub(super) bytes: u64,
    pub(super) types: Vec<TagTypeReport>,
}

/// The tags of one type.
#[derive(Debug, Serialize)]
pub(super) struct TagTypeReport {
    pub(super) r#type: u8,
    /// HBase's name of the type; `null` for types of users.
    pub(super) name: Option<&'static str>,
    pub(super) tags: u64,
    /// Bytes of the tags' data, without their lengths and types.
    pub(super) bytes: u64,
}

impl Tags {
    /// Counts the tags of a cell.
    pub(super) fn add(&mut self, cell: &CellRef<'_>) {
        if cell.tags.is_empty() {
            return;
        }
        self.cells += 1;
        self.bytes += cell.tags.len() as u64;
        for (tag_type, data) in cell.tags() {
            let (tags, bytes) = self.types.entry(tag_type).or_default();
            *tags += 1;
            *bytes += data.len() as u64;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.cells += other.cells;
        self.bytes += other.bytes;
        for (tag_type, (tags, bytes)) in &other.types {
            let own = self.types.entry(*tag_type).or_default();
            own.0 += tags;
            own.1 += bytes;
        }
    }

    pub(super) fn report(&self) -> TagsReport {
        TagsReport {
            cells: self.cells,
            tags: self.types.values().map(|(tags, _)| tags).sum(),
            bytes: self.bytes,
            types: self
                .types
                .iter()
                .map(|(&tag_type, &(tags, bytes))| TagTypeReport {
                    r#type: tag_type,
                    name: name(tag_type),
                    tags,
                    bytes,
                })
                .collect(),
        }
    }
}

/// Returns the name of a type of HBase's `TagType`.
const fn name(tag_type: u8) -> Option<&'static str> {
    Some(match tag_type {
        1 => "ACL",
        2 => "VISIBILITY",
        4 => "VISIBILITY_EXP_SERIALIZATION_FORMAT",
        5 => "MOB_REFERENCE",
        6 => "MOB_TABLE_NAME",
        7 => "STRING_VIS",
        8 => "TTL",
        _ => return None,
    })
}
