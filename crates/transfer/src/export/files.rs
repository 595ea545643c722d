//! HFiles as the source of an export: each is a part.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cells::escape;
use hbase_files::{LocalTree, Location, MissingCells, StoreFileCells, StoreFileReader, TableScan};
use serde_json::json;
use sstable::{
    CellRef, Comparator, FileName, Half, KeyRef, ReadTrace, Reader, ReaderOptions, WriterOptions,
};

use super::form::{ExportForm, ExportFormat};
use super::manifest::Source;
use super::run::{Export, Exported};
use super::source::{ExportSource, Part, PartCells};
use super::source_state::{SourceFile, SourceState};
use crate::error::{Doing, Error, Result};
use crate::progress::Observer;

/// Letters of a file's name in the names of its exported files.
const STEM_LEN_MAX: usize = 80;

/// An HFile to export.
#[derive(Clone, Debug)]
pub struct ExportFile {
    /// The path, by which the manifest names it.
    pub path: PathBuf,
    /// The HFile that has the cells, and the half.
    pub location: Location,
    /// The name in errors.
    pub name: FileName,
}

/// HFiles to export; each is a part.
pub struct FilesSource<'i> {
    files: &'i [ExportFile],
    parts: Vec<Part>,
    /// Of each file, for HFiles.
    options: Vec<WriterOptions>,
    state: SourceState,
    /// The families of the files that have cells, ascending.
    families: BTreeSet<Vec<u8>>,
    /// The order of rows: META if any file has the order META.
    row_order: Comparator,
}

impl<'i> FilesSource<'i> {
    /// Opens each file once, for its length and settings.
    ///
    /// # Errors
    ///
    /// If a file cannot be opened, is given twice, or cannot be exported in this form.
    pub fn open(
        files: &'i [ExportFile],
        form: &ExportForm,
        reader_options: &ReaderOptions,
    ) -> Result<Self> {
        let (mut parts, mut options, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
        let (mut sources, mut halves) = (Vec::new(), Vec::new());
        let mut families = BTreeSet::new();
        let mut row_order = Comparator::Bytes;
        for file in files {
            let name = file.path.display().to_string();
            if !names.insert(name.clone()) {
                return Err(Error::other(format!("{name} is given twice")));
            }
            let location = &file.location;
            let source =
                SourceFile::at(&location.path, name.clone()).doing("read", &location.path)?;
            let (stem, len) = (stem(file), source.bytes.unwrap_or_default());
            halves.push(location.half.as_ref().map(|half| {
                let is_top = half.half() == Half::Top;
                json!([is_top, half.split_key().row])
            }));
            sources.push(source);
            let reader = file.open(reader_options.clone())?;
            let whole = reader.whole();
            let is_meta = whole.trailer().comparator == Comparator::Meta;
            if is_meta && form.format == ExportFormat::Hfiles {
                return Err(Error::other(format!(
                    "{name}: HBase does not bulk load files of hbase:meta"
                )));
            }
            if is_meta {
                row_order = Comparator::Meta;
            }
            // All cells of an HFile are of one family.
            let first_key = whole.index().first_key().and_then(KeyRef::parse);
            families.extend(first_key.map(|key| key.family.to_vec()));
            options.push(settings(whole));
            // Of a half, about that much is read.
            let bytes = if location.half.is_some() { len / 2 } else { len };
            let (start_row, end_row) = (Vec::new(), Vec::new());
            parts.push(Part { name, file_stem: stem, start_row, end_row, bytes });
        }
        let state = SourceState::new(sources, &json!(halves));
        Ok(Self { files, parts, options, state, families, row_order })
    }

    /// Returns the order of the files' rows.
    pub const fn row_order(&self) -> Comparator {
        self.row_order
    }

    /// Writes the cells that a scan selects to files in the directory `output`.
    ///
    /// If an earlier run with the same options was stopped, the export goes on after its last part.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or a cell cannot be written; [`Error::Options`] if `output` is not the
    /// directory of this export.
    pub fn export(
        &self,
        scan: TableScan,
        form: ExportForm,
        output: &Path,
        observer: &dyn Observer,
    ) -> Result<Exported> {
        Export { source: self, scan, form, output, observer }.run()
    }
}

impl ExportFile {
    fn open(&self, options: ReaderOptions) -> Result<StoreFileReader> {
        let Self { location, name, .. } = self;
        Ok(StoreFileReader::open(&LocalTree, location, name.clone(), options)?)
    }
}

impl ExportSource for FilesSource<'_> {
    fn describe(&self, _with_logs: bool) -> Source {
        Source::Files { files: self.parts.len() as u64, state: self.state.clone() }
    }

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn check(&self, scan: &TableScan) -> Result<Vec<MissingCells>> {
        let unknown = scan.families.iter().find(|wanted| !self.families.contains(&wanted.family));
        // Files without cells do not say which family they are of.
        let (Some(unknown), false) = (unknown, self.families.is_empty()) else {
            return Ok(Vec::new());
        };
        let names: Vec<_> = self.families.iter().map(|name| escape(name).to_string()).collect();
        let (name, known) = (escape(&unknown.family), names.join(", "));
        Err(Error::other(match self.files {
            [file] => {
                format!("{}: has no family {name}; its family is {known}", file.path.display())
            }
            _ => format!("no file has family {name}; the families of the files: {known}"),
        }))
    }

    fn open(
        &self,
        part: usize,
        scan: &TableScan,
        _observer: &dyn Observer,
    ) -> Result<Box<dyn PartCells + '_>> {
        let reader = self.files[part].open(scan.reader_options.clone())?;
        Ok(Box::new(StoreFileCells::open_in_full(&reader, scan)?))
    }

    fn writer_options(&self, part: usize, _family: &[u8]) -> WriterOptions {
        self.options[part].clone()
    }
}

impl PartCells for StoreFileCells {
    fn next_cell(&mut self) -> Result<Option<CellRef<'_>>> {
        Ok(self.next_ref()?)
    }

    fn trace(&mut self) -> ReadTrace {
        *Self::trace(self)
    }
}

/// Returns the settings of a file that a file with its cells shares.
fn settings(file: &Reader) -> WriterOptions {
    let options = WriterOptions::default()
        .data_block_encoding(file.blocks().encoding())
        .compression(file.blocks().compression());
    match file.filters().bloom() {
        Some(bloom) => options.bloom_type(bloom.bloom_type),
        None => options.bloom_type(sstable::BloomType::None),
    }
}

/// Returns a file's name with letters that any file system takes.
fn stem(file: &ExportFile) -> String {
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let safe = name
        .replace(|letter: char| !(letter.is_ascii_alphanumeric() || "._-".contains(letter)), "_");
    safe.chars().take(STEM_LEN_MAX).collect()
}
