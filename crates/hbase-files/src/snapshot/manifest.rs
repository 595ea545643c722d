//! The manifest of a snapshot, `data.manifest`: the regions of a table and their store files.
//!
//! | message                  | fields                                                         |
//! |--------------------------|----------------------------------------------------------------|
//! | `SnapshotDataManifest`   | `TableSchema` (1), `SnapshotRegionManifest` (2, repeated)      |
//! | `SnapshotRegionManifest` | version (1), `RegionInfo` (2), `FamilyFiles` (3, repeated)     |
//! | `FamilyFiles`            | family (1), `StoreFile` (2, repeated)                          |
//! | `StoreFile`              | name (1), `Reference` (2), length of the HFile (3)             |
//!
//! The length of a reference or a link is the length of the HFile to which it leads. A manifest has no
//! checksum. The parser reads it field by field, so that it allocates memory only for checked
//! parts. It refuses unknown fields: otherwise a damaged field number could hide a file. HBase:
//! `SnapshotManifestV2`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prost::Message;
use sstable::{FileName, Reference};

use crate::message::fields::{Field, Fields, NotAField};
use crate::names::StoreFileName;
use crate::table::region_info::RegionInfo;
use crate::table::schema::{self, TableSchema, is_family_name};
use crate::table::store_file::StorePlace;
use crate::table::{Family, Region, StoreFile};

/// The name of the manifest.
pub(super) const FILE: &str = "data.manifest";
/// The start of the names of the manifests of single regions.
pub(super) const REGION_PREFIX: &str = "region-manifest.";
/// The maximum length of a manifest. HBase's default limit is 64 MiB.
pub(super) const LEN_MAX: u64 = 256 << 20;
/// The maximum number of regions in a manifest.
const REGIONS_MAX: usize = 1 << 20;
/// The maximum number of families of a region.
const FAMILIES_MAX: usize = 1 << 16;
/// The maximum number of store files in a manifest.
const FILES_MAX: usize = 1 << 22;

/// The message `StoreFile`.
#[derive(Clone, PartialEq, Message)]
struct FileMessage {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    /// The message `Reference`: the contents of a reference file, without the magic.
    #[prost(bytes = "vec", optional, tag = "2")]
    reference: Option<Vec<u8>>,
    #[prost(uint64, optional, tag = "3")]
    len: Option<u64>,
}

/// Parses manifests of one snapshot.
pub(super) struct ManifestParser<'p> {
    /// The root directory.
    pub(super) root: &'p Path,
    /// The file that is parsed, for errors.
    pub(super) path: PathBuf,
    files: usize,
}

impl<'p> ManifestParser<'p> {
    pub(super) const fn new(root: &'p Path, path: PathBuf) -> Self {
        Self { root, path, files: 0 }
    }

    /// Parses `data.manifest`.
    pub(super) fn parse(&mut self, bytes: &[u8]) -> Result<(TableSchema, Vec<Region>), String> {
        let (mut schema, mut regions) = (None, Vec::new());
        for field in Fields::new(bytes) {
            match field.map_err(cut)? {
                (1, Some(message)) if schema.is_none() => {
                    let len = u64::try_from(message.len()).unwrap_or(u64::MAX);
                    if len > schema::LEN_MAX {
                        return Err(format!("the schema of the table has {len} bytes"));
                    }
                    schema = Some(TableSchema::parse(message)?);
                }
                (2, Some(message)) => {
                    if regions.len() == REGIONS_MAX {
                        return Err(format!("it has more than {REGIONS_MAX} regions"));
                    }
                    regions.push(self.parse_region(message)?);
                }
                field => return Err(unknown(field)),
            }
        }
        Ok((schema.ok_or("it has no schema of the table")?, regions))
    }

    /// Parses a message `SnapshotRegionManifest`.
    pub(super) fn parse_region(&mut self, bytes: &[u8]) -> Result<Region, String> {
        let (mut info, mut messages) = (None, Vec::new());
        for field in Fields::new(bytes) {
            match field.map_err(cut)? {
                (1, None) => {}
                (2, Some(message)) if info.is_none() => info = Some(RegionInfo::parse(message)?),
                (3, Some(message)) if messages.len() < FAMILIES_MAX => messages.push(message),
                field => return Err(unknown(field)),
            }
        }
        let description = info.ok_or("a region without a description")?;
        let parsed = messages.into_iter().map(|message| self.parse_family(message, &description));
        let families = parsed.collect::<Result<_, _>>()?;
        Ok(Region { info: description, families, recovered_edits: Vec::new(), last_opened: None })
    }

    fn parse_family(&mut self, bytes: &[u8], info: &RegionInfo) -> Result<Family, String> {
        let (mut stated_name, mut messages) = (None, Vec::new());
        for field in Fields::new(bytes) {
            match field.map_err(cut)? {
                (1, Some(bytes)) if stated_name.is_none() => stated_name = Some(bytes),
                (2, Some(message)) => {
                    self.files = self.files.saturating_add(1);
                    if self.files > FILES_MAX {
                        return Err(format!("it has more than {FILES_MAX} store files"));
                    }
                    messages.push(message);
                }
                field => return Err(unknown(field)),
            }
        }
        let name = stated_name.unwrap_or_default();
        if !is_family_name(name) {
            return Err(format!(
                "region {} has a family of the name {}",
                info.encoded_name,
                cells::escape(name)
            ));
        }
        let place = Arc::new(StorePlace {
            root: self.root.to_owned(),
            table: info.table.clone(),
            region: info.encoded_name.clone(),
            family: String::from_utf8_lossy(name).into_owned(),
            directory: String::from_utf8_lossy(name).into_owned(),
            listed_in: self.path.clone(),
            is_table: false,
        });
        let parsed = messages.into_iter().map(|message| parse_file(message, &place));
        let files = parsed.collect::<Result<_, _>>()?;
        Ok(Family { name: name.to_owned(), files, recovered_hfiles: Vec::new() })
    }
}

fn parse_file(bytes: &[u8], place: &Arc<StorePlace>) -> Result<StoreFile, String> {
    let StorePlace { region, family, .. } = &**place;
    let of = || format!("of family {family}, region {region}");
    let mut has_name = false;
    for field in Fields::new(bytes) {
        match field.map_err(cut)? {
            (1, Some(_)) if !has_name => has_name = true,
            (2, Some(_)) | (3, None) => {}
            field => return Err(unknown(field)),
        }
    }
    let message = FileMessage::decode(bytes)
        .map_err(|_| format!("a store file {} cannot be parsed", of()))?;
    let name_text = message.name.ok_or_else(|| format!("a store file {} has no name", of()))?;
    let name: StoreFileName = name_text
        .parse()
        .map_err(|_| format!("{name_text:?} {} is not the name of a store file", of()))?;
    let parsed = message.reference.map(|bytes| {
        Reference::parse(&[b"PBUF", &bytes[..]].concat(), &FileName::new(""))
            .map_err(|_| format!("the reference {name} {} cannot be parsed", of()))
    });
    let half = parsed.transpose()?;
    if matches!(name, StoreFileName::Reference(_)) != half.is_some() {
        return Err(format!("the half of {name} {} does not fit its name", of()));
    }
    Ok(StoreFile { name, len: message.len, half, path: None, place: place.clone() })
}

fn unknown((number, _): Field<'_>) -> String {
    format!("the field {number} is unknown, or there twice")
}

fn cut(_: NotAField) -> String {
    "it ends within a message, or is no message".to_owned()
}
