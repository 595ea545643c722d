//! Checks a batch before it is logged, and adds its cells to the memstores.

use std::mem;

use sstable::{Cell, CellRef, CellType, KeyRef, Timestamp};

use crate::error::{Error, Result};
use crate::files::version::store_version::{Family, StoreVersion};
use crate::write::log::DefaultTimestamp;

/// Maximum size of a batch: half of a log record's maximum.
const BATCH_BYTES_MAX: usize = 512 << 20;

/// Checks a batch, and expands each delete of a whole row into one marker per family.
///
/// Key-value families get no marker: it would hide their later writes, whose timestamps are sequence
/// ids.
pub(crate) fn prepare(
    version: &StoreVersion,
    cells: Vec<Cell>,
    default_timestamp: DefaultTimestamp,
) -> Result<Vec<Cell>> {
    let with_rows = || version.families.iter().filter(|version| !version.family.options.key_value);
    let mut family: &[u8] = b"";
    let mut deletes_rows = false;
    let mut bytes = 0;
    for cell in &cells {
        let cell = cell.as_ref();
        check_cell(&cell)?;
        let len = cell.key().flat_len() + 32 + cell.value.len() + cell.tags.len();
        let all_families = cell.family.is_empty() && cell.cell_type == CellType::DeleteFamily;
        bytes += if all_families {
            let names = with_rows().map(|version| version.family.name.len());
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
            check_kind_of_family(&known.family, default_timestamp)?;
            known.check_room()?;
            family = known.family.name.as_bytes();
        }
    }
    if bytes > BATCH_BYTES_MAX {
        return Err(Error::invalid("the batch exceeds 512 MiB; write it in several batches"));
    }
    if !deletes_rows {
        return Ok(cells);
    }
    with_rows().try_for_each(|version| version.check_room())?;
    let mut expanded = Vec::with_capacity(cells.len());
    for cell in cells {
        if cell.family().is_empty() {
            expanded.extend(with_rows().map(|version| {
                CellRef { family: version.family.name.as_bytes(), ..cell.as_ref() }.to_cell()
            }));
        } else {
            expanded.push(cell);
        }
    }
    Ok(expanded)
}

/// Refuses timestamps of the clock in a key-value family, and sequence ids in any other.
///
/// In one family, each write with the time of the clock would be newer than all others.
pub(crate) fn check_kind_of_family(
    family: &Family,
    default_timestamp: DefaultTimestamp,
) -> Result<()> {
    let name = &family.name;
    match (family.options.key_value, default_timestamp) {
        (true, DefaultTimestamp::Now) => Err(Error::invalid(format!(
            "the family \"{name}\" holds keys and values: write it through Store::keys"
        ))),
        (false, DefaultTimestamp::SequenceId) => Err(Error::invalid(format!(
            "the family \"{name}\" has cells and is no key-value family; if it was written through \
             Store::keys only, set key_value once with Store::alter_family or hfile store alter"
        ))),
        _ => Ok(()),
    }
}

/// Refuses a cell that no store file can hold, before the cell is logged.
fn check_cell(cell: &CellRef<'_>) -> Result<()> {
    let refused = |what: &str| {
        let row = sstable::escape(&cell.row[..cell.row.len().min(64)]);
        Err(Error::invalid(format!("row \"{row}\": {what}")))
    };
    if cell.row.is_empty() {
        return refused("the row is empty");
    }
    if cell.row.len() > KeyRef::ROW_LEN_MAX {
        return refused("the row exceeds 32,767 bytes");
    }
    if cell.timestamp < Timestamp::new(0) {
        return refused("the timestamp is negative");
    }
    if cell.cell_type.deletes_family() && !cell.qualifier.is_empty() {
        return refused("a delete of a family must not name a column");
    }
    if cell.tags.len() > i16::MAX as usize {
        return refused("the tags exceed 32,767 bytes");
    }
    let tags_len: usize = cell.tags().map(|(_, data)| 3 + data.len()).sum();
    if tags_len != cell.tags.len() {
        return refused("the lengths of the tags contradict each other");
    }
    Ok(())
}

/// Adds a batch's cells to the memstores of their families.
pub(crate) fn apply_to_memstores(version: &StoreVersion, mut cells: Vec<Cell>) {
    while let Some(first) = cells.first() {
        let name = first.family();
        let family = version.family(name).expect("`prepare` checks the family");
        let others = if cells.iter().all(|cell| cell.family() == name) {
            Vec::new()
        } else {
            let name = name.to_vec();
            cells.extract_if(.., |cell| cell.family() != name).collect()
        };
        family.active.insert(mem::replace(&mut cells, others));
    }
}
