//! `hfile info`: a summary of a file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sstable::{Reader, TimeRange, escape};

use crate::failure::Answer;
use crate::inputs::{Inputs, OpenInput, Target};
use crate::output::{Report, ReportFormat};
use crate::size_text::{show_count, show_number, show_size};

/// Show size, cells, key range, codec, encoding, index and filters of HFiles.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile info 4f1c.hfile
  hfile info region/cf
  hfile info --json data/default/users | jq -r 'select(.bloom == null) | .file'

Reads only the trailer and the blocks that opening a file loads, so large files take no longer. Continues with
the other files if one cannot be read.
Exit status: 0 all read, 1 a file is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Info {
    /// HFiles, or directories of them, to describe
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Info {
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let mut needs_separator = false;
        Inputs::expand(&self.files).for_each(|input| {
            let OpenInput { reader, target } = input.open()?;
            if needs_separator {
                self.report_format.print(&Separator)?;
            }
            needs_separator = !self.report_format.is_json();
            let report = FileReport::new(input.path(), reader.whole(), target);
            self.report_format.print(&report)?;
            Ok(Answer::from_bool(report.problems.is_empty()))
        })
    }
}

/// The empty line between two files.
#[derive(Serialize)]
struct Separator;

impl Report for Separator {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)
    }
}

/// The report about a file, as text and as JSON.
#[derive(Serialize)]
struct FileReport {
    schema: u32,
    file: String,
    #[serde(flatten)]
    target: Target,
    size: u64,
    version: String,
    cells: u64,
    /// Escaped as HBase prints keys; `None` if the file has no cells.
    first_row: Option<String>,
    last_row: Option<String>,
    /// The timestamps of all cells in milliseconds, both ends inclusive.
    time_range: Option<[i64; 2]>,
    max_sequence_id: Option<u64>,
    /// Milliseconds since 1970.
    create_time: Option<i64>,
    /// Whether a major compaction wrote the file.
    major_compaction: bool,
    average_key_bytes: Option<u32>,
    average_value_bytes: Option<u32>,
    compression: &'static str,
    encoding: &'static str,
    checksum: &'static str,
    includes_tags: bool,
    /// Whether cells have sequence ids, which HBase calls mvcc.
    includes_mvcc: bool,
    index_levels: u32,
    /// Entries of the root index.
    index_root_entries: u32,
    meta_blocks: Vec<String>,
    bloom: Option<BloomReport>,
    filter: Option<FilterReport>,
    /// Why filters cannot be read. Reads cannot skip the file by such a filter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// HBase's Bloom filter.
#[derive(Serialize)]
struct BloomReport {
    r#type: &'static str,
    prefix_length: Option<u16>,
    hash: &'static str,
    hash_count: u32,
    /// Whether the chunks are ribbon filters, as HBase's development branch writes them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ribbon: bool,
    chunks: usize,
    keys: u64,
    bytes: u64,
    bits_per_key: f64,
    error_rate: f64,
}

/// A row filter of this project, in contrast to HBase's Bloom filter.
#[derive(Serialize)]
struct FilterReport {
    kind: &'static str,
    keys: u64,
    bytes: u64,
    bits_per_key: f64,
    error_rate: f64,
}

impl FileReport {
    fn new(file: &Path, reader: &Reader, target: Target) -> Self {
        let (trailer, info) = (reader.trailer(), reader.file_info());
        let escaped = |row: Option<&[u8]>| row.map(|row| escape(row).to_string());
        let meta_names = reader.blocks().meta_names();
        let mut problems: Vec<String> =
            reader.filters().bloom_problem().map(ToString::to_string).into_iter().collect();
        let filter = reader.filters().row_filter().unwrap_or_else(|error| {
            problems.push(error.to_string());
            None
        });
        Self {
            schema: 1,
            file: file.display().to_string(),
            target,
            size: reader.len(),
            version: format!("{}.{}", trailer.major_version, trailer.minor_version),
            cells: trailer.entry_count,
            first_row: escaped(reader.first_row()),
            last_row: escaped(reader.last_row()),
            time_range: info.time_range().map(|TimeRange { min, max }| [min.get(), max.get()]),
            max_sequence_id: info.sequence_id_max().map(sstable::SequenceId::get),
            create_time: info.create_time().map(sstable::Timestamp::get),
            major_compaction: info.is_major_compaction(),
            average_key_bytes: info.average_key_len(),
            average_value_bytes: info.average_value_len(),
            compression: reader.blocks().compression().name(),
            encoding: reader.blocks().encoding().name(),
            checksum: reader.blocks().checksum_type().name(),
            includes_tags: info.includes_tags(),
            includes_mvcc: info.includes_mvcc(),
            index_levels: reader.index().levels(),
            index_root_entries: trailer.data_index_count,
            meta_blocks: meta_names.map(|name| escape(name).to_string()).collect(),
            bloom: reader.filters().bloom().map(|bloom| BloomReport {
                r#type: bloom.bloom_type.name(),
                prefix_length: match bloom.bloom_type {
                    sstable::BloomType::RowPrefixFixedLength(bytes) => Some(bytes),
                    _ => None,
                },
                hash: bloom.hash_type.name(),
                hash_count: bloom.hash_count,
                ribbon: bloom.ribbon_error_rate.is_some(),
                chunks: bloom.chunk_count,
                keys: bloom.key_count,
                bytes: bloom.byte_size,
                bits_per_key: bloom.bits_per_key(),
                error_rate: bloom.error_rate(),
            }),
            filter: filter.map(|filter| FilterReport {
                kind: filter.kind.name(),
                keys: filter.key_count,
                bytes: filter.byte_size,
                bits_per_key: filter.bits_per_key,
                error_rate: filter.error_rate,
            }),
            problems,
        }
    }
}

impl Report for FileReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = |name: &str, text: &str| writeln!(out, "{name:<14}{text}");
        let (size, byte_count) = (show_size(self.size), show_count(self.size));
        line("file", &self.file)?;
        if let Some(target) = self.target.text() {
            line("which is", &target)?;
        }
        line("size", &format!("{size} ({byte_count} bytes), HFile {}", self.version))?;
        line("cells", &show_count(self.cells))?;
        if let (Some(first), Some(last)) = (&self.first_row, &self.last_row) {
            line("first row", first)?;
            line("last row", last)?;
        }
        // The range of a file without cells is empty: its minimum exceeds its maximum.
        if let Some([min, max]) = self.time_range.filter(|[min, max]| min <= max) {
            line("timestamps", &format!("{min} to {max}"))?;
        }
        if let (Some(key), Some(value)) = (self.average_key_bytes, self.average_value_bytes) {
            line("average", &format!("{key} bytes a key, {value} bytes a value"))?;
        }
        line("cells have", &self.included_text())?;
        line("encoding", self.encoding)?;
        line("compression", self.compression)?;
        line("checksum", self.checksum)?;
        let levels = show_number(self.index_levels.into(), "level");
        let entries = show_number(self.index_root_entries.into(), "entry");
        line("index", &format!("{levels}, {entries} in the root"))?;
        line("HBase Bloom", &self.bloom.as_ref().map_or("none".to_owned(), BloomReport::text))?;
        line("row filter", &self.filter.as_ref().map_or("none".to_owned(), FilterReport::text))?;
        if !self.meta_blocks.is_empty() {
            line("META blocks", &self.meta_blocks.join(", "))?;
        }
        for problem in &self.problems {
            line("DAMAGED", problem)?;
        }
        line("origin", &self.origin())
    }
}

