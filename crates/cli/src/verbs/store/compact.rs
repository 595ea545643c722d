//! `hfile store compact`: merges store files.

use store::tools::{self, CompactionPhase};
use store::{CompactionKind, Store};

use super::directory::{Directory, WithStore};
use crate::failure::Answer;
use crate::text::progress::Progress;

/// Flush, then merge the store files that the compaction policy selects, or all with --major.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store compact DIR
  hfile store compact DIR f --major

Only a major compaction drops delete markers and the cells they hide.
Exit status: 0 done, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Compact {
    /// Column family [default: all]
    family: Option<String>,
    /// Merge all files of a family into one
    #[arg(long)]
    major: bool,
}

impl WithStore<Compact> {
    /// Compacts.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        self.change("nothing to compact", |store| {
            let families = Directory::families(store, self.verb.family.as_deref())?;
            // Flush first: cells in the memstore may delete, or be deleted by, cells in files.
            let flushing = Progress::waiting("flushing");
            store.flush()?;
            drop(flushing);
            let kind = if self.verb.major { CompactionKind::Major } else { CompactionKind::Minor };
            families.iter().try_for_each(|family| Ok(compact(store, family, kind)?))
        })
    }
}

/// Compacts a family and shows the progress of each phase.
fn compact(store: &Store, family: &str, kind: CompactionKind) -> store::Result<()> {
    let mut shown: Option<(CompactionPhase, Progress)> = None;
    tools::compact(store, family, kind, |report| {
        if shown.as_ref().is_none_or(|(phase, _)| *phase != report.phase) {
            let name = match report.phase {
                CompactionPhase::Check => "checking",
                _ => "merging",
            };
            shown = None; // Removes the last bar before the next is drawn.
            let progress = Progress::bytes(format!("{name} files of {family}"), report.total);
            shown = Some((report.phase, progress));
        }
        if let Some((_, progress)) = &shown {
            progress.set(report.done);
        }
    })
}
