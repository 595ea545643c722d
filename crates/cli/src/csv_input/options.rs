//! The CSV options of the command line.

use std::path::Path;
use std::str::FromStr;

use sstable::{ValueType, unescape};

use super::bad_lines::BadLinesText;
use super::records::Dialect;
use crate::failure::UsageError;
use crate::size_text::SizeText;

/// The options of CSV input.
#[derive(Clone, Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "backticks would be seen in the help")]
pub(crate) struct CsvOptions {
    /// Make the row key from these columns, in this order
    #[arg(help_heading = "CSV", long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(super) row: Vec<String>,
    /// Join several row columns with this text, which may be empty
    #[arg(
        help_heading = "CSV",
        hide_short_help = true,
        long,
        value_name = "TEXT",
        requires = "row"
    )]
    pub(super) row_separator: Option<String>,
    /// Store a CSV column as FAMILY:QUALIFIER; repeatable
    #[arg(help_heading = "CSV", long, value_name = "NAME=FAMILY:QUALIFIER")]
    pub(super) column: Vec<ColumnText>,
    /// Make no cells from these columns
    #[arg(
        help_heading = "CSV",
        hide_short_help = true,
        long,
        value_name = "COLUMN,…",
        value_delimiter = ','
    )]
    pub(super) ignore: Vec<String>,
    /// Name all columns in order, as ImportTsv does (HBASE_ROW_KEY,f:q,…), for input without a header
    #[arg(help_heading = "CSV", long, value_name = "COLUMN,…", value_delimiter = ',')]
    #[arg(conflicts_with_all = ["row", "row_separator", "column", "ignore", "no_header"])]
    pub(super) columns: Vec<String>,
    /// Skip the first line of the input, a header that --columns replaces
    #[arg(help_heading = "CSV", hide_short_help = true, long, requires = "columns")]
    #[arg(conflicts_with_all = ["row", "column", "ignore", "no_header"])]
    pub(super) header: bool,
    /// Read the first line as a record, and number the columns 1, 2, 3, …
    #[arg(help_heading = "CSV", hide_short_help = true, long)]
    pub(super) no_header: bool,
    /// Separate fields at this byte: a character, \t, or \xNN [default: ,]
    #[arg(help_heading = "CSV", long, value_name = "BYTE")]
    pub(super) separator: Option<ByteText>,
    /// Set the byte around quoted fields, or none if fields are never quoted [default: "]
    #[arg(help_heading = "CSV", hide_short_help = true, long, value_name = "BYTE|none")]
    pub(super) quote: Option<QuoteText>,
    /// Take timestamps from column:NAME, NOW (start of the run), or a fixed time [default: NOW]
    #[arg(help_heading = "CSV", long, value_name = "column:NAME|NOW|TIME")]
    pub(super) timestamp: Option<String>,
    /// Make no cell from a field that equals TEXT
    #[arg(help_heading = "CSV", hide_short_help = true, long, value_name = "TEXT")]
    pub(super) null: Option<String>,
    /// Encode a column's values as string, int16, int32, int64, float32, float64, bool or binary-hex;
    /// repeatable [default: string]
    #[arg(help_heading = "CSV", long = "type", value_name = "FAMILY:QUALIFIER=TYPE")]
    pub(super) types: Vec<TypeText>,
    /// At a bad line, stop the run, skip the line, or skip it and copy it to the new FILE [default: stop]
    #[arg(help_heading = "CSV", long, value_name = "stop|skip|FILE")]
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub(super) bad_lines: Option<BadLinesText>,
    /// Treat a record with a larger field as bad; of --from cells, refuse a line of more than 8 times SIZE
    #[arg(
        help_heading = "CSV",
        hide_short_help = true,
        long,
        value_name = "SIZE",
        default_value = "16MiB"
    )]
    pub(super) field_size_max: SizeText,
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
    pub(crate) fn first_csv_option(&self) -> Option<&'static str> {
        let given = [
            (self.separator.is_some(), "--separator"),
            (self.quote.is_some(), "--quote"),
            (self.bad_lines.is_some(), "--bad-lines"),
        ];
        let others = given.into_iter().find_map(|(is_given, name)| is_given.then_some(name));
        self.first_layout_option().or(others)
    }

    pub(super) fn dialect(&self) -> Result<Dialect, UsageError> {
        let separator = self.separator.map_or(b',', |byte| byte.0);
        let quote = self.quote.map_or(Some(b'"'), |quote| quote.0);
        for (name, byte) in [("--separator", Some(separator)), ("--quote", quote)] {
            if matches!(byte, Some(b'\n' | b'\r')) {
                return Err(UsageError(format!("{name} cannot be a line end")));
            }
        }
        if quote == Some(separator) {
            return Err(UsageError("--separator and --quote are the same byte".to_owned()));
        }
        Ok(Dialect { separator, quote })
    }

    /// Returns the file to which bad lines are copied, if the option names one.
    pub(crate) fn bad_lines_path(&self) -> Option<&Path> {
        match &self.bad_lines {
            Some(BadLinesText::File(path)) => Some(path),
            _ => None,
        }
    }

    /// Returns the maximum size of a field, in bytes.
    pub(crate) fn field_size_max(&self) -> Result<usize, UsageError> {
        match usize::try_from(self.field_size_max.bytes()) {
            Ok(size @ 1..=FIELD_SIZE_LIMIT) => Ok(size),
            _ => Err(UsageError(format!(
                "--field-size-max must be between 1 and {FIELD_SIZE_LIMIT} bytes"
            ))),
        }
    }
}

/// The maximum of `--field-size-max`: 512 MiB. A cell must fit into a block of at most 1 GiB.
const FIELD_SIZE_LIMIT: usize = 1 << 29;

/// A value of `--column`: `NAME=FAMILY:QUALIFIER`.
#[derive(Clone, Debug)]
pub(super) struct ColumnText {
    pub(super) name: String,
    pub(super) family: Vec<u8>,
    pub(super) qualifier: Vec<u8>,
}

impl FromStr for ColumnText {
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

/// A value of `--type`: `FAMILY:QUALIFIER=TYPE`.
#[derive(Clone, Debug)]
pub(crate) struct TypeText {
    pub(crate) family: Vec<u8>,
    pub(crate) qualifier: Vec<u8>,
    pub(crate) value_type: ValueType,
}

impl FromStr for TypeText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = || "expected FAMILY:QUALIFIER=TYPE, such as f:age=int64".to_owned();
        let (column, value_type) = text.rsplit_once('=').ok_or_else(form)?;
        let (family, qualifier) = column.split_once(':').ok_or_else(form)?;
        let value_type = ValueType::from_name(value_type)?;
        Ok(Self { family: unescape(family), qualifier: unescape(qualifier), value_type })
    }
}

/// The value of `--separator`, one byte: an ASCII character, `\t`, or `\xNN`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteText(u8);

impl FromStr for ByteText {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, &unescape(text)[..]) {
            ("\\t", _) => Ok(Self(b'\t')),
            (_, [byte]) => Ok(Self(*byte)),
            _ => Err("expected one byte: an ASCII character, \\t, or \\xNN"),
        }
    }
}

/// The value of `--quote`: one byte, as for `--separator`, or `none`.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuoteText(Option<u8>);

impl FromStr for QuoteText {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.eq_ignore_ascii_case("none") {
            return Ok(Self(None));
        }
        text.parse().map(|ByteText(byte)| Self(Some(byte)))
    }
}
