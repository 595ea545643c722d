//! Batched lookups: each step is done for up to 16 rows before the next step begins.

use smallvec::SmallVec;

use super::row_lookup::RowLookup;

/// The number of lookups in a batch: about the number of cache misses a core can have outstanding.
pub const BATCH_MAX: usize = 16;

/// Advances many lookups in lockstep, each to the first file that may have its row.
///
/// The steps are: prefetch the filters, search the filters and the index root, load the block,
/// prefetch the cell. Each step is done for all lookups before the next, so that the cache misses
/// of different lookups overlap. More than [`BATCH_MAX`] lookups are allowed, but only about that
/// number overlap. [`RowLookup::next_file`] then finishes each lookup.
///
/// ```
/// use bytes::Bytes;
/// use filter::Seed;
/// use sstable::lookup::{LookupFiles, LookupLimits, RowLookup, begin_together};
/// use sstable::{FileName, Reader, ReaderOptions, RowProbe};
/// # let file: &'static [u8] = include_bytes!("../../testdata/s03-one-cell.hfile");
///
/// # let source = std::sync::Arc::new(Bytes::from_static(file));
/// let reader = Reader::open(source, FileName::new("4f1c.hfile"), ReaderOptions::default())?;
/// let files = LookupFiles::new(vec![reader.lookup_file()])?;
/// let row = reader.first_row().unwrap_or_default();
/// let probes = [b"no such row", row].map(|row| RowProbe::new(row, Seed::default()));
///
/// let limits = LookupLimits::default();
/// let mut lookups = probes.each_ref().map(|probe| RowLookup::new(&files, probe, limits));
/// begin_together(&mut lookups);
/// let [absent, present] = &mut lookups;
/// assert!(absent.next_file()?.is_none());
/// assert_eq!(present.next_file()?.map(|found| found.cell().row.to_vec()), Some(row.to_vec()));
/// # Ok::<(), sstable::Error>(())
/// ```
pub fn begin_together<'l, 'a: 'l>(
    lookups: impl IntoIterator<Item = &'l mut RowLookup<'a>, IntoIter: ExactSizeIterator>,
) {
    let mut lookups: SmallVec<[&mut RowLookup<'a>; BATCH_MAX]> = lookups.into_iter().collect();
    for lookup in &mut lookups {
        lookup.prefetch_filters();
    }
    let indexed: SmallVec<[_; BATCH_MAX]> =
        lookups.iter_mut().map(|lookup| lookup.search_next_index()).collect();
    for (lookup, indexed) in lookups.iter_mut().zip(indexed) {
        lookup.load_block(indexed);
    }
    for lookup in &lookups {
        lookup.prefetch_cell();
    }
}
