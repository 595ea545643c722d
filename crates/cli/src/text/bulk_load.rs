//! The report of files for HBase's bulk load, and the command that loads them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hbase_files::{FamilySchema, TableSchema};
use serde::Serialize;
use store::FamilyOptions;

use crate::text::output::Report;
use crate::text::size_text::show_number;

/// The written files and the command that loads them.
#[derive(Serialize)]
pub(crate) struct BulkLoadReport {
    schema: u32,
    files: Vec<String>,
    cells: u64,
    /// The statement of HBase's shell that creates the table; `None` if its name is none of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    create: Option<String>,
    command: String,
}

/// A new table that files are for.
pub(crate) struct NewTable<'t> {
    pub(crate) name: Option<&'t str>,
    /// The families with their settings, by ascending name.
    pub(crate) families: Vec<(String, FamilyOptions)>,
    /// The first rows of the regions but the first.
    pub(crate) splits: &'t [Vec<u8>],
}

impl NewTable<'_> {
    /// Returns the statement of HBase's shell that creates the table; `None` if HBase has no such name, or without
    /// a family, which HBase refuses.
    fn create_statement(&self) -> Option<String> {
        if self.families.is_empty() {
            return None;
        }
        let with_settings = self.families.iter();
        let families = with_settings.map(|(name, options)| {
            FamilySchema::from_settings(name.as_bytes(), options.hbase_settings())
        });
        let schema = TableSchema {
            table: self.name.unwrap_or(NAME).parse().ok()?,
            attributes: BTreeMap::new(),
            families: families.collect::<Result<_, _>>().ok()?,
            configuration: BTreeMap::new(),
        };
        let splits: Vec<&[u8]> = self.splits.iter().map(Vec::as_slice).collect();
        Some(schema.create_statement(&splits))
    }
}

impl BulkLoadReport {
    /// Returns the report of files in `out` for a table.
    pub(crate) fn new(out: &Path, table: &NewTable<'_>, files: &[PathBuf], cells: u64) -> Self {
        Self {
            schema: 1,
            files: files.iter().map(|file| file.display().to_string()).collect(),
            cells,
            create: table.create_statement(),
            command: load_command(&out.display().to_string(), table.name),
        }
    }
}

impl Report for BulkLoadReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let files = show_number(self.files.len() as u64, "file");
        writeln!(out, "{} in {files}", show_number(self.cells, "cell"))?;
        if self.files.is_empty() {
            return writeln!(out, "the input has no cells: there is nothing to load");
        }
        write_load(out, self.create.as_deref(), &self.command)
    }
}

/// Writes how to create the table, and how to load the files.
pub(crate) fn write_load(
    out: &mut dyn Write,
    create: Option<&str>,
    command: &str,
) -> io::Result<()> {
    if let Some(create) = create {
        writeln!(out, "create the table in the HBase shell, unless it exists:\n  {create}")?;
    }
    writeln!(out, "load them with\n  {command}")
}

/// The name of a table in commands, if none is given.
const NAME: &str = "TABLE";

/// Returns the command that loads the files in `out` into a table, by default one called TABLE.
pub(crate) fn load_command(out: &str, table: Option<&str>) -> String {
    format!("hbase completebulkload {} {}", shell_word(out), shell_word(table.unwrap_or(NAME)))
}

/// Quotes a word for a shell if necessary.
fn shell_word(word: &str) -> Cow<'_, str> {
    if !word.is_empty()
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c))
    {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, shown) in [
            ("/data/out-1", "/data/out-1"),
            ("my files", "'my files'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(word), shown);
        }
    }
}
