//! A filter in any of the supported formats of other libraries, and its properties.

use std::io::{self, Write};

use anyhow::Context;
use clap::ValueEnum;
use foreign_filters::hadoop::{BloomFilter, CountingBloomFilter, DynamicBloomFilter, Shape};
use foreign_filters::{GoCuckoo, GuavaBloom, SimpleBloom};
use serde::Serialize;

use crate::text::rounded::show_percent;
use crate::text::size_text::{show_count, show_number, show_size};

/// A format of another library.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum ForeignFormat {
    /// Guava's `BloomFilter`, as `writeTo` writes it
    Guava,
    /// The `SimpleBloomFilter` class of many tutorials, as `BitSet.toByteArray`
    SimpleBloom,
    /// Hadoop's `BloomFilter` class
    HadoopBloom,
    /// Hadoop's `CountingBloomFilter` class
    HadoopCounting,
    /// Hadoop's `DynamicBloomFilter` class
    HadoopDynamic,
    /// The Go package seiflotfy/cuckoofilter, as `Encode` writes it
    GoCuckoo,
}

impl ForeignFormat {
    /// Returns the name on the command line and in reports.
    pub(super) fn name(self) -> String {
        let value = self.to_possible_value().expect("clap knows all formats");
        value.get_name().to_owned()
    }
}

/// A filter, with one variant for each format.
pub(super) enum Foreign {
    Guava(GuavaBloom),
    SimpleBloom(SimpleBloom),
    HadoopBloom(BloomFilter),
    HadoopCounting(CountingBloomFilter),
    HadoopDynamic(DynamicBloomFilter),
    GoCuckoo(GoCuckoo),
}

/// The properties of a filter, as reported in text and JSON.
///
/// A property that is unknown for the format is `None`; JSON reports show `null`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Description {
    /// The size of the serialised filter in bytes.
    pub(super) bytes: u64,
    /// The number of insertions, insertions of duplicate keys included.
    pub(super) keys: Option<u64>,
    /// The number of bits, counters, or slots of a cuckoo filter.
    ///
    /// In a dynamic filter, the number of bits per row.
    pub(super) positions: u64,
    /// The number of probes per key.
    pub(super) hash_count: Option<u32>,
    /// The library's name for the hash function, if it supports several.
    pub(super) hash: Option<String>,
    /// The number of rows of a dynamic filter.
    ///
    /// Each row is a Bloom filter. A new row is added when the last one is full.
    pub(super) rows: Option<u64>,
    /// The error rate, computed from how full the filter is.
    pub(super) error_rate: Option<f64>,
}

impl Foreign {
    /// Reads a filter in its serialised form.
    pub(super) fn from_bytes(format: ForeignFormat, bytes: &[u8]) -> anyhow::Result<Self> {
        Ok(match format {
            ForeignFormat::Guava => Self::Guava(GuavaBloom::from_bytes(bytes)?),
            ForeignFormat::SimpleBloom => {
                Self::SimpleBloom(SimpleBloom::default().with_bitset(bytes)?)
            }
            ForeignFormat::HadoopBloom => Self::HadoopBloom(BloomFilter::from_bytes(bytes)?),
            ForeignFormat::HadoopCounting => {
                Self::HadoopCounting(CountingBloomFilter::from_bytes(bytes)?)
            }
            ForeignFormat::HadoopDynamic => {
                Self::HadoopDynamic(DynamicBloomFilter::from_bytes(bytes)?)
            }
            ForeignFormat::GoCuckoo => Self::GoCuckoo(GoCuckoo::from_bytes(bytes)?),
        })
    }

