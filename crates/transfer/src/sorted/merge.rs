//! Merges the sorted runs of an external sort.
//!
//! A run is a temporary file of sorted cells of one family.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::PathBuf;
use std::vec;

use sstable::{Caching, Cell, Comparator, Reader, ReaderOptions, Result, Scanner};

use super::order::compare;
use crate::temporary::ScratchDirectory;

/// A merging iterator over the cells of a family's runs.
///
/// Of equal cells, the one from the latest run comes first.
pub(super) struct Merge {
    scanners: Vec<Scanner>,
    heads: BinaryHeap<Head>,
}

/// The next cell of a run, ordered by `order` and then by the descending index of the run.
pub(super) struct Head {
    pub(super) cell: Cell,
    pub(super) run: usize,
    pub(super) order: Comparator,
}

impl Merge {
    /// Opens the runs and reads the first cell of each.
    pub(super) fn open(runs: &[PathBuf], order: Comparator) -> Result<Self> {
        let (mut scanners, mut heads) = (Vec::new(), BinaryHeap::new());
        for (run, path) in runs.iter().enumerate() {
            let reader = Reader::open_file(path, ReaderOptions::default())?;
            // Without a read-ahead thread for each run, and past the block cache.
            let mut scanner = reader.scanner(Caching::Bypass);
            scanner.seek_to_first()?;
            heads.extend(scanner.cell().map(|cell| Head { cell: cell.to_cell(), run, order }));
            scanners.push(scanner);
        }
        Ok(Self { scanners, heads })
    }
}

impl Iterator for Merge {
    type Item = Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut head = self.heads.peek_mut()?;
        let scanner = &mut self.scanners[head.run];
        if let Err(error) = scanner.advance() {
            return Some(Err(error));
        }
        Some(Ok(match scanner.cell() {
            Some(next) => std::mem::replace(&mut head.cell, next.to_cell()),
            None => PeekMut::pop(head).cell,
        }))
    }
}

impl Ord for Head {
    /// Compares in reverse, because a `BinaryHeap` pops the greatest element first.
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self.order, &other.cell.as_ref(), &self.cell.as_ref())
            .then_with(|| self.run.cmp(&other.run))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

/// An iterator over the cells of all families, one family after the other.
pub(super) struct MergedFamilies {
    families: vec::IntoIter<Vec<PathBuf>>,
    merge: Option<Merge>,
    order: Comparator,
    _directory: ScratchDirectory,
}

impl MergedFamilies {
    /// Creates the iterator over `families`, which lists the runs of each family.
    ///
    /// The runs are in `directory`, which is removed when the iterator is dropped.
    pub(super) fn new(
        families: Vec<Vec<PathBuf>>,
        order: Comparator,
        directory: ScratchDirectory,
    ) -> Self {
        Self { families: families.into_iter(), merge: None, order, _directory: directory }
    }
}

impl Iterator for MergedFamilies {
    type Item = Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(cell) = self.merge.as_mut().and_then(Merge::next) {
                return Some(cell);
            }
            let runs = self.families.next()?;
            self.merge = match Merge::open(&runs, self.order) {
                Ok(merge) => Some(merge),
                Err(error) => return Some(Err(error)),
            };
        }
    }
}
