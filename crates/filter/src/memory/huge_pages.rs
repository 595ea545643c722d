//! Huge pages on Linux, and a stub elsewhere.
//!
//! The memory is one anonymous mapping, advised to use 2 MiB pages (`madvise`, `MADV_HUGEPAGE`).
//! The advice takes effect if transparent huge pages are set to `madvise`, the default, or to
//! `always`. It covers whole huge pages only, so that the end of a filter takes just the small
//! pages it fills.

#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
mod system {
    use core::ops::{Deref, DerefMut};

    use memmap2::{Advice, MmapMut};

    /// Bytes of a huge page on `x86_64`, and on `aarch64` with pages of 4 KiB.
    const HUGE_PAGE_LEN: usize = 2 << 20;

    /// An anonymous mapping, all zero.
    #[derive(Debug)]
    pub(in super::super) struct HugePages(MmapMut);

    impl HugePages {
        /// Maps memory and returns the offset of the first huge page, from which `len` bytes are
        /// usable.
        ///
        /// `None` if `len` is less than a huge page or the mapping fails.
        pub(in super::super) fn zeroed(len: u64) -> Option<(Self, usize)> {
            let len = usize::try_from(len).ok().filter(|len| *len >= HUGE_PAGE_LEN)?;
            // The bytes before the first huge page are never touched, so they take no memory.
            let pages = MmapMut::map_anon(len.checked_add(HUGE_PAGE_LEN)?).ok()?;
            let start = pages.as_ptr().align_offset(HUGE_PAGE_LEN).min(HUGE_PAGE_LEN);
            // The advice fails on a system without huge pages. The memory is usable nevertheless.
            let advised_len = len - len % HUGE_PAGE_LEN;
            let _ = pages.advise_range(Advice::HugePage, start, advised_len);
            Some((Self(pages), start))
        }
    }

    impl Deref for HugePages {
        type Target = [u8];

        fn deref(&self) -> &[u8] {
            &self.0
        }
    }

    impl DerefMut for HugePages {
        fn deref_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }
}

#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
mod system {
    use core::ops::{Deref, DerefMut};

    /// Uninhabited: there are no huge pages here.
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
