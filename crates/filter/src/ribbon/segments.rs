//! Filling a layer: bucket after bucket, in up to four interleaved segments.
//!
//! Elimination is a chain of dependent loads: each reduced row determines which row is loaded next.
//! A processor overlaps several such chains, so a layer is cut into segments that take steps in
//! turn.
//!
//! ```text
//! layer       [ bucket bucket … bucket ▏bucket bucket … bucket ▏bucket bucket … ]
//! segments     ──▶              held    ──▶              held    ──▶
//! ```
//!
//! Rows reach less than 64 slots into the next bucket. While the last bucket of each segment
//! (except the last segment) is held back, no segment touches the slots of another, and their
//! relative progress does not matter. The held buckets are filled one by one after all others. A
//! bucket has more keys than slots and so needs slots after its right end. Therefore the next
//! bucket, the first of the next segment, bumps the keys at its left end from the outset. Otherwise
//! the held bucket would soon have a key that does not fit, and would bump a whole class.

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

/// Minimum number of windows for two segments, and for four.
///
/// A cut leaves about thirty slots unused, too many for a small layer. More than four segments need
/// too many registers.
const WINDOWS_FOR_TWO: u64 = 8;
const WINDOWS_FOR_FOUR: u64 = 12;

/// The threshold of a bucket after a held bucket: it bumps the keys of this class and above.
///
/// This frees 36 starts, about as many slots as the held bucket needs after its right end.
const CLASS_OF_ROOM: u8 = 1;

/// Maximum number of rows of one bucket: the slots that its starts reach.
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
/// Bumped keys overwrite the keys of earlier windows: beside the rows and one copy of the hashes,
/// no memory grows with the keys.
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

/// Fills all buckets with keys that are partitioned into windows, which end at `ends`.
///
/// Moves the bumped keys to the front, and returns their number.
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

/// Advances the segments in turn, until the first of them is filled.
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
    /// The keys, window by window; bumped keys overwrite the front, which is sorted already.
    partitioned: &'a mut [KeyHash],
    sorted: usize,
    bumped: usize,
    /// Index of the first key of this segment among the keys of all segments.
    first_key: usize,
    first_window: u64,
    ends: &'a [usize],
    /// Buckets that are not begun.
    buckets: Range<u64>,
    /// The current bucket, and its keys that are not added yet.
    bucket: u64,
    keys: Range<usize>,
    /// The class of the current key, the first key of that class, and the slots of its rows.
    class: u8,
    class_begin: usize,
    class_rows: usize,
    class_slots: [usize; ROWS_MAX],
    /// The row that is being reduced.
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

    /// Excludes the last bucket until [`release_last`](Self::release_last).
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
                // The rows of this class were added last, so they can be removed.
                for slot in &self.class_slots[..self.class_rows] {
                    layer.banding.remove(*slot);
                }
                self.bump_from(self.class_begin, self.class, layer);
                self.keys.start = self.keys.end;
            }
        }
        self.next_row(layer)
    }

    /// Bumps the keys of the current bucket from `class` on, which begins at key `begin`.
    fn bump_from(&mut self, begin: usize, class: u8, layer: &mut Layer) {
        thresholds::set(&mut layer.thresholds, self.bucket, class);
        let rest = &self.sorter.sorted[begin..self.keys.end];
        self.partitioned[self.bumped..][..rest.len()].copy_from_slice(rest);
        self.bumped += rest.len();
        self.keys.end = begin;
    }

    /// Returns the row of the next key.
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
        // The bucket after a held bucket.
        if within == 0 && window == self.first_window && window != 0 {
            let is_kept =
                |key: &KeyHash| thresholds::class(shuffle.start(*key, starts)) < CLASS_OF_ROOM;
            let kept = self.sorter.sorted[self.keys.clone()].partition_point(is_kept);
            self.bump_from(self.keys.start + kept, CLASS_OF_ROOM, layer);
        }
    }
}
