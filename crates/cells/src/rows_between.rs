//! Ranges of rows: those that damage may have destroyed, and those with a prefix.

use std::fmt;

use crate::text::escape;

/// The rows that damage may have destroyed: between two readable rows, including both.
///
/// Parts of the two rows themselves may be missing, too.
///
/// ```
/// use cells::RowsBetween;
///
/// let rows = RowsBetween { first: Some(b"row4".to_vec()), last: None };
/// assert_eq!(rows.to_string(), "rows from row4 to the end");
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RowsBetween {
    /// The first row that may have lost cells, which is the last readable row before the damage, or the row at
    /// which the read began; `None` if rows from the start may be missing.
    pub first: Option<Vec<u8>>,
    /// The last row that may have lost cells, which is the first readable row after the damage, or the end
    /// of a region, which has lost nothing; `None` if rows to the end may be missing.
    pub last: Option<Vec<u8>>,
}

impl fmt::Display for RowsBetween {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.first, &self.last) {
            (Some(first), Some(last)) => {
                write!(f, "rows from {} to {}", escape(first), escape(last))
            }
            (Some(first), None) => write!(f, "rows from {} to the end", escape(first)),
            (None, Some(last)) => write!(f, "rows from the start to {}", escape(last)),
            (None, None) => f.write_str("all rows"),
        }
    }
}

/// Returns the least row above all rows that begin with `prefix`; `None` if there is none.
///
/// ```
/// use cells::prefix_end;
///
/// assert_eq!(prefix_end(b"row1"), Some(b"row2".to_vec()));
/// assert_eq!(prefix_end(b"row\xff"), Some(b"rox".to_vec()));
/// assert_eq!(prefix_end(b"\xff"), None);
/// ```
pub fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut row = prefix.get(..=last)?.to_vec();
    if let Some(byte) = row.last_mut() {
        *byte = byte.saturating_add(1);
    }
    Some(row)
}
