//! Cells of any families dealt out to the files of a table's regions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use sstable::{Cell, WriterOptions};
use store::RegionFiles;

use super::verb::InputPosition;

/// Each family has a file open, with a block and its filters in memory. HBase advises against more
/// than three families in a table.
const FAMILIES_MAX: usize = 100;

/// The files of a table that are being written.
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
    /// Files in `out/FAMILY`, cut before each row of `splits`.
    pub(super) const fn new(
        out: &'s Path,
        splits: &'s [Vec<u8>],
        options: WriterOptions,
        position: InputPosition,
    ) -> Self {
        Self { out, splits, options, families: BTreeMap::new(), cell_count: 0, position }
    }

    /// Appends a cell, which must not stand before the last one of its family.
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

    /// Completes the files. Returns where they are, family by family in the order of their rows, and
    /// how many cells are in them.
    pub(super) fn finish(self) -> anyhow::Result<(Vec<PathBuf>, u64)> {
        let mut files = Vec::new();
        for family in self.families.into_values() {
            files.extend(family.files.finish()?);
        }
        Ok((files, self.cell_count))
    }
}
