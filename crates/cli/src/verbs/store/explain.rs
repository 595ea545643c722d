//! `hfile store explain`: the steps of one get.

use std::io::{self, Write};

use serde::Serialize;
use store::{FamilyExplanation, FileFate};

use super::directory::{WithStore, warn_about_filters};
use super::versions::Versions;
use crate::arguments::key_text::KeyText;
use crate::failure::Answer;
use crate::text::counters::Counters;
use crate::text::output::{Report, or_dash, write_table};
use crate::text::size_text::{show_count, show_number, show_size};

/// Show the steps of a get for each file: why it was skipped, and how many blocks were read.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store explain DIR row1
  hfile store explain DIR hex:726f7731 --json
  hfile store explain DIR row1 --with-map

The column \"family map\" shows what the map says: that it has no such row, or that it names the file.
The column is left out if no map answered.
Each command starts with an empty block cache, so all blocks come from files.
Exit status: 0 found, 1 not found, or the store is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Explain {
    /// Row key: text with \xNN, or hex:…
    row: KeyText,
    /// Build the family maps in memory first; without a map, the get queries the filters
    #[arg(long)]
    with_map: bool,
    #[command(flatten)]
    versions: Versions,
}

impl WithStore<Explain> {
    /// Prints the report. The answer is negative if the row was not found.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let get = self.verb.versions.get(&self.verb.row)?;
        let store = self.directory.open_read_only()?;
        if self.verb.with_map {
            store.build_family_maps();
        }
        let explanation = store.explain(&get)?;
        let found = !explanation.cells.is_empty();
        let report = ExplainReport {
            schema: 1,
            row: self.verb.row.to_string(),
            found,
            cells: explanation.cells.len(),
            counters: Counters::from(&explanation.trace),
            families: explanation.families.iter().map(FamilyReport::from).collect(),
        };
        self.report_format.print(&report)?;
        warn_about_filters(&store);
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
    families: Vec<FamilyReport>,
}

/// A family and its files, in the order of the get.
#[derive(Serialize)]
struct FamilyReport {
    family: String,
    memstore_cells: usize,
    files: Vec<ExplainedFile>,
}

/// A file, its outcome, and the blocks read from it.
#[derive(Serialize)]
struct ExplainedFile {
    file: String,
    fate: &'static str,
    #[serde(skip)]
    file_fate: FileFate,
    bytes: u64,
    /// The timestamps of the oldest and the newest cell, in milliseconds since 1970.
    oldest: Option<i64>,
    newest: Option<i64>,
    /// Whether the family map was asked in place of the filter.
    covered_by_map: bool,
    #[serde(flatten)]
    counters: Counters,
}

impl From<&FamilyExplanation> for FamilyReport {
    fn from(family: &FamilyExplanation) -> Self {
        let files = family.files.iter().map(|file| ExplainedFile {
            file: file.name.clone(),
            fate: file.fate.text(),
            file_fate: file.fate,
            bytes: file.bytes,
            oldest: file.times.map(|(oldest, _)| oldest.get()),
            newest: file.times.map(|(_, newest)| newest.get()),
            covered_by_map: file.covered_by_map,
            counters: Counters::from(&file.trace),
        });
        Self {
            family: family.name.clone(),
            memstore_cells: family.memstore_cells,
            files: files.collect(),
        }
    }
}

impl FamilyReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let memstore_cells = show_number(self.memstore_cells as u64, "cell");
        writeln!(out, "\nfamily {}: {memstore_cells} copied from memstores", self.family)?;
        if self.files.is_empty() {
            return Ok(());
        }
        let by_map = self.files.iter().any(|file| file.by_map().is_some());
        let mut heading = vec!["file", "outcome"];
        if by_map {
            heading.push("family map");
        }
        heading.extend(["newest cell", "data", "index", "Bloom", "META", "bytes read"]);
        write_table(out, &heading, self.files.iter().map(|file| file.table_row(by_map)))
    }
}

impl ExplainedFile {
    /// Returns what the family map said about the file; `None` if it decided nothing.
    fn by_map(&self) -> Option<&'static str> {
        let is_searched = matches!(self.file_fate, FileFate::Absent | FileFate::Read);
        match self.counters.files_skipped_by_map {
            1.. => Some("says no"),
            0 => (self.covered_by_map && is_searched).then_some("names the file"),
        }
    }

    /// Returns the texts of the file, in the order of the heading.
    ///
    /// `by_map` adds the column of the family map.
    fn table_row(&self, by_map: bool) -> Vec<String> {
        let Counters {
            data_blocks, index_blocks, bloom_blocks, meta_blocks, bytes_from_file, ..
        } = self.counters;
        let newest = or_dash(self.newest, |millis| millis.to_string());
        let mut row = vec![self.file.clone(), self.fate.to_owned()];
        if by_map {
            row.push(self.by_map().unwrap_or("-").to_owned());
        }
        row.push(newest);
        row.extend([data_blocks, index_blocks, bloom_blocks, meta_blocks].map(show_count));
        row.push(show_size(bytes_from_file));
        row
    }
}

impl Report for ExplainReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let found = if self.found { "found" } else { "not found" };
        let cells = show_number(self.cells as u64, "cell");
        writeln!(out, "row {}: {found}, {cells}", self.row)?;
        self.counters.write_text(out)?;
        self.families.iter().try_for_each(|family| family.write_text(out))
    }
}
