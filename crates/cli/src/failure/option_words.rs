//! The errors of `transfer` in the words of the command line: with the names of its options.

use std::io;

use sstable::{error_line, shorten};
use transfer::{DifferingOption, Error, InputOption, OptionProblem, RecordProblem};

/// Returns the message of an error with its causes, in one line.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let line = match error.downcast_ref().and_then(in_words) {
        Some(words) => shorten(&words).into_owned(),
        None => error_line(&**error),
    };
    let cause = |cause: &io::Error| cause.get_ref()?.downcast_ref().map(record_hint);
    let hint = error.chain().find_map(|error| cause(error.downcast_ref()?));
    line + &hint.unwrap_or_default()
}

/// Returns the message of an error that options cause or help against; `None` of other errors.
pub(crate) fn in_words(error: &Error) -> Option<String> {
    Some(match error {
        Error::Options(problem) => option_words(problem),
        Error::InputOptions { input, problem } => format!("{input}: {}", option_words(problem)),
        Error::Record { input, line, problem, is_skippable } => {
            let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            let hint = if *is_skippable {
                "; --bad-lines skip, or --bad-lines FILE, goes on without such lines"
            } else {
                ""
            };
            format!("{input}: {line}{}{hint}", record_words(problem))
        }
        Error::NotReplaceable { directory, path } => format!(
            "{}: --force replaces only a directory of HFiles by family, and {} is not a part of one; name another \
             directory, or remove this one",
            directory.display(),
            path.display()
        ),
        _ => return None,
    })
}

/// Returns the name of an option.
pub(crate) fn option_name(option: InputOption) -> String {
    match option {
        InputOption::Types => "--type".to_owned(),
        option => flag(&option.to_string()),
    }
}

/// Returns the option of a field: most have the field's name.
fn flag(field: &str) -> String {
    format!("--{}", field.replace('_', "-"))
}

/// Returns the problem of a record, with the option that helps.
pub(crate) fn record_words(problem: &RecordProblem) -> String {
    match problem {
        RecordProblem::RecordTooLarge { size_max, factor } => {
            format!("a record of more than {size_max} bytes, {factor} times --field-size-max")
        }
        RecordProblem::NoRowType { column, found, natural } => format!(
            "column {column:?}: row keys of type {found} need --row-type: string for text, or {natural} for the bytes \
             of HBase's Bytes.toBytes"
        ),
        problem => format!("{problem}{}", record_hint(problem)),
    }
}

fn record_hint(problem: &RecordProblem) -> String {
    match problem {
        RecordProblem::FieldTooLarge { .. } => {
            "; raise --field-size-max for larger fields".to_owned()
        }
        RecordProblem::LineTooLong { factor, .. } => format!(
            "; raise --field-size-max for longer lines: a line of cells has at most {factor} times as much"
        ),
        RecordProblem::NotOfCells { .. } => " (--row reads other CSV)".to_owned(),
        _ => String::new(),
    }
}

/// Returns the message of options that do not fit; the words of the library if they name no option.
fn option_words(problem: &OptionProblem) -> String {
    use OptionProblem as Problem;

    let fixed = |text: &str| text.to_owned();
    match problem {
        Problem::NeedsColumns(given) => {
            format!("{} needs --from csv or parquet", option_name(*given))
        }
        Problem::NeedsCsv(given) => format!("{} needs --from csv", option_name(*given)),
        Problem::FromLine(line) => {
            format!("--from-line {line}: no record of the input begins on that line or a later one")
        }
        Problem::LineEnd(option) => format!("{} cannot be a line end", option_name(*option)),
        Problem::SameByte => fixed("--separator and --quote are the same byte"),
        Problem::FieldSizeMax(max) => {
            format!("--field-size-max must be between 1 and {max} bytes")
        }
        Problem::CsvOfCells(given) => format!(
            "{} cannot be combined with the columns row, family and ts, which hfile cat prints; --row reads them as \
             other CSV",
            option_name(*given)
        ),
        Problem::BatchesOfCells(given) => format!(
            "{} cannot be combined with the columns row, family and timestamp, of which each row is a cell; --row \
             reads them as columns of a table",
            option_name(*given)
        ),
        Problem::FamilyOfColumns => {
            fixed("--family cannot be combined with --columns, which names all families")
        }
        Problem::BadLinesFile => {
            fixed("--bad-lines FILE needs text; of record batches, bad records can only be skipped")
        }
        Problem::NoRow(known) => format!(
            "--row is needed to name the columns of the row key (known are {}; only a header with row, family and ts \
             needs no --row)",
            known.join(", ")
        ),
        Problem::Value { option, what } => format!("{}: {what}", option_name(*option)),
        Problem::NoRowSeparator => {
            fixed("several row columns need --row-separator, which may be empty")
        }
        Problem::UnnamedColumn(number) => format!(
            "column {number} has no name (the header may end with a separator); --ignore '' leaves it out"
        ),
        Problem::NoFamily(columns) => format!(
            "no family is known for {}: set one with --column NAME=FAMILY:QUALIFIER, one for all with --family, or \
             leave columns out with --ignore",
            columns.join(", ")
        ),
        Problem::HeaderFamily { .. } => format!("{problem} with --column NAME=FAMILY:QUALIFIER"),
        Problem::TwoTimestamps(column) => format!("--timestamp and {column} exclude each other"),
        problem => export_words(problem),
    }
}

/// Returns the message of options of an export that do not fit.
fn export_words(problem: &OptionProblem) -> String {
    use OptionProblem as Problem;

    let fixed = |text: &str| text.to_owned();
    match problem {
        Problem::NoBatches => fixed("--pivot and --row-type are for --to parquet and --to arrow"),
        Problem::MobReferences => fixed(
            "--mob-references would load references to files that the other cluster does not have",
        ),
        Problem::PivotOfVersions => {
            fixed("--pivot shows the newest version of each column: without --raw and --versions")
        }
        Problem::PivotOfFamily(family) => {
            format!("--pivot needs the columns of family {family}: name them with --columns")
        }
        Problem::PivotWithoutColumns => fixed(
            "--pivot needs columns: name them with --columns or --type (hfile stats lists those of a file)",
        ),
        Problem::OtherOptions { manifest, options } => format!(
            "{}: an export with other options: {}; give another directory",
            manifest.display(),
            options.iter().map(differing_option).collect::<Vec<_>>().join(", ")
        ),
        Problem::OtherNow { directory, now } => format!(
            "{} has an export with --now {now}; give another directory",
            directory.display()
        ),
        Problem::TooManyFiles => fixed(
            "--max-file-size gives more than 1,000,000 files for one region; give a larger size",
        ),
        problem => problem.to_string(),
    }
}

/// Returns an option as the export in the directory was given it: `--raw`, or `no --raw`.
fn differing_option(DifferingOption { name, value }: &DifferingOption) -> String {
    let option = match *name {
        "format" => "--to".to_owned(),
        "pivot" => "--pivot and --type".to_owned(),
        "columns" => "--family and --columns".to_owned(),
        name => flag(name),
    };
    match value.as_deref() {
        None => format!("no {option}"),
        Some("") => option,
        Some(value) => format!("{option} {value}"),
    }
}
