//! `hfile diff`: compares two files cell by cell.

use std::cmp::Ordering;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use serde::Serialize;
use sstable::{CellRef, SequenceId};

use crate::failure::{Answer, refuse};
use crate::inputs::MergedCells;
use crate::text::output::{Report, ReportFormat, STDOUT, stdout};
use crate::text::size_text::{show_count, show_number};

/// Compare the cells of two HFiles or directories, regardless of encoding, codec and filters.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile diff before.hfile after.hfile
  hfile diff --ignore-sequence-ids --limit 10 flushed.hfile exported.hfile
  hfile diff --json a.hfile b.hfile | jq .same
  hfile diff before/region compacted/region

For a directory, merges the cells of all its files in key order, including delete markers and old versions.
A line begins with - for a cell only in the first file, + for a cell only in the second, and * for a cell
whose value or tags differ.
Exit status: 0 the same cells, 1 different cells, or a file is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Diff {
    /// First HFile or directory
    #[arg(value_name = "PATH")]
    left: PathBuf,
    /// Second HFile or directory
    #[arg(value_name = "PATH")]
    right: PathBuf,
    /// Compare cells without their sequence ids
    #[arg(long)]
    ignore_sequence_ids: bool,
    /// Print at most this many differences; all are counted
    #[arg(long, value_name = "CELLS", default_value_t = 100)]
    limit: u64,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Diff {
    /// Iterates over both files together, in the order of their cells, and reports differences.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let (mut left, mut right) =
            (MergedCells::open(&self.left)?, MergedCells::open(&self.right)?);
        let order = left.order();
        if order != right.order() {
            refuse!(
                "cannot compare a file of hbase:meta with another file: their row orders differ"
            );
        }
        let mut report = DiffReport {
            schema: 1,
            left: self.left.display().to_string(),
            right: self.right.display().to_string(),
            ..DiffReport::default()
        };
        let mut out = stdout();
        let mut printed = 0;
        let mut show = |sign: char, cell: &CellRef<'_>| {
            printed += 1;
            if printed > self.limit || self.report_format.is_json() {
                return Ok(());
            }
            writeln!(out, "{sign} {cell:?}").context(STDOUT)
        };
        loop {
            let by_key = match (left.cell(), right.cell()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(one), Some(other)) => order
                    .compare(&one.key(), &other.key())
                    .then_with(|| self.counted_id(&other).cmp(&self.counted_id(&one))),
            };
            match (by_key, left.cell(), right.cell()) {
                (Ordering::Less, Some(cell), _) => {
                    report.only_left += 1;
                    show('-', &cell)?;
                }
                (Ordering::Greater, _, Some(cell)) => {
                    report.only_right += 1;
                    show('+', &cell)?;
                }
                (_, Some(one), Some(other))
                    if one.value != other.value || one.tags != other.tags =>
                {
                    report.differing += 1;
                    show('*', &other)?;
                }
                _ => report.equal += 1,
            }
            if by_key.is_le() {
                left.advance()?;
            }
            if by_key.is_ge() {
                right.advance()?;
            }
        }
        out.flush().context(STDOUT)?;
        drop(out);
        report.same = report.only_left + report.only_right + report.differing == 0;
        report.unshown = printed.saturating_sub(self.limit);
        self.report_format.print(&report)
    }

    /// Returns the sequence id that the comparison uses: 0 with `--ignore-sequence-ids`.
    fn counted_id(&self, cell: &CellRef<'_>) -> SequenceId {
        if self.ignore_sequence_ids { SequenceId::default() } else { cell.sequence_id }
    }
}

/// The result of the comparison, with the numbers of cells by outcome.
#[derive(Default, Serialize)]
struct DiffReport {
    schema: u32,
    left: String,
    right: String,
    same: bool,
    equal: u64,
    only_left: u64,
    only_right: u64,
    /// Cells with equal key and sequence id whose value or tags differ.
    differing: u64,
    /// Differences beyond `--limit`, which are counted but not printed.
    #[serde(skip)]
    unshown: u64,
}

impl Report for DiffReport {
    fn answer(&self) -> Answer {
        Answer::from_bool(self.same)
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.unshown > 0 {
            writeln!(out, "… and {}", show_number(self.unshown, "further difference"))?;
        }
        let equal = show_number(self.equal, "cell");
        if self.same {
            return writeln!(out, "the same {equal}");
        }
        let (left, right) = (show_count(self.only_left), show_count(self.only_right));
        let differing = show_count(self.differing);
        writeln!(
            out,
            "{equal} the same, {left} only in the first, {right} only in the second, {differing} different"
        )
    }
}
