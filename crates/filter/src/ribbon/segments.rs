//! Filling a layer: bucket after bucket, in up to four interleaved segments.
//!
//! Elimination is a chain of dependent loads: each reduced row determines which row is loaded next.
//! A processor can overlap several independent chains. So a layer is cut into segments. Each segment reduces one
//! row at a time, and the segments take turns after every step.
//!
//! ```text
//! layer       [ bucket bucket … bucket ▏bucket bucket … bucket ▏bucket bucket … ]
//! segments     ──▶              held    ──▶              held    ──▶
//! ```
//!
//! The rows of a bucket reach less than 64 slots into the next bucket. So each segment except the
//! last holds back its last bucket: then no segment touches the slots of another, and the result
//! does not depend on their relative progress. The held buckets are filled one by one after all
//! other buckets.
//!
//! A bucket has more keys than slots, so it needs slots after its right end. For a held bucket, the
//! next segment could already have used these slots. The first bucket of the next segment therefore
//! bumps the keys at its left end without trying them. Otherwise a key of the held bucket would
//! soon find no slot, and the held bucket would bump a whole class of keys (see `thresholds`).

use alloc::vec::Vec;
use core::ops::Range;

use super::banding::{Inserted, Row};
use super::equation::Shuffle;
use super::layer::Layer;
use super::sorter::{Sorter, Windows};
use super::thresholds::{self, BUCKET_STARTS};
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::partition::partition;

/// Minimum number of windows for two segments.
///
/// A cut leaves about thirty slots unused, too many for a small layer.
const WINDOWS_FOR_TWO: u64 = 8;
/// Minimum number of windows for four segments. More than four would need too many registers.
const WINDOWS_FOR_FOUR: u64 = 12;

/// The threshold of a bucket after a held bucket: the bucket bumps classes 1 and 2.
///
/// Then no key starts at the first 36 slots of the bucket, about the number of slots that the held
/// bucket needs after its right end.
const CLASS_OF_ROOM: u8 = 1;

/// Maximum number of rows of one bucket: the number of slots that its keys can reach.
const ROWS_MAX: usize = BUCKET_STARTS as usize + u64::BITS as usize - 1;

/// The parameters of a layer, shared by its segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerParameters {
    pub(super) shuffle: Shuffle,
    pub(super) starts: u64,
    pub(super) slots: u64,
    pub(super) windows: Windows,
}

/// Fills a layer of `blocks` blocks, and returns the layer and the keys that it bumped.
///
/// The bumped keys overwrite the keys of windows that are sorted already. So memory use grows with
/// the keys only by the rows and by one copy of the hashes.
pub(super) fn fill(
    shuffle: Shuffle,
    blocks: u64,
    keys: &[KeyHash],
) -> Result<(Layer, Vec<KeyHash>), BuildError> {
    let mut layer = Layer::new(blocks)?;
    let (starts, windows) = (layer.starts, Windows::new(layer.starts));
    let (mut sorted, ends) =
        partition(keys, windows.count, |key| shuffle.start(key, starts) >> windows.bits)?;
    let parameters = LayerParameters { shuffle, starts, slots: layer.slots(), windows };
    let bumped = match windows.count {
        WINDOWS_FOR_FOUR.. => fill_segments::<4>(parameters, &mut layer, &mut sorted, &ends),
        WINDOWS_FOR_TWO.. => fill_segments::<2>(parameters, &mut layer, &mut sorted, &ends),
        _ => fill_segments::<1>(parameters, &mut layer, &mut sorted, &ends),
    };
    sorted.truncate(bumped);
    sorted.shrink_to_fit();
    Ok((layer, sorted))
}

