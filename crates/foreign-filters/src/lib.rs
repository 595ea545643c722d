//! Filters of Guava, Hadoop and others, with their sizes, hashes and bytes.
//!
//! Either side can query and extend a filter that the other wrote. For new filters use the kinds of the
//! crate `filter`, which are smaller or faster.
//!
//! ```
//! use foreign_filters::GoCuckoo;
//!
//! let mut filter = GoCuckoo::new(1_000)?;
//! filter.insert(b"row1")?;
//! let bytes = filter.to_bytes(); // `cuckoo.Decode` in Go reads them.
//! assert!(GoCuckoo::from_bytes(&bytes)?.may_contain(b"row1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to go
//!
//! | filters of                                                   | use             |
//! |--------------------------------------------------------------|-----------------|
//! | Guava's `BloomFilter`                                        | [`GuavaBloom`]  |
//! | `SimpleBloomFilter`, a widely copied Java class              | [`SimpleBloom`] |
//! | `org.apache.hadoop.util.bloom`, and of Hudi                  | [`hadoop`]      |
//! | the Go package `github.com/seiflotfy/cuckoofilter`           | [`GoCuckoo`]    |
//!
//! The filters hash keys themselves, so they take bytes or text. They have the verbs of `filter`, as far
//! as their library has them: `new`, `insert`, `may_contain`, `remove`, `union`, `from_bytes`, `to_bytes`.
//!
//! Without the feature `std` the crate needs only `alloc`, and lacks Guava's filters.
#![cfg_attr(not(feature = "std"), no_std)]
extern crate alloc;

mod allocate;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod go;
#[cfg(feature = "std")]
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod guava;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
pub mod hadoop;
mod metro;
mod simple;

pub use go::{GoCuckoo, NotGoCuckoo, Placement};
#[cfg(feature = "std")]
pub use guava::{GuavaBloom, GuavaStrategy, Incompatible, NotGuava, TooLarge};
pub use simple::{BitSetTooLong, SEEDS, SimpleBloom};

/// The examples of the README, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
