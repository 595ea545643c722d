//! The options that choose the format of printed cells.

use transfer::OutputFormat;

/// An output format of cells.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// Readable lines, as `hbase hfile -p` prints cells.
    #[default]
    Text,
    /// One JSON object per line, byte strings in hex.
    Cells,
    /// Comma-separated values with a header line, without tags.
    Csv,
}

/// The options that choose the format of printed cells.
#[derive(clap::Args)]
pub(crate) struct FormatOptions {
    /// Choose the output format
    #[arg(long, value_enum, ignore_case = true, default_value_t)]
    format: Format,
    /// Print one JSON object per line, byte strings in hex; the same as --format cells
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl From<Format> for OutputFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Cells => Self::Cells,
            Format::Csv => Self::Csv,
        }
    }
}

impl FormatOptions {
    /// Returns the chosen format.
    pub(crate) fn get(&self) -> OutputFormat {
        if self.json { OutputFormat::Cells } else { self.format.into() }
    }
}
