//! Filters that tell which keys a set cannot hold.
//!
//! A store that keeps its data in many files would have to look into each of them for every key it
//! is asked for. A filter beside each file answers first: "certainly not here", from a few bits a
//! key, without touching the file; or "maybe", and then the file is read. A filter is sometimes
//! wrong about a key it was not given, at a rate that is chosen; about a key it was given, never.
//!
//! ```
//! use filter::{ErrorRate, FilterKind, KeyHash, Membership, Seed, Sizing, StoredFilter, build};
//!
//! // A key is hashed once; the hash then serves every filter that shares the seed.
//! let seed = Seed::new(0x5eed);
//! let members: Vec<KeyHash> =
//!     (0..10_000).map(|row| KeyHash::new(seed, format!("row{row}").as_bytes())).collect();
//!
//! // One maybe in a hundred absent keys, in about ten bits a key.
//! let sizing = Sizing::ErrorRate(ErrorRate::new(0.01)?);
//! let bytes = build(FilterKind::BlockedBloom, sizing, seed, &members)?;
//!
//! // The bytes go into a file; reading them back copies nothing.
//! let filter = StoredFilter::parse(bytes.as_slice())?;
//! assert!(members.iter().all(|member| filter.may_contain(*member)));
//!
//! let others = (0..10_000).map(|row| KeyHash::new(seed, format!("other{row}").as_bytes()));
//! let passed = others.filter(|other| filter.may_contain(*other)).count();
//! assert!(passed < 150, "{passed} of 10,000");
//! assert!(filter.bits_per_key() < 10.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What there is
//!
//! | filter                               | bits per key at 1 % | what it is for                    |
//! |--------------------------------------|--------------------:|-----------------------------------|
//! | [`bloom::Blocked`]                   |                 9.9 | the fast default: one line a key  |
//! | [`bloom::SplitBlock`]                |                10.6 | faster; Parquet's bytes           |
//! | [`Ribbon`]                           |                 6.8 | fewest bits; all keys at once     |
//! | [`BinaryFuse`]                       |                 8.6 | fast, few bits; all keys at once  |
//! | [`bloom::Classic`]                   |                 9.6 | fewer bits, several lines a key   |
//! | [`Cuckoo`]                           |                10.4 | keys can be removed               |
//! | [`DLeft`]                            |                16.0 | keys can be removed and counted   |
//! | [`CountingBloom`]                    |                43.4 | keys can be removed and counted   |
//! | [`bloom::hbase`]                     |                 9.6 | the filter inside HBase's files   |
//!
//! Filters in the bytes of other libraries: [`bloom::hbase`], [`bloom::hadoop`], [`bloom::GuavaBloom`],
//! [`bloom::SimpleBloom`] and [`GoCuckoo`].
//!
//! [`theory`] says what each should cost; [`probe_many`] asks many filters at once, and
//! [`SlicedFilters`] many of the same shape in a fraction of that time. Without the feature `std` the
//! crate needs only `alloc`; it then lacks HBase's optional Murmur3 hash.
#![cfg_attr(not(feature = "std"), no_std)]
extern crate alloc;

mod allocation;
pub mod bloom;
mod counting;
mod cuckoo;
mod dleft;
mod error;
mod fuse;
mod hash;
mod header;
mod kernel;
mod kinds;
mod membership;
mod memory;
mod partition;
mod probe;
mod ribbon;
mod sizing;
mod sliced;
mod slices;
mod stored;
mod stored_view;
pub mod theory;

pub use allocation::allocate_bits;
pub use counting::{CountingBloom, ShapesDiffer};
pub use cuckoo::{Cuckoo, GoCuckoo, NotGoCuckoo, Placement};
pub use dleft::{CounterBits, DLeft, DLeftOptions};
pub use error::{Absent, BuildError, FormatError, Full};
pub use fuse::{BinaryFuse, FuseBits};
pub use hash::{KeyHash, Seed};
pub use header::HEADER_LEN;
pub use kernel::{PrefetchHint, prefetch_line};
pub use kinds::{FilterKind, KindVisitor, build, plan};
pub use membership::{FilterStats, Insert, Membership, Remove};
pub use memory::AlignedBytes;
pub use probe::probe_many;
pub use ribbon::Ribbon;
pub use sizing::{ErrorRate, InvalidErrorRate, Sizing};
pub use sliced::SlicedFilters;
pub use stored::StoredFilter;
pub use theory::static_filters::FuseArity;
