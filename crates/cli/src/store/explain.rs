//! `hfile store explain`: what one get did.

use std::io::{self, Write};

use serde::Serialize;

use super::{Directory, Versions};
use crate::counters::Counters;
use crate::failure::Answer;
use crate::key_text::KeyText;
use crate::output::{Audience, Report};

/// Say what one get did: files skipped and why, filters asked, blocks touched.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store explain DIR row1
  hfile store explain DIR hex:726f7731 --json

A command starts with an empty cache, so its blocks come from files.
Exit status: 0 found, 1 there is no such row, 2 wrong usage, 3 could not read.")]
pub(super) struct Explain {
    #[command(flatten)]
    directory: Directory,
    /// The row: text with \xNN, or hex:…
    #[arg(value_name = "ROW")]
    row: KeyText,
    #[command(flatten)]
    versions: Versions,
    #[command(flatten)]
    audience: Audience,
}

impl Explain {
    /// Gets the row and reports the way.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let store = self.directory.open()?;
        let get = self.versions.get(&self.row);
        let (cells, trace) = store.get_traced(&get)?;
        let found = !cells.is_empty();
        let report = ExplainReport {
            schema: 1,
            row: self.row.to_string(),
            found,
            cells: cells.len(),
            counters: Counters::from(&trace),
        };
        self.audience.print(&report)?;
        Ok(Answer::from_bool(found))
    }
}

#[derive(Serialize)]
struct ExplainReport {
    schema: u32,
    row: String,
    found: bool,
    cells: usize,
    #[serde(flatten)]
    counters: Counters,
}

impl Report for ExplainReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let found = if self.found { "found" } else { "not found" };
        writeln!(out, "row {}: {found}, {} cells", self.row, self.cells)?;
        self.counters.write_text(out)
    }
}
