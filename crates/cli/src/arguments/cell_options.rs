//! The options that choose cells: options for a table or snapshot, and options for all sources.

use std::str::FromStr;

use hbase_files::{MobValues, TableScan};
use sstable::{ReadTrace, Timestamp};

use crate::arguments::key_text::{InvalidKey, KeyText};
use crate::arguments::reading_options::reader_options;
use crate::arguments::time_range::{time, time_range};
use crate::failure::UsageError;
use crate::text::counters::Counters;
use crate::text::help::ADVANCED;
use crate::text::stderr::print_message_lines;

/// The options that choose columns.
#[derive(clap::Args)]
pub(crate) struct ColumnOptions {
    /// Read only this family; repeatable [default: all]
    #[arg(long, value_name = "FAMILY")]
    family: Vec<KeyText>,
    /// Read only these columns: FAMILY:QUALIFIER or FAMILY, separated by commas; a comma in a name
    /// is \x2C [default: all]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Vec<Column>,
}

/// The options that choose versions by their number.
#[derive(clap::Args)]
struct VersionOptions {
    /// Show at most this many versions of each column, or all that the family keeps; 1 shows what a get of HBase
    /// shows
    #[arg(long, value_name = "COUNT", default_value = "all", value_parser = versions)]
    versions: u32,
}

/// The options that choose versions by their time.
#[derive(clap::Args)]
pub(crate) struct TimeOptions {
    /// Show versions from this time on: milliseconds since 1970, or ISO 8601
    #[arg(long, value_name = "TIME", value_parser = time)]
    min_ts: Option<i64>,
    /// Show versions before this time. As in HBase, delete markers at or after it still hide them
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_ts: Option<i64>,
}

/// The options that choose columns and versions.
#[derive(clap::Args)]
pub(crate) struct ChoiceOptions {
    #[command(flatten)]
    columns: ColumnOptions,
    #[command(flatten)]
    versions: VersionOptions,
    #[command(flatten)]
    times: TimeOptions,
}

/// The options that choose the cells of rows, and how they are read.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct CellOptions {
    #[command(flatten)]
    choice: ChoiceOptions,
    /// Show all stored cells: delete markers, deleted cells and expired cells too
    #[arg(long)]
    raw: bool,
    /// Expire cells by this time, in milliseconds since 1970 or ISO 8601, or by the creation of the snapshot
    ///
    /// The default is the system clock. A family with a TTL shows fewer cells each day; with
    /// --now creation, a snapshot always shows the same. A table has no creation: give a time.
    #[arg(long, value_name = "TIME|creation", value_parser = now)]
    now: Option<Now>,
    /// Leave references to MOB files as they are stored, instead of reading the values from those
    /// files
    #[arg(long)]
    mob_references: bool,
    /// Continue after damaged and missing files, and list on stderr what is missing
    #[arg(long)]
    skip_damaged: bool,
    /// Print to stderr how many files and blocks were read, and how many files were skipped
    #[arg(long)]
    explain: bool,
    /// Read with this many threads; export reads this many regions at a time, get always uses one
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    threads: u16,
}

impl ColumnOptions {
    /// Limits a scan to the columns.
    pub(crate) fn limit(&self, mut scan: TableScan) -> TableScan {
        for family in &self.family {
            scan = scan.family(family.as_bytes());
        }
        for Column { family, qualifier } in &self.columns {
            scan = match qualifier {
                Some(qualifier) => scan.column(family.as_bytes(), qualifier.as_bytes()),
                None => scan.family(family.as_bytes()),
            };
        }
        scan
    }
}

impl TimeOptions {
    /// Returns the start (inclusive) and end (exclusive) of the time range.
    pub(crate) fn range(&self) -> Result<(Timestamp, Timestamp), UsageError> {
        time_range(self.min_ts, self.max_ts)
    }

    /// Limits a scan to the times.
    pub(crate) fn limit(&self, scan: TableScan) -> Result<TableScan, UsageError> {
        let (min, max) = self.range()?;
        Ok(scan.time_range(min, max))
    }
}

