//! The plain cells of a block, and the row index stored with them.

use std::ops::Range;

use super::DamageReason;
use crate::buffers::{Body, Buffers};

/// Plain cells, and the stored row index if the block has one.
#[derive(Debug)]
pub(crate) struct PlainCells {
    body: Body,
    /// The range of the stored row offsets in the underlying buffer, u32 BE each.
    rows: Option<Range<usize>>,
}

impl PlainCells {
    /// Takes cells without a stored row index.
    pub(super) const fn new(body: Body) -> Self {
        Self { body, rows: None }
    }

    /// Takes a body and the ranges of cells and row offsets in it.
    ///
    /// # Panics
    ///
    /// If the ranges are not in the body, in this order.
    #[expect(clippy::arithmetic_side_effects, reason = "both ranges lie in the body")]
    pub(super) fn with_rows(body: Body, cells: Range<usize>, rows: Range<usize>) -> Self {
        assert!(cells.end <= rows.start && rows.end <= body.len(), "{cells:?}, {rows:?}");
        let (buffer, all) = body.into_parts();
        let [cells, rows] =
            [cells, rows].map(|range| all.start + range.start..all.start + range.end);
        Self { body: Body::new(buffer, cells), rows: Some(rows) }
    }

    /// The bytes of the cells.
    #[inline]
    pub(crate) const fn body(&self) -> &Body {
        &self.body
    }

    /// Checks that row `index` starts at `at` in the stored row index, if there is one.
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

    /// Checks the row count of the stored row index, if there is one.
    pub(super) fn check_row_count(&self, count: usize) -> Result<(), DamageReason> {
        match self.stored_rows() {
            Some(rows) if rows.len() != count => Err(ROWS_CONTRADICT.into()),
            _ => Ok(()),
        }
    }

    #[inline]
    fn stored_rows(&self) -> Option<&[[u8; 4]]> {
        let rows = self.rows.clone()?;
        let rows = self.body.buffer().get(rows).expect("the row offsets lie in the buffer");
        Some(rows.as_chunks().0)
    }

    /// The size in memory, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.body.buffer_len()
    }

    /// Returns the underlying buffer, for reuse.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.body.into_buffer()
    }

    /// Copies the cells into their own buffer, without the stored row index.
    pub(crate) fn to_owned_in(&self, buffers: &mut Buffers) -> Self {
        let mut buffer = buffers.take_empty(self.body.len());
        buffer.extend_from_slice(&self.body);
        Self::new(buffer.into())
    }
}

const ROWS_CONTRADICT: &str = "the row index contradicts the rows";
