//! Writes cells of any families to the files of a table's regions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use sstable::{Cell, WriterOptions};
use store::RegionFiles;

use super::verb::InputPosition;

/// The maximum number of families, each of which has an open file with a block and filters in memory.
/// HBase advises against more than three families in a table.
const FAMILIES_MAX: usize = 100;

/// Open files of a table.
pub(super) struct Regions<'s> {
    out: &'s Path,
    splits: &'s [Vec<u8>],
    options: WriterOptions,
    families: BTreeMap<Vec<u8>, Family<'s>>,
    cell_count: u64,
    position: InputPosition,
}

struct Family<'s> {
    files: RegionFiles<'s>,
    last: Option<Cell>,
}

impl<'s> Regions<'s> {
    /// Creates files in `out/FAMILY`, a new one from each row of `splits` on.
    pub(super) const fn new(
        out: &'s Path,
        splits: &'s [Vec<u8>],
        options: WriterOptions,
        position: InputPosition,
    ) -> Self {
        Self { out, splits, options, families: BTreeMap::new(), cell_count: 0, position }
    }

    /// Appends a cell, which must not sort before the last cell of its family.
    pub(super) fn append(&mut self, cell: Cell) -> anyhow::Result<()> {
        if !self.families.contains_key(cell.family()) {
            self.begin(cell.family())?;
        }
        let family = self.families.get_mut(cell.family()).expect("it was begun");
        match family.files.append(cell.as_ref()) {
            Ok(()) => {}
            Err(store::Error::StoreFile(error)) => {
                return Err(self.position.describe(error, family.last.as_ref(), &cell));
            }
            Err(error) => return Err(error.into()),
        }
        self.cell_count += 1;
        family.last = Some(cell);
        Ok(())
    }

    fn begin(&mut self, family: &[u8]) -> anyhow::Result<()> {
        if self.families.len() == FAMILIES_MAX {
            bail!(
                "more than {FAMILIES_MAX} families; check whether qualifiers are used as families"
            );
        }
        let files = RegionFiles::create(self.out, family, self.splits, self.options.clone())?;
        self.families.insert(family.to_vec(), Family { files, last: None });
        Ok(())
    }

    /// Completes the files. Returns their paths, by family and row range, and the number of cells.
    pub(super) fn finish(self) -> anyhow::Result<(Vec<PathBuf>, u64)> {
        let mut files = Vec::new();
        for family in self.families.into_values() {
            files.extend(family.files.finish()?);
        }
        Ok((files, self.cell_count))
    }
}
