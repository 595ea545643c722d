//! `hfile filter rebuild`: copies of files with another row filter, or another HBase Bloom filter.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use filter::{ErrorRate, Seed};
use serde::Serialize;
use sstable::tools::{FileInfoChange, rebuild_filter, writer_options};
use sstable::{BloomType, FileName, FileSource, FilterOptions, ReadAt, Reader, WriterOptions};

use crate::arguments::given::Given;
use crate::arguments::names::{KindOrNone, name_parser};
use crate::arguments::reading_options::{limits, reader_options};
use crate::arguments::sizing::sizing;
use crate::arguments::writing_options::{bloom_of_length, error_rate};
use crate::failure::{Answer, UsageError, refuse};
use crate::inputs::{Inputs, single_hfile};
use crate::text::destination::Output;
use crate::text::help::ADVANCED;
use crate::text::output::{Report, ReportFormat};
use crate::text::progress::Progress;
use crate::text::rounded::show_percent;
use crate::text::size_text::{SizeText, show_count, show_number, show_size};
use crate::text::stderr::print_message;
use crate::verbs::recompress::Rewrite;

/// Copy HFiles with another row filter, or with another HBase Bloom filter.
///
/// --kind writes another row filter of this project, which HBase ignores, and copies everything else unchanged:
/// data blocks, their index and the HBase Bloom filter keep their bytes and offsets.
/// --bloom-type writes another Bloom filter of HBase. Its chunks lie between the data blocks, so it rewrites all
/// blocks, as recompress does, and compares their cells with the original.
/// Works on files that HBase wrote, and HBase reads the output. Drops the file id of a store's file, because the
/// copy is not the file that the store's manifest names.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile filter rebuild 4f1c.hfile --output new.hfile --kind blocked-bloom --error-rate 0.001
  hfile filter rebuild 4f1c.hfile --output new.hfile --kind cuckoo --bits-per-key 12.6
  hfile filter rebuild 4f1c.hfile --output plain.hfile --kind none
  hfile filter rebuild 4f1c.hfile --output new.hfile --bloom-type ROWCOL --bloom-error-rate 0.001
  hfile filter rebuild region/cf --output new-cf --bloom-type ROW

Of a directory, copies each HFile to the same path below OUT, that of a link under the name of its HFile.
References to halves of files are not copied. The printed error rate follows from the size of the filter: HBase rounds
a small Bloom filter up to a power of two, so that it errs less than asked.
hfile bench --hfiles compares filters on the files.
Exit status: 0 written, 1 a file is damaged or a reference was not copied, 2 wrong usage, 3 could not read or write.")]
#[command(group = clap::ArgGroup::new("new filter").required(true).args(["kind", "bloom_type"]))]
#[expect(clippy::doc_markdown, reason = "backticks would be seen in the help")]
pub(crate) struct Rebuild {
    /// HFile to copy, or directory of HFiles
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Write the copy to OUT; - is stdout. Of a directory, write the copies below OUT
    #[arg(long, value_name = "OUT")]
    output: PathBuf,
    // An argument is not required if it conflicts with one that is given, so each names its conflict, too.
    /// Build this kind of row filter; none removes the filter
    #[arg(long, value_name = "KIND", value_parser = name_parser::<KindOrNone>())]
    kind: Option<KindOrNone>,
    /// Set the error rate of the row filter, between 0 and 1 [default: 0.01]
    #[arg(
        long,
        value_name = "RATE",
        group = "sizing",
        requires = "kind",
        conflicts_with = "bloom_type"
    )]
    error_rate: Option<f64>,
    /// Size the row filter by bits per row
    #[arg(
        long,
        value_name = "BITS",
        group = "sizing",
        requires = "kind",
        conflicts_with = "bloom_type"
    )]
    bits_per_key: Option<f64>,
    /// Set the size of the whole row filter, which is then not partitioned
    #[arg(
        long,
        value_name = "SIZE",
        group = "sizing",
        requires = "kind",
        conflicts_with = "bloom_type"
    )]
    budget: Option<SizeText>,
    /// Write HBase's own Bloom filter: NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = name_parser::<BloomType>())]
    bloom_type: Option<BloomType>,
    /// Set the error rate of the HBase Bloom filter, between 0 and 1 [default: that of the file, or 0.01]
    #[arg(long, value_name = "RATE", requires = "bloom_type", conflicts_with = "kind")]
    bloom_error_rate: Option<f64>,
    /// Set the length of the row prefix for ROWPREFIX_FIXED_LENGTH
    #[arg(long, value_name = "BYTES", requires = "bloom_type", conflicts_with = "kind")]
    bloom_prefix_length: Option<u16>,
    /// Seed the row filter's hash; files that are searched together need the same seed [default: 0]
    #[arg(long, value_name = "NUMBER", requires = "kind", conflicts_with = "bloom_type")]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    seed: Option<u64>,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

