//! `hfile snapshot describe` and `hfile table describe`: print how to create such a table.

use std::io::{self, Write};

use serde::Serialize;

use super::place::{Name, NamedPlaces, NamedTable};
use super::several::Selected;
use crate::failure::Answer;
use crate::text::output::{Report, ReportFormat};

// The doc comments and the examples stand with the nouns, in `snapshot.rs` and `table.rs`.
#[derive(clap::Args)]
pub(crate) struct Describe<P: NamedPlaces> {
    #[command(flatten)]
    place: P,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl<P: NamedPlaces> Describe<P> {
    /// Prints a statement for each. The answer is negative if regions cannot be read: splits are missing then.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let mut selected = Selected::of(&self.place)?;
        selected.leave_out_tables_of_hbase("described", "describe");
        selected.for_each_named(&self.place, |named, _| {
            self.report_format.print(&Statement::new(named))
        })
    }
}

#[derive(Serialize)]
struct Statement {
    schema: u32,
    #[serde(flatten)]
    name: Name,
    create: String,
    /// Whether all regions are known, and with them the splits.
    complete: bool,
}

impl Statement {
    fn new(named: &NamedTable) -> Self {
        Self {
            schema: 1,
            name: named.name(),
            create: named.table.create_statement(),
            complete: named.table.problems.is_empty(),
        }
    }
}

impl Report for Statement {
    fn answer(&self) -> Answer {
        Answer::from_bool(self.complete)
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.create)
    }
}
