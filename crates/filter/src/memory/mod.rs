//! Memory of filters: allocation that can fail, cache-line alignment, huge pages.
//!
//! | file         | idea                                                              |
//! |--------------|-------------------------------------------------------------------|
//! | `aligned`    | [`AlignedBytes`], the type that filters and their users hold      |
//! | `storage`    | where aligned bytes are: on the heap, or in huge pages            |
//! | `huge_pages` | huge pages of Linux; elsewhere there are none                     |
//! | `allocate`   | vectors whose allocation fails with an error                      |

mod aligned;
mod allocate;
mod huge_pages;
mod storage;

pub use aligned::AlignedBytes;
pub(crate) use allocate::allocate;
