//! A store as the source of an export: its families merged by row, in ranges of rows.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Context;
use hbase_files::{MissingCells, TableScan};
use serde_json::json;
use sstable::{Cell, CellRef, ReadTrace, WriterOptions};
use store::{Cells, Clock, Scan, Snapshot, Store, StoreOptions};

use super::directory::{Directory, unknown_family};
use crate::export::{ExportSource, Part, PartCells, Source, SourceFile, SourceState};

/// A store, in a part for each region of a table.
pub(super) struct StoreSource {
    directory: PathBuf,
    options: StoreOptions,
    /// Ascending.
    families: Vec<String>,
    parts: Vec<Part>,
    /// The newest sequence id, by which a write during the export is recognised.
    sequence_id: u64,
    state: SourceState,
}

impl StoreSource {
    /// Opens the store; a part begins at each of `splits`.
    pub(super) fn open(directory: &Directory, splits: Vec<Vec<u8>>) -> anyhow::Result<Self> {
        let path = &directory.directory;
        let mut files = Vec::new();
        let listed = add_files(path, "", &mut files);
        let store = directory.open_read_only()?;
        // Opening the store tells better what is wrong with the directory.
        listed.with_context(|| format!("{}: cannot list", path.display()))?;
        files.sort_by(|one, other| one.file.cmp(&other.file));
        let stats = store.stats();
        let mut families: Vec<String> = store.families().into_iter().map(|it| it.0).collect();
        families.sort_unstable();
        let bytes: u64 = stats.families.iter().map(|family| family.file_bytes).sum();
        let count = splits.len() as u64 + 1;
        let rest = json!([stats.sequence_id, splits]);
        let start_rows = [Vec::new()].into_iter().chain(splits.clone());
        let end_rows = splits.into_iter().chain([Vec::new()]);
        let parts = start_rows
            .zip(end_rows)
            .enumerate()
            .map(|(number, (start_row, end_row))| {
                let name = format!("store-{number}");
                let bytes = bytes / count;
                Part { file_stem: "store".to_owned(), name, start_row, end_row, bytes }
            })
            .collect();
        Ok(Self {
            directory: directory.directory.clone(),
            options: directory.options(),
            families,
            parts,
            sequence_id: stats.sequence_id,
            state: SourceState::new(files, &rest),
        })
    }

    /// Describes the store.
    pub(super) fn describe(&self) -> Source {
        Source::Store {
            store: self.directory.display().to_string(),
            families: self.families.clone(),
            state: self.state.clone(),
        }
    }

    /// Opens the store again, with the time of the export.
    fn snapshot(&self, scan: &TableScan) -> anyhow::Result<Snapshot> {
        let options = match scan.now {
            Some(now) => self.options.clone().clock(Clock::fixed(now)),
            None => self.options.clone(),
        };
        let store = Store::open_read_only(&self.directory, options)?;
        if let Some(wanted) = scan
            .families
            .iter()
            .find(|wanted| !self.families.iter().any(|family| family.as_bytes() == wanted.family))
        {
            let wanted = String::from_utf8_lossy(&wanted.family);
            return Err(unknown_family(&store, &wanted).into());
        }
        anyhow::ensure!(
            store.stats().sequence_id == self.sequence_id,
            "{}: the store was written to during the export; export a checkpoint of it",
            self.directory.display()
        );
        Ok(store.snapshot())
    }
}

impl ExportSource for StoreSource {
    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn check(&self, scan: &TableScan) -> anyhow::Result<Vec<MissingCells>> {
        self.snapshot(scan).map(|_| Vec::new())
    }

    fn open(&self, part: usize, scan: &TableScan) -> anyhow::Result<Box<dyn PartCells + '_>> {
        let (snapshot, part) = (self.snapshot(scan)?, &self.parts[part]);
        let mut families = Vec::new();
        for family in &self.families {
            if let Some(scan) = request(family, part, scan) {
                families.push(FamilyCells { cells: snapshot.scan(scan)?, next: None });
            }
        }
        for family in &mut families {
            family.advance()?;
        }
        Ok(Box::new(MergedFamilies { families, current: None }))
    }

    fn writer_options(&self, _part: usize, _family: &[u8]) -> WriterOptions {
        WriterOptions::default()
    }
}

/// Adds the files of a directory of the store and of its subdirectories.
///
/// The newest sequence id is not enough: a store that was created again can have the same, and so
/// does one whose families were altered.
fn add_files(directory: &Path, below: &str, files: &mut Vec<SourceFile>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{below}{name}");
        if path.is_dir() {
            add_files(&path, &format!("{name}/"), files)?;
        } else if name != "LOCK" {
            files.push(SourceFile::at(&path, name)?);
        }
    }
    Ok(())
}

/// Returns the scan of a family in a part; `None` if the family is not wanted.
fn request(family: &str, part: &Part, scan: &TableScan) -> Option<Scan> {
    let wanted = scan.families.iter().find(|wanted| wanted.family == family.as_bytes());
    if wanted.is_none() && !scan.families.is_empty() {
        return None;
    }
    let mut request = Scan::family(family)
        .versions(scan.versions)
        .time_range(scan.min_ts, scan.max_ts)
        .raw(scan.raw);
    let start = scan.start.as_deref().unwrap_or_default().max(&part.start_row);
    if !start.is_empty() {
        request = request.start(start);
    }
    let end = (!part.end_row.is_empty()).then_some(&part.end_row[..]);
    if let Some(stop) = [scan.stop.as_deref(), end].into_iter().flatten().min() {
        request = request.stop(stop);
    }
    if !scan.prefix.is_empty() {
        request = request.prefix(&scan.prefix);
    }
    let qualifiers = wanted.map(|wanted| &wanted.qualifiers[..]).unwrap_or_default();
    Some(qualifiers.iter().fold(request, Scan::column))
}

/// The cells of several families, in HBase's order: by row, then by family.
struct MergedFamilies {
    /// By ascending name.
    families: Vec<FamilyCells>,
    /// The family whose cell was returned last.
    current: Option<usize>,
}

/// The cells of one family.
struct FamilyCells {
    cells: Cells,
    /// The next cell, not returned yet or just now.
    next: Option<Cell>,
}

impl FamilyCells {
    fn advance(&mut self) -> store::Result<()> {
        self.next = self.cells.next().transpose()?;
        Ok(())
    }
}

impl PartCells for MergedFamilies {
    fn next_cell(&mut self) -> anyhow::Result<Option<CellRef<'_>>> {
        if let Some(current) = self.current {
            self.families[current].advance()?;
        }
        // Of equal rows the first family: those before the current one are past the row.
        let rows = self.families.iter().enumerate();
        let rows = rows.filter_map(|(family, cells)| Some((cells.next.as_ref()?.row(), family)));
        self.current = rows.min().map(|(_, family)| family);
        let current = self.current.and_then(|current| self.families[current].next.as_ref());
        Ok(current.map(Cell::as_ref))
    }

    fn trace(&mut self) -> ReadTrace {
        ReadTrace::default()
    }
}
