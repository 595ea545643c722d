//! How the text of CSV is read.

use super::records::Dialect;
use crate::error::{Error, Result};

/// How the text of CSV is read: fields, lines and columns without names.
///
/// [`ColumnOptions`](crate::ColumnOptions) say which cells the columns become. A field has the name of an
/// option of `hfile build`, and errors name that option: `--no-header` for `no_header`.
#[derive(Clone, Debug, Default)]
pub struct CsvOptions {
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
    /// The text of fields that become no cell.
    pub null: Option<String>,
    /// The maximum size of a field in bytes, from 1 to 512 MiB; 16 MiB if it is not given.
    pub field_size_max: Option<u64>,
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
    /// Returns the name of the first given option that says what the columns are.
    pub(super) fn first_layout_option(&self) -> Option<&'static str> {
        let given = [(self.no_header, "--no-header"), (self.null.is_some(), "--null")];
        given.into_iter().find_map(|(is_given, name)| is_given.then_some(name))
    }

    /// Returns the name of the first given option.
    ///
    /// Omits `--field-size-max`: it has a default, so it looks the same if it is not given. Omits
    /// `--header`, which is only accepted with `--columns`.
    pub fn first_option(&self) -> Option<&'static str> {
        let given = [
            (!self.columns.is_empty(), "--columns"),
            (self.no_header, "--no-header"),
            (self.null.is_some(), "--null"),
            (self.separator.is_some(), "--separator"),
            (self.quote.is_some(), "--quote"),
        ];
        given.into_iter().find_map(|(is_given, name)| is_given.then_some(name))
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
