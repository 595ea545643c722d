//! The arguments that all verbs share: the store directory and the clock.

use std::path::PathBuf;

use sstable::Timestamp;
use store::{Clock, Store, StoreOptions};

use crate::arguments::time_range::time;
use crate::text::help::ADVANCED;
use crate::text::output::ReportFormat;
use crate::text::printable::as_line;
use crate::text::stderr::print_message_lines;

/// The arguments that all verbs share: the store directory and the clock.
#[derive(clap::Args)]
pub(crate) struct Directory {
    /// Store directory
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(super) directory: PathBuf,
    /// Use this time for TTL, and for cells that the verb writes, in milliseconds since 1970 or ISO 8601
    /// [default: the system clock]
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = ADVANCED, hide_short_help = true)]
    pub(super) now: Option<i64>,
}

// A verb with the arguments around its own: the directory before them, --json after them. No doc
// comment: clap would show it as the description of the verb.
#[derive(clap::Args)]
pub(crate) struct WithStore<V: clap::Args> {
    #[command(flatten)]
    pub(super) directory: Directory,
    #[command(flatten)]
    pub(super) verb: V,
    #[command(flatten)]
    pub(super) report_format: ReportFormat,
}

impl Directory {
    /// Opens an existing store without automatic compaction.
    ///
    /// A command ends before a compaction would pay off.
    pub(super) fn open(&self) -> store::Result<Store> {
        Store::open(&self.directory, self.options().create(false))
    }

    pub(super) fn open_read_only(&self) -> store::Result<Store> {
        Store::open_read_only(&self.directory, self.options())
    }

    /// Returns the names of the families to read: `wanted`, which must exist, or all.
    pub(super) fn families(store: &Store, wanted: Option<&str>) -> transfer::Result<Vec<String>> {
        match wanted {
            Some(wanted) => {
                check_family(store, wanted)?;
                Ok(vec![wanted.to_owned()])
            }
            None => Ok(store.families().into_iter().map(|(family, _)| family).collect()),
        }
    }

    pub(super) fn options(&self) -> StoreOptions {
        let options = StoreOptions::default().auto_compaction(false);
        match self.now {
            Some(millis) => options.clock(Clock::fixed(Timestamp::new(millis))),
            None => options,
        }
    }
}

/// Refuses a family that the store does not have, and names those that it has.
pub(super) fn check_family(store: &Store, family: &str) -> transfer::Result<()> {
    match store.family(family) {
        Some(_) => Ok(()),
        None => Err(transfer::Error::unknown_family(store, family)),
    }
}

/// Prints to stderr which filters could not be used.
///
/// The results are correct without them: the read searched more files.
pub(super) fn warn_about_filters(store: &Store) {
    for store::FilterProblem { family, file, what, .. } in store.stats().filter_problems {
        let problem = as_line(&what);
        print_message_lines(&format!(
            "hfile: warning: {family}/{file}: a filter cannot be used and is ignored: {problem}\n\
             next: hfile store compact DIR {family} --major rewrites the family"
        ));
    }
}
