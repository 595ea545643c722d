//! The cells of several families, merged by row.

use sstable::{Cell, CellRef};

use crate::error::{Error, Result};
use crate::read::query::Scan;
use crate::read::scan::ScanCells;
use crate::read::snapshot::Snapshot;

/// The cells of scans of several families: by ascending row, and in a row by family.
///
/// ```
/// use store::{FamilyOptions, MergedScans, Put, Scan, Store, StoreOptions};
///
/// # let directory = tempfile::tempdir()?;
/// let store = Store::open(directory.path(), StoreOptions::default())?;
/// for family in ["f", "g"] {
///     store.create_family(family, FamilyOptions::default())?;
/// }
/// store.put(Put::new("row1").column("g", "q", "1").column("f", "q", "2"))?;
/// let scans = ["f", "g"].map(Scan::family);
/// let mut cells = MergedScans::open(&store.snapshot(), scans)?;
/// assert_eq!(cells.next_ref()?.map(|cell| cell.value.to_vec()), Some(b"2".to_vec()));
/// assert_eq!(cells.next_ref()?.map(|cell| cell.value.to_vec()), Some(b"1".to_vec()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MergedScans {
    families: Vec<FamilyCells>,
    /// The family whose cell was returned last.
    current: Option<usize>,
}

/// The cells of one family.
#[derive(Debug)]
struct FamilyCells {
    cells: ScanCells,
    /// The cell at which the family is; not used with a single family.
    next: Option<Cell>,
}

impl MergedScans {
    /// Begins scans of a store as it was at the moment of a snapshot. They are read in the order of their families.
    ///
    /// # Errors
    ///
    /// If the store did not have one of the families, or cannot be read; [`Error::Invalid`] for a reverse scan, and
    /// for two scans of one family.
    pub fn open(snapshot: &Snapshot, scans: impl IntoIterator<Item = Scan>) -> Result<Self> {
        let mut scans: Vec<Scan> = scans.into_iter().collect();
        scans.sort_by(|one, other| one.family.cmp(&other.family));
        if scans.iter().any(|scan| scan.reverse) {
            return Err(Error::invalid("reverse scans of several families cannot be merged"));
        }
        if scans.windows(2).any(|pair| pair[0].family == pair[1].family) {
            return Err(Error::invalid("two scans of one family cannot be merged"));
        }
        let families = scans.into_iter().map(|scan| {
            let cells = snapshot.scan(scan)?;
            Ok(FamilyCells { cells, next: None })
        });
        let mut cells = Self { families: families.collect::<Result<_>>()?, current: None };
        if cells.families.len() > 1 {
            cells.families.iter_mut().try_for_each(FamilyCells::advance)?;
        }
        Ok(cells)
    }

    /// Returns a reference to the next cell, or `None` at the end.
    ///
    /// # Errors
    ///
    /// If the store is damaged or cannot be read. No further cells follow.
    pub fn next_ref(&mut self) -> Result<Option<CellRef<'_>>> {
        if self.families.len() == 1 {
            return self.families[0].cells.next_ref();
        }
        if let Some(index) = self.current.take()
            && let Err(error) = self.families[index].advance()
        {
            self.families.clear();
            return Err(error);
        }
        // Of equal rows the first family: the earlier ones have returned their cells of the row.
        let rows = self.families.iter().enumerate();
        let rows = rows.filter_map(|(family, cells)| Some((cells.next.as_ref()?.row(), family)));
        self.current = rows.min().map(|(_, family)| family);
        let current = self.current.map(|index| &self.families[index]);
        Ok(current.and_then(|family| family.next.as_ref()).map(Cell::as_ref))
    }
}

impl FamilyCells {
    fn advance(&mut self) -> Result<()> {
        self.next = self.cells.next().transpose()?;
        Ok(())
    }
}
