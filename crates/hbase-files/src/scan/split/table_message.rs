//! The table of a split, with its only region, as a protobuf message.
//!
//! The schema and the region have the messages that HBase writes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prost::Message;
use sstable::{FileName, Reference, SequenceId};

use crate::error::Error;
use crate::message::types::{
    BytesPair, FamilySchemaMessage, NameStringPair, RegionInfoMessage, TableNameMessage,
    TableSchemaMessage,
};
use crate::names::TableName;
use crate::table::logged_compactions::LoggedCompactions;
use crate::table::schema::is_family_name;
use crate::table::store_file::StorePlace;
use crate::table::{Family, Region, RegionInfo, RegionsBy, StoreFile, Table, TableSchema};
use crate::tree::FileTree;
use crate::tree::root_tree::RootTree;
use crate::warning::Warning;

/// The table of a split.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TableMessage {
    #[prost(string, tag = "1")]
    root: String,
    /// What describes the table.
    #[prost(string, tag = "2")]
    path: String,
    #[prost(message, optional, tag = "3")]
    schema: Option<TableSchemaMessage>,
    #[prost(message, optional, tag = "4")]
    region: Option<RegionInfoMessage>,
    #[prost(message, repeated, tag = "5")]
    families: Vec<FamilyMessage>,
    #[prost(uint64, optional, tag = "6")]
    last_opened: Option<u64>,
    #[prost(string, repeated, tag = "7")]
    recovered_edits: Vec<String>,
    #[prost(string, repeated, tag = "8")]
    logs: Vec<String>,
    #[prost(string, optional, tag = "9")]
    logs_missing: Option<String>,
    #[prost(string, optional, tag = "10")]
    old_logs: Option<String>,
    /// Zero for a snapshot, one for `hbase:meta`, two for key ranges.
    #[prost(uint32, tag = "11")]
    regions_by: u32,
    #[prost(message, repeated, tag = "12")]
    warnings: Vec<WarningMessage>,
    #[prost(message, repeated, tag = "13")]
    log_warnings: Vec<WarningMessage>,
    /// The logs that cannot be read, and may name compactions.
    #[prost(message, repeated, tag = "14")]
    unread_logs: Vec<WarningMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct WarningMessage {
    #[prost(string, tag = "1")]
    path: String,
    #[prost(string, tag = "2")]
    what: String,
}

#[derive(Clone, PartialEq, Message)]
struct FamilyMessage {
    #[prost(bytes = "vec", tag = "1")]
    name: Vec<u8>,
    #[prost(message, repeated, tag = "2")]
    files: Vec<FilesMessage>,
    #[prost(message, repeated, tag = "3")]
    recovered: Vec<FilesMessage>,
}

/// Files of one directory.
#[derive(Clone, PartialEq, Message)]
struct FilesMessage {
    #[prost(string, tag = "1")]
    table: String,
    #[prost(string, tag = "2")]
    region: String,
    #[prost(string, tag = "3")]
    directory: String,
    #[prost(string, tag = "4")]
    listed_in: String,
    #[prost(bool, tag = "5")]
    is_table: bool,
    #[prost(message, repeated, tag = "6")]
    files: Vec<FileMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct FileMessage {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(uint64, optional, tag = "2")]
    len: Option<u64>,
    #[prost(bytes = "vec", optional, tag = "3")]
    half: Option<Vec<u8>>,
    #[prost(string, optional, tag = "4")]
    path: Option<String>,
}

/// Returns a path as text; the error says that it is not UTF-8.
pub(super) fn text(path: &Path) -> Result<String, String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| format!("the path {} is not UTF-8", path.display()))
}

fn texts<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<Vec<String>, String> {
    paths.into_iter().map(|path| text(path)).collect()
}

