//! Lookups of many rows, a batch after the other.

use sstable::lookup::{BATCH_MAX, LookupFiles, LookupLimits, RowInFile, RowLookup, begin_together};
use sstable::{ReadTrace, Result, RowProbe};

/// Looks up rows. Calls `visit` with the number of the row for each file that has it, and for each that
/// cannot be read. Returns the counters.
pub fn look_up_together(
    files: &LookupFiles,
    probes: &[RowProbe<'_>],
    mut visit: impl FnMut(usize, Result<RowInFile<'_>>),
) -> ReadTrace {
    let mut trace = ReadTrace::default();
    for (batch, probes) in probes.chunks(BATCH_MAX).enumerate() {
        let limits = LookupLimits::default();
        let mut lookups: Vec<_> =
            probes.iter().map(|probe| RowLookup::new(files, probe, limits)).collect();
        begin_together(&mut lookups);
        for (number, lookup) in (batch * BATCH_MAX..).zip(&mut lookups) {
            while let Some(found) = lookup.next_file().transpose() {
                visit(number, found);
            }
            trace.add(lookup.trace());
        }
    }
    trace
}
