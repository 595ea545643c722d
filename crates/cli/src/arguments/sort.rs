//! `--sort`, `--sort-memory` and `--sort-directory`, which the verbs that write HFiles share.

use std::path::PathBuf;

use transfer::Sorting;

use crate::text::help::ADVANCED;
use crate::text::size_text::SizeText;

/// The arguments of sorting.
#[derive(clap::Args)]
pub(crate) struct SortArguments {
    /// Sort the cells before writing; without it, the input must be sorted
    #[arg(long, display_order = 2)]
    sort: bool,
    /// Keep at most this many bytes of cells in memory; temporary files take the rest
    #[arg(long, value_name = "SIZE", default_value = "256MiB", requires = "sort")]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    sort_memory: SizeText,
    /// Write temporary files to this directory; they need one to two times the bytes of the cells
    /// [default: $TMPDIR, or /tmp]
    #[arg(long, value_name = "DIR", requires = "sort", value_hint = clap::ValueHint::DirPath)]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    sort_directory: Option<PathBuf>,
}

impl SortArguments {
    /// Returns how cells are sorted.
    pub(crate) fn sorting(&self) -> Sorting {
        if !self.sort {
            return Sorting::None;
        }
        Sorting::All { memory: self.sort_memory.bytes(), directory: self.sort_directory.clone() }
    }
}
