//! The form of an export: its format, and for Parquet and Arrow its columns.

use cells::{ValueType, escape};
use hbase_files::{FamilyColumns, TableScan};
use serde_json::{Value, json};

use crate::columns::TypedColumn;
use crate::error::Result;
use crate::option_problem::{DifferingOption, OptionProblem};

/// The format of the files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ExportFormat {
    /// Parquet with SNAPPY; one row per cell, or as a pivot per row.
    Parquet,
    /// Arrow's file format (Feather); one row per cell, or as a pivot per row.
    Arrow,
    /// Comma-separated values, as hfile cat prints them; without tags.
    Csv,
    /// One JSON object per cell, byte strings in hex.
    Cells,
    /// HFiles for HBase's bulk load, in a directory per family.
    Hfiles,
}

impl ExportFormat {
    /// All formats.
    const ALL: [Self; 5] = [Self::Parquet, Self::Arrow, Self::Csv, Self::Cells, Self::Hfiles];

    /// Returns the name in the manifest.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Csv => "csv",
            Self::Cells => "cells",
            Self::Hfiles => "hfiles",
        }
    }

    /// Returns the format of a name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the extension of the files; HFiles have none.
    pub(super) const fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Csv => "csv",
            Self::Cells => "ndjson",
            Self::Hfiles => "",
        }
    }

    /// Whether the files have record batches.
    pub(super) const fn has_batches(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }
}

/// The options that choose the form of the files.
#[derive(Clone, Debug)]
pub struct FormOptions {
    /// The format.
    pub format: ExportFormat,
    /// The size in bytes from which on a new file begins at the next row; `None` for no limit.
    pub max_file_size: Option<u64>,
    /// Whether a row of a file is a row of the source, with a column for each of the scan's columns
    /// and of `types`. For Parquet and Arrow.
    pub pivot: bool,
    /// The columns of a pivot whose values are decoded; others are binary.
    pub types: Vec<TypedColumn>,
    /// The type of the row keys, for Parquet and Arrow.
    pub row_type: ValueType,
    /// Whether a pivot has a column with the timestamp of each value.
    pub times: bool,
}

/// The form of the files.
#[derive(Clone, Debug)]
pub struct ExportForm {
    /// The format.
    pub format: ExportFormat,
    /// The size in bytes from which on a new file begins at the next row.
    pub max_file_size: Option<u64>,
    /// The columns; `None` without a pivot.
    pub(super) pivot: Option<Vec<TypedColumn>>,
    pub(super) row_type: ValueType,
    pub(super) times: bool,
}

impl FormOptions {
    /// Returns the options of files of a format, with one row for each cell and without a limit.
    pub const fn new(format: ExportFormat) -> Self {
        Self {
            format,
            max_file_size: None,
            pivot: false,
            types: Vec::new(),
            row_type: ValueType::BinaryHex,
            times: false,
        }
    }

    /// Returns the form, and limits the scan of a pivot to its columns and to one version.
    ///
    /// # Errors
    ///
    /// [`Error::Options`](crate::Error::Options) if the options contradict each other, the format or the scan.
    pub fn form(&self, scan: &mut TableScan) -> Result<ExportForm> {
        let (format, is_typed) = (self.format, self.row_type != ValueType::BinaryHex);
        if !format.has_batches() && (self.pivot || is_typed) {
            return Err(OptionProblem::NoBatches.into());
        }
        if format == ExportFormat::Hfiles && scan.mob == hbase_files::MobValues::Reference {
            return Err(OptionProblem::MobReferences.into());
        }
        Ok(ExportForm {
            format,
            max_file_size: self.max_file_size,
            pivot: if self.pivot { Some(self.pivot_columns(scan)?) } else { None },
            row_type: self.row_type,
            times: self.times,
        })
    }

