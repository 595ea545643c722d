//! `hfile store put`: cells into a family, batch by batch.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::{Context, bail};
use sstable::escape;
use store::{Durability, WriteBatch};

use super::Directory;
use crate::cells_input::{self, CellsFormat, display_name};
use crate::failure::Answer;
use crate::output::{STDOUT, stdout};
use crate::progress::Progress;

/// Write cells into a family, in batches that are acknowledged one after the other.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store put DIR f --from cells cells.ndjson.gz
  hfile store put DIR f --from csv - --ack < users.csv

A batch that was acknowledged survives the end of the process, however it ends. The cells keep
their timestamps and types; their sequence ids are given anew.")]
pub(super) struct Put {
    #[command(flatten)]
    directory: Directory,
    /// The column family, which is that of all cells
    #[arg(value_name = "FAMILY")]
    family: String,
    /// What the input is made of
    #[arg(long, value_enum)]
    from: CellsFormat,
    /// The cells; - is stdin
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// Print "ACK n" after each batch: n cells are acknowledged so far
    #[arg(long)]
    ack: bool,
    /// Cells that are written together, all or none
    #[arg(long, value_name = "CELLS", default_value = "1000")]
    batch: NonZeroUsize,
}

impl Put {
    /// Writes the cells.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let store = self.directory.open()?;
        let cells = cells_input::cells(&self.input, self.from)?;
        let progress = Progress::unbounded("cells");
        let mut written = 0;
        let mut batch = WriteBatch::new();
        let mut write = |batch: &mut WriteBatch| -> anyhow::Result<()> {
            let cells = batch.len() as u64;
            store.write(std::mem::take(batch), Durability::SyncWal)?;
            written += cells;
            progress.advance(cells);
            if self.ack {
                let mut out = stdout();
                writeln!(out, "ACK {written}").and_then(|()| out.flush()).context(STDOUT)?;
            }
            Ok(())
        };
        for cell in cells {
            let cell = cell?;
            if cell.family() != self.family.as_bytes() {
                let (input, found) = (display_name(&self.input), escape(cell.family()));
                bail!("{input}: a cell of family {found}, not {}: {cell:?}", self.family);
            }
            batch.cell(&cell.as_ref());
            if batch.len() == self.batch.get() {
                write(&mut batch)?;
            }
        }
        if !batch.is_empty() {
            write(&mut batch)?;
        }
        Ok(Answer::Sound)
    }
}
