//! Rows that may be missing because of damage, as `verify` and `salvage` report them.

use cells::{RowsBetween, escape, shorten};
use serde::Serialize;

/// What a report says of a problem that costs no rows.
pub(crate) const NO_ROWS: &str =
    "no rows are lost: reads do not need what is damaged; hfile salvage writes the file anew";

/// The last sound row before damage and the first after it; both may be incomplete.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LostRowsReport {
    /// `null` for the start of the file.
    first_row: Option<String>,
    /// `null` for the end of the file.
    last_row: Option<String>,
    #[serde(skip)]
    shown: String,
}

impl LostRowsReport {
    /// Returns the line of the text report.
    pub(crate) fn text(&self) -> String {
        format!("{} may be missing or incomplete", self.shown)
    }
}

impl From<&RowsBetween> for LostRowsReport {
    fn from(rows: &RowsBetween) -> Self {
        Self {
            first_row: rows.first.as_deref().map(|row| escape(row).to_string()),
            last_row: rows.last.as_deref().map(|row| escape(row).to_string()),
            shown: shorten(&rows.to_string()).into_owned(),
        }
    }
}
