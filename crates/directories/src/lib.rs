//! Apache HBase's file names and directory trees.
//!
//! HBase keeps the files of a table in `ROOT/data/NAMESPACE/TABLE/REGION/FAMILY`. Not every file there
//! is an HFile: after a split, a region has references to halves of its parent's files; a cloned table
//! has links to files of the original. Not every file counts: with a store file tracker, only the files
//! of its list do. This crate lists the store files that count, and opens the HFiles that have their
//! cells.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use directories::{Listing, LocalTree, StoreFileReader};
//! use sstable::{FileName, ReaderOptions};
//!
//! let tree = LocalTree;
//! let listing = Listing::read(&tree, Path::new("hbase/data/default/users"))?;
//! for entry in &listing.entries {
//!     let location = entry.locate(&tree)?;
//!     let name = FileName::new(entry.path.display().to_string());
//!     let file = StoreFileReader::open(&tree, &location, name, ReaderOptions::default())?;
//!     let mut cells = file.bulk_scanner();
//!     cells.seek_to_first()?;
//!     while let Some(cell) = cells.cell() {
//!         println!("{cell:?}");
//!         cells.advance()?;
//!     }
//! }
//! for skipped in &listing.skipped {
//!     println!("{} {}", skipped.path.display(), skipped.reason.description());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The names are types with [`FromStr`](std::str::FromStr) and `Display`: [`HFileName`],
//! [`MobFileName`], [`HFileLink`], [`ReferenceName`], and [`StoreFileName`] for any of them.
//!
//! All access to files goes through a [`FileTree`]; [`LocalTree`] is the local file system.
//!
//! The module [`wal`] reads write-ahead logs.
//!
//! Directories may come from outside. Damaged, hostile and missing files are errors. No input causes
//! an endless loop, and every allocation has a limit.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

mod contents;
mod entry;
mod error;
mod listing;
mod location;
mod names;
mod place;
mod reader;
mod tracker;
mod tree;
pub mod wal;

pub use entry::{Entry, EntryKind, identify};
pub use error::{Error, Result};
pub use listing::{Listing, Skipped};
pub use location::Location;
pub use names::other::SkipReason;
pub use names::{
    DataFileName, HFileLink, HFileName, InvalidName, MobFileName, ReferenceName, ReferredName,
    RegionName, StoreFileName, TableName,
};
pub use place::Place;
pub use reader::{CellScanner, StoreFileReader};
pub use tracker::{TrackedFile, TrackedFiles};
pub use tree::{FileTree, Item, ItemKind, LocalTree};
