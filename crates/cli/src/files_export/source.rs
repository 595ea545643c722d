//! HFiles as the source of an export: each is a part.

use std::collections::BTreeSet;

use anyhow::Context;
use hbase_files::{MissingCells, TableScan};
use serde_json::json;
use sstable::{Comparator, Half, KeyRef, Reader, WriterOptions, escape};

use super::cells::FileCells;
use crate::export::{
    ExportFormat, ExportSource, Form, Part, PartCells, Source, SourceFile, SourceState,
};
use crate::failure::UsageError;
use crate::inputs::Input;

/// Letters of a file's name in the names of its exported files.
const STEM_LEN_MAX: usize = 80;

/// The files to export.
pub(super) struct FilesSource<'i> {
    files: &'i [Input],
    parts: Vec<Part>,
    /// Of each file, for HFiles.
    options: Vec<WriterOptions>,
    state: SourceState,
    /// The families of the files that have cells, ascending.
    families: BTreeSet<Vec<u8>>,
    /// The order of rows, which is META if it is that of any file.
    row_order: Comparator,
}

impl<'i> FilesSource<'i> {
    /// Opens each file once, for its length and settings.
    pub(super) fn open(files: &'i [Input], form: &Form) -> anyhow::Result<Self> {
        let (mut parts, mut options, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
        let (mut sources, mut halves) = (Vec::new(), Vec::new());
        let mut families = BTreeSet::new();
        let mut row_order = Comparator::Bytes;
        for file in files {
            let name = file.name();
            if !names.insert(name.clone()) {
                return Err(UsageError(format!("{name} is given twice")).into());
            }
            let location = file.locate()?;
            let source = SourceFile::at(&location.path, name.clone())
                .with_context(|| format!("{}: cannot read", location.path.display()))?;
            let (stem, len) = (stem(file), source.bytes.unwrap_or_default());
            halves.push(location.half.as_ref().map(|half| {
                let is_top = half.half() == Half::Top;
                json!([is_top, half.split_row()])
            }));
            sources.push(source);
            let reader = file.open()?.reader;
            let whole = reader.whole();
            let is_meta = whole.trailer().comparator == Comparator::Meta;
            if is_meta && form.format == ExportFormat::Hfiles {
                return Err(UsageError(format!(
                    "{name}: HBase does not bulk load files of hbase:meta"
                ))
                .into());
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
    pub(super) const fn row_order(&self) -> Comparator {
        self.row_order
    }

    /// Describes the files.
    pub(super) fn describe(&self) -> Source {
        Source::Files { files: self.parts.len() as u64, state: self.state.clone() }
    }
}

impl ExportSource for FilesSource<'_> {
    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn check(&self, scan: &TableScan) -> anyhow::Result<Vec<MissingCells>> {
        let unknown = scan.families.iter().find(|wanted| !self.families.contains(&wanted.family));
        // Files without cells do not say which family they are of.
        let (Some(unknown), false) = (unknown, self.families.is_empty()) else {
            return Ok(Vec::new());
        };
        let known: Vec<_> = self.families.iter().map(|name| escape(name).to_string()).collect();
        let (unknown, known) = (escape(&unknown.family), known.join(", "));
        Err(UsageError(match self.files {
            [file] => format!("{}: has no family {unknown}; its family is {known}", file.name()),
            _ => format!("no file has family {unknown}; the families of the files: {known}"),
        })
        .into())
    }

    fn open(&self, part: usize, scan: &TableScan) -> anyhow::Result<Box<dyn PartCells + '_>> {
        let reader = self.files[part].open_with(scan.reader_options.clone())?.reader;
        Ok(Box::new(FileCells::open(&reader, scan)?))
    }

    fn writer_options(&self, part: usize, _family: &[u8]) -> WriterOptions {
        self.options[part].clone()
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
fn stem(file: &Input) -> String {
    let name = file.path().file_name().unwrap_or_default().to_string_lossy();
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' }
    };
    name.chars().map(letter).take(STEM_LEN_MAX).collect()
}
