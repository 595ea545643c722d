//! Bytes at the start of a cache line.
#![allow(clippy::arithmetic_side_effects, reason = "a buffer as long as the body and a line")]

use bytes::Bytes;

/// Copies `body` to where a cache line starts, so that what a filter puts into one line is in one.
pub(super) fn aligned(body: &[u8]) -> Bytes {
    const LINE: usize = 64;
    let mut bytes = vec![0; body.len() + LINE];
    let start = bytes.as_ptr().align_offset(LINE);
    let end = start + body.len();
    // An interpreter that checks addresses may refuse to align: any start will do.
    let Some(place) = bytes.get_mut(start..end) else { return Bytes::copy_from_slice(body) };
    place.copy_from_slice(body);
    Bytes::from(bytes).slice(start..end)
}
