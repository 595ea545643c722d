//! Plain cells as the body of a block has them, with the row index that the block stores beside them.

use std::ops::Range;

use super::DamageReason;
use crate::buffers::{Body, Buffers};

/// Plain cells, and the row index that the block stores beside them, if it does.
#[derive(Debug)]
pub(crate) struct PlainCells {
    body: Body,
    /// Where in the buffer beneath the stored offsets of the rows' first cells are, u32 BE each.
    rows: Option<Range<usize>>,
}

impl PlainCells {
    /// Takes cells without a stored row index.
    pub(super) const fn new(body: Body) -> Self {
        Self { body, rows: None }
    }

    /// Takes two parts of a body: cells and row offsets.
    ///
    /// # Panics
    ///
    /// If the body does not have these parts.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "both parts lie in the body, and so in the buffer"
    )]
    pub(super) fn with_rows(body: Body, cells: Range<usize>, rows: Range<usize>) -> Self {
        assert!(cells.end <= rows.start && rows.end <= body.len(), "{cells:?}, {rows:?}");
        let (buffer, all) = body.into_parts();
        let [cells, rows] = [cells, rows].map(|it| all.start + it.start..all.start + it.end);
        Self { body: Body::new(buffer, cells), rows: Some(rows) }
    }

    /// The bytes of the cells.
    #[inline]
    pub(crate) const fn body(&self) -> &Body {
        &self.body
    }

    /// Checks the stored row index, if there is one: its row `index` must start at `at`.
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

    /// Checks the number of rows in the stored row index, if there is one.
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

    /// Bytes that they take in memory.
    pub(crate) const fn bytes(&self) -> usize {
        self.body.buffer_len()
    }

    /// The buffer beneath, for another block.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.body.into_buffer()
    }

    /// Returns the same cells in a buffer of their own, without the stored row index.
    pub(crate) fn to_owned_in(&self, buffers: &mut Buffers) -> Self {
        let mut buffer = buffers.take_empty(self.body.len());
        buffer.extend_from_slice(&self.body);
        Self::new(buffer.into())
    }
}

const ROWS_CONTRADICT: &str = "the row index contradicts the rows";
