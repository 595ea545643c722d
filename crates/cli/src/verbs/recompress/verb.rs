//! `hfile recompress`: its arguments, and its two modes, which measure files or rewrite one.

use std::path::{Path, PathBuf};

use anyhow::Context;
use sstable::tools::writer_options;
use sstable::{Compression, DataBlockEncoding, Reader, WriterOptions, ZstdFraming};
use transfer::ScratchDirectory;

use super::measure::Sample;
use super::report::{ComparedEncodings, RewriteReport};
use super::rewrite::Rewrite;
use crate::arguments::given::Given;
use crate::arguments::names::name_parser;
use crate::arguments::reading_options::reader_options;
use crate::arguments::writing_options;
use crate::failure::{Answer, UsageError};
use crate::inputs::{Input, Inputs, OpenInput, Target, single_hfile};
use crate::text::help::ADVANCED;
use crate::text::output::ReportFormat;
use crate::text::progress::Progress;
use crate::text::size_text::SizeText;
use crate::text::stderr::print_message;

/// Measure size and speed of HFiles under every encoding and codec, or rewrite one.
///
/// Writes the cells of each file to temporary files, one for every combination of data block encoding
/// and codec. They keep the original's block size, HBase Bloom filter, tags, sequence ids and row filter.
/// Reads each temporary file back and compares it with the original, cell by cell.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile recompress 4f1c.hfile
  hfile recompress --compression LZ4 --json region/cf | jq .variants
  hfile recompress 4f1c.hfile --data-block-encoding FAST_DIFF --compression LZ4 --output new.hfile

--output rewrites a single file, and keeps the settings that no option changes. Before the output gets its
final name, it is read back, checked as hfile verify does, and compared with the original. This can take twice
as long as writing. Output to stdout is not read back.
Temporary files are written to $TMPDIR, or /tmp, one at a time. Times are for files in the page cache.
Exit status: 0 done, 1 a file is damaged, or a copy differs from the original, 2 wrong usage, 3 could not read
or write.")]
#[expect(clippy::doc_markdown, reason = "backticks would be seen in the help")]
pub(crate) struct Recompress {
    /// HFiles, or directories of them, to measure; one HFile to rewrite
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Rewrite the file to OUT; - is stdout
    #[arg(long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replace the output if it exists
    #[arg(long, requires = "output")]
    force: bool,
    /// Do not read back the output
    #[arg(long, requires = "output")]
    no_verify: bool,
    /// Encode data blocks with NONE, PREFIX, DIFF, FAST_DIFF or ROW_INDEX_V1 [default: all, or the
    /// original's with --output]
    #[arg(long, value_name = "NAME", value_parser = name_parser::<DataBlockEncoding>())]
    #[arg(hide_possible_values = true)]
    data_block_encoding: Option<DataBlockEncoding>,
    /// Compress blocks with NONE, GZ, SNAPPY, LZ4 or ZSTD [default: all, or the original's with
    /// --output]
    #[arg(long, value_name = "NAME", value_parser = name_parser::<Compression>())]
    #[arg(hide_possible_values = true)]
    compression: Option<Compression>,
    /// Frame ZSTD data for the cluster's codec class: frame for ZStandardCodec, HBase's default, or
    /// blocks for ZstdCodec [default: the original's, or frame]
    #[arg(long, value_name = "NAME", value_parser = name_parser::<ZstdFraming>())]
    #[arg(hide_possible_values = true, help_heading = ADVANCED, hide_short_help = true)]
    zstd_framing: Option<ZstdFraming>,
    /// End a data block after this many bytes of cells [default: the original's]
    #[arg(long, value_name = "SIZE")]
    block_size: Option<SizeText>,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Recompress {
    /// Rewrites a single file with `--output`, otherwise measures each file.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let block_size = writing_options::small("block size", self.block_size)?;
        match (&self.output, &self.files[..]) {
            (Some(output), [file]) => self.rewrite(file, output, block_size),
            (Some(_), _) => Err(UsageError("--output takes a single file".to_owned()).into()),
            (None, paths) => {
                Inputs::expand_all(paths).for_each(|file| self.measure(file, block_size))
            }
        }
    }

