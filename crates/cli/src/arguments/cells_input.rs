//! The arguments of an input of cells, and what is said about it on stderr.

use std::path::{Path, PathBuf};

use sstable::Timestamp;
use transfer::{BadLinePolicy, BadRecord, ColumnFamily, Input, InputFormat, InputOptions};

use crate::arguments::csv::CsvArguments;
use crate::failure::{UsageError, record_words};
use crate::text::size_text::show_number;
use crate::text::stderr::print_message;

/// The options of an input of cells.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct InputArguments {
    /// Choose the input format
    #[arg(long, value_enum, ignore_case = true, value_name = "FORMAT")]
    from: InputFormat,
    /// Input file, plain or compressed with gzip or Zstandard; - is stdin. Of Parquet, one or several files
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// Show the first cells, counts and problems without writing anything
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    csv: CsvArguments,
}

impl InputArguments {
    /// Returns the input.
    pub(crate) fn options(&self) -> InputOptions {
        InputOptions {
            format: self.from,
            paths: self.inputs.clone(),
            is_dry_run: self.dry_run,
            columns: self.csv.columns(),
            csv: self.csv.csv(),
        }
    }
}

/// Opens an input as [`InputOptions::open`] does.
///
/// If all cells get the timestamp `now`, a message on stderr says so.
pub(crate) fn open(
    options: &InputOptions,
    family: ColumnFamily<'_>,
    now: Timestamp,
    from_line: u64,
) -> transfer::Result<Input> {
    let input = options.open(family, now, from_line)?;
    if input.fixed_timestamp() == Some(now) {
        print_message(format_args!(
            "hfile: the cells get the timestamp {now}, the start of this run; --timestamp sets another"
        ));
    }
    Ok(input)
}

/// Refuses a file for bad lines that is the output or inside of it.
pub(crate) fn check_output(options: &InputOptions, output: &Path) -> Result<(), UsageError> {
    let Some(BadLinePolicy::Copy(bad_lines)) = &options.columns.bad_lines else { return Ok(()) };
    if resolved(bad_lines).starts_with(resolved(output)) {
        return Err(UsageError(format!(
            "--bad-lines {} and --output {} are the same path; choose another file for the bad lines",
            bad_lines.display(),
            output.display()
        )));
    }
    Ok(())
}

/// Returns a canonical path for comparisons, of an existing or a new file.
fn resolved(path: &Path) -> PathBuf {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let canonical = path.canonicalize().ok();
    canonical
        .or_else(|| Some(directory.canonicalize().ok()?.join(path.file_name()?)))
        .unwrap_or_else(|| path.to_owned())
}

/// Prints to stderr how many lines or records were skipped, and the first one.
pub(crate) fn report_bad_lines(input: &Input) {
    let count = input.bad_line_count();
    if count == 0 {
        return;
    }
    let file_note = input.bad_lines_file().map(|file| format!("; {file} contains them"));
    let unit = input.unit();
    let lines = show_number(count, unit);
    let record = input.first_bad_lines().first();
    let first = record.map(|BadRecord { line, problem }| {
        format!("; the first is {unit} {line}: {}", record_words(problem))
    });
    print_message(format_args!(
        "hfile: skipped {lines} that could not be read{}{}",
        file_note.unwrap_or_default(),
        first.unwrap_or_default()
    ));
}
