//! The lines of a family map, in one array.

use std::ptr;

use filter::engine::prefetch;

use super::extensions::Extensions;
use super::fingerprint::Fingerprint;
use super::form::MapForm;
use super::line::{InsertedEntry, Line};
use super::slots::Slots;

/// The lines of a map, in a wide map with the extensions of their fingerprints.
pub(super) enum Lines {
    Narrow(Box<[Line]>),
    Wide(Box<[WideLine]>),
}

/// A line and the extensions of its fingerprints.
///
/// They are adjacent and aligned, so that both are in one page and a lookup needs one TLB entry.
#[derive(Debug)]
#[cfg_attr(not(any(loom, shuttle)), repr(align(128)))]
pub(super) struct WideLine {
    pub(super) line: Line,
    pub(super) extensions: Extensions,
}

impl WideLine {
    pub(super) fn new() -> Self {
        Self { line: Line::new(), extensions: Extensions::new() }
    }

    fn slots(&self, fingerprint: Fingerprint) -> Slots {
        let mut slots = Slots::NONE;
        self.line.entries(fingerprint, |index, slot| {
            if self.extensions.get(index) == fingerprint.extension {
                slots = slots.union(Slots::of(slot));
            }
        });
        slots
    }

    /// Inserts an entry as [`Line::insert`] does.
    pub(super) fn insert(&self, fingerprint: Fingerprint, slot: u32) -> Option<InsertedEntry> {
        let Fingerprint { extension, .. } = fingerprint;
        let is_equal = |index| self.extensions.get(index) == extension;
        let place = self.line.insert(fingerprint, slot, is_equal)?;
        self.extensions.set(place.index, extension);
        Some(place)
    }
}

impl Lines {
    /// Returns `count` lines without entries; `None` if there is not enough memory.
    pub(super) fn new(count: u64, form: MapForm) -> Option<Self> {
        Some(match form {
            MapForm::Narrow => Self::Narrow(collected(count, (0..count).map(|_| Line::new()))?),
            MapForm::Wide => Self::Wide(collected(count, (0..count).map(|_| WideLine::new()))?),
        })
    }

    pub(super) const fn len(&self) -> usize {
        match self {
            Self::Narrow(lines) => lines.len(),
            Self::Wide(lines) => lines.len(),
        }
    }

    /// Returns the slots of the entries of a line that may be those of a row.
    pub(super) fn slots(&self, at: usize, fingerprint: Fingerprint) -> Slots {
        match self {
            Self::Narrow(lines) => lines[at].slots(fingerprint),
            Self::Wide(lines) => lines[at].slots(fingerprint),
        }
    }

    /// Returns whether a row with this overflow bit may be in a further line than this one.
    pub(super) fn overflows(&self, at: usize, fingerprint: Fingerprint) -> bool {
        match self {
            Self::Narrow(lines) => lines[at].overflows(fingerprint),
            Self::Wide(lines) => lines[at].line.overflows(fingerprint),
        }
    }

    /// Inserts an entry into a line, unless it has an equal one. Returns `false` if the line is full.
    ///
    /// Only the writer of the map may call this.
    pub(super) fn insert(&self, at: usize, fingerprint: Fingerprint, slot: u32) -> bool {
        match self {
            Self::Narrow(lines) => lines[at].insert(fingerprint, slot, |_| true).is_some(),
            Self::Wide(lines) => lines[at].insert(fingerprint, slot).is_some(),
        }
    }

    pub(super) fn prefetch(&self, at: usize) {
        match self {
            Self::Narrow(lines) => prefetch(ptr::from_ref(&lines[at]).addr()),
            Self::Wide(lines) => {
                prefetch(ptr::from_ref(&lines[at].line).addr());
                prefetch(ptr::from_ref(&lines[at].extensions).addr());
            }
        }
    }
}

/// Collects `count` elements; returns `None` if there is not enough memory.
pub(super) fn collected<T>(count: u64, elements: impl Iterator<Item = T>) -> Option<Box<[T]>> {
    let mut collected = Vec::new();
    collected.try_reserve_exact(usize::try_from(count).ok()?).ok()?;
    collected.extend(elements);
    Some(collected.into())
}