impl TableMessage {
    /// Returns the message of a table with one region.
    pub(super) fn new(table: &Table) -> Result<Self, String> {
        let region = table.regions.first().expect("a split has one region");
        let warnings = |warnings: &[Warning]| {
            warnings
                .iter()
                .map(|Warning { path, what }| {
                    Ok(WarningMessage { path: text(path)?, what: what.clone() })
                })
                .collect::<Result<Vec<_>, String>>()
        };
        Ok(Self {
            root: text(&table.root)?,
            path: text(&table.path)?,
            schema: Some(schema_message(&table.schema)),
            region: Some(region_message(&region.info)),
            families: region.families.iter().map(FamilyMessage::new).collect::<Result<_, _>>()?,
            last_opened: region.last_opened.map(SequenceId::get),
            recovered_edits: texts(&region.recovered_edits)?,
            logs: texts(&table.logs)?,
            logs_missing: table.logs_missing.as_deref().map(text).transpose()?,
            old_logs: table.old_logs.as_deref().map(text).transpose()?,
            regions_by: match table.regions_by {
                RegionsBy::Snapshot => 0,
                RegionsBy::Meta => 1,
                RegionsBy::KeyRanges => 2,
            },
            warnings: warnings(&table.warnings)?,
            log_warnings: warnings(&table.log_warnings)?,
            unread_logs: warnings(&table.compactions.unread())?,
        })
    }

    /// Returns the table. Reads no file.
    pub(super) fn into_table(self, tree: &Arc<dyn FileTree>) -> Result<Table, String> {
        let root = PathBuf::from(self.root);
        let schema_message = self.schema.ok_or("it has no schema")?;
        let schema = TableSchema::parse(&schema_message.encode_to_vec())?;
        let info_message = self.region.ok_or("it has no region")?;
        let info = RegionInfo::parse(&info_message.encode_to_vec())?;
        let families = self.families.into_iter().map(|family| family.into_family(&root));
        let region = Region {
            info,
            families: families.collect::<Result<_, _>>()?,
            recovered_edits: self.recovered_edits.into_iter().map(Into::into).collect(),
            last_opened: self.last_opened.map(SequenceId::new),
        };
        let warnings = |warnings: Vec<WarningMessage>| {
            warnings
                .into_iter()
                .map(|WarningMessage { path, what }| Warning { path: path.into(), what })
                .collect()
        };
        let inside: Arc<dyn FileTree> = Arc::new(RootTree::new(Arc::clone(tree), root.clone()));
        let logs: Vec<PathBuf> = self.logs.into_iter().map(Into::into).collect();
        let old_logs: Option<PathBuf> = self.old_logs.map(Into::into);
        let unread = self.unread_logs.into_iter();
        let compactions = LoggedCompactions::new(
            Arc::clone(&inside),
            schema.table.clone(),
            logs.clone(),
            old_logs.clone(),
            unread
                .map(|WarningMessage { path, what }| Error::damaged(path.as_ref(), what))
                .map(Arc::new)
                .collect(),
        );
        Ok(Table {
            name: schema.table.clone(),
            schema,
            regions: vec![region],
            mob: None,
            left_out: Vec::new(),
            problems: Vec::new(),
            log_problems: Vec::new(),
            mob_problems: Vec::new(),
            warnings: warnings(self.warnings),
            log_warnings: warnings(self.log_warnings),
            regions_by: match self.regions_by {
                0 => RegionsBy::Snapshot,
                1 => RegionsBy::Meta,
                2 => RegionsBy::KeyRanges,
                other => return Err(format!("its regions are by {other}")),
            },
            logs,
            logs_missing: self.logs_missing.map(Into::into),
            path: self.path.into(),
            lost_logs: Vec::new(),
            absent: Vec::new(),
            old_logs,
            compactions: Arc::new(compactions),
            tree: inside,
            root,
        })
    }
}

impl FamilyMessage {
    fn new(family: &Family) -> Result<Self, String> {
        Ok(Self {
            name: family.name.clone(),
            files: FilesMessage::of(&family.files)?,
            recovered: FilesMessage::of(&family.recovered_hfiles)?,
        })
    }

    fn into_family(self, root: &Path) -> Result<Family, String> {
        if !is_family_name(&self.name) {
            return Err(format!("it has a family of the name {}", cells::escape(&self.name)));
        }
        let family = String::from_utf8(self.name.clone()).map_err(|error| error.to_string())?;
        let (mut files, mut recovered_hfiles) = (Vec::new(), Vec::new());
        for message in self.files {
            message.add_to(&mut files, root, &family)?;
        }
        for message in self.recovered {
            message.add_to(&mut recovered_hfiles, root, &family)?;
        }
        Ok(Family { name: self.name, files, recovered_hfiles })
    }
}

