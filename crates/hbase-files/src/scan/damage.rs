//! What a scan left out because of damage.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use sstable::RowsBetween;

use crate::table::problem_place::ProblemPlace;
use crate::{Error, Result, Table};

/// Cells that a scan left out because a file or a part of it is damaged or missing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MissingCells {
    /// The encoded name of the region; empty for a log, a MOB file, and rows that are in no region.
    pub region: String,
    /// The family; empty for a log, and for all families of the region.
    pub family: Vec<u8>,
    /// The file that is damaged or missing: `REGION/FAMILY/NAME` if it could not be opened, its
    /// name if it is a MOB file, and otherwise its path. The path of the table for rows that are in
    /// no region.
    pub file: String,
    /// What is wrong.
    pub what: String,
    /// The rows that may have lost cells.
    pub rows: RowsBetween,
}

impl MissingCells {
    /// Returns the cells that a problem of the table hides.
    pub(super) fn of_problem(table: &Table, problem: &Error) -> Self {
        let ProblemPlace { file, region, family, what, rows } = table.place_of(problem);
        Self {
            region: region.map(|region| region.to_string()).unwrap_or_default(),
            family: family.unwrap_or_default(),
            file: file.unwrap_or_else(|| table.path.display().to_string()),
            what,
            rows,
        }
    }
}

/// The list of missing cells, shared by the cursors of a scan.
///
/// `None` unless the scan continues after damage.
#[derive(Clone, Debug)]
pub(super) struct Losses(Option<Arc<Mutex<LossList>>>);

/// The missing cells in the order in which they were found.
#[derive(Debug, Default)]
struct LossList {
    losses: Vec<MissingCells>,
    /// The index of each loss, by file, reason and region.
    indices: HashMap<[String; 3], usize>,
}

impl Losses {
    pub(super) fn new(skip_damaged: bool) -> Self {
        Self(skip_damaged.then(Arc::default))
    }

    /// Returns whether the scan continues after damage.
    pub(super) const fn skips_damaged(&self) -> bool {
        self.0.is_some()
    }

    /// Adds to the list, or returns the error if the scan ends at damage, or if it is no damage.
    pub(super) fn add_or_fail(
        &self,
        error: Error,
        missing: impl FnOnce(&Error) -> MissingCells,
    ) -> Result<()> {
        if !self.skips_damaged() || !error.is_loss() {
            return Err(error);
        }
        self.add(missing(&error));
        Ok(())
    }

    /// Adds to the list. Joins losses of the same file, region and reason.
    pub(super) fn add(&self, missing: MissingCells) {
        let Some(list) = &self.0 else { return };
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        let LossList { losses, indices } = &mut *list;
        let key = [missing.file.clone(), missing.what.clone(), missing.region.clone()];
        match indices.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(losses.len());
                losses.push(missing);
            }
            Entry::Occupied(entry) => {
                let known = losses.get_mut(*entry.get()).expect("the index of a loss");
                let RowsBetween { first, last } = missing.rows;
                // `None` is the least first row, and the greatest last row.
                known.rows.first = known.rows.first.take().min(first);
                known.rows.last = match (known.rows.last.take(), last) {
                    (Some(one), Some(other)) => Some(one.max(other)),
                    _ => None,
                };
            }
        }
    }

    /// Returns the list.
    pub(super) fn list(&self) -> Vec<MissingCells> {
        let Some(list) = &self.0 else { return Vec::new() };
        list.lock().unwrap_or_else(PoisonError::into_inner).losses.clone()
    }
}
