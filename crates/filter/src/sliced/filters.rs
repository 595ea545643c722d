//! [`SlicedFilters`]: a copy of many filters in which those of the same shape are bit-sliced.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::group::{self, Group, Shape};
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::membership::Membership;
use crate::memory::AlignedBytes;
use crate::probe::probe_many;
use crate::stored::StoredFilter;

/// The fewest filters that are bit-sliced: a table for fewer takes as much memory as one for eight.
const GROUP_MIN: usize = 8;

/// The number of groups prefetched together: few enough that no line is evicted before it is read.
const GROUPS_PER_BATCH: usize = 4;

/// A read-only copy of many stored filters, laid out for looking one key up in all of them.
///
/// Filters of the same *shape* are bit-sliced, that is interleaved position by position. A lookup
/// then reads a few cache lines for all of them, whereas [`probe_many`] reads one or more for each.
/// The answers are exactly those of the filters. With 32 filters of a million keys each, all
/// outside the caches, a lookup takes 0.25 to 0.7 µs depending on the kind: 3 to 15 times faster
/// than a loop over the filters. More filters add little. Copying takes 4 to 20 ms for a filter of
/// that size (`cargo bench -p benches --bench many`, two cores of an AMD EPYC, Zen 4). If a file is
/// added or removed, make a new copy.
///
/// # Which filters have the same shape
///
/// Filters of the same kind in which a key has the same positions:
///
/// | kind                                   | must be equal                                          |
/// |----------------------------------------|--------------------------------------------------------|
/// | classic, blocked, counting Bloom       | bytes; bits or counters per key                        |
/// | split-block                            | bytes                                                  |
/// | cuckoo                                 | buckets; bits of a fingerprint                         |
/// | d-left                                 | subtables; buckets of a subtable; bits of a cell       |
/// | ribbon of more than a few hundred keys | blocks of the first layer; columns of the widest block |
/// | binary fuse                            | segments; bits of a fingerprint; seed of the peeling   |
///
/// So the filters must have been sized for the same number of keys. Kinds with insertion can be
/// sized for more keys than they will get: pass the same sizing and number of keys to
/// [`Blocked::new`](crate::bloom::Blocked::new) or its like for all files. Unused capacity lowers
/// the error rate. The size of a [`Ribbon`](crate::Ribbon) or a [`BinaryFuse`](crate::BinaryFuse)
/// follows from its keys. Ribbons have the same shape if their numbers of keys round to the same
/// number of blocks, as they do within a window of 135 keys; fuse filters if they round to the same
/// segments and were peeled with the same seed, nearly always the first.
///
/// Filters whose shape occurs fewer than eight times are kept as they are and probed as by
/// `probe_many`.
///
/// All filters must have the same [`seed`](crate::StoredFilter::seed), because all are probed with
/// one hash.
///
/// # Memory
///
/// The copy takes as much memory as the filters, with the number of filters of each shape rounded
/// up to a multiple of eight. Counting Bloom filters take a quarter, because one bit per counter
/// suffices; d-left filters take one bit less per cell. All blocks of a ribbon take as many columns
/// as the widest block, which is 5 % more at an error rate of 1 %.
/// [`memory_bytes`](Self::memory_bytes) returns the sum. The filters that were copied can be
/// dropped.
///
/// ```
/// use filter::bloom::Blocked;
/// use filter::{Insert, KeyHash, Seed, Sizing, SlicedFilters, StoredFilter};
///
/// let seed = Seed::new(1);
/// let mut files = Vec::new();
/// for file in 0..32 {
///     // All filters are sized for 100 rows, so that they have the same shape.
///     let mut filter = Blocked::new(Sizing::BitsPerKey(16.0), 100)?;
///     for row in 0..60 + file {
///         filter.insert(KeyHash::new(seed, format!("file{file}/row{row}").as_bytes()))?;
///     }
///     files.push(StoredFilter::parse(filter.to_stored(seed))?);
/// }
/// let sliced = SlicedFilters::new(&files)?;
/// assert_eq!(sliced.sliced_count(), 32);
///
/// let mut candidates = Vec::new();
/// sliced.probe(KeyHash::new(seed, b"file7/row9"), |file| candidates.push(file));
/// assert!(candidates.contains(&7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Bradley et al., "Ultrafast search of all deposited bacterial and viral genomic data", 2019
/// (BIGSI); Bingmann, Bradley, Gauger, Iqbal, "COBS: a Compact Bit-Sliced Signature Index", 2019.
#[derive(Clone, Debug)]
pub struct SlicedFilters {
    /// Sliced filters of one shape, and their indices in ascending order.
    groups: Vec<(Group, Vec<usize>)>,
    /// Filters that are probed one by one.
    unsliced: Vec<StoredFilter<AlignedBytes>>,
    /// Their indices in ascending order.
    unsliced_indices: Vec<usize>,
    len: usize,
}

