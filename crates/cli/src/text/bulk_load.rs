//! The report of files for HBase's bulk load, and the command that loads them.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::text::output::Report;
use crate::text::size_text::show_number;

/// The written files and the command that loads them.
#[derive(Serialize)]
pub(crate) struct BulkLoadReport {
    schema: u32,
    files: Vec<String>,
    cells: u64,
    command: String,
}

impl BulkLoadReport {
    /// Returns the report of files in `out` for a table.
    pub(crate) fn new(out: &Path, table: Option<&str>, files: &[PathBuf], cells: u64) -> Self {
        Self {
            schema: 1,
            files: files.iter().map(|file| file.display().to_string()).collect(),
            cells,
            command: load_command(&out.display().to_string(), table),
        }
    }
}

impl Report for BulkLoadReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let files = show_number(self.files.len() as u64, "file");
        writeln!(out, "{} in {files}; load them with", show_number(self.cells, "cell"))?;
        writeln!(out, "  {}", self.command)
    }
}

/// Returns the command that loads the files in `out` into a table, by default one called TABLE.
pub(crate) fn load_command(out: &str, table: Option<&str>) -> String {
    format!("hbase completebulkload {} {}", shell_word(out), shell_word(table.unwrap_or("TABLE")))
}

/// Quotes a word for a shell if necessary.
fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
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
