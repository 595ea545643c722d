//! Bytes at the start of a cache line.

use bytes::Bytes;
use filter::AlignedBytes;

/// Copies `body` to where a cache line starts, so that what a filter puts into one line is in one.
pub(super) fn aligned(body: &[u8]) -> Bytes {
    // A copy that is not aligned is as right, only slower.
    AlignedBytes::copy_of(body).map_or_else(|_| Bytes::copy_from_slice(body), Bytes::from_owner)
}
