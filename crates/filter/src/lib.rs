//! Approximate-membership filters: "certainly not in this set" or "maybe".
//!
//! A store whose data is in many files asks the filter of each file before it reads the file. The
//! filter takes a few bits per key and answers "not in this file" or "maybe". A key that was
//! inserted always gets "maybe". An absent key gets "maybe" at a rate that is chosen when the
//! filter is sized.
//!
//! ```
//! use filter::{ErrorRate, FilterKind, KeyHash, Membership, Seed, Sizing, StoredFilter, build};
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
//! assert!(filter.bits_per_key() < 10.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Filters
//!
//! | filter                  | bits per key at 1 % | use                                           |
//! |-------------------------|--------------------:|-----------------------------------------------|
//! | [`bloom::Blocked`]      |                 9.9 | the fast default: one cache line per lookup   |
//! | [`bloom::SplitBlock`]   |                10.6 | faster lookups; Parquet's format              |
//! | [`Ribbon`]              |                 6.8 | static; the fewest bits                       |
//! | [`BinaryFuse`]          |                 8.6 | static; fast lookups in few bits              |
//! | [`bloom::Classic`]      |                 9.6 | fewer bits, several cache lines per lookup    |
//! | [`Cuckoo`]              |                10.4 | keys can be removed                           |
//! | [`DLeft`]               |                16.0 | keys can be removed and counted               |
//! | [`CountingBloom`]       |                43.4 | keys can be removed and counted               |
//! | [`bloom::hbase`]        |                 9.6 | the Bloom filter in HBase's files             |
//!
//! A static filter is built once, from all keys.
//!
//! Formats of other libraries: [`bloom::hbase`], [`bloom::hadoop`], [`bloom::GuavaBloom`],
//! [`bloom::SimpleBloom`] and [`GoCuckoo`].
//!
//! [`theory`] has the expected size and error rate of each filter. [`probe_many`] looks a key up in
//! many filters; [`SlicedFilters`] does so in a fraction of the time for filters of the same shape.
//!
//! Without the feature `std` the crate needs only `alloc`. It then lacks HBase's optional Murmur3
//! hash, Guava's filters and huge pages.
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