/// Fills all buckets, moves the bumped keys to the front, and returns their number.
///
/// The keys are partitioned into windows, and `ends` has the end of each window's keys.
fn fill_segments<const N: usize>(
    parameters: LayerParameters,
    layer: &mut Layer,
    partitioned: &mut [KeyHash],
    ends: &[usize],
) -> usize {
    let windows = parameters.windows.count;
    let (mut rest, mut begin) = (&mut *partitioned, 0);
    let mut segments: [Segment<'_>; N] = core::array::from_fn(|index| {
        let bound = |index: usize| windows * index as u64 / N as u64;
        let range = bound(index)..bound(index + 1);
        let ends = &ends[range.start as usize..range.end as usize];
        let end = ends.last().map_or(begin, |end| *end);
        let (own, after) = core::mem::take(&mut rest).split_at_mut(end - begin);
        rest = after;
        Segment::new(parameters, range, (core::mem::replace(&mut begin, end), own), ends)
    });
    for segment in &mut segments[..N - 1] {
        segment.hold_last();
    }
    fill_together(layer, &mut segments);
    for segment in &mut segments {
        segment.fill(layer);
    }
    for segment in &mut segments[..N - 1] {
        segment.release_last();
        segment.fill(layer);
    }

    let bumped = segments.each_ref().map(|segment| (segment.first_key, segment.bumped));
    drop(segments);
    let mut count = 0;
    for (begin, bumped) in bumped {
        partitioned.copy_within(begin..begin + bumped, count);
        count += bumped;
    }
    count
}

/// Advances the segments in turn, one step each, until one of the segments is filled.
fn fill_together<const N: usize>(layer: &mut Layer, segments: &mut [Segment<'_>; N]) {
    for segment in segments.iter_mut() {
        segment.row = segment.next_row(layer);
    }
    if segments.iter().any(|segment| segment.row.is_none()) {
        return;
    }
    let mut rows = segments.each_mut().map(|segment| segment.row.take().expect("all have one"));
    let filled = 'filling: loop {
        for (index, row) in rows.iter_mut().enumerate() {
            if let Some(inserted) = layer.banding.step(row) {
                match segments[index].next_row_after(inserted, layer) {
                    Some(next) => *row = next,
                    None => break 'filling index,
                }
            }
        }
    };
    for (index, (segment, row)) in segments.iter_mut().zip(rows).enumerate() {
        segment.row = (index != filled).then_some(row);
    }
}

/// Adjacent windows of a layer, and the state of filling them.
#[derive(Debug)]
struct Segment<'a> {
    parameters: LayerParameters,
    sorter: Sorter,
    /// The keys, window by window. Bumped keys overwrite the first keys, which are sorted already.
    partitioned: &'a mut [KeyHash],
    /// Number of keys that the sorter has read.
    sorted: usize,
    /// Number of bumped keys, which are at the start of `partitioned`.
    bumped: usize,
    /// Index of the first key of this segment among the keys of all segments.
    first_key: usize,
    first_window: u64,
    /// For each window, the end of its keys among the keys of all segments.
    ends: &'a [usize],
    /// Buckets that are not begun yet, without a held bucket.
    buckets: Range<u64>,
    /// The current bucket.
    bucket: u64,
    /// The keys of the current bucket that are not added yet, as indexes into the sorter's keys.
    keys: Range<usize>,
    /// The class of the current key.
    class: u8,
    /// The index of the first key of this class.
    class_begin: usize,
    /// Number of rows that were stored for this class.
    class_rows: usize,
    /// The slots of these rows.
    class_slots: [usize; ROWS_MAX],
    /// The row that is being reduced; `None` if the next key has no row yet.
    row: Option<Row>,
}