    /// Returns the serialised form.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Guava(filter) => filter.to_bytes(),
            Self::SimpleBloom(filter) => filter.to_bitset(),
            Self::HadoopBloom(filter) => filter.to_bytes(),
            Self::HadoopCounting(filter) => filter.to_bytes(),
            Self::HadoopDynamic(filter) => filter.to_bytes(),
            Self::GoCuckoo(filter) => filter.to_bytes(),
        }
    }

    /// Adds a key.
    pub(super) fn insert(&mut self, key: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::Guava(filter) => {
                filter.insert(key);
            }
            Self::SimpleBloom(filter) => filter.insert(text(key)?),
            Self::HadoopBloom(filter) => filter.insert(key)?,
            Self::HadoopCounting(filter) => filter.insert(key)?,
            Self::HadoopDynamic(filter) => filter.insert(key)?,
            Self::GoCuckoo(filter) => {
                let next =
                    "raise --expected, or drop duplicates: at most eight copies of a key fit";
                filter.insert(key).context(next)?;
            }
        }
        Ok(())
    }

    /// Returns whether a key may have been added.
    pub(super) fn may_contain(&self, key: &[u8]) -> anyhow::Result<bool> {
        Ok(match self {
            Self::Guava(filter) => filter.may_contain(key),
            Self::SimpleBloom(filter) => filter.may_contain(text(key)?),
            Self::HadoopBloom(filter) => filter.may_contain(key),
            Self::HadoopCounting(filter) => filter.may_contain(key),
            Self::HadoopDynamic(filter) => filter.may_contain(key),
            Self::GoCuckoo(filter) => filter.may_contain(key),
        })
    }

    pub(super) fn description(&self) -> Description {
        let bytes = self.to_bytes().len() as u64;
        let none = Description { bytes, ..Description::default() };
        let hadoop = |shape: Shape, error_rate| Description {
            positions: shape.bits().into(),
            hash_count: Some(shape.hash_count()),
            hash: Some(format!("{:?}", shape.hash()).to_lowercase()),
            error_rate: Some(error_rate),
            ..none
        };
        match self {
            Self::Guava(filter) => Description {
                positions: filter.bits(),
                hash_count: Some(filter.hash_count().into()),
                hash: Some(format!("{:?}", filter.strategy()).to_lowercase()),
                error_rate: Some(filter.error_rate()),
                ..none
            },
            Self::SimpleBloom(filter) => Description {
                positions: filter.bits().into(),
                hash_count: Some(filter.seeds().len() as u32),
                ..none
            },
            Self::HadoopBloom(filter) => hadoop(filter.shape(), filter.error_rate()),
            Self::HadoopCounting(filter) => hadoop(filter.shape(), filter.error_rate()),
            Self::HadoopDynamic(filter) => Description {
                keys: Some(filter.len()),
                rows: Some(filter.row_count() as u64),
                ..hadoop(filter.shape(), filter.error_rate())
            },
            Self::GoCuckoo(filter) => Description {
                keys: Some(filter.len()),
                positions: filter.slot_count(),
                error_rate: Some(filter.error_rate()),
                ..none
            },
        }
    }
}

impl Description {
    pub(super) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (size, byte_count) = (show_size(self.bytes), show_number(self.bytes, "byte"));
        writeln!(out, "size        {size} ({byte_count})")?;
        if let Some(keys) = self.keys {
            writeln!(out, "keys        {}", show_count(keys))?;
        }
        writeln!(out, "positions   {}", show_count(self.positions))?;
        if let Some(rows) = self.rows {
            writeln!(out, "rows        {}", show_count(rows))?;
        }
        if let Some(hash_count) = self.hash_count {
            writeln!(out, "probes      {hash_count}")?;
        }
        if let Some(hash) = &self.hash {
            writeln!(out, "hash        {hash}")?;
        }
        match self.error_rate {
            Some(rate) => writeln!(out, "error rate  {}", show_percent(rate)),
            None => Ok(()),
        }
    }
}

/// Returns a key as text.
///
/// The Java class `SimpleBloomFilter` hashes the characters of a string, not bytes.
fn text(key: &[u8]) -> anyhow::Result<&str> {
    std::str::from_utf8(key)
        .context("a simple-bloom filter takes UTF-8 text, and this key is not UTF-8")
}