    /// Returns the file's settings with the requested ZSTD framing and block size.
    ///
    /// The caller sets encoding and codec. The file id of a store is left out, because it must be
    /// unique to a file.
    fn writer_options(
        &self,
        reader: &Reader,
        block_size: Option<u32>,
    ) -> anyhow::Result<WriterOptions> {
        let options = writer_options(reader, &[store::tools::FILE_ID_KEY])?;
        Ok(options
            .given(self.zstd_framing, WriterOptions::zstd_framing)
            .given(block_size, WriterOptions::block_size))
    }

    fn rewrite(
        &self,
        file: &Path,
        destination: &Path,
        block_size: Option<u32>,
    ) -> anyhow::Result<Answer> {
        let input = single_hfile(file, "recompress --output")?;
        let reader = Reader::open_file(input, reader_options())?;
        let unchanged = self.writer_options(&reader, block_size)?;
        let codec = self.compression.unwrap_or(reader.blocks().compression());
        let encoding = self.data_block_encoding.unwrap_or(reader.blocks().encoding());
        let options = unchanged.compression(codec).data_block_encoding(encoding);
        let written = Rewrite { force: self.force, no_verify: self.no_verify };
        let summary = written.run(&reader, options, destination)?;
        if destination == Path::new("-") {
            return Ok(Answer::Positive);
        }
        self.report_format.print(&RewriteReport::new(
            file,
            destination,
            &reader,
            &summary,
            encoding,
            codec,
        ))
    }

    fn measure(&self, file: &Input, block_size: Option<u32>) -> anyhow::Result<Answer> {
        let OpenInput { reader, target } = file.open()?;
        if reader.half().is_some() {
            return refuse_half(file, &target);
        }
        let hfile = reader.whole();
        let options = self.writer_options(hfile, block_size)?;
        let all = DataBlockEncoding::ALL.into_iter();
        let encodings = all.filter(|encoding| {
            self.data_block_encoding.is_none_or(|requested| requested == *encoding)
        });
        let codecs: Vec<_> = match self.compression {
            Some(codec) => vec![codec],
            None => Compression::ALL.into_iter().filter(|codec| codec.is_supported()).collect(),
        };
        let variants: Vec<_> = encodings
            .flat_map(|encoding| codecs.iter().map(move |codec| (encoding, *codec)))
            .collect();

        let scratch = ScratchDirectory::create(None)?;
        // Each variant is written, and then compared with the original.
        let steps = hfile.trailer().entry_count.saturating_mul(2 * variants.len() as u64);
        let progress = Progress::new("sampling", steps);
        let sample = Sample::read(hfile)?;
        let mut report = ComparedEncodings::new(file.path(), hfile, sample.cell_bytes);
        for (encoding, codec) in variants {
            progress.set_phase(format!("{encoding}, {codec}"));
            let variant = options.clone().data_block_encoding(encoding).compression(codec);
            let destination = scratch.path().join(format!("{encoding}-{codec}"));
            let measured = sample
                .measure(hfile, variant, &destination, &progress)
                .with_context(|| format!("{} as {encoding}, {codec}", file.name()))?;
            report.add(encoding, codec, &measured);
        }
        drop(progress);
        self.report_format.print(&report)
    }
}

/// Says that a reference is not measured: its cells are in a file of another region.
///
/// # Errors
///
/// [`UsageError`] if an argument names the reference.
fn refuse_half(file: &Input, target: &Target) -> anyhow::Result<Answer> {
    let what =
        format!("{}: not measured: recompress takes whole HFiles", target.label(&file.name()));
    if file.is_argument() {
        return Err(UsageError(what).into());
    }
    print_message(format_args!("hfile: {what}"));
    Ok(Answer::Positive)
}