impl FilesMessage {
    /// Returns the messages of files, one for neighbours in the same directory.
    fn of(files: &[StoreFile]) -> Result<Vec<Self>, String> {
        let mut messages = Vec::<Self>::new();
        let mut last: Option<&StorePlace> = None;
        for file in files {
            let place = &*file.place;
            if last.is_none_or(|last| {
                last.directory != place.directory || last.is_table != place.is_table
            }) {
                messages.push(Self::of_place(place)?);
            }
            last = Some(place);
            let message = messages.last_mut().expect("a message was pushed for the first file");
            message.files.push(FileMessage {
                name: file.name.to_string(),
                len: file.len,
                half: file.half.as_ref().map(Reference::to_bytes),
                path: file.path.as_deref().map(text).transpose()?,
            });
        }
        Ok(messages)
    }

    fn of_place(place: &StorePlace) -> Result<Self, String> {
        Ok(Self {
            table: place.table.to_string(),
            region: place.region.to_string(),
            directory: place.directory.clone(),
            listed_in: text(&place.listed_in)?,
            is_table: place.is_table,
            files: Vec::new(),
        })
    }

    fn add_to(self, files: &mut Vec<StoreFile>, root: &Path, family: &str) -> Result<(), String> {
        let Self { table, region, directory, listed_in, is_table, files: messages } = self;
        // It becomes a part of paths.
        let below = directory.strip_prefix(family);
        if !below.is_some_and(|below| matches!(below, "" | "/recovered.hfiles")) {
            return Err(format!("family {family} has the directory {directory:?}"));
        }
        let place = Arc::new(StorePlace {
            root: root.to_owned(),
            table: table.parse().map_err(|_| format!("{table:?} is not the name of a table"))?,
            region: region.parse().map_err(|_| format!("a region is named {region:?}"))?,
            family: family.to_owned(),
            directory,
            listed_in: listed_in.into(),
            is_table,
        });
        for FileMessage { name, len, half, path } in messages {
            let parsed = half.map(|bytes| Reference::parse(&bytes, &FileName::new(&*name)));
            files.push(StoreFile {
                half: parsed.transpose().map_err(|error| error.to_string())?,
                name: name.parse().map_err(|_| format!("{name:?} is no name of a store file"))?,
                len,
                path: path.map(Into::into),
                place: Arc::clone(&place),
            });
        }
        Ok(())
    }
}

fn table_name_message(name: &TableName) -> TableNameMessage {
    TableNameMessage {
        namespace: Some(name.namespace().as_bytes().to_vec()),
        qualifier: Some(name.name().as_bytes().to_vec()),
    }
}

fn region_message(info: &RegionInfo) -> RegionInfoMessage {
    RegionInfoMessage {
        region_id: Some(info.id),
        table: Some(table_name_message(&info.table)),
        start_key: Some(info.start_key.clone()),
        end_key: Some(info.end_key.clone()),
        offline: Some(info.offline),
        split: Some(info.split),
        replica_id: Some(info.replica_id),
        encoded_name: Some(info.encoded_name.to_string()),
    }
}

fn schema_message(schema: &TableSchema) -> TableSchemaMessage {
    let bytes = |(name, value): (&Vec<u8>, &Vec<u8>)| BytesPair {
        first: Some(name.clone()),
        second: Some(value.clone()),
    };
    let setting = |(name, value): (&String, &String)| NameStringPair {
        name: Some(name.clone()),
        value: Some(value.clone()),
    };
    TableSchemaMessage {
        table: Some(table_name_message(&schema.table)),
        attributes: schema.attributes.iter().map(bytes).collect(),
        families: schema
            .families
            .iter()
            .map(|family| FamilySchemaMessage {
                name: Some(family.name.clone()),
                attributes: family.attributes.iter().map(bytes).collect(),
                configuration: family.configuration.iter().map(setting).collect(),
            })
            .collect(),
        configuration: schema.configuration.iter().map(setting).collect(),
    }
}
