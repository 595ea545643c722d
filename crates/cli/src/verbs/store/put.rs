//! `hfile store put`: writes columns of one row, or the cells of a file.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use sstable::Timestamp;
use store::{Durability, WriteBatch};
use transfer::{InputFormat, InputOptions};

use super::directory::{WithStore, check_family};
use super::put_file::PutFile;
use crate::arguments::csv::CsvArguments;
use crate::arguments::key_text::{InvalidKey, KeyText};
use crate::arguments::names::name_parser;
use crate::failure::{Answer, UsageError, option_name, refuse};

/// Write columns of one row, or with --from the cells of a file.
#[derive(clap::Args)]
#[command(override_usage = "\
hfile store put [OPTIONS] <DIR> <ROW> <FAMILY:QUALIFIER=VALUE>...
       hfile store put [OPTIONS] --from <FORMAT> <DIR> <FAMILY> <IN>")]
#[command(after_help = "\
Examples:
  hfile store put DIR row1 f:name=Ada f:born=1815
  hfile store put DIR row1 'f:\\x00\\x01=hex:00ff' --ts 1700000000000
  hfile store put DIR f --from cells cells.ndjson.gz
  hfile store put DIR f --from csv users.csv --row id --type f:age=int32 --timestamp updated
  hfile store put DIR f --from csv - --ack < cells.csv

All columns of a row are written together or not at all. FAMILY ends at the first colon, QUALIFIER at the first
equals sign; write an equals sign in a qualifier as \\x3d.

With --from, the cells are written in batches; a batch ends after a whole record of the input. With the default
--durability, an acknowledged batch survives a crash of the process, but a power failure can lose the newest
batches. Cells keep their timestamps and types, and
get new sequence ids. CSV columns without a family name belong to FAMILY; hfile build --help describes CSV.

At a line that cannot be read, the records before it are written, and stderr shows how many cells are stored
and the --from-line to resume at. Ctrl-C shows the same. If timestamps are the start time of the run
(--timestamp NOW), resume with --timestamp and the time that the first run printed on stderr; otherwise the
remaining cells get a later timestamp.

Exit status: 0 written, 1 the store is damaged, or a dry run found problems, 2 wrong usage, 3 could not read
or write.")]
#[expect(clippy::doc_markdown, reason = "backticks would be seen in the help")]
pub(crate) struct Put {
    /// Row key: text with \xNN, or hex:…; with --from, the column family of all cells
    #[arg(value_name = "ROW|FAMILY")]
    target: String,
    /// Columns of the row: FAMILY:QUALIFIER=VALUE, where qualifier and value are text with \xNN, or hex:…;
    /// with --from, the input file, plain or compressed with gzip or Zstandard, or - for stdin
    #[arg(value_name = "COLUMN|IN", required = true)]
    arguments: Vec<OsString>,
    /// Set the timestamp of the columns, in milliseconds since 1970 [default: now]
    #[arg(long, value_name = "MILLIS", conflicts_with = "from")]
    ts: Option<i64>,
    /// Acknowledge a write when it is in memory and never logged (SKIP_WAL), in memory and logged soon
    /// (ASYNC_WAL), in the log (SYNC_WAL), or in the log on disk (FSYNC_WAL)
    #[arg(long, value_name = "LEVEL", default_value = "SYNC_WAL")]
    #[arg(value_parser = name_parser::<Durability>())]
    durability: Durability,
    /// Read cells from a file in this format
    #[arg(long, value_enum, value_name = "FORMAT", ignore_case = true)]
    from: Option<InputFormat>,
    /// Show the first cells, counts and problems without writing anything
    #[arg(long, requires = "from")]
    dry_run: bool,
    #[command(flatten)]
    csv: CsvArguments,
    /// Skip records that begin before this line of the input
    #[arg(long, value_name = "LINE", default_value_t = 1, requires = "from")]
    from_line: u64,
    /// Print "ACK n" after each batch, where n counts all cells acknowledged so far
    #[arg(long, requires = "from")]
    ack: bool,
    /// Write at least this many cells per atomic batch; a batch ends after a whole record
    #[arg(long, value_name = "CELLS", default_value = "1000", requires = "from")]
    batch: NonZeroUsize,
}

