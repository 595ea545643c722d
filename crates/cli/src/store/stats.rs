//! `hfile store stats`: the contents of a store in numbers.

use std::io::{self, Write};

use serde::Serialize;

use super::directory::Directory;
use crate::counters::Counters;
use crate::failure::Answer;
use crate::output::{Report, ReportFormat, write_table};
use crate::size_text::{show_count, show_size};

/// Show files, bytes and cells of each family.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store stats DIR
  hfile store stats DIR --json | jq '.families[] | {family, files}'

Exit status: 0 shown, 1 the store is damaged, 2 wrong usage, 3 could not read.")]
pub(super) struct Stats {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Stats {
    /// Opens the store read-only and prints the report.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let stats = self.directory.open_read_only()?.stats();
        let families = stats.families.into_iter().map(|family| FamilyReport {
            family: family.name,
            files: family.files,
            file_bytes: family.file_bytes,
            file_cells: family.file_cells,
            memstore_bytes: family.memstore_bytes,
            memstore_cells: family.memstore_cells,
            reads: Counters::from(&family.reads),
        });
        let problems = stats.filter_problems.into_iter().map(|problem| ProblemReport {
            family: problem.family,
            file: problem.file,
            what: problem.what,
        });
        let report = StatsReport {
            schema: 1,
            sequence_id: stats.sequence_id,
            families: families.collect(),
            filter_problems: problems.collect(),
        };
        self.report_format.print(&report)?;
        Ok(Answer::Positive)
    }
}

#[derive(Serialize)]
struct StatsReport {
    schema: u32,
    sequence_id: u64,
    families: Vec<FamilyReport>,
    filter_problems: Vec<ProblemReport>,
}

/// A filter that cannot be used, with the reason.
#[derive(Serialize)]
struct ProblemReport {
    family: String,
    file: String,
    what: String,
}

#[derive(Serialize)]
struct FamilyReport {
    family: String,
    files: u64,
    file_bytes: u64,
    file_cells: u64,
    memstore_bytes: u64,
    memstore_cells: u64,
    /// The counters of reads since this process opened the store, except those of the recovery.
    reads: Counters,
}

impl Report for StatsReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let heading =
            ["family", "files", "on disk", "cells in files", "memstore", "cells in memstore"];
        let rows: Vec<Vec<String>> = self
            .families
            .iter()
            .map(|family| {
                vec![
                    family.family.clone(),
                    show_count(family.files),
                    show_size(family.file_bytes),
                    show_count(family.file_cells),
                    show_size(family.memstore_bytes),
                    show_count(family.memstore_cells),
                ]
            })
            .collect();
        write_table(out, &heading, &rows)?;
        writeln!(out, "\nsequence id {}", show_count(self.sequence_id))?;
        for ProblemReport { family, file, what } in &self.filter_problems {
            writeln!(out, "unusable filter in {family}/{file}: {what}")?;
        }
        Ok(())
    }
}
