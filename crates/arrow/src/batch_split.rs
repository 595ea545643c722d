//! Splits: parts of a scan that other processes read as record batches.
//!
//! The bytes are a [`ScanSplit`], then the form of the batches: a [`FormMessage`], protobuf.

use std::path::Path;
use std::sync::Arc;

use cells::ValueType;
use hbase_files::{FileTree, MissingCells, ScanSplit, Table, TableScan};
use prost::Message;

use crate::batch_scan::{BatchScan, Form};
use crate::batches::Batches;
use crate::columns::{CellColumn, PivotColumn};
use crate::error::{Error, Result};
use crate::source::Source;

/// A part of a scan: the rows of a region or of an HFile, as record batches.
///
/// [`BatchScan::table_splits`] and [`BatchScan::hfile_splits`] make splits. The splits of a scan together return
/// each of its rows once. [`to_bytes`](Self::to_bytes) writes a split for another process; see [`ScanSplit`].
#[derive(Clone, Debug)]
pub struct BatchSplit {
    split: ScanSplit,
    scan: BatchScan,
}

/// The splits of a scan.
#[derive(Clone, Debug)]
pub struct BatchSplits {
    /// The splits, in the order of their rows.
    pub splits: Vec<BatchSplit>,
    /// What no split has because it is damaged or missing, if the scan skips damage.
    pub missing: Vec<MissingCells>,
}

impl BatchScan {
    /// Divides a scan of a table into splits for other processes, as [`Table::splits`].
    ///
    /// Each region with files for the scan has one, and a region with more than `target_len` bytes several.
    /// `reading` is as in [`table`](Self::table).
    ///
    /// ```no_run
    /// use std::path::Path;
    /// use std::sync::Arc;
    ///
    /// use hbase_files::{LocalTree, RootDirectory, TableScan};
    /// use hfile_arrow::{BatchScan, BatchSplit};
    ///
    /// let root = RootDirectory::open(Arc::new(LocalTree), Path::new("/data/hbase"))?;
    /// let table = root.snapshot("users-monday")?.table;
    /// let scan = BatchScan::cells().family("info");
    /// for split in scan.table_splits(&table, &TableScan::default(), Some(256 << 20))?.splits {
    ///     let bytes = split.to_bytes()?;
    ///     // In another process:
    ///     for batch in BatchSplit::from_bytes(&bytes, Arc::new(LocalTree))?.open()? {
    ///         println!("{} cells", batch?.num_rows());
    ///     }
    /// }
    /// # Ok::<(), hfile_arrow::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Table::splits`], and if options contradict each other.
    pub fn table_splits(
        &self,
        table: &Table,
        reading: &TableScan,
        target_len: Option<u64>,
    ) -> Result<BatchSplits> {
        self.builder()?;
        let plan = table.splits(&self.selection_of(reading), target_len)?;
        Ok(BatchSplits { splits: self.with_form(plan.splits), missing: plan.missing })
    }

    /// Divides a scan of an HFile, or of a reference or link to one, as [`ScanSplit::hfile`].
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or options contradict each other.
    pub fn hfile_splits(
        &self,
        tree: &Arc<dyn FileTree>,
        path: &Path,
        target_len: Option<u64>,
    ) -> Result<Vec<BatchSplit>> {
        self.builder()?;
        Ok(self.with_form(ScanSplit::hfile(tree, path, &self.selection(), target_len)?))
    }

    fn with_form(&self, splits: Vec<ScanSplit>) -> Vec<BatchSplit> {
        let form = FormMessage::new(self).encode_to_vec();
        let mut with_form = Vec::with_capacity(splits.len());
        for split in splits {
            let scan = Self { selection: split.scan().clone(), ..self.clone() };
            with_form.push(BatchSplit { split: split.with_attachment(form.clone()), scan });
        }
        with_form
    }
}

impl BatchSplit {
    /// Begins to read the batches.
    ///
    /// # Errors
    ///
    /// As [`ScanSplit::cells`].
    pub fn open(&self) -> Result<Batches> {
        Ok(Batches::new(Source::Split(self.split.cells()?), self.scan.builder()?))
    }

    /// Returns the part of the split with some rows, as [`ScanSplit::within`].
    pub fn within(&self, start: &[u8], stop: Option<&[u8]>) -> Option<Self> {
        let split = self.split.within(start, stop)?;
        let scan = BatchScan { selection: split.scan().clone(), ..self.scan.clone() };
        Some(Self { split, scan })
    }

