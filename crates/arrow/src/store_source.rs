//! The cells of a store: of each family, as a scan of the store shows them.

use sstable::CellRef;
use store::{Cells, Scan, Snapshot};

use crate::Result;
use crate::selection::Selection;
use crate::source::{CellSource, MergedSource};

/// The cells of one family.
struct FamilySource(Cells);

impl CellSource for FamilySource {
    fn next_cell(&mut self) -> Result<Option<CellRef<'_>>> {
        Ok(self.0.next_ref()?)
    }
}

/// Returns the cells of the wanted families of a snapshot, in HBase's order over all families.
pub(crate) fn open(
    snapshot: &Snapshot,
    families: &[String],
    selection: &Selection,
) -> Result<Box<dyn CellSource>> {
    let mut sources: Vec<Box<dyn CellSource>> = Vec::new();
    for family in families.iter().filter(|family| selection.wants_family(family.as_bytes())) {
        sources.push(Box::new(FamilySource(snapshot.scan(request(family, selection))?)));
    }
    Ok(match sources.len() {
        1 => sources.remove(0),
        _ => Box::new(MergedSource::new(sources)?),
    })
}

fn request(family: &str, selection: &Selection) -> Scan {
    let mut scan = Scan::family(family).versions(selection.versions).raw(selection.raw);
    if let Some((min, max)) = selection.time_range {
        scan = scan.time_range(min, max);
    }
    let start = selection.first_row();
    if !start.is_empty() {
        scan = scan.start(start);
    }
    if let Some(end) = selection.end_row() {
        scan = scan.stop(end);
    }
    let qualifiers = selection.qualifiers(family.as_bytes()).unwrap_or_default();
    qualifiers.iter().fold(scan, Scan::column)
}
