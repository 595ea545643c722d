//! A table's schema: its families with their attributes.
//!
//! HBase keeps it as the message `TableSchema`, in snapshot manifests and in `.tabledesc` files:
//!
//! ```text
//! TABLE/.tabledesc/.tableinfo.N.LEN     PBUF, the message; the file with the greatest N counts
//! ```
//!
//! N has ten digits; LEN is the length of the file, because a message that is cut between two fields
//! is a message too. A crash can leave a file that is shorter, beside the one before: HBase takes that.
//! Versions before 2.5 write no LEN. Attributes are texts, such as VERSIONS = 3. HBase: `FSTableDescriptors`, `ColumnFamilyDescriptorBuilder`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cells::{KeepDeletedCells, Retention, check_family_name, show_count, show_number};
use prost::Message;
use sstable::{BloomType, Compression, DataBlockEncoding, WriterOptions};

use crate::error::{Error, Result};
use crate::message::file::{after_magic, read_file};
use crate::message::types::{BytesPair, FamilySchemaMessage, NameStringPair, TableSchemaMessage};
use crate::names::TableName;
use crate::table::region_info::table_name;
use crate::tree::{FileTree, Item, ItemKind};
use crate::warning::Warning;

/// The name of the directory with the schemas of a table.
pub(crate) const DIRECTORY: &str = ".tabledesc";
/// The maximum length of a schema.
pub(crate) const LEN_MAX: u64 = 4 << 20;
/// The TTL of HBase that means that cells do not expire.
const FOREVER: i64 = 0x7fff_ffff;
/// The default of `MOB_THRESHOLD`.
const MOB_THRESHOLD: u64 = 100 << 10;

/// A table's schema.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSchema {
    /// The name of the table.
    pub table: TableName,
    /// The attributes, such as `READONLY`. HBase writes all of them as text.
    pub attributes: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The families, by ascending name.
    pub families: Vec<FamilySchema>,
    /// Settings of the table, such as `hbase.store.file-tracker.impl`.
    pub configuration: BTreeMap<String, String>,
}

/// A family's schema.
#[derive(Clone, Debug, PartialEq)]
pub struct FamilySchema {
    /// The name.
    pub name: Vec<u8>,
    /// The attributes, such as `VERSIONS`. HBase writes all of them as text.
    pub attributes: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Settings of the family.
    pub configuration: BTreeMap<String, String>,
    retention: Retention,
    mob_threshold: Option<u64>,
    new_version_behavior: bool,
}

impl TableSchema {
    /// Returns the schema of a family.
    pub fn family(&self, name: &[u8]) -> Option<&FamilySchema> {
        let index = self.families.binary_search_by(|family| family.name[..].cmp(name)).ok()?;
        self.families.get(index)
    }

    /// Reads the newest schema in the directory of a table or of a snapshot, and returns its number.
    ///
    /// The number is 1 unless the table was altered.
    ///
    /// Of several files, the last one by name counts, as for HBase. Damaged ones are passed over if
    /// an older one is sound, with a warning.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] if there is none, [`Error::Damaged`] if all are damaged, [`Error::Io`] if one
    /// cannot be read.
    pub(crate) fn read_newest(
        tree: &dyn FileTree,
        directory: &Path,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Self, u64)> {
        let descriptions = directory.join(DIRECTORY);
        let mut damaged: Vec<(PathBuf, String)> = Vec::new();
        for item in description_files(tree, &descriptions)? {
            let Some(name) = item.name().and_then(DescriptionName::parse) else {
                let what = "is not named as a description of a table, .tableinfo.N.LEN: HBase refuses the table, and this read passes it over";
                warnings.push(Warning::new(item.path, what));
                continue;
            };
            match Self::read(tree, &item.path, name.len, warnings) {
                Ok(schema) => {
                    let older = item.path.file_name().unwrap_or_default().display();
                    warnings.extend(damaged.into_iter().map(|(path, what)| {
                        Warning::new(
                            path,
                            format!(
                                "{what}; HBase takes the one before, {older}, and so does this read"
                            ),
                        )
                    }));
                    return Ok((schema, name.number));
                }
                Err(Error::Damaged { path, what }) => damaged.push((path, what)),
                Err(error) => return Err(error),
            }
        }
        Err(match damaged.into_iter().next() {
            Some((path, what)) => Error::Damaged { path, what },
            None => Error::Missing {
                path: descriptions.clone(),
                what: "the description of the table, .tableinfo.N,".to_owned(),
                searched: vec![descriptions],
            },
        })
    }

