//! `Source.column_names`: the columns that a source has, from all cells or a sample of them.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use hfile_arrow::{BatchScan, Batches, CellColumn};
use pyo3::prelude::*;

use crate::contents::Contents;
use crate::detached::detached;
use crate::failure::Failure;
use crate::request::Request;

/// The qualifiers of each family.
#[derive(Default)]
pub(crate) struct ColumnNames(BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>);

impl ColumnNames {
    /// Reads the names of all cells, or of the cells in the first `sample` rows of each region, file or store.
    ///
    /// # Errors
    ///
    /// If the source cannot be read, or the signal handlers of Python raise.
    pub(crate) fn read(
        py: Python<'_>,
        contents: &Contents,
        request: &Request,
        sample: Option<u64>,
    ) -> PyResult<Self> {
        let mut names = Self::default();
        let request = Request { scan: of_names(request.scan.clone()), ..request.clone() };
        let regions = match contents {
            Contents::Table(table) if sample.is_some() => table.regions.len(),
            _ => 1,
        };
        for index in 0..regions {
            let batches = detached(py, || match contents {
                Contents::Table(table) if sample.is_some() => {
                    contents.check(&request)?;
                    let region = &table.regions[index];
                    Ok(request.scan.region(table, region, &request.reading)?)
                }
                _ => contents.batches(&request),
            })?;
            names.add(py, batches, sample.unwrap_or(u64::MAX))?;
        }
        Ok(names)
    }

    /// Returns each name as `family:qualifier`, ascending.
    pub(crate) fn into_names(self) -> impl Iterator<Item = Vec<u8>> {
        self.0.into_iter().flat_map(|(family, qualifiers)| {
            qualifiers.into_iter().map(move |name| [&family[..], b":", &name].concat())
        })
    }

    /// Adds the names of the first rows of batches.
    fn add(&mut self, py: Python<'_>, mut batches: Batches, rows: u64) -> PyResult<()> {
        let mut counted = Rows { left: rows, last: None };
        while let Some(batch) = detached(py, || batches.next().transpose())? {
            let has_more = detached(py, || Ok::<_, Failure>(self.add_batch(&batch, &mut counted)))?;
            if !has_more {
                break;
            }
            py.check_signals()?;
        }
        Ok(())
    }

    /// Returns whether more rows are wanted.
    fn add_batch(&mut self, batch: &RecordBatch, rows: &mut Rows) -> bool {
        let column = |index: usize| batch.column(index).as_binary::<i32>();
        let (row, family, qualifier) = (column(0), column(1), column(2));
        for index in 0..batch.num_rows() {
            if !rows.takes(row.value(index)) {
                return false;
            }
            let (family, qualifier) = (family.value(index), qualifier.value(index));
            if !self.0.contains_key(family) {
                self.0.insert(family.to_vec(), BTreeSet::new());
            }
            let known = self.0.get_mut(family).expect("inserted above");
            if !known.contains(qualifier) {
                known.insert(qualifier.to_vec());
            }
        }
        true
    }
}

/// The rows of a sample.
struct Rows {
    left: u64,
    last: Option<Vec<u8>>,
}

impl Rows {
    /// Returns whether the cells of a row are in the sample. Rows come in their order.
    fn takes(&mut self, row: &[u8]) -> bool {
        if self.last.as_deref() == Some(row) {
            return true;
        }
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.last = Some(row.to_vec());
        true
    }
}

/// Returns the scan without values; one version of each cell is enough.
fn of_names(scan: BatchScan) -> BatchScan {
    scan.parts([CellColumn::Row, CellColumn::Family, CellColumn::Qualifier]).versions(1)
}