impl SlicedFilters {
    /// Copies filters of any kinds.
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if the copy does not fit into memory.
    pub fn new<B: AsRef<[u8]>>(filters: &[StoredFilter<B>]) -> Result<Self, BuildError> {
        let mut unsliced_indices = Vec::new();
        let mut shapes = BTreeMap::<Shape, Vec<usize>>::new();
        for (index, filter) in filters.iter().enumerate() {
            if filter.is_empty() && filter.header_and_body().1.is_empty() {
                continue; // An empty filter is never a candidate.
            }
            match group::shape(filter) {
                Some(shape) => shapes.entry(shape).or_default().push(index),
                None => unsliced_indices.push(index),
            }
        }
        let mut groups = Vec::new();
        for indices in shapes.into_values() {
            if indices.len() < GROUP_MIN {
                unsliced_indices.extend(indices);
                continue;
            }
            let group: Vec<_> = indices.iter().map(|index| &filters[*index]).collect();
            groups.push((Group::new(&group)?, indices));
        }
        unsliced_indices.sort_unstable();
        let unsliced = unsliced_indices.iter().map(|index| filters[*index].to_aligned());
        let unsliced = unsliced.collect::<Result<_, _>>()?;
        Ok(Self { groups, unsliced, unsliced_indices, len: filters.len() })
    }

    /// Calls `on_candidate` with the index of each filter that may hold the key.
    ///
    /// The indices ascend within the filters of one shape and within the unsliced filters. If all
    /// filters have one shape, all indices ascend.
    pub fn probe(&self, hash: KeyHash, mut on_candidate: impl FnMut(usize)) {
        let mut batches = self.groups.chunks(GROUPS_PER_BATCH);
        let first = batches.next().unwrap_or_default();
        prefetch_groups(first, hash);
        probe_many(&self.unsliced, hash, |index| on_candidate(self.unsliced_indices[index]));
        probe_groups(first, hash, &mut on_candidate);
        for groups in batches {
            prefetch_groups(groups, hash);
            probe_groups(groups, hash, &mut on_candidate);
        }
    }

    /// Prefetches the cache lines that [`probe`](Self::probe) reads first.
    ///
    /// Useful if there is other work to do before the probe.
    pub fn prefetch(&self, hash: KeyHash) {
        prefetch_groups(&self.groups, hash);
        for filter in &self.unsliced {
            filter.prefetch(hash);
        }
    }

    /// Returns the number of filters.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no filters.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns how many of the filters are bit-sliced.
    pub fn sliced_count(&self) -> usize {
        self.groups.iter().map(|(_, indices)| indices.len()).sum()
    }

    /// Returns the bytes of memory that the copy takes.
    pub fn memory_bytes(&self) -> u64 {
        let groups = self.groups.iter().map(|(group, _)| group.memory_bytes());
        let unsliced = self.unsliced.iter().map(|filter| filter.as_bytes().len() as u64);
        groups.chain(unsliced).sum()
    }
}

fn prefetch_groups(groups: &[(Group, Vec<usize>)], hash: KeyHash) {
    for (group, _) in groups {
        group.prefetch(hash);
    }
}

fn probe_groups(
    groups: &[(Group, Vec<usize>)],
    hash: KeyHash,
    on_candidate: &mut impl FnMut(usize),
) {
    for (group, indices) in groups {
        group.probe(hash, |index| on_candidate(indices[index]));
    }
}
