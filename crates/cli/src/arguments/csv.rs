//! The options of the command line for CSV and for columns.

use cells::{ValueType, unescape};
use transfer::{BadLinePolicy, ColumnOptions, CsvOptions, MappedColumn, Quote, TypedColumn};

use crate::text::size_text::SizeText;

/// The options of an input with columns: of CSV and Parquet, and of CSV only.
#[derive(Clone, Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "backticks would be seen in the help")]
pub(crate) struct CsvArguments {
    /// Make the row key from these columns, in this order
    #[arg(help_heading = "CSV", long, value_name = "COLUMN,…", value_delimiter = ',')]
    row: Vec<String>,
    /// Join several row columns with this text, which may be empty
    #[arg(help_heading = "CSV", hide_short_help = true)]
    #[arg(long, value_name = "TEXT", requires = "row")]
    row_separator: Option<String>,
    /// Encode the row columns as a type, with the choices of --type [default: text and bytes as they are]
    #[arg(help_heading = "CSV", hide_short_help = true)]
    #[arg(long, value_name = "TYPE", requires = "row", value_parser = ValueType::from_name)]
    row_type: Option<ValueType>,
    /// Store a column as FAMILY:QUALIFIER; repeatable
    #[arg(help_heading = "CSV", long, value_name = "NAME=FAMILY:QUALIFIER")]
    column: Vec<MappedColumn>,
    /// Make no cells from these columns
    #[arg(help_heading = "CSV", hide_short_help = true)]
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Name all columns in order, as ImportTsv does (HBASE_ROW_KEY,f:q,…), for input without a header
    #[arg(help_heading = "CSV", long, value_name = "COLUMN,…", value_delimiter = ',')]
    #[arg(conflicts_with_all = ["row", "row_separator", "row_type", "column", "ignore", "no_header"])]
    columns: Vec<String>,
    /// Skip the first line of the input, a header that --columns replaces
    #[arg(help_heading = "CSV", hide_short_help = true, long, requires = "columns")]
    #[arg(conflicts_with_all = ["row", "column", "ignore", "no_header"])]
    header: bool,
    /// Read the first line as a record, and number the columns 1, 2, 3, …
    #[arg(help_heading = "CSV", hide_short_help = true, long)]
    no_header: bool,
    /// Separate fields at this byte: a character, \t, or \xNN [default: ,]
    #[arg(help_heading = "CSV", long, value_name = "BYTE", value_parser = byte)]
    separator: Option<u8>,
    /// Set the byte around quoted fields, or none if fields are never quoted [default: "]
    #[arg(help_heading = "CSV", hide_short_help = true, long, value_name = "BYTE|none")]
    #[arg(value_parser = quote)]
    quote: Option<Quote>,
    /// Take timestamps from column:NAME, NOW (start of the run), or a fixed time [default: NOW]
    #[arg(help_heading = "CSV", long, value_name = "column:NAME|NOW|TIME")]
    timestamp: Option<String>,
    /// Make no cell from a field that equals TEXT
    #[arg(help_heading = "CSV", hide_short_help = true, long, value_name = "TEXT")]
    null: Option<String>,
    /// Encode a column's values as string, int8, int16, int32, int64, float32, float64, bool, timestamp, date,
    /// decimal or binary-hex, or by Java's names such as long and double; repeatable [default: string]
    #[arg(help_heading = "CSV", long = "type", value_name = "FAMILY:QUALIFIER=TYPE")]
    types: Vec<TypedColumn>,
    /// At a bad line or record, stop the run, skip it, or skip it and copy the line to the new FILE [default: stop]
    #[arg(help_heading = "CSV", long, value_name = "stop|skip|FILE")]
    #[arg(value_hint = clap::ValueHint::FilePath, value_parser = bad_lines)]
    bad_lines: Option<BadLinePolicy>,
    /// Treat a record with a larger field as bad; of --from cells, refuse a line of more than 8 times SIZE
    #[arg(help_heading = "CSV", hide_short_help = true)]
    #[arg(long, value_name = "SIZE", default_value = "16MiB")]
    field_size_max: SizeText,
}

impl CsvArguments {
    /// Returns the options of the columns.
    pub(crate) fn columns(&self) -> ColumnOptions {
        ColumnOptions {
            row: self.row.clone(),
            row_separator: self.row_separator.clone(),
            row_type: self.row_type,
            column: self.column.clone(),
            ignore: self.ignore.clone(),
            timestamp: self.timestamp.clone(),
            types: self.types.clone(),
            bad_lines: self.bad_lines.clone(),
        }
    }

    /// Returns the options of the text of CSV.
    pub(crate) fn csv(&self) -> CsvOptions {
        CsvOptions {
            columns: self.columns.clone(),
            header: self.header,
            no_header: self.no_header,
            separator: self.separator,
            quote: self.quote,
            null: self.null.clone(),
            field_size_max: Some(self.field_size_max.bytes()),
        }
    }
}

/// Parses `stop`, `skip`, or the path of a file.
fn bad_lines(text: &str) -> Result<BadLinePolicy, &'static str> {
    Ok(match text {
        "stop" => BadLinePolicy::Stop,
        "skip" => BadLinePolicy::Skip,
        "-" => return Err("bad lines cannot go to stdout; ./- is a file of that name"),
        path => BadLinePolicy::Copy(path.into()),
    })
}

/// Parses one byte: an ASCII character, `\t`, or `\xNN`.
fn byte(text: &str) -> Result<u8, &'static str> {
    match (text, &unescape(text)[..]) {
        ("\\t", _) => Ok(b'\t'),
        (_, [byte]) => Ok(*byte),
        _ => Err("expected one byte: an ASCII character, \\t, or \\xNN"),
    }
}

/// Parses the value of `--quote`: one byte, or `none`.
fn quote(text: &str) -> Result<Quote, &'static str> {
    if text.eq_ignore_ascii_case("none") {
        return Ok(Quote::None);
    }
    byte(text).map(Quote::Byte)
}
