//! The options that select the versions that a read returns.

use sstable::Timestamp;

use crate::arguments::cell_options::TimeOptions;
use crate::arguments::key_text::KeyText;

use crate::failure::UsageError;

/// The options that select the versions that a read returns.
#[derive(clap::Args)]
pub(super) struct Versions {
    /// Show at most this many versions of each column
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) versions: u32,
    #[command(flatten)]
    times: TimeOptions,
}

impl Versions {
    /// Returns a get of a row with these options.
    pub(super) fn get(&self, row: &KeyText) -> Result<store::Get, UsageError> {
        let (min, max) = self.time_range()?;
        Ok(store::Get::row(row.as_bytes()).versions(self.versions).time_range(min, max))
    }

    /// Returns the start (inclusive) and end (exclusive) of the time range.
    pub(super) fn time_range(&self) -> Result<(Timestamp, Timestamp), UsageError> {
        self.times.range()
    }
}
