//! The columns that a scan names and for which no cell was found.

use cells::escape;
use hbase_files::{FamilyColumns, TableScan};
use sstable::CellRef;

/// The columns that a scan names, without those that were seen.
///
/// A column without cells is usually a mistyped name.
#[derive(Clone, Debug, Default)]
pub struct UnseenColumns(Vec<Column>);

#[derive(Clone, Debug, Eq, PartialEq)]
struct Column {
    family: Vec<u8>,
    qualifier: Vec<u8>,
}

impl UnseenColumns {
    /// Takes the columns of a scan; a family without columns has none.
    pub fn new(scan: &TableScan) -> Self {
        let mut columns = Vec::new();
        for FamilyColumns { family, qualifiers } in &scan.families {
            for qualifier in qualifiers {
                columns.push(Column { family: family.clone(), qualifier: qualifier.clone() });
            }
        }
        Self(columns)
    }

    /// Notes a cell. Costs nothing once all columns were seen.
    pub fn see(&mut self, cell: &CellRef<'_>) {
        self.0.retain(|column| {
            (&column.qualifier[..], &column.family[..]) != (cell.qualifier, cell.family)
        });
    }

    /// Keeps the columns that were not seen elsewhere either.
    pub(crate) fn intersect(&mut self, other: &Self) {
        self.0.retain(|column| other.0.contains(column));
    }

    /// Returns the columns without any cell so far, as `FAMILY:QUALIFIER`.
    pub fn names(&self) -> Vec<String> {
        let columns = self.0.iter();
        columns
            .map(|Column { family, qualifier }| format!("{}:{}", escape(family), escape(qualifier)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use sstable::Timestamp;

    use super::*;

    #[test]
    fn columns_are_named_until_a_cell_of_each_was_seen() {
        let scan = TableScan::default().column("f", "a").column("f", "b\0").family("g");
        let mut unseen = UnseenColumns::new(&scan);
        let elsewhere = unseen.clone();
        assert_eq!(unseen.names(), ["f:a", "f:b\\x00"]);
        let cell =
            |family, qualifier| CellRef::put(b"r", family, qualifier, Timestamp::new(1), b"");
        unseen.see(&cell(b"g", b"a"));
        assert_eq!(unseen.names().len(), 2);
        unseen.see(&cell(b"f", b"a"));
        assert_eq!(unseen.names(), ["f:b\\x00"]);
        unseen.intersect(&elsewhere);
        assert_eq!(unseen.names(), ["f:b\\x00"]);
        let mut other = elsewhere;
        other.see(&cell(b"f", b"b\0"));
        unseen.intersect(&other);
        assert!(unseen.names().is_empty());
    }
}
