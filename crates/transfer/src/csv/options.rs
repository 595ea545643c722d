//! How the text of CSV is read.

use super::records::Dialect;
use crate::error::Result;
use crate::option_problem::{InputOption, OptionProblem};

/// How the text of CSV is read: fields, lines and columns without names.
///
/// [`ColumnOptions`](crate::ColumnOptions) say which cells the columns become.
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
    /// Returns the first given option that says what the columns are.
    pub(super) fn first_layout_option(&self) -> Option<InputOption> {
        let no_header = (self.no_header, InputOption::NoHeader);
        InputOption::first_given([no_header, (self.null.is_some(), InputOption::Null)])
    }

    /// Returns the first given option.
    ///
    /// Omits `field_size_max`, which the cells format has too, and `header`, which has no effect without `columns`.
    pub fn first_option(&self) -> Option<InputOption> {
        InputOption::first_given([
            (!self.columns.is_empty(), InputOption::Columns),
            (self.no_header, InputOption::NoHeader),
            (self.null.is_some(), InputOption::Null),
            (self.separator.is_some(), InputOption::Separator),
            (self.quote.is_some(), InputOption::Quote),
        ])
    }

    pub(super) fn dialect(&self) -> Result<Dialect> {
        let separator = self.separator.unwrap_or(b',');
        let quote = match self.quote.unwrap_or(Quote::Byte(b'"')) {
            Quote::Byte(byte) => Some(byte),
            Quote::None => None,
        };
        let bytes = [(InputOption::Separator, Some(separator)), (InputOption::Quote, quote)];
        for (option, byte) in bytes {
            if matches!(byte, Some(b'\n' | b'\r')) {
                return Err(OptionProblem::LineEnd(option).into());
            }
        }
        if quote == Some(separator) {
            return Err(OptionProblem::SameByte.into());
        }
        Ok(Dialect { separator, quote })
    }

    /// Returns the maximum size of a field, in bytes.
    pub(crate) fn field_size_max(&self) -> Result<usize> {
        match usize::try_from(self.field_size_max.unwrap_or(16 << 20)) {
            Ok(size @ 1..=FIELD_SIZE_LIMIT) => Ok(size),
            _ => Err(OptionProblem::FieldSizeMax(FIELD_SIZE_LIMIT).into()),
        }
    }
}

/// The maximum of `field_size_max`: 512 MiB. A cell must fit into a block of at most 1 GiB.
const FIELD_SIZE_LIMIT: usize = 1 << 29;
