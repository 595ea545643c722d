//! Prefetch instructions: the processor loads a cache line, and the program does not wait for it.
//!
//! On targets other than x86-64, which have no stable prefetch intrinsic, a prefetch does nothing.
#![cfg_attr(
    all(target_arch = "x86_64", target_feature = "sse2"),
    allow(unsafe_code, reason = "prefetches take pointers")
)]

use alloc::sync::Weak;
use core::fmt;
use core::marker::PhantomData;
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

/// The address of one or more values of a type, which may no longer exist.
///
/// A hint can be prefetched without access to the values. It does not keep them in memory. A hint
/// is never dereferenced, and a prefetch of memory that is freed or unmapped has no effect that a
/// program can see.
///
/// ```
/// use filter::engine::PrefetchHint;
///
/// let lines = vec![[0_u8; 64]; 100];
/// let hint = PrefetchHint::of_slice(&lines);
/// hint.at(7).prefetch();
/// drop(lines);
/// hint.at(7).prefetch(); // Has no effect.
/// ```
pub struct PrefetchHint<T> {
    start: usize,
    count: usize,
    values: PhantomData<fn() -> T>,
}

impl<T> PrefetchHint<T> {
    /// Returns a hint of the address of a value.
    #[inline]
    pub fn of(value: &T) -> Self {
        Self::new(ptr::from_ref(value).addr(), 1)
    }

    /// Returns a hint of the address of all values of a slice.
    #[inline]
    pub fn of_slice(values: &[T]) -> Self {
        Self::new(values.as_ptr().addr(), values.len())
    }

    #[inline]
    const fn new(start: usize, count: usize) -> Self {
        Self { start, count, values: PhantomData }
    }

    /// Returns the number of values.
    #[inline]
    pub const fn count(self) -> usize {
        self.count
    }

    /// Returns a hint of the address of the value `index` of a slice; `index` is less than
    /// [`count`](Self::count).
    #[inline]
    #[must_use]
    pub const fn at(self, index: usize) -> Self {
        debug_assert!(index < self.count, "a value of the slice");
        Self::new(self.start.wrapping_add(index.wrapping_mul(size_of::<T>())), 1)
    }

    /// Prefetches the cache lines of the values.
    #[inline]
    pub fn prefetch(self) {
        for offset in (0..self.count.wrapping_mul(size_of::<T>())).step_by(CACHE_LINE_LEN) {
            prefetch_address(self.start.wrapping_add(offset));
        }
    }
}

impl PrefetchHint<u8> {
    /// Returns a hint of the address of a weak pointer's value and of its counts, which an upgrade
    /// reads.
    ///
    /// Accesses neither of them.
    #[inline]
    pub fn of_weak<T>(value: &Weak<T>) -> Self {
        /// Bytes of the two counts that an `Arc` has before its value.
        const COUNTS_LEN: usize = 2 * size_of::<usize>();
        let start = value.as_ptr().addr().wrapping_sub(COUNTS_LEN);
        Self::new(start, COUNTS_LEN + size_of::<T>())
    }
}

impl<T> Clone for PrefetchHint<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for PrefetchHint<T> {}

impl<T> fmt::Debug for PrefetchHint<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, count, values: _ } = self;
        f.debug_struct("PrefetchHint").field("start", start).field("count", count).finish()
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
        assert_eq!((hint.start, hint.count()), (ptr::from_ref(&values).addr(), 3));
        let (third, same) = (hint.at(2), PrefetchHint::of(&values[2]));
        assert_eq!((third.start, third.count()), (same.start, 1));
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
