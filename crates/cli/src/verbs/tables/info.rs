//! `hfile snapshot info` and `hfile table info`: show the schema, the regions and the files.

use std::io::{self, Write};

use cells::error_line;
use serde::Serialize;
use store::Clock;

use super::contents::{FamilyLine, FileCounts, LeftOutLine, RegionLine, regions_by_text};
use super::line::{NamedLine, write_lines};
use super::list::DescriptionReport;
use super::place::{Name, NamedPlaces, NamedTable};
use super::several::Selected;
use crate::failure::Answer;
use crate::text::output::{Report, ReportFormat, write_table};
use crate::text::printable::as_line;
use crate::text::size_text::{show_count, show_number, show_size};

// The doc comments and the examples stand with the nouns, in `snapshot.rs` and `table.rs`.
#[derive(clap::Args)]
pub(crate) struct Info<P: NamedPlaces> {
    #[command(flatten)]
    place: P,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl<P: NamedPlaces> Info<P> {
    /// Prints a report for each; as text, one line for each if there is more than one. The answer is negative
    /// if a part cannot be read.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let selected = Selected::of(&self.place)?;
        selected.tell_former_tables("shown")?;
        let is_detailed = selected.only.is_some() || self.report_format.is_json();
        let mut lines = Vec::new();
        let answer = selected.for_each_named(&self.place, |named, printed| {
            printed.warn(&named.table.log_warnings);
            if is_detailed {
                return self.report_format.print(&TableReport::new(named));
            }
            lines.push(NamedLine::new(named));
            Ok(Answer::from_bool(named.table.all_problems().next().is_none()))
        });
        write_lines(&lines, P::UNIT)?;
        answer
    }
}

#[derive(Serialize)]
struct TableReport {
    schema: u32,
    #[serde(flatten)]
    name: Name,
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
    fn new(named: &NamedTable) -> Self {
        let NamedTable { table, snapshot } = named;
        let now = Clock::system().now();
        let problems = table.all_problems();
        Self {
            schema: 1,
            name: named.name(),
            description: snapshot.as_ref().map(|snapshot| DescriptionReport::new(snapshot, now)),
            regions_by: regions_by_text(table.regions_by),
            files: FileCounts::of_table(table),
            families: table.schema.families.iter().map(FamilyLine::new).collect(),
            regions: table.regions.iter().map(|region| RegionLine::new(table, region)).collect(),
            mob_files: table.mob.as_ref().map(|region| RegionLine::new(table, region)),
            left_out: table.left_out.iter().map(|region| LeftOutLine::new(table, region)).collect(),
            logs: table.logs.iter().map(|path| path.display().to_string()).collect(),
            problems: problems.map(|error| error_line(&**error)).collect(),
        }
    }

    /// Returns the lines above the tables: a name and a text each.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![match &self.name {
            Name::Snapshot(name) => ("snapshot", name.clone()),
            Name::Table(name) => ("table", name.clone()),
        }];
        lines.extend(self.description.iter().flat_map(DescriptionReport::lines));
        let FileCounts { hfiles, links, references, bytes } = self.files;
        lines.push((
            "files",
            format!(
                "{}: {}, {}, {}",
                show_count(self.files.all()),
                show_number(hfiles, "HFile"),
                show_number(links, "link"),
                show_number(references, "reference")
            ),
        ));
        let of_regions =
            self.regions.iter().chain(&self.mob_files).map(|region| region.files.bytes);
        let is_shared = of_regions.sum::<u64>() > bytes;
        let note = if is_shared { "; an HFile that several regions share counts once" } else { "" };
        lines.push(("size", format!("{}{note}", show_size(bytes))));
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
    fn answer(&self) -> Answer {
        Answer::from_bool(self.problems.is_empty())
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for (name, text) in self.lines() {
            writeln!(out, "{name:<14}{}", as_line(&text))?;
        }
        writeln!(out)?;
        let counted = self.regions.iter().map(|line| (line, String::new()));
        let left_out =
            self.left_out.iter().map(|line| (&line.region, format!("not counted: {}", line.text)));
        let rows = counted.chain(left_out).map(|(line, note)| {
            let RegionLine { region, start_key, end_key, files, .. } = line;
            vec![
                region.clone(),
                start_key.clone(),
                end_key.clone(),
                show_count(files.all()),
                show_size(files.bytes),
                note,
            ]
        });
        write_table(out, &["region", "start key", "end key", "files", "size", ""], rows)
    }
}
