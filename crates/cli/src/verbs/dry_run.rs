//! `--dry-run`: reads an input and reports its first cells, counts and problems. Writes nothing.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::bail;
use cells::escape;
use serde::Serialize;
use serde_json::value::RawValue;
use sstable::{Cell, Comparator};
use transfer::{BadRecord, CellsOutput, Error, Input, InputOptions, OutputFormat};

use crate::failure::{Answer, in_words, record_words};
use crate::text::output::{Report, ReportFormat, cell_json};
use crate::text::progress::Shown;
use crate::text::size_text::show_number;

/// The maximum number of cells to show.
const SHOWN_MAX: usize = 10;
/// The maximum number of problems to show.
const PROBLEMS_MAX: usize = 10;

/// The requirements that the output has for cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checks<'a> {
    /// The required order within each family; `None` if cells will be sorted.
    pub(crate) order: Option<Comparator>,
    /// The required family; `None` for any.
    pub(crate) family: Option<&'a [u8]>,
    /// Whether the output is a single file, so that all cells must have the same family.
    pub(crate) is_single_file: bool,
}

/// Reads the whole input and prints its first cells, counts and problems.
///
/// Returns [`Answer::Negative`] if there are problems.
pub(crate) fn dry_run(
    options: &InputOptions,
    mut input: Input,
    checks: Checks<'_>,
    report_format: ReportFormat,
) -> anyhow::Result<Answer> {
    let progress = input.show_progress("reading", &Shown);
    let input_name = options.name().to_string();
    let mut report = DryRunReport {
        schema: 1,
        input: input_name,
        unit: input.unit(),
        ..DryRunReport::default()
    };
    let mut last_of_families: BTreeMap<Vec<u8>, Cell> = BTreeMap::new();
    let mut invalid_cell = None;
    while let Some(cell) = input.next() {
        let cell = match cell {
            Ok(cell) => cell,
            Err(error @ (Error::Record { .. } | Error::File(sstable::Error::Invalid { .. }))) => {
                invalid_cell = Some(error);
                break;
            }
            Err(error) => bail!(error),
        };
        let previous = last_of_families.get(cell.family());
        if let Some(what) = checks.problem(&cell, report.shown.first(), previous) {
            let what = match input.file() {
                Some(file) => format!("{file}: {what}"),
                None => what,
            };
            report.add_problem(input.line(), what);
        }
        report.add_cell(&cell)?;
        if checks.order.is_some() {
            match last_of_families.get_mut(cell.family()) {
                Some(last) => *last = cell,
                None => drop(last_of_families.insert(cell.family().to_vec(), cell)),
            }
        }
    }
    drop(progress);
    match invalid_cell {
        // The cells format cannot be read past an invalid cell; CSV input skips bad lines.
        Some(error) => {
            report.add_problem(input.line(), in_words(&error).unwrap_or_else(|| error.to_string()));
        }
        None => input.check_from_line()?,
    }
    report.finish(&input);
    report_format.print(&report)
}

impl Checks<'_> {
    /// Returns the problem if `cell` does not meet the requirements.
    ///
    /// `first` is the first cell of the input, `previous` the previous cell of the same family.
    fn problem(
        &self,
        cell: &Cell,
        first: Option<&Cell>,
        previous: Option<&Cell>,
    ) -> Option<String> {
        if let Some(family) = self.family
            && cell.family() != family
        {
            let (found, expected) = (escape(cell.family()), escape(family));
            return Some(format!("cell of family {found}, expected {expected}"));
        }
        if self.is_single_file
            && let Some(first) = first
            && first.family() != cell.family()
        {
            let families = [first, cell].map(|cell| escape(cell.family()).to_string());
            return Some(format!(
                "cell of family {} in a file of family {}; --bulk-load writes a directory with a file for each family",
                families[1], families[0]
            ));
        }
        let (comparator, last) = (self.order?, previous?.as_ref());
        let (key, last_key) = (cell.as_ref().key(), last.key());
        let sorts_before = comparator.compare(&key, &last_key).is_lt();
        sorts_before.then(|| format!("{key} sorts before the previous cell {last_key}; use --sort"))
    }
}

#[derive(Default, Serialize)]
struct DryRunReport {
    schema: u32,
    input: String,
    records: u64,
    cells: u64,
    families: BTreeMap<String, u64>,
    bad_lines: u64,
    #[serde(rename = "problems")]
    problem_count: u64,
    first_problems: Vec<Problem>,
    first_cells: Vec<Box<RawValue>>,
    /// The same cells as `first_cells`, for the text report.
    #[serde(skip)]
    shown: Vec<Cell>,
    /// What the numbers of problems count.
    #[serde(skip)]
    unit: &'static str,
}

/// A problem of a line, or of a record of Parquet.
#[derive(Serialize)]
struct Problem {
    line: u64,
    what: String,
}

impl DryRunReport {
    fn add_problem(&mut self, line: u64, what: String) {
        self.problem_count += 1;
        if self.first_problems.len() < PROBLEMS_MAX {
            self.first_problems.push(Problem { line, what });
        }
    }

    fn add_cell(&mut self, cell: &Cell) -> anyhow::Result<()> {
        self.cells += 1;
        *self.families.entry(escape(cell.family()).to_string()).or_default() += 1;
        if self.shown.len() < SHOWN_MAX {
            self.shown.push(cell.clone());
            self.first_cells.push(cell_json(cell)?);
        }
        Ok(())
    }

    /// Adds the counts of the input, and the bad lines that it skipped.
    fn finish(&mut self, input: &Input) {
        self.records = input.record_count();
        self.bad_lines = input.bad_line_count();
        self.problem_count += self.bad_lines;
        let bad = input.first_bad_lines().iter();
        self.first_problems.extend(bad.map(|BadRecord { line, problem }| Problem {
            line: *line,
            what: record_words(problem),
        }));
        self.first_problems.sort_by_key(|problem| problem.line);
        self.first_problems.truncate(PROBLEMS_MAX);
    }
}

impl Report for DryRunReport {
    fn answer(&self) -> Answer {
        Answer::from_bool(self.problem_count == 0)
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut cells = CellsOutput::new(&mut *out, OutputFormat::Text)?;
        for cell in &self.shown {
            cells.write(&cell.as_ref())?;
        }
        cells.flush()?;
        let (printed_cells, records) =
            (show_number(self.cells, "cell"), show_number(self.records, "record"));
        writeln!(out, "{}: {printed_cells} from {records}; nothing was written", self.input)?;
        for (family, count) in &self.families {
            writeln!(out, "  family {family}: {}", show_number(*count, "cell"))?;
        }
        if self.problem_count > 0 {
            writeln!(out, "{}:", show_number(self.problem_count, "problem"))?;
        }
        for Problem { line, what } in &self.first_problems {
            writeln!(out, "  {} {line}: {what}", self.unit)?;
        }
        Ok(())
    }
}