    /// Reads a file of `len` bytes, if its name has the length.
    fn read(
        tree: &dyn FileTree,
        path: &Path,
        len: Option<usize>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self> {
        let bytes = read_file(tree, path, LEN_MAX)?;
        let damaged =
            |what| Error::damaged(path, format!("damaged description of a table: {what}"));
        let end = len.unwrap_or(bytes.len());
        let [found_len, named_len] =
            [bytes.len(), end].map(|len| u64::try_from(len).unwrap_or(u64::MAX));
        let (found, named) = (show_number(found_len, "byte"), show_count(named_len));
        let lengths = format!("has {found}, and {named} by its name");
        let whole =
            bytes.get(..end).ok_or_else(|| damaged(format!("{lengths}: it was cut off")))?;
        let schema = after_magic(whole).and_then(Self::parse).map_err(damaged)?;
        if bytes.len() > end {
            let what = format!("{lengths}: HBase reads those, and so does this read");
            warnings.push(Warning::new(path, what));
        }
        Ok(schema)
    }

    /// Parses a message.
    pub(crate) fn parse(message: &[u8]) -> Result<Self, String> {
        let decoded = TableSchemaMessage::decode(message)
            .map_err(|_| "the schema cannot be parsed".to_owned())?;
        let table = decoded.table.ok_or("the schema does not name its table")?;
        let parsed = decoded.families.into_iter().map(FamilySchema::new);
        let mut families = parsed.collect::<Result<Vec<_>, String>>()?;
        families.sort_by(|one, other| one.name.cmp(&other.name));
        if families.windows(2).any(|pair| matches!(pair, [one, other] if one.name == other.name)) {
            return Err("the schema has a family twice".to_owned());
        }
        Ok(Self {
            table: table_name(&table)?,
            attributes: attributes(decoded.attributes),
            families,
            configuration: configuration(decoded.configuration),
        })
    }
}

impl FamilySchema {
    pub(super) fn new(message: FamilySchemaMessage) -> Result<Self, String> {
        let name = message.name.unwrap_or_default();
        if !is_family_name(&name) {
            return Err(format!(
                "{:?} is not the name of a family",
                cells::escape(&name).to_string()
            ));
        }
        let texts = Texts {
            family: &name,
            attributes: attributes(message.attributes),
            configuration: configuration(message.configuration),
        };
        let retention = texts.retention()?;
        let is_mob = texts.parsed("IS_MOB", |text| Some(text.eq_ignore_ascii_case("true")))?;
        let threshold = texts.parsed("MOB_THRESHOLD", |text| text.parse().ok())?;
        let behavior =
            texts.parsed("NEW_VERSION_BEHAVIOR", |text| Some(text.eq_ignore_ascii_case("true")))?;
        let Texts { attributes, configuration, .. } = texts;
        Ok(Self {
            attributes,
            configuration,
            retention,
            mob_threshold: is_mob
                .is_some_and(|is_mob| is_mob)
                .then(|| threshold.unwrap_or(MOB_THRESHOLD)),
            new_version_behavior: behavior.unwrap_or_default(),
            name,
        })
    }

    /// Returns an attribute as text; `None` if it is absent or not UTF-8.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.attributes.get(name.as_bytes())?).ok()
    }

    /// Returns the attributes that decide what a read shows. Absent ones have HBase's defaults.
    pub const fn retention(&self) -> Retention {
        self.retention
    }

    /// Returns how files of the family are written.
    ///
    /// Absent attributes have HBase's defaults. So do a codec, an encoding and a Bloom type that this project does
    /// not write, for example because another release of HBase has another name for it.
    pub fn writer_options(&self) -> WriterOptions {
        let known = |name| self.attribute(name).map(str::to_ascii_uppercase);
        let mut options = WriterOptions::default();
        if let Some(size) = self.attribute("BLOCKSIZE").and_then(|size| size.parse().ok()) {
            options = options.block_size(size);
        }
        let prefix_len = self.configuration.get(PREFIX_LENGTH).and_then(|text| text.parse().ok());
        let bloom_type = known("BLOOMFILTER")
            .and_then(|name| BloomType::from_name(&name, prefix_len.unwrap_or_default()));
        if let Some(bloom_type) = bloom_type {
            options = options.bloom_type(bloom_type);
        }
        let compression = known("COMPRESSION").and_then(|name| Compression::from_name(&name));
        if let Some(compression) = compression.filter(|codec| codec.is_supported()) {
            options = options.compression(compression);
        }
        let encoding = known("DATA_BLOCK_ENCODING");
        match encoding.and_then(|name| DataBlockEncoding::from_name(&name)) {
            Some(encoding) => options.data_block_encoding(encoding),
            None => options,
        }
    }

    /// Returns whether large values of the family are kept in MOB files.
    pub(crate) const fn is_mob(&self) -> bool {
        self.mob_threshold.is_some()
    }

    /// Returns whether the family has `NEW_VERSION_BEHAVIOR`: markers and versions count in the order
    /// of writing, and not of timestamps.
    pub(crate) const fn has_new_version_behavior(&self) -> bool {
        self.new_version_behavior
    }
}

/// The attributes of a family, for parsing.
struct Texts<'f> {
    family: &'f [u8],
    attributes: BTreeMap<Vec<u8>, Vec<u8>>,
    configuration: BTreeMap<String, String>,
}

