//! Approximate-membership filters: "certainly not in this set" or "maybe".
//!
//! A store whose data is in many files asks the filter of each file before it reads the file. The
//! filter takes a few bits per key and answers "not in this file" or "maybe". A key that was
//! inserted always gets "maybe". An absent key gets "maybe" at a rate that is chosen when the
//! filter is sized.
//!
//! ```
//! use filter::{Blocked, Sizing};
//!
//! // For 10,000 keys, with one false positive in a hundred absent keys: about ten bits per key.
//! let mut rows = Blocked::new(Sizing::error_rate(0.01)?, 10_000)?;
//! for row in 0..10_000 {
//!     rows.insert(&format!("row{row}"))?;
//! }
//! assert!(rows.may_contain("row17"));
//!
//! let absent = (0..10_000).map(|row| format!("other{row}"));
//! let false_positives = absent.filter(|row| rows.may_contain(row)).count();
//! assert!(false_positives < 150, "{false_positives} of 10,000");
//! assert!(rows.stats().bits_per_key() < 10.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to go
//!
//! All kinds but [`hbase`] and [`ParquetBloom`] have the same constructors and methods. Arguments
//! have one order: a kind's own parameters, then the [`Sizing`], then the keys or their number, then
//! the seed. A [`Key`] is bytes or text.
//!
//! | to …                        | call |
//! |-----------------------------|------|
//! | start empty                 | `Kind::new(sizing, key_count)`; all but static kinds |
//! | build from all keys         | `Kind::build(sizing, &hashes)`, with [`SeededHashes`] |
//! | choose a kind at run time   | [`FilterKind::build`]`(sizing, &hashes)`; `"ribbon".parse()` |
//! | choose the seed             | `Kind::with_seed(sizing, key_count, seed)` |
//! | set a kind's own parameters | `with_…` and `build_with` of [`Classic`], [`Cuckoo`], [`DLeft`], [`BinaryFuse`] |
//! | plan without building       | [`plan`]`(kind, sizing, key_count)`; `plan_with_…` of [`Cuckoo`], [`DLeft`] |
//! | check a setting             | [`FilterKind::check_sizing`], without a number of keys |
//! | add, look up, remove        | `insert`, `may_contain`, `remove` |
//! | look up many keys           | `may_contain_batch`, with [`SeededHashes`] |
//! | look up in many filters     | `hash`, once; then `may_contain` with the [`SeededHash`] |
//! | make room for more keys     | `grow(sizing, key_count, keys)` of [`Cuckoo`] |
//! | count the copies of a key   | `copies` of [`CountingBloom`], [`DLeft`], [`Cuckoo`] |
//! | get size and error rate     | `stats`, before a build [`plan`] |
//! | unite two filters           | `union` of [`CountingBloom`] |
//! | save                        | `to_stored()` |
//! | query saved bytes in place  | [`StoredFilter::parse`] |
//! | change a saved filter       | `from_stored(&stored)` of kinds with `remove` |
//! | share a budget among files  | [`allocate_bits`] |
//! | know what a filter costs    | [`theory`]: formulas for size and error rate |
//! | read filters of Guava, Hadoop, Go | the crate `foreign-filters` |
//!
//! # Kinds
//!
//! | filter            | bits per key at 1 % | use                                           |
//! |-------------------|--------------------:|-----------------------------------------------|
//! | [`Blocked`]       |                 9.9 | the fast default: one cache line per lookup   |
//! | [`SplitBlock`]    |                10.5 | faster lookups                                |
//! | [`Ribbon`]        |                 6.7 | static; the fewest bits                       |
//! | [`BinaryFuse`]    |                 8.6 | static; fast lookups in few bits              |
//! | [`Classic`]       |                 9.6 | fewer bits, several cache lines per lookup    |
//! | [`Cuckoo`]        |                10.4 | keys can be removed                           |
//! | [`DLeft`]         |                16.0 | keys can be removed and counted               |
//! | [`CountingBloom`] |                43.4 | keys can be removed and counted               |
//! | [`ParquetBloom`]  |                10.5 | the Bloom filter of a column in Parquet       |
//! | [`hbase`]         |                 9.6 | the Bloom filter in HBase's files             |
//!
//! The bits per key are those of a million keys. A static filter is built once, from all keys.
//!
//! # Seeds
//!
//! A filter hashes its keys with a seed. `new` draws a random one, so that nobody can choose keys
//! that collide. The stored form has the seed, so a filter that is read back hashes as before.
//!
//! Filters with one seed share the hash of a key: a [`SeededHash`] is computed once, for all of
//! them. If a hash and a filter have different seeds, the filter panics. It does not answer "no",
//! which would be a false negative.
//!
//! # A filter in front of a database
//!
//! Ask the filter before the database: most queries for keys that do not exist are then not sent.
//!
//! ```
//! use filter::{Blocked, Sizing, StoredFilter};
//! # let database = std::collections::HashMap::from([("ada@example.org", 1815)]);
//! # let query = |mail: &str| database.get(mail).copied();
//!
//! let mut known = Blocked::new(Sizing::error_rate(0.001)?, 1_000_000)?;
//! for mail in database.keys() {
//!     known.insert(mail)?;
//! }
//! let bytes = known.to_stored(); // Save these bytes; they have the seed and a checksum.
//!
//! let known = StoredFilter::parse(bytes)?; // After a restart.
//! let find = |mail: &str| if known.may_contain(mail) { query(mail) } else { None };
//! assert_eq!(find("ada@example.org"), Some(1815));
//! assert_eq!(find("nobody@example.org"), None); // In 999 of 1,000 cases without a query.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Insert a new key into the filter before the database, so that no reader misses it. If rows are
//! deleted, use a kind with `remove`, and remove a key after its row:
//!
//! ```
//! use filter::{Cuckoo, Sizing, StoredFilter};
//!
//! let sizing = Sizing::error_rate(0.001)?;
//! let mut database = Vec::new();
//! let mut known = Cuckoo::new(sizing, 1_000)?;
//! for mail in (0..5_000).map(|n| format!("user{n}@example.org")) {
//!     if known.insert(&mail).is_err() {
//!         known.grow(sizing, known.len() * 2, &database)?; // Full. A larger filter needs all keys.
//!         known.insert(&mail)?;
//!     }
//!     database.push(mail);
//! }
//! let gone = database.swap_remove(7);
//! known.remove(&gone)?;
//!
//! // A saved filter of such a kind can be changed again.
//! let stored = StoredFilter::parse(known.to_stored())?;
//! let mut known = Cuckoo::from_stored(&stored)?;
//! assert_eq!(known.len(), 4_999);
//! known.insert(&gone)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`CountingBloom`] is never full: with more keys than planned, its error rate rises. [`DLeft`] is
//! built anew.
//!
//! # Without `std`
//!
//! The crate then needs only `alloc`. It lacks [`Seed::random`] and `new`, HBase's
//! optional Murmur3 hash, huge pages, and the detection of AVX2 and AVX-512 at run
//! time: a lookup in a filter whose keys use one cache line takes three to five times as long,
//! unless the build has these instructions (`RUSTFLAGS="-C target-cpu=native"`).
#![cfg_attr(not(feature = "std"), no_std)]
extern crate alloc;

