//! Measures one variant of a file: its cells, written with one encoding and one codec.
//!
//! A measurement writes the variant, scans it, gets sample rows from it, and compares it with the
//! original. Writing, scanning and gets are timed.

use std::fs::{self, File};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use filter::Seed;
use hfile_cli::workload::Random;
use sstable::{Cell, FileName, FilterUse, Reader, RowProbe, Scanner, Writer, WriterOptions};
use transfer::cell_bytes;

use super::meta_blocks::copy_meta_blocks;
use super::read_back::compare;
use crate::arguments::reading_options::{reader_options, scan, scan_without_read_ahead};
use crate::failure::Failure;
use crate::text::progress::Progress;

/// Reads and writes take turns with batches of about this many bytes: only the writes are timed.
const BATCH_BYTES: u64 = 4 << 20;

/// The maximum number of sample rows, which are looked up in each variant.
const ROWS_MAX: u64 = 100;

/// The size of a file's cells, and a sample of its rows.
pub(super) struct Sample {
    /// Bytes of all keys, values and tags.
    pub(super) cell_bytes: u64,
    /// Sample rows, evenly distributed over the file, in random order.
    rows: Vec<Vec<u8>>,
}

/// The measurement of one variant.
pub(super) struct Measured {
    /// The length of the written file in bytes.
    pub(super) size: u64,
    /// The time of writing all cells.
    pub(super) writing: Duration,
    /// The time of scanning all cells.
    pub(super) scanning: Duration,
    /// The median time of a get; `None` for a file without cells.
    pub(super) get: Option<Duration>,
}

impl Sample {
    /// Scans a file for the size of its cells and for sample rows.
    pub(super) fn read(reader: &Reader) -> anyhow::Result<Self> {
        let stride = reader.trailer().entry_count.div_ceil(ROWS_MAX).max(1);
        let (mut cell_bytes, mut rows) = (0, Vec::new());
        let mut scanner = scan(reader)?;
        let mut number = 0;
        while let Some(cell) = scanner.cell() {
            cell_bytes += (cell.key().flat_len() + cell.value.len() + cell.tags.len()) as u64;
            // Limits the sample even if the trailer's entry count, and so the stride, is wrong.
            if number % stride == 0 && (rows.len() as u64) < ROWS_MAX {
                rows.push(cell.row.to_vec());
            }
            number += 1;
            scanner.advance()?;
        }
        Random::new(1).shuffle(&mut rows);
        Ok(Self { cell_bytes, rows })
    }

    /// Writes the cells of `reader` to the file `destination`, measures the file, and removes it.
    pub(super) fn measure(
        &self,
        reader: &Reader,
        options: WriterOptions,
        destination: &Path,
        progress: &Progress,
    ) -> anyhow::Result<Measured> {
        let shown = destination.display().to_string();
        let file = File::create(destination).with_context(|| format!("{shown}: cannot create"))?;
        let mut writer = Writer::new(file, FileName::new(shown.clone()), options)?;
        let mut writing = Duration::ZERO;
        let mut scanner = scan_without_read_ahead(reader)?;
        let mut batch = Vec::new();
        while read_batch(&mut scanner, &mut batch)? {
            let started = Instant::now();
            for cell in &batch {
                writer.append(cell.as_ref())?;
            }
            writing += started.elapsed();
            progress.advance(batch.len() as u64);
        }
        copy_meta_blocks(reader, &mut writer)?;
        let started = Instant::now();
        let (_, summary) = writer.finish()?;
        writing += started.elapsed();

        let written = Reader::open_file(destination, reader_options())?;
        let scanning = time_scan(&written)?;
        let get = self.time_gets(destination)?;
        compare(reader, &written, progress)?;
        drop(written);
        fs::remove_file(destination).with_context(|| format!("{shown}: cannot remove"))?;
        Ok(Measured { size: summary.len, writing, scanning, get })
    }

    /// Returns the median time of gets of the sample rows; `None` without rows.
    ///
    /// Gets use no block cache. They query no filter, because all variants have the same filters.
    fn time_gets(&self, destination: &Path) -> anyhow::Result<Option<Duration>> {
        let written = Reader::open_file(destination, reader_options().filter_use(FilterUse::None))?;
        let mut times = Vec::new();
        for row in &self.rows {
            let probe = RowProbe::new(row, Seed::default());
            let started = Instant::now();
            let found = black_box(written.look_up(&probe)?);
            times.push(started.elapsed());
            if found.cell().is_none() {
                return Err(Failure::ReadMismatch(format!(
                    "{}: row {} not found",
                    written.name(),
                    cells::escape(row)
                ))
                .into());
            }
        }
        times.sort_unstable();
        Ok(times.get(times.len() / 2).copied())
    }
}

/// Replaces `batch` by the next cells. Returns false at the end of the file.
fn read_batch(scanner: &mut Scanner, batch: &mut Vec<Cell>) -> sstable::Result<bool> {
    batch.clear();
    let mut bytes = 0;
    while bytes < BATCH_BYTES
        && let Some(current) = scanner.cell()
    {
        let cell = current.to_cell();
        bytes += cell_bytes(&cell);
        batch.push(cell);
        scanner.advance()?;
    }
    Ok(!batch.is_empty())
}

/// Returns the time of a scan over all cells.
fn time_scan(written: &Reader) -> sstable::Result<Duration> {
    let started = Instant::now();
    let mut scanner = scan_without_read_ahead(written)?;
    while let Some(cell) = scanner.cell() {
        black_box(cell);
        scanner.advance()?;
    }
    Ok(started.elapsed())
}
