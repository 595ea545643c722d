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
//! # Where to go
//!
//! | to …                                     | use                                                  |
//! |------------------------------------------|------------------------------------------------------|
//! | write                                    | [`Store::put`], [`Store::delete`], [`WriteBatch`]    |
//! | count, append, write if                  | [`Increment`], [`Append`], [`CheckAndMutate`]        |
//! | read a row, or a range                   | [`Store::get`], [`Store::scan`]                      |
//! | read one state of the store              | [`Store::snapshot`], [`Store::open_read_only`]       |
//! | use it as a map of keys and values       | [`Store::create_map`], [`Store::map`]                |
//! | choose versions, TTL, filters, codecs    | [`FamilyOptions`], [`Store::alter_family`]           |
//! | choose what survives a crash             | [`Durability`]                                       |
//! | know what a read cost                    | [`Store::get_traced`], [`Store::explain`], [`Store::stats`] |
//! | merge files                              | [`Store::compact`]; in the background by default     |
//! | write to disk what is in memory          | [`Store::flush`], [`Store::close`]                   |
//! | exchange files with HBase                | [`Store::import`], [`Store::export`]                 |
//! | back up                                  | [`Store::checkpoint`]                                |
//! | check the files                          | [`Store::check_files`]                               |
//! | repair                                   | the commands `hfile store verify` and `salvage`      |
//! | run on another file system or clock      | [`vfs`], [`Clock`]                                   |
//!
//! # Families, batches and scans
//!
//! A family has its own files and settings: how many versions are kept, for how long, and with which
//! filter. A [`WriteBatch`] is atomic over rows and families.
//!
//! ```
//! use std::time::Duration;
//!
//! use filter::{ErrorRate, FilterKind, Sizing};
//! use store::{
//!     Durability, FamilyOptions, Get, Put, Scan, Store, StoreOptions, Timestamp, WriteBatch,
//! };
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let store = Store::open(directory, StoreOptions::default())?;
//! let one_percent = Sizing::ErrorRate(ErrorRate::new(0.01)?);
//! let user = FamilyOptions::default().filter(FilterKind::BlockedBloom, one_percent);
//! store.create_family("user", user)?;
//! let hour = Duration::from_secs(3600);
//! store.create_family("session", FamilyOptions::default().ttl(Some(hour)))?;
//!
//! // All of a batch is written, or nothing. `Synced` survives a power failure.
//! let mut batch = WriteBatch::new();
//! batch.put(Put::new("ada").column("user", "name", "Ada").column("session", "token", "s1"));
//! let year_2020 = Timestamp::new(1_577_836_800_000);
//! batch.put(Put::new("alan").column_at("session", "token", year_2020, "s0"));
//! batch.put(Put::new("bob").column("user", "name", "Bob"));
//! store.write(batch, Durability::Synced)?;
//!
//! // A session of the year 2020 is older than its TTL, so no read returns it.
//! assert!(store.get(&Get::row("alan"))?.is_empty());
//!
//! // A scan iterates over the cells of one family, in the order of the rows.
//! let mut names = Vec::new();
//! for cell in store.scan(Scan::family("user").start("a").stop("c"))? {
//!     names.push(String::from_utf8(cell?.into_value())?);
//! }
//! assert_eq!(names, ["Ada", "Bob"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # One writer, many readers
//!
//! One process opens a store with [`Store::open`], which takes its lock. Any process can open it
//! with [`Store::open_read_only`], without a lock and without a change to a file, and sees the store
//! as of that time. Within a process, threads share a [`Store`], and a [`Snapshot`] keeps its view.
//!
//! ```
//! use store::{Error, FamilyOptions, Get, Put, Store, StoreOptions};
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let store = Store::open(directory, StoreOptions::default())?;
//! store.create_family("f", FamilyOptions::default())?;
//! store.put(Put::new("row1").column("f", "q", "first"))?;
//!
//! let reader = Store::open_read_only(directory, StoreOptions::default())?;
//! let snapshot = store.snapshot();
//! store.put(Put::new("row1").column("f", "q", "second"))?;
//! assert_eq!(reader.get(&Get::row("row1"))?[0].value(), b"first");
//! assert_eq!(snapshot.get(&Get::row("row1"))?[0].value(), b"first");
//! let refused = reader.put(Put::new("row1").column("f", "q", "third"));
//! assert!(matches!(refused, Err(Error::ReadOnly { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is counted
//!
//! Each get can return what it cost: files considered and skipped, by range, by time and by filter;
//! false positives; blocks and bytes by kind, from the cache and from files. [`Store::stats`] has
//! the same counters for the reads of each family since the store was opened, and [`Stats::reads`]
//! their sum. [`Store::explain`] tells what one get costs for each file.
//!
//! ```
//! use store::{FamilyOptions, Get, Put, Store, StoreOptions};
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let store = Store::open(directory, StoreOptions::default().auto_compaction(false))?;
//! store.create_family("f", FamilyOptions::default())?;
//! for row in ["row1", "row3"] {
//!     store.put(Put::new(row).column("f", "q", "value"))?;
//!     store.flush()?; // Each flush writes one file.
//! }
//! let (cells, trace) = store.get_traced(&Get::row("row3"))?;
//! assert_eq!((cells.len(), trace.files_considered, trace.data_blocks()), (1, 2, 1));
//! // By its range, its filter, or the family map, which a background thread makes.
//! let skipped = trace.files_skipped_by_range + trace.files_skipped_by_filter;
//! assert_eq!(skipped + trace.files_skipped_by_map, 1);
//!
//! let stats = store.stats();
//! assert_eq!(stats.flushes, 2);
//! assert_eq!(stats.reads().files_considered, 2);
//! assert_eq!(stats.family("f").map(|family| family.files), Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With the feature `metrics`, times of flushes, compactions, recoveries and stalls go to the
//! program's recorder, and `Stats::record_metrics` adds the counters: see the example `prometheus`. With
//! `tracing`, they are spans.
//!
//! # Durability
//!
//! A write is acknowledged once it has its [`Durability`]. A batch is atomic. After a crash,
//! recovery replays a prefix of the log; damage inside the log is an error and never drops writes
//! silently. [`Store::close`] returns the errors that a drop of the store ignores.
//!
//! # Options
//!
//! Options begin with `default()`, and a method sets each setting. [`Store::family`] returns the options
//! of a family, [`Store::alter_family`] replaces them, and [`Store::drop_family`] removes a family.
//!
//! ```
//! use std::time::Duration;
//!
//! use store::{FamilyOptions, Store, StoreOptions};
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let store = Store::open(directory, StoreOptions::default())?;
//! store.create_family("session", FamilyOptions::default().versions(3))?;
//! let session = store.family("session").expect("created above");
//! assert_eq!(session.retention().versions, 3);
//! store.alter_family("session", session.ttl(Some(Duration::from_secs(600))))?;
//! store.drop_family("session")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checksum;
mod error;
mod family_map;
mod family_settings;
mod files;
mod health;
mod inspect;
mod maintenance;
mod memstore;
#[cfg(feature = "metrics")]
mod metrics;
mod options;
mod process;
mod read;
mod stats;
mod store;
mod sync;
mod telemetry;
#[doc(hidden)]
pub mod tools;
pub mod vfs;
mod write;

pub use error::{Error, Result};
pub use family_map::mode::{MapMode, MapStats};
pub use maintenance::export::Export;
pub use maintenance::import::{Age, ImportOptions};
pub use options::{CompactionOptions, Durability, FamilyOptions, StoreOptions};
pub use read::explain::{Explanation, FamilyExplanation, FileExplanation, FileFate};
pub use read::merged_scans::MergedScans;
pub use read::query::{Get, Scan};
pub use read::scan::ScanCells;
pub use read::snapshot::Snapshot;
pub use stats::{FamilyStats, FilterProblem, SnapshotStats, Stats};
pub use store::{CheckedFile, CompactionKind, KeyValue, KeyValueMap, Pairs, Store};
pub use write::mutation::{Delete, Put, WriteBatch};
pub use write::read_modify_write::{Append, CheckAndMutate, CompareOperator, Increment};

pub use cells::{Clock, KeepDeletedCells};
pub use sstable::{Cell, CellRef, CellType, ReadTrace, SequenceId, Timestamp};

/// The examples of the README, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
