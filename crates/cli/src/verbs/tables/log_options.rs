//! The options of `hfile table` that read write-ahead logs.

use std::path::PathBuf;

use hbase_files::TableScan;

use crate::text::help::ADVANCED;
use crate::text::size_text::SizeText;

/// The options that read write-ahead logs.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LogOptions {
    /// Also read cells that are in no store file: logs, recovered edits, recovered HFiles
    #[arg(long)]
    with_wal: bool,
    /// Keep at most this many bytes of unflushed cells in memory; a temporary file takes the rest
    #[arg(long, value_name = "SIZE", default_value = "256MiB", requires = "with_wal")]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    wal_memory: SizeText,
    /// Write the temporary file to this directory; it needs one to two times the bytes of the cells
    /// [default: $TMPDIR, or /tmp]
    #[arg(long, value_name = "DIR", requires = "with_wal", value_hint = clap::ValueHint::DirPath)]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    wal_directory: Option<PathBuf>,
}

impl LogOptions {
    /// Returns whether write-ahead logs are read.
    pub(super) const fn with_wal(&self) -> bool {
        self.with_wal
    }

    /// Adds the options to a scan.
    pub(super) fn add_to(&self, scan: TableScan) -> TableScan {
        let memory = usize::try_from(self.wal_memory.bytes()).unwrap_or(usize::MAX);
        let with_logs = scan.with_logs(self.with_wal).log_bytes_max(memory);
        match &self.wal_directory {
            Some(directory) => with_logs.log_directory(directory),
            None => with_logs,
        }
    }
}
