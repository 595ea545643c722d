//! `hfile store drop-family`: removes a family with its cells.

use std::io::{self, Write};

use serde::Serialize;

use super::change_report::{Sizes, Watch};
use super::directory::WithStore;
use crate::failure::Answer;
use crate::text::output::Report;

/// Remove a column family with all its cells, and show what was removed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store checkpoint DIR BACKUP && hfile store drop-family DIR f

Does not ask for confirmation, and cannot be reversed. A checkpoint that is made before keeps the family, and
takes no time for copying. Cells of the family never return, even if a family of the same name is created
later. Flushes the other families.
Exit status: 0 removed, 1 the store is damaged, 2 wrong usage or no such family, 3 could not read or write.")]
pub(crate) struct DropFamily {
    /// Column family
    family: String,
}

impl WithStore<DropFamily> {
    /// Removes the family.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let store = self.directory.open()?;
        if store.family(&self.verb.family).is_none() {
            return Err(transfer::Error::unknown_family(&store, &self.verb.family).into());
        }
        let watch = Watch::start();
        let removed = Sizes::of(&store.drop_family(&self.verb.family)?);
        let (family, seconds) = (self.verb.family, watch.seconds());
        self.report_format.print(&DropReport { schema: 1, family, removed, seconds })
    }
}

#[derive(Serialize)]
struct DropReport {
    schema: u32,
    family: String,
    removed: Sizes,
    seconds: f64,
}

impl Report for DropReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "family {} removed: ", self.family)?;
        self.removed.write_text(out)?;
        writeln!(out)
    }
}
