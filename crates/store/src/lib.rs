//! An HBase-style store to embed: a region cut to one directory.
//!
//! Cells have a row, a family, a qualifier and a timestamp. Writes go to a log and a memstore, and
//! from there to immutable store files, which are HBase's own (HFile v3). A read asks the filter
//! of each file before it touches a block of it.
//!
//! ```
//! use store::{FamilyOptions, Get, Put, Store, StoreOptions};
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let store = Store::open(directory, StoreOptions::default())?;
//! store.create_family("f", FamilyOptions::default().versions(3))?;
//! store.put(Put::new("row1").column("f", "name", "Ada"))?;
//!
//! let cells = store.get(&Get::row("row1"))?;
//! assert_eq!(cells[0].value(), b"Ada");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Durability
//!
//! A write is acknowledged once it is as safe as its [`Durability`] says. A batch is written whole
//! or not at all, and what a crash leaves is a prefix of the log. Damage inside the log is an
//! error, never a silent cut.

mod background;
mod candidates;
mod change;
mod checkpoint;
mod clock;
mod compaction;
mod error;
mod explain;
mod export;
mod family_name;
mod files;
mod filters;
mod flush;
mod identity;
mod import;
mod inspect;
mod keys;
mod manifest;
mod memstore;
mod merge;
mod mutation;
mod new_file;
mod options;
mod pieces;
mod query;
mod read;
mod region_files;
mod row_head;
mod rules;
mod scan;
mod sequence;
mod snapshot;
mod stats;
mod store;
mod store_file;
mod sync;
mod unfinished;
mod version;
pub mod vfs;
mod wal;
mod watch;
mod write;

pub use change::{Append, CheckAndMutate, CompareOperator, Increment};
pub use clock::Clock;
pub use compaction::CompactionOptions;
pub use error::{Error, Result};
pub use explain::{Explanation, FamilyExplanation, FileExplanation, FileFate};
pub use export::Export;
pub use family_name::check_hbase_family;
pub use import::ImportOptions;
pub use inspect::{Part, PartKind, Problem, Step, salvage, verify};
pub use keys::{Keys, Pairs};
pub use mutation::{Delete, Put, WriteBatch};
pub use options::{Durability, FamilyOptions, KeepDeletedCells, StoreOptions};
pub use query::{Get, Scan};
pub use region_files::RegionFiles;
pub use scan::Cells;
pub use snapshot::Snapshot;
pub use stats::{FamilyStats, FilterProblem, Stats};
pub use store::Store;

pub use sstable::{Cell, CellRef, CellType, ReadTrace, SequenceId, Timestamp};

/// The example in the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
