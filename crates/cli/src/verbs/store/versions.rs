//! The options that select the versions that a read returns.

use sstable::Timestamp;

use crate::arguments::cell_options::TimeOptions;
use crate::arguments::key_text::KeyText;

use crate::failure::UsageError;

/// The options that select the versions that a read returns.
#[derive(clap::Args)]
pub(super) struct Versions {
    /// Show at most this many versions of each column [default: 1, or all stored ones with --raw]
    #[arg(long, value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    versions: Option<u32>,
    #[command(flatten)]
    times: TimeOptions,
}

impl Versions {
    /// Returns a get of a row with these options.
    pub(super) fn get(&self, row: &KeyText) -> Result<store::Get, UsageError> {
        let (min, max) = self.time_range()?;
        let versions = self.count(false);
        Ok(store::Get::row(row.as_bytes()).versions(versions).time_range(min, max))
    }

    /// Returns the most versions of a column to show; `raw` is whether all stored cells are shown.
    pub(super) fn count(&self, raw: bool) -> u32 {
        self.versions.unwrap_or(if raw { u32::MAX } else { 1 })
    }

    /// Returns the start (inclusive) and end (exclusive) of the time range.
    pub(super) fn time_range(&self) -> Result<(Timestamp, Timestamp), UsageError> {
        self.times.range()
    }
}
