//! What a read passes from the caller down to where a block is loaded.

use super::options::Caching;
use crate::ReadTrace;
use crate::buffers::Buffers;

/// How one read loads blocks, and where it counts them.
pub(crate) struct ReadContext<'a> {
    pub(crate) caching: Caching,
    /// Of blocks that were read past the cache and are no longer used.
    pub(crate) buffers: &'a mut Buffers,
    pub(crate) trace: &'a mut ReadTrace,
}
