//! The parameters that a read passes down to the block reader.

use super::options::Caching;
use crate::buffers::Buffers;
use crate::trace::ReadTrace;

/// How one read loads blocks, and where it counts them.
pub(crate) struct ReadContext<'a> {
    pub(crate) caching: Caching,
    /// Free buffers of blocks that bypassed the cache.
    pub(crate) buffers: &'a mut Buffers,
    pub(crate) trace: &'a mut ReadTrace,
}
