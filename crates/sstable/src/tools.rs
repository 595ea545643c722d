//! What the other crates of this project need beside the public API. Nothing here is stable.
//!
//! | item                                                | for                                                  |
//! |-----------------------------------------------------|------------------------------------------------------|
//! | [`writer_options`], [`writer_options_of_damaged`]   | writing the cells of a file again, in the same way   |
//! | [`rebuild_filter`], [`FileInfoChange`]              | a copy of a file with another row filter             |
//! | [`BlockContents`], [`BlockFirstKey`]                | a list of the blocks of a file                       |
//! | [`unload_filters`], [`load_pinned_filters`]         | files whose filters a family map replaces            |
//! | [`FileInCache`], [`Reservation`], [`ReadCounters`]  | the cache and the counters of a store                |
//! | [`NewFiles`], [`PendingFile`], [`LocalFiles`]       | files that get their name once they are on disk      |
//! | [`PooledFile`], [`OpenFilesLimit`] and functions    | more files than the process may have open            |
//! | [`OwnProcess`]                                      | threads and locks after a fork                       |

pub use crate::cache::{FileInCache, Reservation};
pub use crate::file::block_contents::{BlockContents, BlockFirstKey};
pub use crate::own_process::OwnProcess;
pub use crate::source::{OpenFilesLimit, PooledFile, close_some_files, raise_descriptors_max};
pub use crate::trace::ReadCounters;
pub use crate::write::inferred_options::{writer_options, writer_options_of_damaged};
pub use crate::write::new_files::{LocalFiles, NewFiles, PendingFile, TEMPORARY_SUFFIX};
pub use crate::write::rebuild::{FileInfoChange, rebuild_filter};

use crate::lookup::LookupFile;
use crate::reader::Reader;

/// Removes the row filter of a file from memory, which gives its bytes back to the budget of the cache.
///
/// For a file whose filter a family map replaces ([`MapAnswer`](crate::lookup::MapAnswer)). The next
/// lookup or scan that asks the filter loads it again. Keeps a filter over columns or over
/// prefixes of rows, which a map does not replace. Elements of [`Reader::lookup_file`] that were made
/// before, and [`Reader::row`] if it was called before, hold the filter until they are dropped.
pub fn unload_filters(reader: &Reader) {
    reader.file().unload_filters();
}

/// Loads the filters of a file if its reader's options pin them: they stay in memory.
///
/// Opening a file does the same; only needed after [`unload_filters`]. Ignores errors: a lookup that needs
/// an unreadable filter counts it.
pub fn load_pinned_filters(file: &LookupFile) {
    if file.file.blocks.pin_filters {
        file.filter.load(&file.file.blocks);
    }
}
