//! `hfile store delete`: writes a delete marker for a row's family, or for one column.

use sstable::Timestamp;
use store::{Durability, WriteBatch};

use super::directory::{WithStore, check_family};
use crate::arguments::cell_options::Column;
use crate::arguments::key_text::KeyText;
use crate::failure::Answer;

/// Delete the cells of a row in a family, or in one column.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store delete DIR row1 f
  hfile store delete DIR row1 f:name
  hfile store delete DIR row1 f:name --ts 1700000000000

As in HBase, a delete marker hides cells with the same or an older timestamp. hfile store compact DIR --major
drops the marker and the cells it hides, unless the family keeps deleted cells (--keep-deleted-cells).
Exit status: 0 written, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Delete {
    /// Row key: text with \xNN, or hex:…
    row: KeyText,
    /// Column family (all its columns), or FAMILY:QUALIFIER
    #[arg(value_name = "FAMILY[:QUALIFIER]")]
    column: Column,
    /// Delete cells with this timestamp or an older one, in milliseconds since 1970 [default: now]
    #[arg(long, value_name = "MILLIS")]
    ts: Option<i64>,
}

impl WithStore<Delete> {
    /// Writes the marker.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let time = self.verb.ts.map_or(Timestamp::LATEST, Timestamp::new);
        self.write(|store| {
            let Delete { row, column, .. } = &self.verb;
            let family = String::from_utf8_lossy(column.family());
            check_family(store, &family)?;
            let delete = store::Delete::row(row.as_bytes());
            let batch = WriteBatch::from(match column.qualifier() {
                Some(qualifier) => delete.column_at(&*family, qualifier.as_bytes(), time),
                None => delete.family_at(&*family, time),
            });
            let cells = batch.len() as u64;
            store.write(batch, Durability::Logged)?;
            Ok(cells)
        })
    }
}
