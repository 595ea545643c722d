//! Sorted runs of unflushed cells in a temporary file, for more of them than the memory may hold.
//!
//! ```text
//! file   run of one store | run of another store | …
//! run    an HFile: the cells of a store in order, with their tags and sequence ids
//! ```
//!
//! The file has no name, so nothing of it stays, however the program ends. (On Windows it has one, and the
//! system removes the file when it is closed.) A run of cells from memory has the level 0. When a store
//! has [`RUNS_MAX`] runs of a level, they are merged into one run of the next level.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cells::merge::CellCursor;
use sstable::{
    BloomType, Cell, Comparator, Compression, FileName, FileSource, KeyRef, ReadAt, Reader,
    ReaderOptions, Writer, WriterOptions,
};

use super::log_cells::{LogCursor, LogMerge};
use crate::error::{Error, Result};

/// The unflushed cells of a store, in order.
#[derive(Debug)]
pub(super) struct StoreLogCells {
    pub(super) cells: Arc<Vec<Cell>>,
    /// Older than the cells; the oldest first.
    pub(super) runs: Vec<Run>,
}

/// The number of runs of a store and a level that are merged.
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

/// Appends to the file from an offset on.
///
/// Seeks before each write: on Windows, a read at an offset moves the position, which all handles of
/// a file share, and a merge reads while it writes.
struct Appender<'f> {
    file: &'f File,
    offset: u64,
}

impl RunFile {
    /// Creates an empty file in a directory; `None` for the system's temporary directory.
    pub(super) fn create(directory: Option<&Path>, order: Comparator) -> Result<Self> {
        let parent = directory.map_or_else(std::env::temp_dir, Path::to_owned);
        let name = FileName::new(format!("{}: temporary file", parent.display()));
        let opened = tempfile::tempfile_in(&parent)
            .and_then(|file| Ok((file.try_clone()?, FileSource::new(file)?)));
        let (file, source) = opened
            .map_err(|source| {
                let (file, action) = (name.clone(), "create it".into());
                sstable::Error::Io { file, action, source }
            })
            .map_err(|error| Error::temporary(&parent, error))?;
        Ok(Self { file, source: Arc::new(source), len: 0, order, directory: parent, name })
    }

    /// Adds a run of sorted cells of one store to its runs, which are older.
    pub(super) fn add(&mut self, runs: &mut Vec<Run>, cells: &[Cell]) -> Result<()> {
        let mut left = cells.iter();
        let run = self.write(0, |writer| left.try_for_each(|cell| writer.append(cell.as_ref())));
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
        let cursors = readers.iter().rev().map(LogCursor::of_run).collect();
        let mut cells = LogMerge::new(cursors, KeyRef::before_row(b""), self.order)?;
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
        append: impl FnOnce(&mut Writer<Appender<'_>>) -> sstable::Result<()>,
    ) -> sstable::Result<Run> {
        let options = WriterOptions::default()
            .comparator(self.order)
            .compression(Compression::Lz4)
            .includes_tags(true)
            .bloom_type(BloomType::None)
            .delete_family_bloom(false);
        let appender = Appender { file: &self.file, offset: self.len };
        let mut writer = Writer::new(appender, self.name.clone(), options)?;
        append(&mut writer)?;
        let (_, summary) = writer.finish()?;
        let run = Run { offset: self.len, len: summary.len, level };
        self.len = self.len.saturating_add(summary.len);
        Ok(run)
    }

    /// Opens runs.
    pub(super) fn open(&self, runs: &[Run]) -> sstable::Result<Vec<Reader>> {
        runs.iter()
            .map(|run| {
                let source = RunSource { file: Arc::clone(&self.source), run: *run };
                Reader::open(Arc::new(source), self.name.clone(), ReaderOptions::default())
            })
            .collect()
    }
}

impl Write for Appender<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.seek(SeekFrom::Start(self.offset))?;
        let written = self.file.write(bytes)?;
        self.offset = self.offset.saturating_add(u64::try_from(written).unwrap_or(u64::MAX));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
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

#[cfg(test)]
mod tests {
    use sstable::{Caching, CellRef, Timestamp};

    use super::*;

    /// On Windows, a read moves the position that the writer shares.
    #[test]
    fn a_run_follows_the_last_one_wherever_the_file_was_read() {
        let mut file = RunFile::create(None, Comparator::Bytes).expect("a temporary file");
        let mut runs = Vec::new();
        let rows = [b"a", b"b", b"c"];
        for row in rows {
            let cell = CellRef::put(row, b"f", b"q", Timestamp::new(1), b"v").to_cell();
            file.add(&mut runs, &[cell]).expect("written");
            (&file.file).seek(SeekFrom::Start(7)).expect("moved");
        }
        let readers = file.open(&runs).expect("sound runs");
        for (row, reader) in rows.into_iter().zip(readers) {
            let mut cells = reader.scanner(Caching::Bypass);
            cells.seek(KeyRef::before_row(b"")).expect("sound");
            assert_eq!(cells.cell().map(|cell| cell.row), Some(&row[..]));
        }
    }
}
