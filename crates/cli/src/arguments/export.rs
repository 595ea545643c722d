//! The arguments of all verbs that export.

use std::path::PathBuf;

use cells::ValueType;
use hbase_files::TableScan;
use transfer::{ExportForm, ExportFormat, FormOptions, TypedColumn};

use crate::failure::refuse;
use crate::text::size_text::SizeText;

// The doc comments of the verbs describe them.
#[derive(clap::Args)]
pub(crate) struct ExportArguments {
    /// Write the files and manifest.json to this directory: a new one, or that of a stopped export
    /// to continue
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

// The options that choose the form of the files.
#[derive(clap::Args)]
pub(crate) struct FormArguments {
    /// Choose the format of the files
    #[arg(long = "to", value_enum, ignore_case = true)]
    format: ExportFormat,
    /// Begin a new file at the next row when a file reaches SIZE [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = file_size)]
    max_file_size: Option<SizeText>,
    /// Write one row per row of the table: the columns that --columns and --type name, each with its newest value
    #[arg(long)]
    pivot: bool,
    /// Decode the values of a column as string, int8, int16, int32, int64, float32, float64, bool, timestamp, date,
    /// decimal or binary-hex, or by Java's names such as long and double; repeatable [default: binary-hex]
    #[arg(long = "type", value_name = "FAMILY:QUALIFIER=TYPE", requires = "pivot")]
    types: Vec<TypedColumn>,
    /// Decode the row keys as this type, with the choices of --type
    #[arg(long, value_name = "TYPE", default_value = "binary-hex")]
    #[arg(value_parser = ValueType::from_name)]
    row_type: ValueType,
    /// Add a column with the timestamp of each value
    #[arg(long, requires = "pivot")]
    times: bool,
}

impl FormArguments {
    /// Returns the form, and limits the scan of a pivot to its columns.
    pub(crate) fn form(&self, scan: &mut TableScan) -> anyhow::Result<ExportForm> {
        if matches!(self.format, ExportFormat::Parquet | ExportFormat::Arrow)
            && !cfg!(feature = "parquet")
        {
            refuse!(
                "this hfile was built without Parquet and Arrow; from a clone of its sources, install it with \
                 cargo install --locked --path crates/cli --features parquet, or export to csv, cells or hfiles"
            );
        }
        let options = FormOptions {
            format: self.format,
            max_file_size: self.max_file_size.map(SizeText::bytes),
            pivot: self.pivot,
            types: self.types.clone(),
            row_type: self.row_type,
            times: self.times,
        };
        Ok(options.form(scan)?)
    }
}

/// Parses the maximum size of a file, which is not 0.
fn file_size(text: &str) -> Result<SizeText, String> {
    let size = text.parse::<SizeText>()?;
    if size.bytes() == 0 {
        return Err("a file has at least 1 byte".to_owned());
    }
    Ok(size)
}
