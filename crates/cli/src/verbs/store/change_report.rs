//! The reports of verbs that write: the number of cells, or the sizes of families before and after.

use std::io::{self, Write};
use std::time::Instant;

use serde::Serialize;
use store::{FamilyStats, Store};

use super::directory::WithStore;
use crate::failure::Answer;
use crate::text::output::Report;
use crate::text::size_text::{show_count, show_number, show_size};
use crate::text::stderr::print_message;

/// A stopwatch for the seconds of a report.
pub(super) struct Watch(Instant);

impl Watch {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the seconds since the start, to the millisecond.
    pub(super) fn seconds(&self) -> f64 {
        (self.0.elapsed().as_secs_f64() * 1000.0).round() / 1000.0
    }
}

impl<V: clap::Args> WithStore<V> {
    /// Writes to the store, and prints the number of cells that `write` returns.
    pub(super) fn write(
        &self,
        write: impl FnOnce(&Store) -> anyhow::Result<u64>,
    ) -> anyhow::Result<Answer> {
        let watch = Watch::start();
        let store = self.directory.open()?;
        let cells = write(&store)?;
        let report = WriteReport::new(&store, cells, &watch);
        store.close()?;
        self.report_format.print(&report)
    }

    /// Changes the store, and prints the changed families; `nothing` is the text if none has.
    pub(super) fn change(
        &self,
        nothing: &'static str,
        change: impl FnOnce(&Store) -> anyhow::Result<()>,
    ) -> anyhow::Result<Answer> {
        let watch = Watch::start();
        let store = self.directory.open()?;
        let before = store.stats().families;
        change(&store)?;
        let report = ChangeReport::new(&store, &before, nothing, &watch);
        store.close()?;
        self.report_format.print(&report)
    }
}

/// Cells that a verb wrote.
#[derive(Serialize)]
pub(super) struct WriteReport {
    schema: u32,
    /// Written cells, delete markers included.
    cells: u64,
    /// The sequence id of the last write.
    sequence_id: u64,
    seconds: f64,
}

impl WriteReport {
    pub(super) fn new(store: &Store, cells: u64, watch: &Watch) -> Self {
        let (sequence_id, seconds) = (store.stats().sequence_id, watch.seconds());
        Self { schema: 1, cells, sequence_id, seconds }
    }
}

impl Report for WriteReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (cells, id) = (show_number(self.cells, "cell"), show_count(self.sequence_id));
        writeln!(out, "{cells} written, sequence id {id}")
    }
}

/// The families that a verb changed, with their sizes before and after.
#[derive(Serialize)]
struct ChangeReport {
    schema: u32,
    families: Vec<FamilyChange>,
    sequence_id: u64,
    seconds: f64,
    /// The text if no family was changed.
    #[serde(skip)]
    nothing: &'static str,
}

/// The sizes of a family before and after a change.
#[derive(Serialize)]
struct FamilyChange {
    family: String,
    before: Sizes,
    after: Sizes,
}

/// The sizes of a family.
#[derive(Serialize, Clone, Copy, Eq, PartialEq)]
pub(super) struct Sizes {
    files: u64,
    file_bytes: u64,
    file_cells: u64,
    memstore_cells: u64,
}

impl Sizes {
    pub(super) const fn of(family: &FamilyStats) -> Self {
        let FamilyStats { files, file_bytes, file_cells, memstore_cells, .. } = *family;
        Self { files, file_bytes, file_cells, memstore_cells }
    }

    /// Cells in files and in memory.
    const fn cells(self) -> u64 {
        self.file_cells.saturating_add(self.memstore_cells)
    }

    pub(super) fn write_text(self, out: &mut dyn Write) -> io::Result<()> {
        let (files, cells) =
            (show_number(self.files, "file"), show_number(self.file_cells, "cell"));
        write!(out, "{files}, {}, {cells} in files", show_size(self.file_bytes))?;
        match self.memstore_cells {
            0 => Ok(()),
            cells => write!(out, ", {} in memstores", show_count(cells)),
        }
    }
}

impl ChangeReport {
    /// Compares the sizes of the families with `before`.
    fn new(store: &Store, before: &[FamilyStats], nothing: &'static str, watch: &Watch) -> Self {
        let after = store.stats();
        for FamilyStats { name, filters_omitted, filter_omission, .. } in &after.families {
            if let Some(why) = filter_omission {
                let files = show_number(*filters_omitted, "file");
                print_message(format!("{name}: {files} without the row filter: {why}"));
            }
        }
        let mut families = Vec::new();
        for old in before {
            let Some(new) = after.families.iter().find(|new| new.name == old.name) else {
                continue;
            };
            let (old_sizes, new_sizes) = (Sizes::of(old), Sizes::of(new));
            if old_sizes != new_sizes {
                let family = old.name.clone();
                families.push(FamilyChange { family, before: old_sizes, after: new_sizes });
            }
        }
        let sequence_id = after.sequence_id;
        Self { schema: 1, families, sequence_id, seconds: watch.seconds(), nothing }
    }
}

impl Report for ChangeReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.families.is_empty() {
            return writeln!(out, "{}", self.nothing);
        }
        for FamilyChange { family, before, after } in &self.families {
            write!(
                out,
                "{family}: files {} → {}, {} → {}, cells in files {} → {}, in memstores {} → {}",
                show_count(before.files),
                show_count(after.files),
                show_size(before.file_bytes),
                show_size(after.file_bytes),
                show_count(before.file_cells),
                show_count(after.file_cells),
                show_count(before.memstore_cells),
                show_count(after.memstore_cells),
            )?;
            match before.cells().saturating_sub(after.cells()) {
                0 => writeln!(out)?,
                dropped => writeln!(
                    out,
                    "; {} dropped: deleted, expired, or older than the versions that the family keeps",
                    show_number(dropped, "cell")
                )?,
            }
        }
        writeln!(out, "{:.3} s", self.seconds)
    }
}
