//! Room for decompressed bytes at the end of a buffer.

/// Appends `room` zeros to `body`, whose final length is `len`, and returns the zeros.
///
/// A full buffer doubles its capacity, or grows to the bytes needed if these are more, so memory
/// stays proportional to the decompressed bytes. It does not grow beyond `len`, so that a cached
/// body wastes no memory.
pub(super) fn grow(body: &mut Vec<u8>, room: usize, len: usize) -> &mut [u8] {
    let start = body.len();
    let needed = start.saturating_add(room);
    if needed > body.capacity() {
        let capacity = body.capacity().saturating_mul(2).min(len).max(needed);
        body.reserve_exact(capacity.saturating_sub(start));
    }
    body.resize(needed, 0);
    body.get_mut(start..).unwrap_or_default()
}
