//! `hfile store delete`: writes a delete marker for a row's family, or for one column.

use sstable::Timestamp;
use store::{Durability, WriteBatch};

use super::directory::WithStore;
use crate::arguments::key_text::KeyText;
use crate::failure::Answer;

/// Delete the cells of a row in a family, or in one column.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store delete DIR f row1
  hfile store delete DIR f row1 name
  hfile store delete DIR f row1 name --ts 1700000000000

As in HBase, a delete marker hides cells with the same or an older timestamp. hfile store compact --major
drops the marker and the cells it hides.
Exit status: 0 written, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Delete {
    /// Column family
    family: String,
    /// Row key: text with \xNN, or hex:…
    row: KeyText,
    /// Column qualifier: text with \xNN, or hex:… [default: all columns of the family]
    qualifier: Option<KeyText>,
    /// Delete cells with this timestamp or an older one, in milliseconds since 1970 [default: now]
    #[arg(long, value_name = "MILLIS")]
    ts: Option<i64>,
}

impl WithStore<Delete> {
    /// Writes the marker.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let time = self.verb.ts.map_or(Timestamp::LATEST, Timestamp::new);
        let row = store::Delete::row(self.verb.row.as_bytes());
        let delete = match &self.verb.qualifier {
            Some(qualifier) => row.column_at(&self.verb.family, qualifier.as_bytes(), time),
            None => row.family_at(&self.verb.family, time),
        };
        self.write(|store| {
            let batch = WriteBatch::from(delete);
            let cells = batch.len() as u64;
            store.write(batch, Durability::SyncWal)?;
            Ok(cells)
        })
    }
}
