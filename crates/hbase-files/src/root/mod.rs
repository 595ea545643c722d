//! Root directories of HBase and the directories below them, by path.
//!
//! `root_directory.rs` opens a root directory, which has the tables and snapshots. `listing.rs` finds the store files
//! below any directory; `place.rs` tells what such a directory is.

mod listing;
mod place;
mod root_directory;

pub use self::listing::{Listing, Skipped};
pub use self::place::Place;
pub use self::root_directory::{RootDirectory, SnapshotList};
