//! Runs of cells that an old snapshot does not see. Its next read seeks past them.
//!
//! ```text
//! cells   a1  b7  c8  d9  …  y9  z2       of a snapshot that sees the ids up to 5
//! gap         └── first … last ──┘        a read that has passed some of these cells goes on at z2
//! ```
//!
//! A gap never gets a cell that its reader could see: all cells with ids up to 5 were in the memstore when the gap was
//! noted, and cells that are added later have greater ids.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use sstable::{Cell, CellRef, SequenceId};

use crate::sync::{Mutex, lock};

/// The known gaps of a memstore.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    known: Mutex<Vec<Gap>>,
    /// Whether any gap is known, without a look at the list.
    is_any: AtomicBool,
}

/// A run of cells without any that a snapshot of `visible` sees.
#[derive(Clone, Debug)]
pub(super) struct Gap {
    pub(super) first: Cell,
    pub(super) last: Cell,
    pub(super) visible: SequenceId,
}

impl Gap {
    /// The run from one cell to another, which may come before it.
    pub(super) fn between(one: &Cell, other: &Cell, visible: SequenceId) -> Self {
        // The value and the tags may be large, and the order does not depend on them.
        let bare = |cell: &Cell| CellRef { value: b"", tags: b"", ..cell.as_ref() }.to_cell();
        let (one, other) = (bare(one), bare(other));
        let (first, last) = if is_before(&other, &one) { (other, one) } else { (one, other) };
        Self { first, last, visible }
    }

    /// Returns both runs as one. They must touch.
    pub(super) fn join(self, other: Self) -> Self {
        let first = if is_before(&other.first, &self.first) { other.first } else { self.first };
        let last = if is_before(&self.last, &other.last) { other.last } else { self.last };
        Self { first, last, visible: self.visible.min(other.visible) }
    }

    /// Returns whether a reader that sees the ids up to `visible` may seek from `cell` past the gap.
    fn serves(&self, cell: &CellRef<'_>, visible: SequenceId) -> bool {
        visible <= self.visible
            && self.first.as_ref().compare(cell).is_le()
            && cell.compare(&self.last.as_ref()).is_le()
    }

    /// Returns whether this gap serves each reader that `other` serves.
    fn covers(&self, other: &Self) -> bool {
        self.serves(&other.first.as_ref(), other.visible)
            && self.serves(&other.last.as_ref(), other.visible)
    }
}

impl Gaps {
    /// The maximum number of gaps. The gap that was found first gives way.
    const COUNT_MAX: usize = 8;

    /// Returns a gap; a reader that sees the ids up to `visible` has reached `cell` in the gap.
    pub(super) fn around(&self, cell: &Cell, visible: SequenceId) -> Option<Gap> {
        if !self.is_any.load(Relaxed) {
            return None;
        }
        let known = lock(&self.known);
        known.iter().find(|gap| gap.serves(&cell.as_ref(), visible)).cloned()
    }

    /// Notes a gap that a reader has passed.
    pub(super) fn add(&self, gap: Gap) {
        let mut known = lock(&self.known);
        if known.iter().any(|other| other.covers(&gap)) {
            return;
        }
        known.retain(|other| !gap.covers(other));
        if known.len() == Self::COUNT_MAX {
            known.remove(0);
        }
        known.push(gap);
        self.is_any.store(true, Relaxed);
    }
}

fn is_before(one: &Cell, other: &Cell) -> bool {
    one.as_ref().compare(&other.as_ref()).is_lt()
}
