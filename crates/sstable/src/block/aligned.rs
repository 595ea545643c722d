//! Bytes aligned to a cache line.

use bytes::Bytes;

/// Copies `body` to a cache line boundary, so that each line-sized block of a filter is one line.
pub(super) fn aligned(body: &[u8]) -> Bytes {
    const LINE: usize = 64;
    let mut bytes = vec![0; body.len() + LINE];
    let start = bytes.as_ptr().align_offset(LINE);
    let end = start + body.len();
    // `align_offset` may fail under Miri; then the bytes stay unaligned.
    let Some(target) = bytes.get_mut(start..end) else { return Bytes::copy_from_slice(body) };
    target.copy_from_slice(body);
    Bytes::from(bytes).slice(start..end)
}
