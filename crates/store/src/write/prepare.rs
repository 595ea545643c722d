//! What must hold of a batch before it is logged, and its cells on their way into the memstores.

use std::mem;

use sstable::{Cell, CellRef, CellType, KeyRef, Timestamp};

use crate::error::{Error, Result};
use crate::files::version::StoreVersion;

/// Half of what a log record could hold, so that spelling out what follows has room.
const BATCH_BYTES_MAX: usize = 512 << 20;

/// Checks a batch and spells out what it leaves open: a delete of a whole row names no family.
pub(crate) fn prepare(version: &StoreVersion, cells: Vec<Cell>) -> Result<Vec<Cell>> {
    let mut family: &[u8] = b"";
    let mut deletes_rows = false;
    let mut bytes = 0;
    for cell in &cells {
        let cell = cell.as_ref();
        check_cell(&cell)?;
        let len = cell.key().flat_len() + 32 + cell.value.len() + cell.tags.len();
        let all_families = cell.family.is_empty() && cell.cell_type == CellType::DeleteFamily;
        bytes += if all_families {
            let names = version.families.iter().map(|it| it.family.name.len());
            names.map(|name| len + name).sum()
        } else {
            len
        };
        deletes_rows |= all_families;
        if !all_families && cell.family != family {
            let known = version.family(cell.family).ok_or_else(|| {
                let name = sstable::escape(cell.family);
                Error::invalid(format!("the store has no family \"{name}\""))
            })?;
            family = known.family.name.as_bytes();
        }
    }
    if bytes > BATCH_BYTES_MAX {
        return Err(Error::invalid("a batch has at most 512 MiB"));
    }
    if !deletes_rows {
        return Ok(cells);
    }
    let mut spelled_out = Vec::with_capacity(cells.len());
    for cell in cells {
        if cell.family().is_empty() {
            spelled_out.extend(version.families.iter().map(|version| {
                CellRef { family: version.family.name.as_bytes(), ..cell.as_ref() }.to_cell()
            }));
        } else {
            spelled_out.push(cell);
        }
    }
    Ok(spelled_out)
}

/// Refuses a cell that no file could hold, before it is in the log.
fn check_cell(cell: &CellRef<'_>) -> Result<()> {
    let refuse = |what: &str| {
        let row = sstable::escape(&cell.row[..cell.row.len().min(64)]);
        Err(Error::invalid(format!("row \"{row}\": {what}")))
    };
    if cell.row.is_empty() {
        return refuse("a row has at least one byte");
    }
    if cell.row.len() > KeyRef::ROW_LEN_MAX {
        return refuse("a row has at most 32,767 bytes");
    }
    if cell.timestamp < Timestamp::new(0) {
        return refuse("a timestamp is not negative");
    }
    if cell.cell_type.deletes_family() && !cell.qualifier.is_empty() {
        return refuse("a delete of a family names no column");
    }
    if cell.tags.len() > i16::MAX as usize {
        return refuse("the tags of a cell have at most 32,767 bytes");
    }
    let tiled: usize = cell.tags().map(|(_, data)| 3 + data.len()).sum();
    if tiled != cell.tags.len() {
        return refuse("the tags' lengths do not add up");
    }
    Ok(())
}

/// Puts a batch's cells into the memstores of their families.
pub(crate) fn apply_to_memstores(version: &StoreVersion, mut cells: Vec<Cell>) {
    while let Some(first) = cells.first() {
        let name = first.family();
        let family = version.family(name).expect("checked before the queue");
        let others = if cells.iter().all(|cell| cell.family() == name) {
            Vec::new()
        } else {
            let name = name.to_vec();
            cells.extract_if(.., |cell| cell.family() != name).collect()
        };
        family.active.insert(mem::replace(&mut cells, others));
    }
}
