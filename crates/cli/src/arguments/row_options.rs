//! The options that choose rows.

use hbase_files::TableScan;
use sstable::Comparator;

use crate::arguments::key_text::KeyText;
use crate::failure::UsageError;

/// The options that choose a range of rows.
#[derive(clap::Args)]
pub(crate) struct RowOptions {
    /// Start at this row, which is included: text with \xNN, or hex:…
    #[arg(long, value_name = "ROW")]
    start: Option<KeyText>,
    /// Stop before this row, which is not included
    #[arg(long, value_name = "ROW")]
    stop: Option<KeyText>,
    /// Read only rows that begin with this: text with \xNN, or hex:…
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<KeyText>,
}

impl RowOptions {
    /// Checks that the range does not end before its start, in the order of the table's rows.
    pub(crate) fn check(&self, order: Comparator) -> Result<(), UsageError> {
        match (&self.start, &self.stop) {
            (Some(start), Some(stop))
                if order.compare_rows(start.as_bytes(), stop.as_bytes()).is_gt() =>
            {
                Err(UsageError(format!("--start {start} is greater than --stop {stop}")))
            }
            _ => Ok(()),
        }
    }

    /// Limits a scan to the rows.
    pub(crate) fn limit(&self, scan: &mut TableScan) {
        scan.start = self.start.as_ref().map(|row| row.as_bytes().to_vec());
        scan.stop = self.stop.as_ref().map(|row| row.as_bytes().to_vec());
        if let Some(prefix) = &self.prefix {
            scan.prefix = prefix.as_bytes().to_vec();
        }
    }
}
