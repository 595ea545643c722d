//! `hfile snapshot info` and `hfile table info`: show the schema, the regions and the files.

use std::io::{self, Write};

use hbase_files::{Region, Table};
use serde::Serialize;
use sstable::error_line;
use store::Clock;

use super::contents::{FamilyLine, FileCounts, LeftOutLine, RegionLine, regions_by_text};
use super::list::DescriptionReport;
use super::place::{SnapshotPlace, TableNamePlace};
use crate::failure::Answer;
use crate::text::output::{Report, ReportFormat, write_table};
use crate::text::printable::as_line;
use crate::text::size_text::{show_count, show_number, show_size};
use crate::text::warnings::print_warnings;

// The doc comments and the examples are those of the nouns, `snapshot.rs` and `table.rs`.
#[derive(clap::Args)]
pub(crate) struct SnapshotInfo {
    #[command(flatten)]
    place: SnapshotPlace,
    #[command(flatten)]
    report_format: ReportFormat,
}

#[derive(clap::Args)]
pub(crate) struct TableInfo {
    #[command(flatten)]
    place: TableNamePlace,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl SnapshotInfo {
    /// Prints the report. The answer is negative if a part cannot be read.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let snapshot = self.place.open_snapshot()?;
        let now = Clock::system().now();
        let mut report = TableReport::new(&snapshot.table);
        report.snapshot = Some(snapshot.description.name.clone());
        report.description = Some(DescriptionReport::new(&snapshot.description, now));
        report.print(self.report_format)
    }
}

impl TableInfo {
    /// Prints the report. The answer is negative if a part cannot be read.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let table = self.place.open_table()?;
        print_warnings(&table.log_warnings);
        let mut report = TableReport::new(&table);
        report.table = Some(table.name.to_string());
        report.print(self.report_format)
    }
}

#[derive(Serialize)]
struct TableReport {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<String>,
    #[serde(flatten)]
    description: Option<DescriptionReport>,
    regions_by: &'static str,
    #[serde(flatten)]
    files: FileCounts,
    families: Vec<FamilyLine>,
    regions: Vec<RegionLine>,
    mob_files: Option<RegionLine>,
    left_out: Vec<LeftOutLine>,
    logs: Vec<String>,
    problems: Vec<String>,
}

impl TableReport {
    fn new(table: &Table) -> Self {
        let line = |region: &Region| RegionLine::new(table, region);
        let problems = table.problems.iter();
        Self {
            schema: 1,
            snapshot: None,
            table: None,
            description: None,
            regions_by: regions_by_text(table.regions_by),
            files: FileCounts::of(table, table.regions.iter().chain(&table.mob)),
            families: table.schema.families.iter().map(FamilyLine::new).collect(),
            regions: table.regions.iter().map(line).collect(),
            mob_files: table.mob.as_ref().map(line),
            left_out: table.left_out.iter().map(|it| LeftOutLine::new(table, it)).collect(),
            logs: table.logs.iter().map(|path| path.display().to_string()).collect(),
            problems: problems.map(|error| error_line(&**error)).collect(),
        }
    }

    fn print(&self, format: ReportFormat) -> anyhow::Result<Answer> {
        format.print(self)?;
        Ok(Answer::from_bool(self.problems.is_empty()))
    }

    /// Returns the lines above the tables: a name and a text each.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        lines.extend(self.snapshot.clone().map(|name| ("snapshot", name)));
        lines.extend(self.table.clone().map(|name| ("table", name)));
        lines.extend(self.description.iter().flat_map(DescriptionReport::lines));
        let FileCounts { hfiles, links, references, bytes } = self.files;
        lines.push((
            "files",
            format!(
                "{}, {}, {}",
                show_number(hfiles, "HFile"),
                show_number(links, "link"),
                show_number(references, "reference")
            ),
        ));
        lines.push(("size", show_size(bytes)));
        let regions = show_count(self.regions.len() as u64);
        lines.push((
            "regions",
            match self.regions_by {
                "snapshot" => regions,
                "hbase:meta" => format!("{regions}, as hbase:meta lists them"),
                _ => {
                    format!("{regions}, by their key ranges: hbase:meta is missing or does not fit")
                }
            },
        ));
        if let Some(mob) = &self.mob_files {
            let files = show_number(mob.files.all(), "file");
            lines.push(("MOB files", format!("{files}, {}", show_size(mob.files.bytes))));
        }
        for family in &self.families {
            lines.push(("family", format!("{}: {}", family.family, family.text())));
        }
        let recovered = self.regions.iter().flat_map(|region| &region.recovered_edits);
        let logs = self.logs.iter().chain(recovered).map(|log| ("log", log));
        let hfiles = self.regions.iter().flat_map(|region| &region.recovered_hfiles);
        for (what, file) in logs.chain(hfiles.map(|file| ("recovered", file))) {
            lines.push((what, format!("{file} (may have cells that are in no store file)")));
        }
        lines.extend(self.problems.iter().map(|problem| ("PROBLEM", problem.clone())));
        lines
    }
}

impl Report for TableReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for (name, text) in self.lines() {
            writeln!(out, "{name:<14}{}", as_line(&text))?;
        }
        writeln!(out)?;
        let row = |line: &RegionLine, note: &str| {
            let RegionLine { region, start_key, end_key, files, .. } = line;
            vec![
                region.clone(),
                start_key.clone(),
                end_key.clone(),
                show_count(files.all()),
                show_size(files.bytes),
                note.to_owned(),
            ]
        };
        let left_out =
            |line: &LeftOutLine| row(&line.region, &format!("not counted: {}", line.text));
        let regions = self.regions.iter().map(|line| row(line, ""));
        let rows = regions.chain(self.left_out.iter().map(left_out));
        write_table(out, &["region", "start key", "end key", "files", "size", ""], rows)
    }
}
