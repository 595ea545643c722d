//! Asking the processor for memory before it is read, where there is a way to ask.

#[cfg(all(target_arch = "x86_64", feature = "std"))]
use super::x86;

/// Asks the processor to load some bytes, up to a line's worth, and does not wait for them.
#[inline]
pub(crate) fn prefetch<const N: usize>(bytes: &[u8; N]) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    x86::prefetch(bytes);
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    let _ = bytes; // No other target has a stable way to ask.
}

/// Asks the processor to load the cache line in which a value begins, and does not wait for it. Worth
/// it where there is something else to do meanwhile; elsewhere it does nothing.
#[inline]
pub fn prefetch_line<T>(value: &T) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    x86::prefetch_line(value);
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    let _ = value; // No other target has a stable way to ask.
}

/// Asks the processor to load so many bytes at an address, and does not wait for them. They are not
/// read, so nothing need be there any more: it is for what was seen there before, and costs a memory
/// access to find out.
#[inline]
pub fn prefetch_address(address: usize, len: usize) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    for beyond in (0..len).step_by(64) {
        x86::prefetch_address(address.wrapping_add(beyond));
    }
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    let _ = (address, len); // No other target has a stable way to ask.
}

/// Asks the processor to load the line of a byte, if it is there.
#[inline]
pub(crate) fn prefetch_at(bytes: &[u8], at: usize) {
    if let Some(byte) = bytes.get(at) {
        prefetch_line(byte);
    }
}
