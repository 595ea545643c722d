//! `hfile store delete`: writes a delete marker for a row's family, or for one column.

use sstable::Timestamp;
use store::{Durability, Store, WriteBatch};

use super::directory::{WithStore, check_family};
use crate::arguments::cell_options::Column;
use crate::arguments::key_text::{InvalidKey, KeyText};
use crate::failure::{Answer, UsageError, refuse};

/// Delete the cells of a row in a family, or in one column.
#[derive(clap::Args)]
#[command(override_usage = "hfile store delete [OPTIONS] <DIR> <ROW> <FAMILY[:QUALIFIER]>")]
#[command(after_help = "\
Examples:
  hfile store delete DIR row1 f
  hfile store delete DIR row1 f:name
  hfile store delete DIR row1 f:name --ts 1700000000000

As in HBase, a delete marker hides cells with the same or an older timestamp. hfile store compact --major
drops the marker and the cells it hides.
The older order, DIR FAMILY ROW [QUALIFIER], is accepted too; if the families allow both readings, it is refused.
Exit status: 0 written, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Delete {
    /// Row key: text with \xNN, or hex:…
    #[arg(value_name = "ROW")]
    first: String,
    /// Column family (all its columns), or FAMILY:QUALIFIER
    #[arg(value_name = "FAMILY[:QUALIFIER]")]
    second: String,
    // The qualifier of the older order.
    #[arg(hide = true)]
    third: Option<KeyText>,
    /// Delete cells with this timestamp or an older one, in milliseconds since 1970 [default: now]
    #[arg(long, value_name = "MILLIS")]
    ts: Option<i64>,
}

/// What to delete: a column, or all columns of a family.
struct Target {
    row: KeyText,
    family: String,
    qualifier: Option<KeyText>,
}

impl Delete {
    /// Reads the arguments in the order that the families of the store allow.
    fn target(&self, store: &Store) -> anyhow::Result<Target> {
        let Self { first, second, third, .. } = self;
        let usage = |error: InvalidKey| UsageError(error.to_string());
        let column: Column = second.parse().map_err(usage)?;
        let family = String::from_utf8_lossy(column.family()).into_owned();
        let is_column = store.family(&family).is_some() && third.is_none();
        let is_older_order = store.family(first).is_some();
        if is_column && is_older_order {
            let hex = first.parse::<KeyText>().map_err(usage)?.hex();
            refuse!(
                "{first} {second}: the store has a family {first}, too, so that the row could be {first} or {second}; \
                 write the row as {hex}"
            );
        }
        if is_older_order {
            let row = second.parse().map_err(usage)?;
            return Ok(Target { row, family: first.clone(), qualifier: third.clone() });
        }
        if let Some(qualifier) = third {
            refuse!("{qualifier} is left over; write a column as FAMILY:QUALIFIER");
        }
        check_family(store, &family)?;
        let qualifier = column.into_qualifier();
        Ok(Target { row: first.parse().map_err(usage)?, family, qualifier })
    }
}

impl WithStore<Delete> {
    /// Writes the marker.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let time = self.verb.ts.map_or(Timestamp::LATEST, Timestamp::new);
        self.write(|store| {
            let Target { row, family, qualifier } = self.verb.target(store)?;
            let row = store::Delete::row(row.as_bytes());
            let batch = WriteBatch::from(match &qualifier {
                Some(qualifier) => row.column_at(&family, qualifier.as_bytes(), time),
                None => row.family_at(&family, time),
            });
            let cells = batch.len() as u64;
            store.write(batch, Durability::SyncWal)?;
            Ok(cells)
        })
    }
}
