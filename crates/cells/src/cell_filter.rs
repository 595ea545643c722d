//! The filter of a scan: conditions on the cells that the rules of `rules.rs` show.
//!
//! A cell is shown if it meets all conditions. They are checked after deletes, TTL, time range and
//! columns, so a filter never shows a cell that the scan would hide without it. As in HBase since
//! 2.0, the family's maximum of versions applies before the filter and the scan's maximum after it:
//! a scan for one version shows the newest of the kept versions that meets the conditions.

use std::fmt;
use std::sync::Arc;

use crate::cell::CellRef;

/// A condition that the program passes as a function.
type Predicate = dyn Fn(&CellRef<'_>) -> bool + Send + Sync;

/// A condition on a cell.
#[derive(Clone)]
pub enum CellCondition {
    /// The qualifier begins with these bytes.
    QualifierPrefix(Box<[u8]>),
    /// The value has these bytes somewhere.
    ValueContains(Box<[u8]>),
    /// The function returns `true`.
    Predicate(Arc<Predicate>),
}

impl CellCondition {
    fn holds(&self, cell: &CellRef<'_>) -> bool {
        match self {
            Self::QualifierPrefix(prefix) => cell.qualifier.starts_with(prefix),
            Self::ValueContains(part) => contains(cell.value, part),
            Self::Predicate(predicate) => predicate(cell),
        }
    }
}

impl fmt::Debug for CellCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QualifierPrefix(prefix) => {
                f.debug_tuple("QualifierPrefix").field(prefix).finish()
            }
            Self::ValueContains(part) => f.debug_tuple("ValueContains").field(part).finish(),
            Self::Predicate(_) => f.write_str("Predicate"),
        }
    }
}

fn contains(value: &[u8], part: &[u8]) -> bool {
    part.is_empty() || value.windows(part.len()).any(|window| window == part)
}

/// Applies the conditions of a scan, and its maximum of versions to the cells that meet them.
#[derive(Debug, Default)]
pub struct CellFilter {
    conditions: Vec<CellCondition>,
    versions: u32,
    row: Vec<u8>,
    qualifier: Vec<u8>,
    /// Versions of the column that were shown.
    count: u32,
}

impl CellFilter {
    /// Creates a filter that shows at most `versions` versions of a column. Without conditions it
    /// shows every cell: the rules have then applied the maximum.
    pub fn new(conditions: Vec<CellCondition>, versions: u32) -> Self {
        Self { conditions, versions, ..Self::default() }
    }

    /// Returns whether a cell is shown. Cells must come in the order of the scan.
    pub fn accepts(&mut self, cell: &CellRef<'_>) -> bool {
        self.conditions.is_empty() || self.meets_conditions(cell)
    }

    fn meets_conditions(&mut self, cell: &CellRef<'_>) -> bool {
        if !self.conditions.iter().all(|condition| condition.holds(cell)) {
            return false;
        }
        if self.count == 0 || self.row != cell.row || self.qualifier != cell.qualifier {
            self.row.clear();
            self.row.extend_from_slice(cell.row);
            self.qualifier.clear();
            self.qualifier.extend_from_slice(cell.qualifier);
            self.count = 0;
        }
        // As in the rules, delete markers, which only raw scans show, are not counted.
        self.count = self.count.saturating_add(u32::from(!cell.cell_type.is_delete()));
        self.count <= self.versions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_anywhere_in_a_value() {
        for (value, part, expected) in [
            (&b"abc"[..], &b"abc"[..], true),
            (b"abc", b"c", true),
            (b"abc", b"", true),
            (b"", b"", true),
            (b"ab", b"abc", false),
            (b"aab", b"ab", true),
            (b"abc", b"ac", false),
        ] {
            assert_eq!(contains(value, part), expected, "{part:?} in {value:?}");
        }
    }
}
