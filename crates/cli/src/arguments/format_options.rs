//! The options that choose the format of printed cells.

use transfer::OutputFormat;

/// The options that choose the format of printed cells.
#[derive(clap::Args)]
pub(crate) struct FormatOptions {
    /// Choose the output format
    #[arg(long, value_enum, ignore_case = true, default_value_t)]
    format: OutputFormat,
    /// Print one JSON object per line, byte strings in hex; the same as --format cells
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl FormatOptions {
    /// Returns the chosen format.
    pub(crate) const fn get(&self) -> OutputFormat {
        if self.json { OutputFormat::Cells } else { self.format }
    }
}