/// The filter to write.
enum NewFilter {
    /// A row filter, or none.
    Row(Option<FilterOptions>),
    /// HBase's Bloom filter, with another error rate if it is given.
    Bloom(BloomType, Option<ErrorRate>),
}

impl Rebuild {
    /// Writes the files and reports their filters.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let filter = self.new_filter()?;
        if !self.input.is_dir() {
            let input = single_hfile(&self.input, "filter rebuild")?;
            let name = self.input.display().to_string();
            return self.rebuild(&filter, &input, &name, &self.output);
        }
        if self.output == Path::new("-") || self.output.is_file() {
            let input = self.input.display();
            refuse!("{input} is a directory, so that --output must be one, too");
        }
        let mut references = 0_u64;
        let mut written = BTreeSet::new();
        let answer = Inputs::expand_all(std::slice::from_ref(&self.input)).for_each(|input| {
            let location = input.locate()?;
            if location.half.is_some() {
                references += 1;
                return Ok(Answer::Positive);
            }
            let below = input.path().strip_prefix(&self.input).unwrap_or(input.path());
            // HBase takes a file for a link by its name, so the copy has the name of the HFile.
            let name = location.path.file_name().unwrap_or_default();
            let output = self.output.join(below).with_file_name(name);
            if !written.insert(output.clone()) {
                let shown = output.display();
                refuse!("{shown}: two files have this name, of which one is behind a link; copy them one by one");
            }
            let directory = output.parent().unwrap_or(&self.output);
            std::fs::create_dir_all(directory)
                .with_context(|| format!("{}: cannot create", directory.display()))?;
            self.rebuild(&filter, &location.path, &input.name(), &output)
        })?;
        if references == 0 {
            return Ok(answer);
        }
        print_message(format_args!(
            "hfile: {} not copied: each stands for a half of a file, so that {} does not have all rows; a compaction \
             of HBase writes the halves to files",
            show_number(references, "reference"),
            self.output.display()
        ));
        Ok(Answer::Negative)
    }

    fn new_filter(&self) -> anyhow::Result<NewFilter> {
        if let Some(named) = self.bloom_type {
            let bloom = bloom_of_length(named, self.bloom_prefix_length.unwrap_or(0));
            if bloom == BloomType::RowPrefixFixedLength(0) {
                refuse!("{bloom} needs --bloom-prefix-length");
            }
            let rate = self.bloom_error_rate.map(error_rate).transpose()?;
            return Ok(NewFilter::Bloom(bloom, rate));
        }
        let sizing = sizing(self.error_rate, self.bits_per_key, self.budget)?;
        let seed = Seed::new(self.seed.unwrap_or(0));
        let kind = self.kind.as_ref().and_then(|kind| kind.0);
        let filter = kind.map(|kind| FilterOptions::new(kind, sizing).seed(seed));
        if let Some(filter) = filter {
            filter.check().map_err(|error| UsageError(error.to_string()))?;
        }
        Ok(NewFilter::Row(filter))
    }

    fn rebuild(
        &self,
        filter: &NewFilter,
        input: &Path,
        name: &str,
        output: &Path,
    ) -> anyhow::Result<Answer> {
        match filter {
            NewFilter::Row(filter) => self.copy_with_row_filter(*filter, input, name, output)?,
            NewFilter::Bloom(bloom, rate) => {
                let reader = Reader::open_file(input, reader_options())?;
                let options = writer_options(&reader, &[store::tools::FILE_ID_KEY])?
                    .bloom_type(*bloom)
                    .given(*rate, WriterOptions::bloom_error_rate);
                Rewrite { force: self.force, no_verify: false }.run(&reader, options, output)?;
            }
        }
        if output == Path::new("-") {
            return Ok(Answer::Positive);
        }
        let reader = Reader::open_file(output, reader_options())?;
        let asked = self.error_rate.or(self.bloom_error_rate);
        self.report_format.print(&RebuildReport::new(
            output,
            &reader,
            asked,
            self.bloom_type.is_some(),
        )?)
    }

    fn copy_with_row_filter(
        &self,
        filter: Option<FilterOptions>,
        input: &Path,
        name: &str,
        destination: &Path,
    ) -> anyhow::Result<()> {
        let opened = FileSource::open(input);
        let bytes: Arc<dyn ReadAt> =
            Arc::new(opened.with_context(|| format!("{name}: cannot open"))?);
        let sink = Output::create(destination, self.force)?;
        // The cells are read for the filter, and then the blocks are copied.
        let passes = if filter.is_some() { 2 } else { 1 };
        let source = Arc::new(ShownReads::new(bytes, passes));
        let without_id = FileInfoChange { key: store::tools::FILE_ID_KEY, value: None };
        let file = FileName::new(name);
        let (output, _) = rebuild_filter(source, file, limits(), filter, &[without_id], sink)?;
        output.finish()
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
    /// The row filter.
    filter: Option<RowFilter>,
    /// HBase's Bloom filter.
    bloom: Option<Bloom>,
    /// The error rate that was asked for, of the filter that is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate_asked: Option<f64>,
    /// Whether the new filter is HBase's Bloom filter.
    #[serde(skip)]
    is_bloom: bool,
}

