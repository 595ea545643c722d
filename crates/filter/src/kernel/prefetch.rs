//! Asking the processor for memory before it is read, where there is a way to ask.

use alloc::sync::Weak;
use core::fmt;
use core::marker::PhantomData;
use core::ptr;

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
    x86::prefetch_address(ptr::from_ref(value).addr());
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    let _ = value; // No other target has a stable way to ask.
}

/// Where one or more values of a type are in memory, or were.
///
/// A hint can be prefetched without access to the values. It does not keep them in memory, and they may be
/// gone: a hint is never dereferenced, and to prefetch memory that is no longer used, or not mapped, has no
/// effect that a program can see.
///
/// ```
/// use filter::PrefetchHint;
///
/// let lines = vec![[0_u8; 64]; 100];
/// let hint = PrefetchHint::of_slice(&lines);
/// hint.at(7).prefetch();
/// drop(lines);
/// hint.at(7).prefetch(); // Useless, and harmless.
/// ```
pub struct PrefetchHint<T> {
    start: usize,
    count: usize,
    values: PhantomData<fn() -> T>,
}

impl<T> PrefetchHint<T> {
    /// Returns a hint at a value.
    #[inline]
    pub fn of(value: &T) -> Self {
        Self::new(ptr::from_ref(value).addr(), 1)
    }

    /// Returns a hint at all values of a slice.
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

    /// Returns a hint at the value `index` of a slice, where `index` is less than [`count`](Self::count).
    #[inline]
    #[must_use]
    pub const fn at(self, index: usize) -> Self {
        debug_assert!(index < self.count, "a value of the slice");
        Self::new(self.start.wrapping_add(index.wrapping_mul(size_of::<T>())), 1)
    }

    /// Asks the processor to load the cache lines of the values, and does not wait for them.
    #[inline]
    pub fn prefetch(self) {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        for beyond in (0..self.count.wrapping_mul(size_of::<T>())).step_by(64) {
            x86::prefetch_address(self.start.wrapping_add(beyond));
        }
    }
}

impl PrefetchHint<u8> {
    /// Returns a hint at the bytes of a weak pointer's value and of its counts, which an upgrade reads. Does
    /// not access either of them.
    #[inline]
    pub fn of_weak<T>(value: &Weak<T>) -> Self {
        /// Bytes of the two counts that an `Arc` has in front of its value.
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

/// Asks the processor to load the line of a byte, if it is there.
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
    fn a_hint_is_at_the_value_it_was_made_of() {
        let values = [[1_u8; 40], [2; 40], [3; 40]];
        let hint = PrefetchHint::of_slice(&values);
        assert_eq!((hint.start, hint.count()), (ptr::from_ref(&values).addr(), 3));
        let (third, same) = (hint.at(2), PrefetchHint::of(&values[2]));
        assert_eq!((third.start, third.count()), (same.start, 1));
    }

    #[test]
    fn a_hint_at_a_weak_pointer_begins_with_its_counts_and_outlives_the_value() {
        let value = Arc::new([7_u64; 20]);
        let hint = PrefetchHint::of_weak(&Arc::downgrade(&value));
        assert_eq!(hint.start, Arc::as_ptr(&value).addr() - 2 * size_of::<usize>());
        hint.prefetch();
        drop(value);
        hint.prefetch();
    }
}
