//! Cells brought into HBase's order in bounded memory.
//!
//! ```text
//! input ─→ gathered up to the bound ─→ sorted ─→ run 0, run 1, … in a scratch directory ─→ merged
//! ```
//!
//! A run is an HFile: the order of cells, tags and sequence ids are kept by what keeps them anyway.
//! What fits the bound is sorted where it is. The directory is gone with the last cell, at a failure
//! and at Ctrl-C.

use std::cmp::Ordering;
use std::fs::File;
use std::path::PathBuf;

use anyhow::Context;
use sstable::{
    BloomType, Caching, Cell, CellRef, Comparator, Compression, FileName, Reader, Scanner, Writer,
    WriterOptions,
};

use crate::cells_input::Cells;
use crate::half_made::ScratchDirectory;
use crate::reading_options::reader_options;

/// Sorts cells, of which at most `memory` bytes are held at a time. Errors about cells that no file
/// can hold call the file `name`. Equal cells stay in the order they came in.
pub(crate) fn sorted(
    cells: Cells,
    order: Comparator,
    memory: u64,
    name: &FileName,
) -> anyhow::Result<Cells> {
    let mut gathered: Vec<Cell> = Vec::new();
    let mut bytes = 0;
    let mut runs: Option<Runs> = None;
    for cell in cells {
        let cell = cell?;
        bytes += cell_bytes(&cell);
        gathered.push(cell);
        if bytes > memory {
            let runs = match &mut runs {
                Some(runs) => runs,
                None => runs.insert(Runs::begin(order, name)?),
            };
            runs.add(&mut gathered)?;
            bytes = 0;
        }
    }
    match runs {
        None => {
            gathered.sort_by(|one, other| compare(order, &one.as_ref(), &other.as_ref()));
            Ok(Box::new(gathered.into_iter().map(Ok)))
        }
        Some(mut runs) => {
            runs.add(&mut gathered)?;
            Ok(Box::new(runs.merge()?))
        }
    }
}

/// Bytes that a gathered cell takes.
fn cell_bytes(cell: &Cell) -> u64 {
    let parts = cell.as_ref();
    let bytes = parts.key().flat_len() + parts.value.len() + parts.tags.len();
    (bytes + size_of::<Cell>()) as u64
}

/// HBase's order: by key, and of equal keys the one written last first.
fn compare(order: Comparator, one: &CellRef<'_>, other: &CellRef<'_>) -> Ordering {
    order.compare(&one.key(), &other.key()).then_with(|| other.sequence_id.cmp(&one.sequence_id))
}

/// Sorted files in a directory of their own.
struct Runs {
    directory: ScratchDirectory,
    files: Vec<PathBuf>,
    order: Comparator,
    name: FileName,
}

impl Runs {
    fn begin(order: Comparator, name: &FileName) -> anyhow::Result<Self> {
        let directory = ScratchDirectory::create(None)?;
        Ok(Self { directory, files: Vec::new(), order, name: name.clone() })
    }

    /// Writes what was gathered as a further run.
    fn add(&mut self, gathered: &mut Vec<Cell>) -> anyhow::Result<()> {
        gathered.sort_by(|one, other| compare(self.order, &one.as_ref(), &other.as_ref()));
        let path = self.directory.path().join(self.files.len().to_string());
        let shown = path.display().to_string();
        let file = File::create(&path).with_context(|| format!("{shown}: cannot create"))?;
        let options = WriterOptions::default()
            .comparator(self.order)
            .compression(Compression::Lz4)
            .includes_tags(true)
            .bloom_type(BloomType::None)
            .delete_family_bloom(false);
        let mut writer = Writer::new(file, self.name.clone(), options)?;
        for cell in gathered.drain(..) {
            writer.append(cell.as_ref())?;
        }
        writer.finish()?;
        self.files.push(path);
        Ok(())
    }

    fn merge(self) -> anyhow::Result<Merge> {
        let mut scanners = Vec::new();
        for path in &self.files {
            let mut scanner = Reader::open_file(path, reader_options())?.scanner(Caching::Bypass);
            scanner.seek_to_first()?;
            scanners.push(scanner);
        }
        Ok(Merge { scanners, order: self.order, _directory: self.directory })
    }
}

/// The least cell of all runs, again and again.
struct Merge {
    scanners: Vec<Scanner>,
    order: Comparator,
    _directory: ScratchDirectory,
}

impl Iterator for Merge {
    type Item = sstable::Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        let order = self.order;
        let heads = self.scanners.iter().enumerate();
        let heads = heads.filter_map(|(run, scanner)| Some((run, scanner.cell()?)));
        // Of equal cells the one in the earliest run, which came first.
        let (run, cell) = heads.min_by(|(_, one), (_, other)| compare(order, one, other))?;
        let cell = cell.to_cell();
        Some(self.scanners[run].advance().map(|()| cell))
    }
}
