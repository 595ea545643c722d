//! The statement of HBase's shell that creates a table like this one.
//!
//! ```text
//! create 'ns:t', {NAME => 'f', VERSIONS => '3', …}, {…}, {METADATA => {…}}, SPLITS => ['b', 'm\x00']
//! ```
//!
//! Values are in quotes, as `describe` prints them. Attributes that the shell has no name for are METADATA: it
//! stores them under the same names. The shell reads split rows with `Bytes.toBytesBinary`: `\xNN` is a byte.
//! HBase: `hbase_constants.rb`, `admin.rb` of `hbase-shell`.

use std::collections::BTreeMap;

use cells::escape;

use super::schema::{FamilySchema, PREFIX_LENGTH, TableSchema};
use crate::message::types::{BytesPair, FamilySchemaMessage, NameStringPair};
use crate::table::Table;

/// The attributes of a family that the shell takes by their names.
const FAMILY_KEYS: [&str; 24] = [
    "BLOCKCACHE",
    "BLOCKSIZE",
    "BLOOMFILTER",
    "CACHE_BLOOMS_ON_WRITE",
    "CACHE_DATA_ON_WRITE",
    "CACHE_INDEX_ON_WRITE",
    "COMPRESSION",
    "COMPRESSION_COMPACT",
    "COMPRESS_TAGS",
    "DATA_BLOCK_ENCODING",
    "DFS_REPLICATION",
    "EVICT_BLOCKS_ON_CLOSE",
    "IN_MEMORY",
    "IN_MEMORY_COMPACTION",
    "IS_MOB",
    "KEEP_DELETED_CELLS",
    "MIN_VERSIONS",
    "MOB_THRESHOLD",
    "NEW_VERSION_BEHAVIOR",
    "PREFETCH_BLOCKS_ON_OPEN",
    "REPLICATION_SCOPE",
    "STORAGE_POLICY",
    "TTL",
    "VERSIONS",
];

/// An attribute of an encrypted family, which is wrapped by the master key of its cluster.
const ENCRYPTION_KEY: &[u8] = b"ENCRYPTION_KEY";

/// The attributes of a table that HBase sets itself.
const SET_BY_HBASE: [&[u8]; 3] = [b"IS_META", b"IS_ROOT", b"hbase.meta.replica.count"];

impl FamilySchema {
    /// Returns the schema of a new family with these settings, as far as HBase has them.
    ///
    /// # Errors
    ///
    /// A message if `name` is not the name of a family, or HBase refuses a value.
    pub fn from_settings(
        name: &[u8],
        settings: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<Self, String> {
        let (attributes, rest): (Vec<_>, Vec<_>) =
            settings.into_iter().partition(|(name, _)| FAMILY_KEYS.contains(name));
        let others = rest.into_iter().filter(|(name, _)| *name == PREFIX_LENGTH);
        Self::new(FamilySchemaMessage {
            name: Some(name.to_vec()),
            attributes: attributes
                .into_iter()
                .map(|(name, value)| BytesPair {
                    first: Some(name.into()),
                    second: Some(value.into_bytes()),
                })
                .collect(),
            configuration: others
                .map(|(name, value)| NameStringPair {
                    name: Some(name.to_owned()),
                    value: Some(value),
                })
                .collect(),
        })
    }
}

impl TableSchema {
    /// Returns the statement of HBase's shell that creates a table with these settings.
    ///
    /// `split_rows` are the first rows of its regions but the first.
    pub fn create_statement(&self, split_rows: &[&[u8]]) -> String {
        let mut parts = vec![format!("create {}", quoted_text(self.table.to_string().as_bytes()))];
        parts.extend(self.families.iter().map(family));
        let mut of_table = Vec::new();
        let all = self.attributes.iter();
        let attributes = all.filter(|(name, _)| !SET_BY_HBASE.contains(&name.as_slice()));
        of_table.extend(pairs("METADATA", attributes.map(|(name, value)| (&name[..], &value[..]))));
        of_table.extend(configuration(&self.configuration));
        if !of_table.is_empty() {
            parts.push(format!("{{{}}}", of_table.join(", ")));
        }
        if !split_rows.is_empty() {
            let rows: Vec<String> = split_rows.iter().map(|row| quoted_row(row)).collect();
            parts.push(format!("SPLITS => [{}]", rows.join(", ")));
        }
        parts.join(", ")
    }
}

impl Table {
    /// Returns the statement of HBase's shell that creates a table with these settings and regions.
    pub fn create_statement(&self) -> String {
        let starts = self.regions.iter().map(|region| &region.info.start_key[..]);
        let rows: Vec<&[u8]> = starts.filter(|row| !row.is_empty()).collect();
        self.schema.create_statement(&rows)
    }
}

fn family(family: &FamilySchema) -> String {
    let mut parts = vec![format!("NAME => {}", quoted_text(&family.name))];
    let mut others = Vec::new();
    for (name, value) in &family.attributes {
        if FAMILY_KEYS.iter().any(|known| known.as_bytes() == name) {
            parts.push(format!("{} => {}", String::from_utf8_lossy(name), quoted_text(value)));
        } else if name != ENCRYPTION_KEY {
            others.push((&name[..], &value[..]));
        }
    }
    parts.extend(pairs("METADATA", others.into_iter()));
    parts.extend(configuration(&family.configuration));
    format!("{{{}}}", parts.join(", "))
}

fn configuration(settings: &BTreeMap<String, String>) -> Option<String> {
    pairs("CONFIGURATION", settings.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())))
}

