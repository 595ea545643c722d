//! What is wrong with a record, as data: a program adds the option that helps.

/// Why a record of an input, or its header, cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordProblem {
    /// The record contradicts its format, or the mapping of the columns.
    #[error("{0}")]
    Invalid(String),

    /// A field of CSV is larger than the maximum.
    #[error("column {column}: a field of more than {size_max} bytes")]
    FieldTooLarge {
        /// The number of the column, from 1.
        column: usize,
        /// The maximum, in bytes.
        size_max: usize,
    },

    /// A record of CSV is larger than the maximum.
    #[error("a record of more than {size_max} bytes, {factor} times the maximum of a field")]
    RecordTooLarge {
        /// The maximum, in bytes.
        size_max: usize,
        /// The maximum in sizes of a field.
        factor: usize,
    },

    /// A line of cells has more bytes than 8 fields of CSV may have; the inner error of an I/O error.
    #[error("it has more than {} bytes", cells::show_count(*.0))]
    LineTooLong(u64),

    /// A column in a header of CSV whose records are cells.
    #[error("unknown column {}; a CSV of cells has only the columns {known}", cells::quoted(name.as_bytes()))]
    NotOfCells {
        /// The name of the column.
        name: String,
        /// The names of all columns that such CSV has.
        known: String,
    },

    /// Numbers or times as row keys without a type: text sorts in another order than their bytes.
    #[error(
        "column {column:?}: row keys of type {found} need row_type: string for text, or {natural} for the bytes of \
         HBase's Bytes.toBytes"
    )]
    NoRowType {
        /// The name of the column.
        column: String,
        /// The type of its array.
        found: String,
        /// The type whose bytes HBase has for such values.
        natural: &'static str,
    },
}

impl From<String> for RecordProblem {
    fn from(what: String) -> Self {
        Self::Invalid(what)
    }
}
