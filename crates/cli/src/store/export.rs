//! `hfile store export`: HFiles for HBase's bulk load.

use std::path::PathBuf;

use super::{Directory, warn_of_filters};
use crate::bulk_load::TableOptions;
use crate::failure::Answer;
use crate::half_made::JoiningDirectories;
use crate::output::Audience;

/// Write all families as HFiles for HBase's bulk load, and say how to load them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store export DIR OUT
  hfile store export DIR OUT --splits row4,row8 --table users

Each family gets a directory in OUT with one file for each region that has rows of it. The rows at
which the table's regions begin are those of --splits; without them there is one region. Delete
markers are written too, so that the files can be loaded over older cells. The directories appear
when all files in all of them are whole; what else is in OUT stays as it is.")]
pub(super) struct Export {
    #[command(flatten)]
    directory: Directory,
    /// Where to; families that have files there already are refused
    #[arg(value_name = "OUT")]
    out: PathBuf,
    #[command(flatten)]
    table: TableOptions,
    #[command(flatten)]
    audience: Audience,
}

impl Export {
    /// Writes the files.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let splits = self.table.splits()?;
        let store = self.directory.open_read_only()?;
        let families = store.families().into_iter().map(|(name, _)| name).collect();
        let output = JoiningDirectories::create(&self.out, families)?;
        let export = store.export(output.path(), &splits)?;
        let files: Vec<_> = export.files.iter().map(|file| output.final_place(file)).collect();
        output.finish()?;
        warn_of_filters(&store);
        self.audience.print(&self.table.report(&self.out, &files, export.cells))?;
        Ok(Answer::Sound)
    }
}
