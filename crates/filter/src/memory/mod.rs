//! Memory of filters: fallible allocation, cache-line alignment, huge pages.
//!
//! | file         | content                                                           |
//! |--------------|-------------------------------------------------------------------|
//! | `aligned`    | [`AlignedBytes`], the buffer of filters                           |
//! | `storage`    | the memory of an aligned buffer: heap or huge pages               |
//! | `huge_pages` | huge pages on Linux; a stub elsewhere                             |
//! | `allocate`   | vectors whose allocation can fail                                 |

mod aligned;
mod allocate;
mod huge_pages;
mod storage;

pub use aligned::AlignedBytes;
pub(crate) use allocate::allocate;
