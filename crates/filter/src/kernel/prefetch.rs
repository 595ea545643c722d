//! The prefetch instruction: the processor loads a cache line, and the program does not wait for it.
//!
//! On targets other than x86-64, which have no stable prefetch intrinsic, a prefetch does nothing.

use core::ptr;

/// Prefetches the cache line at an address.
///
/// Pays if the program does other work before it reads the line. The memory may be freed or
/// unmapped: a prefetch of any address has no effect that a program can see. Does nothing on targets
/// other than x86-64.
///
/// ```
/// let lines = vec![[0_u8; 64]; 100];
/// let seventh = std::ptr::from_ref(&lines[7]).addr();
/// filter::engine::prefetch(seventh);
/// drop(lines);
/// filter::engine::prefetch(seventh); // Has no effect.
/// ```
#[inline]
pub fn prefetch(address: usize) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    // SAFETY: a prefetch of any address, mapped or not, has no effect that a program can see, and
    // the target has SSE, of which the instruction is a part.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(ptr::without_provenance(address));
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    let _ = address;
}

/// Prefetches the cache lines of the first byte and of the last: all of a unit of up to a line.
#[inline]
pub(crate) fn prefetch_unit<const N: usize>(bytes: &[u8; N]) {
    let first = ptr::from_ref(bytes).addr();
    prefetch(first);
    prefetch(first.wrapping_add(N.saturating_sub(1)));
}

/// Prefetches the cache line of the byte `at`, if there is such a byte.
#[inline]
pub(crate) fn prefetch_at(bytes: &[u8], at: usize) {
    if let Some(byte) = bytes.get(at) {
        prefetch(ptr::from_ref(byte).addr());
    }
}