impl FileReport {
    fn included_text(&self) -> String {
        match (self.includes_mvcc, self.includes_tags) {
            (true, true) => "sequence ids, tags",
            (true, false) => "sequence ids",
            (false, true) => "tags",
            (false, false) => "neither sequence ids nor tags",
        }
        .to_owned()
    }

    fn origin(&self) -> String {
        let kind = if self.major_compaction { "major compaction" } else { "flush, load or merge" };
        let id = self.max_sequence_id.map(|id| format!(", writes up to sequence id {id}"));
        let time = self.create_time.map(|millis| format!(", at {millis}"));
        [kind, &id.unwrap_or_default(), &time.unwrap_or_default()].concat()
    }
}

impl BloomReport {
    fn text(&self) -> String {
        let prefix = self.prefix_length.map(|bytes| format!(" of {bytes}")).unwrap_or_default();
        let hashes = if self.ribbon {
            format!("ribbon over {}", self.hash)
        } else {
            format!("{} × {}", self.hash_count, self.hash)
        };
        format!(
            "{}{prefix}, {hashes}, {} in {} ({}), {:.2} bits a key, error rate {:.3}%",
            self.r#type,
            show_number(self.keys, "key"),
            show_number(self.chunks as u64, "chunk"),
            show_size(self.bytes),
            self.bits_per_key,
            self.error_rate * 100.0
        )
    }
}

impl FilterReport {
    fn text(&self) -> String {
        format!(
            "{}, {} in {}, {:.2} bits a key, error rate {:.3}%",
            self.kind,
            show_number(self.keys, "key"),
            show_size(self.bytes),
            self.bits_per_key,
            self.error_rate * 100.0
        )
    }
}
