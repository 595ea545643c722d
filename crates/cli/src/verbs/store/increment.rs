//! `hfile store increment`: adds to a counter column.

use std::io::{self, Write};

use serde::Serialize;
use store::Increment as Change;

use super::column::Column;
use super::directory::{WithStore, check_family};
use crate::failure::Answer;
use crate::text::output::Report;

/// Add a number to the counter in a column, and print the sum.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store increment DIR f page visits
  hfile store increment DIR f page visits --amount=-5

A counter is 8 bytes, big-endian, as in HBase; an absent column counts as 0.
Exit status: 0 written, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Increment {
    #[command(flatten)]
    column: Column,
    /// Add this number, which may be negative
    #[arg(long, value_name = "NUMBER", default_value_t = 1, allow_negative_numbers = true)]
    amount: i64,
}

impl WithStore<Increment> {
    /// Adds.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let Column { family, row, qualifier } = &self.verb.column;
        let change =
            Change::new(row.as_bytes()).column(family, qualifier.as_bytes(), self.verb.amount);
        let store = self.directory.open()?;
        check_family(&store, family)?;
        let cells = store.increment(&change)?;
        let sums = cells.iter().filter_map(|cell| <[u8; 8]>::try_from(cell.value()).ok());
        for sum in sums.map(i64::from_be_bytes) {
            let sequence_id = store.stats().sequence_id;
            self.report_format.print(&SumReport { schema: 1, sum, sequence_id })?;
        }
        Ok(Answer::Positive)
    }
}

#[derive(Serialize)]
struct SumReport {
    schema: u32,
    sum: i64,
    sequence_id: u64,
}

impl Report for SumReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.sum)
    }
}
