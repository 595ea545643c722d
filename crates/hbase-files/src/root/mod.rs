//! Root directories of HBase and the directories below them, by path.
//!
//! `root_directory.rs` opens a root directory, which has the tables and snapshots. `listing.rs` finds the store files
//! below any directory; `directory_kind.rs` tells what such a directory is, `replaced.rs` which of its regions were
//! split or merged, `compacted.rs` which of its files a compaction replaced, and `root_path.rs` which root directory a
//! path is in.
//! `former_table.rs` finds tables of which only archived files or recovered edits are left. `other_layouts.rs` refuses what is not read.

mod compacted;
mod directory_kind;
mod former_table;
mod listing;
mod other_layouts;
mod replaced;
mod root_directory;
mod root_path;

pub use self::compacted::split_off_compacted;
pub use self::directory_kind::DirectoryKind;
pub use self::former_table::FormerTable;
pub use self::listing::{Listing, Skipped};
pub use self::replaced::{ReplacedRegion, split_off_replaced};
pub use self::root_directory::{RootDirectory, SnapshotList};
