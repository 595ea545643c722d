//! Approximate-membership filters: "certainly not in this set" or "maybe".
//!
//! A store whose data is in many files asks the filter of each file before it reads the file. The
//! filter takes a few bits per key and answers "not in this file" or "maybe". A key that was
//! inserted always gets "maybe". An absent key gets "maybe" at a rate that is chosen when the
//! filter is sized.
//!
//! ```
//! use filter::engine::{KeyHash, Membership, build};
//! use filter::{ErrorRate, FilterKind, Seed, Sizing, StoredFilter};
//!
//! // A key is hashed once; all filters with this seed take the same hash.
//! let seed = Seed::new(0x5eed);
//! let members: Vec<KeyHash> =
//!     (0..10_000).map(|row| KeyHash::new(seed, format!("row{row}").as_bytes())).collect();
//!
//! // One false positive in a hundred absent keys, in about ten bits per key.
//! let sizing = Sizing::ErrorRate(ErrorRate::new(0.01)?);
//! let bytes = build(FilterKind::BlockedBloom, sizing, seed, &members)?;
//!
//! // The bytes go into a file. Parsing them copies nothing.
//! let filter = StoredFilter::parse(bytes.as_slice())?;
//! assert!(members.iter().all(|member| filter.may_contain(*member)));
//!
//! let absent = (0..10_000).map(|row| KeyHash::new(seed, format!("other{row}").as_bytes()));
//! let false_positives = absent.filter(|key| filter.may_contain(*key)).count();
//! assert!(false_positives < 150, "{false_positives} of 10,000");
//! assert!(filter.stats().bits_per_key() < 10.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to go
//!
//! All kinds but [`hbase`] have the same constructors and methods. Arguments have one order: a
//! kind's own parameters, then the [`Sizing`], then the keys.
//!
//! | to …                        | call |
//! |-----------------------------|------|
//! | start empty                 | `Kind::new(sizing, key_count)`; all but static kinds |
//! | build from all keys         | `Kind::build(sizing, &keys)` |
//! | choose a kind at run time   | `build(kind, sizing, seed, &keys)`, `"ribbon".parse()` |
//! | set a kind's own parameters | `with_…` and `build_with` of [`Classic`], [`Cuckoo`], [`DLeft`], [`BinaryFuse`] |
//! | plan without building       | [`plan`]`(kind, sizing, key_count)`; `plan_with_…` of [`Cuckoo`], [`DLeft`] |
//! | check a setting             | [`FilterKind::check_sizing`], without a number of keys |
//! | add, look up, remove        | `insert`, `may_contain`, `remove` |
//! | look up many keys           | `may_contain_batch` |
//! | make room for more keys     | `grow(sizing, key_count, keys)` of [`Cuckoo`] |
//! | count the copies of a key   | `copies` of [`CountingBloom`], [`DLeft`], [`Cuckoo`] |
//! | get size and error rate     | `stats`, before a build [`plan`] |
//! | unite two filters           | `union` of [`CountingBloom`] |
//! | save                        | `to_stored(seed)` |
//! | query saved bytes in place  | [`StoredFilter::parse`] |
//! | change a saved filter       | `from_stored(&stored)` of kinds with `remove` |
//! | share a budget among files  | [`allocate_bits`] |
//! | know what a filter costs    | [`theory`]: formulas for size and error rate |
//! | read filters of Guava, Hadoop, Go | the crate `foreign-filters` |
//!
//! # Kinds
//!
//! | filter                  | bits per key at 1 % | use                                           |
//! |-------------------------|--------------------:|-----------------------------------------------|
//! | [`Blocked`]      |                 9.9 | the fast default: one cache line per lookup   |
//! | [`SplitBlock`]   |                10.5 | faster lookups; Parquet's format              |
//! | [`Ribbon`]              |                 6.7 | static; the fewest bits                       |
//! | [`BinaryFuse`]          |                 8.6 | static; fast lookups in few bits              |
//! | [`Classic`]      |                 9.6 | fewer bits, several cache lines per lookup    |
//! | [`Cuckoo`]              |                10.4 | keys can be removed                           |
//! | [`DLeft`]               |                16.0 | keys can be removed and counted               |
//! | [`CountingBloom`]       |                43.4 | keys can be removed and counted               |
//! | [`hbase`]        |                 9.6 | the Bloom filter in HBase's files             |
//!
//! The bits per key are those of a million keys. A static filter is built once, from all keys.
//!
//! # A filter in front of a database
//!
//! Ask the filter before the database: most queries for keys that do not exist are then not sent.
//!
//! ```
//! use filter::Blocked;
//! use filter::engine::{Insert, KeyHash, Membership};
//! use filter::{ErrorRate, Seed, Sizing, StoredFilter};
//! # let database = std::collections::HashMap::from([("ada@example.org", 1815)]);
//! # let query = |mail: &str| database.get(mail).copied();
//!
//! let seed = Seed::random(); // So that nobody can choose keys that collide.
//! let mut known = Blocked::new(Sizing::ErrorRate(ErrorRate::new(0.001)?), 1_000_000)?;
//! for mail in database.keys() {
//!     known.insert(KeyHash::new(seed, mail.as_bytes()))?;
//! }
//! let bytes = known.to_stored(seed); // Save these bytes; they have a checksum.
//!
//! let known = StoredFilter::parse(bytes)?; // After a restart: the seed is in the bytes.
//! let find = |mail: &str| {
//!     let may_exist = known.may_contain(KeyHash::new(known.seed(), mail.as_bytes()));
//!     if may_exist { query(mail) } else { None }
//! };
//! assert_eq!(find("ada@example.org"), Some(1815));
//! assert_eq!(find("nobody@example.org"), None); // In 999 of 1,000 cases without a query.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Insert a new key into the filter before the database, so that no reader misses it. If rows are
//! deleted, use a kind with `remove`, and remove a key after its row:
//!
//! ```
//! use filter::engine::{Insert, KeyHash, Membership, Remove};
//! use filter::{Cuckoo, ErrorRate, Seed, Sizing, StoredFilter};
//!
//! let seed = Seed::random();
//! let hash = |mail: &str| KeyHash::new(seed, mail.as_bytes());
//! let sizing = Sizing::ErrorRate(ErrorRate::new(0.001)?);
//! let mut database = Vec::new();
//! let mut known = Cuckoo::new(sizing, 1_000)?;
//! for mail in (0..5_000).map(|n| format!("user{n}@example.org")) {
//!     if known.insert(hash(&mail)).is_err() {
//!         // Full. A larger filter needs the hashes of all keys.
//!         known.grow(sizing, known.len() * 2, database.iter().map(|mail: &String| hash(mail)))?;
//!         known.insert(hash(&mail))?;
//!     }
//!     database.push(mail);
//! }
//! let gone = database.swap_remove(7);
//! known.remove(hash(&gone))?;
//!
//! // A saved filter of such a kind can be changed again.
//! let stored = StoredFilter::parse(known.to_stored(seed))?;
//! let mut known = Cuckoo::from_stored(&stored)?;
//! assert_eq!(known.len(), 4_999);
//! known.insert(hash(&gone))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`CountingBloom`] is never full: with more keys than planned, its error rate rises. [`DLeft`] is
//! built anew.
//!
//! # Without `std`
//!
//! The crate then needs only `alloc`. It lacks [`Seed::random`], HBase's
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
mod partition;
mod ribbon;
mod sizing;
mod sizing_check;
mod stored;
mod stored_view;
pub mod theory;

pub use allocation::allocate_bits;
pub use bloom::{Blocked, Classic, SplitBlock, hbase};
pub use counting::{CountingBloom, UnionError};
pub use cuckoo::Cuckoo;
pub use dleft::{CounterBits, DLeft, DLeftOptions};
pub use error::{Absent, BuildError, FormatError, Full};
pub use fuse::{BinaryFuse, FuseBits};
pub use hash::Seed;
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
    pub use crate::kernel::{PrefetchHint, prefetch_line};
    pub use crate::kinds::{KindVisitor, build};
    pub use crate::membership::{Insert, Membership, Remove};
    pub use crate::memory::AlignedBytes;
}

/// The examples of the README, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
