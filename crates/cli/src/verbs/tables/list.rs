//! `hfile snapshot ls` and `hfile table ls`: list what is in a root directory.

use std::fs;
use std::io::Write;

use anyhow::Context;
use cells::time_text;
use hbase_files::{RootDirectory, SnapshotDescription, Table};
use serde::Serialize;
use sstable::Timestamp;
use store::Clock;

use super::line::TableLine;
use super::place::{Root, TableRoots};
use crate::failure::Answer;
use crate::inputs::Outcomes;
use crate::text::output::{STDOUT, stdout, write_table};
use crate::text::size_text::show_number;
use crate::text::stderr::print_message;
use crate::text::warnings::PrintedWarnings;

#[derive(clap::Args)]
pub(crate) struct ListSnapshots {
    #[command(flatten)]
    root: Root,
    /// Print JSON, one object per snapshot
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct ListTables {
    #[command(flatten)]
    roots: TableRoots,
    /// Count unflushed cells even if more than 64 MiB of logs must be read; they are read once per table
    #[arg(long)]
    with_wal: bool,
    /// Print JSON, one object per table
    #[arg(long)]
    json: bool,
}

/// A snapshot of the list.
#[derive(Serialize)]
struct SnapshotLine {
    schema: u32,
    snapshot: String,
    #[serde(flatten)]
    description: DescriptionReport,
}

/// The description of a snapshot, as `ls` and `info` report it.
#[derive(Serialize)]
pub(super) struct DescriptionReport {
    table: String,
    creation_time: i64,
    #[serde(rename = "type")]
    kind: &'static str,
    version: i32,
    owner: Option<String>,
    /// In seconds.
    ttl: Option<u64>,
    expired: bool,
}

impl DescriptionReport {
    pub(super) fn new(description: &SnapshotDescription, now: Timestamp) -> Self {
        Self {
            table: description.table.to_string(),
            creation_time: description.creation_time.get(),
            kind: description.kind.name(),
            version: description.version,
            owner: description.owner.clone(),
            ttl: description.ttl.map(|ttl| ttl.as_secs()),
            expired: description.expired(now),
        }
    }

    /// Returns the TTL as text for people.
    pub(super) fn ttl_text(&self) -> String {
        match self.ttl {
            None => "none".to_owned(),
            Some(ttl) if self.expired => format!("{}, expired", show_number(ttl, "second")),
            Some(ttl) => show_number(ttl, "second"),
        }
    }

    /// Returns the lines of `info`.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let Self { table, creation_time, kind, version, owner, .. } = self;
        vec![
            ("table", table.clone()),
            ("created", time_text(*creation_time)),
            ("type", (*kind).to_owned()),
            ("layout", format!("version {version}")),
            ("owner", owner.clone().unwrap_or_else(|| "not recorded".to_owned())),
            ("TTL", self.ttl_text()),
        ]
    }
}

impl ListSnapshots {
    /// Prints the list. The answer is negative if a description is damaged.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let list = self.root.open()?.snapshots()?;
        let now = Clock::system().now();
        let lines: Vec<SnapshotLine> = list
            .snapshots
            .iter()
            .map(|description| SnapshotLine {
                schema: 1,
                snapshot: description.name.clone(),
                description: DescriptionReport::new(description, now),
            })
            .collect();
        let heading = ["snapshot", "table", "created", "type", "TTL"];
        print_lines(&lines, self.json, &heading, |line| {
            let of = &line.description;
            let created = time_text(of.creation_time);
            vec![
                line.snapshot.clone(),
                of.table.clone(),
                created,
                of.kind.to_owned(),
                of.ttl_text(),
            ]
        })?;
        let mut outcomes = Outcomes::default();
        let count = list.snapshots.len() + list.problems.len();
        for problem in list.problems {
            outcomes.record(Err(problem.into()))?;
        }
        if !list.unfinished.is_empty() {
            let names = list.unfinished.join(", ");
            let what = show_number(list.unfinished.len() as u64, "snapshot");
            print_message(format_args!("hfile: {what} not finished, not listed: {names}"));
        }
        outcomes.conclude(count, "snapshot")
    }
}

