//! The losses of a scan: the cells that it left out because of damage.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use cells::RowsBetween;

use crate::error::{Error, Result};
use crate::table::Table;
use crate::table::problem_place::ProblemPlace;
use crate::warning::Warning;

/// Cells that a scan left out, or that it lacks, because a file or a part of it is damaged or missing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MissingCells {
    /// The encoded name of the region; empty for a log, for a MOB file that a cell refers to, and for
    /// rows that are in no region.
    pub region: String,
    /// The family; empty if all families of the region may have lost cells, or those in a log.
    pub family: Vec<u8>,
    /// The file that is damaged or missing, for messages: `REGION/FAMILY/NAME` of a store file that
    /// could not be opened, the name of a MOB file, and the path of any other file. The path of the
    /// table for rows that are in no region.
    pub file: String,
    /// What is wrong.
    pub what: String,
    /// The rows that may have lost cells.
    pub rows: RowsBetween,
}

impl MissingCells {
    /// Returns a warning, for a read that has no place for a list of missing cells.
    pub fn to_warning(&self) -> Warning {
        let Self { file, what, rows, .. } = self;
        // An error of a file begins with the file's name.
        let problem = what.strip_prefix(&format!("{file}: ")).unwrap_or(what);
        Warning::new(file, format!("{problem}; {rows} may be missing or incomplete"))
    }

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
#[derive(Clone, Debug)]
pub(super) struct Losses {
    /// Whether the scan continues after damage.
    skips_damaged: bool,
    list: Arc<Mutex<LossList>>,
}

/// The missing cells in the order of their discovery.
#[derive(Debug, Default)]
struct LossList {
    losses: Vec<MissingCells>,
    indices: HashMap<LossKey, usize>,
}

/// Losses with equal keys are listed once.
#[derive(Debug, Eq, Hash, PartialEq)]
struct LossKey {
    file: String,
    what: String,
    region: String,
}

impl Losses {
    pub(super) fn new(skip_damaged: bool) -> Self {
        Self { skips_damaged: skip_damaged, list: Arc::default() }
    }

    /// Returns whether the scan continues after damage.
    pub(super) const fn skips_damaged(&self) -> bool {
        self.skips_damaged
    }

    /// Adds to the list if the scan continues after damage and `error` is damage; otherwise returns
    /// `error`.
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

    /// Adds to the list. Joins losses with the same [`LossKey`].
    pub(super) fn add(&self, missing: MissingCells) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let LossList { losses, indices } = &mut *list;
        let MissingCells { file, what, region, .. } = missing.clone();
        let key = LossKey { file, what, region };
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
        self.list.lock().unwrap_or_else(PoisonError::into_inner).losses.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(first: Option<u8>, last: Option<u8>) -> MissingCells {
        MissingCells {
            region: "r".to_owned(),
            family: b"f".to_vec(),
            file: "file".to_owned(),
            what: "damaged".to_owned(),
            rows: RowsBetween {
                first: first.map(|row| vec![row]),
                last: last.map(|row| vec![row]),
            },
        }
    }

    /// `None` is before all rows as the first one, and after all rows as the last one.
    #[test]
    fn joined_losses_have_the_rows_of_each_and_those_between() {
        let firsts = [None, Some(1), Some(3), Some(4)];
        let lasts = [Some(4), Some(5), Some(6), None];
        let rows = firsts.into_iter().flat_map(|first| lasts.map(|last| (first, last)));
        for (one, other) in rows.clone().flat_map(|one| rows.clone().map(move |other| (one, other)))
        {
            let losses = Losses::new(true);
            losses.add(loss(one.0, one.1));
            losses.add(loss(other.0, other.1));
            let first = one.0.zip(other.0).map(|(one, other)| one.min(other));
            let last = one.1.zip(other.1).map(|(one, other)| one.max(other));
            assert_eq!(losses.list(), [loss(first, last)], "{one:?} {other:?}");
        }
    }

    #[test]
    fn losses_of_another_file_region_or_kind_are_listed_each() {
        let losses = Losses::new(true);
        let known = loss(Some(1), Some(2));
        let other = |text: &str| text.to_owned();
        let all = [
            known.clone(),
            MissingCells { file: other("another"), ..known.clone() },
            MissingCells { what: other("missing"), ..known.clone() },
            MissingCells { region: other("s"), ..known },
        ];
        for _ in 0..2 {
            for missing in &all {
                losses.add(missing.clone());
            }
            assert_eq!(losses.list(), all);
        }
        assert!(losses.skips_damaged() && !Losses::new(false).skips_damaged());
    }
}
