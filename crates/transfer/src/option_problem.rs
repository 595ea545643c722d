//! What is wrong with options, as data: each program words it with the names of its own options.

use std::fmt;
use std::path::PathBuf;

/// An option of an input: a field of [`ColumnOptions`](crate::ColumnOptions) or
/// [`CsvOptions`](crate::CsvOptions), or the family.
#[derive(Clone, Copy, Debug, Eq, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is named as the field that it stands for")]
pub enum InputOption {
    Row,
    RowType,
    Column,
    Ignore,
    Timestamp,
    Types,
    BadLines,
    Family,
    Columns,
    NoHeader,
    Null,
    Separator,
    Quote,
}

impl InputOption {
    /// Returns the first option that is given.
    pub(crate) fn first_given<const N: usize>(options: [(bool, Self); N]) -> Option<Self> {
        options.into_iter().find_map(|(is_given, option)| is_given.then_some(option))
    }
}

impl fmt::Display for InputOption {
    /// Writes the name of the field.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        serde::Serialize::serialize(self, f)
    }
}

/// An option whose value differs between an export and the export that a directory has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DifferingOption {
    /// The name in the manifest, such as `max_file_size`.
    pub name: String,
    /// The value in the directory's export, empty for `true`; `None` if it was not given there.
    pub value: Option<String>,
}

impl fmt::Display for DifferingOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value } = self;
        match value.as_deref() {
            None => write!(f, "no {name}"),
            Some("") => f.write_str(name),
            Some(value) => write!(f, "{name} {value}"),
        }
    }
}

/// Why options do not fit the input, the output or each other.
///
/// `Display` names options as the fields of this crate's structs. A program whose options have other names words
/// the variants itself.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionProblem {
    /// The option is only for formats with columns.
    #[error("{0} needs CSV or Parquet")]
    NeedsColumns(InputOption),

    /// The option is only for CSV.
    #[error("{0} needs CSV")]
    NeedsCsv(InputOption),

    /// The input ends before the line, or the record, from which it is read.
    #[error("no record of the input begins on line {0} or a later one")]
    FromLine(u64),

    /// A line end as a separator or a quote.
    #[error("{0} cannot be a line end")]
    LineEnd(InputOption),

    /// One byte as the separator and the quote.
    #[error("separator and quote are the same byte")]
    SameByte,

    /// The maximum size of a field is 0 or more than this number of bytes.
    #[error("field_size_max must be between 1 and {0} bytes")]
    FieldSizeMax(usize),

    /// An option that maps columns, of CSV whose records are cells.
    #[error(
        "{0} cannot be combined with the columns row, family and ts; row reads them as other CSV"
    )]
    CsvOfCells(InputOption),

    /// An option that maps columns, of record batches whose rows are cells.
    #[error(
        "{0} cannot be combined with the columns row, family and timestamp, of which each row is a cell; row reads \
         them as columns of a table"
    )]
    BatchesOfCells(InputOption),

    /// A family beside a list of all columns.
    #[error("family cannot be combined with columns, which names all families")]
    FamilyOfColumns,

    /// A file for the bad records of record batches.
    #[error("a file for bad lines needs text; of record batches, bad records can only be skipped")]
    BadLinesFile,

    /// No column is named for the row key; with the names of all columns.
    #[error(
        "row is needed to name the columns of the row key (known are {}; only records that are cells need no row)",
        .0.join(", ")
    )]
    NoRow(Vec<String>),

    /// The value of an option does not fit the columns.
    #[error("{option}: {what}")]
    Value {
        /// The option.
        option: InputOption,
        /// The value, and what is wrong with it.
        what: String,
    },

    /// Several columns of the row key without a separator.
    #[error("several row columns need row_separator, which may be empty")]
    NoRowSeparator,

    /// A header has no name for the column of this number, from 1.
    #[error("column {0} has no name")]
    UnnamedColumn(usize),

    /// Columns whose names include no family, and no family for them.
    #[error("no family is known for {}", .0.join(", "))]
    NoFamily(Vec<String>),

    /// What stands before the colon of a column's name is probably no family, as in `created at 12:30`.
    #[error(
        "{column}: {family:?} cannot name a family in a header, where it has only letters, digits, '_', '-' and '.': \
         set the column's family"
    )]
    HeaderFamily {
        /// The name of the column.
        column: String,
        /// The text before the colon.
        family: String,
    },

    /// A timestamp beside a column of timestamps, which has this name.
    #[error("timestamp and {0} exclude each other")]
    TwoTimestamps(&'static str),

    /// A pivot, or a type of the row keys, of a format without record batches.
    #[error("pivot and row_type are for Parquet and Arrow")]
    NoBatches,

    /// References to MOB files in HFiles for another cluster.
    #[error(
        "HFiles with references to MOB files would refer to files that the other cluster does not have"
    )]
    MobReferences,

    /// A pivot of a scan of all cells, or of several versions.
    #[error(
        "a pivot shows the newest version of each column: the scan must not be raw or have several versions"
    )]
    PivotOfVersions,

    /// A pivot of a whole family, which is named.
    #[error("a pivot needs the columns of family {0}")]
    PivotOfFamily(String),

    /// A pivot without columns.
    #[error("a pivot needs columns")]
    PivotWithoutColumns,

    /// The directory has an export with other options.
    #[error("{}: an export with other options: {}; give another directory", manifest.display(), list(options))]
    OtherOptions {
        /// The manifest of that export.
        manifest: PathBuf,
        /// The options that differ.
        options: Vec<DifferingOption>,
    },

    /// The directory has an export by whose time other cells expire.
    #[error("{} has an export with the time {now}; give another directory", directory.display())]
    OtherNow {
        /// The directory.
        directory: PathBuf,
        /// The time of its export.
        now: i64,
    },

    /// More files of a part than there are names.
    #[error("max_file_size gives more than 1,000,000 files for one region; give a larger size")]
    TooManyFiles,

    /// A problem of the input's columns or of the output that no option solves.
    #[error("{0}")]
    Other(String),
}

impl OptionProblem {
    /// Returns the problem of an option's value.
    pub(crate) const fn value(option: InputOption, what: String) -> Self {
        Self::Value { option, what }
    }
}

fn list(options: &[DifferingOption]) -> String {
    options.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