    /// Returns the cells that the split reads.
    pub const fn cells(&self) -> &ScanSplit {
        &self.split
    }

    /// Returns the scan with the form of the batches.
    pub const fn scan(&self) -> &BatchScan {
        &self.scan
    }

    /// Returns the split as bytes, from which [`from_bytes`](Self::from_bytes) makes it in another process.
    ///
    /// # Errors
    ///
    /// As [`ScanSplit::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(self.split.to_bytes()?)
    }

    /// Makes a split of bytes. Reads no file.
    ///
    /// # Errors
    ///
    /// [`InvalidSplit`](hbase_files::Error::InvalidSplit) if the bytes are damaged, or of another version.
    pub fn from_bytes(bytes: &[u8], tree: Arc<dyn FileTree>) -> Result<Self> {
        let split = ScanSplit::from_bytes(bytes, tree)?;
        if split.attachment().is_empty() {
            return Err(invalid("it has no form of batches".to_owned()));
        }
        let form =
            FormMessage::decode(split.attachment()).map_err(|error| invalid(error.to_string()))?;
        let scan = form.into_scan(split.scan().clone()).map_err(invalid)?;
        scan.builder().map_err(|error| invalid(error.to_string()))?;
        Ok(Self { split, scan })
    }
}

fn invalid(what: String) -> Error {
    hbase_files::Error::InvalidSplit { what }.into()
}

/// The form of the batches. Types have the names of [`ValueType`].
#[derive(Clone, PartialEq, Message)]
#[expect(clippy::struct_excessive_bools, reason = "settings that are on or off")]
struct FormMessage {
    /// The parts of cells, unless it is a pivot.
    #[prost(string, repeated, tag = "1")]
    parts: Vec<String>,
    #[prost(bool, tag = "2")]
    is_pivot: bool,
    #[prost(message, repeated, tag = "3")]
    columns: Vec<ColumnMessage>,
    #[prost(bool, tag = "4")]
    times: bool,
    #[prost(bool, tag = "5")]
    all_rows: bool,
    #[prost(string, tag = "6")]
    row_type: String,
    #[prost(uint64, tag = "7")]
    rows_max: u64,
    #[prost(uint64, tag = "8")]
    bytes_max: u64,
    #[prost(bool, tag = "9")]
    bad_as_null: bool,
}

#[derive(Clone, PartialEq, Message)]
struct ColumnMessage {
    #[prost(bytes = "vec", tag = "1")]
    family: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    qualifier: Vec<u8>,
    #[prost(string, tag = "3")]
    value_type: String,
}

impl FormMessage {
    fn new(scan: &BatchScan) -> Self {
        let mut form = Self {
            row_type: scan.row_type.to_string(),
            rows_max: scan.rows_max as u64,
            bytes_max: scan.bytes_max as u64,
            ..Self::default()
        };
        match &scan.form {
            Form::Cells(parts) => {
                form.parts = parts.iter().map(|part| part.name().to_owned()).collect();
            }
            Form::Pivot { columns, times, all_rows, bad_as_null } => {
                for column in columns {
                    form.columns.push(ColumnMessage {
                        family: column.family.clone(),
                        qualifier: column.qualifier.clone(),
                        value_type: column.value_type.to_string(),
                    });
                }
                (form.is_pivot, form.times, form.all_rows) = (true, *times, *all_rows);
                form.bad_as_null = *bad_as_null;
            }
        }
        form
    }

    fn into_scan(self, selection: TableScan) -> Result<BatchScan, String> {
        let form = if self.is_pivot {
            let mut columns = Vec::with_capacity(self.columns.len());
            for column in self.columns {
                columns.push(PivotColumn {
                    family: column.family,
                    qualifier: column.qualifier,
                    value_type: ValueType::from_name(&column.value_type)?,
                });
            }
            let Self { times, all_rows, bad_as_null, .. } = self;
            Form::Pivot { columns, times, all_rows, bad_as_null }
        } else {
            let mut parts = Vec::with_capacity(self.parts.len());
            for name in &self.parts {
                let part = CellColumn::from_name(name);
                parts.push(part.ok_or_else(|| format!("it has a column {name:?}"))?);
            }
            Form::Cells(parts)
        };
        Ok(BatchScan {
            selection,
            form,
            row_type: ValueType::from_name(&self.row_type)?,
            rows_max: usize::try_from(self.rows_max).unwrap_or(usize::MAX),
            bytes_max: usize::try_from(self.bytes_max).unwrap_or(usize::MAX),
        })
    }
}