impl ChoiceOptions {
    /// Limits a scan to the columns and versions.
    pub(crate) fn limit(&self, scan: TableScan) -> Result<TableScan, UsageError> {
        let with_versions = scan.versions(self.versions.versions);
        Ok(self.columns.limit(self.times.limit(with_versions)?))
    }
}

impl CellOptions {
    /// Returns the scan with these options. `creation` is the time of the snapshot.
    pub(crate) fn scan(&self, creation: Option<Timestamp>) -> Result<TableScan, UsageError> {
        let whole = TableScan::default()
            .raw(self.raw)
            .skip_damaged(self.skip_damaged)
            .threads(self.threads.into())
            .reader_options(reader_options());
        let mut scan = self.choice.limit(whole)?;
        if self.mob_references {
            scan = scan.mob(MobValues::Reference);
        }
        match (self.now, creation) {
            (None, _) => Ok(scan),
            (Some(Now::Millis(millis)), _) => Ok(scan.now(Timestamp::new(millis))),
            (Some(Now::Creation), Some(creation)) => Ok(scan.now(creation)),
            (Some(Now::Creation), None) => {
                Err(UsageError("--now creation is for snapshots; give a time".to_owned()))
            }
        }
    }

    /// Prints the counters of the reads to stderr, if they are wanted.
    pub(crate) fn explain(&self, trace: &ReadTrace) {
        if self.explain {
            let mut text = Vec::new();
            // A `Vec` takes all bytes.
            let _ = Counters::from(trace).write_text(&mut text);
            print_message_lines(&String::from_utf8_lossy(&text));
        }
    }
}

/// A column, or a whole family.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    family: KeyText,
    qualifier: Option<KeyText>,
}

impl Column {
    /// The name of the family.
    pub(crate) fn family(&self) -> &[u8] {
        self.family.as_bytes()
    }

    /// Returns the qualifier, or `None` for a whole family.
    pub(crate) const fn qualifier(&self) -> Option<&KeyText> {
        self.qualifier.as_ref()
    }
}

impl FromStr for Column {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        // The first colon: a family cannot have one. `hex:` begins a key in hex digits.
        let is_hex = text.starts_with("hex:");
        let colon =
            if is_hex { text.match_indices(':').nth(1) } else { text.match_indices(':').next() };
        Ok(match colon {
            Some((at, _)) => {
                Self { family: text[..at].parse()?, qualifier: Some(text[at + 1..].parse()?) }
            }
            None => Self { family: text.parse()?, qualifier: None },
        })
    }
}

/// Parses the maximum number of versions of a column.
fn versions(text: &str) -> Result<u32, &'static str> {
    match text.parse() {
        Ok(versions @ 1..) => Ok(versions),
        Err(_) if text == "all" => Ok(u32::MAX),
        _ => Err("expected a number of versions, at least 1, or all"),
    }
}

/// The time by which cells expire.
#[derive(Clone, Copy, Debug)]
enum Now {
    Millis(i64),
    Creation,
}

fn now(text: &str) -> Result<Now, String> {
    if text == "creation" { Ok(Now::Creation) } else { time(text).map(Now::Millis) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_split_at_the_first_colon_after_hex() {
        for (text, family, qualifier) in [
            ("f", "f", None),
            ("f:", "f", Some("")),
            ("f:q", "f", Some("q")),
            ("f:a:b", "f", Some("a:b")),
            ("hex:66:hex:71", "f", Some("q")),
            ("f:hex:71", "f", Some("q")),
            ("hex:66", "f", None),
        ] {
            let column: Column = text.parse().expect("a column");
            assert_eq!(column.family.as_bytes(), family.as_bytes(), "{text}");
            let found = column.qualifier.as_ref().map(KeyText::as_bytes);
            assert_eq!(found, qualifier.map(str::as_bytes), "{text}");
        }
    }
}