    fn pivot_columns(&self, scan: &mut TableScan) -> Result<Vec<TypedColumn>> {
        if scan.raw || (scan.versions != u32::MAX && scan.versions != 1) {
            return Err(OptionProblem::PivotOfVersions.into());
        }
        scan.versions = 1;
        let mut columns = Vec::<TypedColumn>::new();
        for family in &scan.families {
            if family.qualifiers.is_empty() {
                let name = cells::escape(&family.family).to_string();
                return Err(OptionProblem::PivotOfFamily(name).into());
            }
            columns.extend(family.qualifiers.iter().map(|qualifier| TypedColumn {
                family: family.family.clone(),
                qualifier: qualifier.clone(),
                value_type: ValueType::BinaryHex,
            }));
        }
        for typed in &self.types {
            let known = columns.iter_mut().find(|column| {
                column.family == typed.family && column.qualifier == typed.qualifier
            });
            match known {
                Some(column) => column.value_type = typed.value_type,
                None => columns.push(typed.clone()),
            }
        }
        if columns.is_empty() {
            return Err(OptionProblem::PivotWithoutColumns.into());
        }
        scan.families.clear();
        *scan = columns.iter().fold(std::mem::take(scan), |scan, column| {
            scan.column(&column.family, &column.qualifier)
        });
        Ok(columns)
    }
}

/// The names of options in the manifest, in the order of messages.
const OPTIONS: &str = "max_file_size pivot row_type times start stop prefix columns versions min_ts max_ts raw \
                       with_wal mob_references skip_damaged";

/// Returns the options that differ between two exports, with the values of the first.
pub(super) fn differing_options(known: &Value, new: &Value) -> Vec<DifferingOption> {
    let differing = OPTIONS.split(' ').filter(|name| known[name] != new[name]);
    let shown = differing.map(|name| {
        let value = match &known[name] {
            Value::Null | Value::Bool(false) => None,
            Value::Bool(true) => Some(String::new()),
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            Value::Array(values) => {
                let texts: Vec<_> = values.iter().filter_map(Value::as_str).collect();
                Some(texts.join(",")).filter(|text| !text.is_empty())
            }
            Value::Number(time) if time.as_i64() == Some(i64::MAX) => None,
            other => Some(other.to_string()),
        };
        DifferingOption { name: name.to_owned(), value }
    });
    shown.collect()
}

impl ExportForm {
    /// Whether a row of a file is a row of the source, with a column for each of its columns.
    pub const fn is_pivot(&self) -> bool {
        self.pivot.is_some()
    }

    /// Returns the form and the scan as JSON: two exports with the same value have the same files.
    ///
    /// The time by which cells expire is left out, and how the files are read. [`OPTIONS`] has
    /// each key.
    pub(super) fn options(&self, scan: &TableScan) -> Value {
        let mut columns = Vec::new();
        for FamilyColumns { family, qualifiers } in &scan.families {
            if qualifiers.is_empty() {
                columns.push(escape(family).to_string());
            }
            for qualifier in qualifiers {
                columns.push(format!("{}:{}", escape(family), escape(qualifier)));
            }
        }
        let types = self.pivot.as_ref().map(|columns| {
            let shown = columns.iter().map(|TypedColumn { family, qualifier, value_type }| {
                format!("{}:{}={}", escape(family), escape(qualifier), value_type.name())
            });
            shown.collect::<Vec<_>>()
        });
        json!({
            "max_file_size": self.max_file_size,
            "pivot": types,
            "row_type": self.row_type.name(),
            "times": self.times,
            "start": scan.start.as_deref().map(|row| escape(row).to_string()),
            "stop": scan.stop.as_deref().map(|row| escape(row).to_string()),
            "prefix": escape(&scan.prefix).to_string(),
            "columns": columns,
            "versions": (scan.versions != u32::MAX).then_some(scan.versions),
            "min_ts": scan.min_ts.get(),
            "max_ts": scan.max_ts.get(),
            "raw": scan.raw,
            "with_wal": scan.with_logs,
            "mob_references": scan.mob == hbase_files::MobValues::Reference,
            "skip_damaged": scan.skip_damaged,
        })
    }
}
