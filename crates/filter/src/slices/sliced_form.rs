//! The trait that each kind of filter implements for its bit-sliced form.

use super::rows::Rows;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::header::Header;

/// Filters of one kind and shape, bit-sliced into a table.
pub(crate) trait SlicedForm: Sized {
    /// The view of a stored filter of the kind.
    type View: Copy;

    /// Returns the shape of a filter; `None` if the filter cannot be sliced.
    ///
    /// Filters with equal shapes can be sliced together: every key has the same fields in them. The
    /// body must not be empty.
    fn shape(view: &Self::View, header: &Header, body: &[u8]) -> Option<[u64; 3]>;

    /// Copies one or more filters of one shape into a table.
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if the table does not fit into memory.
    fn new(filters: &[(Self::View, &[u8])]) -> Result<Self, BuildError>;

    /// Returns the table.
    fn rows(&self) -> &Rows;

    /// Returns the bytes of memory that the sliced filters take.
    fn memory_bytes(&self) -> u64 {
        self.rows().memory_bytes()
    }

    /// Prefetches the rows that a lookup reads first.
    fn prefetch(&self, hash: KeyHash);

    /// Returns a word with a bit for each filter of a stripe that may hold the key.
    ///
    /// The bits past the last filter of the stripe are undefined.
    fn candidates(&self, hash: KeyHash, stripe: usize) -> u64;
}
