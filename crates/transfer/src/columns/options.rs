//! How the columns of CSV and of record batches become cells.

use std::path::PathBuf;
use std::str::FromStr;

use cells::{ValueType, unescape};

use crate::option_problem::InputOption;

/// How the columns of CSV and of record batches become cells.
///
/// ```
/// let columns = transfer::ColumnOptions {
///     row: vec!["id".to_owned()],
///     column: vec!["name=info:name".parse()?],
///     types: vec!["info:age=int32".parse()?],
///     ..Default::default()
/// };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ColumnOptions {
    /// The columns of the row key, in this order.
    pub row: Vec<String>,
    /// The text between several row columns; it may be empty.
    pub row_separator: Option<String>,
    /// The type of the row columns; text and bytes are taken as they are if it is not given.
    pub row_type: Option<ValueType>,
    /// Columns whose names differ from the columns of the cells.
    pub column: Vec<MappedColumn>,
    /// Columns that become no cells.
    pub ignore: Vec<String>,
    /// The source of timestamps: `column:NAME`, `NOW`, or a time. `NOW` if it is not given.
    pub timestamp: Option<String>,
    /// Columns whose values are encoded as a type. Other columns of CSV are taken as they are; other columns of
    /// record batches have the type of their array.
    pub types: Vec<TypedColumn>,
    /// What happens at a record that cannot be read; it ends the run if this is not given.
    pub bad_lines: Option<BadLinePolicy>,
}

impl ColumnOptions {
    /// Returns the first given option that says how columns become cells.
    pub(crate) fn first_layout_option(&self) -> Option<InputOption> {
        InputOption::first_given([
            (!self.row.is_empty(), InputOption::Row),
            (self.row_type.is_some(), InputOption::RowType),
            (!self.column.is_empty(), InputOption::Column),
            (!self.ignore.is_empty(), InputOption::Ignore),
            (self.timestamp.is_some(), InputOption::Timestamp),
            (!self.types.is_empty(), InputOption::Types),
        ])
    }

    /// Returns the first given option.
    ///
    /// Omits `row_separator`, which has no effect without `row`.
    pub fn first_option(&self) -> Option<InputOption> {
        let bad_lines = (self.bad_lines.is_some(), InputOption::BadLines);
        self.first_layout_option().or_else(|| InputOption::first_given([bad_lines]))
    }
}

/// What happens at a line or record that cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BadLinePolicy {
    /// It ends the run.
    Stop,
    /// It is counted and skipped.
    Skip,
    /// It is counted, skipped, and copied to this new file.
    Copy(PathBuf),
}

/// The family of columns whose names include no family.
#[derive(Clone, Copy, Debug)]
pub enum ColumnFamily<'a> {
    /// No family is given.
    Unknown,
    /// The user names it.
    Option(&'a str),
    /// All cells go into this family of a store.
    Store(&'a str),
}

impl<'a> ColumnFamily<'a> {
    pub(crate) const fn name(self) -> Option<&'a str> {
        match self {
            Self::Unknown => None,
            Self::Option(name) | Self::Store(name) => Some(name),
        }
    }

    /// Returns the option of the family, if it is given.
    pub(crate) fn option(self) -> Option<InputOption> {
        matches!(self, Self::Option(_)).then_some(InputOption::Family)
    }
}

/// A column of the input and the column of its cells; parses `NAME=FAMILY:QUALIFIER`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MappedColumn {
    /// The name in the input.
    pub name: String,
    /// The family of the cells.
    pub family: Vec<u8>,
    /// The qualifier of the cells.
    pub qualifier: Vec<u8>,
}

impl FromStr for MappedColumn {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "expected NAME=FAMILY:QUALIFIER";
        let (name, column) = text.split_once('=').ok_or(FORM)?;
        let (family, qualifier) = column.split_once(':').ok_or(FORM)?;
        if name.is_empty() || family.is_empty() {
            return Err(FORM);
        }
        Ok(Self { name: name.to_owned(), family: unescape(family), qualifier: unescape(qualifier) })
    }
}

/// A column and the type of its values; parses `FAMILY:QUALIFIER=TYPE`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TypedColumn {
    /// The family.
    pub family: Vec<u8>,
    /// The qualifier.
    pub qualifier: Vec<u8>,
    /// The type of the values.
    pub value_type: ValueType,
}

impl FromStr for TypedColumn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "expected FAMILY:QUALIFIER=TYPE, such as f:age=int64";
        let (column, type_name) = text.rsplit_once('=').ok_or(FORM)?;
        let (family, qualifier) = column.split_once(':').ok_or(FORM)?;
        let value_type = ValueType::from_name(type_name)?;
        Ok(Self { family: unescape(family), qualifier: unescape(qualifier), value_type })
    }
}
