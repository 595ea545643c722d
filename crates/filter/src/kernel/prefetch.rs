//! Prefetch instructions: the processor loads a cache line, and the program does not wait for it.
//!
//! On targets other than x86-64, which have no stable prefetch intrinsic, a prefetch does nothing.

use alloc::sync::Weak;
use core::ptr;

/// Bytes of a cache line.
const CACHE_LINE_LEN: usize = 64;

/// Prefetches the cache lines of the first byte and of the last: all of a unit of up to a line.
#[inline]
pub(crate) fn prefetch<const N: usize>(bytes: &[u8; N]) {
    if let Some(first) = bytes.first() {
        prefetch_line(first);
    }
    if let [_, .., last] = bytes.as_slice() {
        prefetch_line(last);
    }
}

/// Prefetches the cache line in which a value begins.
///
/// Pays if the program does other work before it reads the value. Does nothing on targets other
/// than x86-64.
#[inline]
pub fn prefetch_line<T>(value: &T) {
    prefetch_address(ptr::from_ref(value).addr());
}

#[inline]
fn prefetch_address(address: usize) {
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

/// The address of bytes in memory, which may no longer exist.
///
/// A hint can be prefetched without access to the bytes. It does not keep them in memory. A hint
/// is never dereferenced, and a prefetch of memory that is freed or unmapped has no effect that a
/// program can see.
///
/// ```
/// use filter::engine::PrefetchHint;
///
/// let lines = vec![[0_u8; 64]; 100];
/// let hint = PrefetchHint::of_slice(&lines);
/// hint.part(7 * 64, 64).prefetch();
/// drop(lines);
/// hint.prefetch(); // Has no effect.
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PrefetchHint {
    start: usize,
    len: usize,
}

impl PrefetchHint {
    /// Returns the address of all values of a slice.
    #[inline]
    pub fn of_slice<T>(values: &[T]) -> Self {
        Self { start: values.as_ptr().addr(), len: size_of_val(values) }
    }

    /// Returns the address of a weak pointer's value and of its counts, which an upgrade reads.
    ///
    /// Accesses neither of them.
    #[inline]
    pub fn of_weak<T>(value: &Weak<T>) -> Self {
        /// Bytes of the two counts that an `Arc` has before its value.
        const COUNTS_LEN: usize = 2 * size_of::<usize>();
        let start = value.as_ptr().addr().wrapping_sub(COUNTS_LEN);
        Self { start, len: COUNTS_LEN + size_of::<T>() }
    }

    /// Returns the number of bytes.
    #[inline]
    pub const fn byte_len(self) -> usize {
        self.len
    }

    /// Returns the address of `len` of the bytes, from `offset` on.
    #[inline]
    #[must_use]
    pub const fn part(self, offset: usize, len: usize) -> Self {
        debug_assert!(offset + len <= self.len, "the part is in the bytes");
        Self { start: self.start.wrapping_add(offset), len }
    }

    /// Prefetches the cache lines of the bytes.
    #[inline]
    pub fn prefetch(self) {
        for offset in (0..self.len).step_by(CACHE_LINE_LEN) {
            prefetch_address(self.start.wrapping_add(offset));
        }
    }
}

/// Prefetches the cache line of the byte `at`, if there is such a byte.
#[inline]
pub(crate) fn prefetch_at(bytes: &[u8], at: usize) {
    if let Some(byte) = bytes.get(at) {
        prefetch_line(byte);
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use super::*;

    #[test]
    fn a_hint_has_the_address_of_its_value() {
        let values = [[1_u8; 40], [2; 40], [3; 40]];
        let hint = PrefetchHint::of_slice(&values);
        assert_eq!((hint.start, hint.byte_len()), (ptr::from_ref(&values).addr(), 120));
        let (third, same) = (hint.part(80, 40), PrefetchHint::of_slice(&values[2..]));
        assert_eq!((third.start, third.byte_len()), (same.start, 40));
    }

    #[test]
    fn a_hint_of_a_weak_pointer_begins_with_its_counts_and_outlives_the_value() {
        let value = Arc::new([7_u64; 20]);
        let hint = PrefetchHint::of_weak(&Arc::downgrade(&value));
        assert_eq!(hint.start, Arc::as_ptr(&value).addr() - 2 * size_of::<usize>());
        hint.prefetch();
        drop(value);
        hint.prefetch();
    }
}
