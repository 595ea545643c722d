//! Which store file tracker a family has, by the settings in the schema of its table.
//!
//! HBase merges the settings of the server, the table and the family; the last one counts:
//!
//! | order | setting                                                          |
//! |------:|------------------------------------------------------------------|
//! |     1 | the configuration of the server, which is not in the root directory |
//! |     2 | the attributes of the table                                      |
//! |     3 | the configuration of the table, which old versions write         |
//! |     4 | the configuration of the family                                  |
//! |     5 | the attributes of the family                                     |
//!
//! While a table migrates, HBase reads the list of the source, and writes both. HBase:
//! `StoreUtils.createStoreConfiguration`, `StoreFileTrackerFactory`, `MigrationStoreFileTracker`.

use std::path::Path;

use crate::error::{Error, Result};
use crate::table::schema::TableSchema;

/// The setting that names the tracker.
const TRACKER: &str = "hbase.store.file-tracker.impl";
/// The setting that names the tracker that counts while a table migrates to another one.
const SOURCE: &str = "hbase.store.file-tracker.migration.src.impl";
/// The package of HBase's trackers, which may be named by their classes.
const PACKAGE: &str = "org.apache.hadoop.hbase.regionserver.storefiletracker.";

/// Returns whether HBase reads the list of a family; `None` if the schema of its table does not say so.
///
/// # Errors
///
/// [`Error::Unsupported`] for a tracker that is none of HBase's.
pub(crate) fn reads_list(
    schema: &TableSchema,
    family: &[u8],
    directory: &Path,
) -> Result<Option<bool>> {
    let found = Tracker::of(schema, family);
    let tracker = found.map_err(|what| Error::Unsupported { path: directory.to_owned(), what })?;
    Ok(tracker.map(|tracker| tracker == Tracker::List))
}

/// Returns the engine that compacts the files of a family, if it is not the default one.
pub(crate) fn other_store_engine(schema: &TableSchema, family: &[u8]) -> Option<String> {
    const DEFAULT: &str = "org.apache.hadoop.hbase.regionserver.DefaultStoreEngine";
    setting(schema, family, "hbase.hstore.engine.class").filter(|engine| engine != DEFAULT)
}

/// A store file tracker: what decides which files of a family count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Tracker {
    /// All files in the directory.
    Directory,
    /// The files in the newest list in `.filelist`.
    List,
}

impl Tracker {
    /// Returns the tracker of a family; `None` if the schema does not set it.
    ///
    /// # Errors
    ///
    /// The tracker, if it is none of HBase's.
    fn of(schema: &TableSchema, family: &[u8]) -> Result<Option<Self>, String> {
        let Some(name) = setting(schema, family, TRACKER) else { return Ok(None) };
        if !kind(&name, "MIGRATION", "MigrationStoreFileTracker") {
            return Self::parse(&name).map(Some);
        }
        let named = setting(schema, family, SOURCE);
        let source = named.ok_or("a migration of the store file tracker from an unnamed one")?;
        Self::parse(&source).map(Some)
    }

    fn parse(name: &str) -> Result<Self, String> {
        if kind(name, "DEFAULT", "DefaultStoreFileTracker") {
            Ok(Self::Directory)
        } else if kind(name, "FILE", "FileBasedStoreFileTracker") {
            Ok(Self::List)
        } else {
            Err(format!("the store file tracker {name:?}"))
        }
    }
}

/// Returns whether a setting is the short name of a tracker, in any case, or its class.
fn kind(setting: &str, name: &str, class: &str) -> bool {
    setting.eq_ignore_ascii_case(name) || setting.strip_prefix(PACKAGE) == Some(class)
}

/// Returns the setting of a family that counts.
fn setting(schema: &TableSchema, family: &[u8], name: &str) -> Option<String> {
    let text = |value: &Vec<u8>| String::from_utf8_lossy(value).into_owned();
    let configured = schema.family(family);
    let attribute = configured.and_then(|family| family.attributes.get(name.as_bytes())).map(text);
    attribute
        .or_else(|| configured?.configuration.get(name).cloned())
        .or_else(|| schema.configuration.get(name).cloned())
        .or_else(|| schema.attributes.get(name.as_bytes()).map(text))
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use crate::message::types::{
        BytesPair, FamilySchemaMessage, NameStringPair, TableNameMessage, TableSchemaMessage,
    };

    /// Settings: of the table, and of the family, each as attributes and as configuration.
    type Settings<'s> = [&'s [(&'s str, &'s str)]; 4];

    fn tracker(settings: Settings<'_>) -> Result<Option<Tracker>, String> {
        let [table, table_configuration, family_configuration, family] = settings;
        let attributes = |pairs: &[(&str, &str)]| {
            let bytes = |text: &str| Some(text.as_bytes().to_vec());
            pairs
                .iter()
                .map(|(name, value)| BytesPair { first: bytes(name), second: bytes(value) })
                .collect()
        };
        let configuration = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(name, value)| NameStringPair {
                    name: Some((*name).to_owned()),
                    value: Some((*value).to_owned()),
                })
                .collect()
        };
        let message = TableSchemaMessage {
            table: Some(TableNameMessage { namespace: None, qualifier: Some(b"t".to_vec()) }),
            attributes: attributes(table),
            families: vec![FamilySchemaMessage {
                name: Some(b"f".to_vec()),
                attributes: attributes(family),
                configuration: configuration(family_configuration),
            }],
            configuration: configuration(table_configuration),
        };
        let schema = TableSchema::parse(&message.encode_to_vec()).expect("a schema");
        Tracker::of(&schema, b"f")
    }

    #[test]
    fn the_attributes_of_the_family_count_before_all_other_settings() {
        let (file, default) = (&[(TRACKER, "FILE")][..], &[(TRACKER, "default")][..]);
        let (list, directory) = (Ok(Some(Tracker::List)), Ok(Some(Tracker::Directory)));
        assert_eq!(tracker([&[]; 4]), Ok(None));
        assert_eq!(tracker([file, &[], &[], &[]]), list);
        assert_eq!(tracker([default, file, &[], &[]]), list);
        assert_eq!(tracker([default, default, file, &[]]), list);
        assert_eq!(tracker([default, default, default, file]), list);
        assert_eq!(tracker([file, file, file, default]), directory);
        let class = format!("{PACKAGE}FileBasedStoreFileTracker");
        assert_eq!(tracker([&[(TRACKER, &*class)], &[], &[], &[]]), list);
        assert!(tracker([&[(TRACKER, "com.example.Tracker")], &[], &[], &[]]).is_err());
    }

    #[test]
    fn the_source_counts_while_a_table_migrates() {
        let of = |source| tracker([&[(TRACKER, "migration")], &[(SOURCE, source)], &[], &[]]);
        assert_eq!(of("FILE"), Ok(Some(Tracker::List)));
        assert_eq!(of("DEFAULT"), Ok(Some(Tracker::Directory)));
        assert!(of("MIGRATION").is_err(), "HBase refuses a migration of a migration");
        assert!(tracker([&[(TRACKER, "MIGRATION")], &[], &[], &[]]).is_err());
    }
}
