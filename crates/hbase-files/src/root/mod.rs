//! Root directories of HBase, and any directory below one, by path.
//!
//! Two doors lead to store files. [`RootDirectory::table`] finds the files of a table as HBase would, with `hbase:meta`
//! and the schema: the folder `table_reader` does that. [`Listing`] finds the files below any directory, also of a
//! copy without a root.
//!
//! | to find                                                    | file                  |
//! |------------------------------------------------------------|-----------------------|
//! | the tables and snapshots of a root directory               | `root_directory.rs`   |
//! | the store files below a directory                          | `listing.rs`          |
//! | what a directory is: a root, a table, a family, …          | `directory_kind.rs`   |
//! | the regions of a listing that a split or a merge replaced  | `replaced_regions.rs` |
//! | the files of a listing that a compaction replaced          | `compacted.rs`        |
//! | the root directory that a path is in                       | `root_path.rs`        |
//! | tables that are gone, but have files in the archive        | `former_table.rs`     |
//! | layouts that are refused                                   | `other_layouts.rs`    |

mod compacted;
mod directory_kind;
mod former_table;
mod listing;
mod other_layouts;
mod replaced_regions;
mod root_directory;
mod root_path;

pub use self::compacted::split_off_compacted;
pub use self::directory_kind::DirectoryKind;
pub use self::former_table::FormerTable;
pub use self::listing::{Listing, Skipped};
pub use self::replaced_regions::{ReplacedRegion, split_off_replaced};
pub use self::root_directory::{RootDirectory, SnapshotList};