impl<'a> Segment<'a> {
    fn new(
        parameters: LayerParameters,
        windows: Range<u64>,
        (first_key, partitioned): (usize, &'a mut [KeyHash]),
        ends: &'a [usize],
    ) -> Self {
        let buckets = parameters.windows.buckets();
        Self {
            parameters,
            sorter: Sorter::new(parameters.windows),
            partitioned,
            sorted: 0,
            bumped: 0,
            first_key,
            first_window: windows.start,
            ends,
            buckets: windows.start * buckets..windows.end * buckets,
            bucket: 0,
            keys: 0..0,
            class: 0,
            class_begin: 0,
            class_rows: 0,
            class_slots: [0; ROWS_MAX],
            row: None,
        }
    }

    /// Holds back the last bucket until [`release_last`](Self::release_last).
    fn hold_last(&mut self) {
        self.buckets.end -= 1;
    }

    fn release_last(&mut self) {
        self.buckets.end += 1;
    }

    /// Fills all buckets that are not held back.
    fn fill(&mut self, layer: &mut Layer) {
        let mut next = self.row.take().or_else(|| self.next_row(layer));
        while let Some(mut row) = next {
            let inserted = loop {
                if let Some(inserted) = layer.banding.step(&mut row) {
                    break inserted;
                }
            };
            next = self.next_row_after(inserted, layer);
        }
    }

    /// Records the result of a row, and returns the next row.
    fn next_row_after(&mut self, inserted: Inserted, layer: &mut Layer) -> Option<Row> {
        match inserted {
            Inserted::At(slot) => {
                self.class_slots[self.class_rows] = slot;
                self.class_rows += 1;
                self.keys.start += 1;
            }
            Inserted::Redundant => self.keys.start += 1,
            Inserted::Failed => {
                // The rows of this class can be removed, because no rows were added after them.
                for slot in &self.class_slots[..self.class_rows] {
                    layer.banding.remove(*slot);
                }
                self.bump_from(self.class_begin, self.class, layer);
                self.keys.start = self.keys.end;
            }
        }
        self.next_row(layer)
    }

    /// Bumps the keys of `class` and of higher classes in the current bucket.
    ///
    /// The first of these keys is at index `begin` of the sorted keys.
    fn bump_from(&mut self, begin: usize, class: u8, layer: &mut Layer) {
        thresholds::set(&mut layer.thresholds, self.bucket, class);
        let rest = &self.sorter.sorted[begin..self.keys.end];
        self.partitioned[self.bumped..][..rest.len()].copy_from_slice(rest);
        self.bumped += rest.len();
        self.keys.end = begin;
    }

    /// Returns the row of the next key; `None` if no bucket is left.
    fn next_row(&mut self, layer: &mut Layer) -> Option<Row> {
        while self.keys.is_empty() {
            let bucket = self.buckets.next()?;
            self.begin_bucket(bucket, layer);
        }
        let LayerParameters { shuffle, starts, slots, .. } = self.parameters;
        let equation = shuffle.equation(self.sorter.sorted[self.keys.start], starts).within(slots);
        // The keys of a bucket are in the order of their classes.
        let class = thresholds::class(equation.start);
        if class != self.class {
            (self.class, self.class_begin, self.class_rows) = (class, self.keys.start, 0);
        }
        Some(Row::new(&equation))
    }

    /// Makes a bucket the current one, and sorts its window if the bucket is the window's first.
    fn begin_bucket(&mut self, bucket: u64, layer: &mut Layer) {
        let LayerParameters { shuffle, starts, windows, .. } = self.parameters;
        let (window, within) = (bucket / windows.buckets(), bucket % windows.buckets());
        if within == 0 {
            let end = self.ends[(window - self.first_window) as usize] - self.first_key;
            self.sorter.sort(shuffle, starts, window, &self.partitioned[self.sorted..end]);
            self.sorted = end;
        }
        (self.bucket, self.keys) = (bucket, self.sorter.bucket(within));
        (self.class, self.class_begin, self.class_rows) = (0, self.keys.start, 0);
        // The bucket follows a held bucket, for which it leaves room.
        if within == 0 && window == self.first_window && window != 0 {
            let is_kept =
                |key: &KeyHash| thresholds::class(shuffle.start(*key, starts)) < CLASS_OF_ROOM;
            let kept = self.sorter.sorted[self.keys.clone()].partition_point(is_kept);
            self.bump_from(self.keys.start + kept, CLASS_OF_ROOM, layer);
        }
    }
}
