//! `hfile filter rebuild`: a copy of a file with another row filter.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use filter::Seed;
use serde::Serialize;
use sstable::{
    FileInfoChange, FileName, FileSource, FilterOptions, FilterSummary, ReadAt, Reader,
    rebuild_filter,
};

use crate::arguments::names::{KindOrNone, name_parser};
use crate::arguments::reading_options::{limits, reader_options};
use crate::arguments::sizing::sizing;
use crate::failure::{Answer, UsageError};
use crate::inputs::single_hfile;
use crate::text::destination::Output;
use crate::text::help::ADVANCED;
use crate::text::output::{Report, ReportFormat};
use crate::text::progress::Progress;
use crate::text::rounded::show_percent;
use crate::text::size_text::{SizeText, show_count, show_size};

/// Copy an HFile with another row filter, or with none.
///
/// Copies data blocks, their index and the HBase Bloom filter byte for byte to the same offsets, and
/// rewrites META blocks, their index and the trailer. Works on files that HBase wrote, and HBase reads
/// the output. Drops the file id of a store's file, because the copy is not the file that the store's
/// manifest names.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile filter rebuild 4f1c.hfile --output new.hfile --kind blocked-bloom --error-rate 0.001
  hfile filter rebuild 4f1c.hfile --output new.hfile --kind cuckoo --bits-per-key 12.6
  hfile filter rebuild 4f1c.hfile --output plain.hfile --kind none

Exit status: 0 written, 1 the file is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Rebuild {
    /// HFile to copy
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Write the copy to OUT; - is stdout
    #[arg(long, value_name = "OUT")]
    output: PathBuf,
    /// Build this kind of filter; none removes the filter
    #[arg(long, value_name = "KIND", value_parser = name_parser::<KindOrNone>())]
    kind: KindOrNone,
    /// Set the error rate, between 0 and 1 [default: 0.01]
    #[arg(long, value_name = "RATE", group = "sizing")]
    error_rate: Option<f64>,
    /// Size the filter by bits per row
    #[arg(long, value_name = "BITS", group = "sizing")]
    bits_per_key: Option<f64>,
    /// Set the size of the whole filter, which is then not partitioned
    #[arg(long, value_name = "SIZE", group = "sizing")]
    budget: Option<SizeText>,
    /// Seed the filter's hash; files that are searched together need the same seed
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    seed: u64,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Rebuild {
    /// Writes the file and reports its filter.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let sizing = sizing(self.error_rate, self.bits_per_key, self.budget)?;
        let seed = Seed::new(self.seed);
        let filter = self.kind.0.map(|kind| FilterOptions { kind, sizing, seed });
        if let Some(filter) = filter {
            filter.check().map_err(|error| UsageError(error.to_string()))?;
        }
        let name = self.input.display().to_string();
        let input = single_hfile(&self.input, "filter rebuild")?;
        let source = FileSource::open(&input);
        let source: Arc<dyn ReadAt> =
            Arc::new(source.with_context(|| format!("{name}: cannot open"))?);
        let output = Output::create(&self.output, self.force)?;
        let file = FileName::new(name);
        // The cells are read for the filter, and then the blocks are copied.
        let passes = if filter.is_some() { 2 } else { 1 };
        let source = Arc::new(ShownReads::new(source, passes));
        let without_id = FileInfoChange { key: store::FILE_ID_KEY, value: None };
        let (output, size) = rebuild_filter(source, file, limits(), filter, &[without_id], output)?;
        output.finish()?;
        if self.output != Path::new("-") {
            let filter =
                Reader::open_file(&self.output, reader_options())?.filters().row_filter()?;
            self.report_format.print(&RebuildReport::new(&self.output, size, filter))?;
        }
        Ok(Answer::Positive)
    }
}

/// A source whose reads are shown as progress.
struct ShownReads {
    source: Arc<dyn ReadAt>,
    progress: Progress,
}

impl ShownReads {
    /// Expects that the source is read `passes` times.
    fn new(source: Arc<dyn ReadAt>, passes: u64) -> Self {
        let progress = Progress::bytes("building and copying", passes * source.len());
        Self { source, progress }
    }
}

impl ReadAt for ShownReads {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.progress.advance(buffer.len() as u64);
        self.source.read_exact_at(buffer, offset)
    }
}

/// The written file.
#[derive(Serialize)]
struct RebuildReport {
    schema: u32,
    file: String,
    size: u64,
    filter: Option<NewFilter>,
}

#[derive(Serialize)]
struct NewFilter {
    kind: &'static str,
    keys: u64,
    blocks: u64,
    bytes: u64,
    bits_per_key: f64,
    error_rate: f64,
}

impl RebuildReport {
    fn new(file: &Path, size: u64, filter: Option<FilterSummary>) -> Self {
        let filter = filter.map(|filter| NewFilter {
            kind: filter.kind.name(),
            keys: filter.key_count,
            blocks: filter.block_count as u64,
            bytes: filter.byte_size,
            bits_per_key: filter.bits_per_key,
            error_rate: filter.error_rate,
        });
        Self { schema: 1, file: file.display().to_string(), size, filter }
    }
}

impl Report for RebuildReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let size = show_size(self.size);
        let Some(filter) = &self.filter else {
            return writeln!(out, "{}: {size}, no row filter", self.file);
        };
        writeln!(
            out,
            "{}: {size}, {} over {} rows, {:.2} bits a row, {} false positives",
            self.file,
            filter.kind,
            show_count(filter.keys),
            filter.bits_per_key,
            show_percent(filter.error_rate)
        )
    }
}