impl WithStore<Put> {
    /// Writes the row, or the cells of the file.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let Some(from) = self.verb.from else { return self.put_row() };
        let [input] = &self.verb.arguments[..] else {
            let count = self.verb.arguments.len();
            refuse!("--from reads one input file, and {count} arguments follow FAMILY");
        };
        if self.verb.ack && self.report_format.is_json() && !self.verb.dry_run {
            refuse!("--ack and --json exclude each other: both print on stdout");
        }
        let put = PutFile {
            input: InputOptions {
                format: from,
                paths: vec![PathBuf::from(input)],
                is_dry_run: self.verb.dry_run,
                columns: self.verb.csv.columns(),
                csv: self.verb.csv.csv(),
            },
            directory: self.directory,
            family: self.verb.target,
            from_line: self.verb.from_line,
            ack: self.verb.ack,
            batch: self.verb.batch,
            durability: self.verb.durability,
            report_format: self.report_format,
        };
        put.run()
    }

    /// Writes the columns of one row in one batch.
    fn put_row(&self) -> anyhow::Result<Answer> {
        let (columns, csv) = (self.verb.csv.columns(), self.verb.csv.csv());
        if let Some(given) = columns.first_option().or_else(|| csv.first_option()) {
            refuse!("{} needs --from csv", option_name(given));
        }
        let row: KeyText = self.verb.target.parse()?;
        let timestamp = self.verb.ts.map_or(Timestamp::LATEST, Timestamp::new);
        let mut put = store::Put::new(row.as_bytes());
        let mut families = BTreeSet::new();
        for argument in &self.verb.arguments {
            let column = ColumnValue::parse(argument)?;
            families.insert(column.family.clone());
            let (qualifier, value) = (column.qualifier.as_bytes(), column.value.as_bytes());
            put = put.column_at(&column.family, qualifier, timestamp, value);
        }
        self.write(|store| {
            for family in &families {
                check_family(store, family)?;
            }
            let batch = WriteBatch::from(put);
            let cells = batch.len() as u64;
            store.write(batch, self.verb.durability)?;
            Ok(cells)
        })
    }
}

/// A column and its value, from `FAMILY:QUALIFIER=VALUE`.
struct ColumnValue {
    family: String,
    qualifier: KeyText,
    value: KeyText,
}

impl ColumnValue {
    fn parse(argument: &OsStr) -> anyhow::Result<Self> {
        let invalid = |reason: &str| {
            let shown = argument.to_string_lossy();
            UsageError(format!(
                "{shown}: {reason}; write columns as FAMILY:QUALIFIER=VALUE, or read a file with --from cells \
                 or --from csv"
            ))
        };
        let text =
            argument.to_str().ok_or_else(|| invalid("not UTF-8, write other bytes as \\xNN"))?;
        let (column, value) = text.split_once('=').ok_or_else(|| invalid("no = before a value"))?;
        let (family, qualifier) =
            column
                .split_once(':')
                .filter(|(family, _)| !family.is_empty())
                .ok_or_else(|| invalid("no family and colon before the qualifier"))?;
        let key = |text: &str| -> Result<KeyText, UsageError> {
            text.parse().map_err(|error: InvalidKey| invalid(&error.to_string()))
        };
        Ok(Self { family: family.to_owned(), qualifier: key(qualifier)?, value: key(value)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_ends_at_the_first_equals_sign_and_its_family_at_the_first_colon() {
        for (text, family, qualifier, value) in [
            ("f:name=Ada", "f", &b"name"[..], &b"Ada"[..]),
            ("f:=", "f", b"", b""),
            ("f:a:b=c=d", "f", b"a:b", b"c=d"),
            ("f:\\x3d=hex:00ff", "f", b"=", b"\0\xff"),
            ("f:hex:0a=\\x00", "f", b"\n", b"\0"),
        ] {
            let column = ColumnValue::parse(OsStr::new(text)).expect(text);
            assert_eq!(column.family, family, "{text}");
            assert_eq!(column.qualifier.as_bytes(), qualifier, "{text}");
            assert_eq!(column.value.as_bytes(), value, "{text}");
        }
        for text in ["f:name", "name=Ada", ":name=Ada", "f:name=hex:0", "cells.ndjson"] {
            assert!(ColumnValue::parse(OsStr::new(text)).is_err(), "{text}");
        }
    }
}
