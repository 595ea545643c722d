//! The lines of a family map, in one array.

use filter::prefetch_line;

use super::form::MapForm;
use super::line::Line;
use super::numbers::Numbers;

/// The lines of a map, with the block numbers of their entries in a map of blocks.
pub(super) enum Lines {
    Files(Box<[Line]>),
    Blocks(Box<[NumberedLine]>),
}

/// A line and the block numbers of its entries.
///
/// They are adjacent and aligned, so that both are in one page and a lookup needs one TLB entry.
#[derive(Debug)]
#[cfg_attr(not(any(loom, shuttle)), repr(align(128)))]
pub(super) struct NumberedLine {
    pub(super) line: Line,
    pub(super) numbers: Numbers,
}

impl NumberedLine {
    pub(super) fn new() -> Self {
        Self { line: Line::new(), numbers: Numbers::new() }
    }
}

impl Lines {
    /// Returns `count` lines without entries; `None` if there is not enough memory.
    pub(super) fn new(count: u64, form: MapForm) -> Option<Self> {
        Some(match form {
            MapForm::Files => Self::Files(collected(count, (0..count).map(|_| Line::new()))?),
            MapForm::Blocks => {
                Self::Blocks(collected(count, (0..count).map(|_| NumberedLine::new()))?)
            }
        })
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        match self {
            Self::Files(lines) => lines.len(),
            Self::Blocks(lines) => lines.len(),
        }
    }

    #[inline]
    pub(super) fn line(&self, at: usize) -> &Line {
        match self {
            Self::Files(lines) => &lines[at],
            Self::Blocks(lines) => &lines[at].line,
        }
    }

    /// Returns the block numbers of a line; `None` in a map of files.
    #[inline]
    pub(super) fn numbers(&self, at: usize) -> Option<&Numbers> {
        match self {
            Self::Files(_) => None,
            Self::Blocks(lines) => Some(&lines[at].numbers),
        }
    }

    #[inline]
    pub(super) fn prefetch(&self, at: usize) {
        match self {
            Self::Files(lines) => prefetch_line(&lines[at]),
            Self::Blocks(lines) => {
                prefetch_line(&lines[at].line);
                prefetch_line(&lines[at].numbers);
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
