//! `hfile store stats`: the contents of a store in numbers.

use std::io::{self, Write};

use serde::Serialize;
use store::MapStats;

use super::directory::WithStore;
use crate::failure::Answer;
use crate::text::counters::Counters;
use crate::text::output::{Report, write_table};
use crate::text::printable::as_line;
use crate::text::size_text::{show_count, show_number, show_size};

/// Show files, bytes and cells of each family.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store stats DIR
  hfile store stats DIR --with-map
  hfile store stats DIR --json | jq '.families[] | {family, files}'

Exit status: 0 shown, 1 the store is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Stats {
    /// Build the family maps in memory first, and show their sizes
    #[arg(long)]
    with_map: bool,
}

impl WithStore<Stats> {
    /// Opens the store read-only and prints the report.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let store = self.directory.open_read_only()?;
        if self.verb.with_map {
            store.build_family_maps();
        }
        let stats = store.stats();
        let families = stats.families.into_iter().map(|family| FamilyReport {
            map_mode: store.family(&family.name).map(|options| options.map_mode().name()),
            map: family.map.map(MapReport::from),
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
        self.report_format.print(&StatsReport {
            schema: 1,
            with_map: self.verb.with_map,
            sequence_id: stats.sequence_id,
            map_builds: stats.map_builds,
            map_rebuilds: stats.map_rebuilds,
            map_build_seconds: stats.map_build_time.as_secs_f64(),
            map_failures: stats.map_failures,
            families: families.collect(),
            filter_problems: problems.collect(),
        })
    }
}

#[derive(Serialize)]
struct StatsReport {
    schema: u32,
    /// Whether the text shows the family maps.
    #[serde(skip)]
    with_map: bool,
    sequence_id: u64,
    /// Family maps that this process built from the rows of files.
    map_builds: u64,
    /// Family maps that replaced another one.
    map_rebuilds: u64,
    map_build_seconds: f64,
    map_failures: u64,
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
    /// The setting of the family: `OFF`, `FILES`, `WIDE` or `AUTO`.
    map_mode: Option<&'static str>,
    /// The family map; `None` if this process has none for the family.
    map: Option<MapReport>,
    /// The counters of reads since this process opened the store, without the reads of the recovery.
    reads: Counters,
}

/// The sizes of a family map.
#[derive(Serialize)]
struct MapReport {
    /// How wide its entries are: `FILES` or `WIDE`.
    form: &'static str,
    covered_files: u64,
    bytes: u64,
    entries: u64,
    free_entries: u64,
    /// Bits of memory for each entry; `None` without entries.
    bits_per_entry: Option<f64>,
}

impl From<MapStats> for MapReport {
    fn from(map: MapStats) -> Self {
        let bits = map.bytes as f64 * 8.0 / map.entries as f64;
        Self {
            form: map.mode.name(),
            covered_files: map.covered_files,
            bytes: map.bytes,
            entries: map.entries,
            free_entries: map.free_entries,
            bits_per_entry: (map.entries > 0).then_some(bits),
        }
    }
}

impl StatsReport {
    /// Writes the family maps, and what building them took.
    fn write_maps(&self, out: &mut dyn Write) -> io::Result<()> {
        let heading =
            ["family", "family map", "form", "files covered", "memory", "entries", "bits/entry"];
        writeln!(out)?;
        write_table(out, &heading, self.families.iter().map(FamilyReport::map_row))?;
        if self.map_builds + self.map_failures == 0 {
            return Ok(());
        }
        writeln!(
            out,
            "\nfamily maps: {}, {} of another one, {:.3} s; {} failed",
            show_number(self.map_builds, "build"),
            show_count(self.map_rebuilds),
            self.map_build_seconds,
            show_count(self.map_failures)
        )
    }
}

impl FamilyReport {
    /// Returns the texts of the family's map, in the order of the heading.
    fn map_row(&self) -> Vec<String> {
        let mut row = vec![self.family.clone(), self.map_mode.unwrap_or("-").to_owned()];
        match &self.map {
            None => row.extend(["-"; 5].map(str::to_owned)),
            Some(map) => row.extend([
                map.form.to_owned(),
                format!("{} of {}", show_count(map.covered_files), show_count(self.files)),
                show_size(map.bytes),
                show_count(map.entries),
                map.bits_per_entry.map_or_else(|| "-".to_owned(), |bits| format!("{bits:.1}")),
            ]),
        }
        row
    }
}

impl Report for StatsReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let heading =
            ["family", "files", "on disk", "cells in files", "memstore", "cells in memstore"];
        let rows = self.families.iter().map(|family| {
            vec![
                family.family.clone(),
                show_count(family.files),
                show_size(family.file_bytes),
                show_count(family.file_cells),
                show_size(family.memstore_bytes),
                show_count(family.memstore_cells),
            ]
        });
        write_table(out, &heading, rows)?;
        if self.with_map {
            self.write_maps(out)?;
        }
        writeln!(out, "\nsequence id {}", show_count(self.sequence_id))?;
        for ProblemReport { family, file, what } in &self.filter_problems {
            writeln!(out, "unusable filter in {family}/{file}: {}", as_line(what))?;
        }
        Ok(())
    }
}
