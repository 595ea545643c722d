//! `hfile snapshot verify` and `hfile table verify`: check each file of a table.

use std::io::{self, Write};

use cells::{error_line, escape};
use hbase_files::verify::{FileCheck, TableDamage};
use hbase_files::{Error, Region};
use serde::Serialize;

use super::contents::FileCounts;
use super::place::{Name, NamedPlaces, NamedTable};
use super::several::Selected;
use crate::arguments::reading_options::limits;
use crate::failure::Answer;
use crate::inputs::{Outcomes, in_parallel};
use crate::text::fold::fold;
use crate::text::lost_rows::{LostRowsReport, NO_ROWS};
use crate::text::output::{Report, ReportFormat};
use crate::text::printable::as_line;
use crate::text::progress::Progress;
use crate::text::size_text::{show_count, show_number};
use crate::text::warnings::PrintedWarnings;

// The doc comments and the examples stand with the nouns, in `snapshot.rs` and `table.rs`.
#[derive(clap::Args)]
pub(crate) struct Verify<P: NamedPlaces> {
    #[command(flatten)]
    place: P,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl<P: NamedPlaces> Verify<P> {
    /// Checks the tables or snapshots, and prints a report for each: of several, one line.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let selected = Selected::of(&self.place)?;
        selected.tell_former_tables("verified")?;
        let is_one = selected.only.is_some();
        selected.for_each_named(&self.place, |named, printed| {
            tell_unchecked_logs(named, printed);
            check(named, is_one, self.report_format)
        })
    }
}

fn tell_unchecked_logs(NamedTable { table, snapshot }: &NamedTable, printed: &mut PrintedWarnings) {
    let recovered = table.regions.iter().flat_map(|region| &region.recovered_edits).count();
    let count = table.logs.len() + recovered;
    printed.warn(&table.log_warnings);
    if count > 0 && snapshot.is_none() {
        let logs = show_number(count as u64, "write-ahead log");
        printed.print(format!("hfile: {logs} not checked; see hfile wal verify"));
    }
}

fn check(named: &NamedTable, is_detailed: bool, format: ReportFormat) -> anyhow::Result<Answer> {
    let table = &named.table;
    let check = table.check();
    let tree = &**table.tree();
    let bytes = check.files.iter().map(|file| file.len(tree)).sum();
    let progress = Progress::bytes("checking", bytes);
    let mut outcomes = Outcomes::default();
    let mut errors: Vec<Finding> = check.damages.iter().map(Finding::new).collect();
    let (mut unchecked, mut refused) = (Vec::new(), Vec::new());
    let unread = check.unread.len();
    for error in check.unread {
        refused.push(RefusedFile::of_part(&error));
        outcomes.record(Err(error.into()))?;
    }
    in_parallel(
        &check.files,
        |file: &FileCheck| {
            let (mut damages, mut shown) = (Vec::new(), 0);
            let advance = |done: u64| {
                // Other threads advance the same bar. A check may go back to an earlier offset.
                progress.advance(done.saturating_sub(shown));
                shown = shown.max(done);
            };
            let checked = file.run(tree, limits(), advance, &mut damages);
            (damages, checked)
        },
        |file, (damages, checked)| {
            errors.extend(damages.iter().map(Finding::new));
            match &checked {
                Ok(()) => {}
                Err(Error::File(sstable::Error::Unsupported { feature, found, .. })) => {
                    let what = format!("unsupported {feature}: {found}");
                    refused.push(RefusedFile { file: file.path.clone(), what });
                }
                Err(_) => unchecked.push(file.path.clone()),
            }
            outcomes.record(checked.map(|()| Answer::Positive).map_err(anyhow::Error::from))
        },
    )?;
    drop(progress);
    let files = check.files.len();
    let store_files = FileCounts::of_table(table);
    let counts = Counts {
        regions: table.regions.len(),
        store_files: store_files.all(),
        kinds: store_files.into(),
        recovered: table.regions.iter().flat_map(Region::recovered_hfiles).count(),
        files,
    };
    let report =
        TableReport::new(named.name(), counts, errors, Unread { unchecked, refused }, is_detailed);
    let answer = format.print(&report)?;
    Ok(outcomes.conclude(files + unread, "file")?.and(answer))
}

/// What was checked.
#[derive(Serialize)]
struct Counts {
    regions: usize,
    /// Store files, as `ls` and `info` count them: HFiles, links and references.
    store_files: u64,
    #[serde(flatten)]
    kinds: Kinds,
    /// HFiles to which logs were split, which are no store files yet.
    #[serde(skip)]
    recovered: usize,
    /// HFiles; each is checked once, though several regions may have a half of it.
    files: usize,
}

/// The store files by kind.
#[derive(Serialize)]
struct Kinds {
    hfiles: u64,
    links: u64,
    references: u64,
}

impl From<FileCounts> for Kinds {
    fn from(FileCounts { hfiles, links, references, .. }: FileCounts) -> Self {
        Self { hfiles, links, references }
    }
}

impl Counts {
    /// Returns what was checked, as in "40 HFiles and the 8 that 16 references name".
    fn text(&self) -> String {
        let Self { kinds: Kinds { hfiles, links, references }, recovered, files, .. } = *self;
        let mut text = show_number(hfiles, "HFile");
        let recovered_count = recovered as u64;
        let named = (files as u64).saturating_sub(hfiles).saturating_sub(recovered_count);
        if links + references > 0 {
            let counts = [(links, "link"), (references, "reference")];
            let present = counts.iter().filter(|(count, _)| *count > 0);
            let sources: Vec<String> =
                present.map(|(count, what)| show_number(*count, what)).collect();
            let verb = if links + references == 1 { "names" } else { "name" };
            let by = sources.join(" and ");
            text = match hfiles {
                0 => format!("{} that {by} {verb}", show_number(named, "HFile")),
                _ => format!("{text} and the {} that {by} {verb}", show_count(named)),
            };
        }
        if recovered > 0 {
            text = format!("{text}, {}", show_number(recovered_count, "recovered HFile"));
        }
        text
    }
}

