//! The regions, families and store files of a table, as `info` and `ls` report them.

use std::collections::{BTreeMap, BTreeSet};

use cells::escape;
use hbase_files::{
    FamilySchema, LeftOut, LeftOutReason, Region, RegionsBy, StoreFile, StoreFileName, Table,
};
use serde::Serialize;
use sstable::Half;

/// How many store files there are, by kind, and the length of their HFiles.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct FileCounts {
    pub(super) hfiles: u64,
    pub(super) links: u64,
    pub(super) references: u64,
    /// Of the HFiles that are there; each counts once.
    pub(super) bytes: u64,
}

impl FileCounts {
    /// Counts the store files of some regions.
    pub(super) fn of<'t>(table: &Table, regions: impl Iterator<Item = &'t Region>) -> Self {
        let mut counts = Self::default();
        let mut seen = BTreeSet::new();
        for file in regions.flat_map(Region::files) {
            match &file.name {
                StoreFileName::HFile(_) | StoreFileName::Mob(_) => counts.hfiles += 1,
                StoreFileName::Link(_) => counts.links += 1,
                StoreFileName::Reference(_) => counts.references += 1,
            }
            if seen.insert(file.hfile_path()) {
                counts.bytes += file.hfile_len(&**table.tree()).unwrap_or_default();
            }
        }
        counts
    }

    /// Counts the store files of a table, MOB files included.
    pub(super) fn of_table(table: &Table) -> Self {
        Self::of(table, table.regions.iter().chain(&table.mob))
    }

    /// Returns the number of store files of all kinds.
    pub(super) const fn all(&self) -> u64 {
        self.hfiles + self.links + self.references
    }
}

#[derive(Serialize)]
pub(super) struct FamilyLine {
    pub(super) family: String,
    pub(super) attributes: BTreeMap<String, String>,
}

impl FamilyLine {
    pub(super) fn new(schema: &FamilySchema) -> Self {
        let mut attributes = BTreeMap::new();
        for (name, value) in &schema.attributes {
            attributes.insert(escape(name).to_string(), escape(value).to_string());
        }
        Self { family: escape(&schema.name).to_string(), attributes }
    }

    /// Returns the attributes that decide what a read shows, and the format of the files.
    pub(super) fn text(&self) -> String {
        /// The attributes, with the values that are not shown.
        const SHOWN: [(&str, &[&str]); 9] = [
            ("VERSIONS", &[]),
            ("MIN_VERSIONS", &["0"]),
            ("TTL", &["2147483647", "FOREVER"]),
            ("KEEP_DELETED_CELLS", &["FALSE"]),
            ("BLOOMFILTER", &[]),
            ("COMPRESSION", &["NONE"]),
            ("DATA_BLOCK_ENCODING", &["NONE"]),
            ("IS_MOB", &["false"]),
            ("NEW_VERSION_BEHAVIOR", &["false"]),
        ];
        let shown: Vec<String> = SHOWN
            .iter()
            .filter_map(|(name, defaults)| {
                let value = self.attributes.get(*name)?;
                (!defaults.contains(&&**value)).then(|| format!("{name} {value}"))
            })
            .collect();
        shown.join(", ")
    }
}

#[derive(Serialize)]
pub(super) struct RegionLine {
    pub(super) region: String,
    id: u64,
    pub(super) start_key: String,
    pub(super) end_key: String,
    #[serde(flatten)]
    pub(super) files: FileCounts,
    families: Vec<FamilyFiles>,
    pub(super) recovered_edits: Vec<String>,
    /// The HFiles to which HBase has split logs, below the directory of the table.
    pub(super) recovered_hfiles: Vec<String>,
}

#[derive(Serialize)]
struct FamilyFiles {
    family: String,
    files: Vec<FileLine>,
}

#[derive(Serialize)]
struct FileLine {
    name: String,
    /// Of the HFile; `null` if it is not there.
    size: Option<u64>,
    /// `top` or `bottom`, as HBase calls the halves, for a reference.
    half: Option<&'static str>,
    split_row: Option<String>,
}

impl RegionLine {
    pub(super) fn new(table: &Table, region: &Region) -> Self {
        let logs = region.recovered_edits.iter();
        Self {
            region: region.info.encoded_name.to_string(),
            id: region.info.id,
            start_key: escape(&region.info.start_key).to_string(),
            end_key: escape(&region.info.end_key).to_string(),
            files: FileCounts::of(table, std::iter::once(region)),
            families: region
                .families
                .iter()
                .map(|family| FamilyFiles {
                    family: escape(&family.name).to_string(),
                    files: family.files.iter().map(|file| FileLine::new(table, file)).collect(),
                })
                .collect(),
            recovered_edits: logs.map(|path| path.display().to_string()).collect(),
            recovered_hfiles: region.recovered_hfiles().map(StoreFile::short_path).collect(),
        }
    }
}

impl FileLine {
    fn new(table: &Table, file: &StoreFile) -> Self {
        let half = match (&file.half, &file.name) {
            (None, StoreFileName::Reference(_)) => {
                file.locate(&**table.tree()).ok().and_then(|location| location.half)
            }
            (half, _) => half.clone(),
        };
        Self {
            name: file.name.to_string(),
            size: file.hfile_len(&**table.tree()),
            half: half.as_ref().map(|half| match half.half() {
                Half::Top => "top",
                Half::Bottom => "bottom",
            }),
            split_row: half.as_ref().map(|half| escape(half.split_key().row).to_string()),
        }
    }
}

#[derive(Serialize)]
pub(super) struct LeftOutLine {
    pub(super) reason: &'static str,
    /// The reason as text, for the report that people read.
    #[serde(skip)]
    pub(super) text: &'static str,
    #[serde(flatten)]
    pub(super) region: RegionLine,
}

impl LeftOutLine {
    pub(super) fn new(table: &Table, left_out: &LeftOut) -> Self {
        let reason = match left_out.reason {
            LeftOutReason::SplitParent => "split_parent",
            LeftOutReason::Replaced => "replaced",
            LeftOutReason::NotInMeta => "not_in_meta",
            LeftOutReason::Replica => "replica",
            _ => "other",
        };
        let region = RegionLine::new(table, &left_out.region);
        Self { reason, text: left_out.reason.description(), region }
    }
}

/// Returns how the regions of a table were chosen, as JSON has it.
pub(super) const fn regions_by_text(by: RegionsBy) -> &'static str {
    match by {
        RegionsBy::Snapshot => "snapshot",
        RegionsBy::Meta => "hbase:meta",
        _ => "key_ranges",
    }
}
