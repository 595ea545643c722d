//! `hfile store export`: writes HFiles for HBase's bulk load.

use std::path::PathBuf;

use super::directory::{Directory, warn_about_filters};
use crate::bulk_load::TableOptions;
use crate::failure::Answer;
use crate::output::ReportFormat;
use crate::progress::Progress;
use crate::temporary::OutputDirectories;

/// Write all families as HFiles for HBase's bulk load, and print the load command.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store export DIR OUT
  hfile store export DIR OUT --splits row4,row8 --table users

Writes a subdirectory of OUT per family, with one file per region that has rows of the family. --splits gives
the start rows of all regions except the first; without it there is one region. The files include delete
markers, which hide older cells of the table that they are loaded into. The subdirectories appear when all
files are complete; other entries of OUT are not changed.
Exit status: 0 written, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(super) struct Export {
    #[command(flatten)]
    directory: Directory,
    /// Output directory; the subdirectories of the families must be empty or new
    #[arg(value_name = "OUT")]
    out: PathBuf,
    #[command(flatten)]
    table: TableOptions,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Export {
    /// Writes the files.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let splits = self.table.splits()?;
        let store = self.directory.open_read_only()?;
        let families = store.families().into_iter().map(|(name, _)| name).collect();
        let output = OutputDirectories::create(&self.out, families)?;
        let exporting = Progress::waiting("writing files");
        let export = store.export(output.path(), &splits)?;
        drop(exporting);
        let files: Vec<_> = export.files.iter().map(|file| output.final_path(file)).collect();
        output.finish()?;
        warn_about_filters(&store);
        self.report_format.print(&self.table.report(&self.out, &files, export.cells))?;
        Ok(Answer::Positive)
    }
}
