//! A store as the source of an export: its families merged by row, in ranges of rows.

use std::path::{Path, PathBuf};
use std::{fs, io};

use hbase_files::{MissingCells, TableScan};
use serde_json::json;
use sstable::{CellRef, ReadTrace, WriterOptions};
use store::{Clock, MergedScans, Scan, Snapshot, Store, StoreOptions};

use super::form::ExportForm;
use super::manifest::Source;
use super::run::{Export, Exported};
use super::source::{ExportSource, Part, PartCells};
use super::source_state::{SourceFile, SourceState};
use crate::error::{Doing, Error, Result};
use crate::progress::Observer;

/// A store, in a part for each region of a table.
pub struct StoreSource {
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
    ///
    /// # Errors
    ///
    /// If the directory is not a store, or cannot be read.
    pub fn open(path: &Path, options: StoreOptions, splits: Vec<Vec<u8>>) -> Result<Self> {
        let mut files = Vec::new();
        let listed = add_files(path, "", &mut files);
        let store = Store::open_read_only(path, options.clone())?;
        // Opening the store tells better what is wrong with the directory.
        listed.doing("list", path)?;
        files.sort_by(|one, other| one.file.cmp(&other.file));
        let stats = store.stats();
        let mut families: Vec<String> =
            store.families().into_iter().map(|(name, _)| name).collect();
        families.sort_unstable();
        let file_bytes: u64 = stats.families.iter().map(|family| family.file_bytes).sum();
        let count = splits.len() as u64 + 1;
        let rest = json!([stats.sequence_id, splits]);
        let start_rows = [Vec::new()].into_iter().chain(splits.clone());
        let end_rows = splits.into_iter().chain([Vec::new()]);
        let parts = start_rows
            .zip(end_rows)
            .enumerate()
            .map(|(number, (start_row, end_row))| {
                let (file_stem, name) = ("store".to_owned(), format!("store-{number}"));
                Part { file_stem, name, start_row, end_row, bytes: file_bytes / count }
            })
            .collect();
        Ok(Self {
            directory: path.to_owned(),
            options,
            families,
            parts,
            sequence_id: stats.sequence_id,
            state: SourceState::new(files, &rest),
        })
    }

    /// Writes the cells that a scan selects to files in the directory `output`.
    ///
    /// If an earlier run with the same options was stopped, the export goes on after its last part.
    ///
    /// # Errors
    ///
    /// If the store was written to or cannot be read, or a cell cannot be written; [`Error::Options`]
    /// if `output` is not the directory of this export.
    pub fn export(
        &self,
        scan: TableScan,
        form: ExportForm,
        output: &Path,
        observer: &dyn Observer,
    ) -> Result<Exported> {
        Export { source: self, scan, form, output, observer }.run()
    }

    /// Opens the store again, with the time of the export.
    fn snapshot(&self, scan: &TableScan) -> Result<Snapshot> {
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
            let family = String::from_utf8_lossy(&wanted.family);
            return Err(Error::unknown_family(&store, &family));
        }
        if store.stats().sequence_id != self.sequence_id {
            return Err(Error::Refused(format!(
                "{}: the store was written to during the export; export a checkpoint of it",
                self.directory.display()
            )));
        }
        Ok(store.snapshot())
    }
}

impl ExportSource for StoreSource {
    fn describe(&self, _with_logs: bool) -> Source {
        Source::Store {
            store: self.directory.display().to_string(),
            families: self.families.clone(),
            state: self.state.clone(),
        }
    }

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn check(&self, scan: &TableScan) -> Result<Vec<MissingCells>> {
        self.snapshot(scan)?;
        Ok(Vec::new())
    }

    fn open(
        &self,
        part: usize,
        scan: &TableScan,
        _observer: &dyn Observer,
    ) -> Result<Box<dyn PartCells + '_>> {
        let (snapshot, mut of_part) = (self.snapshot(scan)?, scan.clone());
        let Part { start_row, end_row, .. } = &self.parts[part];
        if of_part.start.as_ref().is_none_or(|start| start < start_row) {
            of_part.start = Some(start_row.clone());
        }
        if !end_row.is_empty() && of_part.stop.as_ref().is_none_or(|stop| stop > end_row) {
            of_part.stop = Some(end_row.clone());
        }
        let scans = self.families.iter().filter_map(|family| {
            Some(Scan::of_selection(family, &of_part.of_family(family.as_bytes())?))
        });
        Ok(Box::new(MergedScans::open(&snapshot, scans)?))
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
        let name = format!("{below}{}", path.file_name().unwrap_or_default().display());
        if path.is_dir() {
            add_files(&path, &format!("{name}/"), files)?;
        } else if name != "LOCK" {
            files.push(SourceFile::at(&path, name)?);
        }
    }
    Ok(())
}

impl PartCells for MergedScans {
    fn next_cell(&mut self) -> Result<Option<CellRef<'_>>> {
        Ok(self.next_ref()?)
    }

    fn trace(&mut self) -> ReadTrace {
        ReadTrace::default()
    }
}
