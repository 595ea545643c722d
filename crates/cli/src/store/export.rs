//! `hfile store export`: HFiles for HBase's bulk load.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::Directory;
use crate::failure::Answer;
use crate::key_text::KeyText;
use crate::output::{Audience, Report};
use crate::size_text::show_count;

/// Write all families as HFiles for HBase's bulk load, and say how to load them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store export DIR OUT
  hfile store export DIR OUT --splits row4,row8 --table users

Each family gets a directory in OUT with one file for each region that has rows of it. The rows at
which the table's regions begin are those of --splits; without them there is one region. Delete
markers are written too, so that the files can be loaded over older cells.")]
pub(super) struct Export {
    #[command(flatten)]
    directory: Directory,
    /// Where to; families that have files there already are refused
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// Rows before which a file is cut: text with \xNN, or hex:…
    #[arg(long, value_name = "ROW,…", value_delimiter = ',')]
    splits: Vec<KeyText>,
    /// The table named in the command that is printed
    #[arg(long, value_name = "TABLE", default_value = "TABLE")]
    table: String,
    #[command(flatten)]
    audience: Audience,
}

impl Export {
    /// Writes the files.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let splits: Vec<_> = self.splits.iter().map(|row| row.as_bytes().to_vec()).collect();
        let export = self.directory.open()?.export(&self.out, &splits)?;
        let (out, table) = (self.out.display(), &self.table);
        self.audience.print(&ExportReport {
            schema: 1,
            files: export.files.iter().map(|file| file.display().to_string()).collect(),
            cells: export.cells,
            command: format!("hbase completebulkload {out} {table}"),
        })?;
        Ok(Answer::Sound)
    }
}

/// What was written, and what loads it.
#[derive(Serialize)]
struct ExportReport {
    schema: u32,
    files: Vec<String>,
    cells: u64,
    command: String,
}

impl Report for ExportReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (cells, files) = (show_count(self.cells), self.files.len());
        writeln!(out, "{cells} cells in {files} files; load them with")?;
        writeln!(out, "  {}", self.command)
    }
}
