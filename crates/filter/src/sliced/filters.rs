//! The type that users make: any filters, of which those of one shape are bit-sliced.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::group::{self, Group, Shape};
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::membership::Membership;
use crate::memory::AlignedBytes;
use crate::probe::probe_many;
use crate::stored::StoredFilter;

/// The fewest filters that are bit-sliced: eight take as much memory there as fewer would.
const GROUP_MIN: usize = 8;

/// Groups that are prefetched together: few enough that no line is evicted before it is read.
const GROUPS_AT_ONCE: usize = 4;

/// A copy of many stored filters that is made to be asked for one key at once.
///
/// Filters of the same *shape* are bit-sliced: interleaved position by position, so that a key reads a few cache
/// lines for all of them, where [`probe_many`] reads one or more for each. The answers are
/// exactly those of the filters themselves. Of 32 filters of a million keys each that no cache holds, a key
/// takes a third to a fifteenth of the time of a loop, and 0.25 to 0.7 µs whatever the kind; more
/// filters hardly add to that (`cargo bench -p benches --bench many`, two cores of an AMD EPYC, Zen 4). The
/// copy is made in 4 to 20 ms a filter of that size, and does not change: a file that comes or goes takes
/// a new one.
///
/// # Which filters have the same shape
///
/// Those of one kind in which a key has the same places:
///
/// | kind                                  | equal must be                                           |
/// |---------------------------------------|---------------------------------------------------------|
/// | classic, blocked, counting Bloom      | bytes, and bits or counters a key                       |
/// | split-block                           | bytes                                                   |
/// | cuckoo                                | buckets, and bits of a fingerprint                      |
/// | d-left                                | subtables, their buckets, bits of a cell                |
/// | ribbon of more than some hundred keys | blocks of the first layer, and columns of the widest    |
/// | binary fuse                           | segments, bits of a fingerprint, and the seed with which the keys came off: mostly the first, for all |
///
/// So they must have been made for the same number of keys. Kinds to which keys are inserted one by one
/// can be made for more keys than they will get: give [`Blocked::new`](crate::bloom::Blocked::new) and its
/// like the same sizing and number for all files, and the bits of the keys that do not come make the filter
/// err less often. A [`Ribbon`](crate::Ribbon) or a [`BinaryFuse`](crate::BinaryFuse) is as large as
/// its keys ask: ribbons have the same shape if their numbers of keys round to the same number of blocks, as those
/// in a window of 135 do, fuse filters if they round to the same segments.
///
/// A filter whose shape fewer than eight have is kept as it is, and asked as `probe_many` asks it.
///
/// All filters must have the same [`seed`](crate::StoredFilter::seed), as one hash is shown to all.
///
/// # Memory
///
/// As much as the filters, for each shape rounded up to a multiple of eight of them. Counters take a quarter
/// of it, since only whether they are above zero counts here; d-left filters a bit less a cell. All blocks
/// of a ribbon take as many columns as the widest, 5 % more at an error rate of 1 %.
/// [`memory_bytes`](Self::memory_bytes) has the sum, without the filters that were copied: they are not
/// needed any more.
///
/// ```
/// use filter::bloom::Blocked;
/// use filter::{Insert, KeyHash, Seed, Sizing, SlicedFilters, StoredFilter};
///
/// let seed = Seed::new(1);
/// let mut files = Vec::new();
/// for file in 0..32 {
///     // Made for a hundred rows each, however many come.
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
/// Bradley et al., "Ultrafast search of all deposited bacterial and viral genomic data", 2019 (BIGSI);
/// Bingmann, Bradley, Gauger, Iqbal, "COBS: a Compact Bit-Sliced Signature Index", 2019.
#[derive(Clone, Debug)]
pub struct SlicedFilters {
    /// Filters of one shape, and which they are, ascending.
    groups: Vec<(Group, Vec<usize>)>,
    /// Those that are asked one by one.
    alone: Vec<StoredFilter<AlignedBytes>>,
    /// Which they are, ascending.
    alone_indices: Vec<usize>,
    len: usize,
}

impl SlicedFilters {
    /// Copies filters, of any kinds.
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if the copy does not fit into memory.
    pub fn new<B: AsRef<[u8]>>(filters: &[StoredFilter<B>]) -> Result<Self, BuildError> {
        let mut alone_indices = Vec::new();
        let mut shapes = BTreeMap::<Shape, Vec<usize>>::new();
        for (index, filter) in filters.iter().enumerate() {
            if filter.key_count() == 0 && filter.header_and_body().1.is_empty() {
                continue; // It denies everything.
            }
            match group::shape(filter) {
                Some(shape) => shapes.entry(shape).or_default().push(index),
                None => alone_indices.push(index),
            }
        }
        let mut groups = Vec::new();
        for indices in shapes.into_values() {
            if indices.len() < GROUP_MIN {
                alone_indices.extend(indices);
                continue;
            }
            let members: Vec<_> = indices.iter().map(|index| &filters[*index]).collect();
            groups.push((Group::new(&members)?, indices));
        }
        alone_indices.sort_unstable();
        let alone = alone_indices.iter().map(|index| filters[*index].to_aligned());
        let alone = alone.collect::<Result<_, _>>()?;
        Ok(Self { groups, alone, alone_indices, len: filters.len() })
    }

    /// Calls `found` with the index of each filter that may hold the key.
    ///
    /// Filters of one shape come in order, as do those that lie beside no others; where all are of one
    /// shape, all come in order.
    pub fn probe(&self, hash: KeyHash, mut found: impl FnMut(usize)) {
        let mut chunks = self.groups.chunks(GROUPS_AT_ONCE);
        let first = chunks.next().unwrap_or_default();
        prefetch_groups(first, hash);
        probe_many(&self.alone, hash, |index| found(self.alone_indices[index]));
        probe_groups(first, hash, &mut found);
        for groups in chunks {
            prefetch_groups(groups, hash);
            probe_groups(groups, hash, &mut found);
        }
    }

    /// Asks the processor to load what [`probe`](Self::probe) will look at first, and returns at once.
    /// Worth it where there is something else to do meanwhile.
    pub fn prefetch(&self, hash: KeyHash) {
        prefetch_groups(&self.groups, hash);
        for filter in &self.alone {
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

    /// Returns how many of the filters lie beside others of the same shape.
    pub fn sliced_count(&self) -> usize {
        self.groups.iter().map(|(_, indices)| indices.len()).sum()
    }

    /// Returns how many bytes of memory the copy takes.
    pub fn memory_bytes(&self) -> u64 {
        let groups = self.groups.iter().map(|(group, _)| group.memory_bytes());
        let alone = self.alone.iter().map(|filter| filter.as_bytes().len() as u64);
        groups.chain(alone).sum()
    }
}

fn prefetch_groups(groups: &[(Group, Vec<usize>)], hash: KeyHash) {
    for (group, _) in groups {
        group.prefetch(hash);
    }
}

fn probe_groups(groups: &[(Group, Vec<usize>)], hash: KeyHash, found: &mut impl FnMut(usize)) {
    for (group, indices) in groups {
        group.probe(hash, |index| found(indices[index]));
    }
}
