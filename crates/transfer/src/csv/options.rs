//! How CSV becomes cells.

use std::path::PathBuf;
use std::str::FromStr;

use sstable::{ValueType, unescape};

use super::records::Dialect;
use crate::error::{Error, Result};

/// How CSV becomes cells.
///
/// A field has the name of an option of `hfile build`, and errors name that option: `--row-separator`
/// for `row_separator`.
///
/// ```
/// let options = transfer::CsvOptions {
///     row: vec!["id".to_owned()],
///     column: vec!["name=info:name".parse()?],
///     types: vec!["info:age=int32".parse()?],
///     ..Default::default()
/// };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CsvOptions {
    /// The columns of the row key, in this order.
    pub row: Vec<String>,
    /// The text between several row columns; it may be empty.
    pub row_separator: Option<String>,
    /// Columns whose names in the header are not those of the cells.
    pub column: Vec<MappedColumn>,
    /// Columns that become no cells.
    pub ignore: Vec<String>,
    /// All columns in order, in the notation of HBase's `ImportTsv`, for input without a header.
    pub columns: Vec<String>,
    /// Whether the input has a header all the same, which `columns` replaces.
    pub header: bool,
    /// Whether the first line is a record; columns are then named 1, 2, 3 and so on.
    pub no_header: bool,
    /// The byte between fields; a comma if it is not given.
    pub separator: Option<u8>,
    /// The byte around quoted fields; `"` if it is not given.
    pub quote: Option<Quote>,
    /// The source of timestamps: `column:NAME`, `NOW`, or a time. `NOW` if it is not given.
    pub timestamp: Option<String>,
    /// The text of fields that become no cell.
    pub null: Option<String>,
    /// Columns whose values are encoded; the others are taken as they are.
    pub types: Vec<TypedColumn>,
    /// What happens at a line that cannot be read; it ends the run if this is not given.
    pub bad_lines: Option<BadLinePolicy>,
    /// The maximum size of a field in bytes, from 1 to 512 MiB; 16 MiB if it is not given.
    pub field_size_max: Option<u64>,
}

/// What happens at a line that cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BadLinePolicy {
    /// It ends the run.
    Stop,
    /// It is counted and skipped.
    Skip,
    /// It is counted, skipped, and copied to this new file.
    Copy(PathBuf),
}

/// The byte around quoted fields.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Quote {
    /// This byte.
    Byte(u8),
    /// Fields are never quoted.
    None,
}

impl CsvOptions {
    /// Returns the name of the first given option that says how columns become cells.
    pub(super) fn first_layout_option(&self) -> Option<&'static str> {
        let given = [
            (!self.row.is_empty(), "--row"),
            (!self.column.is_empty(), "--column"),
            (!self.columns.is_empty(), "--columns"),
            (self.no_header, "--no-header"),
            (!self.ignore.is_empty(), "--ignore"),
            (self.timestamp.is_some(), "--timestamp"),
            (self.null.is_some(), "--null"),
            (!self.types.is_empty(), "--type"),
        ];
        given.into_iter().find_map(|(is_given, name)| is_given.then_some(name))
    }

    /// Returns the name of the first given CSV option.
    ///
    /// Omits `--field-size-max`: it has a default, so it looks the same if it is not given. Omits
    /// `--row-separator` and `--header`, which are only accepted with `--row` and `--columns`.
    pub fn first_csv_option(&self) -> Option<&'static str> {
        let given = [
            (self.separator.is_some(), "--separator"),
            (self.quote.is_some(), "--quote"),
            (self.bad_lines.is_some(), "--bad-lines"),
        ];
        let others = given.into_iter().find_map(|(is_given, name)| is_given.then_some(name));
        self.first_layout_option().or(others)
    }

    pub(super) fn dialect(&self) -> Result<Dialect> {
        let separator = self.separator.unwrap_or(b',');
        let quote = match self.quote.unwrap_or(Quote::Byte(b'"')) {
            Quote::Byte(byte) => Some(byte),
            Quote::None => None,
        };
        for (name, byte) in [("--separator", Some(separator)), ("--quote", quote)] {
            if matches!(byte, Some(b'\n' | b'\r')) {
                return Err(Error::Options(format!("{name} cannot be a line end")));
            }
        }
        if quote == Some(separator) {
            return Err(Error::Options("--separator and --quote are the same byte".to_owned()));
        }
        Ok(Dialect { separator, quote })
    }

    /// Returns the maximum size of a field, in bytes.
    pub(crate) fn field_size_max(&self) -> Result<usize> {
        match usize::try_from(self.field_size_max.unwrap_or(16 << 20)) {
            Ok(size @ 1..=FIELD_SIZE_LIMIT) => Ok(size),
            _ => Err(Error::Options(format!(
                "--field-size-max must be between 1 and {FIELD_SIZE_LIMIT} bytes"
            ))),
        }
    }
}

/// The maximum of `--field-size-max`: 512 MiB. A cell must fit into a block of at most 1 GiB.
const FIELD_SIZE_LIMIT: usize = 1 << 29;

/// A column of CSV and the column of its cells; parses `NAME=FAMILY:QUALIFIER`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MappedColumn {
    /// The name in the header.
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
        let (family, qualifier) = (unescape(family), unescape(qualifier));
        Ok(Self { name: name.to_owned(), family, qualifier })
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
        let form = || "expected FAMILY:QUALIFIER=TYPE, such as f:age=int64".to_owned();
        let (column, value_type) = text.rsplit_once('=').ok_or_else(form)?;
        let (family, qualifier) = column.split_once(':').ok_or_else(form)?;
        let value_type = ValueType::from_name(value_type)?;
        Ok(Self { family: unescape(family), qualifier: unescape(qualifier), value_type })
    }
}
