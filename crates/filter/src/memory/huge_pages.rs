//! Huge pages of Linux, and their absence elsewhere.
//!
//! Anonymous memory is asked for in whole, and the system is told that 2 MiB pages would serve it
//! better (`madvise`, `MADV_HUGEPAGE`): it obeys where transparent huge pages are set to `madvise`, its
//! default, or to `always`. Only the whole huge pages are named, so that the last part of a filter
//! takes as many small ones as it fills.

#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
mod system {
    use core::ops::{Deref, DerefMut};

    use memmap2::{Advice, MmapMut};

    /// Bytes of a huge page on `x86_64`, and on `aarch64` with pages of 4 KiB.
    const HUGE_PAGE_LEN: usize = 2 << 20;

    /// Memory straight from the system, all zero.
    #[derive(Debug)]
    pub(in super::super) struct HugePages(MmapMut);

    impl HugePages {
        /// So many bytes from the place that is told, if they fill a huge page and can be had.
        pub(in super::super) fn zeroed(len: u64) -> Option<(Self, usize)> {
            let len = usize::try_from(len).ok().filter(|len| *len >= HUGE_PAGE_LEN)?;
            // What stands before the first huge page is never touched, and so takes no memory.
            let pages = MmapMut::map_anon(len.checked_add(HUGE_PAGE_LEN)?).ok()?;
            let start = pages.as_ptr().align_offset(HUGE_PAGE_LEN).min(HUGE_PAGE_LEN);
            // A system that has no huge pages refuses, and has given memory all the same.
            let whole = len - len % HUGE_PAGE_LEN;
            let _ = pages.advise_range(Advice::HugePage, start, whole);
            Some((Self(pages), start))
        }
    }

    impl Deref for HugePages {
        type Target = [u8];

        #[inline]
        fn deref(&self) -> &[u8] {
            &self.0
        }
    }

    impl DerefMut for HugePages {
        #[inline]
        fn deref_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }
}

#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
mod system {
    use core::ops::{Deref, DerefMut};

    /// There are none.
    #[derive(Debug)]
    pub(in super::super) enum HugePages {}

    impl HugePages {
        pub(in super::super) fn zeroed(_len: u64) -> Option<(Self, usize)> {
            None
        }
    }

    impl Deref for HugePages {
        type Target = [u8];

        fn deref(&self) -> &[u8] {
            match *self {}
        }
    }

    impl DerefMut for HugePages {
        fn deref_mut(&mut self) -> &mut [u8] {
            match *self {}
        }
    }
}

pub(super) use system::HugePages;
