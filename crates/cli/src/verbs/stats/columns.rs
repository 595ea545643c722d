//! Cells and bytes of each column, for a limited number of columns.

use std::collections::HashMap;

use cells::escape;
use serde::Serialize;
use sstable::CellRef;

/// The maximum number of columns that are counted separately.
pub(super) const COLUMNS_MAX: usize = 10_000;
/// The maximum total length of the names of these columns.
const NAME_BYTES_MAX: usize = 16 << 20;

/// Cells and their bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub(super) struct Tally {
    pub(super) cells: u64,
    pub(super) bytes: u64,
}

impl Tally {
    pub(super) const fn add(&mut self, other: Self) {
        self.cells += other.cells;
        self.bytes += other.bytes;
    }
}

/// The tally of each column that came before a limit was reached, and one tally of all others.
///
/// The name of a column is `family:qualifier`. No family contains a colon.
#[derive(Debug, Default)]
pub(super) struct Columns {
    tallies: HashMap<Vec<u8>, Tally>,
    name_bytes: usize,
    /// The cells of columns that are not in `tallies`, because a limit was reached.
    others: Tally,
    /// A buffer for the name of the current column.
    name: Vec<u8>,
}

/// A column of a report.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ColumnReport {
    /// `family:qualifier`, escaped as HBase prints it.
    pub(super) column: String,
    #[serde(flatten)]
    pub(super) tally: Tally,
}

impl Columns {
    /// Counts a cell of `bytes` bytes.
    pub(super) fn add(&mut self, cell: &CellRef<'_>, bytes: u64) {
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        name.extend_from_slice(cell.family);
        name.push(b':');
        name.extend_from_slice(cell.qualifier);
        self.add_tally(&name, Tally { cells: 1, bytes });
        self.name = name;
    }

    fn add_tally(&mut self, name: &[u8], tally: Tally) {
        if let Some(known) = self.tallies.get_mut(name) {
            known.add(tally);
        } else if self.tallies.len() < COLUMNS_MAX && self.name_bytes + name.len() <= NAME_BYTES_MAX
        {
            self.name_bytes += name.len();
            self.tallies.insert(name.to_vec(), tally);
        } else {
            self.others.add(tally);
        }
    }

    /// Adds the columns of another file. The first columns to come are counted separately.
    pub(super) fn merge(&mut self, other: Self) {
        let mut tallies: Vec<_> = other.tallies.into_iter().collect();
        tallies.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        for (name, tally) in tallies {
            self.add_tally(&name, tally);
        }
        self.others.add(other.others);
    }

    /// Returns the tally of the columns that are not counted separately.
    pub(super) const fn others(&self) -> Tally {
        self.others
    }

    /// Returns the columns that are counted separately, the one with most bytes first.
    pub(super) fn report(&self) -> Vec<ColumnReport> {
        let mut tallies: Vec<_> = self.tallies.iter().collect();
        tallies.sort_unstable_by(|(name, tally), (other_name, other)| {
            other.bytes.cmp(&tally.bytes).then_with(|| name.cmp(other_name))
        });
        tallies
            .into_iter()
            .map(|(name, tally)| ColumnReport { column: escape(name).to_string(), tally: *tally })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use sstable::Timestamp;

    use super::*;

    #[test]
    fn columns_past_the_limit_are_counted_together() {
        let mut columns = Columns::default();
        for number in 0..COLUMNS_MAX + 5 {
            let qualifier = number.to_string();
            let cell = CellRef::put(b"r", b"f", qualifier.as_bytes(), Timestamp::new(1), b"");
            columns.add(&cell, 10);
            columns.add(&cell, 10);
        }
        assert_eq!(columns.report().len(), COLUMNS_MAX);
        assert_eq!(columns.others(), Tally { cells: 10, bytes: 100 });
        let mut both = Columns::default();
        let cell = CellRef::put(b"r", b"g", b"\x00", Timestamp::new(1), b"");
        both.add(&cell, 1000);
        both.merge(columns);
        assert_eq!(both.others(), Tally { cells: 12, bytes: 120 });
        let first = &both.report()[0];
        assert_eq!((&first.column[..], first.tally.bytes), (r"g:\x00", 1000));
    }

    #[test]
    fn the_bytes_of_names_are_limited() {
        let mut columns = Columns::default();
        let long = vec![b'q'; NAME_BYTES_MAX];
        columns.add(&CellRef::put(b"r", b"f", &long, Timestamp::new(1), b""), 7);
        columns.add(&CellRef::put(b"r", b"f", b"q", Timestamp::new(1), b""), 1);
        assert_eq!(columns.report().len(), 1);
        assert_eq!(columns.others(), Tally { cells: 1, bytes: 7 });
    }
}
