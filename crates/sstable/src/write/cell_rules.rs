//! Checks of the writer: cells that break a rule of the format.

use cells::{CellRef, KeyRef, escape};

use super::option_rules::BLOCK_LEN_MAX;
use super::writer::Writer;
use crate::encoding::plain::{TAGS_LEN_MAX, cell_len, check_tags};

impl<W> Writer<W> {
    /// Checks a cell against the rules of the format and against the previous cell.
    pub(super) fn check_cell(
        &self,
        cell: &CellRef<'_>,
        last: Option<&KeyRef<'_>>,
    ) -> Result<(), String> {
        let within = |what: &str, len: usize, max: usize| match len {
            0 => Err(format!("it has no {what}")),
            len if len > max => Err(format!("a {what} of {len} bytes; {max} are allowed")),
            _ => Ok(()),
        };
        within("row", cell.row.len(), KeyRef::ROW_LEN_MAX)?;
        within("family", cell.family.len(), KeyRef::FAMILY_LEN_MAX)?;
        if cell.timestamp.get() < 0 {
            return Err("a negative timestamp, which HBase cannot read".into());
        }
        if i64::try_from(cell.sequence_id.get()).is_err() {
            return Err(format!("sequence id {} does not fit", cell.sequence_id));
        }
        if !cell.tags.is_empty() {
            if !self.layout.tags {
                return Err("it has tags, but the file is written without tags".into());
            }
            if cell.tags.len() > TAGS_LEN_MAX {
                let len = cell.tags.len();
                return Err(format!("tags of {len} bytes; {TAGS_LEN_MAX} are allowed"));
            }
            check_tags(cell.tags)?;
        }
        if let Some(last) = last {
            if last.family != cell.family {
                return Err(format!("the family of the file is {}", escape(last.family)));
            }
            if self.layout.order.compare(&cell.key(), last).is_lt() {
                return Err(format!("it is less than {last}, the cell before it"));
            }
        }
        let is_same_key = last.is_some_and(|last| *last == cell.key());
        let before = if is_same_key { self.block.unencoded_len() } else { 0 };
        let len = cell_len(cell, self.layout);
        if before + len > BLOCK_LEN_MAX {
            return Err(format!("{len} bytes, which would make the block larger than 1 GiB"));
        }
        Ok(())
    }
}
