//! HBase's bulk load: the regions of the table, and the report of the files.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::failure::UsageError;
use crate::key_text::KeyText;
use crate::output::Report;
use crate::size_text::show_number;

/// The table that the files are for.
#[derive(clap::Args)]
pub(crate) struct TableOptions {
    /// Start a new file before each of these rows, in ascending order: text with \xNN, or hex:…
    #[arg(long, value_name = "ROW,…", value_delimiter = ',')]
    splits: Vec<KeyText>,
    /// Name this table in the printed load command [default: TABLE]
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
}

impl TableOptions {
    /// Whether any of the options is given.
    pub(crate) const fn are_given(&self) -> bool {
        !self.splits.is_empty() || self.table.is_some()
    }

    /// Whether the table has a name.
    pub(crate) const fn has_table(&self) -> bool {
        self.table.is_some()
    }

    /// Returns the start rows of the table's regions, except the first region's.
    ///
    /// # Errors
    ///
    /// [`UsageError`] if they are not in ascending order.
    pub(crate) fn splits(&self) -> Result<Vec<Vec<u8>>, UsageError> {
        let splits: Vec<_> = self.splits.iter().map(|row| row.as_bytes().to_vec()).collect();
        match self.splits.windows(2).zip(splits.windows(2)).find(|(_, rows)| rows[0] >= rows[1]) {
            None => Ok(splits),
            Some((shown, _)) => Err(UsageError(format!(
                "--splits must ascend, but {} does not sort before {}",
                shown[0], shown[1]
            ))),
        }
    }

    /// Returns the report of files in `out`.
    pub(crate) fn report(&self, out: &Path, files: &[PathBuf], cells: u64) -> BulkLoadReport {
        let out = out.display().to_string();
        let command = load_command(&out, self.table.as_deref().unwrap_or("TABLE"));
        BulkLoadReport {
            schema: 1,
            files: files.iter().map(|file| file.display().to_string()).collect(),
            cells,
            command,
        }
    }
}

/// The written files and the command that loads them.
#[derive(Serialize)]
pub(crate) struct BulkLoadReport {
    schema: u32,
    files: Vec<String>,
    cells: u64,
    command: String,
}

impl Report for BulkLoadReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let files = show_number(self.files.len() as u64, "file");
        writeln!(out, "{} in {files}; load them with", show_number(self.cells, "cell"))?;
        writeln!(out, "  {}", self.command)
    }
}

/// Returns the command that loads the files in `out` into a table.
pub(crate) fn load_command(out: &str, table: &str) -> String {
    format!("hbase completebulkload {} {}", shell_word(out), shell_word(table))
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