/// Returns `NAME => {'key' => 'value', …}`; `None` without pairs.
fn pairs<'p>(name: &str, pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>) -> Option<String> {
    let shown: Vec<String> = pairs
        .map(|(key, value)| format!("{} => {}", quoted_text(key), quoted_text(value)))
        .collect();
    (!shown.is_empty()).then(|| format!("{name} => {{{}}}", shown.join(", ")))
}

/// Quotes text for Ruby. HBase writes all attributes as text; other bytes are shown as HBase prints them.
fn quoted_text(bytes: &[u8]) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(char::is_control) => text.to_owned(),
        _ => escape(bytes).to_string(),
    };
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Quotes a row, in the form that `Bytes.toBytesBinary` reads.
fn quoted_row(row: &[u8]) -> String {
    // In single quotes, Ruby changes only \\ and \'; neither is in a row that is escaped like this.
    format!("'{}'", escape(row).to_string().replace('\'', "\\x27"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_table_has_the_settings_of_hbase_only() {
        let settings = [
            ("BLOOMFILTER", "ROWPREFIX_FIXED_LENGTH"),
            ("VERSIONS", "3"),
            ("TTL", "FOREVER"),
            ("RowPrefixBloomFilter.prefix_length", "4"),
            // Of an embedded store.
            ("ROW_FILTER", "ribbon"),
        ]
        .map(|(name, value)| (name, value.to_owned()));
        let schema = TableSchema {
            table: "ns:t".parse().expect("a name"),
            attributes: BTreeMap::new(),
            families: vec![FamilySchema::from_settings(b"f", settings.clone()).expect("a family")],
            configuration: BTreeMap::new(),
        };
        assert_eq!(schema.families[0].retention(), cells::Retention::default().versions(3));
        assert_eq!(
            schema.create_statement(&[b"m"]),
            "create 'ns:t', {NAME => 'f', BLOOMFILTER => 'ROWPREFIX_FIXED_LENGTH', TTL => 'FOREVER', VERSIONS => '3', \
             CONFIGURATION => {'RowPrefixBloomFilter.prefix_length' => '4'}}, SPLITS => ['m']"
        );
        assert!(FamilySchema::from_settings(b"f:", settings).is_err());
    }

    #[test]
    fn quotes_and_backslashes_do_not_end_a_text() {
        assert_eq!(quoted_text(b"it's a \\"), r"'it\'s a \\'");
        assert_eq!(quoted_text(b"a\nb"), r"'a\\x0Ab'");
        assert_eq!(quoted_row(b"r'\x00\\\xff#{1}"), r"'r\x27\x00\x5C\xFF#{1}'");
    }
}
