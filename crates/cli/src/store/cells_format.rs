//! The option that chooses how cells are printed.

use crate::cells_output::Format;

/// The format of printed cells.
#[derive(clap::Args)]
pub(super) struct CellsFormat {
    /// Choose the output format
    #[arg(long, value_enum, ignore_case = true, default_value_t)]
    format: Format,
    /// Print one JSON object per line, byte strings in hex; the same as --format cells
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl CellsFormat {
    pub(super) const fn format(&self) -> Format {
        if self.json { Format::Cells } else { self.format }
    }
}
