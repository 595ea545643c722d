//! Bytes aligned to a cache line.

use bytes::Bytes;
use filter::engine::AlignedBytes;

/// Copies `body` to a cache line boundary, so that each line-sized block of a filter is one line.
pub(super) fn aligned(body: &[u8]) -> Bytes {
    // An unaligned copy is correct, only slower.
    AlignedBytes::copy_of(body).map_or_else(|_| Bytes::copy_from_slice(body), Bytes::from_owner)
}