impl Texts<'_> {
    /// Parses an attribute; `None` if it is absent.
    fn parsed<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(value) = self.attributes.get(name.as_bytes()) else { return Ok(None) };
        let parsed = std::str::from_utf8(value).ok().and_then(parse);
        parsed.map(Some).ok_or_else(|| {
            format!("family {}: {name} is {}", cells::escape(self.family), cells::escape(value))
        })
    }

    fn retention(&self) -> Result<Retention, String> {
        let limit =
            |text: &str| text.parse::<i32>().ok().and_then(|number| u32::try_from(number).ok());
        // Refused if it is no number, as by HBase, though a read does not need it.
        self.parsed("BLOCKSIZE", limit)?;
        let defaults = Retention::default();
        Ok(Retention {
            versions: self.parsed("VERSIONS", limit)?.unwrap_or(defaults.versions),
            min_versions: self.parsed("MIN_VERSIONS", limit)?.unwrap_or(defaults.min_versions),
            ttl: self.parsed("TTL", ttl_seconds)?.and_then(limited),
            keep_deleted_cells: self
                .parsed("KEEP_DELETED_CELLS", keep_deleted_cells)?
                .unwrap_or(defaults.keep_deleted_cells),
        })
    }
}

/// The setting with the prefix length of the Bloom filter `ROWPREFIX_FIXED_LENGTH`.
pub(super) const PREFIX_LENGTH: &str = "RowPrefixBloomFilter.prefix_length";

/// Parses a TTL in seconds. HBase writes 2147483647 or FOREVER, in old versions −1, for none.
fn ttl_seconds(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("FOREVER") {
        return Some(FOREVER);
    }
    text.parse::<i32>().ok().map(i64::from).filter(|seconds| *seconds >= -1)
}

/// Returns the TTL if cells expire.
fn limited(seconds: i64) -> Option<Duration> {
    if seconds == FOREVER {
        return None;
    }
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

fn keep_deleted_cells(text: &str) -> Option<KeepDeletedCells> {
    Some(match &*text.to_ascii_uppercase() {
        "FALSE" => KeepDeletedCells::False,
        "TRUE" => KeepDeletedCells::True,
        "TTL" => KeepDeletedCells::Ttl,
        _ => return None,
    })
}

/// Returns whether HBase allows the name of a family, and it is UTF-8 as the name of a directory.
pub(crate) fn is_family_name(name: &[u8]) -> bool {
    check_family_name(name).is_ok() && std::str::from_utf8(name).is_ok()
}

fn attributes(pairs: Vec<BytesPair>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    pairs
        .into_iter()
        .map(|pair| (pair.first.unwrap_or_default(), pair.second.unwrap_or_default()))
        .collect()
}

fn configuration(pairs: Vec<NameStringPair>) -> BTreeMap<String, String> {
    pairs
        .into_iter()
        .map(|pair| (pair.name.unwrap_or_default(), pair.value.unwrap_or_default()))
        .collect()
}

/// Returns the files with a table's description, the newest first.
fn description_files(tree: &dyn FileTree, directory: &Path) -> Result<Vec<Item>> {
    let kind = tree.find(directory).map_err(Error::io(directory, "find it"))?;
    if kind != Some(ItemKind::Directory) {
        return Ok(Vec::new());
    }
    let mut items = tree.list(directory).map_err(Error::io(directory, "list it"))?;
    items.retain(|item| {
        matches!(item.kind, ItemKind::File { .. } | ItemKind::Other)
            && item.name().is_some_and(|name| name.starts_with(FILE_PREFIX))
    });
    items.sort_by(|one, other| other.path.cmp(&one.path));
    Ok(items)
}

/// The start of the names of descriptions.
const FILE_PREFIX: &str = ".tableinfo";

/// What the name of a description says of it.
struct DescriptionName {
    /// The number; 0 if it has none.
    number: u64,
    /// The length of the file in bytes, if the name has it.
    len: Option<usize>,
}

impl DescriptionName {
    fn parse(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(FILE_PREFIX)?;
        if rest.is_empty() {
            return Some(Self { number: 0, len: None });
        }
        let mut parts = rest.strip_prefix('.')?.split('.');
        let number = parts.next()?.parse().ok()?;
        let len = parts.next().map(str::parse).transpose().ok()?;
        parts.next().is_none().then_some(Self { number, len: len.filter(|len| *len > 0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_description_has_a_number_and_mostly_a_length() {
        let parts = |name| {
            DescriptionName::parse(name).map(|DescriptionName { number, len }| (number, len))
        };
        assert_eq!(parts(".tableinfo"), Some((0, None)));
        assert_eq!(parts(".tableinfo.0000000007"), Some((7, None)));
        assert_eq!(parts(".tableinfo.0000000007.651"), Some((7, Some(651))));
        assert_eq!(parts(".tableinfo.0000000007.0"), Some((7, None)));
        for name in [".tableinfo.x", ".tableinfo.7.x", ".tableinfo.7.651.crc", ".tableinfo7"] {
            assert!(parts(name).is_none(), "{name}");
        }
    }
}
