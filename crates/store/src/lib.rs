//! An embedded HBase-style store: one region in one directory.
//!
//! Cells have a row, a family, a qualifier and a timestamp. Writes go to a log and a memstore;
//! flushes write the memstore to immutable store files in HBase's format, HFile v3. A read asks the
//! filter of each file before it reads a block.
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
//! A write is acknowledged once it has its [`Durability`]. A batch is atomic. After a crash,
//! recovery replays a prefix of the log; damage inside the log is an error and never drops writes
//! silently.
//!
//! # Options
//!
//! Each setting of an option type is a public field, and the method of the same name sets it:
//! `options.versions` is the number of versions, `options.versions(3)` returns options with 3.

mod checksum;
mod clock;
mod error;
mod family_settings;
mod files;
mod health;
mod inspect;
mod maintenance;
mod memstore;
mod options;
mod read;
mod stats;
mod store;
mod sync;
mod telemetry;
pub mod vfs;
mod write;

pub use clock::Clock;
pub use error::{Error, Result};
pub use files::manifest::FILE_ID_KEY;
pub use files::names::check_hbase_family;
pub use files::region_files::RegionFiles;
pub use inspect::{Part, PartKind, Problem, Step, salvage, verify};
pub use maintenance::export::Export;
pub use maintenance::import::ImportOptions;
pub use options::{
    CompactionOptions, Durability, FamilyOptions, KeepDeletedCells, OffPeak, StoreOptions,
};
pub use read::explain::{Explanation, FamilyExplanation, FileExplanation, FileFate};
pub use read::query::{Get, Scan};
pub use read::rules;
pub use read::scan::Cells;
pub use read::snapshot::Snapshot;
pub use stats::{FamilyStats, FilterProblem, Stats};
pub use store::{Keys, Pairs, Store};
pub use write::mutation::{Delete, Put, WriteBatch};
pub use write::read_modify_write::{Append, CheckAndMutate, CompareOperator, Increment};

pub use sstable::{Cell, CellRef, CellType, ReadTrace, SequenceId, Timestamp};

/// The example of the README, as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
