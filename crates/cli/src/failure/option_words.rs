//! The errors of `transfer` in the words of the command line: with the names of its options.

use std::io;

use cells::{error_line, shorten};
use transfer::{DifferingOption, Error, InputOption, OptionProblem, RecordProblem};

/// Returns the message of an error with its causes, in one line.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let line = match error.downcast_ref().and_then(in_words) {
        Some(words) => shorten(&words).into_owned(),
        None => error_line(&**error),
    };
    let hint = error.chain().find_map(|cause| {
        let error: &io::Error = cause.downcast_ref()?;
        error.get_ref()?.downcast_ref().map(record_hint)
    });
    line + hint.unwrap_or_default()
}

/// Returns the message of an error that options cause or help against; `None` of other errors.
pub(crate) fn in_words(error: &Error) -> Option<String> {
    Some(match error {
        Error::Options(problem) => option_words(problem),
        Error::InputOptions { input, problem } => format!("{input}: {}", option_words(problem)),
        Error::Record { input, line, problem, is_skippable } => {
            let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            let hint = if *is_skippable { SKIP_HINT } else { "" };
            format!("{input}: {place}{}{hint}", record_words(problem))
        }
        Error::NotReplaceable { directory, path } => {
            let (shown, part) = (directory.display(), path.display());
            format!(
                "{shown}: --force replaces only a directory of HFiles by family, and {part} is not a part of one; \
                 name another directory, or remove this one"
            )
        }
        _ => return None,
    })
}

const SKIP_HINT: &str = "; --bad-lines skip, or --bad-lines FILE, goes on without such lines";

/// Returns the name of an option.
pub(crate) fn name(option: InputOption) -> String {
    if option == InputOption::Types { "--type".to_owned() } else { flag(&option.to_string()) }
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

const fn record_hint(problem: &RecordProblem) -> &'static str {
    match problem {
        RecordProblem::FieldTooLarge { .. } => "; raise --field-size-max for larger fields",
        RecordProblem::LineTooLong(_) => {
            "; raise --field-size-max for longer lines: a line of cells has at most 8 times as much"
        }
        RecordProblem::NotOfCells { .. } => " (--row reads other CSV)",
        _ => "",
    }
}

/// Returns the message of options that do not fit; the words of the library if they name no option.
fn option_words(problem: &OptionProblem) -> String {
    use OptionProblem as Problem;

    match problem {
        Problem::NeedsColumns(given) => format!("{} needs --from csv or parquet", name(*given)),
        Problem::NeedsCsv(given) => format!("{} needs --from csv", name(*given)),
        Problem::FromLine(line) => {
            format!("--from-line {line}: no record of the input begins on that line or a later one")
        }
        Problem::LineEnd(option) => format!("{} cannot be a line end", name(*option)),
        Problem::FieldSizeMax(max) => format!("--field-size-max must be between 1 and {max} bytes"),
        Problem::CsvOfCells(given) => format!(
            "{} cannot be combined with the columns row, family and ts, which hfile cat prints; --row reads them as \
             other CSV",
            name(*given)
        ),
        Problem::BatchesOfCells(given) => format!(
            "{} cannot be combined with the columns row, family and timestamp, of which each row is a cell; --row \
             reads them as columns of a table",
            name(*given)
        ),
        Problem::NoRow(known) => format!(
            "--row is needed to name the columns of the row key (known are {}; only a header with row, family and ts \
             needs no --row)",
            known.join(", ")
        ),
        Problem::Value { option, what } => format!("{}: {what}", name(*option)),
        Problem::UnnamedColumn(_) => {
            format!("{problem} (the header may end with a separator); --ignore '' leaves it out")
        }
        Problem::NoFamily(_) => format!(
            "{problem}: set one with --column NAME=FAMILY:QUALIFIER, one for all with --family, or leave columns out \
             with --ignore"
        ),
        Problem::HeaderFamily { .. } => format!("{problem} with --column NAME=FAMILY:QUALIFIER"),
        Problem::TwoTimestamps(column) => format!("--timestamp and {column} exclude each other"),
        Problem::PivotOfFamily(family) => {
            format!("--pivot needs the columns of family {family}: name them with --columns")
        }
        Problem::OtherOptions { manifest, options } => {
            let in_words = options.iter().map(differing).collect();
            Problem::OtherOptions { manifest: manifest.clone(), options: in_words }.to_string()
        }
        Problem::OtherNow { directory, now } => format!(
            "{} has an export with --now {now}; give another directory",
            directory.display()
        ),
        problem => fixed_words(problem).map_or_else(|| problem.to_string(), str::to_owned),
    }
}

/// Returns the message of a problem without values.
const fn fixed_words(problem: &OptionProblem) -> Option<&'static str> {
    use OptionProblem as Problem;

    Some(match problem {
        Problem::SameByte => "--separator and --quote are the same byte",
        Problem::FamilyOfColumns => {
            "--family cannot be combined with --columns, which names all families"
        }
        Problem::BadLinesFile => {
            "--bad-lines FILE needs text; of record batches, bad records can only be skipped"
        }
        Problem::NoRowSeparator => "several row columns need --row-separator, which may be empty",
        Problem::NoBatches => "--pivot and --row-type are for --to parquet and --to arrow",
        Problem::MobReferences => {
            "--mob-references would load references to files that the other cluster does not have"
        }
        Problem::PivotOfVersions => {
            "--pivot shows the newest version of each column: without --raw and --versions"
        }
        Problem::PivotWithoutColumns => {
            "--pivot needs columns: name them with --columns or --type (hfile stats lists those of a file)"
        }
        Problem::TooManyFiles => {
            "--max-file-size gives more than 1,000,000 files for one region; give a larger size"
        }
        _ => return None,
    })
}

/// Returns an option as the command line names it.
fn differing(DifferingOption { name, value }: &DifferingOption) -> DifferingOption {
    let name = match &name[..] {
        "format" => "--to".to_owned(),
        "pivot" => "--pivot and --type".to_owned(),
        "columns" => "--family and --columns".to_owned(),
        name => flag(name),
    };
    DifferingOption { name, value: value.clone() }
}
