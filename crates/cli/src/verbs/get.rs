//! `hfile get`: one row from one or more files, and the blocks that the search read.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use filter::Seed;
use serde::Serialize;
use serde_json::value::RawValue;
use sstable::{Cell, ReadTrace, RowProbe};
use transfer::{CellsOutput, OutputFormat};

use crate::arguments::key_text::KeyText;
use crate::failure::{Answer, refuse};
use crate::inputs::{
    FailedFile, Input, Inputs, OpenInput, Target, UnreadDirectory, add_target_column,
};
use crate::text::counters::Counters;
use crate::text::output::{Report, ReportFormat, STDOUT, cell_json, stdout, write_table};
use crate::text::row_not_found::print_row_not_found;
use crate::text::size_text::{show_count, show_number, show_size};

/// Print all cells of one row from one or more HFiles, including delete markers.
#[derive(clap::Args)]
#[command(allow_missing_positional = true, override_usage = "hfile get [OPTIONS] <PATH>... <ROW>")]
#[command(after_help = "\
Examples:
  hfile get 4f1c.hfile row1
  hfile get --explain region/cf 'row\\x00'
  hfile get --json region/cf hex:726f7731 | jq .files

Continues with the other files if one cannot be read; the cells of that file are then missing.
A ROW that names an existing file or directory is refused, because the row was probably forgotten; write such a
row as hex:…
Exit status: 0 found, 1 not found, or a file is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Get {
    /// HFiles, or directories of them, to search
    // Not required, so that `hfile get FILE` reaches the check of the row.
    #[arg(value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Row key: text with \xNN, or hex:…
    row: KeyText,
    /// Also show why each file was skipped or searched, and how many blocks were read
    #[arg(long)]
    explain: bool,
    /// Choose the output format
    #[arg(long, value_enum, ignore_case = true, default_value_t, conflicts_with = "json")]
    format: OutputFormat,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Get {
    /// Prints the row, and with `--explain` how each file was searched.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        self.row.check_is_not_a_file()?;
        if self.files.is_empty() {
            refuse!("give a PATH before the row: hfile get PATH {}", self.row);
        }
        let probe = RowProbe::new(self.row.as_bytes(), Seed::new(0));
        let mut cells: Vec<Cell> = Vec::new();
        let mut files = Vec::new();
        let mut failed = Vec::new();
        let inputs = Inputs::expand(&self.files);
        for UnreadDirectory { directory, error } in inputs.problems() {
            failed.push(FailedFile::new(directory.clone(), error));
        }
        let answer = inputs.for_each(|file| {
            let result = search_file(file, &probe).inspect_err(|error| {
                failed.push(FailedFile::new(file.name(), error));
            })?;
            files.push(SearchedFile::new(file.name(), &result));
            cells.extend(result.cells);
            Ok(Answer::Positive)
        });
        if files.is_empty() {
            return answer;
        }
        // A store returns cells in this order.
        cells.sort_by(|one, other| one.as_ref().compare(&other.as_ref()));
        let found = !cells.is_empty();
        let failed_count = failed.len();
        let report = GetReport {
            schema: 1,
            row: self.row.to_string(),
            found,
            cells: cells.iter().map(cell_json).collect::<Result<_, _>>()?,
            files,
            failed,
        };
        if self.report_format.is_json() {
            self.report_format.print(&report)?;
        } else {
            let mut output = CellsOutput::new(stdout(), self.format).context(STDOUT)?;
            for cell in &cells {
                output.write(&cell.as_ref()).context(STDOUT)?;
            }
            output.flush().context(STDOUT)?;
            if self.explain {
                self.report_format.print(&report)?;
            }
        }
        if !found {
            print_row_not_found(&self.row, failed_count == 0);
        }
        Ok(answer?.and(Answer::from_bool(found)))
    }
}

/// The cells of the row in one file, and the counters of the search.
struct SearchResult {
    target: Target,
    cells: Vec<Cell>,
    trace: ReadTrace,
}

fn search_file(file: &Input, probe: &RowProbe<'_>) -> anyhow::Result<SearchResult> {
    let OpenInput { reader, target } = file.open()?;
    let mut row = reader.look_up(probe)?;
    let mut cells = Vec::new();
    while let Some(cell) = row.cell() {
        cells.push(cell.to_cell());
        row.advance()?;
    }
    Ok(SearchResult { target, cells, trace: row.trace() })
}

