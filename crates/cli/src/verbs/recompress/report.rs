//! The reports of `hfile recompress`.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use sstable::{Compression, DataBlockEncoding, FileSummary, Reader};

use super::measure::Measured;
use crate::text::output::{Report, or_dash, write_table};
use crate::text::printable::as_line;
use crate::text::rounded::{show_nanos, show_rate};
use crate::text::size_text::{show_number, show_size};

/// A file, and the measurements of copies of it with other encodings and codecs.
#[derive(Serialize)]
pub(super) struct ComparedEncodings {
    /// The version of the JSON format.
    schema: u32,
    file: String,
    size: u64,
    cells: u64,
    /// Bytes of all keys, values and tags, before encoding and compression.
    cell_bytes: u64,
    encoding: &'static str,
    compression: &'static str,
    variants: Vec<Variant>,
}

/// The measurements of a copy with one encoding and codec.
#[derive(Serialize)]
struct Variant {
    encoding: &'static str,
    compression: &'static str,
    size: u64,
    /// The size divided by the size of the input file.
    ratio: f64,
    /// The speed of writing, in 10^6 bytes of keys, values and tags per second.
    ///
    /// This field and the next two are `None` for a file without cells.
    write_megabytes_per_second: Option<f64>,
    scan_cells_per_second: Option<f64>,
    /// The median time of a get.
    get_nanoseconds: Option<u64>,
}

impl ComparedEncodings {
    pub(super) fn new(file: &Path, reader: &Reader, cell_bytes: u64) -> Self {
        Self {
            schema: 1,
            file: file.display().to_string(),
            size: reader.len(),
            cells: reader.trailer().entry_count,
            cell_bytes,
            encoding: reader.blocks().encoding().name(),
            compression: reader.blocks().compression().name(),
            variants: Vec::new(),
        }
    }

    /// Adds the measurements of the copy with this encoding and codec.
    pub(super) fn add(
        &mut self,
        encoding: DataBlockEncoding,
        codec: Compression,
        measured: &Measured,
    ) {
        let per_second = |amount: u64, time: Duration| {
            (amount > 0 && !time.is_zero()).then(|| amount as f64 / time.as_secs_f64())
        };
        self.variants.push(Variant {
            encoding: encoding.name(),
            compression: codec.name(),
            size: measured.size,
            ratio: measured.size as f64 / self.size as f64,
            write_megabytes_per_second: per_second(self.cell_bytes, measured.writing)
                .map(|bytes| bytes / 1e6),
            scan_cells_per_second: per_second(self.cells, measured.scanning),
            get_nanoseconds: measured.get.map(|get| get.as_nanos().try_into().unwrap_or(u64::MAX)),
        });
    }
}

impl Report for ComparedEncodings {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (cells, size) = (show_number(self.cells, "cell"), show_size(self.size));
        let Self { encoding, compression, .. } = self;
        let bytes = show_size(self.cell_bytes);
        let file = as_line(&self.file);
        writeln!(out, "{file}: {cells} of {bytes}, {size} as {encoding}, {compression}")?;
        let heading =
            ["encoding", "codec", "size", "ratio", "write MB/s", "scan cells/s", "get", ""];
        let rows = self.variants.iter().map(|variant| {
            let is_now = (variant.encoding, variant.compression) == (*encoding, *compression);
            vec![
                variant.encoding.to_owned(),
                variant.compression.to_owned(),
                show_size(variant.size),
                format!("{:.3}", variant.ratio),
                or_dash(variant.write_megabytes_per_second, |rate| format!("{rate:.0}")),
                or_dash(variant.scan_cells_per_second, show_rate),
                or_dash(variant.get_nanoseconds, |nanos| show_nanos(nanos as f64)),
                if is_now { "now" } else { "" }.to_owned(),
            ]
        });
        write_table(out, &heading, rows)
    }
}

/// The result of rewriting a file with another encoding or codec.
#[derive(Serialize)]
pub(super) struct RewriteReport {
    /// The version of the JSON format.
    schema: u32,
    file: String,
    size: u64,
    cells: u64,
    encoding: &'static str,
    compression: &'static str,
    /// The size divided by the size of the input file.
    ratio: f64,
    /// The input file.
    #[serde(skip)]
    made_of: String,
}

impl RewriteReport {
    pub(super) fn new(
        made_of: &Path,
        file: &Path,
        reader: &Reader,
        summary: &FileSummary,
        encoding: DataBlockEncoding,
        codec: Compression,
    ) -> Self {
        Self {
            schema: 1,
            file: file.display().to_string(),
            size: summary.len,
            cells: summary.cell_count,
            encoding: encoding.name(),
            compression: codec.name(),
            ratio: summary.len as f64 / reader.len() as f64,
            made_of: made_of.display().to_string(),
        }
    }
}

impl Report for RewriteReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { file, encoding, compression, ratio, made_of, .. } = self;
        let (cells, size) = (show_number(self.cells, "cell"), show_size(self.size));
        writeln!(
            out,
            "{file}: {cells}, {size} as {encoding}, {compression}; {ratio:.3} of {made_of}"
        )
    }
}
