//! `hfile find`: which files can hold a row, and why the others cannot.

use std::io::{self, Write};
use std::path::PathBuf;

use filter::Seed;
use serde::Serialize;
use sstable::{FilterAnswer, ReadTrace, RowProbe, TimeRange, Timestamp};

use crate::arguments::key_text::KeyText;
use crate::arguments::time_range::{time, time_range};
use crate::failure::{Answer, UsageError, refuse};
use crate::inputs::{Input, Inputs, OpenInput, Target, add_target_column};
use crate::text::output::{Report, ReportFormat, write_table};
use crate::text::size_text::{show_count, show_number};
use crate::text::stderr::print_message;

/// Show which HFiles can hold a row, by key range, time range and filter, without reading data blocks.
#[derive(clap::Args)]
#[command(allow_missing_positional = true, override_usage = "hfile find [OPTIONS] <PATH>... <ROW>")]
#[command(after_help = "\
Examples:
  hfile find region/cf row1
  hfile find --column q --min-ts 1700000000000 region/cf 'row\\x00'
  hfile find --json region/cf row1 | jq -r 'select(.candidate) | .file'

--min-ts is inclusive and --max-ts exclusive, as in HBase's TimeRange.
Continues with the other files if one cannot be read.
A ROW that names an existing file or directory is refused, because the row was probably forgotten; write such a
row as hex:…
Exit status: 0 some file can hold the row, 1 none can, or a file is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Find {
    /// HFiles, or directories of them, to search
    // Not required, so that `hfile find FILE` reaches the check of the row.
    #[arg(value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Row key: text with \xNN, or hex:…
    row: KeyText,
    /// Look for this column of the row; queries ROWCOL Bloom filters too
    #[arg(long, value_name = "QUALIFIER")]
    column: Option<KeyText>,
    /// Look for cells from this time on: milliseconds since 1970, or ISO 8601
    #[arg(long, value_name = "TIME", default_value_t = 0, value_parser = time)]
    min_ts: i64,
    /// Look for cells before this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_ts: Option<i64>,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Find {
    /// Checks the files one after the other.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        self.row.check_is_not_a_file()?;
        if self.files.is_empty() {
            refuse!("give a PATH before the row: hfile find PATH {}", self.row);
        }
        let times = self.times()?;
        let mut probe = RowProbe::new(self.row.as_bytes(), Seed::new(0));
        if let Some(column) = &self.column {
            probe = probe.with_column(column.as_bytes());
        }
        let mut files = Vec::new();
        let answer = Inputs::expand(&self.files).for_each(|file| {
            files.push(FoundFile::new(file, &probe, times)?);
            Ok(Answer::Positive)
        });
        self.hint_at_rows();
        if files.is_empty() {
            return answer;
        }
        let found = files.iter().any(|file| file.candidate);
        if self.report_format.is_json() {
            for file in &files {
                self.report_format.print(file)?;
            }
        } else {
            self.report_format.print(&FileTable(files))?;
        }
        Ok(answer?.and(Answer::from_bool(found)))
    }

    /// Prints a hint if a path before the row does not exist: it is probably another row.
    fn hint_at_rows(&self) {
        let absent = self.files.iter().skip(1).find(|path| !path.exists());
        if let Some(path) = absent {
            print_message(format_args!(
                "hfile: find takes one row, the last argument; {} is read as a path",
                path.display()
            ));
        }
    }

    /// Returns the time range of the options, with `--max-ts` turned into an inclusive end.
    fn times(&self) -> Result<TimeRange, UsageError> {
        let (min, before) = time_range(Some(self.min_ts), self.max_ts)?;
        let max = match self.max_ts {
            Some(_) => Timestamp::new(before.get() - 1),
            None => before,
        };
        Ok(TimeRange { min, max })
    }
}

/// Whether a file can hold the row.
#[derive(Serialize)]
struct FoundFile {
    schema: u32,
    file: String,
    #[serde(flatten)]
    target: Target,
    /// Whether the file can hold the row.
    candidate: bool,
    why: Reason,
    filter_blocks: u64,
    bytes_from_file: u64,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Reason {
    Empty,
    OutOfRange,
    OutOfTime,
    DeniedByFilter,
    PassedByFilter,
    FilterUnreadable,
    NoFilter,
}

impl Reason {
    const fn text(self) -> &'static str {
        match self {
            Self::Empty => "no: it has no cells",
            Self::OutOfRange => "no: outside its key range",
            Self::OutOfTime => "no: outside its time range",
            Self::DeniedByFilter => "no: its filter says no",
            Self::PassedByFilter => "maybe: its filter says maybe",
            Self::FilterUnreadable => "maybe: its filter cannot be read",
            Self::NoFilter => "maybe: it has no filter for this query",
        }
    }
}

impl FoundFile {
    fn new(file: &Input, probe: &RowProbe<'_>, times: TimeRange) -> anyhow::Result<Self> {
        let OpenInput { reader: store_file, target } = file.open()?;
        let reader = store_file.whole();
        let mut trace = ReadTrace::default();
        let why = if reader.is_empty() {
            Reason::Empty
        } else if !store_file.spans_row(probe.row()) {
            Reason::OutOfRange
        } else if reader.file_info().time_range().is_some_and(|own| !own.overlaps(times)) {
            Reason::OutOfTime
        } else {
            match reader.ask_filter(probe, &mut trace) {
                FilterAnswer::No => Reason::DeniedByFilter,
                FilterAnswer::Maybe => Reason::PassedByFilter,
                FilterAnswer::Unreadable => Reason::FilterUnreadable,
                FilterAnswer::NotCovered => Reason::NoFilter,
            }
        };
        let candidate =
            matches!(why, Reason::PassedByFilter | Reason::FilterUnreadable | Reason::NoFilter);
        Ok(Self {
            schema: 1,
            file: file.name(),
            target,
            candidate,
            why,
            filter_blocks: trace.blocks_from(sstable::BlockSource::File),
            bytes_from_file: sstable::BlockKind::ALL
                .map(|kind| trace.bytes(kind, sstable::BlockSource::File))
                .iter()
                .sum(),
        })
    }
}

impl Report for FoundFile {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}: {}", self.target.label(&self.file), self.why.text())
    }
}

/// The text form of all files' reports.
#[derive(Serialize)]
struct FileTable(Vec<FoundFile>);

impl Report for FileTable {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let files = self.0.iter();
        let mut rows: Vec<_> =
            files.map(|file| vec![file.why.text().to_owned(), file.file.clone()]).collect();
        let mut heading = vec!["can hold the row", "file"];
        add_target_column(&mut heading, &mut rows, self.0.iter().map(|file| &file.target));
        write_table(out, &heading, rows)?;
        if let [_, _, ..] = &self.0[..] {
            let candidates = self.0.iter().filter(|file| file.candidate).count() as u64;
            let all = show_number(self.0.len() as u64, "file");
            writeln!(out, "\n{} of {all} can hold the row", show_count(candidates))?;
        }
        Ok(())
    }
}
