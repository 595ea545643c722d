//! The plain cells of a block, and the row index that `ROW_INDEX_V1` stores after them.

use std::ops::Range;

use super::DamageReason;
use crate::buffers::{Body, Buffers};

/// The plain cells of a block, and its stored row index if it has one.
#[derive(Debug)]
pub(crate) struct PlainCells {
    body: Body,
    /// The range of the stored row offsets (u32 BE each) in the buffer that `body` is a part of.
    rows: Option<Range<usize>>,
}

impl PlainCells {
    /// Creates plain cells without a stored row index; `body` has only cells.
    pub(super) const fn new(body: Body) -> Self {
        Self { body, rows: None }
    }

    /// Creates plain cells from a body and the ranges of the cells and the row offsets in it.
    ///
    /// # Panics
    ///
    /// If a range exceeds the body, or the row offsets begin before the end of the cells.
    #[expect(clippy::arithmetic_side_effects, reason = "both ranges lie in the body")]
    pub(super) fn with_rows(body: Body, cells: Range<usize>, rows: Range<usize>) -> Self {
        assert!(cells.end <= rows.start && rows.end <= body.len(), "{cells:?}, {rows:?}");
        let (buffer, all) = body.into_parts();
        let [cells, rows] =
            [cells, rows].map(|range| all.start + range.start..all.start + range.end);
        Self { body: Body::new(buffer, cells), rows: Some(rows) }
    }

    /// Returns the bytes of the cells.
    pub(crate) const fn body(&self) -> &Body {
        &self.body
    }

    /// Checks that the stored row index, if there is one, has the offset `at` for row `index`.
    #[inline]
    pub(super) fn check_row(&self, index: usize, at: usize) -> Result<(), DamageReason> {
        let Some(rows) = self.stored_rows() else { return Ok(()) };
        let stored = rows.get(index).map(|offset| u32::from_be_bytes(*offset));
        if stored.is_some_and(|stored| usize::try_from(stored) == Ok(at)) {
            Ok(())
        } else {
            Err(ROWS_CONTRADICT.into())
        }
    }

    /// Checks that the stored row index, if there is one, has `count` rows.
    pub(super) fn check_row_count(&self, count: usize) -> Result<(), DamageReason> {
        match self.stored_rows() {
            Some(rows) if rows.len() != count => Err(ROWS_CONTRADICT.into()),
            _ => Ok(()),
        }
    }

    fn stored_rows(&self) -> Option<&[[u8; 4]]> {
        let rows = self.rows.clone()?;
        let rows = self.body.buffer().get(rows).expect("the row offsets lie in the buffer");
        Some(rows.as_chunks().0)
    }

    /// Returns the size in memory in bytes: the whole buffer, with the stored row index.
    pub(crate) const fn bytes(&self) -> usize {
        self.body.buffer_len()
    }

    /// Returns the underlying buffer, for reuse.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.body.into_buffer()
    }

    /// Copies the cells into a separate buffer, without the stored row index.
    pub(crate) fn to_owned_in(&self, buffers: &mut Buffers) -> Self {
        let mut buffer = buffers.take_empty(self.body.len());
        buffer.extend_from_slice(&self.body);
        Self::new(buffer.into())
    }
}

const ROWS_CONTRADICT: &str = "the row index contradicts the rows";
