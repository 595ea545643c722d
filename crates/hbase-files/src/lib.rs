//! Apache HBase's tables, snapshots, store files and write-ahead logs, read without HBase.
//!
//! The files are read as HBase reads them: links and references are resolved, leftovers skipped, and
//! the cells of a table merged by HBase's rules.
//!
//! ```
//! use std::path::Path;
//!
//! use hbase_files::{Listing, LocalTree};
//!
//! # let table = "testdata/t1";
//! let listing = Listing::read(&LocalTree, Path::new(table))?; // Of a table, a region or a family.
//! for entry in &listing.entries {
//!     println!("{}", entry.path.display()); // HFiles, links and references that count.
//! }
//! assert!(!listing.entries.is_empty());
//! # Ok::<(), hbase_files::Error>(())
//! ```
//!
//! # Where to go
//!
//! | to read                                     | use                                       |
//! |---------------------------------------------|-------------------------------------------|
//! | a snapshot or a table, as HBase shows it    | [`RootDirectory`], [`Table::scan`], [`Table::get`] |
//! | what is missing or damaged                  | [`Table::check`], the module [`verify`]   |
//! | new lists for store file trackers           | the module [`tracker_lists`]              |
//! | single store files of any directory         | [`Listing`], [`StoreFileReader`]          |
//! | the cells of one store file                 | [`StoreFileCells`]                        |
//! | a part of a table in another process        | [`Table::splits`], [`ScanSplit`]          |
//! | write-ahead logs                            | the module [`wal`]                        |
//! | names of files, regions and tables          | [`StoreFileName`], [`RegionName`], [`TableName`] |
//! | files elsewhere than on a local disk        | [`FileTree`]                              |
//!
//! # Tables and snapshots
//!
//! A scan merges the store files of each region by HBase's rules: versions, delete markers, TTLs,
//! values in MOB files, and on request the cells that are only in write-ahead logs.
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use hbase_files::{LocalTree, RootDirectory, TableScan};
//!
//! let root = RootDirectory::open(Arc::new(LocalTree), Path::new("hbase"))?;
//! let snapshot = root.snapshot("users-monday")?;
//! let mut cells = snapshot.table.scan(&TableScan::default().prefix("user1"))?;
//! while let Some(cell) = cells.next_ref()? {
//!     println!("{cell:?}");
//! }
//! # Ok::<(), hbase_files::Error>(())
//! ```
//!
//! # Store files
//!
//! HBase keeps the files of a table in `ROOT/data/NAMESPACE/TABLE/REGION/FAMILY`. Not every file
//! there is an HFile: after a split, a region has references to halves of its parent's files; a
//! cloned table has links to files of the original. Not every file counts: with a store file
//! tracker, only the files of its list do, and the files of a region that was split do not. [`Listing`] has
//! the store files that count, and [`StoreFileReader`] opens the HFiles that have their cells.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use hbase_files::{Listing, LocalTree, StoreFileReader};
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
//! for problem in &listing.problems {
//!     eprintln!("{problem}"); // The listing is incomplete: a part could not be read.
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The half of a reference
//!
//! The name of a reference names a file of another region; its contents say which half of that file
//! counts, and where it is split. [`ListedFile::locate`] reads both. The reader has only the cells of the
//! half:
//!
//! ```
//! use hbase_files::{EntryKind, Listing, LocalTree, StoreFileReader};
//! use sstable::{Caching, FileName, Half, ReaderOptions};
//!
//! # let family = "testdata/t1/77a347dcd3a699aadaaa702b08393620/f1";
//! # let family = std::path::Path::new(family);
//! let listing = Listing::read(&LocalTree, family)?; // Of a region that a split made.
//! let is_reference = |kind: &EntryKind| matches!(kind, EntryKind::Reference { .. });
//! let entry = listing.entries.iter().find(|entry| is_reference(&entry.kind)).expect("a reference");
//!
//! let location = entry.locate(&LocalTree)?;
//! let half = location.half.as_ref().expect("a reference has one");
//! assert_eq!(half.half(), Half::Top); // The rows from the split on.
//!
//! let name = FileName::new(entry.path.display().to_string());
//! let file = StoreFileReader::open(&LocalTree, &location, name, ReaderOptions::default())?;
//! let mut cells = file.scanner(Caching::Use);
//! cells.seek_to_first()?;
//! let first = cells.cell().expect("the half has cells");
//! assert!(first.row >= b"row-01500".as_slice());
//! assert!(file.whole().first_row() < Some(b"row-01500")); // Of the whole file.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Names
//!
//! The names are types with [`FromStr`](std::str::FromStr) and `Display`: [`HFileName`],
//! [`MobFileName`], [`HFileLink`], [`ReferenceName`], and [`StoreFileName`] for any of them.
//!
//! All access to files goes through a [`FileTree`]; [`LocalTree`] is the local file system.
//!
//! Directories may come from outside. Damaged, hostile and missing files are errors. No input causes
//! an endless loop, and every allocation has a limit.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

mod error;
mod history;
mod message;
mod names;
mod root;
mod scan;
mod snapshot;
mod table;
mod table_reader;
pub mod tracker_lists;
mod tree;
pub mod verify;
pub mod wal;
mod warning;

pub use error::{Error, Result};
pub use names::skip_reason::SkipReason;
pub use names::{
    DataFileName, HFileLink, HFileName, InvalidName, MobFileName, ReferenceName, ReferredName,
    RegionName, StoreFileName, TableName,
};
pub use root::{
    DirectoryKind, FormerTable, Listing, ReplacedRegion, RootDirectory, Skipped, SnapshotList,
    split_off_compacted, split_off_replaced,
};
pub use scan::{
    FamilyColumns, MissingCells, MobValues, OldLogCells, ScanSplit, SplitCells, SplitPlan,
    StoreFileCells, TableCells, TableScan, TornLog, UnflushedCells,
};
pub use snapshot::{Snapshot, SnapshotDescription, SnapshotKind};
pub use table::{
    CellScanner, EntryKind, Family, FamilySchema, FileSequence, LeftOut, LeftOutReason, ListedFile,
    Location, Region, RegionInfo, RegionsBy, StoreFile, StoreFileReader, Table, TableSchema,
    TrackedFile, TrackedFiles, identify, split_rows,
};
pub use tree::{FileTree, Item, ItemKind, LocalTree};
pub use warning::Warning;

/// The examples of the README, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
