//! The rows that damage may have cost: those between the sound rows before and behind it.

use std::fmt;

use crate::text::escape;

/// The rows between two sound ones, and these two: of each a part may be missing.
///
/// ```
/// use sstable::RowsBetween;
///
/// let rows = RowsBetween { first: Some(b"row4".to_vec()), last: None };
/// assert_eq!(rows.to_string(), "rows from row4 to the end");
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RowsBetween {
    /// The last sound row before; `None` if there is none, and all rows from the first may be missing.
    pub first: Option<Vec<u8>>,
    /// The first sound row behind; `None` if there is none, and all rows to the last may be missing.
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