#[derive(Serialize)]
struct RowFilter {
    kind: &'static str,
    keys: u64,
    blocks: u64,
    bytes: u64,
    bits_per_key: f64,
    error_rate: f64,
}

#[derive(Serialize)]
struct Bloom {
    #[serde(rename = "type")]
    bloom_type: &'static str,
    keys: u64,
    bytes: u64,
    bits_per_key: f64,
    error_rate: f64,
}

impl RebuildReport {
    fn new(
        file: &Path,
        reader: &Reader,
        asked: Option<f64>,
        is_bloom: bool,
    ) -> sstable::Result<Self> {
        let filter = reader.filters().row_filter()?.map(|filter| RowFilter {
            kind: filter.kind.name(),
            keys: filter.key_count,
            blocks: filter.block_count as u64,
            bytes: filter.byte_size,
            bits_per_key: filter.bits_per_key,
            error_rate: filter.error_rate,
        });
        let bloom = reader.filters().bloom().map(|bloom| Bloom {
            bloom_type: bloom.bloom_type.name(),
            keys: bloom.key_count,
            bytes: bloom.byte_size,
            bits_per_key: bloom.bits_per_key(),
            error_rate: bloom.error_rate(),
        });
        Ok(Self {
            schema: 1,
            file: file.display().to_string(),
            size: reader.len(),
            filter,
            bloom,
            error_rate_asked: asked,
            is_bloom,
        })
    }
}

impl Report for RebuildReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}: {}", self.file, show_size(self.size))?;
        let rate = self.error_rate_asked.map(|rate| format!(" ({} asked)", show_percent(rate)));
        let asked = rate.unwrap_or_default();
        let (of_filter, of_bloom) = if self.is_bloom { ("", &*asked) } else { (&*asked, "") };
        match &self.filter {
            None => write!(out, ", no row filter")?,
            Some(filter) => write!(
                out,
                ", {} over {} rows, {:.2} bits a row, {} false positives{of_filter}",
                filter.kind,
                show_count(filter.keys),
                filter.bits_per_key,
                show_percent(filter.error_rate)
            )?,
        }
        match &self.bloom {
            None => write!(out, "; no HBase Bloom")?,
            Some(bloom) => write!(
                out,
                "; HBase Bloom {} over {} keys, {:.2} bits a key, {} false positives{of_bloom}",
                bloom.bloom_type,
                show_count(bloom.keys),
                bloom.bits_per_key,
                show_percent(bloom.error_rate)
            )?,
        }
        writeln!(out)
    }
}
