//! Sorted runs of unflushed cells in a temporary file, for more of them than the memory may hold.
//!
//! ```text
//! file   run of one store | run of another store | …
//! run    an HFile: the cells of a store in order, with their tags and sequence ids
//! ```
//!
//! The file has no name, or is removed when it is closed, so nothing of it stays, however the program
//! ends. A store has at most [`RUNS_MAX`] runs of a size: then they are merged into one run.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{
    BloomType, Cell, Comparator, Compression, FileName, FileSource, KeyRef, ReadAt, Reader,
    ReaderOptions, Writer, WriterOptions,
};
use store::merge::CellCursor;

use super::log_cells::{LogMerge, LogSource};
use crate::{Error, Result};

/// The maximum number of runs of a store that are of the same level.
const RUNS_MAX: usize = 16;

/// A temporary file of runs.
#[derive(Debug)]
pub(super) struct RunFile {
    file: File,
    source: Arc<FileSource>,
    /// The number of bytes of whole runs.
    len: u64,
    order: Comparator,
    directory: PathBuf,
    name: FileName,
}

/// A run of a store: its place in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    offset: u64,
    len: u64,
    /// How many times its cells were merged.
    level: u32,
}

impl RunFile {
    /// Creates an empty file in a directory; `None` for that of the system.
    pub(super) fn create(directory: Option<&Path>, order: Comparator) -> Result<Self> {
        let directory = directory.map_or_else(std::env::temp_dir, Path::to_owned);
        let name = FileName::new(format!("{}: temporary file", directory.display()));
        let failed = |source| {
            let (file, action) = (name.clone(), "create it".into());
            sstable::Error::Io { file, action, source }
        };
        let opened = tempfile::tempfile_in(&directory)
            .and_then(|file| Ok((file.try_clone()?, FileSource::new(file)?)));
        let (file, source) =
            opened.map_err(failed).map_err(|error| Error::temporary(&directory, error))?;
        Ok(Self { file, source: Arc::new(source), len: 0, order, directory, name })
    }

    /// Adds a run of sorted cells of one store to its runs, which are older.
    pub(super) fn add(&mut self, runs: &mut Vec<Run>, cells: &[Cell]) -> Result<()> {
        let mut cells = cells.iter();
        let run = self.write(0, |writer| cells.try_for_each(|cell| writer.append(cell.as_ref())));
        runs.push(run.map_err(|error| Error::temporary(&self.directory, error))?);
        while let Some(last) = runs.last_chunk::<RUNS_MAX>()
            && let [first, .., newest] = last
            && first.level == newest.level
        {
            let merged =
                self.merge(last).map_err(|error| Error::temporary(&self.directory, error))?;
            runs.truncate(runs.len().saturating_sub(RUNS_MAX));
            runs.push(merged);
        }
        Ok(())
    }

    /// Writes the cells of some runs, oldest first, as one run.
    fn merge(&mut self, runs: &[Run; RUNS_MAX]) -> sstable::Result<Run> {
        let [.., Run { level, .. }] = runs;
        let readers = self.open(runs)?;
        let sources = readers.iter().rev().map(LogSource::of_run).collect();
        let mut cells = LogMerge::new(sources, KeyRef::before_row(b""), self.order)?;
        self.write(level.saturating_add(1), |writer| {
            while let Some(cell) = cells.cell() {
                writer.append(cell)?;
                cells.advance()?;
            }
            Ok(())
        })
    }

    fn write(
        &mut self,
        level: u32,
        append: impl FnOnce(&mut Writer<&File>) -> sstable::Result<()>,
    ) -> sstable::Result<Run> {
        let options = WriterOptions::default()
            .comparator(self.order)
            .compression(Compression::Lz4)
            .includes_tags(true)
            .bloom_type(BloomType::None)
            .delete_family_bloom(false);
        let mut writer = Writer::new(&self.file, self.name.clone(), options)?;
        append(&mut writer)?;
        let (_, summary) = writer.finish()?;
        let run = Run { offset: self.len, len: summary.len, level };
        self.len = self.len.saturating_add(summary.len);
        Ok(run)
    }

    /// Opens runs.
    pub(super) fn open(&self, runs: &[Run]) -> sstable::Result<Vec<Reader>> {
        let open = |run: &Run| {
            let source = RunSource { file: Arc::clone(&self.source), run: *run };
            Reader::open(Arc::new(source), self.name.clone(), ReaderOptions::default())
        };
        runs.iter().map(open).collect()
    }
}

/// The bytes of a run.
struct RunSource {
    file: Arc<FileSource>,
    run: Run,
}

impl ReadAt for RunSource {
    fn len(&self) -> u64 {
        self.run.len
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let len = u64::try_from(buffer.len()).unwrap_or(u64::MAX);
        if offset.checked_add(len).is_none_or(|end| end > self.run.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.file.read_exact_at(buffer, self.run.offset.saturating_add(offset))
    }
}