/// The maximum bytes of logs that `table ls` reads without `--with-wal`, for all tables together: less than a
/// second.
const LOG_BYTES_MAX: u64 = 64 << 20;

impl ListTables {
    /// Prints the list. The answer is negative if a table is damaged, or a log that was read.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let root = self.roots.open()?;
        let names = root.tables()?;
        let mut outcomes = Outcomes::default();
        let mut tables = Vec::new();
        for name in &names {
            match root.table(name) {
                Ok(table) => tables.push(table),
                Err(error) => outcomes.record(Err(error.into()))?,
            }
        }
        let counts_unflushed = self.with_wal || log_bytes(&tables) <= LOG_BYTES_MAX;
        let mut lines = Vec::new();
        let mut printed = PrintedWarnings::default();
        for table in &tables {
            let mut line = TableLine::new(table);
            let mut is_complete = table.all_problems().next().is_none();
            if !counts_unflushed {
                tell_logs(table, &mut printed);
            } else if self.with_wal || table.logs_missing.is_none() {
                match line.count_unflushed(table, &mut printed) {
                    Ok(all) => is_complete &= all,
                    Err(error) => outcomes.record(Err(error.into()))?,
                }
            }
            lines.push(line);
            outcomes.record(Ok(Answer::from_bool(is_complete)))?;
        }
        match root.former_tables() {
            Ok(former) => lines.extend(former.iter().map(TableLine::former)),
            Err(error) => outcomes.record(Err(error.into()))?,
        }
        if names.is_empty() {
            self.tell_no_tables(&root)?;
        }
        if lines.is_empty() {
            return outcomes.conclude(names.len(), "table");
        }
        let has_unflushed = lines.iter().any(TableLine::has_unflushed_count);
        let mut heading = vec!["table", "families", "regions", "files", "size"];
        if has_unflushed {
            heading.push("unflushed cells");
        }
        heading.push("");
        print_lines(&lines, self.json, &heading, |line| line.row(has_unflushed))?;
        outcomes.conclude(names.len(), "table")
    }

    fn tell_no_tables(&self, root: &RootDirectory) -> anyhow::Result<()> {
        let given = self.roots.given();
        let snapshots = match root.snapshot_names()?.len() as u64 {
            0 => String::new(),
            count => {
                let shown = show_number(count, "snapshot");
                format!("; it has {shown}, see hfile snapshot ls --root {given}")
            }
        };
        print_message(format_args!("hfile: {given}: no tables{snapshots}"));
        Ok(())
    }
}

/// Returns the bytes of logs that counting the unflushed cells of tables reads. A log of unknown length has
/// all the bytes that are allowed.
fn log_bytes(tables: &[Table]) -> u64 {
    let logs = tables.iter().flat_map(|table| {
        table.logs.iter().chain(table.regions.iter().flat_map(|region| &region.recovered_edits))
    });
    let lengths = logs.map(|log| fs::metadata(log).map_or(u64::MAX, |metadata| metadata.len()));
    lengths.fold(0, u64::saturating_add)
}

/// Tells which logs `--with-wal` would read. Logs of `hbase:meta` are not worth a message.
fn tell_logs(table: &Table, printed: &mut PrintedWarnings) {
    if table.logs.is_empty() || table.name.is_meta() {
        return;
    }
    let logs = show_number(table.logs.len() as u64, "write-ahead log");
    printed.print(format!(
        "hfile: {logs} may have cells that are in no store file; --with-wal counts them"
    ));
}

/// Prints the lines of a list: as a table, or one JSON object each.
fn print_lines<L: Serialize>(
    lines: &[L],
    json: bool,
    heading: &[&str],
    row: impl Fn(&L) -> Vec<String>,
) -> anyhow::Result<()> {
    let mut out = stdout();
    if json {
        for line in lines {
            let object = serde_json::to_string(line)?;
            writeln!(out, "{object}").context(STDOUT)?;
        }
    } else {
        write_table(&mut out, heading, lines.iter().map(row)).context(STDOUT)?;
    }
    out.flush().context(STDOUT)
}