#[derive(Serialize)]
struct GetReport {
    schema: u32,
    row: String,
    found: bool,
    cells: Vec<Box<RawValue>>,
    files: Vec<SearchedFile>,
    /// The files and directories that could not be searched: the row may have cells in them.
    failed: Vec<FailedFile>,
}

/// How one file was searched.
#[derive(Serialize)]
struct SearchedFile {
    file: String,
    #[serde(flatten)]
    target: Target,
    outcome: Outcome,
    cells: usize,
    filter_checked: bool,
    data_blocks: u64,
    index_blocks: u64,
    filter_blocks: u64,
    blocks_from_file: u64,
    blocks_from_cache: u64,
    bytes_from_file: u64,
}

#[derive(Clone, Copy, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Found,
    SkippedByRange,
    SkippedByFilter,
    FalsePositive,
    NotFound,
}

impl Outcome {
    const fn text(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::SkippedByRange => "skipped: outside its key range",
            Self::SkippedByFilter => "skipped: its filter said no",
            Self::FalsePositive => "not found: false positive of its filter",
            Self::NotFound => "not found: no filter was queried",
        }
    }
}

impl SearchedFile {
    fn new(file: String, result: &SearchResult) -> Self {
        let trace = &result.trace;
        let outcome = if !result.cells.is_empty() {
            Outcome::Found
        } else if trace.files_skipped_by_range > 0 {
            Outcome::SkippedByRange
        } else if trace.files_skipped_by_filter > 0 {
            Outcome::SkippedByFilter
        } else if trace.filter_false_positives > 0 {
            Outcome::FalsePositive
        } else {
            Outcome::NotFound
        };
        let counters = Counters::from(trace);
        Self {
            file,
            target: result.target.clone(),
            outcome,
            cells: result.cells.len(),
            filter_checked: trace.filter_checks > 0,
            data_blocks: counters.data_blocks,
            index_blocks: counters.index_blocks,
            filter_blocks: counters.bloom_blocks + counters.meta_blocks,
            blocks_from_file: counters.blocks_from_file,
            blocks_from_cache: counters.blocks_from_cache,
            bytes_from_file: counters.bytes_from_file,
        }
    }
}

impl GetReport {
    /// Returns the line below the table: the number of files by outcome, and the blocks read.
    fn summary(&self) -> String {
        let outcomes = [
            ("with the row", &[Outcome::Found][..]),
            ("skipped by key range", &[Outcome::SkippedByRange]),
            ("skipped by filter", &[Outcome::SkippedByFilter]),
            ("searched without a match", &[Outcome::FalsePositive, Outcome::NotFound]),
        ];
        let shown = outcomes.iter().filter_map(|(text, outcomes)| {
            let count = self.files.iter().filter(|file| outcomes.contains(&file.outcome)).count();
            (count > 0).then(|| format!("{} {text}", show_count(count as u64)))
        });
        let counts: Vec<String> = shown.collect();
        let sum = |field: fn(&SearchedFile) -> u64| self.files.iter().map(field).sum::<u64>();
        format!(
            "{}: {}; {} filter, {} index and {} data blocks, {}",
            show_number(self.files.len() as u64, "file"),
            counts.join(", "),
            show_count(sum(|file| file.filter_blocks)),
            show_count(sum(|file| file.index_blocks)),
            show_count(sum(|file| file.data_blocks)),
            show_size(sum(|file| file.bytes_from_file)),
        )
    }
}

impl Report for GetReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let row = |file: &SearchedFile| {
            vec![
                file.cells.to_string(),
                file.filter_blocks.to_string(),
                file.index_blocks.to_string(),
                file.data_blocks.to_string(),
                show_size(file.bytes_from_file),
                file.outcome.text().to_owned(),
                file.file.clone(),
            ]
        };
        let mut rows: Vec<_> = self.files.iter().map(row).collect();
        if self.found {
            writeln!(out)?;
        }
        writeln!(out, "Blocks touched in each file for row {}:\n", self.row)?;
        let mut heading = vec!["cells", "filter", "index", "data", "bytes read", "answer", "file"];
        add_target_column(&mut heading, &mut rows, self.files.iter().map(|file| &file.target));
        write_table(out, &heading, rows)?;
        writeln!(out, "\n{}", self.summary())
    }
}
