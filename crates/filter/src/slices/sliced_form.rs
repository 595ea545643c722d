//! What every kind implements for its bit-sliced form.

use super::rows::Rows;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::header::Header;

/// Filters of one kind and shape, bit-sliced into a table.
pub(crate) trait SlicedForm: Sized {
    /// The view of a stored filter of the kind.
    type View: Copy;

    /// Returns the numbers that decide where a key's fields are and what is compared there; `None` if the
    /// filter cannot be sliced.
    ///
    /// Filters with equal numbers can be sliced together. The body is not empty.
    fn shape(view: &Self::View, header: &Header, body: &[u8]) -> Option<[u64; 3]>;

    /// Copies filters of one shape, at least one, into a table.
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if the table does not fit into memory.
    fn new(members: &[(Self::View, &[u8])]) -> Result<Self, BuildError>;

    /// Returns the table.
    fn rows(&self) -> &Rows;

    /// Returns how many bytes of memory everything takes.
    fn memory_bytes(&self) -> u64 {
        self.rows().memory_bytes()
    }

    /// Prefetches the rows that a key reads first.
    fn prefetch(&self, hash: KeyHash);

    /// Returns a bit for each filter of a stripe that may hold the key. Bits beyond the filters that the stripe
    /// has may be anything.
    fn candidates(&self, hash: KeyHash, stripe: usize) -> u64;
}