#[derive(Serialize)]
struct TableReport {
    schema: u32,
    #[serde(flatten)]
    name: Name,
    ok: bool,
    #[serde(flatten)]
    counts: Counts,
    errors: Vec<Finding>,
    #[serde(flatten)]
    unread: Unread,
    /// Whether the text lists the errors. Otherwise it is one line.
    #[serde(skip)]
    is_detailed: bool,
}

/// The HFiles that are neither sound nor damaged, as far as is known.
#[derive(Serialize)]
struct Unread {
    /// Files that could not be read to the end; stderr has their errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unchecked: Vec<String>,
    /// Files that this program does not read, such as encrypted ones, and parts that it may not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<RefusedFile>,
}

/// A part of the table that this program does not read, or may not read.
#[derive(Serialize)]
struct RefusedFile {
    file: String,
    what: String,
}

impl RefusedFile {
    /// Returns the part of a table that could not be read, and why.
    fn of_part(error: &Error) -> Self {
        let line = match error {
            Error::Incomplete { source, .. } => error_line(&**source),
            error => error_line(error),
        };
        let (file, what) = line.split_once(": ").unwrap_or(("", &line));
        Self { file: file.to_owned(), what: what.to_owned() }
    }
}

/// A damaged or missing part of the table.
#[derive(Serialize)]
struct Finding {
    region: Option<String>,
    family: Option<String>,
    file: Option<String>,
    what: String,
    /// The rows that may have lost cells, if any.
    #[serde(flatten)]
    rows: Option<LostRowsReport>,
    /// Set if reads of cells do not need what is damaged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_rows_lost: bool,
    /// The file or the region, for the report that people read.
    #[serde(skip)]
    place: String,
}

impl Finding {
    fn new(damage: &TableDamage) -> Self {
        Self {
            region: damage.region.as_ref().map(ToString::to_string),
            family: damage.family.as_ref().map(|family| escape(family).to_string()),
            file: damage.file.clone(),
            what: damage.what.clone(),
            rows: damage.rows.as_ref().map(LostRowsReport::from),
            no_rows_lost: damage.rows.is_none(),
            place: damage.place(),
        }
    }
}

impl TableReport {
    fn new(
        name: Name,
        counts: Counts,
        errors: Vec<Finding>,
        unread: Unread,
        is_detailed: bool,
    ) -> Self {
        let ok = errors.is_empty() && unread.unchecked.is_empty() && unread.refused.is_empty();
        Self { schema: 1, name, ok, counts, errors, unread, is_detailed }
    }
}

impl Report for TableReport {
    fn answer(&self) -> Answer {
        Answer::from_bool(self.ok)
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let name = match &self.name {
            Name::Snapshot(name) => format!("snapshot {name}"),
            Name::Table(name) => format!("table {name}"),
        };
        let Unread { unchecked, refused } = &self.unread;
        let verdict = match (self.ok, self.errors.is_empty()) {
            (true, _) => "sound",
            (false, true) if unchecked.is_empty() => "refused",
            (false, true) => "NOT CHECKED COMPLETELY",
            (false, false) => "DAMAGED",
        };
        let regions = show_number(self.counts.regions as u64, "region");
        let files = self.counts.text();
        write!(out, "{}: {verdict}, {regions}, {files}", as_line(&name))?;
        if !self.is_detailed {
            let count = (self.errors.len() + unchecked.len() + refused.len()) as u64;
            let problems = show_number(count, "problem");
            return match count {
                0 => writeln!(out),
                _ => writeln!(out, ", {problems}; name it alone to list them"),
            };
        }
        writeln!(out)?;
        for Finding { place, what, rows, .. } in &self.errors {
            let lost = rows.as_ref().map_or_else(|| NO_ROWS.to_owned(), LostRowsReport::text);
            writeln!(out, "  {lost}")?;
            let problem = as_line(what);
            let line = match &*as_line(place) {
                "" => problem.into_owned(),
                place => format!("{place}: {problem}"),
            };
            writeln!(out, "    {}", fold(&line).replace('\n', "\n    "))?;
        }
        for RefusedFile { file, what } in refused {
            writeln!(out, "  {}: refused: {}", as_line(file), as_line(what))?;
        }
        for file in unchecked {
            writeln!(out, "  {}: could not be read to its end", as_line(file))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_with_a_file_that_could_not_be_read_is_not_called_sound() {
        let name = Name::Table("t".to_owned());
        let unchecked = vec!["default/t/r/f/file".to_owned()];
        let kinds = Kinds { hfiles: 1, links: 0, references: 2 };
        let counts = Counts { regions: 1, store_files: 3, kinds, recovered: 0, files: 2 };
        let unread = Unread { unchecked, refused: Vec::new() };
        let report = TableReport::new(name, counts, Vec::new(), unread, true);
        assert!(!report.ok);
        let mut bytes = Vec::new();
        report.write_text(&mut bytes).expect("memory");
        let text = String::from_utf8(bytes).expect("UTF-8");
        assert_eq!(
            text,
            "table t: NOT CHECKED COMPLETELY, 1 region, \
             1 HFile and the 1 that 2 references name\n  \
             default/t/r/f/file: could not be read to its end\n"
        );
    }
}
