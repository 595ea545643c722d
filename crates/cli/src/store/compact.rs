//! `hfile store compact`: merges store files.

use super::change_report::{ChangeReport, Watch};
use super::directory::Directory;
use crate::failure::Answer;
use crate::output::ReportFormat;

/// Flush, then merge the store files that the compaction policy selects, or all with --major.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store compact DIR
  hfile store compact DIR f --major

Only a major compaction drops delete markers and the cells they hide.
Exit status: 0 done, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(super) struct Compact {
    #[command(flatten)]
    directory: Directory,
    /// Column family [default: all]
    #[arg(value_name = "FAMILY")]
    family: Option<String>,
    /// Merge all files of a family into one
    #[arg(long)]
    major: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Compact {
    /// Compacts.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let watch = Watch::start();
        let store = self.directory.open()?;
        let families = Directory::families(&store, self.family.as_deref())?;
        let before = store.stats().families;
        // Flush first: cells in the memstore may delete, or be deleted by, cells in files.
        store.flush()?;
        for family in &families {
            store.compact(family, self.major)?;
        }
        let report = ChangeReport::new(&store, &before, "nothing to compact", &watch);
        self.report_format.print(&report)?;
        Ok(Answer::Positive)
    }
}