mod allocation;
mod bisect;
mod bloom;
mod counting;
mod cuckoo;
mod dleft;
mod error;
mod fuse;
mod hash;
#[warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]
mod header;
#[expect(
    clippy::inline_always,
    reason = "an operation is inlined into its loop, or the loop is compiled without its instructions"
)]
mod kernel;
mod kinds;
mod membership;
mod memory;
mod methods;
mod partition;
mod ribbon;
mod sizing;
mod sizing_check;
mod stored;
mod stored_view;
pub mod theory;

pub use allocation::allocate_bits;
pub use bloom::{Blocked, Classic, ParquetBloom, SplitBlock, hbase};
pub use counting::{CountingBloom, UnionError};
pub use cuckoo::Cuckoo;
pub use dleft::{CounterBits, DLeft, DLeftOptions};
pub use error::{Absent, BuildError, FormatError, Full};
pub use fuse::{BinaryFuse, FuseBits};
pub use hash::{Key, Seed, SeededHash, SeededHashes};
pub use kinds::{FilterKind, UnknownKind, plan};
pub use membership::FilterStats;
pub use ribbon::Ribbon;
pub use sizing::{ErrorRate, InvalidErrorRate, Sizing};
pub use sizing_check::UnusableSizing;
pub use stored::StoredFilter;
pub use theory::static_filters::FuseArity;

/// What only the crates above need: key hashes without a seed, traits over the kinds, prefetches.
///
/// A storage engine hashes a key once for the filters of all its files, and keeps one seed for them.
/// The items may change in any release.
#[doc(hidden)]
pub mod engine {
    pub use crate::bloom::hbase_ribbon::RibbonChunk;
    pub use crate::hash::KeyHash;
    pub use crate::header::HEADER_LEN;
    pub use crate::kernel::prefetch;
    pub use crate::kinds::{KindVisitor, build};
    pub use crate::membership::{Insert, Membership, Remove};
    pub use crate::memory::AlignedBytes;
}

/// The examples of the README, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
