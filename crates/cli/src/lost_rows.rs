//! The rows that damage may have cost, as `verify` and `salvage` report them.

use serde::Serialize;
use sstable::{RowsBetween, escape};

/// The sound rows before and behind damage, of which a part may be missing too.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LostRowsReport {
    /// `null`: from the file's start.
    first_row: Option<String>,
    /// `null`: to the file's end.
    last_row: Option<String>,
    #[serde(skip)]
    shown: String,
}

impl LostRowsReport {
    /// What is said in a line of its own.
    pub(crate) fn text(&self) -> String {
        format!("{} may be missing or incomplete", self.shown)
    }
}

impl From<&RowsBetween> for LostRowsReport {
    fn from(rows: &RowsBetween) -> Self {
        let row = |row: &Option<Vec<u8>>| row.as_deref().map(|row| escape(row).to_string());
        Self { first_row: row(&rows.first), last_row: row(&rows.last), shown: rows.to_string() }
    }
}
