//! Filters of other libraries, with their sizes, hashes and bytes.
//!
//! | type             | format                                                            |
//! |------------------|-------------------------------------------------------------------|
//! | [`GuavaBloom`]   | `BloomFilter` of Guava                                            |
//! | [`SimpleBloom`]  | `SimpleBloomFilter`, a widely copied Java class                   |
//! | [`hadoop`]       | the three Writable classes of `org.apache.hadoop.util.bloom`      |
//! | [`GoCuckoo`]     | the Go package `github.com/seiflotfy/cuckoofilter`                |
//!
//! They have the parameters of their libraries, and the verbs of the crate `filter`: `new`, `insert`,
//! `may_contain`, `remove`, `union`, `from_bytes`, `to_bytes`, as far as the library has them. They
//! hash keys themselves, so they take bytes or text. For new filters use the kinds of `filter`.
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
//! Without the feature `std` the crate needs only `alloc`, and lacks Guava's filters.
#![cfg_attr(not(feature = "std"), no_std)]
extern crate alloc;

mod allocate;
mod go;
#[cfg(feature = "std")]
mod guava;
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
