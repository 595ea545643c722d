//! Writes the cells of one or several families to one file per family and region.

use std::collections::BTreeMap;
use std::path::Path;

use sstable::{Cell, RegionFile, RegionFiles, WriterOptions};

use super::position::InputPosition;
use crate::error::{Error, Result};

/// The maximum number of families.
///
/// It bounds the memory: each family has an open file, with a block and filters in memory. HBase
/// advises against more than three families in a table.
const FAMILIES_MAX: usize = 100;

/// The files of a table for HBase's bulk load.
#[derive(Clone, Debug)]
pub struct BulkLoadFiles {
    /// The files, by family and row.
    pub files: Vec<RegionFile>,
    /// The number of cells in all files.
    pub cells: u64,
}

/// The output for HBase's bulk load: the open files of all families.
pub(super) struct Regions<'s> {
    out: &'s Path,
    splits: &'s [Vec<u8>],
    options: WriterOptions,
    families: BTreeMap<Vec<u8>, Family<'s>>,
    cell_count: u64,
    /// Where the input is, for error messages.
    position: InputPosition,
    is_cancelled: &'s dyn Fn() -> bool,
}

/// The open file of a family.
struct Family<'s> {
    files: RegionFiles<'s>,
    /// The last appended cell.
    last: Option<Cell>,
}

impl<'s> Regions<'s> {
    /// Creates an output without files.
    ///
    /// Files are created in `out/FAMILY` as cells are appended. A region begins at each row of
    /// `splits`. `is_cancelled` is asked while a file is written to its end.
    pub(super) const fn new(
        out: &'s Path,
        splits: &'s [Vec<u8>],
        options: WriterOptions,
        position: InputPosition,
        is_cancelled: &'s dyn Fn() -> bool,
    ) -> Self {
        let families = BTreeMap::new();
        Self { out, splits, options, families, cell_count: 0, position, is_cancelled }
    }

    /// Appends a cell, which must not sort before the last cell of its family.
    pub(super) fn append(&mut self, cell: Cell) -> Result<()> {
        if !self.families.contains_key(cell.family()) {
            self.begin_family(cell.family())?;
        }
        let family = self.families.get_mut(cell.family()).expect("the family was begun");
        let appended = family.files.append(cell.as_ref());
        appended.map_err(|error| self.position.describe(error, family.last.as_ref(), &cell))?;
        self.cell_count += 1;
        family.last = Some(cell);
        Ok(())
    }

    fn begin_family(&mut self, family: &[u8]) -> Result<()> {
        if self.families.len() == FAMILIES_MAX {
            return Err(Error::Refused(format!(
                "more than {FAMILIES_MAX} families; check whether qualifiers are used as families"
            )));
        }
        let created = RegionFiles::create(self.out, family, self.splits, self.options.clone());
        let files = match created {
            Ok(files) => files.cancelled_if(self.is_cancelled),
            // The error names the temporary directory, where no file is at fault.
            Err(sstable::Error::Invalid { what, .. }) => return Err(Error::Refused(what)),
            Err(error) => return Err(error.into()),
        };
        self.families.insert(family.to_vec(), Family { files, last: None });
        Ok(())
    }

    /// Completes the files.
    pub(super) fn finish(self) -> Result<BulkLoadFiles> {
        let mut files = Vec::new();
        for family in self.families.into_values() {
            files.extend(family.files.finish()?);
        }
        Ok(BulkLoadFiles { files, cells: self.cell_count })
    }
}
